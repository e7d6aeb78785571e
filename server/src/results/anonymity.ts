// Which answers each group's figure may rest on, so that no combination of figures tells of fewer people than the
// threshold (privacy.md P2). Pure: it sees who counts where, and never what anybody answered (P3).

/** The people who count in a group, each once, by number from 0. `tree`: the top group above it. */
export type GroupSet = { group: number; tree: number; people: readonly number[] };

export type Pieces = {
  /** For each group whose figure is shown, the people that it rests on; a group that is not here is withheld. */
  shown: Map<number, number[]>;
  /** For each person the piece that the figures have cut out, from 1; 0: the person is in no figure. */
  pieceOf: Int32Array;
  /** How many people each piece has; that of 0 means nothing. */
  sizes: number[];
};

/**
 * Goes through the groups from the smallest set to the largest. The sets shown so far cut the people into pieces. Of a
 * group's people those are left out who would make a piece of fewer than `threshold`, be it new or cut from another;
 * who is left out is in no piece yet, and counts further up. A group of which nobody remains is withheld. So every set
 * that is shown is a union of pieces of at least `threshold` people, and every sum and difference of sets is constant
 * on each piece.
 *
 * All groups of the account go through together, not each tree by itself: people who count in two trees would otherwise
 * be told by combinations across them. Of two nested sets of different trees that differ by fewer than `threshold`
 * people the smaller is withheld beforehand.
 *
 * `weights`: how many people a number stands for; 1 when left out.
 */
export function choosePieces(
  sets: readonly GroupSet[],
  count: number,
  threshold: number,
  weights?: readonly number[],
): Pieces {
  const weightOf = (people: readonly number[]) =>
    weights ? people.reduce((sum, person) => sum + (weights[person] as number), 0) : people.length;
  const withheld = nestedAcrossTrees(sets, weightOf, threshold);
  const pieceOf = new Int32Array(count);
  const sizes = [0];
  const shown = new Map<number, number[]>();
  const ordered = sets
    .map((set) => ({ ...set, size: weightOf(set.people) }))
    .toSorted((a, b) => a.size - b.size || a.group - b.group);
  for (const { group, people } of ordered) {
    if (withheld.has(group)) continue;
    const inside = new Map<number, number>();
    for (const person of people) {
      const piece = pieceOf[person] as number;
      inside.set(piece, (inside.get(piece) ?? 0) + (weights?.[person] ?? 1));
    }
    // What becomes of each piece that the group has people in: its number from now on; undefined: left out.
    const after = new Map<number, number | undefined>();
    for (const [piece, size] of inside) after.set(piece, cut(piece, size, sizes, threshold));
    const rest = people.filter((person) => after.get(pieceOf[person] as number) !== undefined);
    if (rest.length === 0) continue;
    for (const person of rest) pieceOf[person] = after.get(pieceOf[person] as number) as number;
    shown.set(group, rest);
  }
  return { shown, pieceOf, sizes };
}

/** The number of the part of a piece that is inside a set, of `size` people; undefined when it may not be cut so. */
function cut(piece: number, size: number, sizes: number[], threshold: number): number | undefined {
  const outside = piece === 0 ? Infinity : (sizes[piece] as number) - size;
  if (outside === 0) return piece;
  if (size < threshold || outside < threshold) return undefined;
  if (piece !== 0) sizes[piece] = outside;
  return sizes.push(size) - 1;
}

/** The groups whose people are all in a group of another tree, which has 1 to threshold − 1 more. */
function nestedAcrossTrees(
  sets: readonly GroupSet[],
  weightOf: (people: readonly number[]) => number,
  threshold: number,
): Set<number> {
  const withheld = new Set<number>();
  if (!isAnyoneInTwoTrees(sets)) return withheld;
  const setsOf = new Map<number, GroupSet[]>();
  for (const set of sets) {
    for (const person of set.people) {
      const others = setsOf.get(person);
      if (others) others.push(set);
      else setsOf.set(person, [set]);
    }
  }
  // How many people two sets of different trees have in common.
  const common = new Map<GroupSet, Map<GroupSet, number>>();
  for (const [person, all] of setsOf) {
    const weight = weightOf([person]);
    for (const one of all) {
      for (const other of all) {
        if (one.tree === other.tree) continue;
        const counts = common.get(one) ?? new Map<GroupSet, number>();
        common.set(one, counts.set(other, (counts.get(other) ?? 0) + weight));
      }
    }
  }
  for (const [one, counts] of common) {
    const size = weightOf(one.people);
    for (const [other, inBoth] of counts) {
      const more = weightOf(other.people) - size;
      if (inBoth === size && more > 0 && more < threshold) withheld.add(one.group);
    }
  }
  return withheld;
}

function isAnyoneInTwoTrees(sets: readonly GroupSet[]): boolean {
  const treeOf: (number | undefined)[] = [];
  return sets.some(({ tree, people }) =>
    people.some((person) => {
      const other = treeOf[person];
      treeOf[person] = tree;
      return other !== undefined && other !== tree;
    }),
  );
}

/**
 * The same procedure with a higher threshold, for what tells more than a mean (P5): on the pieces of the figures, of
 * which none is ever cut, so that what it leaves out of a figure is no fewer people than the lower threshold either.
 * Returns the people of each group for whom it holds, and the pieces that these sets cut out.
 */
export function chooseSpread(
  { shown, pieceOf, sizes }: Pieces,
  treeOf: (group: number) => number,
  threshold: number,
): Pieces {
  const sets = [...shown].map(([group, people]) => ({
    group,
    tree: treeOf(group),
    people: [...new Set(people.map((person) => pieceOf[person] as number))],
  }));
  const spread = choosePieces(sets, sizes.length, threshold, sizes);
  const wide = [...spread.shown].map(([group, pieces]): [number, number[]] => {
    const within = new Set(pieces);
    return [group, (shown.get(group) ?? []).filter((person) => within.has(pieceOf[person] as number))];
  });
  return {
    shown: new Map(wide),
    pieceOf: pieceOf.map((piece) => spread.pieceOf[piece] as number),
    sizes: spread.sizes,
  };
}
