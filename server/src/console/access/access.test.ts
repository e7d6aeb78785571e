// Tokens, API access, settings and audit log in the console: who has access, what is stored, and that other accounts stay separate.
import type {
  Access,
  AccountSettingsView,
  AuditEntry,
  TokenSummary,
} from '@soundings/contract/console/access.ts';
import type { MailFinding } from '@soundings/contract/console/mail-findings.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import { notifyExpiringTokens } from '../../accounts/expiring-tokens.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { openMailer } from '../../mail/mailer.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openSmtp } from '../../testing/smtp.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
let request: SendRequest;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  request = await signInAs(account.id, 'Administrator');
});
afterAll(() => world?.close());

/** Signs in a new user with a role. */
const signInAs = async (accountId: number, role: Role) => (await signInNew(world, accountId, role)).request;

const entries = async (filter = '') =>
  (await request<{ rows: AuditEntry[]; total: number }>(`GET /audit?${filter}`)).body;

describe('permissions', () => {
  test.each(['Manager', 'User'] as const)('a %s has no access to any of it', async (role) => {
    const other = await signInAs(account.id, role);
    for (const operation of [
      'GET /tokens',
      'GET /access',
      'GET /settings',
      'GET /audit',
      'GET /audit/export',
    ]) {
      expect((await other(operation)).status).toBe(403);
    }
  });

  test('a caller who is not signed in has no access', async () => {
    const { status, body } = await world.request('GET', '/api/tokens');
    expect([status, body.details[0]?.type]).toEqual([401, 'not signed in']);
  });

  test('a page of another website cannot change anything, even with the cookie', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const { status } = await world.request('POST', '/api/tokens', {
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{}',
      });
      expect(status).toBe(403);
    }
  });
});

describe('tokens', () => {
  test('a new token works for its scopes, is listed with its creator and last use, and is logged without its text', async () => {
    const created = await request<{ id: number; token: string }>('POST /tokens', {
      name: 'Reports',
      scopes: ['data'],
      expires: '2099-12-31',
    });
    expect(created.body.token).toMatch(/^snd_/);
    const groups = await world.request('GET', '/v1/groups', {
      headers: { authorization: created.body.token },
    });
    expect(groups.status).toBe(200);
    const { tokens } = (await request<{ tokens: TokenSummary[] }>('GET /tokens')).body;
    expect(tokens.find(({ id }) => id === created.body.id)).toMatchObject({
      name: 'Reports',
      scopes: ['data'],
      createdBy: 'Ann Administrator',
      lastUsedFrom: '127.0.0.1',
      revokedAt: null,
    });
    const log = await entries('action=token%20created');
    expect(log.rows[0]).toMatchObject({
      who: 'Ann Administrator',
      subject: String(created.body.id),
      origin: 'console',
    });
    expect(JSON.stringify(log)).not.toContain(created.body.token);
  });

  test('a revoked token no longer works and is logged; an unknown token is not found', async () => {
    const created = (
      await request<{ id: number; token: string }>('POST /tokens', {
        name: 'X',
        scopes: ['data'],
        expires: null,
      })
    ).body;
    expect((await request(`DELETE /tokens/${created.id}`)).status).toBe(204);
    const groups = await world.request('GET', '/v1/groups', { headers: { authorization: created.token } });
    expect(groups.status).toBe(401);
    expect((await entries('action=token%20revoked')).rows[0]).toMatchObject({ subject: String(created.id) });
    const another = await world.account();
    const theirs = (await signInAs(another.id, 'Administrator'))<{ tokens: TokenSummary[] }>('GET /tokens');
    const foreign = (await theirs).body.tokens[0]?.id;
    for (const id of [foreign, 999_999, 'x', '2147483648']) {
      expect((await request(`DELETE /tokens/${id}`)).body.details[0]?.type).toBe('token not found');
    }
  });

  test.each([
    [{ name: '', scopes: ['data'], expires: null }, '/name'],
    [{ name: 'a', scopes: [], expires: null }, '/scopes'],
    [{ name: 'a', scopes: ['everything'], expires: null }, '/scopes/0'],
    [{ name: 'a', scopes: ['data'], expires: '2026-02-30' }, '/expires'],
    [{ name: 'a', scopes: ['data'], expires: '2020-01-01' }, '/expires'],
    [{ name: 'a', scopes: ['data'] }, '/expires'],
    [{ name: 'a', scopes: ['data'], expires: null, more: 1 }, '/more'],
  ])('names the invalid field of %j', async (body, path) => {
    const { status, body: problem } = await request('POST /tokens', body);
    expect(status).toBe(400);
    expect(problem.details.map((detail) => detail.path)).toContain(path);
  });
});

