// Which groups somebody in the console may see (roles of the console): an administrator all, a manager those owned,
// administered with all beneath, or given to read.
import { hasRole } from '@soundings/contract/words.ts';
import { Fault } from '../base/errors.ts';
import type { Db } from '../db/db.ts';
import { groupsOpenTo } from '../people/people.ts';
import type { Who } from './console.ts';

/** The ids of the groups that are open to somebody; undefined: all of the account. */
export async function openGroups(db: Db, who: Who): Promise<ReadonlySet<number> | undefined> {
  if (hasRole(who, 'Administrator')) return undefined;
  return new Set(hasRole(who, 'Manager') ? await groupsOpenTo(db, who.accountId, who.userId) : []);
}

/** Throws a Fault, in the words of a group that there is not, when a group is not open to somebody. */
export async function refuseClosedGroup(db: Db, who: Who, groupId: number): Promise<void> {
  const open = await openGroups(db, who);
  if (open?.has(groupId) === false)
    throw new Fault('not_found', 'group not found', 'There is no such group.');
}
