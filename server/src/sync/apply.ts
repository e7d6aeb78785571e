// Applies a plan with one statement per kind of change, in an order that never violates a constraint: removals first, then
// updates, then new rows.
import type { User } from '@soundings/contract/organization.ts';
import { revokeAccess } from '../auth/sessions.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { deleteUsers } from '../people/users.sql.ts';
import type { SentOrganization } from './check.ts';
import type { GroupKey } from './current-state.ts';
import { fingerprintOf } from './repeated/fingerprints.ts';
import type { Plan } from './plan.ts';
import { eraseUserChanges } from './runs.sql.ts';
import {
  clearChangedEmails,
  copiedMemberships,
  copiedUsers,
  copyGroups,
  copyMemberships,
  copyUsers,
  deleteGroups,
  deleteMemberships,
  type MembershipRow,
  takeGroupIds,
  takeUserIds,
  updateFingerprints,
  updateGroupParents,
  updateGroups,
  updateUsers,
  type WrittenUser,
} from './sync.sql.ts';
import type { TargetTree } from './target-tree.ts';

export async function applyPlan(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  { targets }: TargetTree,
  plan: Plan,
): Promise<void> {
  const newGroups = await newGroupIds(tx, plan);
  await writeGroups(tx, accountId, plan, { newGroups, isDirectory: organization.isDirectory === true });
  await removeUsers(tx, accountId, plan.users.remove);
  const newUserIds = await takeUserIds(tx, plan.users.create.length);
  await writeUsers(
    tx,
    accountId,
    writesOf(accountId, organization, { targets, newGroups, newUserIds }, plan),
  );
  await deleteGroups(tx, accountId, plan.groups.remove);
}

/** Reserves the ids of the groups that a plan creates. Returns them by externalId. */
export async function newGroupIds(
  tx: Transaction,
  { groups }: Pick<Plan, 'groups'>,
): Promise<ReadonlyMap<string, number>> {
  const ids = await takeGroupIds(tx, groups.create.length);
  return new Map(groups.create.map(({ externalId }, i) => [externalId, ids[i] as number]));
}

/** Creates and updates groups. */
export async function writeGroups(
  tx: Transaction,
  accountId: AccountId,
  { groups }: Pick<Plan, 'groups'>,
  { newGroups, isDirectory }: { newGroups: ReadonlyMap<string, number>; isDirectory: boolean },
): Promise<void> {
  const withParentId = <T extends { parent: GroupKey | null }>(group: T) => ({
    ...group,
    parentId: group.parent === null ? null : idIn(newGroups, group.parent),
  });
  await copyGroups(
    tx,
    accountId,
    groups.create.map((group) => ({ ...withParentId(group), id: idIn(newGroups, group.externalId) })),
    isDirectory,
  );
  await updateGroups(tx, accountId, groups.update.map(withParentId));
  await updateGroupParents(tx, accountId, groups.moveUp.map(withParentId));
}

/** Removes users, and erases the values of their earlier changes. */
export async function removeUsers(
  tx: Transaction,
  accountId: AccountId,
  users: Plan['users']['remove'],
): Promise<void> {
  await deleteUsers(
    tx,
    accountId,
    users.map(({ id }) => id),
  );
  await eraseUserChanges(
    tx,
    accountId,
    users.map(({ externalId }) => externalId),
  );
}

/** What a plan writes of users and memberships. The new ones are in the format of COPY; undefined if there are none. */
export type UserWrites = {
  updated: WrittenUser[];
  confirmed: { id: number; fingerprint: string }[];
  removedMemberships: MembershipRow[];
  newUsers: Iterable<Uint8Array> | undefined;
  newMemberships: Iterable<Uint8Array> | undefined;
};

/** Returns what a plan writes of users and memberships. `newUserIds`: reserved ids for the users that it creates. */
export function writesOf(
  accountId: AccountId,
  organization: SentOrganization,
  {
    targets,
    newGroups,
    newUserIds,
  }: Pick<TargetTree, 'targets'> & { newGroups: ReadonlyMap<string, number>; newUserIds: number[] },
  { users, memberships }: Pick<Plan, 'users' | 'memberships'>,
): UserWrites {
  const force = organization.settings.forceSetLanguage === true;
  const idOfName = (name: string) => targets.get(name)?.id ?? newGroups.get(name) ?? null;
  const withFingerprint = <T extends { externalId: string }>(user: T) => {
    const sent = organization.data.users?.[organization.places.users.get(user.externalId) as number] as User;
    return { ...user, fingerprint: fingerprintOf(sent, force, idOfName) };
  };
  const created = users.create.map((user, i) => ({ ...withFingerprint(user), id: newUserIds[i] as number }));
  const newUsers = new Map(created.map(({ externalId, id }) => [externalId, id]));
  const added = memberships.add.map(({ user, kind, group }) => ({
    userId: typeof user === 'number' ? user : (newUsers.get(user) as number),
    kind,
    groupId: idIn(newGroups, group),
  }));
  return {
    updated: users.update.map(withFingerprint),
    confirmed: users.confirm.map(withFingerprint),
    removedMemberships: memberships.remove.map(({ user, kind, group }) => ({
      userId: user,
      kind,
      groupId: group,
    })),
    newUsers:
      created.length > 0 ? copiedUsers(accountId, created, organization.isDirectory === true) : undefined,
    newMemberships: added.length > 0 ? copiedMemberships(accountId, added) : undefined,
  };
}

/** Creates and updates users and their memberships. */
export async function writeUsers(
  tx: Transaction,
  accountId: AccountId,
  { updated, confirmed, removedMemberships, newUsers, newMemberships }: UserWrites,
): Promise<void> {
  await deleteMemberships(tx, accountId, removedMemberships);
  await clearChangedEmails(tx, accountId, updated);
  await updateUsers(tx, accountId, updated);
  const inactive = updated.filter(({ active }) => !active).map(({ id }) => id);
  await revokeAccess(tx, accountId, inactive);
  await updateFingerprints(tx, accountId, confirmed);
  if (newUsers) await copyUsers(tx, newUsers);
  if (newMemberships) await copyMemberships(tx, newMemberships);
}

const idIn = (newGroups: ReadonlyMap<string, number>, key: GroupKey) =>
  typeof key === 'number' ? key : (newGroups.get(key) as number);
