// Mutants of the disclosure procedure: disclosure.ts without one of its rules. An attack that does not break them proves nothing.
import type {
  chooseCells,
  chooseDistributions,
  GroupSet,
  Cells,
} from '../../results/disclosure/disclosure.ts';

/** The two functions that decide what is shown. */
export type Procedure = { chooseCells: typeof chooseCells; chooseDistributions: typeof chooseDistributions };

const weigh = (people: readonly number[], weights?: readonly number[]) =>
  weights ? people.reduce((sum, person) => sum + (weights[person] as number), 0) : people.length;

/** Shows every set with at least as many people as the threshold, whole. */
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

/** Returns the distribution of every shown set with at least as many people as the threshold. */
function plainDistribution(
  { shown, ...cells }: Cells,
  _treeOf: (group: number) => number,
  threshold: number,
): Cells {
  return { ...cells, shown: new Map([...shown].filter(([, people]) => people.length >= threshold)) };
}

/** The real procedure, except that distributions have only their own threshold. */
export const distributionByThreshold = (real: Procedure): Procedure => ({
  ...real,
  chooseDistributions: plainDistribution,
});

/** Runs the procedure for each tree separately. */
export function treeByTree(real: Procedure): Procedure {
  const parts = new WeakMap<Cells['cellOf'], Cells[]>();
  return {
    chooseCells: (sets, count, threshold, weights) => {
      const ofTree = Map.groupBy(sets, ({ tree }) => tree);
      const cells = [...ofTree.values()].map((some) => real.chooseCells(some, count, threshold, weights));
      const cellOf = new Int32Array(count);
      parts.set(cellOf, cells);
      return { shown: new Map(cells.flatMap(({ shown }) => [...shown])), cellOf, sizes: [0] };
    },
    chooseDistributions: ({ shown, cellOf }, treeOf, threshold) => {
      const distributions = (parts.get(cellOf) ?? []).map((cells) => {
        const own = [...cells.shown].filter(([group]) => shown.has(group));
        return real.chooseDistributions({ ...cells, shown: new Map(own) }, treeOf, threshold);
      });
      const wide = new Map(distributions.flatMap((distribution) => [...distribution.shown]));
      return { shown: wide, cellOf, sizes: [0] };
    },
  };
}

/** Never leaves out people who are in no cell yet: a shown set may put any number of them into a cell. */
export function withoutWithholding(real: Procedure): Procedure {
  const choose: Procedure['chooseCells'] = (sets, count, threshold, weights) => {
    const cellOf = new Int32Array(count);
    const sizes = [0];
    const shown = new Map<number, number[]>();
    const bySize = (a: GroupSet, b: GroupSet) =>
      weigh(a.people, weights) - weigh(b.people, weights) || a.group - b.group;
    for (const { group, people } of sets.toSorted(bySize)) {
      const inside = Map.groupBy(people, (person) => cellOf[person] as number);
      const kept = [...inside].filter(([cell, some]) => {
        if (cell === 0) return true;
        const outside = (sizes[cell] as number) - weigh(some, weights);
        return outside === 0 || (outside >= threshold && weigh(some, weights) >= threshold);
      });
      const rest = kept.flatMap(([, some]) => some);
      if (weigh(rest, weights) < threshold) continue;
      for (const [cell, some] of kept) {
        const size = weigh(some, weights);
        if (cell !== 0 && sizes[cell] === size) continue;
        if (cell !== 0) sizes[cell] = (sizes[cell] as number) - size;
        for (const person of some) cellOf[person] = sizes.length;
        sizes.push(size);
      }
      shown.set(group, rest);
    }
    return { shown, cellOf, sizes };
  };
  return { chooseCells: choose, chooseDistributions: real.chooseDistributions };
}
