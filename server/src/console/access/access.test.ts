// The console's tokens, access, settings and audit log: who may, what is kept, and that nothing of another account is told.
import type {
  Access,
  AccountSettingsView,
  AuditEntry,
  TokenSummary,
} from '@soundings/contract/console/access.ts';
import type { Role } from '@soundings/contract/organization.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import { notifyExpiringTokens } from '../../accounts/expiring-tokens.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { openMailer } from '../../mail/mailer.ts';
import { type Ask, signInNew } from '../../testing/signed-in.ts';
import { openSmtp } from '../../testing/smtp.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
let ask: Ask;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  ask = await signedIn(account.id, 'Administrator');
});
afterAll(() => world?.close());

/** Somebody new with a role, signed in. */
const signedIn = async (accountId: number, role: Role) => (await signInNew(world, accountId, role)).ask;

const entries = async (filter = '') =>
  (await ask<{ rows: AuditEntry[]; total: number }>(`GET /audit?${filter}`)).body;

describe('who may', () => {
  test.each(['Manager', 'User'] as const)('a %s has no access to any of it', async (role) => {
    const other = await signedIn(account.id, role);
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

  test('nobody who is not signed in', async () => {
    const { status, body } = await world.request('GET', '/api/tokens');
    expect([status, body.details[0]?.type]).toEqual([401, 'not signed in']);
  });

  test('a page of another website writes nothing, whatever its cookie', async () => {
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
  test('one that is made opens what it is for, tells who made it and where it was used, and is logged without its text', async () => {
    const made = await ask<{ id: number; token: string }>('POST /tokens', {
      name: 'Reports',
      scopes: ['data'],
      expires: '2099-12-31',
    });
    expect(made.body.token).toMatch(/^snd_/);
    const groups = await world.request('GET', '/v1/groups', { headers: { authorization: made.body.token } });
    expect(groups.status).toBe(200);
    const { tokens } = (await ask<{ tokens: TokenSummary[] }>('GET /tokens')).body;
    expect(tokens.find(({ id }) => id === made.body.id)).toMatchObject({
      name: 'Reports',
      scopes: ['data'],
      createdBy: 'Ann Administrator',
      lastUsedFrom: '127.0.0.1',
      revokedAt: null,
    });
    const log = await entries('action=token%20created');
    expect(log.rows[0]).toMatchObject({
      who: 'Ann Administrator',
      subject: String(made.body.id),
      origin: 'console',
    });
    expect(JSON.stringify(log)).not.toContain(made.body.token);
  });

  test('a revoked one opens nothing any more, and is logged; one that there is not is not found', async () => {
    const made = (
      await ask<{ id: number; token: string }>('POST /tokens', { name: 'X', scopes: ['data'], expires: null })
    ).body;
    expect((await ask(`DELETE /tokens/${made.id}`)).status).toBe(204);
    const groups = await world.request('GET', '/v1/groups', { headers: { authorization: made.token } });
    expect(groups.status).toBe(401);
    expect((await entries('action=token%20revoked')).rows[0]).toMatchObject({ subject: String(made.id) });
    const another = await world.account();
    const theirs = (await signedIn(another.id, 'Administrator'))<{ tokens: TokenSummary[] }>('GET /tokens');
    const foreign = (await theirs).body.tokens[0]?.id;
    for (const id of [foreign, 999_999, 'x', '2147483648']) {
      expect((await ask(`DELETE /tokens/${id}`)).body.details[0]?.type).toBe('token not found');
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
  ])('of %j the field that is wrong is named', async (body, path) => {
    const { status, body: problem } = await ask('POST /tokens', body);
    expect(status).toBe(400);
    expect(problem.details.map((detail) => detail.path)).toContain(path);
  });
});

describe('a token that ends soon', () => {
  test('is told of by mail, in the account’s language, once at two weeks and once at three days', async () => {
    const smtp = await openSmtp();
    onTestFinished(() => smtp.close());
    const mailer = openMailer(smtp.url, 'Soundings <soundings@example.org>');
    onTestFinished(() => mailer.close());
    const { id } = await world.account({ language: 'sv' });
    await inTransaction(world.pool, (tx) => changeAccount(tx, id, { notify: ['hr@example.org'] }));
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const wanted = { name: 'Power BI', scopes: ['data'] };
    const soon = await createToken(world.pool, id, { ...wanted, expires: inDays(10) });
    await createToken(world.pool, id, { ...wanted, expires: inDays(40) });
    const tell = () =>
      notifyExpiringTokens(world.pool, mailer, 'https://soundings.example', openLog('silent'));
    await tell();
    await tell();
    expect(smtp.mails.flatMap(({ to }) => to)).toEqual(['hr@example.org']);
    expect(smtp.mails[0]?.text).toContain('https://soundings.example/tokens');
    expect(smtp.mails[0]?.headers['subject']).toContain('API-nyckeln ”Power BI” går ut');
    await world.pool`update tokens set expires_at = ${inDays(2)} where token_id = ${soon.id}`;
    await tell();
    await tell();
    expect(smtp.mails).toHaveLength(2);
    await revokeToken(world.pool, id, soon.id);
    await world.pool`update tokens set expiry_notified_days = null where token_id = ${soon.id}`;
    await tell();
    expect(smtp.mails).toHaveLength(2);
  });
});

describe('access', () => {
  test('tells the addresses, the SFTP user name, whether one’s own address may send files, and keeps ranges', async () => {
    const before = (await ask<Access>('GET /access')).body;
    expect(before).toMatchObject({
      yourAddress: '127.0.0.1',
      isYourAddressAllowed: true,
      allow: [],
      sftp: null,
    });
    expect(before.username).toMatch(/^test-\d+$/);
    const after = (await ask<Access>('PATCH /access/allow', { allow: ['192.0.2.0/24'] })).body;
    expect(after).toMatchObject({ allow: ['192.0.2.0/24'], isYourAddressAllowed: false });
    const wrong = await ask('PATCH /access/allow', { allow: ['192.0.2.0/33'] });
    const [fault] = wrong.body.details;
    expect([wrong.status, fault?.path, fault?.type]).toEqual([400, '/allow', 'invalid address range']);
    const both = await Promise.all(
      ['198.51.100.1', '198.51.100.2'].map((range) => ask('PATCH /access/allow', { allow: [range] })),
    );
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const left = await ask<Access>('PATCH /access/allow', { remove: ['192.0.2.0/24', '198.51.100.2'] });
    expect(left.body).toMatchObject({ allow: ['198.51.100.1'], files: { maxUsersCreated: 200 } });
    await ask('PATCH /access/allow', { remove: ['198.51.100.1'] });
  });
});

describe('settings', () => {
  test('are changed one by one, logged with what they were, and refused with their field', async () => {
    const changed = (
      await ask<AccountSettingsView>('PATCH /settings', { maxUsersDeleted: 7, notify: ['hr@example.org'] })
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
      const { status, body: problem } = await ask('PATCH /settings', body);
      const [fault] = problem.details;
      expect([status, fault?.path, fault?.type]).toEqual([400, path, type]);
    }
    expect((await ask<AccountSettingsView>('GET /settings')).body).toEqual(changed);
  });

  test('a test mail is sent to whoever asks; without a mail server that is said', async () => {
    expect((await ask('POST /settings/test-mail')).body.message).toContain('SMTP_URL');
  });
});

describe('the audit log', () => {
  test('is filtered by words, origin and day, and counts what passes', async () => {
    expect((await entries('origin=api')).total).toBe(0);
    await account.push({
      settings: { validateOnly: false },
      data: { groups: [{ externalId: 'a', name: 'A' }] },
    });
    await account.push({ data: { groups: [] } });
    const { total, rows } = await entries('origin=api');
    expect([total, rows[0]?.action, rows[0]?.who]).toEqual([1, 'run applied', 'test']);
    expect((await entries('search=RUN%20APP')).total).toBe(1);
    expect((await entries('to=2020-01-01')).total).toBe(0);
  });

  test('is downloaded as CSV that no spreadsheet program executes', async () => {
    const evil = await createToken(world.pool, account.id, { name: '=1+1', scopes: ['organization'] });
    await account.push({ settings: { validateOnly: false } }, { authorization: evil.token });
    const { text } = await ask('GET /audit/export');
    expect(text).toContain(",'=1+1,");
    for (const line of text.split('\r\n')) expect(line).not.toMatch(/(^|,)"?[=+@]/);
    expect((await entries('action=audit%20log%20exported')).total).toBe(1);
  });

  test('is never changed, removed or emptied, not even by a statement of our own', async () => {
    for (const statement of [
      "update audit_entries set action = ''",
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(world.pool.unsafe(statement)).rejects.toThrow('never changed or removed');
    }
  });

  test.each(['from', 'to'])(
    'with %s as a day that does not exist is refused, and nothing is logged',
    async (path) => {
      for (const operation of ['GET /audit', 'GET /audit/export']) {
        const { status, body } = await ask(`${operation}?${path}=2026-02-30`);
        expect([status, body.details[0]?.path]).toEqual([400, path]);
      }
      expect((await entries('action=audit%20log%20exported')).total).toBe(1);
    },
  );

  test('says whom or what an entry is about by the name it has now, and nothing of what is gone', async () => {
    const { ask: own, userId } = await signInNew(world, account.id, 'Administrator');
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

    const { text } = await ask('GET /audit/export?action=group%20changed');
    expect(text).toContain(`,group changed,'${id},North,`);

    const again = await signedIn(account.id, 'Administrator');
    await again(`DELETE /groups/${id}?weeks=0`);
    const [removed] = (await entries('action=group%20removed')).rows;
    expect([removed?.subject, removed?.about]).toEqual([String(id), null]);
    expect(await about('action=group%20created')).toEqual([null]);
    expect((await about('action=audit%20log%20exported'))[0]).toBe(null);
  });

  test('of an account holds nothing of another', async () => {
    const another = await world.account();
    const theirs = await signedIn(another.id, 'Administrator');
    const { body } = await theirs<{ rows: AuditEntry[] }>('GET /audit');
    expect(body.rows.map(({ action }) => action)).toEqual(['token created', 'account created']);

    // Not even the name of what has the same number there.
    const { id } = (await ask<{ id: number }>('POST /groups', { name: 'Secret' })).body;
    await audit(world.pool, another.id, { origin: 'service' }, 'group changed', { subject: id });
    const [entry] = (await theirs<{ rows: AuditEntry[] }>('GET /audit')).body.rows;
    expect([entry?.subject, entry?.about]).toEqual([String(id), null]);
    expect((await theirs<{ total: number }>('GET /audit?search=secret')).body.total).toBe(0);
  });
});
