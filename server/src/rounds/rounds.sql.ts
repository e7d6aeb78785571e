// SQL of weeks, rounds and who is asked. Writers: rounds.ts; closing is in results/close-week.sql.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, copyInto, type Db, type Transaction } from '../db/db.ts';

export type WeekRow = { week: Week; isClosed: boolean };
export type RoundRow = { id: number; week: Week; groupId: number; questionIds: number[] };

/** Creates the week with the account's current thresholds, noise and publication. Returns false if it already exists. */
export async function insertWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<boolean> {
  const rows = await tx`
    insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold, noise, is_live)
    select ${accountId},
           ${week},
           threshold,
           coalesce(distribution_threshold, case threshold when 1 then 1 else 2 * threshold end),
           coalesce(comment_threshold, case threshold when 1 then 1 else 2 * threshold end),
           noise,
           publication = 'live'
    from   accounts
    where  account_id = ${accountId}
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

/** Returns the week and locks it until the transaction ends. Others can't open or close it, or answer, in the meantime. */
export async function lockWeekRow(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<WeekRow | undefined> {
  const [row] = await tx<WeekRow[]>`
    select week                  as "week",
           closed_at is not null as "isClosed"
    from   weeks
    where  account_id = ${accountId} and week = ${week}
    for    update`;
  return row;
}

/** The first number of these advisory locks. No other lock of Soundings uses it. */
const surveyLocks = 7301;

/** Locks the account's weeks until the transaction ends. Waits for others who import into, show or close them. */
export async function lockSurvey(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`select pg_advisory_xact_lock(${surveyLocks}::integer, ${accountId}::integer) as account_id`;
}

/** Like `lockSurvey`, but does not wait: returns false if someone else has the lock. */
export async function tryLockSurvey(tx: Transaction, accountId: AccountId): Promise<boolean> {
  const [row] = await tx<{ isLocked: boolean }[]>`
    select pg_try_advisory_xact_lock(${surveyLocks}::integer, ${accountId}::integer) as "isLocked"`;
  return row?.isLocked ?? false;
}

/** Returns all rounds of the account with the state of their weeks. */
export async function selectRounds(
  db: Db,
  accountId: AccountId,
): Promise<(RoundRow & { isClosed: boolean })[]> {
  return db<(RoundRow & { isClosed: boolean })[]>`
    select r.round_id              as "id",
           r.week                  as "week",
           r.group_id              as "groupId",
           r.question_ids          as "questionIds",
           w.closed_at is not null as "isClosed"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week
    where  r.account_id = ${accountId}
    order  by r.round_id`;
}

/**
 * Creates a round for each of these groups, in the given order, and returns their ids by group. Which of their questions people can answer
 * with "not applicable" is stored with them, and never changes.
 */
export async function insertRounds(
  tx: Transaction,
  accountId: AccountId,
  { week, questionIds, scheduleId }: { week: Week; questionIds: number[]; scheduleId: number | null },
  groups: { groupId: number; aboveIds: number[] }[],
): Promise<Map<number, number>> {
  const rows = await tx<{ id: number; groupId: number }[]>`
    insert into rounds (account_id, week, group_id, question_ids, not_applicable_ids, above_ids, schedule_id)
    select ${accountId}, ${week}, g."groupId", ${questionIds}::integer[],
           array(select question_id
                 from   questions
                 where  account_id = ${accountId} and question_id = any(${questionIds}) and allows_not_applicable
                 order  by question_id),
           g."aboveIds", ${scheduleId}::integer
    from   rows from (jsonb_to_recordset(${tx.json(groups)}) as ("groupId" integer, "aboveIds" integer[]))
           with ordinality g
    order  by g.ordinality
    returning round_id as "id", group_id as "groupId"`;
  return new Map(rows.map(({ id, groupId }) => [groupId, id]));
}

/** Adds questions to those that groups are asked in a week. */
export async function upsertAsked(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  groupIds: number[],
  questionIds: number[],
): Promise<void> {
  await tx`
    insert into asked (account_id, group_id, week, question_ids)
    select ${accountId}, group_id, ${week}, ${questionIds}
    from   unnest(${groupIds}::integer[]) as group_id
    on conflict (account_id, group_id, week) do update
    set    question_ids = array(select distinct id
                                from   unnest(asked.question_ids || excluded.question_ids) as id
                                order  by id)`;
}

/** A person of a round. `sealedSegments`: the segments in which the answers count, sealed; null if the round has none. */
export type AssignmentRow = {
  respondent: string;
  groupIds: readonly number[];
  sealedSegments: Buffer | null;
};

/** Writes the people of rounds: their numbers, and the groups and segments in which their answers count. */
export async function copyAssignments(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  rounds: readonly { roundId: number; people: readonly AssignmentRow[] }[],
): Promise<void> {
  await copyInto(
    tx`copy assignments (account_id, week, round_id, respondent, group_ids, sealed_segments) from stdin`,
    rounds.values().flatMap(({ roundId, people }) => rowsOf(people, [accountId, week, roundId])),
  );
}

function* rowsOf(people: Iterable<AssignmentRow>, first: [number, string, number]) {
  const texts = new Map<readonly number[], string>();
  for (const { respondent, groupIds, sealedSegments } of people) {
    const text = texts.get(groupIds) ?? `{${groupIds.join()}}`;
    texts.set(groupIds, text);
    yield [...first, respondent, text, sealedSegments] as const;
  }
}

/** Returns the active members of the groups, each with those of the groups that they are a member of. */
export async function selectMembers(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
): Promise<{ userId: number; memberOf: number[] }[]> {
  return db<{ userId: number; memberOf: number[] }[]>`
    select u.user_id               as "userId",
           array_agg(m.group_id)   as "memberOf"
    from   memberships m
    join   users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId} and m.kind = 'memberOf' and m.group_id = any(${groupIds}) and u.active
    group  by u.user_id
    order  by u.user_id`;
}

/** Returns all groups of the account, each with its parent. */
export async function selectParents(db: Db, accountId: AccountId): Promise<Map<number, number | null>> {
  const rows = await db<{ id: number; parentId: number | null }[]>`
    select group_id as "id", parent_id as "parentId" from groups where account_id = ${accountId} order by group_id`;
  return new Map(rows.map(({ id, parentId }) => [id, parentId]));
}

/** Returns the open weeks of all accounts that began before a day, with the accounts' time zones, in which they end. */
export async function selectOpenWeeksBefore(
  db: Db,
  before: string,
): Promise<{ accountId: AccountId; week: Week; timezone: string }[]> {
  return db<{ accountId: AccountId; week: Week; timezone: string }[]>`
    select w.account_id as "accountId", w.week as "week", a.timezone as "timezone"
    from   weeks w
    join   accounts a on a.account_id = w.account_id
    where  w.closed_at is null and w.week < ${before}
    order  by w.week, w.account_id`;
}
