// Opens the rounds of schedules. One transaction fixes who is asked, in which groups, which questions, and when each person gets a
// message. Each schedule is opened once per week, even if processes are interrupted, run twice, or have wrong clocks.
import type { MissedReason } from '@soundings/contract/console/asking.ts';
import { addWeeks, dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Pool, Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { runForAccounts } from '../jobs/accounts-in-turn.ts';
import { datesDue } from './by-date/due-days.ts';
import { deleteAskedInWeek, insertAskedByDate, selectPeopleDue, selectThreshold } from './by-date/due.sql.ts';
import { addDays, dayDue, endOf, sendTimeOf, sendableAt } from './send-times.ts';
import {
  avoidSequentialScans,
  insertMessages,
  insertParticipants,
  type NewMessage,
  type PersonToAsk,
  selectAskedInWeek,
  selectHasImported,
  selectLargeOpening,
  selectPeopleToAsk,
} from './opening.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { type AskedSet, type Clash, clashOf, withUnion } from './overlap.ts';
import {
  descendantsOf,
  addRounds,
  openWeek,
  outermost,
  type Parents,
  peopleOfRound,
  type PeopleToAsk,
  respondentOf,
} from './rounds.ts';
import { type AssignmentRow, selectParents, tryLockSurvey } from './rounds.sql.ts';
import { frozenSegments } from './segments/frozen-segments.ts';
import { questionsFor } from './calendar.ts';
import {
  insertScheduleWeek,
  lockSchedule,
  type Schedule,
  selectActiveSchedules,
  selectReason,
  selectSettled,
  selectTimezones,
  updateWeekMissed,
} from './schedules.sql.ts';

/** A schedule that is due in a week. `isOver`: the week has ended without the schedule being opened. */
export type Due = { accountId: AccountId; scheduleId: number; week: Week; isOver: boolean };

/** Marks the schedules of a lost week as missed, so that they can choose its questions, and people by their date, again. */
export async function missLostWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await updateWeekMissed(tx, accountId, week, 'lost');
  await deleteAskedInWeek(tx, accountId, week);
}

/** The outcome of a due schedule. `reason`: why it was missed. */
export type Opened = Due & { outcome: 'opened' | 'missed'; reason: MissedReason | null; people: number };

/**
 * Returns the schedules of all accounts that are due and have no outcome yet. A schedule is due as soon as its hour has come in any
 * person's time zone, as long as someone can still get a message in that week. Schedules of last week that were not opened are
 * included as well. `now`: milliseconds since 1970. `simulated`: the account that is being simulated.
 */
export async function dueSchedules(
  pool: Pool,
  now: number,
  simulated: AccountId | null = null,
): Promise<Due[]> {
  const latest = weekOf(dayIn(firstTimezone, now));
  const weeks = [latest, addWeeks(latest, -1)];
  const schedules = await selectActiveSchedules(pool, weeks[1] as Week, simulated);
  if (schedules.length === 0) return [];
  const settled = await selectSettled(pool, weeks);
  const near = schedules.flatMap((schedule) =>
    weeks.flatMap((week) => {
      const day = dayDue(schedule, week);
      const isNear = day !== undefined && now >= sendTimeOf(day, schedule.hour, firstTimezone);
      const isOver = now >= endOf(week, schedule.timezone);
      const isOpen = isNear && !isSettled(settled.get(nameOf(schedule, week)), isOver);
      return isOpen ? [{ schedule, week, day }] : [];
    }),
  );
  if (near.length === 0) return [];
  const zones = await selectTimezones(pool, [...new Set(near.map(({ schedule }) => schedule.accountId))]);
  return near.flatMap(({ schedule, week, day }) => {
    const { accountId, id: scheduleId, timezone, hour, anyHour, createdAt } = schedule;
    const weekEnd = endOf(week, timezone);
    const isOver = now >= weekEnd;
    const own = [timezone, ...zones.filter((one) => one.accountId === accountId).map((one) => one.timezone)];
    const isDue = own.some((zone) => {
      const planned = sendTimeOf(day, hour, zone);
      return now >= planned && sendableAt(planned, now, { timezone: zone, anyHour, weekEnd }) !== undefined;
    });
    return (isOver ? createdAt.getTime() < weekEnd : isDue) ? [{ accountId, scheduleId, week, isOver }] : [];
  });
}

