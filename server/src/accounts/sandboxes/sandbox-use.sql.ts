// Whether the tokens of an account work, which for sandboxes depends on their administrator. It only reads.
import { sandboxLimits } from '@soundings/contract/limits.ts';
import type { AccountId, Db } from '../../db/db.ts';

/**
 * Returns which of these sandbox accounts are too large, so that their tokens work only after a reset. Those of accounts that are missing
 * here no longer work, because the sandbox was reset or deleted, or its owner is not an active administrator any more. Tokens of companies
 * always work. The owner is in another account, which may be on another server, so this is not part of the statements that find tokens.
 */
export async function selectSandboxUse(
  db: Db,
  accountIds: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, { isFull: boolean }>> {
  const rows = await db<{ id: AccountId; isFull: boolean }[]>`
    select b.sandbox_id as "id", coalesce(b.bytes > ${sandboxLimits.bytes}::bigint, false) as "isFull"
    from   sandboxes b
    join   users o on o.account_id = b.account_id and o.user_id = b.user_id
    where  b.sandbox_id = any(${accountIds as number[]})
      and  o.active and o.role = 'Administrator' and not o.role_pending`;
  return new Map(rows.map(({ id, isFull }) => [id, { isFull }]));
}

/** Condition: account `a` is a company, or a sandbox that was not ended. Of the latter, `selectSandboxUse` says whether tokens work. */
export const isInUse = (db: Db) => db`(a.kind = 'company' or a.ended_at is null)`;

/**
 * Finds a token, and whether its sandbox is too large, by two statements. Undefined: the token does not work. A reset between the statements
 * gives the token to another account, so it is looked for again.
 */
export async function findUsable<T extends { accountId: AccountId; isSandbox: boolean }>(
  db: Db,
  find: () => Promise<T | undefined>,
): Promise<(T & { isFull: boolean }) | undefined> {
  for (let before: AccountId | undefined; ;) {
    const token = await find();
    if (!token || token.accountId === before) return undefined;
    if (!token.isSandbox) return { ...token, isFull: false };
    const use = (await selectSandboxUse(db, [token.accountId])).get(token.accountId);
    if (use) return { ...token, ...use };
    before = token.accountId;
  }
}