describe('a token that expires soon', () => {
  test('is announced by email, in the account’s language, once two weeks and once three days before', async () => {
    const smtp = await openSmtp();
    onTestFinished(() => smtp.close());
    const mailer = openMailer(smtp.url, 'Soundings <soundings@example.org>');
    onTestFinished(() => mailer.close());
    const { id } = await world.account({ language: 'sv' });
    await inTransaction(world.pool, (tx) => changeAccount(tx, id, { notify: ['hr@example.org'] }));
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const token = { name: 'Power BI', scopes: ['data'] };
    const soon = await createToken(world.pool, id, { ...token, expires: inDays(10) });
    await createToken(world.pool, id, { ...token, expires: inDays(40) });
    const notify = () =>
      notifyExpiringTokens(world.pool, mailer, 'https://soundings.example', openLog('silent'));
    await notify();
    await notify();
    expect(smtp.mails.flatMap(({ to }) => to)).toEqual(['hr@example.org']);
    expect(smtp.mails[0]?.text).toContain('https://soundings.example/tokens');
    expect(smtp.mails[0]?.headers['subject']).toContain('API-nyckeln ”Power BI” går ut');
    await world.pool`update tokens set expires_at = ${inDays(2)} where token_id = ${soon.id}`;
    await notify();
    await notify();
    expect(smtp.mails).toHaveLength(2);
    await revokeToken(world.pool, id, soon.id);
    await world.pool`update tokens set expiry_notified_days = null where token_id = ${soon.id}`;
    await notify();
    expect(smtp.mails).toHaveLength(2);
  });
});

describe('access', () => {
  test('returns the addresses, the SFTP user name and whether the caller’s address may send files, and saves ranges', async () => {
    const before = (await request<Access>('GET /access')).body;
    expect(before).toMatchObject({
      yourAddress: '127.0.0.1',
      isYourAddressAllowed: true,
      allow: [],
      sftp: null,
    });
    expect(before.username).toMatch(/^test-\d+$/);
    const after = (await request<Access>('PATCH /access/allow', { allow: ['192.0.2.0/24'] })).body;
    expect(after).toMatchObject({ allow: ['192.0.2.0/24'], isYourAddressAllowed: false });
    const wrong = await request('PATCH /access/allow', { allow: ['192.0.2.0/33'] });
    const [fault] = wrong.body.details;
    expect([wrong.status, fault?.path, fault?.type]).toEqual([400, '/allow', 'invalid address range']);
    const both = await Promise.all(
      ['198.51.100.1', '198.51.100.2'].map((range) => request('PATCH /access/allow', { allow: [range] })),
    );
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const left = await request<Access>('PATCH /access/allow', { remove: ['192.0.2.0/24', '198.51.100.2'] });
    expect(left.body).toMatchObject({ allow: ['198.51.100.1'], files: { maxUsersCreated: 200 } });
    await request('PATCH /access/allow', { remove: ['198.51.100.1'] });
  });
});

describe('settings', () => {
  test('are changed one at a time and logged with their previous values; invalid ones are refused with their field', async () => {
    const changed = (
      await request<AccountSettingsView>('PATCH /settings', {
        maxUsersDeleted: 7,
        notify: ['hr@example.org'],
      })
    ).body;
    expect(changed).toMatchObject({
      maxUsersDeleted: 7,
      maxUsersCreated: 200,
      notify: ['hr@example.org'],
      mailFrom: null,
    });
    const [entry] = (await entries('action=settings%20changed')).rows;
    expect(entry?.details).toEqual({ maxUsersDeleted: { from: 200, to: 7 }, notify: {} });
    for (const [body, path, type] of [
      [{ name: ' ' }, '/name', 'missing field'],
      [{ threshold: 2 }, '/threshold', 'invalid threshold'],
      [{ timezone: 'Mars' }, '/timezone', 'invalid timezone'],
      [{ language: 'xx' }, '/language', 'invalid language'],
      [{ distributionThreshold: 3 }, '/distributionThreshold', 'invalid value'],
      [{ maxUsersDeleted: 20_001 }, '/maxUsersDeleted', 'out of range'],
      [{ notify: ['nobody'] }, '/notify', 'invalid email'],
      [{ id: 3 }, '/id', 'unknown field'],
    ] as const) {
      const { status, body: problem } = await request('PATCH /settings', body);
      const [fault] = problem.details;
      expect([status, fault?.path, fault?.type]).toEqual([400, path, type]);
    }
    expect((await request<AccountSettingsView>('GET /settings')).body).toEqual(changed);
  });

  test('without a mail server, the test of the email settings says so', async () => {
    expect((await request('POST /settings/test-mail')).body.message).toContain('SMTP_URL');
  });

  test('the test of the email settings emails the caller and reports each step; after five tests the account has to wait', async () => {
    const smtp = await openSmtp();
    onTestFinished(() => smtp.close());
    const mailing = await openWorld(openLog('error'), { smtpUrl: smtp.url });
    onTestFinished(() => mailing.close());
    const [one, other] = [await mailing.account(), await mailing.account()];
    const runTest = async ({ id }: { id: number }) =>
      (await signInNew(mailing, id, 'Administrator')).request<{ to: string; findings: MailFinding[] }>(
        'POST /settings/test-mail',
      );
    const { status, body } = await runTest(one);
    expect([status, smtp.mails.map(({ to }) => to)]).toEqual([200, [[body.to]]]);
    expect(body.findings.map(({ code }) => code)).toContain('delivered');
    for (let i = 1; i < 5; i++) expect((await runTest(one)).status).toBe(200);
    const refused = await runTest(one);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(smtp.mails).toHaveLength(5);
    expect((await runTest(other)).status).toBe(200);
  });
});

