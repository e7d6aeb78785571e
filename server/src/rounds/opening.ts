// Opens the rounds of schedules: fixes who is asked, in which groups and what, and when each is written to, in one
// transaction. Each schedule is opened once in a week, whatever is stopped or runs twice, and however clocks are set.
import type { MissedReason } from '@soundings/contract/console.asking.ts';
import { addWeeks, dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { addDays, dayDue, endOf, momentOf, sendableAt } from './moments.ts';
import {
  insertMessages,
  insertParticipants,
  type NewMessage,
  type Person,
  selectAskedInWeek,
  selectHasImported,
  selectPeople,
} from './opening.sql.ts';
import { wayUp } from '../people/tree.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { questionsOf } from '../questions/questions.ts';
import { classesOf } from '../questions/same-words.ts';
import { type AskedSet, type Clash, clashOf, withUnion } from './overlap.ts';
import {
  groupsBeneath,
  openRound,
  openWeek,
  type Parents,
  parentsOf,
  respondentOf,
  tryLockSurvey,
} from './rounds.ts';
import { questionsFor, type Schedule } from './schedules.ts';
import {
  insertScheduleWeek,
  lockSchedule,
  selectActiveSchedules,
  selectSettled,
  selectTimezones,
  updateWeekMissed,
} from './schedules.sql.ts';

/** A schedule that is due in a week. `isOver`: the week has ended, and it was not opened. */
export type Due = { accountId: AccountId; scheduleId: number; week: Week; isOver: boolean };

/** Why a week was missed, as it is kept: a reason is known again by its words, so none is ever given others. */
const missedBecause = {
  late: 'It was not opened while the week ran: the service did not run, it was paused, or nobody could be written to any more.',
  noQuestion: 'No question was due.',
  noGroup: 'None of its groups is there any more.',
  nobody: 'There was nobody to ask.',
  closed: 'The week was closed.',
  imported:
    'A history file was imported into the week: whoever made it knows answers that would count together with others.',
  lost: 'The key of the week was lost, and with it its answers.',
  lookAlike: 'Another round of the week asks some of the same people a question with the same words.',
  nearlySame:
    'Another round of the week asks the same question, and only a few people are asked by just one of the two.',
};

/** Of a reason that was kept. */
export function missedReasonOf(kept: string | null): MissedReason | null {
  if (kept === null) return null;
  // The name of the week stood in it once.
  const words = kept.replace(/ \d{4}-W\d{2}/, '');
  const found = Object.entries(missedBecause).find(([, known]) => known === words);
  return (found?.[0] as MissedReason | undefined) ?? 'other';
}

/** After a week was lost: its schedules have asked nothing in it, and may choose its questions again. */
export const missLostWeek = (tx: Transaction, accountId: AccountId, week: Week): Promise<void> =>
  updateWeekMissed(tx, accountId, week, missedBecause.lost);

/** What came of it; a schedule that was missed says why. */
export type Opened = Due & { outcome: 'opened' | 'missed'; reason: string | null; people: number };

/**
 * The schedules of all accounts that are due at a time, in ms, and not settled: from the moment on at which their hour
 * has come for the first of the people, in the time zone of each, as long as anybody can be written to in the week; and
 * those of the last week that were not opened in it.
 */
export async function dueSchedules(pool: Pool, now: number): Promise<Due[]> {
  const latest = weekOf(dayIn(firstTimezone, now));
  const weeks = [latest, addWeeks(latest, -1)];
  const schedules = await selectActiveSchedules(pool, weeks[1] as Week);
  if (schedules.length === 0) return [];
  const settled = await selectSettled(pool, weeks);
  const near = schedules.flatMap((schedule) =>
    weeks.flatMap((week) => {
      const day = dayDue(schedule, week);
      const isNear = day !== undefined && now >= momentOf(day, schedule.hour, firstTimezone);
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
      const planned = momentOf(day, hour, zone);
      return now >= planned && sendableAt(planned, now, { timezone: zone, anyHour, weekEnd }) !== undefined;
    });
    return (isOver ? createdAt.getTime() < weekEnd : isDue) ? [{ accountId, scheduleId, week, isOver }] : [];
  });
}

/** In which it is any hour first. */
const firstTimezone = 'Pacific/Kiritimati';

