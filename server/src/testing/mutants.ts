// Mutants of the disclosure procedure: what anonymity.ts would be without one of its rules. An attack that does not break
// them proves nothing.
import type { choosePieces, chooseSpread, GroupSet, Pieces } from '../results/anonymity.ts';

/** The two functions that decide what is shown. */
export type Procedure = { choosePieces: typeof choosePieces; chooseSpread: typeof chooseSpread };

const weigh = (people: readonly number[], weights?: readonly number[]) =>
  weights ? people.reduce((sum, person) => sum + (weights[person] as number), 0) : people.length;

/** Every set of the threshold or more is shown whole. */
export const thresholdOnly: Procedure = {
  choosePieces: (sets, count, threshold, weights) => {
    const large = sets.filter(({ people }) => weigh(people, weights) >= threshold);
    return {
      shown: new Map(large.map(({ group, people }) => [group, [...people]])),
      pieceOf: new Int32Array(count),
      sizes: [0],
    };
  },
  chooseSpread: plainSpread,
};

/** The distribution of every shown set of the threshold or more. */
function plainSpread(
  { shown, ...pieces }: Pieces,
  _treeOf: (group: number) => number,
  threshold: number,
): Pieces {
  return { ...pieces, shown: new Map([...shown].filter(([, people]) => people.length >= threshold)) };
}

/** The procedure as it is, but distributions by their threshold alone. */
export const spreadByThreshold = (real: Procedure): Procedure => ({ ...real, chooseSpread: plainSpread });

/** Each tree goes through the procedure by itself. */
export function treeByTree(real: Procedure): Procedure {
  const parts = new WeakMap<Pieces['pieceOf'], Pieces[]>();
  return {
    choosePieces: (sets, count, threshold, weights) => {
      const ofTree = Map.groupBy(sets, ({ tree }) => tree);
      const pieces = [...ofTree.values()].map((some) => real.choosePieces(some, count, threshold, weights));
      const pieceOf = new Int32Array(count);
      parts.set(pieceOf, pieces);
      return { shown: new Map(pieces.flatMap(({ shown }) => [...shown])), pieceOf, sizes: [0] };
    },
    chooseSpread: ({ shown, pieceOf }, treeOf, threshold) => {
      const spreads = (parts.get(pieceOf) ?? []).map((pieces) => {
        const own = [...pieces.shown].filter(([group]) => shown.has(group));
        return real.chooseSpread({ ...pieces, shown: new Map(own) }, treeOf, threshold);
      });
      const wide = new Map(spreads.flatMap((spread) => [...spread.shown]));
      return { shown: wide, pieceOf, sizes: [0] };
    },
  };
}

/** People who are in no piece yet are never left out: a shown set may make a piece of any size of them. */
export function withoutLeavingOut(real: Procedure): Procedure {
  const choose: Procedure['choosePieces'] = (sets, count, threshold, weights) => {
    const pieceOf = new Int32Array(count);
    const sizes = [0];
    const shown = new Map<number, number[]>();
    const bySize = (a: GroupSet, b: GroupSet) =>
      weigh(a.people, weights) - weigh(b.people, weights) || a.group - b.group;
    for (const { group, people } of sets.toSorted(bySize)) {
      const inside = Map.groupBy(people, (person) => pieceOf[person] as number);
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
        for (const person of some) pieceOf[person] = sizes.length;
        sizes.push(size);
      }
      shown.set(group, rest);
    }
    return { shown, pieceOf, sizes };
  };
  return { choosePieces: choose, chooseSpread: real.chooseSpread };
}
