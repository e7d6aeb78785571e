// What tests of organization requests share: parts of requests, and the whole state of an account to compare.
import type { TestAccount } from './world.ts';
import type { Pool } from '../db/db.ts';

export const person = (externalId: string, more: object = {}) => ({
  externalId,
  firstName: 'First',
  lastName: 'Last',
  ...more,
});

export const unit = (externalId: string, more: object = {}) => ({ externalId, name: externalId, ...more });

/** All limits at their highest. */
export const noLimits = {
  maxUsersCreated: 20_000,
  maxUsersUpdated: 20_000,
  maxUsersDeleted: 20_000,
  maxGroupsCreated: 20_000,
  maxGroupsUpdated: 20_000,
  maxGroupsDeleted: 20_000,
};

/**
 * Every row of the account that a push may write, each with the transaction that wrote it last (xmin): equal before
 * and after means that nothing was written, not even with the same values.
 */
export async function rowsOf(pool: Pool, accountId: number): Promise<string[]> {
  const rows = await pool<{ row: string }[]>`
    select 'account ' || a.xmin || ' ' || to_jsonb(a) as row from accounts a where account_id = ${accountId}
    union all
    select 'attribute ' || a.xmin || ' ' || to_jsonb(a) from attributes a where account_id = ${accountId}
    union all
    select 'group ' || g.xmin || ' ' || to_jsonb(g) from groups g where account_id = ${accountId}
    union all
    select 'user ' || u.xmin || ' ' || to_jsonb(u) from users u where account_id = ${accountId}
    union all
    select 'membership ' || m.xmin || ' ' || to_jsonb(m) from memberships m where account_id = ${accountId}
    union all
    select 'password ' || p.xmin || ' ' || to_jsonb(p) from passwords p where account_id = ${accountId}
    order by 1`;
  return rows.map(({ row }) => row);
}

/** Applies a request of these lists and returns the report; fails the test, saying why, when it is refused. */
export async function apply(
  account: TestAccount,
  data: { users?: object[]; groups?: object[] },
  settings: object = {},
) {
  const answer = await account.push({ settings: { validateOnly: false, ...settings }, data });
  if (answer.status !== 200) throw new Error(`Refused: ${JSON.stringify(answer.body.details)}`);
  return answer.body;
}
