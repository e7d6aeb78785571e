// "Not applicable" is an answer without a value. Figures of values leave these answers out, and how many people chose it is a figure of
// its own. Whether someone chose it must be as safe as any other answer, although the number of values reveals it of everyone
// together. So both kinds of figures are based on the cells of everyone who answered, which never depend on who chose it, and are
// withheld by how many people of a whole cell chose it (rules.md P21). Pure.
import { type Given, isAnyNotApplicable, isNotApplicable } from '../answer-columns.ts';
import { type Cells, chooseDistributions } from './disclosure.ts';

/** How many people chose "not applicable", and of how many who answered the question. */
export type NotApplicable = { count: number; of: number };

/** `isValued`: for each person, whether their answer has a value; undefined if all have one. */
export type Valued = readonly boolean[] | undefined;

/**
 * Returns for each person whether all their answers to these questions have a value. Someone who answered two questions with the same
 * text, one of them with "not applicable", counts so in both. Otherwise their figures could differ by a single person.
 */
export function valuedOf(count: number, given: readonly Given[]): Valued {
  if (!given.some(isAnyNotApplicable)) return undefined;
  return Array.from(
    { length: count },
    (_, person) => !given.some((answers) => isNotApplicable(answers, person)),
  );
}

/** Returns the people whose answers have a value. */
export const valuedAmong = (people: readonly number[], isValued: Valued): readonly number[] =>
  isValued ? people.filter((person) => isValued[person]) : people;

/**
 * Merges the cells of everyone who answered until each has at least `threshold` values. Cells are never split. Those with too few values
 * are left out. In the result, `shown` and `cellOf` include people without a value, `sizes` counts values only.
 */
export function withEnoughValues(
  cells: Cells,
  treeOf: (group: number) => number,
  isValued: Valued,
  threshold: number,
): Cells {
  if (!isValued) return cells;
  const sizes = cells.sizes.map(() => 0);
  for (const [person, isOne] of isValued.entries()) {
    const cell = cells.cellOf[person] as number;
    if (isOne) sizes[cell] = (sizes[cell] as number) + 1;
  }
  return chooseDistributions({ ...cells, sizes }, treeOf, threshold);
}

/** Returns how many of these people chose "not applicable"; undefined if `people` is undefined. */
export const countIn = (people: readonly number[] | undefined, isValued: Valued): NotApplicable | undefined =>
  people && { count: people.length - valuedAmong(people, isValued).length, of: people.length };

/** Returns the counts of a live week's figure with those of a batch. Each is undefined if withheld. */
export function sumOfCounts(
  one: NotApplicable | undefined,
  other: NotApplicable | undefined,
): NotApplicable | undefined {
  if (!one || !other) return one ?? other;
  return { count: one.count + other.count, of: one.of + other.of };
}
