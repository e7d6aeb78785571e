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
  copyGroups,
  copyMemberships,
  copyUsers,
  deleteGroups,
  deleteMemberships,
  takeGroupIds,
  takeUserIds,
  updateFingerprints,
  updateGroupParents,
  updateGroups,
  updateUsers,
} from './sync.sql.ts';
import type { TargetTree } from './target-tree.ts';

export async function applyPlan(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  { targets }: TargetTree,
  plan: Plan,
): Promise<void> {
  const newGroups = await writeGroups(tx, accountId, plan, organization.isDirectory === true);
  await removeUsers(tx, accountId, plan.users.remove);
  await writeUsers(tx, accountId, organization, { targets, newGroups }, plan);
  await deleteGroups(tx, accountId, plan.groups.remove);
}

/** Creates and updates groups. Returns the ids of the new ones by externalId. */
export async function writeGroups(
  tx: Transaction,
  accountId: AccountId,
  { groups }: Pick<Plan, 'groups'>,
  isDirectory: boolean,
): Promise<ReadonlyMap<string, number>> {
  const newGroupIds = await takeGroupIds(tx, groups.create.length);
  const newGroups = new Map(groups.create.map(({ externalId }, i) => [externalId, newGroupIds[i] as number]));
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
  return newGroups;
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

/** Creates and updates users and their memberships. */
export async function writeUsers(
  tx: Transaction,
  accountId: AccountId,
  organization: SentOrganization,
  { targets, newGroups }: Pick<TargetTree, 'targets'> & { newGroups: ReadonlyMap<string, number> },
  { users, memberships }: Pick<Plan, 'users' | 'memberships'>,
): Promise<void> {
  const force = organization.settings.forceSetLanguage === true;
  const withFingerprint = <T extends { externalId: string }>(user: T) => {
    const idOfName = (name: string) => targets.get(name)?.id ?? newGroups.get(name) ?? null;
    const sent = organization.data.users?.[organization.places.users.get(user.externalId) as number] as User;
    return { ...user, fingerprint: fingerprintOf(sent, force, idOfName) };
  };
  await deleteMemberships(
    tx,
    accountId,
    memberships.remove.map(({ user, kind, group }) => ({ userId: user, kind, groupId: group })),
  );
  const updates = users.update.map(withFingerprint);
  await clearChangedEmails(tx, accountId, updates);
  await updateUsers(tx, accountId, updates);
  const inactive = updates.filter(({ active }) => !active).map(({ id }) => id);
  await revokeAccess(tx, accountId, inactive);
  await updateFingerprints(tx, accountId, users.confirm.map(withFingerprint));
  const newUserIds = await takeUserIds(tx, users.create.length);
  const newUsers = new Map(users.create.map(({ externalId }, i) => [externalId, newUserIds[i] as number]));
  await copyUsers(
    tx,
    accountId,
    users.create.map((user) => ({ ...withFingerprint(user), id: newUsers.get(user.externalId) as number })),
    organization.isDirectory === true,
  );
  await copyMemberships(
    tx,
    accountId,
    memberships.add.map(({ user, kind, group }) => ({
      userId: typeof user === 'number' ? user : (newUsers.get(user) as number),
      kind,
      groupId: idIn(newGroups, group),
    })),
  );
}

const idIn = (newGroups: ReadonlyMap<string, number>, key: GroupKey) =>
  typeof key === 'number' ? key : (newGroups.get(key) as number);
