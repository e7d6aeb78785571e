// SQL of schedules and of the weeks in which they were due. Writers: schedules.ts, opening.ts.
import type { ByDate } from '@soundings/contract/console/by-date.ts';
import { allChannels } from '../base/messages/channels.ts';
import type { MissedReason } from '@soundings/contract/console/asking.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { datePattern } from './by-date/due.sql.ts';
import type { Repetition } from './send-times.ts';
import { canBeReached } from './reach.sql.ts';

/** What is asked, which groups are asked, how often and when. Days are YYYY-MM-DD; hours are in each person's time zone. */
export type NewSchedule = Repetition & {
  name: string;
  /** The questions asked each time. Empty if the schedule chooses questions from KPIs. */
  questionIds: number[];
  kpiIds: string[];
  perWeek: number | null;
  everyWeeks: number | null;
  groupIds: number[];
  withoutGroupIds: number[];
  anyHour: boolean;
  reminderDays: number | null;
  reminderHour: number | null;
  /** Which people of the groups are asked, by a date in an attribute; null: everyone. */
  byDate: ByDate | null;
};

export type Schedule = NewSchedule & {
  accountId: AccountId;
  id: number;
  pausedAt: Date | null;
  createdAt: Date;
};

/** A week in which a schedule was due. */
export type ScheduleWeek = {
  week: Week;
  outcome: 'opened' | 'missed';
  reason: MissedReason | null;
  questionIds: number[];
  people: number;
};

export async function insertSchedule(
  tx: Transaction,
  accountId: AccountId,
  schedule: NewSchedule,
): Promise<number> {
  const s = schedule;
  const [row] = await tx<{ id: number }[]>`
    insert into schedules (account_id, name, question_ids, kpi_ids, per_week, every_weeks, group_ids,
                           without_group_ids, repeat, repeat_weeks, weekday, hour, any_hour, reminder_days,
                           reminder_hour, from_day, until_day, date_attribute, date_side, date_from, date_until,
                           min_people)
    values (${accountId}, ${s.name}, ${s.questionIds}, ${s.kpiIds}, ${s.perWeek}, ${s.everyWeeks}, ${s.groupIds},
            ${s.withoutGroupIds}, ${s.repeat}, ${s.repeatWeeks}, ${s.weekday}, ${s.hour}, ${s.anyHour},
            ${s.reminderDays}, ${s.reminderHour}, ${s.fromDay}, ${s.untilDay}, ${s.byDate?.attribute ?? null},
            ${s.byDate?.side ?? null}, ${s.byDate?.fromDays ?? null}, ${s.byDate?.untilDays ?? null},
            ${s.byDate?.minPeople ?? null})
    returning schedule_id as id`;
  return row!.id;
}

export async function updateSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  schedule: NewSchedule,
): Promise<void> {
  const s = schedule;
  await tx`
    update schedules
    set    name = ${s.name}, question_ids = ${s.questionIds}, kpi_ids = ${s.kpiIds}, per_week = ${s.perWeek},
           every_weeks = ${s.everyWeeks}, group_ids = ${s.groupIds}, without_group_ids = ${s.withoutGroupIds},
           repeat = ${s.repeat}, repeat_weeks = ${s.repeatWeeks}, weekday = ${s.weekday}, hour = ${s.hour},
           any_hour = ${s.anyHour}, reminder_days = ${s.reminderDays}, reminder_hour = ${s.reminderHour},
           from_day = ${s.fromDay}, until_day = ${s.untilDay}, date_attribute = ${s.byDate?.attribute ?? null},
           date_side = ${s.byDate?.side ?? null}, date_from = ${s.byDate?.fromDays ?? null},
           date_until = ${s.byDate?.untilDays ?? null}, min_people = ${s.byDate?.minPeople ?? null}
    where  account_id = ${accountId} and schedule_id = ${scheduleId}`;
}

const columns = (db: Db) => db`
  account_id        as "accountId",
  schedule_id       as "id",
  name              as "name",
  question_ids      as "questionIds",
  kpi_ids           as "kpiIds",
  per_week          as "perWeek",
  every_weeks       as "everyWeeks",
  group_ids         as "groupIds",
  without_group_ids as "withoutGroupIds",
  repeat            as "repeat",
  repeat_weeks      as "repeatWeeks",
  weekday           as "weekday",
  hour              as "hour",
  any_hour          as "anyHour",
  reminder_days     as "reminderDays",
  reminder_hour     as "reminderHour",
  from_day          as "fromDay",
  until_day         as "untilDay",
  case when date_attribute is not null
       then jsonb_build_object('attribute', date_attribute, 'side', date_side, 'fromDays', date_from,
                               'untilDays', date_until, 'minPeople', min_people)
  end               as "byDate",
  paused_at         as "pausedAt",
  created_at        as "createdAt"`;

