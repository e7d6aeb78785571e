// Closes weeks and updates live ones. Closing a week computes and publishes its figures once, and deletes its answers and who
// gave them, all in one transaction (privacy.md P1).
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { createHmac } from 'node:crypto';
import { noiseKeyOf } from '../accounts/noise-key.ts';
import { accountById, lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { selectKpis, type Question, selectQuestions } from '../questions/questions.ts';
import { classesOf, comparable } from '../questions/similar-wording.ts';
import { lockSurvey, tryLockSurvey, weeksToClose } from '../rounds/rounds.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { addBatch } from './batches.ts';
import {
  type Loaded,
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
import { type Counted, markCounted, type OpenAnswers, openAnswers } from './open-answers.ts';
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
  selectAskedUsers,
  selectPresentGroups,
  selectShown,
  selectShownWeeks,
  selectWeek,
  selectWeekData,
  updateKpisWithValues,
  updateShown,
  vacuumDeleted,
} from './publish.sql.ts';

/**
 * Publishes a week's figures and closes it. Returns how many question figures were published; undefined if the week was already
 * closed, possibly by another process just now. Throws a Fault if nothing was asked in that week or this server lacks its key.
 * `unstoredKey`: the key of a week that was opened in the same transaction and never stored. The caller must call `forgetClosed`
 * after the transaction has committed.
 */
export async function closeWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
  unstoredKey?: WeekKey,
): Promise<number | undefined> {
  await lockSurvey(tx, accountId);
  const state = await selectWeek(tx, accountId, week, true);
  if (!state) {
    throw new Fault('not_found', 'week not found', `No questions were asked in week ${weekName(week)}.`);
  }
  if (state.isClosed) return undefined;
  const key = unstoredKey ?? (await weekKeyOf(tx, keys, accountId, week));
  const { data, personOf } = await weekData(tx, accountId, week, state, key);
  const answers = await openAnswers(tx, key, accountId, week);
  const { figures } = await computeFigures(tx, keys, accountId, {
    week,
    data,
    key,
    personOf,
    state,
    answers,
    isLast: true,
  });
  const published = await writeFigures(tx, accountId, week, figures, state.isShown ? groupsOf(data) : []);
  await endWeek(tx, accountId, week);
  if (!unstoredKey) await keys.forget(tx, accountId, week);
  return published;
}

/** Returns the key of an open week. */
async function weekKeyOf(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
): Promise<WeekKey> {
  const key = await keys.of(tx, accountId, week);
  if (!key) throw new Error(`The open week ${weekName(week)} of account ${accountId} has no key.`);
  return key;
}

/**
 * Destroys the keys of closed weeks by ending their epoch, so that remaining copies of their data can't be decrypted, and vacuums
 * the tables. Call it after weeks have closed. If it is interrupted, the next call finishes it, or the service does so within a
 * minute (AnswerKeys.advance).
 */
export async function deleteClosedData(pool: Pool, keys: AnswerKeys): Promise<void> {
  await keys.advance();
  await vacuumDeleted(pool);
}

/** Everything that is published about a week. */
type Figures = {
  results: (Result & { questionId: number })[];
  rates: Rate[];
  values: KpiValue[];
  comments: CommentRow[];
};

type FiguresInput = {
  week: Week;
  data: WeekData;
  key: WeekKey;
  personOf: (respondent: string) => string;
  state: OpenWeekRow;
  answers: OpenAnswers;
  isLast: boolean;
};

