// Decides which people the figures of segments are based on, after the disclosure procedure has chosen the cells of all groups
// (disclosure.ts). Pure. It knows which people count in which cells and segments, but never what anyone answered (P3).
import type { Cells } from '../disclosure/disclosure.ts';
import { cellsWithoutExchange, type Part } from './exchanges.ts';
import { hasRemainder } from './remainders.ts';

/** The people who count in a segment, each once. A segment of a breakdown can have several sets, one for each question of a class. */
export type SegmentSet = { segment: number; people: readonly number[] };

/** The cells of the groups' figures. */
type GroupCells = Pick<Cells, 'cellOf' | 'sizes'>;

/** After this number of attempts, all cells that fail are left out at once; after twice as many, the breakdown is withheld. */
const maxAttempts = 12;

/**
 * Returns for each segment whose figure is published the people it is based on. Figures of all others are withheld.
 *
 * In every combination of these figures and those of groups, no one has more than 1/`threshold` of the total weight of all people
 * (exchanges.ts). The figures of groups stay as they are. Breakdowns are added one after another, and each leaves those before it as they
 * are: a cell with a person who could be separated is left out of the new breakdown, with all its people, until no one can be separated any more.
 * People who are in no cell count in no segment. A breakdown with which whole-number answers would reveal a remainder is withheld.
 */
export function chooseSegments(
  cells: GroupCells,
  breakdowns: readonly (readonly SegmentSet[])[],
  threshold: number,
): Map<number, number[]> {
  const all = chosenOf(cells, breakdowns, threshold, false);
  // Remainders don't occur by chance, only with attributes that were chosen for it. So each breakdown is checked only if all together
  // reveal one.
  if (threshold === 1 || !all.isRevealing()) return all.shown;
  return chosenOf(cells, breakdowns, threshold, true).shown;
}

/** Chooses the sets of one breakdown after another. `isChecked`: whether one is withheld that would reveal remainders (remainders.ts). */
function chosenOf(
  { cellOf, sizes }: GroupCells,
  breakdowns: readonly (readonly SegmentSet[])[],
  threshold: number,
  isChecked: boolean,
) {
  const shown = new Map<number, number[]>();
  const rowsOf: number[][] = Array.from(cellOf, () => []);
  const breakdownOf: number[] = [];
  const isRevealingWith = (sets: readonly [number, number[]][]) =>
    hasRemainder(
      partsOf({ cellOf, sizes, rowsOf, before: shown.size }, sets),
      [...breakdownOf, ...sets.map(() => -1)],
      threshold,
    );
  for (const [number, breakdown] of breakdowns.entries()) {
    const sets =
      threshold === 1
        ? breakdown.map(({ segment, people }): [number, number[]] => [segment, [...people]])
        : addedBreakdown({ cellOf, sizes, rowsOf, before: shown.size }, breakdown, threshold);
    if (isChecked && isRevealingWith(sets)) continue;
    for (const [segment, people] of sets) {
      for (const person of people) rowsOf[person]?.push(shown.size);
      breakdownOf.push(number);
      shown.set(segment, people);
    }
  }
  return { shown, isRevealing: () => isRevealingWith([]) };
}

type Before = GroupCells & { rowsOf: readonly (readonly number[])[]; before: number };

/**
 * Returns the sets of one breakdown that can be published in addition to those of the breakdowns before it. `rowsOf`: the sets of each
 * person so far.
 */
function addedBreakdown(
  context: Before,
  breakdown: readonly SegmentSet[],
  threshold: number,
): [number, number[]][] {
  const { cellOf } = context;
  const left = new Set<number>([0]);
  let sets = breakdown.map(({ segment, people }): [number, number[]] => [segment, [...people]]);
  for (let attempt = 1; ; attempt++) {
    sets = sets
      .map(([segment, people]): [number, number[]] => [
        segment,
        people.filter((person) => !left.has(cellOf[person] as number)),
      ])
      .filter(([, people]) => people.length >= threshold);
    if (sets.length === 0 || attempt > 2 * maxAttempts) return [];
    const rowCount = context.before + sets.length;
    const failing = cellsWithoutExchange(partsOf(context, sets), rowCount, 1 / threshold);
    if (failing.size === 0) return sets;
    const worst = Math.max(...failing.values());
    const before = left.size;
    const counted = new Set(sets.flatMap(([, people]) => people.map((person) => cellOf[person])));
    for (const [cell, weight] of failing) {
      if (counted.has(cell) && (weight >= worst / 2 || attempt >= maxAttempts)) left.add(cell);
    }
    // The cells that fail worst are not in this breakdown. Its other cells use up their exchanges.
    if (left.size === before)
      sets = sets.toSorted((a, b) => b[1].length - a[1].length || a[0] - b[0]).slice(0, -1);
  }
}

/** Returns the people by cell and by the sets that they are in. */
function partsOf(
  { cellOf, rowsOf, before }: Before,
  sets: readonly [number, number[]][],
): Map<number, Part[]> {
  const added: number[][] = [];
  for (const [i, [, people]] of sets.entries())
    for (const person of people) (added[person] ??= []).push(before + i);
  const parts = new Map<number, Map<string, { rows: number[]; size: number }>>();
  for (const [person, cell] of cellOf.entries()) {
    if (cell === 0) continue;
    const rows = [...(rowsOf[person] ?? []), ...(added[person] ?? [])];
    const ofCell = parts.get(cell) ?? new Map<string, { rows: number[]; size: number }>();
    parts.set(cell, ofCell);
    const key = rows.join();
    const part = ofCell.get(key);
    if (part) part.size++;
    else ofCell.set(key, { rows, size: 1 });
  }
  return new Map([...parts].map(([cell, list]) => [cell, [...list.values()]]));
}

/**
 * Returns the segments whose figure is based on handed-out links (P14): someone who knows every answer that was given through such a
 * link could separate the others in one of its cells. Always empty with a threshold of 1, as for groups (tooFewOwnLinks).
 */
export function segmentsHandedOut(
  { cellOf }: Pick<Cells, 'cellOf'>,
  shown: ReadonlyMap<number, readonly number[]>,
  usedOwnLink: readonly boolean[],
  threshold: number,
): Set<number> {
  if (threshold === 1 || usedOwnLink.every(Boolean)) return new Set();
  const ownCellOf = cellOf.map((cell, person) => (usedOwnLink[person] ? cell : 0));
  const ownSizes = new Map<number, number>();
  for (const cell of ownCellOf) ownSizes.set(cell, (ownSizes.get(cell) ?? 0) + 1);
  const rowsOf: number[][] = Array.from(cellOf, () => []);
  const sets = [...shown].map(([segment, people]): [number, number[]] => [segment, [...people]]);
  const parts = partsOf({ cellOf: ownCellOf, sizes: [], rowsOf, before: 0 }, sets);
  const failing = cellsWithoutExchange(parts, sets.length, 1 / threshold);
  const isUnsafe = (person: number) => {
    const cell = cellOf[person] as number;
    return failing.has(cell) || (ownSizes.get(cell) ?? 0) < threshold;
  };
  return new Set(sets.filter(([, people]) => people.some(isUnsafe)).map(([segment]) => segment));
}
