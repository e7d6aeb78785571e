// Attacks with sandboxes: on real accounts and on other sandboxes, on people by email or sign-in, and on the resources of the installation.
import type { Role } from '@soundings/contract/people/roles.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { auditEverywhere } from '../accounts/audit.ts';
import { notifyExpiringTokens } from '../accounts/expiring-tokens.ts';
import { callerBySftp } from '../accounts/sftp-callers.ts';
import { resetPassword } from '../auth/sign-in.ts';
import { selectAccountsThere } from '../auth/sign-in.sql.ts';
import { linkOf } from '../auth/sign-in-links.ts';
import { openLog } from '../base/log.ts';
import { hasSingleAccount } from '../console/core/system.sql.ts';
import { inTransaction } from '../db/db.ts';
import { queueDigests } from '../digests/digests.ts';
import { openMailer } from '../mail/mailer.ts';
import { selectPendingRuns } from '../operating/facts.sql.ts';
import { askNow } from '../rounds/ask-now.ts';
import { dueSchedules } from '../rounds/opening.ts';
import { selectSchedules } from '../rounds/schedules.sql.ts';
import { signInNew } from '../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type World } from '../testing/world.ts';
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
} from './sandboxes.fixture.ts';
import { tendSandboxes } from './tend.ts';

const log = openLog('silent');
let smtp: TestSmtp;
let world: World;
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(log, { sandboxWeeks: 1, smtpUrl: smtp.url, sandboxes: 1000 } as never);
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

const read = (path: string, token: string) =>
  world.request<unknown>('GET', path, { headers: { authorization: token } });
const statusOf = async (path: string, token: string) => (await read(path, token)).status;
const groupsOf = async (token: string) =>
  (await read('/v1/groups', token)).body as { id: number; name: string }[];
/** Everything about the people, groups and runs of an account. */
const contentOf = async (accountId: number) =>
  JSON.stringify(
    await world.pool`
      select (select json_agg(u order by u.user_id) from users u where u.account_id = ${accountId})  as "users",
             (select json_agg(g order by g.group_id) from groups g where g.account_id = ${accountId}) as "groups",
             (select count(*)::integer from runs r where r.account_id = ${accountId})                 as "runs",
             (select count(*)::integer from files f where f.account_id = ${accountId})                as "files",
             (select count(*)::integer from scim_users s where s.account_id = ${accountId})           as "scim"`,
  );

describe('data of others', () => {
  test('a token of a sandbox reads and writes nothing of the real account, and the reverse', async () => {
    const administrator = await newAdministrator(world);
    const real = await world.account();
    await pushOne(world, real.token, 'real');
    const { token, accountId, sftpUsername } = await newSandbox(administrator);
    const [all] = await groupsOf(real.token);
    const [lavmark] = await groupsOf(token);
    const values = (id: number) => `/v1/responserates/values?groupId=${id}`;
    expect(await statusOf(values(lavmark!.id), token)).toBe(200);
    expect(await statusOf(values(all!.id), token)).toBe(404);
    expect(await statusOf(values(lavmark!.id), real.token)).toBe(404);
    const [before, sandboxBefore] = [await contentOf(real.id), await contentOf(accountId)];
    for (const write of [pushOne, uploadOne, writeScimUser]) await write(world, token, 'x.csv');
    expect(await contentOf(real.id)).toBe(before);
    expect(await contentOf(accountId)).not.toBe(sandboxBefore);
    const [username] = await world.pool<{ username: string }[]>`
      select username from sftp_usernames where account_id = ${real.id}`;
    expect(await callerBySftp(world.pool, username!.username, token)).toBeUndefined();
    expect(await callerBySftp(world.pool, sftpUsername as string, real.token)).toBeUndefined();
  });

  test('the same ids in two sandboxes lead each token to its own data', async () => {
    const [one, other] = [await newAdministrator(world), await newAdministrator(world)];
    const [mine, theirs] = [await newSandbox(one), await newSandbox(other)];
    const before = await groupsOf(theirs.token);
    expect(await groupsOf(mine.token)).toEqual(before);
    await pushOne(world, mine.token, 'mine');
    expect(await groupsOf(theirs.token)).toEqual(before);
    expect((await groupsOf(mine.token)).map(({ name }) => name)).toEqual(['All']);
  });

  test('no one sees, resets, or deletes the sandbox of another administrator of the same company', async () => {
    const owner = await newAdministrator(world);
    const other: Administrator = {
      accountId: owner.accountId,
      ...(await signInNew(world, owner.accountId, 'Administrator')),
    };
    const { token, accountId } = await newSandbox(owner);
    expect(await sandboxSeen(other)).toBeNull();
    const operations = ['POST /sandbox/reset', 'DELETE /sandbox'];
    for (const operation of operations) expect((await other.request(operation)).status).toBe(404);
    expect((await other.request('POST /sandbox/token', { scopes: ['data'] })).status).toBe(404);
    expect(await sandboxSeen(owner)).toMatchObject({ accountId, state: 'ready' });
    expect(await statusOf('/v1/groups', token)).toBe(200);
  });

  test('a manager, an auditor, a user and a visitor can do nothing with sandboxes', async () => {
    const { id } = await world.account();
    const operations: [string, unknown?][] = [
      ['GET /sandbox'],
      ['POST /sandbox', { scopes: ['data'] }],
      ['POST /sandbox/reset'],
      ['POST /sandbox/token', { scopes: ['data'] }],
      ['DELETE /sandbox'],
    ];
    for (const role of ['Manager', 'Auditor', 'User'] as Role[]) {
      const { request } = await signInNew(world, id, role);
      for (const [operation, body] of operations)
        expect([role, operation, (await request(operation, body)).status]).toEqual([role, operation, 403]);
    }
    for (const [operation] of operations) {
      const [method, path] = operation.split(' ') as [string, string];
      expect((await world.request(method, `/api${path}`)).status).toBe(401);
    }
    const rows = await world.pool`select 1 from sandboxes where account_id = ${id}`;
    expect(rows).toHaveLength(0);
  });
});

