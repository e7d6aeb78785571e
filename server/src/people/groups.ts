// Creates and changes groups manually. Managed groups are changed in the HR system, except for their position: a push without
// parents leaves every group where it is. Each function locks the account and raises its version.
import { maxDescriptionLength, maxTreeDepth } from '@soundings/contract/limits.ts';
import { raiseVersion } from '../accounts/accounts.sql.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { changedSince, faultAtField } from '../base/errors.ts';
import { externalIdFault, lengthFault, missing, nameFault, refuseField } from '../base/field-faults.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { groupNotFound, managedFault, parentNotFound } from './faults.ts';
import {
  clearFingerprintsIn,
  deleteGroup,
  type GroupRow,
  insertGroup,
  selectExternalIdTaken,
  countSubgroups,
  selectGroup,
  selectGroupsOfMove,
  updateGroup,
  updateGroupManaged,
  updateParent,
} from './groups.sql.ts';
import { ancestorsOf, parentsIn, subgroupsOf, treeFaults, type TreeNode } from './tree.ts';

/** Deletes the results and other data of removed groups, in the same transaction. Passed in because it is in a layer above. */
export type DeleteGroupResults = (tx: Transaction, accountId: AccountId, groupIds: number[]) => Promise<void>;

/** The fields of a group that can be edited. */
export type GroupFields = { name: string; description: string | null; externalId: string | null };

/** Creates a manual group and returns its id. Throws a Fault for an invalid name, externalId or parent. */
export async function createGroup(
  tx: Transaction,
  accountId: AccountId,
  group: Pick<GroupFields, 'name'> & Partial<GroupFields> & { parentId?: number | null },
): Promise<number> {
  const { name, description = null, externalId = null, parentId = null } = group;
  refuseFields(group);
  await lockAccount(tx, accountId);
  const groups = await selectGroupsOfMove(tx, accountId, 0, parentId);
  if (parentId !== null && !groups.some(({ id }) => id === parentId)) throw parentNotFound(parentId);
  refuseDeep([...groups, { id: 0, parentId }]);
  await refuseTaken(tx, accountId, externalId);
  await raiseVersion(tx, accountId);
  return insertGroup(tx, accountId, { name, description, externalId, parentId });
}

/** Changes a manual group and returns the names of the changed fields. */
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
  if (group.managed) throw managedFault(`/${first}`);
  if (changed.includes('externalId')) await refuseTaken(tx, accountId, after.externalId);
  await updateGroup(tx, accountId, groupId, after);
  await raiseVersion(tx, accountId);
  return changed;
}

/** The effects of moving a group, as group ids. `from` is its current parent. */
export type Move = {
  from: number | null;
  /** The descendants of the group, at any depth. */
  descendants: number[];
  /** Its ancestors before and after the move, from the nearest. */
  above: { before: number[]; after: number[] };
};

/** Plans a move. Throws a Fault if a group doesn't exist, if the move would create a cycle, or if the hierarchy would be too deep. */
export async function planMove(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parentId: number | null,
): Promise<Move> {
  return moveOf(await selectGroupsOfMove(db, accountId, groupId, parentId), groupId, parentId);
}

/**
 * Moves a group, managed or not, with its subgroups. `from` is the parent that the user saw. Returns whether the parent has
 * changed. Throws a Fault (conflict) if the group has been moved since, and the faults of planMove.
 */
export async function moveGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  { parentId, from }: { parentId: number | null; from: number | null },
): Promise<boolean> {
  await lockAccount(tx, accountId);
  const move = moveOf(await selectGroupsOfMove(tx, accountId, groupId, parentId), groupId, parentId);
  if (move.from !== from) {
    throw changedSince('Someone else has moved this group', '/from');
  }
  if (parentId === from) return false;
  await updateParent(tx, accountId, groupId, parentId);
  await raiseVersion(tx, accountId);
  return true;
}

