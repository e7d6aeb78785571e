// What the tests of organization requests share: the service, requests that must be refused, manual changes, and queries of
// the stored state.
import { Report } from '@soundings/contract/organization.ts';
import { Problem, type Detail } from '@soundings/contract/problem.ts';
import { pino } from 'pino';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { noLimits, rowsOf } from '../testing/organizations.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

export let world: World;
export const logged: string[] = [];

/** Starts a service for a test file, and stops it at its end. */
export function useService(): void {
  beforeAll(async () => {
    logged.length = 0;
    world = await openWorld(pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }));
  });
  afterAll(() => world.close());
}

export const reportCheck = Compile(Report);
export const problemCheck = Compile(Problem);
export const settings = { validateOnly: false };
export const sixLimits = Object.keys(noLimits) as (keyof typeof noLimits)[];
export const administrator = { accessInfo: { role: 'Administrator' } };

/** Pushes a request that must be refused with 400 and the error body, without writing a row. Returns the details. */
export async function refused(account: TestAccount, body: unknown): Promise<Detail[]> {
  const before = await rowsOf(world.pool, account.id);
  const response = await account.push(body);
  expect({ status: response.status, body: response.body }).toMatchObject({ status: 400 });
  expect([...problemCheck.Errors(response.body)]).toEqual([]);
  expect(response.body.id).toBe(response.headers.get('x-request-id'));
  expect(response.body.message).toContain('Nothing was applied');
  expect(response.body.details.length).toBeGreaterThan(0);
  expect(await rowsOf(world.pool, account.id)).toEqual(before);
  return response.body.details;
}

/** Like `refused`, with validateOnly: false. */
export const refusedData = (account: TestAccount, data: object, more: object = {}) =>
  refused(account, { settings: { ...settings, ...more }, data });

/** Makes the managed administrators the only ones: they are confirmed, and the others are deactivated. */
export const onlyManagedAdministrators = async ({ id }: TestAccount) =>
  world.pool`update users set role_pending = false, active = active and managed where account_id = ${id}`;

export const createManually = {
  group: (account: TestAccount, group: { name: string; externalId?: string; parentId?: number }) =>
    inTransaction(world.pool, (tx) => createGroup(tx, account.id, group)),
  user: (
    account: TestAccount,
    { memberOf = [], ...user }: { externalId?: string; email?: string; memberOf?: number[] },
  ) =>
    inTransaction(world.pool, (tx) =>
      createUser(tx, account.id, {
        firstName: 'By',
        lastName: 'Hand',
        ...user,
        memberships: { memberOf },
      }),
    ),
  attribute: (account: TestAccount, name: string, allowedValues: string[] | null = null) =>
    inTransaction(world.pool, (tx) => defineAttribute(tx, account.id, { name, allowedValues })),
};

export async function userOf(account: TestAccount, externalId: string) {
  const [row] = await world.pool`
    select first_name, last_name, email, phone, active, timezone, language, role, attributes
    from   users where account_id = ${account.id} and external_id = ${externalId}`;
  return row;
}

/** Returns the externalIds of the managed users. */
export const userIds = async (account: TestAccount) =>
  (
    await world.pool`
      select external_id from users where account_id = ${account.id} and managed order by external_id`
  ).map((row) => row['external_id'] as string);

/** Returns all groups by name, each with the name of its parent. */
export async function tree(account: TestAccount): Promise<Record<string, string | null>> {
  const rows = await world.pool<{ name: string; parent: string | null }[]>`
    select g.name, p.name as parent
    from   groups g
    left   join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
    where  g.account_id = ${account.id}`;
  return Object.fromEntries(rows.map(({ name, parent }) => [name, parent]));
}

/** Returns the memberships of a user as "kind: group names". */
export async function entries(account: TestAccount, externalId: string): Promise<string[]> {
  const rows = await world.pool<{ entry: string }[]>`
    select m.kind || ': ' || string_agg(g.name, ' ' order by g.name) as entry
    from   memberships m
    join   users u using (account_id, user_id)
    join   groups g using (account_id, group_id)
    where  m.account_id = ${account.id} and u.external_id = ${externalId}
    group  by m.kind
    order  by 1`;
  return rows.map(({ entry }) => entry);
}

export const runOf = async (account: TestAccount, id: string) =>
  (await world.pool`select * from runs where account_id = ${account.id} and run_id = ${id}`)[0];

export const byPath = (a: unknown[], b: unknown[]) => (String(a[1]) < String(b[1]) ? -1 : 1);

export const list = (count: number, prefix: string, make: (id: string) => object) =>
  Array.from({ length: count }, (_, i) => make(`${prefix}${i}`));