/** The time zone in which every hour comes first. */
const firstTimezone = 'Pacific/Kiritimati';

const nameOf = ({ accountId, id }: { accountId: AccountId; id: number }, week: Week) =>
  `${accountId} ${id} ${week}`;

/**
 * Returns whether the outcome of a schedule in a week is final. `reason`: why it was missed; null if it was opened, undefined if
 * there is no outcome yet. If it was too late but the week is not over, the clock was wrong, so the outcome is not final.
 */
const isSettled = (reason: MissedReason | null | undefined, isOver: boolean): boolean =>
  reason !== undefined && (reason !== 'late' || isOver);

/** Restricts opening to one account. `isSimulated`: the caller holds the account's lock (lockSurvey), and no messages are created. */
export type OnlyAccount = { accountId: AccountId; isSimulated?: boolean };

/**
 * Opens all schedules that are due: those of an account one after another, and two accounts at a time unless they are large. If one can't be
 * opened, the others still are, and the first error is thrown at the end. If an account is busy, for example with an import or a large push,
 * its schedules are opened by the next call. Returns the outcomes in the order of `dueSchedules`.
 */
export async function openDueRounds(
  pool: Pool,
  keys: AnswerKeys,
  now: number,
  only?: OnlyAccount,
): Promise<Opened[]> {
  const isSimulated = only?.isSimulated ?? false;
  const all = await dueSchedules(pool, now, isSimulated && only ? only.accountId : null);
  const wanted = only ? all.filter(({ accountId }) => accountId === only.accountId) : all;
  const opened = await runForAccounts(
    pool,
    wanted,
    (accountIds, people) => selectLargeOpening(pool, accountIds, people),
    (tx, due) => openSchedule(tx, keys, due, { now, isSimulated }),
  );
  return wanted.flatMap((due) => opened.get(due) ?? []);
}

/** Opens a schedule. Returns undefined if the account is busy, or the schedule was deleted, paused or opened in the meantime. */
async function openSchedule(
  tx: Transaction,
  keys: AnswerKeys,
  due: Due,
  { now, isSimulated }: { now: number; isSimulated: boolean },
): Promise<Opened | undefined> {
  const { accountId, scheduleId, week } = due;
  // Taken first, in the same order as when a week is closed, shown or imported into, to avoid deadlocks.
  if (!isSimulated && !(await tryLockSurvey(tx, accountId))) return undefined;
  // Sent together. PostgreSQL runs them one after another, in this order.
  const [, schedule, reasonSoFar] = await Promise.all([
    lockAccount(tx, accountId),
    lockSchedule(tx, accountId, scheduleId),
    selectReason(tx, accountId, scheduleId, week),
  ]);
  if (!schedule || schedule.pausedAt !== null) return undefined;
  if (isSettled(reasonSoFar, due.isOver)) return undefined;
  const result = due.isOver
    ? missed('late')
    : await openRounds(tx, keys, schedule, { week, now, isSimulated, isNow: false });
  await insertScheduleWeek(tx, accountId, scheduleId, { week, ...result });
  const { outcome, reason, people } = result;
  return { ...due, outcome, reason, people };
}

export type OpeningResult = Omit<Opened, keyof Due> & { questionIds: number[] };

const missed = (reason: MissedReason): OpeningResult => ({
  outcome: 'missed',
  reason,
  questionIds: [],
  people: 0,
});

/**
 * Opens the rounds of a schedule in a week, one for each group, and creates the messages. The caller holds the locks. `isNow`: the
 * invitations go out immediately instead of on the schedule's day.
 */
