// The latest figures of every group that are shown. Most groups have a figure of each question in the week in which the account last asked
// it. Only the other groups need the whole window: reading it for thousands of groups takes several times as long.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { type LatestFigures, selectLatestFigures } from './latest-figures.sql.ts';
import { selectAskedWeeks } from './statistics-shown.sql.ts';
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
