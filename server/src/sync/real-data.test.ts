// Real organizations are pushed over HTTP, listed, and pushed again.
import type { OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noLimits, rowsOf } from '../testing/organizations.ts';
import { sharedData } from '../testing/shared.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const organizations = [
  { file: 'org/ror-world.json.gz', groups: 14_237, users: 0, memberships: 0, compressed: true },
  {
    file: 'org/her_majestys_revenue_and_customs-2011-03-31.clean.json.gz',
    groups: 6_064,
    users: 17_563,
    memberships: 17_909,
    compressed: false,
  },
];

type Data = { groups: OrganizationGroup[]; users?: User[] };

function read(file: string): Data {
  const path = sharedData(file) as string;
  return (JSON.parse(gunzipSync(readFileSync(path)).toString()) as { data: Data }).data;
}

function push(account: TestAccount, data: Data, compressed: boolean) {
  const body = JSON.stringify({ settings: { ...noLimits, validateOnly: false }, data });
  return compressed ? account.push(gzipSync(body), { 'content-encoding': 'gzip' }) : account.push(body);
}

/** Returns the externalIds of all subgroups of each group, from the parents in the file. */
function descendantsOf(groups: OrganizationGroup[]): Map<string, string[]> {
  const children = new Map<string, string[]>(groups.map(({ externalId }) => [externalId, []]));
  for (const { externalId, parent } of groups) if (parent) children.get(parent)?.push(externalId);
  const walk = (externalId: string): string[] =>
    (children.get(externalId) ?? []).flatMap((child) => [child, ...walk(child)]);
  return new Map(groups.map(({ externalId }) => [externalId, walk(externalId)]));
}

describe.each(organizations)('$file', ({ file, groups, users, memberships, compressed }) => {
  const absent = sharedData(file) === undefined;
  const skipped = absent ? ' (skipped: the shared data are absent)' : '';

  test.skipIf(absent)(
    `stores groups, tree, users and memberships as sent, and changes nothing when they are sent again${skipped}`,
    async () => {
      const account = await world.account();
      const data = read(file);
      const response = await push(account, data, compressed);
      expect(response.status).toBe(200);
      expect(response.body).toMatchObject({
        applied: true,
        summary: {
          groups: { created: groups, updated: 0, deleted: 0, unchanged: 0 },
          users: { created: users, updated: 0, deleted: 0, unchanged: 0 },
        },
        warnings: [],
      });
      expect(response.body.changes).toHaveLength(groups + users);

      const listed = await account.groups();
      const ids = new Map(listed.map(({ id, externalId }) => [externalId, id]));
      const tree = descendantsOf(data.groups);
      const sent = data.groups.map(({ externalId, name, description }) => ({
        id: ids.get(externalId),
        externalId,
        name,
        ...(typeof description === 'string' && { description }),
        subgroups: tree
          .get(externalId)
          ?.map((one) => ids.get(one) as number)
          .toSorted((a, b) => a - b),
      }));
      expect(listed).toEqual(sent.toSorted((a, b) => (a.id as number) - (b.id as number)));

      const stored = await world.pool<{ entry: string }[]>`
        select u.external_id || ' ' || m.kind || ' ' || g.external_id as entry
        from   memberships m
        join   users u using (account_id, user_id)
        join   groups g using (account_id, group_id)
        where  m.account_id = ${account.id}`;
      const wanted = (data.users ?? []).flatMap(({ externalId, accessInfo }) =>
        (['memberOf', 'adminOf'] as const).flatMap((kind) =>
          (accessInfo?.[kind] ?? []).map((group) => `${externalId} ${kind} ${group}`),
        ),
      );
      expect(wanted).toHaveLength(memberships);
      expect(stored.map(({ entry }) => entry).toSorted()).toEqual(wanted.toSorted());
      const people = await world.pool`
        select external_id as "externalId", first_name as "firstName", last_name as "lastName", email, role
        from   users where account_id = ${account.id} and managed order by user_id`;
      expect([...people]).toEqual(
        (data.users ?? []).map(({ externalId, firstName, lastName, email, accessInfo }) => ({
          externalId,
          firstName,
          lastName,
          email: email ?? null,
          role: accessInfo?.role ?? 'User',
        })),
      );

      const before = await rowsOf(world.pool, account.id);
      const again = await push(account, data, !compressed);
      expect(again.body.changes).toEqual([]);
      expect(again.body.summary).toEqual({
        groups: { created: 0, updated: 0, deleted: 0, unchanged: groups },
        users: { created: 0, updated: 0, deleted: 0, unchanged: users },
      });
      expect((await rowsOf(world.pool, account.id)).join('\n') === before.join('\n')).toBe(true);
    },
  );

  test.skipIf(absent)(
    `is removed completely by two empty lists, and created again completely${skipped}`,
    async () => {
      const account = await world.account();
      const data = read(file);
      await push(account, data, compressed);
      const emptied = await push(account, { groups: [], users: [] }, false);
      expect(emptied.body.summary).toMatchObject({ groups: { deleted: groups }, users: { deleted: users } });
      expect(await account.groups()).toEqual([]);
      const again = await push(account, data, compressed);
      expect(again.body.summary).toMatchObject({ groups: { created: groups }, users: { created: users } });
      expect(await account.groups()).toHaveLength(groups);
    },
  );
});
