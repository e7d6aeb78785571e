// Chooses the questions that a schedule asks in a week. They are the same for everyone it asks (privacy.md). Pure.
import { withoutDuplicates } from '../questions/similar-wording.ts';

/**
 * What a schedule asks: either the same questions each time, or questions of KPIs in turn. `classes`: which questions have the same
 * text. Only one of them is asked in a week.
 */
export type Choice = { classes?: ReadonlyMap<number, number> } & Asking;

type Asking =
  | { questionIds: number[] }
  | {
      /** The questions of each KPI that can be asked, in the order of the KPIs. */
      pools: number[][];
      /** The maximum number of questions each time. */
      perWeek: number;
      /** The minimum number of weeks before a question is asked again. */
      everyWeeks: number;
    };

/**
 * Returns the questions for a week, in the order in which they are asked. `weeksSince`: how many weeks ago the schedule last asked
 * each question; missing if it never did. Questions that were never asked, or were asked longest ago, are chosen first. Among equals,
 * the KPIs take turns, so that every question comes up and each week covers several KPIs.
 */
export function chooseQuestions(choice: Choice, weeksSince: ReadonlyMap<number, number>): number[] {
  const { classes = new Map<number, number>() } = choice;
  if ('questionIds' in choice) return withoutDuplicates(choice.questionIds, classes);
  const weeksWaited = (id: number) => weeksSince.get(id) ?? Infinity;
  const places = new Map(
    inTurn(choice.pools)
      .filter((id) => weeksWaited(id) >= choice.everyWeeks)
      .map((id, place) => [id, place]),
  );
  const placeOf = (id: number) => places.get(id) as number;
  const longest = [...places.keys()].toSorted(
    (a, b) => compare(weeksWaited(b), weeksWaited(a)) || placeOf(a) - placeOf(b),
  );
  return withoutDuplicates(longest, classes)
    .slice(0, choice.perWeek)
    .toSorted((a, b) => placeOf(a) - placeOf(b));
}

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

/** Returns the first question of each KPI, then the second of each, and so on, without duplicates. */
function inTurn(pools: number[][]): number[] {
  const longest = Math.max(0, ...pools.map((pool) => pool.length));
  const turns = Array.from({ length: longest }, (_, i) => pools.flatMap((pool) => pool.slice(i, i + 1)));
  return [...new Set(turns.flat())];
}
