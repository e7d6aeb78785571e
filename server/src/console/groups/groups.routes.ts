// The console: the group tree and manual changes to it, and the account's attributes.
import type {
  AttributeRow,
  GroupDetails,
  LastPush,
  MovePlan,
  Named,
  RemovalPlan,
} from '@soundings/contract/console/groups.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import { changedSince } from '../../base/errors.ts';
import { inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import {
  changeAttribute,
  createAttribute,
  removeAttribute,
  disallowedValues,
} from '../../people/attributes.changes.ts';
import { groupNotFound } from '../../people/faults.ts';
import {
  adoptGroup,
  changeGroup,
  createGroup,
  moveGroup,
  planMove,
  releaseGroup,
  removeGroup,
} from '../../people/groups.ts';
import { selectGroup } from '../../people/groups.sql.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { readGroups } from '../results/reading.ts';
import { foundIn, optionsIn, subgroupsIn, treeOf } from './seen-tree.ts';
import type { Trees } from './trees.ts';
import { openGroups } from './open-groups.ts';
import {
  type AskingSchedule,
  type GroupHead,
  selectAdministratorsOnlyOf,
  selectAttributeRows,
  selectGroupFacts,
  selectHolders,
  selectLastPush,
  selectGroupsAround,
  selectTopGroups,
  selectPeopleOf,
  selectSchedulesOfGroups,
} from './groups.sql.ts';
import { idIn } from '../core/ids.ts';

/** How many people of each kind of membership the page of a group names, and how many disallowed values an attribute lists. */
const [holdersShown, straysShown] = [8, 50];

export function serveConsoleGroups(console: Console, pool: Promise<Pool>, trees: Trees): void {
  serveTree(console, pool, trees);
  console.serve('GET /groups/{groupId}', async (who, { params }) =>
    detailsFor(await pool, who, trees, idIn(params.groupId)),
  );
  console.serve('GET /groups/{groupId}/move', async (who, { params, query }) =>
    movePlanFor(await pool, who, trees, {
      groupId: idIn(params.groupId),
      parentId: query.parentId ? Number(query.parentId) : null,
    }),
  );
  console.serve('GET /groups/{groupId}/removal', async (who, { params }) =>
    removalPlanFor(await pool, who, idIn(params.groupId)),
  );
  serveChanges(console, pool);
  serveHandovers(console, pool);
  serveAttributes(console, pool);
}

function serveTree(console: Console, pool: Promise<Pool>, trees: Trees): void {
  console.serve('GET /groups/tree', async (who) => treeOf(await trees.of(await pool, who)));
  console.serve('GET /groups/{groupId}/subgroups', async (who, { params }) =>
    subgroupsIn(await trees.of(await pool, who), idIn(params.groupId)),
  );
  console.serve('GET /groups/found', async (who, { query }) =>
    foundIn(await trees.of(await pool, who), query.search),
  );
  console.serve('GET /groups/options', async (who, { query: { search, ids } }) =>
    optionsIn(await trees.of(await pool, who), search ?? '', ids?.split(',').map(Number)),
  );
}

function serveChanges(console: Console, pool: Promise<Pool>): void {
  console.serve('POST /groups', async (who, { body }) =>
    inTransaction(await pool, async (tx) => {
      const id = await createGroup(tx, who.accountId, withoutEmpty(body));
      const details = { name: body.name, parentId: body.parentId ?? null };
      await audit(tx, who.accountId, actorOf(who), 'group created', { subject: id, details });
      return { id };
    }),
  );
  console.serve('PATCH /groups/{groupId}', async (who, { params, body }) => {
    const groupId = idIn(params.groupId);
    await inTransaction(await pool, async (tx) => {
      const fields = await changeGroup(tx, who.accountId, groupId, withoutEmpty(body));
      if (fields.length === 0) return;
      await audit(tx, who.accountId, actorOf(who), 'group changed', {
        subject: groupId,
        details: { fields },
      });
    });
  });
  console.serve('POST /groups/{groupId}/move', async (who, { params, body }) => {
    const groupId = idIn(params.groupId);
    await inTransaction(await pool, async (tx) => {
      if (!(await moveGroup(tx, who.accountId, groupId, body))) return;
      const details = { from: body.from, to: body.parentId };
      await audit(tx, who.accountId, actorOf(who), 'group moved', { subject: groupId, details });
    });
  });
  console.serve('DELETE /groups/{groupId}', async (who, { params, query }) => {
    const groupId = idIn(params.groupId);
    await inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      await refuseOtherWeeks(tx, who, groupId, Number(query.weeks));
      const movedUp = await removeGroup(tx, who.accountId, groupId, deleteGroupResults);
      const details = { movedUp };
      await audit(tx, who.accountId, actorOf(who), 'group removed', { subject: groupId, details });
    });
  });
}

