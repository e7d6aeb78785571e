// The sandbox of an administrator: what is in it, that it is used like any account, and how it is reset and deleted.
import type { SandboxView } from '@soundings/contract/sandbox/sandbox.ts';
import { addWeeks, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callerBySftp, stillValid } from '../../accounts/sftp-callers.ts';
import { openLog } from '../../base/log.ts';
import { selectAccountTables } from '../../db/account-rows.ts';
import { templateMonday } from '../../demo/template.ts';
import { copiedTables, emptyTables } from '../../sandboxes/copied-tables.ts';
import {
  type Administrator,
  afterGrace,
  newAdministrator,
  newSandbox,
  pushOne,
  readySandbox,
  reset,
  sandboxSeen,
  tendNow,
  uploadOne,
  writeScimUser,
} from '../../sandboxes/sandboxes.fixture.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

let world: World;
let now = Date.parse('2026-11-25T12:00:00Z');
beforeAll(async () => {
  world = await openWorld(openLog('error'), { sandboxWeeks: 2 } as never, () => now);
});
afterAll(() => world.close());

const read = (path: string, token: string) =>
  world.request<unknown>('GET', path, { headers: { authorization: token } });

const statusOf = async (path: string, token: string) => (await read(path, token)).status;

const actionsOf = async (accountId: number) =>
  (
    await world.pool<{ action: string; subject: string }[]>`
      select action from audit_entries where account_id = ${accountId} and action like 'sandbox%' order by entry_id`
  ).map(({ action }) => action);

describe('what is in a sandbox', () => {
  test('the demo company, whose weeks end with last week, with the same figures in every sandbox and at any time', async () => {
    const first = await newSandbox(await newAdministrator(world));
    const weekOfFirst = weekOf(new Date(now).toISOString().slice(0, 10));
    const feed = (await read('/v1/feed', first.token)).body as string;
    now += 21 * 86_400_000;
    const second = await newSandbox(await newAdministrator(world));
    const later = (await read('/v1/feed', second.token)).body as string;
    now -= 21 * 86_400_000;
    expect(feed.split('\n').length).toBeGreaterThan(500);
    for (const back of [1, 2]) expect(feed).toContain(weekName(addWeeks(weekOfFirst, -back)));
    const moved = [1, 2].reduce((text, back) => {
      const [from, to] = [addWeeks(weekOfFirst, -back), addWeeks(weekOfFirst, 3 - back)];
      return text.replaceAll(from, to).replaceAll(weekName(from), weekName(to));
    }, feed);
    expect(moved).toBe(later);
    expect(templateMonday < weekOfFirst).toBe(true);
  });

  test('for each table it is decided whether its rows are copied from the template', async () => {
    const tables = (await selectAccountTables(world.pool)).map(({ name }) => name).toSorted();
    expect([...copiedTables, ...emptyTables].toSorted()).toEqual(tables);
  });

  test('no run, no file, and an audit log that begins with its creation', async () => {
    const { accountId, token } = await newSandbox(await newAdministrator(world));
    const rows = await world.pool`
      select (select count(*)::integer from runs where account_id = ${accountId})  as "runs",
             (select count(*)::integer from files where account_id = ${accountId}) as "files"`;
    expect([...rows]).toEqual([{ runs: 0, files: 0 }]);
    const actions = await world.pool<{ action: string }[]>`
      select action from audit_entries where account_id = ${accountId} order by entry_id`;
    expect(actions.map(({ action }) => action)).toEqual(['account created', 'token created']);
    expect(await statusOf('/v1/audit', token)).toBe(200);
  });
});