export async function openRounds(
  tx: Transaction,
  keys: AnswerKeys,
  schedule: Schedule,
  { week, now, isSimulated, isNow }: { week: Week; now: number; isSimulated: boolean; isNow: boolean },
): Promise<OpeningResult> {
  const { accountId, byDate } = schedule;
  const [{ timezone }, { questionIds, classes }, parents] = await Promise.all([
    accountById(tx, accountId),
    questionsFor(tx, schedule, week),
    selectParents(tx, accountId),
  ]);
  const planned = isNow ? undefined : (dayDue(schedule, week) as string);
  const weekEnd = endOf(week, timezone);
  if (questionIds.length === 0) return missed('noQuestion');
  const groups = outermost(schedule.groupIds, parents);
  if (groups.length === 0) return missed('noGroup');
  const without = new Set(
    schedule.withoutGroupIds.filter((id) => parents.has(id)).flatMap((id) => descendantsOf(id, parents)),
  );
  const day = planned ?? dayIn(timezone, now);
  const { people, rounds } = await audienceOf(tx, schedule, { week, day, groups, without, parents });
  if (people.length === 0) return missed(byDate ? 'tooFewDue' : 'noPeople');
  const opened = await openWeek(tx, keys, accountId, week).catch(orClosed);
  if (!opened) return missed('closed');
  const { key, isNew } = opened;
  if (isNew) await keys.chain.expectKey(); // before everything is computed
  const refusal = isNew
    ? undefined // it has no rounds yet
    : await refusalIn(tx, { accountId, week, questionIds, classes }, () =>
        rounds.map(({ members }) => ({
          questionIds,
          people: members.map(({ person }) => respondentOf(key, person)),
        })),
      );
  if (refusal) return missed(refusal);
  const userIds = people.map(({ userId }) => userId);
  const sealedSegments = await frozenSegments(tx, accountId, week, key, userIds);
  await avoidSequentialScans(tx);
  // PostgreSQL writes participants for longer than it takes to compute everyone's number. An error waits until they are written: the transaction can
  // only end then.
  const numbered = peopleOfRounds(key, rounds, { parents, sealedSegments });
  numbered.catch(() => {});
  await insertParticipants(tx, accountId, week, { userIds, isNew });
  const newRounds = { week, questionIds, scheduleId: schedule.id, parents, without };
  await addRounds(tx, accountId, newRounds, await numbered);
  if (byDate) await insertAskedByDate(tx, accountId, schedule.id, { week, userIds });
  const messages = isSimulated ? [] : messagesFor(schedule, people, { planned, weekEnd, now, timezone });
  await insertMessages(tx, accountId, week, { schedule, messages, isNew });
  if (isNew && !isSimulated) await recordEvent(tx, accountId, 'week.opened', week, { week });
  if (isNew) await keys.keep(tx, accountId, week, key);
  return { outcome: 'opened', reason: null, questionIds, people: people.length };
}

/** Returns the people of each round as they are stored, by group. */
async function peopleOfRounds(
  key: WeekKey,
  rounds: Audience['rounds'],
  of: Omit<PeopleToAsk, 'asked'>,
): Promise<Map<number, readonly AssignmentRow[]>> {
  const all = new Map<number, readonly AssignmentRow[]>();
  // One after another, because all compute on the same thread.
  for (const { groupId, members: asked } of rounds)
    all.set(groupId, (await peopleOfRound(key, { ...of, asked })).rows);
  return all;
}

type Audience = {
  people: PersonToAsk[];
  rounds: { groupId: number; members: { person: { userId: number }; memberOf: number[] }[] }[];
};

/**
 * Returns the people to ask, and those of each group. A schedule that chooses people by a date asks a group only if enough of its people
 * are due: answers of fewer people could never be shown, and anyone who knows who started alone would know whose they are.
 */
async function audienceOf(
  tx: Transaction,
  { accountId, id: scheduleId, byDate }: Schedule,
  {
    week,
    day,
    groups,
    without,
    parents,
  }: { week: Week; day: string; groups: number[]; without: ReadonlySet<number>; parents: Parents },
): Promise<Audience> {
  // For each group whose members are asked, the group of the schedule that it is part of. None is part of two: they are the outermost ones.
  const askedAs = new Map<number, number>();
  for (const groupId of groups) for (const id of descendantsOf(groupId, parents)) askedAs.set(id, groupId);
  const { attribute = '' } = byDate ?? {};
  const range = byDate && datesDue(byDate, day);
  const due = range && (await selectPeopleDue(tx, accountId, { scheduleId, attribute, range, day }));
  const minimum = byDate ? Math.max(byDate.minPeople, await selectThreshold(tx, accountId, week)) : 1;
  const all = (await selectPeopleToAsk(tx, accountId, [...askedAs.keys()])).filter(
    ({ userId, memberOf }) => (due?.has(userId) ?? true) && !memberOf.some((id) => without.has(id)),
  );
  const membersOf = new Map(groups.map((groupId) => [groupId, [] as Audience['rounds'][number]['members']]));
  for (const { userId, memberOf } of all) {
    const only = memberOf.length === 1 ? askedAs.get(memberOf[0] as number) : undefined;
    if (only !== undefined) {
      membersOf.get(only)?.push({ person: { userId }, memberOf });
      continue;
    }
    const own = Map.groupBy(memberOf, (id) => askedAs.get(id));
    for (const [groupId, ids] of own)
      if (groupId !== undefined) membersOf.get(groupId)?.push({ person: { userId }, memberOf: ids });
  }
  const rounds = [...membersOf]
    .map(([groupId, members]) => ({ groupId, members }))
    .filter(({ members }) => !byDate || members.length >= minimum);
  if (!byDate) return { people: all, rounds };
  const chosen = new Set(rounds.flatMap(({ members }) => members.map(({ person }) => person.userId)));
  return { people: all.filter(({ userId }) => chosen.has(userId)), rounds };
}

