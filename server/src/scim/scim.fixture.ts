// What the tests of SCIM share: the service, requests of a directory, and the people and groups that come of them.
import type { JsonObject } from '../base/json/json.ts';
import { afterAll, beforeAll } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { applyDirectory } from './applying/apply.ts';
import { enterpriseSchema, groupSchema, userSchema } from './protocol/schemas.ts';

export let world: World;

/** Starts a service for a test file, and stops it at its end. `smtpUrl`: its mail server. */
export function useService(smtpUrl: () => Promise<string | undefined> = async () => undefined): void {
  beforeAll(async () => {
    const url = await smtpUrl();
    world = await openWorld(undefined, {
      appliesDirectories: false,
      ...(url !== undefined && { smtpUrl: url }),
    });
  });
  afterAll(() => world.close());
}

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of many shapes, which tests compare
export type ScimBody = any;
export type ScimResponse = { status: number; headers: Headers; body: ScimBody };

/** A directory: an account with a token that has only the scim scope. */
export type TestDirectory = {
  account: TestAccount;
  token: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimResponse>;
  /** Creates a user or group and returns its id. */
  create(type: 'Users' | 'Groups', resource: object): Promise<string>;
  /** Applies what has changed, `minutes` later. */
  apply(minutes?: number): Promise<void>;
};

export async function openDirectory(): Promise<TestDirectory> {
  const account = await world.account();
  const { token } = await createToken(world.pool, account.id, { name: 'directory', scopes: ['scim'] });
  const send: TestDirectory['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${world.address}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : (JSON.parse(text) as ScimBody),
    };
  };
  return {
    account,
    token,
    send,
    async create(type, resource) {
      const { status, body } = await send('POST', `/${type}`, resource);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return (body as { id: string }).id;
    },
    async apply(minutes = 0) {
      const now = Date.now() + minutes * 60_000;
      while ((await applyDirectory(world.pool, account.id, now, deleteGroupResults)).isMore);
    },
  };
}

/** Returns a user as directories send it. */
export const userOf = (name: string, more: JsonObject = {}, enterprise: JsonObject = {}): JsonObject => ({
  schemas: [userSchema, enterpriseSchema],
  userName: `${name}@example.com`,
  externalId: `ext-${name}`,
  name: { givenName: name, familyName: 'Person' },
  emails: [{ type: 'work', primary: true, value: `${name}@example.com` }],
  active: true,
  ...more,
  ...(Object.keys(enterprise).length > 0 && { [enterpriseSchema]: enterprise }),
});

/** Returns a group with these members. */
export const groupOf = (displayName: string, members: string[] = []): JsonObject => ({
  schemas: [groupSchema],
  displayName,
  members: members.map((value) => ({ value })),
});

/** Returns a PATCH request. */
export const patchOf = (...operations: object[]): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});

export type Person = {
  name: string;
  email: string | null;
  active: boolean;
  bySource: string;
  groups: string[];
  owns: string[];
};

/** Returns the people of an account by their first names, apart from its first administrator. */
export async function peopleOf(accountId: number): Promise<Record<string, Person>> {
  const rows = await world.pool<Person[]>`
    select u.first_name as "name", u.email as "email", u.active as "active",
           case when u.by_scim then 'scim' when u.managed then 'push' else 'manual' end as "bySource",
           coalesce(array_agg(g.name order by g.name) filter (where m.kind = 'memberOf'), '{}') as "groups",
           coalesce(array_agg(g.name order by g.name) filter (where m.kind = 'adminOf'), '{}')  as "owns"
    from   users u
    left   join memberships m on m.account_id = u.account_id and m.user_id = u.user_id
    left   join groups g on g.account_id = m.account_id and g.group_id = m.group_id
    where  u.account_id = ${accountId} and u.first_name <> 'Ada'
    group  by u.account_id, u.user_id`;
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}

/** Returns the groups of an account by name, each with the name of its parent. */
export async function groupTree(accountId: number): Promise<Record<string, string | null>> {
  const rows = await world.pool<{ name: string; parent: string | null }[]>`
    select g.name as "name", p.name as "parent"
    from   groups g
    left   join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
    where  g.account_id = ${accountId}`;
  return Object.fromEntries(rows.map(({ name, parent }) => [name, parent]));
}

export type RunOf = {
  id: string;
  outcome: string;
  summary: { users: { created: number; updated: number; deleted: number } };
};

/** Returns the runs of the directory, newest first. */
export async function directoryRuns(accountId: number): Promise<RunOf[]> {
  return world.pool<RunOf[]>`
    select run_id::text as "id", outcome as "outcome", summary as "summary"
    from   runs where account_id = ${accountId} and source = 'scim' order by run_id desc`;
}
