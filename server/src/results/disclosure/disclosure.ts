// The disclosure procedure: decides which answers each group's figure is based on, so that no combination of published figures
// reveals anything about fewer people than the threshold (rules.md P2). Pure. It knows which people count in which groups, but
// never what anyone answered (P3).

/** The people who count in a group, each once, numbered from 0. `tree`: the top-level group of its tree. */
export type GroupSet = { group: number; tree: number; people: readonly number[] };

/** Returns the people 0 to `count` − 1 by the groups in which they count. */
export function setsOf(
  count: number,
  groupsOfPerson: (person: number) => readonly number[],
  treeOf: (group: number) => number,
): GroupSet[] {
  const people = new Map<number, number[]>();
  const listOf = (group: number) => {
    const known = people.get(group);
    if (known) return known;
    const members: number[] = [];
    people.set(group, members);
    return members;
  };
  // Fast path: most people share their list of groups with their team.
  const listsOfTeams = new Map<readonly number[], number[][]>();
  for (let person = 0; person < count; person++) {
    const groups = groupsOfPerson(person);
    let lists = listsOfTeams.get(groups);
    if (!lists) {
      lists = groups.map(listOf);
      listsOfTeams.set(groups, lists);
    }
    for (const members of lists) members.push(person);
  }
  return [...people].map(([group, members]) => ({ group, tree: treeOf(group), people: members }));
}

export type Cells = {
  /** For each group whose figure is published, the people it is based on. Figures of all other groups are withheld. */
  shown: Map<number, readonly number[]>;
  /** For each person, the number of their cell, from 1. 0 if the person is in no published figure. */
  cellOf: Int32Array;
  /** The number of people in each cell. Entry 0 is unused. */
  sizes: number[];
};

/**
 * Chooses the cells for these groups. It processes the groups from the smallest set to the largest. The sets published so far
 * divide the people into cells. From each group, it leaves out the people who would form a cell of fewer than `threshold`,
 * whether a new cell or a part of an existing one. People left out are in no cell yet and can count in a larger group. If no one
 * remains, the group's figure is withheld. As a result, every published set is a union of cells of at least `threshold` people,
 * and sums and differences of published sets never separate the people of one cell.
 *
 * All groups of the account are processed together rather than tree by tree, because people who count in two trees could
 * otherwise be revealed by combining figures from both. If two sets of different trees are nested and differ by fewer than
 * `threshold` people, the smaller one is withheld from the start.
 *
 * `weights`: how many people each number stands for; 1 by default.
 */
export function chooseCells(
  sets: readonly GroupSet[],
  count: number,
  threshold: number,
  weights?: readonly number[],
): Cells {
  const weightOf = (people: readonly number[]) =>
    weights ? people.reduce((sum, person) => sum + (weights[person] as number), 0) : people.length;
  const withheld = nestedAcrossTrees(sets, count, weightOf, threshold);
  const cellOf = new Int32Array(count);
  const sizes = [0];
  const shown = new Map<number, readonly number[]>();
  const ordered = sets
    .map((set) => ({ ...set, size: weightOf(set.people) }))
    .toSorted((a, b) => a.size - b.size || a.group - b.group);
  // For each cell: the last group with people in it, how many people of that group are in it, and the cell that they are in from then on;
  // `leftOut` if they are left out.
  const [lastIn, inside, after]: [number[], number[], number[]] = [[], [], []];
  for (const [turn, { group, people }] of ordered.entries()) {
    if (withheld.has(group)) continue;
    const found: number[] = [];
    for (const person of people) {
      const cell = cellOf[person] as number;
      if (lastIn[cell] !== turn) {
        lastIn[cell] = turn;
        inside[cell] = 0;
        found.push(cell);
      }
      inside[cell] = (inside[cell] as number) + (weights?.[person] ?? 1);
    }
    let isComplete = true;
    for (const cell of found) {
      const next = split(cell, inside[cell] as number, sizes, threshold);
      after[cell] = next;
      if (next === leftOut) isComplete = false;
    }
    const rest = isComplete ? people : people.filter((person) => after[cellOf[person] as number] !== leftOut);
    if (rest.length === 0) continue;
    for (const person of rest) cellOf[person] = after[cellOf[person] as number] as number;
    shown.set(group, rest);
  }
  return { shown, cellOf, sizes };
}

/** Instead of a cell: people who are left out. */
const leftOut = -1;

/**
 * Splits off the `size` people of a cell who are inside a set. Returns the number of their cell; `leftOut` if either part would be too
 * small.
 */
