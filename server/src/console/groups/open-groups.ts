// Which groups a user of the console may see: an administrator all groups, a manager those they own (alone or with subgroups) or have read
// access to.
import { hasRole } from '@soundings/contract/people/roles.ts';
import type { Db } from '../../db/db.ts';
import { groupNotFound } from '../../people/faults.ts';
import { selectGroupsOpenTo, selectGroupsOwnedBy } from '../../people/groups.sql.ts';
import type { Who } from '../core/console.ts';

/** Returns the ids of the groups that the caller may see; undefined: all of the account. */
export async function openGroups(db: Db, who: Who): Promise<ReadonlySet<number> | undefined> {
  if (hasRole(who, 'Administrator')) return undefined;
  return new Set(hasRole(who, 'Manager') ? await selectGroupsOpenTo(db, who.accountId, who.userId) : []);
}

/** Whether the caller can act for a group: an administrator for all groups, a manager for those they own. */
export const ownsGroup = async (db: Db, who: Who, groupId: number): Promise<boolean> =>
  hasRole(who, 'Administrator') ||
  (hasRole(who, 'Manager') && (await selectGroupsOwnedBy(db, who.accountId, who.userId)).includes(groupId));

/** Throws a Fault if the caller may not see a group, with the same message as for a group that does not exist. */
export async function rejectClosedGroup(db: Db, who: Who, groupId: number): Promise<void> {
  const open = await openGroups(db, who);
  if (open?.has(groupId) === false) throw groupNotFound();
}