describe('an administrator who is none any more', () => {
  const ends: [string, (who: Administrator) => Promise<unknown>][] = [
    [
      'lost the role',
      ({ accountId, userId }) =>
        world.pool`update users set role = 'Manager' where account_id = ${accountId} and user_id = ${userId}`,
    ],
    [
      'was deactivated',
      ({ accountId, userId }) =>
        world.pool`update users set active = false where account_id = ${accountId} and user_id = ${userId}`,
    ],
    [
      'is waiting for confirmation',
      ({ accountId, userId }) =>
        world.pool`update users set role_pending = true where account_id = ${accountId} and user_id = ${userId}`,
    ],
    [
      'was removed',
      ({ accountId, userId }) =>
        world.pool`delete from users where account_id = ${accountId} and user_id = ${userId}`,
    ],
  ];
  test.each(ends)('who %s can’t use the sandbox from that moment on, and it is deleted', async (_, end) => {
    const administrator = await newAdministrator(world);
    const { token, accountId, sftpUsername } = await newSandbox(administrator);
    await end(administrator);
    expect(await statusOf('/v1/groups', token)).toBe(401);
    // The interface for pushes reports an invalid token with 400.
    expect((await pushOne(world, token, 'x')).body.message).toContain('API token is missing');
    expect(await callerBySftp(world.pool, sftpUsername as string, token)).toBeUndefined();
    await tendNow(world);
    await afterGrace(world);
    const left = await world.pool`
      select 1 from accounts where account_id = ${accountId}
      union all select 1 from sandboxes where account_id = ${administrator.accountId}`;
    expect(left).toHaveLength(0);
  });
});

