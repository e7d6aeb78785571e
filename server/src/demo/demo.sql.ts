// SQL of finding the demo company again.
import type { AccountId, Db } from '../db/db.ts';

/** The first account of that name, if there is one, and whether anything was asked in it. */
export async function selectDemoAccount(
  db: Db,
  name: string,
): Promise<{ accountId: AccountId; hasRounds: boolean } | undefined> {
  const [row] = await db<{ accountId: AccountId; hasRounds: boolean }[]>`
    select a.account_id as "accountId",
           exists (select 1 from rounds r where r.account_id = a.account_id) as "hasRounds"
    from   accounts a
    where  a.name = ${name}
    order  by a.account_id
    limit  1`;
  return row;
}

/** The group above all others, made first. */
export async function selectTopGroup(db: Db, accountId: AccountId): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and parent_id is null order by group_id limit 1`;
  return row!.id;
}