function moveOf(groups: TreeNode<number>[], groupId: number, parentId: number | null): Move {
  const group = groups.find(({ id }) => id === groupId);
  if (!group) throw groupNotFound();
  if (parentId !== null && !groups.some(({ id }) => id === parentId)) throw parentNotFound(parentId);
  const descendants = subgroupsOf(groups).get(groupId) ?? [];
  if (parentId === groupId || (parentId !== null && descendants.includes(parentId))) {
    throw faultAtField(
      'invalid',
      'cycle',
      '/parentId',
      'A group cannot be moved into itself or one of its subgroups.',
    );
  }
  refuseDeep(groups.map((one) => (one === group ? { ...one, parentId } : one)));
  const parents = parentsIn(groups);
  return {
    from: group.parentId,
    descendants,
    above: { before: ancestorsOf(group.parentId, parents), after: ancestorsOf(parentId, parents) },
  };
}

/**
 * Removes a manual group with its memberships and results. Its direct subgroups move up (decision B12). Returns how many there
 * are.
 */
export async function removeGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  deleteGroupResults: DeleteGroupResults,
): Promise<number> {
  const group = await lockGroup(tx, accountId, groupId);
  if (group.managed) throw managedFault();
  const movesUp = await countSubgroups(tx, accountId, groupId);
  await deleteGroup(tx, accountId, groupId);
  await deleteGroupResults(tx, accountId, [groupId]);
  await raiseVersion(tx, accountId);
  return movesUp;
}

/**
 * Hands a manual group over to pushes and files, under an externalId. The next push or file that lists groups must include it,
 * or it is removed. The next push compares its members again.
 */
export async function adoptGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  externalId: string | null,
): Promise<void> {
  refuseFields({ externalId });
  const group = await lockGroup(tx, accountId, groupId);
  refuseField('/externalId', externalId === null ? missing('externalId') : undefined);
  if (group.managed) throw changedSince();
  if (externalId !== group.externalId) await refuseTaken(tx, accountId, externalId);
  await updateGroupManaged(tx, accountId, groupId, { managed: true, externalId });
  await clearFingerprintsIn(tx, accountId, groupId);
  await raiseVersion(tx, accountId);
}

/**
 * Turns a managed group into a manual one. If it keeps its externalId, pushes and files can still refer to it, but a list that
 * contains it is refused. Without it, such a list creates another group.
 */
export async function releaseGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  { keepExternalId }: { keepExternalId: boolean },
): Promise<void> {
  const group = await lockGroup(tx, accountId, groupId);
  if (!group.managed) throw changedSince();
  const externalId = keepExternalId ? group.externalId : null;
  await updateGroupManaged(tx, accountId, groupId, { managed: false, externalId });
  await raiseVersion(tx, accountId);
}

/** Locks the account and returns the group. */
async function lockGroup(tx: Transaction, accountId: AccountId, groupId: number): Promise<GroupRow> {
  await lockAccount(tx, accountId);
  const group = await selectGroup(tx, accountId, groupId);
  if (!group) throw groupNotFound();
  return group;
}

function refuseFields({ name, description = null, externalId = null }: Partial<GroupFields>): void {
  if (name !== undefined) refuseField('/name', nameFault('name', name));
  if (description !== null) {
    refuseField('/description', lengthFault('description', description, maxDescriptionLength));
  }
  if (externalId !== null) refuseField('/externalId', externalIdFault(externalId));
}

async function refuseTaken(tx: Transaction, accountId: AccountId, externalId: string | null): Promise<void> {
  if (externalId === null || !(await selectExternalIdTaken(tx, accountId, externalId))) return;
  const message = `A group with the externalId "${externalId}" already exists. Choose another externalId.`;
  throw faultAtField('conflict', 'externalId taken', '/externalId', message);
}

function refuseDeep(nodes: readonly { id: number; parentId: number | null }[]): void {
  if (treeFaults(nodes, maxTreeDepth).tooDeep.length === 0) return;
  throw faultAtField(
    'invalid',
    'too deep',
    '/parentId',
    `The group hierarchy can have at most ${maxTreeDepth} levels. Choose a parent on a higher level.`,
  );
}
