// Shared by tests of organization requests: parts of requests, and the whole state of an account for comparison.
import { everyLimit, maxChangesCeiling } from '@soundings/contract/limits.ts';
import type { TestAccount } from './world.ts';
import type { Pool } from '../db/db.ts';

export const person = (externalId: string, more: object = {}) => ({
  externalId,
  firstName: 'First',
  lastName: 'Last',
  ...more,
});

export const unit = (externalId: string, more: object = {}) => ({ externalId, name: externalId, ...more });

/** The highest possible limits. */
export const noLimits = everyLimit(maxChangesCeiling);

/**
 * Returns every row of the account that a push may write, with the transaction that wrote it last (xmin). If the result is equal
 * before and after, nothing was written, not even the same values.
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

/** Applies a request with these lists and returns the report. Throws with the reason if it is refused. */
export async function apply(
  account: TestAccount,
  data: { users?: object[]; groups?: object[] },
  settings: object = {},
) {
  const response = await account.push({ settings: { validateOnly: false, ...settings }, data });
  if (response.status !== 200) throw new Error(`Refused: ${JSON.stringify(response.body.details)}`);
  return response.body;
}