const nameOf = ({ accountId, id }: { accountId: AccountId; id: number }, week: Week) =>
  `${accountId} ${id} ${week}`;

/**
 * Whether it is decided what comes of a schedule in a week, by the reason why it was missed (null: it was opened). If it came too
 * late, and the week is not over, the clock was wrong.
 */
const isSettled = (reason: string | null | undefined, isOver: boolean): boolean =>
  reason !== undefined && (reason !== missedBecause.late || isOver);

/** One account alone. `isSimulated`: its lock (lockSurvey) is held by the caller, and nobody is written to. */
export type Alone = { accountId: AccountId; isSimulated?: boolean };

/**
 * Opens all that is due at a time. One that cannot be opened holds up no other; what was wrong is thrown at the end.
 * An account that is busy, with an import, say, comes with the next call.
 */
export async function openDueRounds(
  pool: Pool,
  keys: AnswerKeys,
  now: number,
  alone?: Alone,
): Promise<Opened[]> {
  const opened: Opened[] = [];
  const failures: unknown[] = [];
  const isSimulated = alone?.isSimulated ?? false;
  for (const due of await dueSchedules(pool, now)) {
    if (alone && due.accountId !== alone.accountId) continue;
    // oxlint-disable-next-line no-await-in-loop -- each is a transaction of its own
    const one = await inTransaction(pool, (tx) => openSchedule(tx, keys, due, { now, isSimulated })).catch(
      (error: unknown) => {
        failures.push(error);
      },
    );
    if (one) opened.push(one);
  }
  if (failures.length > 0) throw failures[0];
  return opened;
}

/** Undefined when the account is busy, or the schedule has gone, is paused, or was settled meanwhile. */
async function openSchedule(
  tx: Transaction,
  keys: AnswerKeys,
  due: Due,
  { now, isSimulated }: { now: number; isSimulated: boolean },
): Promise<Opened | undefined> {
  const { accountId, scheduleId, week } = due;
  // First, as those do who close, show or import a week.
  if (!isSimulated && !(await tryLockSurvey(tx, accountId))) return undefined;
  await lockAccount(tx, accountId);
  const schedule = await lockSchedule(tx, accountId, scheduleId);
  if (!schedule || schedule.pausedAt !== null) return undefined;
  const settled = await selectSettled(tx, [week]);
  if (isSettled(settled.get(nameOf(schedule, week)), due.isOver)) return undefined;
  const came = due.isOver ? missed('late') : await openRounds(tx, keys, schedule, { week, now, isSimulated });
  await insertScheduleWeek(tx, accountId, scheduleId, { week, ...came });
  const { outcome, reason, people } = came;
  return { ...due, outcome, reason, people };
}

type Came = Omit<Opened, keyof Due> & { questionIds: number[] };

const missed = (because: keyof typeof missedBecause): Came => ({
  outcome: 'missed',
  reason: missedBecause[because],
  questionIds: [],
  people: 0,
});

