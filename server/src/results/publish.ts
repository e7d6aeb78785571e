// Closing a week: its figures are made once and published, its answers and who gave them are forgotten, all in one
// transaction (privacy.md P1).
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { createHmac } from 'node:crypto';
import { accountById, lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { kpisOf, type Question, questionsOf } from '../questions/questions.ts';
import { weeksToClose } from '../rounds/rounds.ts';
import {
  kpiValues,
  questionFigures,
  type Result,
  responseRates,
  turnoutOf,
  type WeekData,
} from './figures.ts';
import {
  type CommentRow,
  copyComments,
  copyKpiValues,
  copyRates,
  copyResults,
  deleteFigures,
  deleteShown,
  endWeek,
  lockWeek,
  type OpenWeekRow,
  selectAnswers,
  selectPresentGroups,
  selectShownWeeks,
  selectWeekData,
  updateKpisWithValues,
  updateShown,
} from './publish.sql.ts';

/**
 * Publishes a week and closes it. Returns how many figures of questions were published; undefined when it had closed
 * before, also by another process at the same moment. Throws a Fault when nothing was asked in that week.
 */
export async function closeWeek(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<number | undefined> {
  const state = await lockWeek(tx, accountId, week);
  if (!state) {
    throw new Fault('not_found', 'week not found', `Nothing was asked in the week ${weekName(week)}.`);
  }
  if (state.isClosed) return undefined;
  const published = await writeFigures(tx, accountId, week, state);
  await endWeek(tx, accountId, week);
  return published;
}

/** Makes the figures of a locked week and writes them, in place of those that were shown of it while it was open. */
async function writeFigures(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { figures, spread, comments, key, isShown }: OpenWeekRow,
): Promise<number> {
  const data = await selectWeekData(tx, accountId, week);
  const turnout = turnoutOf({ ...data, thresholds: { figures, spread, comments } });
  const questions = new Map((await questionsOf(tx, accountId)).map((question) => [question.id, question]));
  const asked = [...new Set(data.rounds.flatMap(({ questionIds }) => questionIds))].toSorted((a, b) => a - b);
  const results = new Map<number, Result[]>();
  const shown: CommentRow[] = [];
  for (const id of asked) {
    const { type, options } = questions.get(id) as Question;
    // oxlint-disable-next-line no-await-in-loop -- one question at a time is in memory
    const answers = await selectAnswers(tx, accountId, week, id);
    const made = questionFigures({ id, type, options: options.map((option) => option.id) }, answers, turnout);
    results.set(id, made.results);
    const ordered = inNoOrder(made.comments, key);
    shown.push(...ordered.map((comment, position) => ({ ...comment, questionId: id, position })));
  }

  // Last, so that others wait for us no longer than the rows take: the figures of a group that is removed from here on
  // are deleted by whoever removes it.
  await lockAccount(tx, accountId);
  const present = await selectPresentGroups(tx, accountId);
  const isPresent = ({ groupId }: { groupId: number }) => present.has(groupId);
  if (isShown) await deleteShown(tx, accountId, week, groupsOf(data));
  // By group: what is read together lies together, which halves what reading a range of groups costs.
  const rows = [...results]
    .flatMap(([questionId, list]) => list.filter(isPresent).map((result) => ({ ...result, questionId })))
    .toSorted((a, b) => a.groupId - b.groupId || a.questionId - b.questionId);
  const values = kpiValues(await kpisOf(tx, accountId), results).filter(isPresent);
  await copyResults(tx, accountId, week, rows);
  await copyRates(tx, accountId, week, responseRates(turnout).filter(isPresent));
  await copyKpiValues(tx, accountId, week, values);
  const valued = new Set(values.filter(({ value }) => value !== null).map(({ kpiId }) => kpiId));
  await updateKpisWithValues(tx, accountId, [...valued]);
  const kept = shown.map((comment) => ({
    ...comment,
    groupIds: comment.groupIds.filter((groupId) => present.has(groupId)),
  }));
  await copyComments(
    tx,
    accountId,
    week,
    kept.filter(({ groupIds }) => groupIds.length > 0),
  );
  await raiseVersion(tx, accountId);
  return rows.filter(({ answers }) => answers !== null).length;
}

/** All groups that a week asks, or in which its answers count. */
const groupsOf = ({ asked, rounds }: Pick<WeekData, 'asked' | 'rounds'>): number[] => [
  ...new Set([
    ...asked.map(({ groupId }) => groupId),
    ...rounds.flatMap(({ groupId, aboveIds }) => [groupId, ...aboveIds]),
  ]),
];

/** Whether there are weeks to close at a time, in ms, and open ones to show or to take back. */
export async function dueWeeks(pool: Pool, now: number): Promise<{ close: boolean; show: boolean }> {
  const [ended, shown] = await Promise.all([weeksToClose(pool, now), selectShownWeeks(pool)]);
  return { close: ended.length > 0, show: shown.length > 0 };
}

/**
 * Shows the open weeks of accounts whose publication is live as they stand now (decision A16), and takes back what is
 * shown of those whose publication no longer is.
 */
export async function showLiveWeeks(pool: Pool): Promise<void> {
  for (const { accountId, week, isLive } of await selectShownWeeks(pool)) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, (tx) => showWeek(tx, accountId, week, isLive));
  }
}

async function showWeek(tx: Transaction, accountId: AccountId, week: Week, isLive: boolean): Promise<void> {
  const state = await lockWeek(tx, accountId, week);
  if (!state || state.isClosed) return;
  if (isLive) await writeFigures(tx, accountId, week, state);
  else {
    await lockAccount(tx, accountId);
    await deleteShown(tx, accountId, week, groupsOf(await selectWeekData(tx, accountId, week)));
    await raiseVersion(tx, accountId);
  }
  await updateShown(tx, accountId, week, isLive);
}

/** By a keyed hash of the text, whose key nobody has once the week is closed (P6). */
function inNoOrder<T extends { text: string }>(comments: T[], key: Uint8Array | null): T[] {
  const placed = comments.map((comment, i) => {
    const hash = createHmac('sha256', key ?? '')
      .update(`${comment.text}\0${i}`)
      .digest('hex');
    return { comment, hash };
  });
  return placed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ comment }) => comment);
}

/**
 * Closes a week of an account, or, without one, the last week that has ended. Returns the week and how many figures were
 * published: 0 when it had closed before.
 */
export async function closeWeekNow(
  pool: Pool,
  accountId: AccountId,
  week: Week | undefined,
  now: number,
): Promise<{ week: Week; published: number }> {
  const { timezone } = await accountById(pool, accountId);
  const wanted = week ?? addWeeks(weekOf(dayIn(timezone, now)), -1);
  const published = await inTransaction(pool, (tx) => closeWeek(tx, accountId, wanted));
  return { week: wanted, published: published ?? 0 };
}

/**
 * Closes every week that has ended, one after another: also those that ended while the service was stopped. One that
 * cannot be closed holds up no other; what was wrong is thrown at the end.
 */
export async function closeEndedWeeks(pool: Pool, now: number): Promise<void> {
  const failures: unknown[] = [];
  for (const { accountId, week } of await weeksToClose(pool, now)) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, (tx) => closeWeek(tx, accountId, week)).catch((error: unknown) =>
      failures.push(error),
    );
  }
  if (failures.length > 0) throw failures[0];
}

/** Removes all figures of groups that are removed, in the transaction that removes them (decision A15, P10). */
export async function forgetGroups(tx: Transaction, accountId: AccountId, groupIds: number[]): Promise<void> {
  if (groupIds.length > 0) await deleteFigures(tx, accountId, groupIds);
}
