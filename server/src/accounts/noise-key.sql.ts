// SQL for the noise keys of accounts. Writer: noise-key.ts.
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Returns the key, or undefined before the account has its first figures with noise. */
export async function selectNoiseKey(db: Db, accountId: AccountId): Promise<Buffer | undefined> {
  const [row] = await db<{ secret: Buffer }[]>`
    select secret as "secret" from noise_keys where account_id = ${accountId}`;
  return row?.secret;
}

/** Stores a key, replacing one that can't be opened any more. */
export async function upsertNoiseKey(tx: Transaction, accountId: AccountId, secret: Buffer): Promise<void> {
  await tx`
    insert into noise_keys (account_id, secret)
    values (${accountId}, ${secret})
    on conflict (account_id) do update set secret = excluded.secret`;
}

/** Returns the keys of all accounts (account_id), and locks them until the transaction ends, except on Citus. */
export async function selectNoiseKeys(tx: Transaction): Promise<{ accountId: AccountId; secret: Buffer }[]> {
  const onCitus = await isOnCitus(tx);
  return tx`
    select account_id as "accountId", secret as "secret" from noise_keys order by account_id ${onCitus ? tx`` : tx`for update`}`;
}

/** Replaces a key, unless it has been changed since `before` was read. */
export async function updateNoiseKey(
  tx: Transaction,
  accountId: AccountId,
  before: Buffer,
  secret: Buffer,
): Promise<void> {
  await tx`
    update noise_keys set secret = ${secret} where account_id = ${accountId} and secret = ${before}`;
}
