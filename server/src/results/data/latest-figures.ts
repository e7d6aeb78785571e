// The latest figures of every group that are shown. Most groups have a figure of each question in the week in which the account last asked
// it. Only the other groups need the whole window: reading it for thousands of groups takes several times as long.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import {
  type LatestFigures,
  selectLatestFigures,
  selectAveragesInWeeks,
  selectLatestAverages,
} from './latest-figures.sql.ts';
import { selectAskedWeeks } from './statistics-shown.sql.ts';
import { forTwoStatements } from './week-readings.ts';
import type { Window } from './window.ts';

/** Returns the latest shown figures of questions in the closed weeks of a window, by group. Groups without any are missing. */
export async function latestFigures(
  db: Db,
  accountId: AccountId,
  questionIds: readonly number[],
  window: Window,
): Promise<LatestFigures[]> {
  const lastAsked = new Map<number, Week>();
  for (const { week, questionIds: asked } of await selectAskedWeeks(db, accountId, window)) {
    for (const id of asked) if (questionIds.includes(id)) lastAsked.set(id, week);
  }
  const only = { questionIds: [...lastAsked.keys()], weeks: [...lastAsked.values()] };
  const newest = await selectLatestFigures(db, accountId, questionIds, window, { only });
  const complete = newest.filter(({ questions }) => questions === lastAsked.size);
  const except = complete.map(({ groupId }) => groupId);
  const others = await selectLatestFigures(db, accountId, questionIds, window, { except });
  return [...complete, ...others].toSorted((a, b) => a.groupId - b.groupId);
}

/**
 * Returns the rolling value of some questions in each group: the mean of the latest figure that is shown of each question. Only for sorting many
 * groups: values are rounded, so that equal ones are equal whatever the order in which they were added up. `asked`: the weeks of the window in which each
 * question was asked, oldest first. Groups without a value are missing.
 */
export async function rollingValues(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  asked: ReadonlyMap<number, readonly Week[]>,
): Promise<Map<number, number>> {
  const questionIds = [...asked.keys()];
  const all = [...asked.values()].flat().toSorted();
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const weeks = [...asked.values()].map((own) => own.at(-1) as Week);
  const newest = await selectAveragesInWeeks(db, accountId, { questionIds, weeks });
  const complete = newest.filter(([, , figures]) => figures === questionIds.length);
  const known = new Set(complete.map(([id]) => id));
  const others = forTwoStatements(groupIds.filter((id) => !known.has(id)));
  const read = (ids: readonly number[]) =>
    selectLatestAverages(db, accountId, { groupIds: ids, questionIds }, { first, last });
  const averages = [complete, ...(await Promise.all(others.map(read)))].flat();
  return new Map(averages.map(([id, value]) => [id, Math.round(value * 1e9) / 1e9]));
}
