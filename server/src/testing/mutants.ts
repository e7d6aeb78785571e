// Mutants of the disclosure procedure: what disclosure.ts would be without one of its rules. An attack that does not break
// them proves nothing.
import type { chooseCells, chooseDistributions, GroupSet, Cells } from '../results/disclosure.ts';

/** The two functions that decide what is shown. */
export type Procedure = { chooseCells: typeof chooseCells; chooseDistributions: typeof chooseDistributions };

const weigh = (people: readonly number[], weights?: readonly number[]) =>
  weights ? people.reduce((sum, person) => sum + (weights[person] as number), 0) : people.length;

/** Every set of the threshold or more is shown whole. */
export const thresholdOnly: Procedure = {
  chooseCells: (sets, count, threshold, weights) => {
    const large = sets.filter(({ people }) => weigh(people, weights) >= threshold);
    return {
      shown: new Map(large.map(({ group, people }) => [group, [...people]])),
      cellOf: new Int32Array(count),
      sizes: [0],
    };
  },
  chooseDistributions: plainDistribution,
};

/** The distribution of every shown set of the threshold or more. */
function plainDistribution(
  { shown, ...pieces }: Cells,
  _treeOf: (group: number) => number,
  threshold: number,
): Cells {
  return { ...pieces, shown: new Map([...shown].filter(([, people]) => people.length >= threshold)) };
}

/** The procedure as it is, but distributions by their threshold alone. */
export const distributionByThreshold = (real: Procedure): Procedure => ({
  ...real,
  chooseDistributions: plainDistribution,
});

/** Each tree goes through the procedure by itself. */
export function treeByTree(real: Procedure): Procedure {
  const parts = new WeakMap<Cells['cellOf'], Cells[]>();
  return {
    chooseCells: (sets, count, threshold, weights) => {
      const ofTree = Map.groupBy(sets, ({ tree }) => tree);
      const pieces = [...ofTree.values()].map((some) => real.chooseCells(some, count, threshold, weights));
      const cellOf = new Int32Array(count);
      parts.set(cellOf, pieces);
      return { shown: new Map(pieces.flatMap(({ shown }) => [...shown])), cellOf, sizes: [0] };
    },
    chooseDistributions: ({ shown, cellOf }, treeOf, threshold) => {
      const distributions = (parts.get(cellOf) ?? []).map((pieces) => {
        const own = [...pieces.shown].filter(([group]) => shown.has(group));
        return real.chooseDistributions({ ...pieces, shown: new Map(own) }, treeOf, threshold);
      });
      const wide = new Map(distributions.flatMap((distribution) => [...distribution.shown]));
      return { shown: wide, cellOf, sizes: [0] };
    },
  };
}

/** People who are in no piece yet are never left out: a shown set may make a piece of any size of them. */
export function withoutWithholding(real: Procedure): Procedure {
  const choose: Procedure['chooseCells'] = (sets, count, threshold, weights) => {
    const cellOf = new Int32Array(count);
    const sizes = [0];
    const shown = new Map<number, number[]>();
    const bySize = (a: GroupSet, b: GroupSet) =>
      weigh(a.people, weights) - weigh(b.people, weights) || a.group - b.group;
    for (const { group, people } of sets.toSorted(bySize)) {
      const inside = Map.groupBy(people, (person) => cellOf[person] as number);
      const kept = [...inside].filter(([piece, some]) => {
        if (piece === 0) return true;
        const outside = (sizes[piece] as number) - weigh(some, weights);
        return outside === 0 || (outside >= threshold && weigh(some, weights) >= threshold);
      });
      const rest = kept.flatMap(([, some]) => some);
      if (weigh(rest, weights) < threshold) continue;
      for (const [piece, some] of kept) {
        const size = weigh(some, weights);
        if (piece !== 0 && sizes[piece] === size) continue;
        if (piece !== 0) sizes[piece] = (sizes[piece] as number) - size;
        for (const person of some) cellOf[person] = sizes.length;
        sizes.push(size);
      }
      shown.set(group, rest);
    }
    return { shown, cellOf, sizes };
  };
  return { chooseCells: choose, chooseDistributions: real.chooseDistributions };
}
