// Which questions a schedule asks in a week: the same for all whom it asks (privacy.md). Pure.

/** What a schedule asks: these questions each time, or some of those of KPIs in turn. */
export type Choice =
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
  if ('questionIds' in choice) return choice.questionIds;
  const waited = (id: number) => weeksSince.get(id) ?? Infinity;
  return inTurn(choice.pools)
    .filter((id) => waited(id) >= choice.everyWeeks)
    .map((id, place) => ({ id, place }))
    .toSorted((a, b) => compare(waited(b.id), waited(a.id)) || a.place - b.place)
    .slice(0, choice.perWeek)
    .toSorted((a, b) => a.place - b.place)
    .map(({ id }) => id);
}

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

/** The first of each list, then the second of each, and so on; a question of several KPIs once. */
function inTurn(pools: number[][]): number[] {
  const longest = Math.max(0, ...pools.map((pool) => pool.length));
  const turns = Array.from({ length: longest }, (_, i) => pools.flatMap((pool) => pool.slice(i, i + 1)));
  return [...new Set(turns.flat())];
}
