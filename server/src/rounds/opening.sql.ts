// SQL of opening rounds: who is asked, and when they get messages. Writers: opening.ts.
import { allChannels } from '../base/messages/channels.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, copyInto, type Db, type Transaction } from '../db/db.ts';
import { canBeReached } from './reach.sql.ts';

export type PersonToAsk = {
  userId: number;
  memberOf: number[];
  timezone: string | null;
  /** Whether they get messages, over any channel. */
  isReachable: boolean;
};

/** Returns the active members of the groups, each with all groups that they are a member of. */
export async function selectPeopleToAsk(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
): Promise<PersonToAsk[]> {
  const rows = await db<(Omit<PersonToAsk, 'memberOf'> & { memberOf: string })[]>`
    select u.user_id                                       as "userId",
           string_agg(m.group_id::text, ',')               as "memberOf",
           u.timezone                                      as "timezone",
           bool_and(${canBeReached(db, allChannels, accountId)})       as "isReachable"
    from   memberships m
    join   users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId} and m.kind = 'memberOf' and u.active
    group  by u.account_id, u.user_id
    having bool_or(m.group_id = any(${groupIds}))
    order  by u.user_id`;
  // Everyone in a team shares one list.
  const lists = new Map<string, number[]>();
  return rows.map(({ userId, memberOf, timezone, isReachable }) => {
    const list = lists.get(memberOf) ?? memberOf.split(',').map(Number);
    lists.set(memberOf, list);
    return { userId, memberOf: list, timezone, isReachable };
  });
}

/** Returns which of these accounts have more than `people` active people. */
export async function selectLargeOpening(
  db: Db,
  accountIds: AccountId[],
  people: number,
): Promise<Set<AccountId>> {
  const rows = await db<{ accountId: AccountId }[]>`
    select account_id as "accountId"
    from   users
    where  account_id = any(${accountIds}) and active
    group  by account_id
    having count(*) > ${people}`;
  return new Set(rows.map(({ accountId }) => accountId));
}

/** A round of a week with the respondent numbers of the people it asks. */
export type RoundPeople = { id: number; scheduleId: number | null; questionIds: number[]; people: string[] };

/** Returns whether a week has rounds imported from a history file. */
export async function selectHasImported(db: Db, accountId: AccountId, week: Week): Promise<boolean> {
  const [row] = await db<{ hasImported: boolean }[]>`
    select exists (select 1 from rounds
                   where  account_id = ${accountId} and week = ${week} and schedule_id is null) as "hasImported"`;
  return row!.hasImported;
}

/** Returns the threshold of a week, and its rounds that ask any of these questions. */
export async function selectAskedInWeek(
  db: Db,
  accountId: AccountId,
  week: Week,
  questionIds: number[],
): Promise<{ threshold: number; rounds: RoundPeople[] }> {
  const [row] = await db<{ threshold: number }[]>`
    select threshold as "threshold" from weeks where account_id = ${accountId} and week = ${week}`;
  const rounds = await db<Omit<RoundPeople, 'people'>[]>`
    select round_id     as "id",
           schedule_id  as "scheduleId",
           question_ids as "questionIds"
    from   rounds
    where  account_id = ${accountId} and week = ${week} and question_ids && ${questionIds}::integer[]
    order  by round_id`;
  if (rounds.length === 0) return { threshold: row!.threshold, rounds: [] };
  const people = await db<{ roundId: number; respondent: string }[]>`
    select round_id as "roundId", respondent::text as "respondent"
    from   assignments
    where  account_id = ${accountId} and week = ${week} and round_id = any(${rounds.map(({ id }) => id)})`;
  const peopleOf = Map.groupBy(people, ({ roundId }) => roundId);
  return {
    threshold: row!.threshold,
    rounds: rounds.map((round) => ({
      ...round,
      people: (peopleOf.get(round.id) ?? []).map(({ respondent }) => respondent),
    })),
  };
}

/**
 * Turns off sequential scans until the transaction ends. Otherwise, while the table of messages is empty, PostgreSQL plans to read all of it for
 * each new message, to see whether there is one already, and then reads those that it has just written: 100,000 people took 40 seconds instead of
 * two.
 */
export async function avoidSequentialScans(tx: Transaction): Promise<void> {
  await tx`set local enable_seqscan = off`;
}

/** Records who is asked in a week. `isNew`: nothing was asked in the week before, so no one is recorded yet. COPY takes half the time. */
export async function insertParticipants(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  { userIds, isNew }: { userIds: number[]; isNew: boolean },
): Promise<void> {
  if (isNew) {
    await copyInto(
      tx`copy participants (account_id, user_id, week) from stdin`,
      userIds.values().map((userId) => [accountId, userId, week]),
    );
    return;
  }
  await tx`
    insert into participants (account_id, user_id, week)
    select ${accountId}, user_id, ${week}
    from   unnest(${userIds}::integer[]) as user_id
    on conflict do nothing`;
}

/** `dueAt`: milliseconds since 1970. */
export type NewMessage = { userId: number; kind: 'invitation' | 'reminder'; dueAt: number };

/**
 * Adds messages. A person with a waiting or just sent invitation does not get another one, because it covers everything that is
 * asked. Of several reminders, the first one that is still needed is sent. `isNew`: the week has no messages yet.
 */
export async function insertMessages(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  {
    schedule: { id, anyHour },
    messages,
    isNew,
  }: { schedule: { id: number; anyHour: boolean }; messages: NewMessage[]; isNew: boolean },
): Promise<void> {
  if (isNew) {
    await copyInto(
      tx`copy messages (account_id, user_id, week, schedule_id, kind, due_at, any_hour) from stdin`,
      messages
        .values()
        .map(({ userId, kind, dueAt }) => [
          accountId,
          userId,
          week,
          id,
          kind,
          new Date(dueAt).toISOString(),
          anyHour,
        ]),
    );
    return;
  }
  const [userIds, kinds, dues] = [
    messages.map(({ userId }) => userId),
    messages.map(({ kind }) => kind),
    messages.map(({ dueAt }) => dueAt / 1000),
  ];
  await tx`
    insert into messages (account_id, user_id, week, schedule_id, kind, due_at, any_hour)
    select ${accountId}, n.user_id, ${week}, ${id}, n.kind, to_timestamp(n.due), ${anyHour}
    from   unnest(${userIds}::integer[], ${kinds}::text[], ${dues}::double precision[]) as n(user_id, kind, due)
    where  n.kind = 'reminder'
       or  not exists (select 1
                       from   messages m
                       where  m.account_id = ${accountId} and m.user_id = n.user_id and m.week = ${week}
                         and  m.kind = n.kind
                         and  (m.state = 'waiting' or m.due_at > to_timestamp(n.due) - interval '1 hour'))`;
}
