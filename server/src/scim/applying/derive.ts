// Reads what the rule of an account needs of its directory, and derives the tree.
import type { OrganizationGroup } from '@soundings/contract/organization.ts';
import type { TreeRule } from '@soundings/contract/scim/directory.ts';
import type { AccountId, Db } from '../../db/db.ts';
import {
  selectForeignGroups,
  selectGroupsOfUsers,
  selectTreeGroups,
  selectTreeUsers,
  type UserToApply,
} from './apply.sql.ts';
import { displayNameOf } from './mapping.ts';
import { type DerivedTree, treeByAttributes, treeByGroups, treeByManagers } from './tree-rule.ts';

/** Returns the tree for these users; undefined if the rule derives none. By managers, it is the tree of all users. */
export async function deriveTree(
  db: Db,
  accountId: AccountId,
  rule: TreeRule,
  users: readonly UserToApply[],
): Promise<DerivedTree | undefined> {
  if (rule.kind === 'none') return undefined;
  if (rule.kind === 'attributes') return treeByAttributes(rule.levels, users);
  if (rule.kind === 'managers') {
    const all = await selectTreeUsers(db, accountId);
    return treeByManagers(
      all.map(({ id, resource, managerId }) => ({ id, managerId, name: displayNameOf(resource) })),
    );
  }
  const groups = await selectTreeGroups(db, accountId);
  const groupsOf = new Map<string, string[]>();
  const ids = users.map(({ id }) => id);
  for (const { memberId, groupId } of await selectGroupsOfUsers(db, accountId, ids)) {
    const list = groupsOf.get(memberId);
    if (list) list.push(groupId);
    else groupsOf.set(memberId, [groupId]);
  }
  return treeByGroups(groups, groupsOf);
}

/**
 * Returns the groups that have another place without these groups, with that place. Those that belong to others are left out.
 * `removed`: the externalIds of groups of the directory.
 */
export async function groupsMovedBy(
  db: Db,
  accountId: AccountId,
  rule: TreeRule,
  removed: ReadonlySet<string>,
): Promise<OrganizationGroup[]> {
  if (rule.kind !== 'groups' || removed.size === 0) return [];
  const groups = await selectTreeGroups(db, accountId);
  const noOne = new Map<string, string[]>();
  const before = new Map(treeByGroups(groups, noOne).groups.map((one) => [one.externalId, one.parent]));
  const others = groups
    .filter(({ id }) => !removed.has(id))
    .map((one) => ({ ...one, parentIds: one.parentIds.filter((id) => !removed.has(id)) }));
  const moved = treeByGroups(others, noOne).groups.filter(
    ({ externalId, parent }) => parent !== before.get(externalId),
  );
  const foreign = await selectForeignGroups(
    db,
    accountId,
    moved.map(({ externalId }) => externalId),
  );
  return moved.filter(({ externalId }) => !foreign.has(externalId));
}
