// Hands users over to pushes and files (adopt) and takes them back (release).
import { lockAccount } from '../accounts/accounts.ts';
import { changedSince } from '../base/errors.ts';
import { missing } from '../base/field-faults.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { fieldFaults, ownAccountFault, refuseUser, takenFaults } from './user-faults.ts';
import { type Changed, emailKeyOf, userById } from './users.ts';
import { selectHandover, updateUsersManaged, updateUser } from './users.sql.ts';

/**
 * Hands a user over to pushes and files. `externalId`: the ID that they use for the user, if the user has none yet. Returns
 * the externalId before and after.
 */
export async function adoptUser(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  externalId: string | undefined,
  by: number,
): Promise<Changed['externalId']> {
  await lockAccount(tx, accountId);
  const before = await userById(tx, accountId, userId);
  if (before.managed) throw changedSince();
  if (userId === by) refuseUser([ownAccountFault('')]);
  const after = { ...before, externalId: before.externalId ?? externalId ?? null };
  // Pushes and files identify users by it.
  if (after.externalId === null) refuseUser([{ ...missing('externalId'), path: '/externalId' }]);
  refuseUser([
    ...fieldFaults({ externalId: after.externalId }),
    ...(await takenFaults(tx, accountId, userId, after)),
  ]);
  await updateUser(tx, accountId, userId, { ...after, ...emailKeyOf(after) });
  await updateUsersManaged(tx, accountId, [userId], true);
  return { from: before.externalId, to: after.externalId };
}

/** Turns a managed user into a manual one, which pushes and files no longer change. */
export async function releaseUser(tx: Transaction, accountId: AccountId, userId: number): Promise<void> {
  await lockAccount(tx, accountId);
  const { managed } = await userById(tx, accountId, userId);
  if (!managed) throw changedSince();
  await updateUsersManaged(tx, accountId, [userId], false);
}

/** Hands over many users together, or only previews it. `by`: the user who requests this, and who is never handed over. */
export async function handOver(
  tx: Transaction,
  accountId: AccountId,
  chosen: { userIds: number[]; toManaged: boolean; by: number },
  isPreview: boolean,
): Promise<{ changing: number[]; already: number; withoutExternalId: number; ownAccount: number }> {
  if (!isPreview) await lockAccount(tx, accountId);
  const handover = await selectHandover(tx, accountId, chosen);
  if (!isPreview) await updateUsersManaged(tx, accountId, handover.changing, chosen.toManaged);
  return handover;
}