/** Reads a group from a request body: an empty description or externalId means none. */
const withoutEmpty = <T>({
  description,
  externalId,
  ...others
}: T & { description?: string; externalId?: string }) => ({
  ...others,
  ...(description !== undefined && { description: description || null }),
  ...(externalId !== undefined && { externalId: externalId || null }),
});

/** Throws a Fault if the number of weeks for which an existing group has results differs from the number that was shown. */
async function refuseOtherWeeks(tx: Transaction, { accountId }: Who, groupId: number, shown: number) {
  const facts = await selectGroupFacts(tx, accountId, groupId, []);
  if (!facts || facts.weeks === shown) return;
  throw changedSince('The results of this group have changed');
}

function serveHandovers(console: Console, pool: Promise<Pool>): void {
  console.serve('POST /groups/{groupId}/adopt', async (who, { params, body }) => {
    const groupId = idIn(params.groupId);
    await inTransaction(await pool, async (tx) => {
      await adoptGroup(tx, who.accountId, groupId, body.externalId || null);
      await audit(tx, who.accountId, actorOf(who), 'group adopted', { subject: groupId, details: body });
    });
  });
  console.serve('POST /groups/{groupId}/release', async (who, { params, body }) => {
    const groupId = idIn(params.groupId);
    await inTransaction(await pool, async (tx) => {
      await releaseGroup(tx, who.accountId, groupId, body);
      await audit(tx, who.accountId, actorOf(who), 'group released', { subject: groupId, details: body });
    });
  });
}

function serveAttributes(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /attributes', async (who): Promise<{ attributes: AttributeRow[] }> => ({
    attributes: await selectAttributeRows(await pool, who.accountId),
  }));
  console.serve('POST /attributes/strays', async (who, { body }) => {
    const values = await disallowedValues(await pool, who.accountId, body.name, body.allowedValues);
    const people = values.reduce((sum, one) => sum + one.people, 0);
    return { people, values: values.slice(0, straysShown) };
  });
  console.serve('POST /attributes', async (who, { body }) =>
    inTransaction(await pool, async (tx) => {
      await createAttribute(tx, who.accountId, body);
      const details = { allowedValues: body.allowedValues?.length ?? null };
      await audit(tx, who.accountId, actorOf(who), 'attribute defined', { subject: body.name, details });
    }),
  );
  console.serve('PATCH /attributes', async (who, { body }) =>
    inTransaction(await pool, async (tx) => {
      await changeAttribute(tx, who.accountId, body);
      const details = { allowedValues: body.allowedValues?.length ?? null };
      await audit(tx, who.accountId, actorOf(who), 'attribute changed', { subject: body.name, details });
    }),
  );
  console.serve('DELETE /attributes', async (who, { query: { name } }) =>
    inTransaction(await pool, async (tx) => {
      const people = await removeAttribute(tx, who.accountId, name);
      const details = { people };
      await audit(tx, who.accountId, actorOf(who), 'attribute removed', { subject: name, details });
      return { people };
    }),
  );
}

async function detailsFor(db: Pool, who: Who, trees: Trees, groupId: number): Promise<GroupDetails> {
  const { accountId } = who;
  const [groups, group] = await Promise.all([
    readGroups(db, who, [groupId]),
    selectGroup(db, accountId, groupId),
  ]);
  if (!group || !groups.byId.has(groupId)) throw groupNotFound();
  const above = groups.above(groupId);
  const [facts, holders, schedules, lastPush, people, isOnly] = await Promise.all([
    selectGroupFacts(db, accountId, groupId, groups.allAbove(groupId)),
    selectHolders(db, accountId, groupId, holdersShown),
    selectSchedulesOfGroups(db, accountId),
    selectLastPush(db, accountId),
    trees.peopleIn(db, who, groupId),
    isOnlyGroup(db, who),
  ]);
  const { name, description, externalId, managed } = group;
  return {
    id: groupId,
    name,
    description,
    externalId,
    managed,
    ...facts,
    createdAt: facts.createdAt.toISOString(),
    path: above,
    parentId: above.at(-1)?.id ?? null,
    people,
    isOnly,
    holders,
    schedules: schedules.filter((one) => names(one, groupId)).map(asNamed),
    lastPush,
  };
}

