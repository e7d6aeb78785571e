// SQL of people that schedules choose by a date. Writers: opening.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import { addDays } from '../send-times.ts';
import { askedFor, type DateRange, type PeopleByDate } from './due-days.ts';

/** A value of an attribute that is a date. Others, such as 1.3.2026, are not read, because they could mean two days. */
export const datePattern = '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$';

/** What decides who is due on a day. `scheduleId`: null for a draft, which has asked no one. */
export type DueOn = { scheduleId: number | null; attribute: string; range: DateRange; day: string };

/** Returns the active people with a date in the range that the schedule has not asked within about a year. */
export async function selectPeopleDue(
  db: Db,
  accountId: AccountId,
  { scheduleId, attribute, range, day }: DueOn,
): Promise<Set<number>> {
  const rows = await db<{ userId: number }[]>`
    select u.user_id as "userId"
    from   users u
    where  u.account_id = ${accountId} and u.active
      and  btrim(u.attributes ->> ${attribute}) ~ ${datePattern}
      and  btrim(u.attributes ->> ${attribute}) collate "C" between ${range.first} and ${range.last}
      and  not exists (select 1 from asked_by_date a
                       where  a.account_id = ${accountId} and a.schedule_id = ${scheduleId}::integer
                         and  a.user_id = u.user_id and a.week >= ${askedSince(day)})`;
  return new Set(rows.map(({ userId }) => userId));
}

/** Returns the Monday since which people who were asked are not asked again on a day. */
export const askedSince = (day: string): string => addDays(day, -askedFor);

/** Returns the lowest number of people that a round of a week may ask: the threshold of the week, or of the account before it is open. */
export async function selectThreshold(db: Db, accountId: AccountId, week: Week): Promise<number> {
  const [row] = await db<{ threshold: number }[]>`
    select coalesce(w.threshold, a.threshold) as "threshold"
    from   accounts a
    left   join weeks w on w.account_id = a.account_id and w.week = ${week}
    where  a.account_id = ${accountId}`;
  return row!.threshold;
}

/** Records the people that a schedule has asked by their date, and deletes older records. */
export async function insertAskedByDate(
  tx: Transaction,
  accountId: AccountId,
  scheduleId: number,
  { week, userIds }: { week: Week; userIds: number[] },
): Promise<void> {
  await tx`
    delete from asked_by_date
    where  account_id = ${accountId} and schedule_id = ${scheduleId} and week < ${askedSince(week)}`;
  await tx`
    insert into asked_by_date (account_id, schedule_id, user_id, week)
    select ${accountId}, ${scheduleId}, user_id, ${week}
    from   unnest(${userIds}::integer[]) as user_id
    on     conflict (account_id, schedule_id, user_id) do update set week = excluded.week`;
}

/** Forgets the people that schedules asked in a week whose answers were lost, so that they can ask these people again. */
export async function deleteAskedInWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`delete from asked_by_date where account_id = ${accountId} and week = ${week}`;
}

/** The groups to look in, each with the asked group that it is in. `isWithout`: its members are not asked. */
export type GroupToAsk = { groupId: number; askedGroupId: number; isWithout: boolean };

/**
 * Returns how many people have each date, with the asked groups that they are in. People that the schedule has asked are left out.
 * `isActive` false: includes people who were deactivated, and people who were asked.
 */
export async function selectPeopleByDate(
  db: Db,
  accountId: AccountId,
  groups: GroupToAsk[],
  { scheduleId, attribute, range, day, isActive }: DueOn & { isActive: boolean },
): Promise<PeopleByDate[]> {
  const rows = await db<{ date: string; groupIds: string; people: number }[]>`
    select p.date as "date", p.group_ids as "groupIds", count(*)::integer as "people"
    from   (select btrim(u.attributes ->> ${attribute})                     as date,
                   string_agg(distinct w."askedGroupId"::text, ',')         as group_ids
            from   jsonb_to_recordset(${db.json(groups)}) as w("groupId" integer, "askedGroupId" integer, "isWithout" boolean)
            join   memberships m on m.account_id = ${accountId} and m.kind = 'memberOf' and m.group_id = w."groupId"
            join   users u on u.account_id = ${accountId} and u.user_id = m.user_id
            where  btrim(u.attributes ->> ${attribute}) ~ ${datePattern}
              and  btrim(u.attributes ->> ${attribute}) collate "C" between ${range.first} and ${range.last}
              and  (not ${isActive} or u.active and not exists (
                     select 1 from asked_by_date a
                     where  a.account_id = ${accountId} and a.schedule_id = ${scheduleId}::integer
                       and  a.user_id = u.user_id and a.week >= ${askedSince(day)}))
            group  by u.user_id, 1
            having not bool_or(w."isWithout")) p
    group  by 1, 2
    order  by 1, 2`;
  return rows.map(({ date, groupIds, people }) => ({
    date,
    groupIds: groupIds.split(',').map(Number),
    people,
  }));
}

/** Counts the active people of groups with a date in an attribute, and those with another value. */
export async function selectDateCounts(
  db: Db,
  accountId: AccountId,
  groups: GroupToAsk[],
  attribute: string,
): Promise<{ dates: number; notDates: number }> {
  const [row] = await db<{ dates: number; notDates: number }[]>`
    select count(*) filter (where value ~ ${datePattern})::integer      as "dates",
           count(*) filter (where not value ~ ${datePattern})::integer  as "notDates"
    from   (select btrim(u.attributes ->> ${attribute}) as value
            from   jsonb_to_recordset(${db.json(groups)}) as w("groupId" integer, "isWithout" boolean)
            join   memberships m on m.account_id = ${accountId} and m.kind = 'memberOf' and m.group_id = w."groupId"
            join   users u on u.account_id = ${accountId} and u.user_id = m.user_id and u.active
            where  btrim(u.attributes ->> ${attribute}) <> ''
            group  by u.user_id, 1
            having not bool_or(w."isWithout")) people`;
  return row!;
}

/** Returns all attributes of the account, and how many active people have a date in each. */
export async function selectDateAttributes(
  db: Db,
  accountId: AccountId,
): Promise<{ name: string; dates: number }[]> {
  return db<{ name: string; dates: number }[]>`
    select a.name                              as "name",
           coalesce(d.people, 0)::integer      as "dates"
    from   attributes a
    left   join (select v.key, count(*) as people
                 from   users u
                 cross  join jsonb_each_text(u.attributes) v
                 where  u.account_id = ${accountId} and u.active and btrim(v.value) ~ ${datePattern}
                 group  by v.key) d on d.key = a.name
    where  a.account_id = ${accountId}
    order  by a.name`;
}
