// Updates the figures of live weeks: open weeks whose results are shown while people are still answering (rules.md P16).
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { runOneByOne } from '../jobs/accounts-in-turn.ts';
import { tryLockSurvey } from '../rounds/rounds.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { decodeAnswers, encodeAnswers, type PersonAnswer } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { selectLiveWeeks, selectSealedOf, updateSealed, updateShown } from './live-week.sql.ts';
import { type ComputedFigures, computeFigures, openWeekKey, writeFigures } from './published-figures.ts';
import { selectWeek } from './published-figures.sql.ts';
import type { WeekAnswer } from './turnout.ts';

/** Returns whether any live week is open. */
export async function hasLiveWeeks(pool: Pool): Promise<boolean> {
  return (await selectLiveWeeks(pool)).length > 0;
}

/**
 * Adds new answers to the figures of open live weeks, in whole batches. If a week fails, the others are still updated, and the
 * first error is thrown at the end. A week that others keep locked is left to the next call, which comes within minutes.
 */
export async function showLiveWeeks(pool: Pool, keys: AnswerKeys): Promise<void> {
  // Each is a separate transaction.
  await runOneByOne(await selectLiveWeeks(pool), ({ accountId, week }) =>
    inTransaction(pool, (tx) => showWeek(tx, keys, accountId, week)),
  );
}

/** Updates a live week. Does nothing while another transaction closes it or imports into the account; the next call tries again. */
async function showWeek(tx: Transaction, keys: AnswerKeys, accountId: AccountId, week: Week): Promise<void> {
  if (!(await tryLockSurvey(tx, accountId))) return;
  const state = await selectWeek(tx, accountId, week, false);
  if (!state || state.isClosed || !state.isLive) return;
  const open = { week, state, key: await openWeekKey(tx, keys, accountId, week) };
  const computed = await computeFigures(tx, keys, accountId, open, { isLast: false });
  if (computed.counted.length === 0) return;
  // The lock stops new answers until the figures are written, so that exactly the counted answers are marked as counted.
  await selectWeek(tx, accountId, week, true);
  // Someone has changed an answer in the meantime. The next call tries again.
  if (!(await markCounted(tx, open.key, { accountId, week }, computed))) return;
  await writeFigures(tx, accountId, open, computed);
  await updateShown(tx, accountId, week);
}

/**
 * Marks answers of a live week as counted, so that they can no longer be changed (P16). The caller has locked the week, so no one
 * can answer in the meantime. Returns false and marks nothing if one of the answers has changed since `answers` were read.
 */
async function markCounted(
  tx: Transaction,
  key: WeekKey,
  { accountId, week }: { accountId: AccountId; week: Week },
  { answers, counted }: ComputedFigures,
): Promise<boolean> {
  // The counted answers of each respondent, by question.
  const wanted = new Map<string, Map<number, WeekAnswer>>();
  for (const { questionIds, respondents } of counted) {
    const included = new Set(respondents);
    for (const id of questionIds) {
      for (const answer of answers.to(id)) {
        if (!included.has(answer.respondent)) continue;
        const own = wanted.get(answer.respondent) ?? new Map<number, WeekAnswer>();
        wanted.set(answer.respondent, own.set(id, answer));
      }
    }
  }
  const rows = (await selectSealedOf(tx, accountId, week, [...wanted.keys()])).map((row) => ({
    ...row,
    answers: decodeAnswers(key.open(row.respondent, row.sealed)),
  }));
  for (const row of rows) {
    for (const [id, before] of wanted.get(row.respondent) as Map<number, WeekAnswer>) {
      const now = row.answers.get(id);
      if (!now) continue; // in another row of the respondent
      if (!isSame(now, before)) return false;
      row.answers.set(id, { ...now, counted: true });
    }
  }
  const sealed = rows.map(({ respondent, importBatch, answers: own }) => ({
    respondent,
    importBatch,
    sealed: key.seal(respondent, encodeAnswers(own)),
  }));
  await updateSealed(tx, accountId, week, sealed);
  return true;
}

const isSame = (a: WeekAnswer | PersonAnswer, b: WeekAnswer | PersonAnswer): boolean =>
  a.value === b.value &&
  a.skipped === b.skipped &&
  a.notApplicable === b.notApplicable &&
  String(a.choices) === String(b.choices);