function split(cell: number, size: number, sizes: number[], threshold: number): number {
  const outside = cell === 0 ? Infinity : (sizes[cell] as number) - size;
  if (outside === 0) return cell;
  if (size < threshold || outside < threshold) return leftOut;
  if (cell !== 0) sizes[cell] = outside;
  return sizes.push(size) - 1;
}

/** Returns the groups whose people are all in a group of another tree that has only 1 to threshold − 1 people more. */
function nestedAcrossTrees(
  sets: readonly GroupSet[],
  count: number,
  weightOf: (people: readonly number[]) => number,
  threshold: number,
): Set<number> {
  const withheld = new Set<number>();
  if (!isAnyoneInTwoTrees(sets, count)) return withheld;
  const setsOfPerson = new Map<number, GroupSet[]>();
  for (const set of sets) {
    for (const person of set.people) {
      const others = setsOfPerson.get(person);
      if (others) others.push(set);
      else setsOfPerson.set(person, [set]);
    }
  }
  // The number of people that two sets of different trees have in common.
  const common = new Map<GroupSet, Map<GroupSet, number>>();
  for (const [person, all] of setsOfPerson) {
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

function isAnyoneInTwoTrees(sets: readonly GroupSet[], count: number): boolean {
  const treeOf = new Float64Array(count).fill(Number.NaN);
  return sets.some(({ tree, people }) =>
    people.some((person) => {
      const other = treeOf[person] as number;
      treeOf[person] = tree;
      return !Number.isNaN(other) && other !== tree;
    }),
  );
}

/**
 * Chooses cells for distributions, which reveal more than a mean and have a higher threshold (P5). The procedure runs on the
 * cells of the figures instead of single people and never splits one of them. The people who are in a figure but not in its
 * distribution are therefore whole cells as well. Returns the people of each group's distribution, and the cells of these sets.
 */
export function chooseDistributions(
  { shown, cellOf, sizes }: Cells,
  treeOf: (group: number) => number,
  threshold: number,
): Cells {
  // For each cell, the last group in which it was found.
  const lastIn = new Int32Array(sizes.length);
  let turn = 0;
  const sets = [...shown].map(([group, people]) => {
    turn++;
    const cells: number[] = [];
    for (const person of people) {
      const cell = cellOf[person] as number;
      if (lastIn[cell] === turn) continue;
      lastIn[cell] = turn;
      cells.push(cell);
    }
    return { group, tree: treeOf(group), people: cells };
  });
  const merged = chooseCells(sets, sizes.length, threshold, sizes);
  const cellsOf = new Map(sets.map(({ group, people }) => [group, people]));
  const remaining = [...merged.shown].map(([group, cells]): [number, readonly number[]] => {
    const people = shown.get(group) ?? [];
    if (cells === cellsOf.get(group)) return [group, people];
    const included = new Set(cells);
    return [group, people.filter((person) => included.has(cellOf[person] as number))];
  });
  return {
    shown: new Map(remaining),
    cellOf: cellOf.map((cell) => merged.cellOf[cell] as number),
    sizes: merged.sizes,
  };
}

/**
 * Returns a function that says whether a figure based on these people has a cell in which fewer people than the threshold used a link sent
 * to them rather than a handed-out one. Cells can be separated from each other by subtracting figures. Someone who hands out links can
 * answer through them, and so could know all other answers of the cell, or have given all of them. Always false with a threshold of 1:
 * answers are not anonymous then, and the answering page says so. `usedOwnLink`: for each person. `isValued`: for each person, whether
 * the answer has a value. Each answer without one counts as if it came from someone with their own link. Otherwise this would reveal who
 * chose "not applicable".
 */
export function tooFewOwnLinks(
  usedOwnLink: readonly boolean[],
  { cellOf, sizes }: Cells,
  threshold: number,
  isValued?: readonly boolean[],
) {
  const ownLinks = sizes.map(() => 0);
  for (let person = 0; person < usedOwnLink.length; person++) {
    const cell = cellOf[person] as number;
    const isWithout = isValued?.[person] === false;
    ownLinks[cell] = (ownLinks[cell] as number) + (usedOwnLink[person] ? 1 : 0) - (isWithout ? 1 : 0);
  }
  // People whose figures are shown are in cells, which have numbers from 1.
  const isAnyCell = ownLinks.some((count, cell) => cell > 0 && count < threshold);
  return (people: readonly number[] | undefined): boolean => {
    if (!people || threshold === 1 || !isAnyCell) return false;
    return people.some((person) => (ownLinks[cellOf[person] as number] as number) < threshold);
  };
}