describe('the audit log', () => {
  test('is filtered by words, origin and day, and counts the matching entries', async () => {
    expect((await entries('origin=api')).total).toBe(0);
    await account.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'a', name: 'A' }] },
    });
    await account.push({ data: { groups: [] } });
    const { total, rows } = await entries('origin=api');
    expect([total, rows[0]?.action, rows[0]?.who]).toEqual([1, 'run applied', 'test']);
    expect((await entries('search=RUN%20APP')).total).toBe(1);
    // By the name of an action in another language.
    expect((await entries('search=till%C3%A4mpad')).total).toBe(0);
    expect((await entries('search=till%C3%A4mpad&found=run%20applied')).total).toBe(1);
    expect((await entries('to=2020-01-01')).total).toBe(0);
  });

  test('is downloaded as CSV without anything that a spreadsheet program would execute', async () => {
    const evil = await createToken(world.pool, account.id, { name: '=1+1', scopes: ['organization'] });
    await account.push({ settings: { validateOnly: false } }, { authorization: evil.token });
    const { text } = await request('GET /audit/export');
    expect(text).toContain(",'=1+1,");
    for (const line of text.split('\r\n')) expect(line).not.toMatch(/(^|,)"?[=+@]/);
    expect((await entries('action=audit%20log%20exported')).total).toBe(1);
  });

  test('cannot be changed, deleted or truncated, not even by a statement of the service', async () => {
    for (const statement of [
      "update audit_entries set action = ''",
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(world.pool.unsafe(statement)).rejects.toThrow('never changed or removed');
    }
  });

  test.each(['from', 'to'])(
    'is refused, without an entry, if %s is a day that does not exist',
    async (path) => {
      for (const operation of ['GET /audit', 'GET /audit/export']) {
        const { status, body } = await request(`${operation}?${path}=2026-02-30`);
        expect([status, body.details[0]?.path]).toEqual([400, path]);
      }
      expect((await entries('action=audit%20log%20exported')).total).toBe(1);
    },
  );

  test('shows the current name of what an entry is about, and no name after it was deleted', async () => {
    const { request: own, userId } = await signInNew(world, account.id, 'Administrator');
    const { id } = (await own<{ id: number }>('POST /groups', { name: 'Norht' })).body;
    await own(`PATCH /groups/${id}`, { name: 'North' });
    await own(`DELETE /users/${userId}/sessions`);
    const about = async (filter: string) => (await entries(filter)).rows.map((entry) => entry.about);
    const north = { id: String(id), name: 'North' };
    expect(await about('action=group%20created')).toEqual([north]);
    expect(await about('search=north')).toEqual([north, north]);
    expect(await about('action=sessions%20ended')).toEqual([
      { id: String(userId), name: 'Ann Administrator' },
    ]);
    expect((await about('action=run%20applied'))[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await about('action=token%20created')).map((one) => one?.name)).toContain('test');

    const { text } = await request('GET /audit/export?action=group%20changed');
    expect(text).toContain(`,group changed,'${id},North,`);

    const again = await signInAs(account.id, 'Administrator');
    await again(`DELETE /groups/${id}?weeks=0`);
    const [removed] = (await entries('action=group%20removed')).rows;
    expect([removed?.subject, removed?.about]).toEqual([String(id), null]);
    expect(await about('action=group%20created')).toEqual([null]);
    expect((await about('action=audit%20log%20exported'))[0]).toBe(null);
  });

  test('of an account contains nothing from another account', async () => {
    const another = await world.account();
    const theirs = await signInAs(another.id, 'Administrator');
    const { body } = await theirs<{ rows: AuditEntry[] }>('GET /audit');
    expect(body.rows.map(({ action }) => action)).toEqual(['token created', 'account created']);

    // Not even the name of something with the same number there.
    const { id } = (await request<{ id: number }>('POST /groups', { name: 'Secret' })).body;
    await audit(world.pool, another.id, { origin: 'service' }, 'group changed', { subject: id });
    const [entry] = (await theirs<{ rows: AuditEntry[] }>('GET /audit')).body.rows;
    expect([entry?.subject, entry?.about]).toEqual([String(id), null]);
    expect((await theirs<{ total: number }>('GET /audit?search=secret')).body.total).toBe(0);
  });
});
