// Applies a plan with one statement per kind of change, in an order that never violates a constraint: removals first, then
// updates, then new rows.
import type { User } from '@soundings/contract/organization.ts';
import { revokeAccess } from '../auth/sessions.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import type { SentOrganization } from './check.ts';
import type { GroupKey } from './current-state.ts';
import { fingerprintOf, type Plan } from './plan.ts';
import { eraseUserChanges } from './runs.sql.ts';
import {
  clearChangedEmails,
  copyGroups,
  copyMemberships,
  copyUsers,
  deleteGroups,
  deleteMemberships,
  deleteUsers,
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
  { groups, users, memberships }: Plan,
): Promise<void> {
  const newGroupIds = await takeGroupIds(tx, groups.create.length);
  const newGroups = new Map(groups.create.map(({ externalId }, i) => [externalId, newGroupIds[i] as number]));
  const idOf = (key: GroupKey) => (typeof key === 'number' ? key : (newGroups.get(key) as number));
  const withParentId = <T extends { parent: GroupKey | null }>(group: T) => ({
    ...group,
    parentId: group.parent === null ? null : idOf(group.parent),
  });

  await copyGroups(
    tx,
    accountId,
    groups.create.map((group) => ({ ...withParentId(group), id: idOf(group.externalId) })),
  );
  await updateGroups(tx, accountId, groups.update.map(withParentId));
  await updateGroupParents(tx, accountId, groups.moveUp.map(withParentId));
  await deleteMemberships(
    tx,
    accountId,
    memberships.remove.map(({ user, kind, group }) => ({ userId: user, kind, groupId: group })),
  );
  await deleteGroups(tx, accountId, groups.remove);

  const removed = users.remove.map(({ id }) => id);
  await deleteUsers(tx, accountId, removed);
  await eraseUserChanges(
    tx,
    accountId,
    users.remove.map(({ externalId }) => externalId),
  );
  const force = organization.settings.forceSetLanguage === true;
  const withFingerprint = <T extends { externalId: string }>(user: T) => {
    const idOfName = (name: string) => targets.get(name)?.id ?? newGroups.get(name) ?? null;
    const sent = organization.data.users?.[organization.places.users.get(user.externalId) as number] as User;
    return { ...user, fingerprint: fingerprintOf(sent, force, idOfName) };
  };
  const updates = users.update.map(withFingerprint);
  await clearChangedEmails(tx, accountId, updates);
  await updateUsers(tx, accountId, updates);
  const inactive = updates.filter(({ active }) => !active);
  await revokeAccess(
    tx,
    accountId,
    inactive.map(({ id }) => id),
  );
  await updateFingerprints(tx, accountId, users.confirm.map(withFingerprint));
  const newUserIds = await takeUserIds(tx, users.create.length);
  const newUsers = new Map(users.create.map(({ externalId }, i) => [externalId, newUserIds[i] as number]));
  await copyUsers(
    tx,
    accountId,
    users.create.map((user) => ({ ...withFingerprint(user), id: newUsers.get(user.externalId) as number })),
  );
  await copyMemberships(
    tx,
    accountId,
    memberships.add.map(({ user, kind, group }) => ({
      userId: typeof user === 'number' ? user : (newUsers.get(user) as number),
      kind,
      groupId: idOf(group),
    })),
  );
}
