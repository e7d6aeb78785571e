// Which questions a schedule asks in a week: the same for all whom it asks (privacy.md). Pure.
import { withoutLookAlikes } from '../questions/same-words.ts';

/**
 * What a schedule asks: these questions each time, or some of those of KPIs in turn. `classes`: which questions have the
 * same words; of such only one is asked in a week.
 */
export type Choice = { classes?: ReadonlyMap<number, number> } & Asking;

type Asking =
  | { questionIds: number[] }
  | {
      /** KPIs in their order, each with its questions that may be asked. */
      pools: number[][];
      /** At most so many each time. */
      perWeek: number;
      /** None again before so many weeks have passed. */
      everyWeeks: number;
    };

/**
 * The questions for a week, in the order in which they are asked. `weeksSince`: how many weeks ago the schedule asked a
 * question last; a question that it never asked is not in it. Those go first that were not asked for longest, and of such
 * as are alike one of each KPI after another: so each comes round, and each week is about several things.
 */
export function chooseQuestions(choice: Choice, weeksSince: ReadonlyMap<number, number>): number[] {
  const { classes = new Map<number, number>() } = choice;
  if ('questionIds' in choice) return withoutLookAlikes(choice.questionIds, classes);
  const waited = (id: number) => weeksSince.get(id) ?? Infinity;
  const places = new Map(
    inTurn(choice.pools)
      .filter((id) => waited(id) >= choice.everyWeeks)
      .map((id, place) => [id, place]),
  );
  const placeOf = (id: number) => places.get(id) as number;
  const longest = [...places.keys()].toSorted(
    (a, b) => compare(waited(b), waited(a)) || placeOf(a) - placeOf(b),
  );
  return withoutLookAlikes(longest, classes)
    .slice(0, choice.perWeek)
    .toSorted((a, b) => placeOf(a) - placeOf(b));
}

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

/** The first of each list, then the second of each, and so on; a question of several KPIs once. */
function inTurn(pools: number[][]): number[] {
  const longest = Math.max(0, ...pools.map((pool) => pool.length));
  const turns = Array.from({ length: longest }, (_, i) => pools.flatMap((pool) => pool.slice(i, i + 1)));
  return [...new Set(turns.flat())];
}
