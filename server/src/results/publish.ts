// Closing a week: its figures are made once and published, its answers and who gave them are forgotten, all in one
// transaction (privacy.md P1).
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { createHmac } from 'node:crypto';
import { accountById, lockAccount, noiseKeyOf, raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { kpisOf, type Question, questionsOf } from '../questions/questions.ts';
import { classesOf } from '../questions/same-words.ts';
import { lockSurvey, respondentOf, tryLockSurvey, weeksToClose } from '../rounds/rounds.ts';
import { addBatch } from './batches.ts';
import {
  type Answered,
  classFigures,
  kpiValues,
  type KpiValue,
  type Rate,
  type Result,
  responseRates,
  turnoutOf,
  type WeekData,
} from './figures.ts';
import { type Noise, type NoiseLevel, noiseOf } from './noise.ts';
import {
  type CommentRow,
  copyComments,
  copyKpiValues,
  copyRates,
  copyResults,
  deleteFigures,
  deleteShown,
  endWeek,
  type OpenWeekRow,
  selectActive,
  selectAnswers,
  selectPresentGroups,
  selectShown,
  selectShownWeeks,
  selectWeek,
  selectWeekData,
  updateCounted,
  updateKpisWithValues,
  updateShown,
  vacuumForgotten,
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
  await lockSurvey(tx, accountId);
  const state = await selectWeek(tx, accountId, week, true);
  if (!state) {
    throw new Fault('not_found', 'week not found', `Nothing was asked in the week ${weekName(week)}.`);
  }
  if (state.isClosed) return undefined;
  const data = await weekData(tx, accountId, week, state);
  const { figures } = await makeFigures(tx, accountId, week, data, { state, isLast: true });
  const published = await writeFigures(tx, accountId, week, figures, state.isShown ? groupsOf(data) : []);
  await endWeek(tx, accountId, week);
  return published;
}

export { vacuumForgotten };

/** All that is told of a week. */
type Figures = {
  results: (Result & { questionId: number })[];
  rates: Rate[];
  values: KpiValue[];
  comments: CommentRow[];
};

/** Who became counted, for the questions of a class. */
type Counted = { questionIds: number[]; respondents: string[] };

/** Makes the figures of a week: whole, or, of a live week, those that are shown with a batch more. `isLast`: it closes. */
async function makeFigures(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  data: WeekData,
  { state, isLast }: { state: OpenWeekRow; isLast: boolean },
): Promise<{ figures: Figures; counted: Counted[] }> {
  const turnout = turnoutOf(data);
  const noise = await noiseIn(tx, accountId, state.noise);
  const questions = new Map((await questionsOf(tx, accountId)).map((question) => [question.id, question]));
  const asked = [...new Set(data.rounds.flatMap(({ questionIds }) => questionIds))].toSorted((a, b) => a - b);
  const shown = state.isLive ? await selectShown(tx, accountId, week, groupsOf(data)) : undefined;
  const results = new Map<number, Result[]>();
  const comments: CommentRow[] = [];
  const counted: Counted[] = [];
  const classes = classesOf(questions.values());
  for (const [words, questionIds] of Map.groupBy(asked, (id) => classes.get(id))) {
    const answered: Answered[] = [];
    for (const id of questionIds) {
      const { type, options } = questions.get(id) as Question;
      // oxlint-disable-next-line no-await-in-loop -- one question, or those with the same words, at a time in memory
      const answers = await selectAnswers(tx, accountId, week, id);
      answered.push({ question: { id, type, options: options.map((option) => option.id) }, answers });
    }
    const own = noise?.ofQuestion(String(words));
    const batch = shown && addBatch(answered, shown, turnout, { isLast, noise: own });
    if (batch && batch.counted.length > 0) counted.push({ questionIds, respondents: batch.counted });
    const whole = batch ? [] : classFigures(answered, turnout, own);
    for (const [i, id] of questionIds.entries()) {
      results.set(id, batch?.results[i] ?? whole[i]?.results ?? []);
      const ordered = inNoOrder(batch?.comments[i] ?? whole[i]?.comments ?? [], state.key);
      comments.push(...ordered.map((comment, position) => ({ ...comment, questionId: id, position })));
    }
  }
  const figures = {
    // By group: what is read together lies together, which halves what reading a range of groups costs.
    results: [...results]
      .flatMap(([questionId, list]) => list.map((result) => ({ ...result, questionId })))
      .toSorted((a, b) => a.groupId - b.groupId || a.questionId - b.questionId),
    // Those of a live week appear when it closes (P7).
    rates: isLast ? responseRates(turnout) : [],
    values: kpiValues(await kpisOf(tx, accountId), results),
    comments,
  };
  return { figures, counted };
}

/**
 * The noise of a week's figures, if any. `personOf`: what a respondent of the week is called in every week. The same set of
 * people gets the same noise in two weeks only if this is the same in both.
 */
async function noiseIn(
  tx: Transaction,
  accountId: AccountId,
  level: NoiseLevel,
  personOf = (respondent: string) => respondent,
): Promise<Noise | undefined> {
  if (level === 0) return undefined;
  return noiseOf(await noiseKeyOf(tx, accountId), level, personOf);
}

/** Writes the figures of groups that there are, in place of those that were shown of the week while it was open. */
async function writeFigures(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { results, rates, values, comments }: Figures,
  shownIn: number[],
): Promise<number> {
  // Last, so that others wait for us no longer than the rows take: the figures of a group that is removed from here on
  // are deleted by whoever removes it.
  await lockAccount(tx, accountId);
  const present = await selectPresentGroups(tx, accountId);
  const isPresent = ({ groupId }: { groupId: number }) => present.has(groupId);
  if (shownIn.length > 0) await deleteShown(tx, accountId, week, shownIn);
  const rows = results.filter(isPresent);
  const presentValues = values.filter(isPresent);
  await copyResults(tx, accountId, week, rows);
  await copyRates(tx, accountId, week, rates.filter(isPresent));
  await copyKpiValues(tx, accountId, week, presentValues);
  const valued = new Set(presentValues.filter(({ value }) => value !== null).map(({ kpiId }) => kpiId));
  await updateKpisWithValues(tx, accountId, [...valued]);
  const kept = comments.map((comment) => ({
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

async function weekData(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { figures, spread, comments, key }: OpenWeekRow,
): Promise<WeekData> {
  const data = await selectWeekData(tx, accountId, week);
  const { scheduledRounds, people } = await selectActive(tx, accountId, week);
  const present = key && new Set(people.map((person) => String(respondentOf(key, person))));
  const assignments = data.assignments.map((assignment) =>
    present && scheduledRounds.has(assignment.roundId) && !present.has(assignment.respondent)
      ? { ...assignment, isWithdrawn: true as const }
      : assignment,
  );
  return { ...data, assignments, thresholds: { figures, spread, comments } };
}

/** All groups that a week asks, or in which its answers count. */
const groupsOf = ({ asked, rounds }: Pick<WeekData, 'asked' | 'rounds'>): number[] => [
  ...new Set([
    ...asked.map(({ groupId }) => groupId),
    ...rounds.flatMap(({ groupId, aboveIds }) => [groupId, ...aboveIds]),
  ]),
];

/** Whether there are weeks to close at a time, in ms, and live ones to show. */
export async function dueWeeks(pool: Pool, now: number): Promise<{ close: boolean; show: boolean }> {
  const [ended, shown] = await Promise.all([weeksToClose(pool, now), selectShownWeeks(pool)]);
  return { close: ended.length > 0, show: shown.length > 0 };
}

/** Adds to the figures of live weeks that are open what has been answered since, in whole batches (P16). */
export async function showLiveWeeks(pool: Pool): Promise<void> {
  for (const { accountId, week } of await selectShownWeeks(pool)) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, (tx) => showWeek(tx, accountId, week));
  }
}

/** Skipped while the week is closed or imported into: the next time it is tried again. */
async function showWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  if (!(await tryLockSurvey(tx, accountId))) return;
  const state = await selectWeek(tx, accountId, week, false);
  if (!state || state.isClosed || !state.isLive) return;
  const data = await weekData(tx, accountId, week, state);
  const { figures, counted } = await makeFigures(tx, accountId, week, data, { state, isLast: false });
  if (counted.length === 0) return;
  for (const { questionIds, respondents } of counted) {
    // oxlint-disable-next-line no-await-in-loop -- one for each question that has a batch
    await updateCounted(tx, accountId, week, questionIds, respondents);
  }
  await writeFigures(tx, accountId, week, figures, state.isShown ? groupsOf(data) : []);
  await updateShown(tx, accountId, week);
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
  if (published !== undefined) await vacuumForgotten(pool);
  return { week: wanted, published: published ?? 0 };
}

/**
 * Closes every week that has ended, one after another: also those that ended while the service was stopped. One that
 * cannot be closed holds up no other; what was wrong is thrown at the end.
 */
export async function closeEndedWeeks(pool: Pool, now: number): Promise<void> {
  const failures: unknown[] = [];
  const ended = await weeksToClose(pool, now);
  for (const { accountId, week } of ended) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, async (tx) => {
      // An import into the account may take minutes: the next call comes before.
      if (await tryLockSurvey(tx, accountId)) await closeWeek(tx, accountId, week);
    }).catch((error: unknown) => failures.push(error));
  }
  if (ended.length > 0) await vacuumForgotten(pool);
  if (failures.length > 0) throw failures[0];
}

/** Removes all figures of groups that are removed, in the transaction that removes them (decision A15, P10). */
export async function forgetGroups(tx: Transaction, accountId: AccountId, groupIds: number[]): Promise<void> {
  if (groupIds.length > 0) await deleteFigures(tx, accountId, groupIds);
}