describe('people', () => {
  test('real people whose list was pushed to a sandbox get no email from it, and sign in only to their company', async () => {
    const administrator = await newAdministrator(world);
    const { token, accountId } = await newSandbox(administrator);
    const email = 'real.person@example.org';
    const more = { email, accessInfo: { memberOf: ['all'], role: 'Administrator' } };
    expect((await pushOne(world, token, 'real', more)).status).toBe(200);
    await pushOne(world, token, 'real', { ...more, email: 'moved@example.org' });
    await pushOne(world, token, 'real', more);
    await world.pool`update users set role_pending = false where account_id = ${accountId}`;
    await inTransaction(world.pool, (tx) =>
      resetPassword(tx, accountId, { email, password: 'correct horse battery staple' }, false),
    );
    const signIn = { email, password: 'correct horse battery staple' };
    const { request } = administrator;
    expect((await request('POST /session', signIn)).status).toBe(401);
    // A link that was created in any way opens nothing.
    await world.pool`
      insert into sign_in_links (hash, account_id, user_id, email_key, kind, expires_at)
      select sha256('secret'), account_id, user_id, email_key, 'given', now() + interval '1 hour'
      from   users where account_id = ${accountId} and email_key = ${email}`;
    await expect(linkOf(world.pool, 'secret')).rejects.toMatchObject({ kind: 'not_found' });
    await uploadOne(world, token, 'people.csv');
    await world.pool`update tokens set expires_at = now() + interval '1 day' where account_id = ${accountId}`;
    await world.pool`update accounts set notify_addresses = '{notify@example.org}', digest = true where account_id = ${accountId}`;
    await world.pool`insert into digest_weeks (account_id, week) select account_id, week from weeks where account_id = ${accountId}`.catch(
      () => {},
    );
    const mailer = openMailer(smtp.url, 'soundings@localhost', { connections: 1 } as never);
    await notifyExpiringTokens(world.pool, mailer, 'http://localhost', log);
    mailer.close();
    await queueDigests(world.pool, Date.now() + 3 * 86_400_000);
    await request('POST /password/forgotten', { email });
    // The only email: to a person of a company, who exists.
    const [own] = await world.pool<{ email: string }[]>`
      select email from users where account_id = ${administrator.accountId} and user_id = ${administrator.userId}`;
    await request('POST /password/forgotten', { email: own!.email });
    await until(async () => {
      const rows = await world.pool`
        select 1 from graphile_worker.jobs
        where  task_identifier like 'mail%' or task_identifier in ('process files', 'send digests')`;
      return rows.length === 0 && smtp.mails.some(({ to }) => to.includes(own!.email));
    });
    const company = await world.pool<{ email: string }[]>`
      select u.email from users u join accounts a using (account_id) where a.kind = 'company' and u.email is not null`;
    const known = new Set(company.map((one) => one.email));
    expect(smtp.mails.flatMap(({ to }) => to).filter((to) => !known.has(to))).toEqual([]);
    const digests = await world.pool`select 1 from digests where account_id = ${accountId}`;
    expect(digests).toHaveLength(0);
  });

  test('a sandbox opens no week, and the command can’t ask its schedules or change its settings', async () => {
    const { accountId } = await newSandbox(await newAdministrator(world));
    const [schedule] = await selectSchedules(world.pool, accountId);
    const due: number[] = [];
    for (let day = 0; day < 15; day++)
      for (const one of await dueSchedules(world.pool, Date.now() + day * 86_400_000))
        due.push(one.accountId);
    expect(due).toEqual([]);
    const what = { accountId, scheduleId: schedule!.id, by: { origin: 'command' } as const };
    await expect(askNow(world.pool, world.keys, what, Date.now())).rejects.toMatchObject({
      code: 'sandbox account',
    });
    await expect(
      inTransaction(world.pool, (tx) => changeAccount(tx, accountId, { notify: ['a@example.org'] })),
    ).rejects.toMatchObject({ code: 'sandbox account' });
  });
});

