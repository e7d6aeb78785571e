// SQL for two-factor authentication. Writers: two-factor.ts.
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** The two-factor authentication of a person. `secret` is sealed; `onSince` is null until a code has confirmed it. */
export type TwoFactor = { secret: Buffer; onSince: Date | null };

export async function selectTwoFactor(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<TwoFactor | undefined> {
  const [row] = await db<TwoFactor[]>`
    select secret as "secret", on_since as "onSince"
    from   two_factor
    where  account_id = ${accountId} and user_id = ${userId}`;
  return row;
}

/** Stores an unconfirmed secret, replacing an earlier one. Returns false if two-factor authentication is already on. */
export async function upsertSecret(
  db: Db,
  accountId: AccountId,
  userId: number,
  secret: Buffer,
): Promise<boolean> {
  const rows = await db`
    insert into two_factor as s (account_id, user_id, secret, created_at)
    values (${accountId}, ${userId}, ${secret}, now())
    on conflict (account_id, user_id)
    do update set secret = excluded.secret, created_at = excluded.created_at, last_step = 0 where s.on_since is null
    returning 1`;
  return rows.length > 0;
}

/** Returns the secrets of all accounts (account_id), and locks them until the transaction ends, except on Citus. */
export async function selectSecrets(
  tx: Transaction,
): Promise<{ accountId: AccountId; userId: number; secret: Buffer }[]> {
  const onCitus = await isOnCitus(tx);
  return tx`
    select account_id as "accountId", user_id as "userId", secret as "secret"
    from   two_factor
    order  by account_id, user_id
    ${onCitus ? tx`` : tx`for update`}`;
}

/** Replaces a secret, unless it has been changed since `before` was read. */
export async function updateSecret(
  tx: Transaction,
  { accountId, userId }: { accountId: AccountId; userId: number },
  before: Buffer,
  secret: Buffer,
): Promise<void> {
  await tx`
    update two_factor set secret = ${secret}
    where  account_id = ${accountId} and user_id = ${userId} and secret = ${before}`;
}

/** Records that the code of a step was used. Returns false if the code of that step, or of a later one, was used before. */
export async function updateLastStep(
  db: Db,
  accountId: AccountId,
  userId: number,
  step: number,
): Promise<boolean> {
  const rows = await db`
    update two_factor
    set    last_step = ${step}
    where  account_id = ${accountId} and user_id = ${userId} and last_step < ${step}
    returning 1`;
  return rows.length > 0;
}

export async function updateOn(db: Db, accountId: AccountId, userId: number): Promise<void> {
  await db`
    update two_factor set on_since = now() where account_id = ${accountId} and user_id = ${userId}`;
}

/** Deletes a person's secret and recovery codes. Returns whether there was a secret. */
export async function deleteTwoFactor(db: Db, accountId: AccountId, userId: number): Promise<boolean> {
  await db`delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}`;
  const rows = await db`
    delete from two_factor where account_id = ${accountId} and user_id = ${userId} returning 1`;
  return rows.length > 0;
}

/**
 * Deletes secrets that were not confirmed within a day, of all accounts (account_id). Skips those that others are changing, which may be in
 * another order.
 */
export async function deleteUnconfirmed(db: Db): Promise<void> {
  const onCitus = await isOnCitus(db);
  const isLeft = db`on_since is null and created_at < now() - interval '1 day'`;
  await db`
    with unconfirmed as (
      select account_id, user_id from two_factor where ${isLeft} ${onCitus ? db`` : db`for update skip locked`})
    delete from two_factor t
    using  unconfirmed u
    where  t.account_id = u.account_id and t.user_id = u.user_id and ${isLeft}`;
}

/** Replaces the recovery codes. */
export async function replaceRecoveryCodes(
  db: Db,
  accountId: AccountId,
  userId: number,
  hashes: Buffer[],
): Promise<void> {
  await db`delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}`;
  await db`
    insert into recovery_codes (account_id, user_id, hash)
    select ${accountId}, ${userId}, decode(hash, 'hex')
    from   unnest(${hashes.map((hash) => hash.toString('hex'))}::text[]) as hash`;
}

/** Uses a recovery code up. Returns false if it doesn't exist. */
export async function deleteRecoveryCode(
  db: Db,
  accountId: AccountId,
  userId: number,
  hash: Buffer,
): Promise<boolean> {
  const rows = await db`
    delete from recovery_codes
    where  account_id = ${accountId} and user_id = ${userId} and hash = ${hash}
    returning 1`;
  return rows.length > 0;
}