/** Computes the figures of a week. For a live week, adds one batch to the figures already shown. `isLast`: the week closes. */
async function computeFigures(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  { week, data, key, personOf, state, answers, isLast }: FiguresInput,
): Promise<{ figures: Figures; counted: Counted[] }> {
  const turnout = turnoutOf(data);
  const noise = await noiseIn(tx, keys, accountId, state.noise, personOf);
  const questions = new Map(
    (await selectQuestions(tx, accountId)).map((question) => [question.id, question]),
  );
  const asked = [...new Set(data.rounds.flatMap(({ questionIds }) => questionIds))].toSorted((a, b) => a - b);
  const shown = state.isLive ? await selectShown(tx, accountId, week, groupsOf(data)) : undefined;
  const results = new Map<number, Result[]>();
  const comments: CommentRow[] = [];
  const counted: Counted[] = [];
  const classes = classesOf(questions.values());
  for (const questionIds of Map.groupBy(asked, (id) => classes.get(id)).values()) {
    const answered: Loaded[] = [];
    for (const id of questionIds) {
      const { type, options, text } = questions.get(id) as Question;
      const question = { id, type, options: options.map((option) => option.id) };
      // The noise depends on the question's own text, not on its class, which can change when other questions change.
      answered.push({ question, answers: answers.to(id), noise: noise?.ofQuestion(comparable(text)) });
    }
    const batch = shown && addBatch(answered, shown, turnout, { isLast });
    if (batch && batch.counted.length > 0) counted.push({ questionIds, respondents: batch.counted });
    const whole = batch ? [] : classFigures(answered, turnout);
    for (const [i, id] of questionIds.entries()) {
      results.set(id, batch?.results[i] ?? whole[i]?.results ?? []);
      const ordered = shuffled(batch?.comments[i] ?? whole[i]?.comments ?? [], key.orderKey);
      comments.push(...ordered.map((comment, position) => ({ ...comment, questionId: id, position })));
    }
  }
  const figures = {
    // Ordered by group, because reading a range of groups is twice as fast if their rows are stored together.
    results: [...results]
      .flatMap(([questionId, list]) => list.map((result) => ({ ...result, questionId })))
      .toSorted((a, b) => a.groupId - b.groupId || a.questionId - b.questionId),
    // The response rates of a live week are published when it closes (P7).
    rates: isLast ? responseRates(turnout) : [],
    values: kpiValues(await selectKpis(tx, accountId), results, data.asked),
    comments,
  };
  return { figures, counted };
}

/**
 * Returns the noise for a week's figures, if any. `personOf` returns the name of a respondent that is the same in every week, so
 * that the same set of people gets the same noise in every week.
 */
async function noiseIn(
  tx: Transaction,
  { secrets }: AnswerKeys,
  accountId: AccountId,
  level: NoiseLevel,
  personOf: (respondent: string) => string,
): Promise<Noise | undefined> {
  if (level === 0) return undefined;
  return noiseOf(await noiseKeyOf(tx, accountId, secrets), level, personOf);
}

/** Writes the figures of groups that still exist, and replaces those shown while the week was open. */
async function writeFigures(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { results, rates, values, comments }: Figures,
  shownIn: number[],
): Promise<number> {
  // The lock is taken last, so that others wait only while the rows are written. If a group is removed after this point, the
  // transaction that removes it deletes its figures.
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
  { figures, distribution, comments }: OpenWeekRow,
  key: WeekKey,
): Promise<{ data: WeekData; personOf: (respondent: string) => string }> {
  const data = await selectWeekData(tx, accountId, week);
  const { scheduledRounds, users } = await selectAskedUsers(tx, accountId, week);
  const people = users.map((user) => ({ ...user, respondent: key.respondentOf(user.userId) }));
  const present = new Set(people.filter(({ isActive }) => isActive).map(({ respondent }) => respondent));
  // The same name in every week. People who were removed, or appear only in a history file, keep their number of this week.
  const names = new Map(people.map(({ respondent, userId }) => [respondent, `user ${userId}`]));
  const assignments = data.assignments.map((assignment) =>
    scheduledRounds.has(assignment.roundId) && !present.has(assignment.respondent)
      ? { ...assignment, isWithdrawn: true as const }
      : assignment,
  );
  const handedOut = new Set(
    people.filter(({ hasHandedOut }) => hasHandedOut).map(({ respondent }) => respondent),
  );
  return {
    data: { ...data, assignments, handedOut, thresholds: { figures, distribution, comments } },
    personOf: (respondent) => names.get(respondent) ?? respondent,
  };
}

/** Returns all groups that are asked in a week or in which its answers count. */
const groupsOf = ({ asked, rounds }: Pick<WeekData, 'asked' | 'rounds'>): number[] => [
  ...new Set([
    ...asked.map(({ groupId }) => groupId),
    ...rounds.flatMap(({ groupId, aboveIds }) => [groupId, ...aboveIds]),
  ]),
];

