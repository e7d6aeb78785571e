// Confirms administrators that a push or file created or changed. Until then they have the User role.
import { emailKey } from '@soundings/contract/formats.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { userNotFound } from './faults.ts';
import { userById } from './users.ts';
import { selectUserIdOf, updateConfirmed } from './users.sql.ts';

/** Confirms an administrator. Throws a Fault if the role is not pending. */
export async function confirmAdministrator(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  await userById(tx, accountId, userId);
  if (await updateConfirmed(tx, accountId, userId))
    return recordEvent(tx, accountId, 'administrator.added', userId, { userId });
  throw new Fault(
    'conflict',
    'role not pending',
    'The role of this person is no longer waiting for confirmation.',
  );
}

/** Like confirmAdministrator, for the user with this address. Returns the id. */
export async function confirmByAddress(
  tx: Transaction,
  accountId: AccountId,
  email: string,
): Promise<number> {
  const userId = await selectUserIdOf(tx, accountId, emailKey(email));
  if (userId === undefined) throw userNotFound();
  await confirmAdministrator(tx, accountId, userId);
  return userId;
}
