// Asks a schedule's questions immediately, outside its rhythm, in the current week. It counts as the schedule's round of that week, so the
// schedule doesn't ask again in it.
import { type Week, weekOf, dayIn, weekName } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount, refuseSandbox } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { missedSentence } from './missed-reasons.ts';
import { openRounds } from './opening.ts';
import { tryLockSurvey } from './rounds.sql.ts';
import { scheduleNotFound } from './schedules.ts';
import {
  insertScheduleWeek,
  lockSchedule,
  selectScheduleWeeks,
  updateScheduleStart,
} from './schedules.sql.ts';

/** The schedule to ask, and who does it. */
export type WhatToAsk = { accountId: AccountId; scheduleId: number; by: Actor };

/** What was asked. */
export type AskedNow = { week: Week; people: number; questionIds: number[] };

/** Asks like askNow, on a separate thread, because the keys of many people take a moment to derive. */
export type AskOnThread = (what: WhatToAsk) => Promise<AskedNow>;

/**
 * Opens the rounds of a schedule now. The invitations go out immediately, but not at night or on a weekend unless the schedule allows any
 * hour. A schedule that was to start in a later week starts in this one. Throws a Fault if it has asked in this week, or if it can't.
 */
export async function askNow(
  pool: Pool,
  keys: AnswerKeys,
  { accountId, scheduleId, by }: WhatToAsk,
  now: number,
): Promise<AskedNow> {
  return inTransaction(pool, async (tx) => {
    // In the order of opening.ts, to avoid deadlocks.
    if (!(await tryLockSurvey(tx, accountId))) throw busy();
    await lockAccount(tx, accountId);
    const schedule = await lockSchedule(tx, accountId, scheduleId);
    if (!schedule) throw scheduleNotFound(scheduleId);
    const account = await accountById(tx, accountId);
    refuseSandbox(account, 'It asks no questions.');
    const { timezone } = account;
    const week = weekOf(dayIn(timezone, now));
    const weeks = await selectScheduleWeeks(tx, accountId, scheduleId);
    if (weeks.some((one) => one.week === week && one.outcome === 'opened')) throw alreadyAsked(week);
    const opened = await openRounds(tx, keys, schedule, { week, now, isSimulated: false, isNow: true });
    const { reason, people, questionIds } = opened;
    if (reason !== null) throw notAsked(missedSentence(reason));
    await insertScheduleWeek(tx, accountId, scheduleId, { week, ...opened });
    if (weekOf(schedule.fromDay) > week) await updateScheduleStart(tx, accountId, scheduleId, week);
    const details = { name: schedule.name, week: weekName(week), people };
    await audit(tx, accountId, by, 'schedule asked', { subject: scheduleId, details });
    return { week, people, questionIds };
  });
}

const busy = () =>
  new Fault(
    'unavailable',
    'unavailable',
    'The account is busy with a week or an import. Try again in a minute.',
    { retryAfter: 30 },
  );

const notAsked = (message: string) => new Fault('conflict', 'not asked', message);

/** Returns the Fault for a week in which no one can get a message any more. */
export const tooLateToAsk = (): Fault =>
  notAsked(
    'It is too late to send messages this week: this schedule sends none at night or on weekends. Ask next week, or turn on "Allow any hour" in the schedule.',
  );

/** Returns the Fault for a schedule that has asked its questions in a week. */
export const alreadyAsked = (week: Week): Fault =>
  new Fault(
    'conflict',
    'already asked',
    `The schedule has already asked its questions in ${weekName(week)}. It can ask again in the next week.`,
  );