describe('the installation', () => {
  test('sandboxes are in no figure of the operator, and in no log of the whole installation', async () => {
    const alone = await openWorld(log, { sandboxWeeks: 1 } as never);
    try {
      const { id: accountId } = await alone.account();
      const administrator = { accountId, ...(await signInNew(alone, accountId, 'Administrator')) };
      const { token, accountId: sandboxId } = await newSandbox(administrator);
      await alone.pool`
        insert into runs (account_id, run_id, source, validate_only, outcome)
        values (${sandboxId}, gen_random_uuid(), 'file', false, 'pending')`;
      expect(await alone.request('GET', '/v1/groups', { headers: { authorization: token } })).toMatchObject({
        status: 200,
      });
      expect(await hasSingleAccount(alone.pool)).toBe(true);
      expect(await selectAccountsThere(alone.pool)).toEqual({ count: 1, name: 'Test' });
      expect(await selectPendingRuns(alone.pool)).toMatchObject({ count: 0 });
      await auditEverywhere(alone.pool, { origin: 'command' }, 'backup created', { subject: 'x' });
      const rows = await alone.pool`
        select 1 from audit_entries where action = 'backup created' and account_id <> ${accountId}`;
      expect(rows).toHaveLength(0);
    } finally {
      await alone.close();
    }
  });

  test('if the operator turns sandboxes off, existing ones are deleted, with the template, and no one can create one', async () => {
    const off = await openWorld(log, { sandboxWeeks: 1 } as never);
    try {
      const { id: accountId } = await off.account();
      const administrator = { accountId, ...(await signInNew(off, accountId, 'Administrator')) };
      const { token } = await newSandbox(administrator);
      // While the service of this test is still doing it, this one does nothing.
      await until(async () => {
        await tendSandboxes({
          pool: off.pool,
          log,
          most: 0,
          template: { program: '', weeks: 1, monday: '2026-01-05' },
          makeTemplate: () => Promise.reject(new Error('not needed')),
          now: Date.now,
          graceSeconds: 0,
        });
        return (await sandboxSeen(administrator)) === null;
      });
      const left = await off.pool`select 1 from accounts where kind <> 'company' and ended_at is null`;
      expect(left).toHaveLength(0);
      const { status } = await off.request('GET', '/v1/groups', { headers: { authorization: token } });
      expect(status).toBe(401);
    } finally {
      await off.close();
    }
    const none = await openWorld(log, { sandboxes: 0 } as never);
    try {
      const administrator = await newAdministrator(none);
      const { status, body } = await administrator.request('POST /sandbox', { scopes: ['data'] });
      expect([status, body.message]).toEqual([409, expect.stringContaining('SANDBOXES')]);
      expect((await administrator.request('GET /sandbox')).body).toMatchObject({ most: 0, sandbox: null });
    } finally {
      await none.close();
    }
  });

  test('a sandbox that has become too large can’t be used until it is reset', async () => {
    const administrator = await newAdministrator(world);
    const { token, accountId, sftpUsername } = await newSandbox(administrator);
    await pushOne(world, token, 'x');
    await tendNow(world);
    expect((await sandboxSeen(administrator))?.bytes).toBeGreaterThan(10_000);
    await world.pool`
      insert into runs (account_id, run_id, source, validate_only, outcome, details)
      select ${accountId}, gen_random_uuid(), 'api', true, 'validated', json_build_array(t.text)
      from   generate_series(1, 1000) i
      cross  join lateral (select string_agg(md5(random()::text || n || i), '') as text from generate_series(1, 100) n) t`;
    await world.pool`update sandboxes set measured_at = null where sandbox_id = ${accountId}`;
    await tendNow(world);
    const { bytes } = (await sandboxSeen(administrator)) ?? {};
    await world.pool`update sandboxes set bytes = greatest(bytes, 200000001) where sandbox_id = ${accountId}`;
    expect(bytes).toBeGreaterThan(3_000_000);
    expect(await read('/v1/groups', token)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('Reset it') },
    });
    expect((await pushOne(world, token, 'x')).status).toBe(403);
    expect(await callerBySftp(world.pool, sftpUsername as string, token)).toBeUndefined();
    await reset(administrator);
    expect(await statusOf('/v1/groups', token)).toBe(200);
  });

  test('no entry of a company’s audit log can be deleted, and no company can become a sandbox', async () => {
    const { id } = await world.account();
    const { pool } = world;
    await expect(pool`delete from audit_entries where account_id = ${id}`).rejects.toThrow('never changed');
    await expect(pool`truncate audit_entries`).rejects.toThrow('never changed');
    await expect(pool`update accounts set kind = 'sandbox' where account_id = ${id}`).rejects.toThrow('kind');
    await expect(pool`update accounts set ended_at = now() where account_id = ${id}`).rejects.toThrow(
      'check',
    );
    const { accountId } = await newSandbox(await newAdministrator(world));
    await expect(pool`delete from audit_entries where account_id = ${accountId}`).rejects.toThrow(
      'never changed',
    );
  });

  test('many at once are created one after another, in the order of their requests', async () => {
    const many = await Promise.all(Array.from({ length: 6 }, () => newAdministrator(world)));
    for (const { request } of many) await request('POST /sandbox', { scopes: ['data'] });
    await Promise.all(many.map(readySandbox));
    const rows = await world.pool<{ id: number }[]>`
      select account_id as id from sandboxes
      where  account_id = any(${many.map(({ accountId }) => accountId)})
      order  by ready_at`;
    expect(rows.map(({ id }) => id)).toEqual(many.map(({ accountId }) => accountId));
  });
});