const isOnlyGroup = async (db: Pool, who: Who): Promise<boolean> =>
  ((await openGroups(db, who))?.size ?? (await selectTopGroups(db, who.accountId)).count) === 1;

async function movePlanFor(
  db: Pool,
  who: Who,
  trees: Trees,
  { groupId, parentId }: { groupId: number; parentId: number | null },
): Promise<MovePlan> {
  const { accountId } = who;
  const { from, descendants, above } = await planMove(db, accountId, groupId, parentId);
  const gains = above.after.filter((id) => !above.before.includes(id));
  const loses = above.before.filter((id) => !above.after.includes(id));
  const [groups, people, schedules, lastPush, seeing, losing] = await Promise.all([
    selectGroupsAround(db, accountId, parentId === null ? [groupId] : [groupId, parentId]),
    trees.peopleIn(db, who, groupId),
    selectSchedulesOfGroups(db, accountId),
    selectLastPush(db, accountId),
    selectAdministratorsOnlyOf(db, accountId, gains, [groupId, ...above.before]),
    selectAdministratorsOnlyOf(db, accountId, loses, [groupId, ...above.after]),
  ]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const namesOf = (ids: number[]) => ids.map((id) => named(byId, id)).filter((one) => one !== null);
  const [before, after] = [
    [groupId, ...above.before],
    [groupId, ...above.after],
  ];
  return {
    from: named(byId, from),
    to: named(byId, parentId),
    groups: descendants.length,
    people,
    gains: namesOf(gains),
    loses: namesOf(loses),
    administrators: { gains: seeing, loses: losing },
    schedules: {
      includes: schedules.filter((one) => !asks(one, before) && asks(one, after)).map(asNamed),
      excludes: schedules.filter((one) => asks(one, before) && !asks(one, after)).map(asNamed),
    },
    putBack: putBackBy(lastPush, byId.get(groupId)),
  };
}

/** Whether a schedule asks the members of a group; `path`: the group and the groups above it. */
const asks = ({ groupIds, withoutGroupIds }: AskingSchedule, path: number[]) =>
  path.some((id) => groupIds.includes(id)) && !path.some((id) => withoutGroupIds.includes(id));

const putBackBy = (lastPush: LastPush | null, group: GroupHead | undefined): LastPush | null =>
  group?.managed && lastPush?.setsTree !== false ? lastPush : null;

async function removalPlanFor(db: Pool, who: Who, groupId: number): Promise<RemovalPlan> {
  const { accountId } = who;
  const groups = await selectGroupsAround(db, accountId, [groupId]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const group = byId.get(groupId);
  if (!group) throw groupNotFound();
  const [{ weeks }, people, schedules] = await Promise.all([
    selectGroupFacts(db, accountId, groupId, []),
    selectPeopleOf(db, accountId, groupId),
    selectSchedulesOfGroups(db, accountId),
  ]);
  return {
    weeks,
    people,
    movesUp: groups.filter(({ parentId }) => parentId === groupId).map(({ id, name }) => ({ id, name })),
    to: named(byId, group.parentId),
    schedules: schedules
      .filter((one) => names(one, groupId))
      .map(({ id, name, groupIds }) => ({ id, name, only: groupIds.every((one) => one === groupId) })),
  };
}

const names = ({ groupIds, withoutGroupIds }: AskingSchedule, groupId: number) =>
  groupIds.includes(groupId) || withoutGroupIds.includes(groupId);

const asNamed = ({ id, name }: Named): Named => ({ id, name });

function named(byId: ReadonlyMap<number, GroupHead>, id: number | null): Named | null {
  const group = id === null ? undefined : byId.get(id);
  return group ? asNamed(group) : null;
}
