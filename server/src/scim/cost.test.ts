// What a request costs does not depend on how many users and groups the account has, also before the tables have statistics: PostgreSQL must
// find a resource only by an index that leads to it.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Transaction } from '../db/db.ts';
import { deleteScimGroup, insertScimGroup, lockScimGroup, selectScimGroups } from './groups.sql.ts';
import { changeScimMembers } from './members.sql.ts';
import { openDirectory, useService, world } from './scim.fixture.ts';
import {
  deleteScimUser,
  insertScimUser,
  selectScimUser,
  selectScimUsers,
  updateScimUser,
} from './users.sql.ts';

useService();

/** Returns how many rows and entries of indexes the connection has read in the tables of directories. */
async function readIn(tx: Transaction): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    with tables as (select oid from pg_class where relname in ('scim_users', 'scim_groups', 'scim_members'))
    select (sum(pg_stat_get_xact_tuples_returned(oid))
            + (select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid in (select oid from tables))
           )::integer as count
    from   tables`;
  return row!.count;
}

test('a request reads a few rows of 3,000, with statements that were planned when there were none', async () => {
  const { account } = await openDirectory();
  const { id: accountId } = account;
  const counts: [string, number][] = [];
  await world.pool
    .begin(async (tx) => {
      const [row] = await tx<{ id: number }[]>`
        insert into tokens (account_id, name, scopes) values (${accountId}, 'x', '{scim}') returning token_id as id`;
      const tokenId = row!.id;
      const all = () => requestsOf(tx, { accountId, tokenId });
      for (let i = 0; i < 10; i++) for (const [, run] of await all()) await run();
      await fill(tx, accountId);
      for (const [what, run] of await all()) {
        const before = await readIn(tx);
        await run();
        counts.push([what, (await readIn(tx)) - before]);
      }
      throw new Error('undo');
    })
    .catch((error: Error) => {
      if (error.message !== 'undo') throw error;
    });
  // PostgreSQL 15 has another plan for a search while the tables have no statistics, and reads all names.
  const [version] = await world.pool<{ number: number }[]>`
    select current_setting('server_version_num')::integer as number`;
  const isOld = version!.number < 160_000;
  const measured = counts.filter(([what]) => !(isOld && what.startsWith('finds ')));
  expect(measured.filter(([, count]) => count > 50)).toEqual([]);
  expect(new Map(counts).get('reads a user')).toBeGreaterThan(0);
});

/** Adds 3,000 users, and 3,000 groups with two members each. */
async function fill(tx: Transaction, accountId: number): Promise<void> {
  await tx`
    insert into scim_users (account_id, scim_id, user_name, user_name_key, external_id, display_name_key, email_keys, active,
                            resource, person_key)
    select ${accountId}, id, n, n, n, 'same', array[n], true, '{}', id
    from   (select gen_random_uuid() as id, 'many' || i as n from generate_series(1, 3000) i) s`;
  await tx`
    insert into scim_groups (account_id, scim_id, display_name_key, resource)
    select ${accountId}, gen_random_uuid(), 'many' || i, '{"displayName": "x"}' from generate_series(1, 3000) i`;
  await tx`
    insert into scim_members (account_id, group_id, member_id)
    select account_id, scim_id, m from scim_groups, unnest(array[scim_id::text, 'someone']) m where account_id = ${accountId}`;
}

type Scene = { accountId: number; tokenId: number };

/** Returns the statements of requests. Creates the user and the groups that they are about, and deletes them at the end. */
async function requestsOf(
  tx: Transaction,
  { accountId, tokenId }: Scene,
): Promise<[string, () => Promise<unknown>][]> {
  const [id, group, other] = [randomUUID(), randomUUID(), randomUUID()];
  const name = `user-${id}`;
  const user = {
    userName: name,
    userNameKey: name,
    externalId: null,
    displayNameKey: name,
    emailKeys: [name],
    active: true,
    managerId: null,
    tokenId,
    resource: {},
  };
  const groupColumns = { externalId: null, displayNameKey: group, resource: { displayName: 'x' }, tokenId };
  const page = { offset: 0, limit: 100 };
  const members = [{ id, display: null }];
  return [
    ['creates a user', () => insertScimUser(tx, accountId, id, user)],
    ['creates a group', () => insertScimGroup(tx, accountId, group, groupColumns)],
    ['creates another group', () => insertScimGroup(tx, accountId, other, groupColumns)],
    ['adds', () => changeScimMembers(tx, accountId, group, { action: 'add', members }, tokenId)],
    ['adds again', () => changeScimMembers(tx, accountId, group, { action: 'add', members }, tokenId)],
    ['reads a user', () => selectScimUser(tx, accountId, id, true)],
    ['locks a group', () => lockScimGroup(tx, accountId, group)],
    ['finds a user', () => selectScimUsers(tx, accountId, { userName: [name], isExact: true }, page, true)],
    ['finds a group', () => selectScimGroups(tx, accountId, { displayName: [group], isExact: true }, page)],
    ['changes a user', () => updateScimUser(tx, accountId, { id, revision: 1 }, user)],
    ['removes', () => changeScimMembers(tx, accountId, group, { action: 'remove', members }, tokenId)],
    ['deletes a user', () => deleteScimUser(tx, accountId, id, { revision: null, tokenId })],
    ['deletes a group', () => deleteScimGroup(tx, accountId, group, { revision: null, tokenId })],
    ['creates it again', () => insertScimUser(tx, accountId, randomUUID(), user)],
  ];
}