/** Returns whether there are weeks to close at `now` (ms since 1970), and live weeks to update. */
export async function dueWeeks(pool: Pool, now: number): Promise<{ close: boolean; show: boolean }> {
  const [ended, shown] = await Promise.all([weeksToClose(pool, now), selectShownWeeks(pool)]);
  return { close: ended.length > 0, show: shown.length > 0 };
}

/**
 * Adds new answers to the figures of open live weeks, in whole batches (P16). If a week fails, the others are still updated, and
 * the first error is thrown at the end.
 */
export async function showLiveWeeks(pool: Pool, keys: AnswerKeys): Promise<void> {
  const failures: unknown[] = [];
  for (const { accountId, week } of await selectShownWeeks(pool)) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, (tx) => showWeek(tx, keys, accountId, week)).catch((error: unknown) =>
      failures.push(error),
    );
  }
  if (failures.length > 0) throw failures[0];
}

/** Updates a live week. Does nothing while another transaction closes it or imports into the account; the next call tries again. */
async function showWeek(tx: Transaction, keys: AnswerKeys, accountId: AccountId, week: Week): Promise<void> {
  if (!(await tryLockSurvey(tx, accountId))) return;
  const state = await selectWeek(tx, accountId, week, false);
  if (!state || state.isClosed || !state.isLive) return;
  const key = await weekKeyOf(tx, keys, accountId, week);
  const { data, personOf } = await weekData(tx, accountId, week, state, key);
  const answers = await openAnswers(tx, key, accountId, week);
  const all = { week, data, key, personOf, state, answers, isLast: false };
  const { figures, counted } = await computeFigures(tx, keys, accountId, all);
  if (counted.length === 0) return;
  // The lock stops new answers until the figures are written, so that exactly the counted answers are marked as counted.
  await selectWeek(tx, accountId, week, true);
  // Someone has changed an answer in the meantime. The next call tries again.
  if (!(await markCounted(tx, key, { accountId, week }, { answers, counted }))) return;
  await writeFigures(tx, accountId, week, figures, state.isShown ? groupsOf(data) : []);
  await updateShown(tx, accountId, week);
}

/** Returns the comments ordered by a keyed hash of their texts. The key is destroyed when the week closes (P6). */
function shuffled<T extends { text: string }>(comments: T[], key: Uint8Array): T[] {
  const placed = comments.map((comment, i) => {
    const hash = createHmac('sha256', key).update(`${comment.text}\0${i}`).digest('hex');
    return { comment, hash };
  });
  return placed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ comment }) => comment);
}

/**
 * Closes a week of an account, by default the last one that has ended. Returns the week and how many figures were published: 0 if
 * it was already closed.
 */
export async function closeWeekNow(
  pool: Pool,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week | undefined,
  now: number,
): Promise<{ week: Week; published: number }> {
  const { timezone } = await accountById(pool, accountId);
  const wanted = week ?? addWeeks(weekOf(dayIn(timezone, now)), -1);
  const published = await inTransaction(pool, (tx) => closeWeek(tx, keys, accountId, wanted));
  if (published !== undefined) await deleteClosedData(pool, keys);
  return { week: wanted, published: published ?? 0 };
}

/**
 * Closes every week that has ended, one after another, including those that ended while the service was stopped. If a week can't be
 * closed, the others still are, and the first error is thrown at the end.
 */
export async function closeEndedWeeks(pool: Pool, keys: AnswerKeys, now: number): Promise<void> {
  const failures: unknown[] = [];
  const ended = await weeksToClose(pool, now);
  for (const { accountId, week } of ended) {
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    await inTransaction(pool, async (tx) => {
      // Don't wait for an import into the account, which can take minutes: the next call comes sooner.
      if (await tryLockSurvey(tx, accountId)) await closeWeek(tx, keys, accountId, week);
    }).catch((error: unknown) => failures.push(error));
  }
  if (ended.length > 0) await deleteClosedData(pool, keys);
  if (failures.length > 0) throw failures[0];
}

/** Deletes all figures of groups, in the transaction that deletes the groups (decision A15, P10). */
export async function deleteGroupResults(
  tx: Transaction,
  accountId: AccountId,
  groupIds: number[],
): Promise<void> {
  if (groupIds.length > 0) await deleteFigures(tx, accountId, groupIds);
}