/**
 * Returns why people can't be asked these questions in addition to the existing rounds of the week; undefined if they can (rules.md P17).
 * `classes`: see questionsFor. `wantedSets`: who is asked by each new round. Called only if other rounds ask the same questions.
 */
async function refusalIn(
  tx: Transaction,
  {
    accountId,
    week,
    questionIds,
    classes,
  }: { accountId: AccountId; week: Week; questionIds: number[]; classes: ReadonlyMap<number, number> },
  wantedSets: () => AskedSet<string>[],
): Promise<Clash | 'imported' | undefined> {
  // An employer could import answers of all people but one, and derive the last answer from the figure.
  if (await selectHasImported(tx, accountId, week)) return 'imported';
  const own = new Set(questionIds.map((id) => classes.get(id)));
  const sameText = [...classes].filter(([, first]) => own.has(first)).map(([id]) => id);
  const { threshold, rounds } = await selectAskedInWeek(tx, accountId, week, sameText);
  if (rounds.length === 0) return undefined;
  const ofSchedules = Map.groupBy(rounds, ({ scheduleId }) => scheduleId);
  const present = [...ofSchedules.values()].flatMap(withUnion);
  return clashOf(withUnion(wantedSets()), present, { classes, threshold });
}

/** Returns undefined for the Fault of a closed week, and throws any other error. */
function orClosed(error: unknown): undefined {
  if (error instanceof Fault && error.code === 'week closed') return undefined;
  throw error;
}

/**
 * The minimum time between invitation and reminder, half a day in ms, so that a late invitation is not immediately followed by a reminder.
 */
const reminderDistance = 12 * 3_600_000;

/**
 * Returns the invitations and reminders for the people who get messages. None are sent after the end of the week. `planned`: the day;
 * undefined: immediately.
 */
function messagesFor(
  schedule: Schedule,
  people: PersonToAsk[],
  {
    planned,
    weekEnd,
    now,
    timezone,
  }: { planned: string | undefined; weekEnd: number; now: number; timezone: string },
): NewMessage[] {
  const { hour, anyHour, reminderDays, reminderHour } = schedule;
  const timesIn = (zone: string): Omit<NewMessage, 'userId'>[] => {
    const day = planned ?? dayIn(zone, now);
    const time = planned === undefined ? now - 1 : sendTimeOf(day, hour, zone);
    const first = sendableAt(time, now, { timezone: zone, anyHour, weekEnd });
    if (first === undefined) return [];
    const invitation = { kind: 'invitation' as const, dueAt: first };
    if (reminderDays === null || reminderHour === null) return [invitation];
    const second = sendTimeOf(addDays(day, reminderDays), reminderHour, zone);
    const hasReminder = second < weekEnd && second > first + (reminderDays > 0 ? reminderDistance : 0);
    return hasReminder ? [invitation, { kind: 'reminder' as const, dueAt: second }] : [invitation];
  };
  const known = new Map<string, Omit<NewMessage, 'userId'>[]>();
  return people.flatMap(({ userId, isReachable, timezone: own }) => {
    if (!isReachable) return [];
    const zone = own ?? timezone;
    const times = known.get(zone) ?? timesIn(zone);
    known.set(zone, times);
    return times.map((one) => ({ ...one, userId }));
  });
}
