// Groups that are made and changed by hand. What is managed is changed where it comes from, save its place: a push that
// says nothing of the tree leaves every group where it was put. Each function locks the account and raises its version.
import { isExternalId } from '@soundings/contract/formats.ts';
import { maxDescriptionLength, maxNameLength, maxTreeDepth } from '@soundings/contract/limits.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount, raiseVersion } from '../accounts/accounts.ts';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { type GroupRow, selectGroups } from './people.sql.ts';
import {
  clearFingerprintsIn,
  deleteGroup,
  insertGroup,
  selectExternalIdTaken,
  updateGroup,
  updateManaged,
  updateParent,
} from './groups.sql.ts';
import { parentsIn, subgroupsOf, treeFaults, wayUp } from './tree.ts';

export { selectGroups as groupsOf };
export type { GroupRow };

/** Removes what else is known of groups that are removed, in the same transaction: it is on a floor above. */
export type ForgetGroups = (tx: Transaction, accountId: AccountId, groupIds: number[]) => Promise<void>;

/** What is written of a group by hand. */
export type GroupFields = { name: string; description: string | null; externalId: string | null };

/** Makes a group by hand and returns its id. Throws a Fault for a name, externalId or parent that cannot be. */
export async function createGroup(
  tx: Transaction,
  accountId: AccountId,
  group: Pick<GroupFields, 'name'> & Partial<GroupFields> & { parentId?: number | null },
): Promise<number> {
  const { name, description = null, externalId = null, parentId = null } = group;
  refuseFields(group);
  await lockAccount(tx, accountId);
  const groups = await selectGroups(tx, accountId);
  if (parentId !== null && !groups.some(({ id }) => id === parentId)) throw parentNotFound(parentId);
  refuseDeep([...groups, { id: 0, parentId }]);
  await refuseTaken(tx, accountId, externalId);
  await raiseVersion(tx, accountId);
  return insertGroup(tx, accountId, { name, description, externalId, parentId });
}

/** Changes a group made by hand, and returns the names of the fields that are not as they were. */
export async function changeGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  changes: Partial<GroupFields>,
): Promise<(keyof GroupFields)[]> {
  refuseFields(changes);
  const group = await lockGroup(tx, accountId, groupId);
  const before = { ...group, description: group.description || null }; // a push may have sent an empty one
  const after = { ...before, ...changes };
  const changed = (['name', 'description', 'externalId'] as const).filter(
    (name) => before[name] !== after[name],
  );
  const [first] = changed;
  if (first === undefined) return [];
  if (group.managed) throw managed(`/${first}`);
  if (changed.includes('externalId')) await refuseTaken(tx, accountId, after.externalId);
  await updateGroup(tx, accountId, groupId, after);
  await raiseVersion(tx, accountId);
  return changed;
}

/** Where a group stands, where it would, and what that changes: ids of groups. */
export type Move = {
  from: number | null;
  /** The groups beneath it, at any depth. */
  beneath: number[];
  /** The groups above it before and after, from the nearest. */
  above: { before: number[]; after: number[] };
};

/** Plans a move. Throws a Fault when there is no such group, or it would be beneath itself, or the tree too deep. */
export async function planMove(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parentId: number | null,
): Promise<Move> {
  return moveOf(await selectGroups(db, accountId), groupId, parentId);
}

/**
 * Moves a group, managed or not, with all that is beneath it. `from` is where it stood when it was shown. Returns whether it
 * stands elsewhere now. Throws a Fault (conflict) when it no longer stood there, and those of planMove.
 */
export async function moveGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  { parentId, from }: { parentId: number | null; from: number | null },
): Promise<boolean> {
  await lockAccount(tx, accountId);
  const move = moveOf(await selectGroups(tx, accountId), groupId, parentId);
  if (move.from !== from) {
    throw fault('conflict', 'changed since', '/from', 'The group has been moved since: look at it again.');
  }
  if (parentId === from) return false;
  await updateParent(tx, accountId, groupId, parentId);
  await raiseVersion(tx, accountId);
  return true;
}

function moveOf(groups: GroupRow[], groupId: number, parentId: number | null): Move {
  const group = groups.find(({ id }) => id === groupId);
  if (!group) throw groupNotFound();
  if (parentId !== null && !groups.some(({ id }) => id === parentId)) throw parentNotFound(parentId);
  const beneath = subgroupsOf(groups).get(groupId) ?? [];
  if (parentId === groupId || (parentId !== null && beneath.includes(parentId))) {
    throw fault('invalid', 'cycle', '/parentId', 'A group cannot be moved beneath itself.');
  }
  refuseDeep(groups.map((one) => (one === group ? { ...one, parentId } : one)));
  const parents = parentsIn(groups);
  return {
    from: group.parentId,
    beneath,
    above: { before: wayUp(group.parentId, parents), after: wayUp(parentId, parents) },
  };
}

