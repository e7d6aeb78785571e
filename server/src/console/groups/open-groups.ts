// Which groups a user of the console may see: an administrator all groups, a manager those they own (alone or with subgroups) or have read
// access to.
import { hasRole } from '@soundings/contract/people/roles.ts';
import type { Db } from '../../db/db.ts';
import { groupNotFound } from '../../people/faults.ts';
import { selectGroupsOpenTo } from '../../people/groups.sql.ts';
import type { Who } from '../core/console.ts';

/** Returns the ids of the groups that the caller may see; undefined: all of the account. */
export async function openGroups(db: Db, who: Who): Promise<ReadonlySet<number> | undefined> {
  if (hasRole(who, 'Administrator')) return undefined;
  return new Set(hasRole(who, 'Manager') ? await selectGroupsOpenTo(db, who.accountId, who.userId) : []);
}

/** Throws a Fault if the caller may not see a group, with the same message as for a group that does not exist. */
export async function rejectClosedGroup(db: Db, who: Who, groupId: number): Promise<void> {
  const open = await openGroups(db, who);
  if (open?.has(groupId) === false) throw groupNotFound();
}
