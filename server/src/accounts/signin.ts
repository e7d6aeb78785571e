// How people sign in: their passwords.
import { minPasswordLength } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { hashPassword } from '../base/secrets.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { upsertPassword } from './signin.sql.ts';

/** Sets a user's password. Only its Argon2id digest is kept. */
export async function setPassword(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  password: string,
): Promise<void> {
  if ([...password].length < minPasswordLength) {
    throw new Fault(
      'invalid',
      'invalid value',
      `A password must have at least ${minPasswordLength} characters.`,
    );
  }
  await upsertPassword(tx, accountId, userId, await hashPassword(password));
}
