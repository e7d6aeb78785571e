// SQL for finding the demo company. It only reads.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';

/** Returns the first account with this name, if there is one. Sandboxes don't count. */
export async function selectDemoAccount(db: Db, name: string): Promise<AccountId | undefined> {
  const [row] = await db<{ accountId: AccountId }[]>`
    select account_id as "accountId" from accounts where name = ${name} and kind = 'company' order by account_id limit 1`;
  return row?.accountId;
}

/** Returns the top-level group that was created first. */
export async function selectTopGroup(db: Db, accountId: AccountId): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and parent_id is null order by group_id limit 1`;
  return row!.id;
}

/**
 * Returns an active person who is asked in the latest open week, preferably a person who reads English; undefined if no week is
 * open.
 */
export async function selectPersonAskedNow(
  db: Db,
  accountId: AccountId,
): Promise<{ userId: number; week: Week } | undefined> {
  const [row] = await db<{ userId: number; week: Week }[]>`
    select p.user_id as "userId", p.week as "week"
    from   participants p
    join   weeks w on w.account_id = p.account_id and w.week = p.week
    join   users u on u.account_id = p.account_id and u.user_id = p.user_id
    where  p.account_id = ${accountId} and w.closed_at is null and u.active
    order  by p.week desc, (u.language = 'en') desc, p.user_id
    limit  1`;
  return row;
}

/** Returns the active person with this email address, if there is one. */
export async function selectAdministrator(
  db: Db,
  accountId: AccountId,
  email: string,
): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email_key = ${email} and active`;
  return row?.id;
}