/**
 * Removes a group made by hand. Its memberships and figures go with it; the groups right beneath it move up (decision
 * B12). Returns how many these are.
 */
export async function removeGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  forgetGroups: ForgetGroups,
): Promise<number> {
  const group = await lockGroup(tx, accountId, groupId);
  if (group.managed) throw managed('');
  const movesUp = (await selectGroups(tx, accountId)).filter(({ parentId }) => parentId === groupId);
  await deleteGroup(tx, accountId, groupId);
  await forgetGroups(tx, accountId, [groupId]);
  await raiseVersion(tx, accountId);
  return movesUp.length;
}

/**
 * Hands a group made by hand over to pushes and files, under an externalId: the next that lists groups must list it, or
 * it is removed. Its people are compared anew.
 */
export async function adoptGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  externalId: string | null,
): Promise<void> {
  refuseFields({ externalId });
  const group = await lockGroup(tx, accountId, groupId);
  if (externalId === null) throw fault('invalid', 'missing field', '/externalId', 'This is needed.');
  if (group.managed) throw fault('conflict', 'changed since', '', 'The group is managed already.');
  if (externalId !== group.externalId) await refuseTaken(tx, accountId, externalId);
  await updateManaged(tx, accountId, groupId, { managed: true, externalId });
  await clearFingerprintsIn(tx, accountId, groupId);
  await raiseVersion(tx, accountId);
}

/**
 * Takes a managed group over from pushes and files. With its externalId kept, they can still name it, and a list that
 * holds it is refused; without, such a list makes another group.
 */
export async function releaseGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  { keepExternalId }: { keepExternalId: boolean },
): Promise<void> {
  const group = await lockGroup(tx, accountId, groupId);
  if (!group.managed) throw fault('conflict', 'changed since', '', 'The group is not managed any more.');
  const externalId = keepExternalId ? group.externalId : null;
  await updateManaged(tx, accountId, groupId, { managed: false, externalId });
  await raiseVersion(tx, accountId);
}

/** The group, as it is once the account is locked. */
async function lockGroup(tx: Transaction, accountId: AccountId, groupId: number): Promise<GroupRow> {
  await lockAccount(tx, accountId);
  const group = (await selectGroups(tx, accountId)).find(({ id }) => id === groupId);
  if (!group) throw groupNotFound();
  return group;
}

function refuseFields({ name, description = null, externalId = null }: Partial<GroupFields>): void {
  if (name !== undefined && (name.trim() === '' || name.length > maxNameLength)) {
    const message = `The name of a group must have 1 to ${maxNameLength} characters.`;
    throw fault('invalid', 'invalid value', '/name', message);
  }
  if (description !== null && description.length > maxDescriptionLength) {
    const message = `A description may have ${maxDescriptionLength} characters.`;
    throw fault('invalid', 'too long', '/description', message);
  }
  if (externalId !== null && !isExternalId(externalId)) {
    const message =
      'An externalId has 1 to 255 characters, no white space at its ends and no control characters.';
    throw fault('invalid', 'invalid externalId', '/externalId', message);
  }
}

async function refuseTaken(tx: Transaction, accountId: AccountId, externalId: string | null): Promise<void> {
  if (externalId === null || !(await selectExternalIdTaken(tx, accountId, externalId))) return;
  const message = `A group with the externalId "${externalId}" exists already.`;
  throw fault('conflict', 'externalId taken', '/externalId', message);
}

function refuseDeep(nodes: readonly { id: number; parentId: number | null }[]): void {
  if (treeFaults(nodes, maxTreeDepth).tooDeep.length === 0) return;
  throw fault('invalid', 'too deep', '/parentId', `A tree of groups has at most ${maxTreeDepth} levels.`);
}

const fault = (kind: FaultKind, type: DetailType, path: string, message: string) =>
  new Fault(kind, type, message, { details: [{ type, message, path }] });
const groupNotFound = () => new Fault('not_found', 'group not found', 'There is no such group.');
const parentNotFound = (id: number) =>
  fault('not_found', 'group not found', '/parentId', `There is no group ${id}.`);
const managed = (path: string) =>
  fault(
    'conflict',
    'managed',
    path,
    'The group is managed: pushes and files say what it is. Release it to change it by hand.',
  );