/** Returns the schedules of an account, ordered by id. */
export async function selectSchedules(db: Db, accountId: AccountId): Promise<Schedule[]> {
  return db<Schedule[]>`
    select ${columns(db)} from schedules where account_id = ${accountId} order by schedule_id`;
}

/** Returns a schedule and locks it until the transaction ends. */
export async function lockSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
): Promise<Schedule | undefined> {
  const [row] = await tx<Schedule[]>`
    select ${columns(tx)} from schedules
    where  account_id = ${accountId} and schedule_id = ${scheduleId}
    for    update`;
  return row;
}

/**
 * Returns the schedules of all accounts that are not paused and have not ended before `day`, with the accounts' time zones. Sandboxes open no
 * weeks. `simulated`: an account whose schedules are returned whatever its kind.
 */
export async function selectActiveSchedules(
  db: Db,
  day: string,
  simulated: AccountId | null,
): Promise<(Schedule & { timezone: string })[]> {
  return db<(Schedule & { timezone: string })[]>`
    select s.*, a.timezone as "timezone"
    from   (select ${columns(db)} from schedules) s
    join   accounts a on a.account_id = s."accountId"
    where  s."pausedAt" is null and (s."untilDay" is null or s."untilDay" >= ${day})
      and  (a.kind = 'company' or a.account_id = ${simulated}::integer)
    order  by s."accountId", s."id"`;
}

/** Returns the time zones that active people of these accounts have set. */
export async function selectTimezones(
  db: Db,
  accountIds: AccountId[],
): Promise<{ accountId: AccountId; timezone: string }[]> {
  return db`
    select distinct account_id as "accountId", timezone as "timezone"
    from   users
    where  account_id = any(${accountIds}) and active and timezone is not null`;
}

export async function updatePaused(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  isPaused: boolean,
): Promise<boolean> {
  const [clock] = isPaused
    ? await tx<{ at: Date }[]>`select now() as "at" from accounts where account_id = ${accountId}`
    : [];
  const at = clock ? tx`coalesce(paused_at, ${clock.at})` : null;
  const rows = await tx`
    update schedules
    set    paused_at = ${at}
    where  account_id = ${accountId} and schedule_id = ${scheduleId}
    returning 1`;
  return rows.length > 0;
}

/** Makes a schedule start on a day. */
export async function updateScheduleStart(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  fromDay: string,
): Promise<void> {
  await tx`
    update schedules set from_day = ${fromDay}
    where  account_id = ${accountId} and schedule_id = ${scheduleId}`;
}

/**
 * Deletes a schedule. Its rounds stay, and until their week closes also what it asks in it. Returns whether it existed. The caller has locked
 * the account.
 */