describe('POST /sandbox', () => {
  test('returns a token with only the chosen scopes, which works over HTTPS and SFTP', async () => {
    const { token, sftpUsername, scopes } = await newSandbox(await newAdministrator(world), ['files']);
    expect(scopes).toEqual(['files']);
    expect(await statusOf('/v1/storage/files', token)).toBe(200);
    expect(await statusOf('/v1/groups', token)).toBe(403);
    expect(await callerBySftp(world.pool, sftpUsername as string, token)).toBeDefined();
  });

  test('409: the administrator has one already, whatever its state, and keeps it', async () => {
    const administrator = await newAdministrator(world);
    const scopes = ['data'];
    const answers = await Promise.all(
      [1, 2, 3].map(() => administrator.request<{ token: string }>('POST /sandbox', { scopes })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await readySandbox(administrator);
    expect((await administrator.request('POST /sandbox', { scopes })).status).toBe(409);
    const { token = '' } = answers.find(({ status }) => status === 200)?.body ?? {};
    expect(await statusOf('/v1/groups', token)).toBe(200);
  });

  test('400: no scope, or an unknown one', async () => {
    const { request } = await newAdministrator(world);
    for (const scopes of [[], ['everything'], undefined])
      expect((await request('POST /sandbox', { scopes })).status).toBe(400);
  });

  test('429: created or reset more than ten times within an hour, also if it is deleted in between', async () => {
    const administrator = await newAdministrator(world);
    const { request } = administrator;
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      statuses.push((await request('POST /sandbox', { scopes: ['data'] })).status);
      await request('DELETE /sandbox');
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(await sandboxSeen(administrator)).toBeNull();
  });
});

describe('POST /sandbox/reset', () => {
  test('everything is as in the beginning, with the same token and SFTP user name, and open SFTP sessions end', async () => {
    const administrator = await newAdministrator(world);
    const { token, accountId, sftpUsername } = await newSandbox(administrator);
    const before = (await read('/v1/groups', token)).body;
    expect((await pushOne(world, token, 'one')).status).toBe(200);
    expect((await read('/v1/groups', token)).body).not.toEqual(before);
    const session = await callerBySftp(world.pool, sftpUsername as string, token);
    const after = await reset(administrator);
    expect((await read('/v1/groups', token)).body).toEqual(before);
    expect(after.accountId).not.toBe(accountId);
    expect(after.sftpUsername).toBe(sftpUsername);
    const { accountId: old = 0, tokenId = 0 } = session ?? {};
    expect(await stillValid(world.pool, [{ accountId: old, tokenId, address: '127.0.0.1' }])).toEqual([
      'token',
    ]);
    expect(await callerBySftp(world.pool, sftpUsername as string, token)).toMatchObject({
      accountId: after.accountId,
    });
    await afterGrace(world);
    const tables = await selectAccountTables(world.pool);
    const left = await Promise.all(
      tables.map(
        ({ name }) => world.pool`select 1 from ${world.pool(name)} where account_id = ${old} limit 1`,
      ),
    );
    expect(left.flat()).toEqual([]);
    expect(await actionsOf(administrator.accountId)).toEqual(['sandbox created', 'sandbox reset']);
  });

  test('while pushes, uploads, SCIM writes and reads run, each is answered, and what was sent before the reset is gone', async () => {
    const administrator = await newAdministrator(world);
    const { token } = await newSandbox(administrator);
    const kinds = [
      (name: string) => pushOne(world, token, name),
      (name: string) => uploadOne(world, token, `${name}.csv`),
      (name: string) => writeScimUser(world, token, name),
      () => read('/v1/feed', token),
      () => read('/v1/audit', token),
    ];
    const state = { isOver: false };
    const statuses = new Set<number>();
    const refused: unknown[] = [];
    const busy = kinds.map(async (send) => {
      for (let i = 0; !state.isOver; i++) {
        const { status, body } = await send(`busy${i}`);
        statuses.add(status);
        // 404: the request began before the reset, and nothing was changed.
        if (![200, 201, 404, 409].includes(status)) refused.push({ status, body });
      }
    });
    for (let i = 0; i < 4; i++) await reset(administrator);
    state.isOver = true;
    await Promise.all(busy);
    expect(refused).toEqual([]);
    expect(statuses).toContain(200);
    const { accountId } = await reset(administrator);
    const left = await world.pool`
      select (select count(*)::integer from users where account_id = ${accountId} and last_name = 'Person') as "people",
             (select count(*)::integer from runs where account_id = ${accountId})                         as "runs",
             (select count(*)::integer from files where account_id = ${accountId})                        as "files",
             (select count(*)::integer from scim_users where account_id = ${accountId})                   as "scim"`;
    expect([...left]).toEqual([{ people: 0, runs: 0, files: 0, scim: 0 }]);
    await afterGrace(world);
  });

  test('409 while it is being reset, and 404 without a sandbox', async () => {
    const administrator = await newAdministrator(world);
    expect((await administrator.request('POST /sandbox/reset')).status).toBe(404);
    await newSandbox(administrator);
    const answers = await Promise.all([1, 2].map(() => administrator.request('POST /sandbox/reset')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    await readySandbox(administrator);
  });
});

describe('POST /sandbox/token', () => {
  test('the new token works and the old one no longer does, also after a reset', async () => {
    const administrator = await newAdministrator(world);
    const { token } = await newSandbox(administrator);
    const { body } = await administrator.request<{ token: string }>('POST /sandbox/token', {
      scopes: ['data'],
    });
    const both = async () => [await statusOf('/v1/groups', token), await statusOf('/v1/groups', body.token)];
    expect(await both()).toEqual([401, 200]);
    await reset(administrator);
    expect(await both()).toEqual([401, 200]);
    expect(await statusOf('/v1/storage/files', body.token)).toBe(403);
  });
});

describe('DELETE /sandbox', () => {
  test('the token stops working at once, and all data is deleted', async () => {
    const administrator = await newAdministrator(world);
    const { token, accountId } = await newSandbox(administrator);
    expect((await administrator.request('DELETE /sandbox')).status).toBe(204);
    expect(await statusOf('/v1/groups', token)).toBe(401);
    expect(await sandboxSeen(administrator)).toBeNull();
    await afterGrace(world);
    const left = await world.pool`select 1 from accounts where account_id = ${accountId}`;
    expect(left).toHaveLength(0);
    expect(await actionsOf(administrator.accountId)).toEqual(['sandbox created', 'sandbox deleted']);
    expect((await administrator.request('DELETE /sandbox')).status).toBe(404);
  });

  test('after 14 days without a request it is deleted by the service, and not before', async () => {
    const administrator = await newAdministrator(world);
    const { accountId } = await newSandbox(administrator);
    const age = (days: number) => world.pool`
      update sandboxes
      set    requested_at = now() - make_interval(days => ${days}), ready_at = now() - make_interval(days => ${days})
      where  sandbox_id = ${accountId}`;
    await age(13);
    await tendNow(world);
    expect(await sandboxSeen(administrator)).not.toBeNull();
    await age(15);
    await world.pool`update tokens set last_used_at = now() - interval '1 day' where account_id = ${accountId}`;
    await tendNow(world);
    expect(await sandboxSeen(administrator)).not.toBeNull();
    await world.pool`update tokens set last_used_at = now() - interval '15 days' where account_id = ${accountId}`;
    await tendNow(world);
    expect(await sandboxSeen(administrator)).toBeNull();
  });
});

describe('the number of sandboxes', () => {
  test('409: all that the installation allows are in use', async () => {
    const { pool } = world;
    const many: Administrator[] = [];
    const { id: accountId } = await world.account();
    const [{ count } = { count: 0 }] = await pool<{ count: number }[]>`
      select count(*)::integer as count from sandboxes`;
    for (let i = count; i < 12; i++)
      many.push({ accountId, ...(await signInNew(world, accountId, 'Administrator')) });
    const answers = await Promise.all(
      many.map(({ request }) => request('POST /sandbox', { scopes: ['data'] })),
    );
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect(answers.find(({ status }) => status === 409)?.body.message).toContain('10 sandboxes');
    await until(async () => {
      const rows = await pool`select 1 from sandboxes where state <> 'ready'`;
      return rows.length === 0;
    });
    await Promise.all(many.map(({ request }) => request('DELETE /sandbox')));
    await afterGrace(world);
  });
});

test('GET /sandbox says how to use it, before and after it is created', async () => {
  const { request } = await newAdministrator(world);
  const { body } = await request<SandboxView>('GET /sandbox');
  expect(body).toMatchObject({ most: 10, days: 14, address: 'http://localhost', sandbox: null });
});