async function openRounds(
  tx: Transaction,
  keys: AnswerKeys,
  schedule: Schedule,
  { week, now, isSimulated }: { week: Week; now: number; isSimulated: boolean },
): Promise<Came> {
  const { accountId, groupIds, withoutGroupIds } = schedule;
  const { timezone } = await accountById(tx, accountId);
  const day = dayDue(schedule, week) as string;
  const weekEnd = endOf(week, timezone);
  const questionIds = await questionsFor(tx, schedule, week);
  if (questionIds.length === 0) return missed('noQuestion');
  const parents = await parentsOf(tx, accountId);
  const groups = outermost(groupIds, parents);
  if (groups.length === 0) return missed('noGroup');
  const without = new Set(
    withoutGroupIds.filter((id) => parents.has(id)).flatMap((id) => groupsBeneath(id, parents)),
  );
  const asked = groups.map((groupId) => ({ groupId, beneath: new Set(groupsBeneath(groupId, parents)) }));
  const within = [...new Set(asked.flatMap(({ beneath }) => [...beneath]))];
  const people = (await selectPeople(tx, accountId, within)).filter(
    ({ memberOf }) => !memberOf.some((id) => without.has(id)),
  );
  if (people.length === 0) return missed('nobody');
  const key = await openWeek(tx, keys, accountId, week).catch(orClosed);
  if (!key) return missed('closed');
  // An employer could bring in answers of all but one, and read the last one from the figure.
  if (await selectHasImported(tx, accountId, week)) return missed('imported');
  const rounds = asked.map(({ groupId, beneath }) => {
    const members = people.flatMap(({ userId, memberOf }) => {
      const own = memberOf.filter((id) => beneath.has(id));
      return own.length > 0 ? [{ person: { userId }, memberOf: own }] : [];
    });
    return { groupId, members };
  });
  const clash = await clashIn(
    tx,
    { accountId, week },
    rounds.map(({ members }) => ({
      questionIds,
      people: members.map(({ person }) => respondentOf(key, person)),
    })),
  );
  if (clash) return missed(clash);
  for (const { groupId, members } of rounds) {
    const round = { week, groupId, questionIds, asked: members, parents, scheduleId: schedule.id, without };
    // oxlint-disable-next-line no-await-in-loop -- in one transaction one after another
    await openRound(tx, accountId, key, round);
  }
  await insertParticipants(
    tx,
    accountId,
    week,
    people.map(({ userId }) => userId),
  );
  const messages = isSimulated ? [] : messagesFor(schedule, people, { day, weekEnd, now, timezone });
  await insertMessages(tx, accountId, week, schedule, messages);
  return { outcome: 'opened', reason: null, questionIds, people: people.length };
}

/** What speaks against asking some people beside the rounds that the week has already (privacy.md P17). */
async function clashIn(
  tx: Transaction,
  { accountId, week }: { accountId: AccountId; week: Week },
  wanted: AskedSet<string>[],
): Promise<Clash | undefined> {
  const classes = classesOf(await questionsOf(tx, accountId));
  const own = new Set(wanted.flatMap(({ questionIds }) => questionIds).map((id) => classes.get(id)));
  const alike = [...classes].filter(([, first]) => own.has(first)).map(([id]) => id);
  const { threshold, rounds } = await selectAskedInWeek(tx, accountId, week, alike);
  const ofSchedules = Map.groupBy(rounds, ({ scheduleId }) => scheduleId);
  const present = [...ofSchedules.values()].flatMap(withUnion);
  return clashOf(withUnion(wanted), present, { classes, threshold });
}

/** Only what a closed week says of itself. */
function orClosed(error: unknown): undefined {
  if (error instanceof Fault && error.code === 'week closed') return undefined;
  throw error;
}

/** Those of the groups that there are, without those beneath another of them. */
function outermost(groupIds: number[], parents: Parents): number[] {
  const present = [...new Set(groupIds)].filter((id) => parents.has(id));
  return present.filter(
    (id) =>
      !wayUp(id, parents)
        .slice(1)
        .some((above) => present.includes(above)),
  );
}

/** Half a day: who was first written to late is not reminded at once. */
const reminderDistance = 12 * 3_600_000;

/** When each of those who have an address is written to, and reminded; nobody after the end of the week. */
function messagesFor(
  schedule: Schedule,
  people: Person[],
  { day, weekEnd, now, timezone }: { day: string; weekEnd: number; now: number; timezone: string },
): NewMessage[] {
  const { hour, anyHour, reminderDays, reminderHour } = schedule;
  const timesIn = (zone: string): Omit<NewMessage, 'userId'>[] => {
    const first = sendableAt(momentOf(day, hour, zone), now, { timezone: zone, anyHour, weekEnd });
    if (first === undefined) return [];
    const invitation = { kind: 'invitation' as const, dueAt: first };
    if (reminderDays === null || reminderHour === null) return [invitation];
    const second = momentOf(addDays(day, reminderDays), reminderHour, zone);
    const isKept = second < weekEnd && second > first + (reminderDays > 0 ? reminderDistance : 0);
    return isKept ? [invitation, { kind: 'reminder' as const, dueAt: second }] : [invitation];
  };
  const known = new Map<string, Omit<NewMessage, 'userId'>[]>();
  return people.flatMap(({ userId, hasEmail, timezone: own }) => {
    if (!hasEmail) return [];
    const zone = own ?? timezone;
    const times = known.get(zone) ?? timesIn(zone);
    known.set(zone, times);
    return times.map((one) => ({ ...one, userId }));
  });
}