export async function deleteSchedule(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from schedules where account_id = ${accountId} and schedule_id = ${scheduleId} returning 1`;
  await deleteWeeksOfRemoved(tx, accountId);
  return rows.length > 0;
}

/**
 * Deletes what schedules that have been removed asked, except in weeks that are still open, where counting and reminders need it. The caller has
 * locked the account. Returns the statement, which is sent when it is awaited: closing a week awaits it with others, in their order.
 */
export const deleteWeeksOfRemoved = (tx: Transaction, accountId: AccountId) => tx`
    delete from schedule_weeks d
    where  d.account_id = ${accountId}
      and  not exists (select 1 from schedules s
                       where  s.account_id = ${accountId} and s.schedule_id = d.schedule_id)
      and  not (d.outcome = 'opened'
                and exists (select 1 from weeks w
                            where  w.account_id = ${accountId} and w.week = d.week and w.closed_at is null))`;

/** Returns the weeks in which a schedule was due, newest first. */
export async function selectScheduleWeeks(
  db: Db,
  accountId: AccountId,
  scheduleId: number,
): Promise<ScheduleWeek[]> {
  return db<ScheduleWeek[]>`
    select week         as "week",
           outcome      as "outcome",
           reason       as "reason",
           question_ids as "questionIds",
           people       as "people"
    from   schedule_weeks
    where  account_id = ${accountId} and schedule_id = ${scheduleId}
    order  by week desc`;
}

/** Returns the weeks in which any schedule of the account was due, newest first. */
export async function selectAllScheduleWeeks(
  db: Db,
  accountId: AccountId,
): Promise<(ScheduleWeek & { scheduleId: number })[]> {
  return db<(ScheduleWeek & { scheduleId: number })[]>`
    select schedule_id  as "scheduleId",
           week         as "week",
           outcome      as "outcome",
           reason       as "reason",
           question_ids as "questionIds",
           people       as "people"
    from   schedule_weeks
    where  account_id = ${accountId}
    order  by week desc`;
}

/**
 * Members of `groupIds` who are not in any of `withoutGroupIds` and, if there is a `due`, have a date in its range and have not been asked
 * by the schedule.
 */
export type AudienceToCount = {
  groupIds: number[];
  withoutGroupIds: number[];
  due: {
    scheduleId: number | null;
    attribute: string;
    first: string;
    last: string;
    askedSince: string;
  } | null;
};

/** Counts the active people of each audience, in the given order. */
export async function selectAudiences(
  db: Db,
  accountId: AccountId,
  wanted: AudienceToCount[],
): Promise<{ people: number; reachable: number }[]> {
  if (wanted.length === 0) return [];
  const rows = wanted.flatMap(({ groupIds, withoutGroupIds, due }, place) => {
    const out = new Set(withoutGroupIds);
    return [...new Set([...groupIds, ...withoutGroupIds])].map((group) => ({
      place,
      group,
      out: out.has(group),
      ...due,
    }));
  });
  const counts = await db<{ place: number; people: number; reachable: number }[]>`
    select place                                    as "place",
           count(*)::integer                        as "people",
           count(*) filter (where is_reachable)::integer as "reachable"
    from   (select w.place, u.user_id, bool_and(${canBeReached(db, allChannels, accountId)}) as is_reachable
            from   jsonb_to_recordset(${db.json(rows)})
                     as w(place integer, "group" integer, out boolean, attribute text, "scheduleId" integer,
                          first text, last text, "askedSince" date)
            join   memberships m on m.account_id = ${accountId} and m.kind = 'memberOf' and m.group_id = w."group"
            join   users u on u.account_id = ${accountId} and u.user_id = m.user_id and u.active
            where  w.attribute is null
               or  btrim(u.attributes ->> w.attribute) ~ ${datePattern}
              and  btrim(u.attributes ->> w.attribute) collate "C" between w.first and w.last
              and  not exists (select 1 from asked_by_date a
                               where  a.account_id = ${accountId} and a.schedule_id = w."scheduleId"
                                 and  a.user_id = u.user_id and a.week >= w."askedSince")
            group  by w.place, u.user_id, u.email
            having not bool_or(w.out)) people
    group  by place`;
  const found = new Map(counts.map(({ place, people, reachable }) => [place, { people, reachable }]));
  return wanted.map((_, place) => found.get(place) ?? { people: 0, reachable: 0 });
}

/**
 * Returns which schedules of all accounts have already opened or missed these weeks. The keys are `account schedule week`;
 * the values are the reason why the week was missed, or null if it was opened.
 */
export async function selectSettled(db: Db, weeks: Week[]): Promise<Map<string, MissedReason | null>> {
  const rows = await db<{ name: string; reason: MissedReason | null }[]>`
    select account_id || ' ' || schedule_id || ' ' || week as name, reason
    from   schedule_weeks
    where  week = any(${weeks}::date[])`;
  return new Map(rows.map(({ name, reason }) => [name, reason]));
}

/** The same for one schedule in one week. Undefined if it has neither opened nor missed the week. */
export async function selectReason(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  week: Week,
): Promise<MissedReason | null | undefined> {
  const [row] = await tx<{ reason: MissedReason | null }[]>`
    select reason as "reason"
    from   schedule_weeks
    where  account_id = ${accountId} and schedule_id = ${scheduleId} and week = ${week}`;
  return row?.reason;
}

/** Marks an opened week of the account's schedules as missed, because its answers were lost. */
export async function updateWeekMissed(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  reason: MissedReason,
): Promise<void> {
  await tx`
    update schedule_weeks
    set    outcome = 'missed', reason = ${reason}, question_ids = '{}'
    where  account_id = ${accountId} and week = ${week} and outcome = 'opened'`;
}

/** Records the outcome of a schedule in a week. Only the outcome 'missed' can be replaced. */
export async function insertScheduleWeek(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  { week, outcome, reason, questionIds, people }: ScheduleWeek,
): Promise<void> {
  await tx`
    insert into schedule_weeks (account_id, schedule_id, week, outcome, reason, question_ids, people, at)
    values (${accountId}, ${scheduleId}, ${week}, ${outcome}, ${reason}, ${questionIds}, ${people}, now())
    on     conflict (account_id, schedule_id, week) do update
    set    outcome = excluded.outcome, reason = excluded.reason, question_ids = excluded.question_ids,
           people = excluded.people, at = excluded.at
    where  schedule_weeks.outcome = 'missed'`;
}
