// The soundings command as people and scripts run it: what it prints, where, with which exit status, and what it did.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { callerOf } from '../accounts/callers.ts';
import { newId } from '../base/ids.ts';
import { isPassword, isTokenShaped } from '../base/secrets.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { type Embedded, openEmbedded } from '../db/embedded.ts';
import { migrations } from '../db/migrate.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { pushOrganization } from '../sync/sync.ts';
import { bareEnvironment } from '../testing/environment.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const command = join(root, 'server/bin/soundings.js');
let home: string;
let dataDir: string;
let embedded: Embedded;
let pool: Pool;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'soundings-cli-'));
  dataDir = join(home, 'data');
  // As a running service has it open: each command attaches to its server.
  await promisify(execFile)('cp', ['-a', inject('seed'), dataDir]);
  embedded = await openEmbedded(dataDir, { role: 'service', log: () => {}, fast: true });
  pool = openPool(embedded.url, 3);
});

afterAll(async () => {
  await pool?.end({ timeout: 5 });
  await embedded?.stop();
  await rm(home, { recursive: true, force: true });
});

/** A week that is open for long. */
const aheadMonday = addWeeks(weekOf(dayIn('UTC', Date.now())), 20);
const ahead = weekName(aheadMonday);

type Ran = { status: number | null; out: string; err: string };
type How = { input?: string; env?: Record<string, string>; program?: string[] };

async function soundings(args: string[], { input = '', env = {}, program }: How = {}): Promise<Ran> {
  const [file = '', ...before] = program ?? [process.execPath, command];
  const child = spawn(file, [...before, ...args], {
    env: { ...bareEnvironment, DATA_DIR: dataDir, ...env },
    cwd: home,
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {}).end(input);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, err };
}

/** What --json prints: one document on standard output, and nothing else anywhere. */
async function json<T>(args: string[], how: How = {}): Promise<T> {
  const { status, out, err } = await soundings([...args, '--json'], how);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(/^[^\n]+\n$/);
  return JSON.parse(out) as T;
}

/** What a command says that fails, after making sure that it says it on standard error alone. */
async function refused(args: string[], status: 1 | 2 = 1, how: How = {}): Promise<string> {
  const ran = await soundings([...args, '--json'], how);
  expect({ args, status: ran.status, out: ran.out }).toEqual({ args, status, out: '' });
  expect(ran.err).not.toBe('');
  expect(ran.err).not.toMatch(/^\s+at |node_modules|\.ts:\d/m); // no stack: somebody has to read it
  return ran.err;
}

type MadeAccount = {
  account: { id: number; name: string; sftpUsername: string };
  admin: { id: number; email: string; password?: string };
};

/** The id of a new account, as text. */
async function newAccount(): Promise<string> {
  const email = 'admin@example.org';
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, id, { email, role: 'Administrator' });
    return String(id);
  });
}

const counts = async () => {
  const [row] = await pool`
    select (select count(*) from accounts) as accounts, (select count(*) from users) as users,
           (select count(*) from sftp_usernames) as names`;
  return row;
};

describe('account create', () => {
  const create = ['account', 'create', '--name', 'Åkes Äpplen & Co', '--admin-email', 'Åsa@example.org'];

  test('makes an account and its administrator, whose made password signs in', async () => {
    const made = await json<MadeAccount>(create);
    const { id } = made.account;
    expect(made).toEqual({
      account: { id: expect.any(Number), name: 'Åkes Äpplen & Co', sftpUsername: `akes-applen-co-${id}` },
      admin: {
        id: expect.any(Number),
        email: 'Åsa@example.org',
        password: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
      },
    });
    const [stored] = await pool<{ hash: string; role: string; active: boolean; managed: boolean }[]>`
      select p.hash, u.role, u.active, u.managed from users u join passwords p using (account_id, user_id)
      where u.account_id = ${id} and u.user_id = ${made.admin.id}`;
    expect(stored).toMatchObject({ role: 'Administrator', active: true, managed: false });
    expect(await isPassword(made.admin.password!, stored!.hash)).toBe(true);
    expect(await isPassword(`${made.admin.password}x`, stored!.hash)).toBe(false);
  });

  test('takes the password from standard input, keeps it to the letter, and does not repeat it', async () => {
    const password = ' p\u00e4ss w\u00f6rd "$HOME" ';
    const made = await json<MadeAccount>([...create, '--admin-password-stdin'], { input: `${password}\n` });
    expect(Object.keys(made.admin)).toEqual(['id', 'email']);
    const [stored] = await pool<{ hash: string }[]>`
      select hash from passwords where account_id = ${made.account.id}`;
    expect(await isPassword(password, stored!.hash)).toBe(true);
  });

  test('refuses a password that is too short or empty, and then makes nothing', async () => {
    const before = await counts();
    for (const input of ['short\n', '\n']) {
      expect(await refused([...create, '--admin-password-stdin'], 1, { input })).toContain('at least 12');
    }
    expect(await counts()).toEqual(before);
  });

  test('knows no option that takes a password', async () => {
    expect(await refused([...create, '--admin-password', 'in sight of all'], 2)).toContain(
      '--admin-password',
    );
  });

  test('takes time zone, language and threshold; else UTC, en and 5', async () => {
    const [given, plain] = await Promise.all([
      json<MadeAccount>([
        ...create,
        '--timezone',
        'Europe/Stockholm',
        '--language',
        'sv',
        '--threshold',
        '7',
      ]),
      json<MadeAccount>(create),
    ]);
    const settings = async ({ account }: MadeAccount) =>
      [
        ...(await pool`select timezone, language, threshold from accounts where account_id = ${account.id}`),
      ][0];
    expect(await settings(given)).toEqual({ timezone: 'Europe/Stockholm', language: 'sv', threshold: 7 });
    expect(await settings(plain)).toEqual({ timezone: 'UTC', language: 'en', threshold: 5 });
  });

  test('names every wrong setting at once, and makes nothing of a wrong address', async () => {
    const before = await counts();
    const wrong = ['--timezone', 'Sweden', '--language', 'swedish', '--threshold', '2'];
    const said = await refused([...create, ...wrong]);
    expect(said).toMatch(/"Sweden"[\s\S]*"swedish"[\s\S]*from 3 to 1000/);
    await refused(['account', 'create', '--name', 'X', '--admin-email', 'not an address']);
    await refused(['account', 'create', '--name', ' ', '--admin-email', 'a@example.org']);
    expect(await counts()).toEqual(before);
  });
});

describe('account set', () => {
  test('sets each setting, and leaves those not given', async () => {
    const id = await newAccount();
    const set = (...options: string[]) =>
      json<Record<string, unknown>>(['account', 'set', '--account', id, ...options]);
    const before = await set();
    expect(before).toEqual({
      id: Number(id),
      name: 'Acme',
      sftpUsername: `acme-${id}`,
      timezone: 'UTC',
      language: 'en',
      threshold: 5,
      distributionThreshold: null,
      commentThreshold: null,
      noise: 0,
      publication: 'weekly',
      allow: [],
      applyFiles: true,
      filesPartial: false,
      createGroupsFromUsers: false,
      defaultCountry: null,
      notify: [],
      notifySuccess: false,
      rolesBySync: true,
      maxUsersCreated: 200,
      maxUsersUpdated: 200,
      maxUsersDeleted: 200,
      maxGroupsCreated: 200,
      maxGroupsUpdated: 200,
      maxGroupsDeleted: 200,
    });
    const one = await set(
      '--threshold',
      '1',
      '--publication',
      'live',
      '--apply-files',
      'false',
      '--noise',
      '2',
    );
    expect(one).toEqual({ ...before, threshold: 1, publication: 'live', applyFiles: false, noise: 2 });
    const files = [
      '--partial-files',
      'true',
      '--create-groups-from-users',
      'true',
      '--notify-success',
      'true',
    ];
    const thresholds = [
      '--distribution-threshold',
      '8',
      '--comment-threshold',
      '9',
      '--notify',
      'a@example.com',
    ];
    expect(await set(...files, ...thresholds)).toEqual({
      ...one,
      filesPartial: true,
      createGroupsFromUsers: true,
      notifySuccess: true,
      distributionThreshold: 8,
      commentThreshold: 9,
      notify: ['a@example.com'],
    });
    expect(await set('--roles-by-sync', 'off')).toMatchObject({ rolesBySync: false });
    expect(await set('--roles-by-sync', 'on')).toMatchObject({ rolesBySync: true });
    expect((await soundings(['account', 'set', '--account', id, '--roles-by-sync', 'true'])).status).toBe(2);
    expect(await set('--country', 'se')).toMatchObject({ defaultCountry: 'SE' });
    expect(await set('--country', 'none')).toMatchObject({ defaultCountry: null });
    await refused(['account', 'set', '--account', id, '--threshold', '12']);
    const back = files.map((option) => (option === 'true' ? 'false' : option));
    await set(
      ...back,
      '--distribution-threshold',
      'default',
      '--comment-threshold',
      'default',
      '--notify',
      '',
    );
    const two = await set(
      '--allow',
      '192.0.2.7, 198.51.100.0/24,2001:db8::/32',
      '--name',
      'B',
      '--timezone',
      'Asia/Tokyo',
      '--language',
      'ja',
      '--max-users-created',
      '0',
      '--max-users-updated',
      '1',
      '--max-users-deleted',
      '2',
      '--max-groups-created',
      '3',
      '--max-groups-updated',
      '4',
      '--max-groups-deleted',
      '20000',
    );
    expect(two).toEqual({
      ...one,
      name: 'B',
      timezone: 'Asia/Tokyo',
      language: 'ja',
      allow: ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'],
      maxUsersCreated: 0,
      maxUsersUpdated: 1,
      maxUsersDeleted: 2,
      maxGroupsCreated: 3,
      maxGroupsUpdated: 4,
      maxGroupsDeleted: 20_000,
    });
    expect(await set('--allow', '')).toEqual({ ...two, allow: [] });
  });

  test('changes nothing when a value is wrong', async () => {
    const id = await newAccount();
    const wrong: [string, string, 1 | 2][] = [
      ['--threshold', '2', 1],
      ['--threshold', '5.5', 2],
      ['--publication', 'daily', 1],
      ['--allow', '192.0.2.0/33', 1],
      ['--apply-files', 'yes', 2],
      ['--max-users-created', '20001', 1],
      ['--max-groups-deleted=-1', '', 2],
      ['--timezone', 'Mars/Olympus', 1],
      ['--country', 'QQ', 1],
    ];
    const before = [...(await pool`select * from accounts where account_id = ${id}`)];
    for (let i = 0; i < wrong.length; i += 4) {
      await Promise.all(
        wrong.slice(i, i + 4).map(([option, value, status]) => {
          const options = option.includes('=') ? [option] : [option, value];
          return refused(['account', 'set', '--account', id, '--publication', 'live', ...options], status);
        }),
      );
    }
    expect([...(await pool`select * from accounts where account_id = ${id}`)]).toEqual(before);
    expect(await refused(['account', 'set', '--account', '99999'])).toContain(
      'Account 99999 does not exist.',
    );
  });
});

describe('value map, list and forget', () => {
  test('say what a value of files means, and forget it', async () => {
    const id = await newAccount();
    const map = (...options: string[]) => ['value', 'map', '--account', id, ...options];
    await json(map('--field', 'active', '--value', 'In Elternzeit', '--means', 'no'));
    await json(map('--field', 'active', '--value', 'in elternzeit', '--means', 'yes'));
    const list = () =>
      json<{ mappingId: number; value: string; means: string }[]>(['value', 'list', '--account', id]);
    const [one, ...others] = await list();
    expect(one).toMatchObject({ field: 'active', value: 'In Elternzeit', means: 'yes', confirmedBy: null });
    expect(others).toEqual([]);
    expect(await refused(map('--field', 'role', '--value', 'x', '--means', 'yes'))).toContain('Manager');
    expect(await refused(map('--field', 'email', '--value', 'x', '--means', 'yes'))).toContain('isManager');
    await json(['value', 'remove', '--account', id, '--id', String(one?.mappingId)]);
    expect(await list()).toEqual([]);
    await refused(['value', 'remove', '--account', id, '--id', String(one?.mappingId)]);
  });
});

describe('token create, list and revoke', () => {
  type MadeToken = { id: number; token: string; scopes: string[] };
  type Listed = {
    id: number;
    name: string;
    scopes: string[];
    expiresAt: string | null;
    revokedAt: string | null;
  };
  const create = (id: string, ...options: string[]) => [
    'token',
    'create',
    '--account',
    id,
    '--name',
    'HR system',
    ...options,
  ];
  const list = (id: string) => json<Listed[]>(['token', 'list', '--account', id]);

  test('a token has the scopes that are given, and opens its account', async () => {
    const id = await newAccount();
    const [all, one, two] = await Promise.all([
      json<MadeToken>(create(id, '--scope', 'data', '--scope', 'organization', '--scope', 'files')),
      json<MadeToken>(create(id, '--scope', 'files')),
      json<MadeToken>(create(id, '--scope', 'organization', '--scope', 'data', '--scope', 'data')),
    ]);
    expect(Object.keys(all)).toEqual(['id', 'token', 'scopes']);
    expect([all, one, two].map(({ scopes }) => scopes)).toEqual([
      ['data', 'organization', 'files'],
      ['files'],
      ['data', 'organization'],
    ]);
    expect(isTokenShaped(all.token)).toBe(true);
    expect(await callerOf(pool, all.token, 'data')).toMatchObject({ numbers: 'plain' });
    const quoted = await json<MadeToken>(create(id, '--scope', 'data', '--numbers', 'quoted'));
    expect(await callerOf(pool, quoted.token, 'data')).toMatchObject({ numbers: 'quoted' });
    expect(await refused(create(id, '--scope', 'data', '--numbers', 'roman'))).toContain('plain or quoted');
    expect(await callerOf(pool, all.token, 'data')).toMatchObject({ accountId: Number(id), tokenId: all.id });
    await expect(callerOf(pool, one.token, 'data')).rejects.toMatchObject({ kind: 'forbidden' });
    const listed = await list(id);
    expect(listed.map((token) => token.id)).toEqual(
      [all, one, two, quoted].map((t) => t.id).toSorted((a, b) => a - b),
    );
    expect(JSON.stringify(listed)).not.toContain(all.token.slice(4, 44));
    const kept =
      await pool`select t::text, h::text from tokens t join token_hashes h using (account_id, token_id)`;
    expect(JSON.stringify(kept)).not.toContain(all.token.slice(4, 44));
  });

  test('without a scope is wrong usage, and not made', async () => {
    const id = await newAccount();
    const { status, err } = await soundings(create(id));
    expect([status, err]).toEqual([
      2,
      expect.stringContaining('--scope is required: data, organization or files'),
    ]);
    expect(await list(id)).toEqual([]);
  });

  test('a day of expiry means to its end in UTC; a moment means itself', async () => {
    const id = await newAccount();
    await Promise.all([
      json(create(id, '--scope', 'data', '--expires', '2999-12-31')),
      json(create(id, '--scope', 'data', '--expires', '2999-12-31T12:00:00+02:00')),
      json(create(id, '--scope', 'data')),
    ]);
    expect((await list(id)).map(({ expiresAt }) => expiresAt).toSorted()).toEqual([
      '2999-12-31T10:00:00.000Z',
      '2999-12-31T23:59:59.999Z',
      null,
    ]);
  });

  test('is refused with a wrong scope, expiry or name, and then not made', async () => {
    const id = await newAccount();
    const wrong = [
      create(id, '--scope', 'everything'),
      create(id, '--scope', 'data', '--expires', '2025-02-29'),
      create(id, '--scope', 'data', '--expires', '2999-12-31 12:00'),
      create(id, '--scope', 'data', '--name', '  '),
    ];
    await Promise.all(wrong.map((args) => refused(args)));
    expect(await refused(create('99999', '--scope', 'data'))).toContain('Account 99999 does not exist.');
    expect(await list(id)).toEqual([]);
  });

  test('a revoked token opens nothing; revoking again keeps the time', async () => {
    const id = await newAccount();
    const made = await json<MadeToken>(create(id, '--scope', 'data'));
    const revoke = ['token', 'revoke', '--account', id, '--id', String(made.id)];
    expect(await json(revoke)).toEqual({ id: made.id, revoked: true });
    await expect(callerOf(pool, made.token, 'data')).rejects.toMatchObject({ kind: 'unauthenticated' });
    const [first] = await list(id);
    expect(first?.revokedAt).toEqual(expect.any(String));
    await json(revoke);
    expect(await list(id)).toEqual([first]);
  });

  test("another account's token is not found, in the same words as one that does not exist", async () => {
    const [one, other] = await Promise.all([newAccount(), newAccount()]);
    const made = await json<MadeToken>(create(other, '--scope', 'data'));
    const [theirs, absent] = await Promise.all([
      refused(['token', 'revoke', '--account', one, '--id', String(made.id)]),
      refused(['token', 'revoke', '--account', one, '--id', '99999']),
    ]);
    expect(theirs.replace(String(made.id), '99999')).toBe(absent);
    expect((await callerOf(pool, made.token, 'data')).accountId).toBe(Number(other));
    expect(await list(one)).toEqual([]);
  });
});

describe('attribute define', () => {
  const define = (id: string, ...options: string[]) => ['attribute', 'define', '--account', id, ...options];

  test('defines an attribute; defining it again replaces its values', async () => {
    const id = await newAccount();
    expect(await json(define(id, '--name', 'gender', '--values', 'Male, Female,Male'))).toEqual({
      name: 'gender',
      values: ['Male', 'Female'],
    });
    expect(await json(define(id, '--name', 'gender'))).toEqual({ name: 'gender', values: null });
    expect([...(await pool`select name, allowed_values from attributes where account_id = ${id}`)]).toEqual([
      { name: 'gender', allowed_values: null },
    ]);
  });

  test('refuses a name or values that cannot be', async () => {
    const id = await newAccount();
    await Promise.all([
      refused(define(id, '--name', ' gender')),
      refused(define(id, '--name', '__proto__')),
      refused(define(id, '--name', 'gender', '--values', ' , ')),
      refused(define('99999', '--name', 'gender')),
    ]);
    expect(await pool`select from attributes where account_id = ${id}`).toHaveLength(0);
  });
});

describe('group create', () => {
  const create = (id: string, ...options: string[]) => ['group', 'create', '--account', id, ...options];

  test('makes a group by hand, under a parent where one is named', async () => {
    const id = await newAccount();
    const top = await json<{ id: number }>(create(id, '--name', 'Top', '--external-id', 'top'));
    const leaf = await json<{ id: number }>(create(id, '--name', 'Leaf', '--parent', String(top.id)));
    const groups = await pool`
      select group_id, parent_id, name, external_id, managed from groups where account_id = ${id} order by group_id`;
    expect([...groups]).toEqual([
      { group_id: top.id, parent_id: null, name: 'Top', external_id: 'top', managed: false },
      { group_id: leaf.id, parent_id: top.id, name: 'Leaf', external_id: null, managed: false },
    ]);
  });

  test('refuses a taken or wrong externalId, an empty name, and a parent that the account does not have', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const theirs = await json<{ id: number }>(create(other, '--name', 'Theirs', '--external-id', 'x'));
    await json(create(id, '--name', 'X', '--external-id', 'x'));
    const [taken, white, unnamed, absent, foreign] = await Promise.all([
      refused(create(id, '--name', 'Again', '--external-id', 'x')),
      refused(create(id, '--name', 'Y', '--external-id', ' y')),
      refused(create(id, '--name', '')),
      refused(create(id, '--name', 'Y', '--parent', '99999')),
      refused(create(id, '--name', 'Y', '--parent', String(theirs.id))),
    ]);
    expect([taken, white, unnamed]).toEqual([
      expect.stringContaining('"x" already exists'),
      expect.stringContaining('externalId'),
      expect.stringContaining('name'),
    ]);
    expect(foreign.replace(String(theirs.id), '99999')).toBe(absent);
    expect(await pool`select from groups where account_id = ${id}`).toHaveLength(1);
  });
});

test('user confirm makes an Administrator of one who is pending, once', async () => {
  const id = await newAccount();
  await pool`
    insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, active, role, role_pending)
    values (${id}, 'x', true, 'F', 'L', 'new@example.org', 'new@example.org', true, 'Administrator', true)`;
  const confirm = ['user', 'confirm', '--account', id, '--email', 'New@example.org'];
  const { id: userId } = await json<{ id: number }>(confirm);
  const rows = await pool`select role_pending from users where account_id = ${id} and user_id = ${userId}`;
  expect(rows).toMatchObject([{ role_pending: false }]);
  expect(await refused(confirm)).toContain('no longer waiting');
  expect(await refused([...confirm.slice(0, -1), 'nobody@example.org'])).toContain(
    'This person does not exist',
  );
});

describe('user create', () => {
  const create = (id: string, ...options: string[]) => [
    'user',
    'create',
    '--account',
    id,
    '--first-name',
    'F',
    '--last-name',
    'L',
    ...options,
  ];

  test('makes a user by hand, in the groups that are named', async () => {
    const id = await newAccount();
    const group = (name: string) =>
      json<{ id: number }>(['group', 'create', '--account', id, '--name', name]);
    const [a, b] = await Promise.all([group('A'), group('B')]);
    const options = ['--email', 'F@example.org', '--role', 'Manager', '--external-id', 'f'];
    const groups = ['--member-of', String(a.id), '--member-of', String(b.id), '--member-of', String(a.id)];
    const user = await json<{ id: number }>(create(id, ...options, ...groups));
    expect(Object.keys(user)).toEqual(['id']);
    const stored = await pool`
      select first_name, last_name, email, role, external_id, managed, active
      from users where account_id = ${id} and user_id = ${user.id}`;
    expect(stored[0]).toEqual({
      first_name: 'F',
      last_name: 'L',
      email: 'F@example.org',
      role: 'Manager',
      external_id: 'f',
      managed: false,
      active: true,
    });
    const memberships = await pool<{ kind: string; group_id: number }[]>`
      select kind, group_id from memberships where account_id = ${id} and user_id = ${user.id} order by group_id`;
    expect(memberships.map((one) => [one.kind, one.group_id])).toEqual(
      [a.id, b.id].toSorted((one, other) => one - other).map((groupId) => ['memberOf', groupId]),
    );
  });

  test('refuses an address that is taken, letter case aside, but not one of another account', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    await json(create(id, '--email', 'Ada.Ö@example.org'));
    expect(await refused(create(id, '--email', 'ADA.ö@EXAMPLE.ORG'))).toContain('already exists');
    await json(create(other, '--email', 'ada.ö@example.org'));
  });

  test('refuses a taken externalId, an unknown role or group, and a wrong address, and then makes nothing', async () => {
    const id = await newAccount();
    await json(create(id, '--external-id', 'x'));
    const wrong = [
      ['--external-id', 'x'],
      ['--role', 'administrator'],
      ['--email', 'nobody'],
      ['--member-of', '99999'],
    ];
    await Promise.all(wrong.map((options) => refused(create(id, ...options))));
    await refused(create(id, '--member-of', 'sales'), 2);
    expect(await refused(create(id, '--first-name', ' ', '--email', 'nobody', '--role', 'user'))).toBe(
      '"firstName" is required.\n' +
        '- "nobody" is not a valid email address (for example, anna@example.com).\n' +
        '- "role" must be one of Administrator, Manager, Auditor, User (case-sensitive).\n',
    );
    expect(
      await pool`select from users where account_id = ${id} and not role = 'Administrator'`,
    ).toHaveLength(1);
  });
});

describe('runs list and run approve', () => {
  type Run = { id: string; at: string; outcome: string; summary: { users: { created: number } } | null };
  const push = async (accountId: string, body: unknown) => {
    const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    await pushOrganization(
      pool,
      Number(accountId),
      run,
      { bytes, gzip: false },
      { deleteGroupResults },
    ).catch(() => {});
    return run.id;
  };

  test('lists the runs of the account, newest first, as many as are wanted', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const users = [{ externalId: 'u', firstName: 'F', lastName: 'L' }];
    const ids = [
      await push(id, { data: { users } }),
      await push(id, { settings: { validateOnly: false }, data: { users } }),
      await push(id, { settings: { validateOnly: 'no' } }),
    ];
    await push(other, {});
    const runs = await json<Run[]>(['runs', 'list', '--account', id]);
    const counted = { created: 0, updated: 0, deleted: 0, unchanged: 0 };
    const summary = { users: { ...counted, created: 1 }, groups: counted };
    expect(runs).toEqual([
      {
        id: ids[2],
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        source: 'api',
        validateOnly: true,
        outcome: 'refused',
        summary: null,
        details: [expect.objectContaining({ type: 'wrong type', path: '/settings/validateOnly' })],
      },
      { id: ids[1], at: expect.any(String), source: 'api', validateOnly: false, outcome: 'applied', summary },
      {
        id: ids[0],
        at: expect.any(String),
        source: 'api',
        validateOnly: true,
        outcome: 'validated',
        summary,
      },
    ]);
    const [latest, people] = await Promise.all([
      json<Run[]>(['runs', 'list', '--account', id, '--limit', '1']),
      soundings(['runs', 'list', '--account', id]),
    ]);
    expect(latest.map((run) => run.id)).toEqual([ids[2]]);
    expect(people.out.match(/refused|applied|validated/g)).toEqual(['refused', 'applied', 'validated']);
    await Promise.all([
      refused(['runs', 'list', '--account', id, '--limit', 'all'], 2),
      refused(['runs', 'list', '--account', '99999']),
    ]);
  });

  test('a run that is not held, is unknown, or is of another account cannot be approved', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const [ours, theirs] = [await push(id, {}), await push(other, {})];
    const approve = (run: string) => refused(['run', 'approve', '--account', id, '--id', run]);
    const absent = newId();
    const [notHeld, unknown, foreign, malformed] = await Promise.all([
      approve(ours),
      approve(absent),
      approve(theirs),
      approve('7'),
    ]);
    expect(notHeld).toContain('Only runs that are waiting for approval can be approved');
    expect(unknown).toContain(`Run ${absent} does not exist`);
    expect(foreign.replace(theirs, absent)).toBe(unknown);
    expect(malformed).toContain('Run 7 does not exist');
  });
});

describe('history import', () => {
  const importFrom = (id: string, ...files: string[]) => ['history', 'import', '--account', id, ...files];

  test('says how many of each were new, as JSON and in words; the second time none', async () => {
    const id = await surveyed();
    const file = await historyFile(pastSurvey('2024-W47'));
    expect(await json(importFrom(id, file))).toEqual({
      questions: 1,
      kpis: 1,
      rounds: 1,
      answers: 6,
      weeks: 1,
    });
    const none = { questions: 0, kpis: 0, rounds: 0, answers: 0, weeks: 0 };
    expect(await json(importFrom(id, file))).toEqual({ ...none, passedOver: 6 });
    expect(await publishedOf(id)).toEqual({ '2024-11-18': 6 });
    const more = await historyFile([...pastSurvey('2024-W48'), ...pastSurvey('2024-W49').slice(2)]);
    const { status, out, err } = await soundings(importFrom(id, more));
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^New: 0 questions, 0 KPIs, 2 rounds in 2 weeks, 12 answers\.\n$/);
  });

  test('names the line of a fault on standard error, and then imports nothing', async () => {
    const id = await surveyed();
    const file = await historyFile([
      ...pastSurvey('2024-W47'),
      '',
      { answer: { week: '2024-W47', group: 'top', person: 'e9', question: 'scale', value: 3 } },
    ]);
    expect(await refused(importFrom(id, file))).toBe(
      'Nothing was imported. Line 11: "e9" was not asked in this round.\n',
    );
    for (const table of ['questions', 'kpis', 'weeks', 'rounds', 'answers', 'results']) {
      expect(await pool`select from ${pool(table)} where account_id = ${id}`).toHaveLength(0);
    }
  });

  test('says so when the file or the account is not there', async () => {
    const id = await newAccount();
    const [absent, directory, stranger] = await Promise.all([
      refused(importFrom(id, join(home, 'none.ndjson'))),
      refused(importFrom(id, home)),
      refused(importFrom('99999', await historyFile([]))),
    ]);
    expect(absent).toBe(`File not found: ${join(home, 'none.ndjson')}.\n`);
    expect(directory).toContain(`${home} is not a regular file.`);
    expect(stranger).toBe('Account 99999 does not exist.\n');
  });

  test.each([
    ['no FILE', [], 'This command needs exactly one FILE.'],
    ['two FILEs', ['a.ndjson', 'b.ndjson'], 'This command needs exactly one FILE.'],
    ['an unknown option', ['a.ndjson', '--week', '2024-W47'], '--week'],
  ])('%s: exit status 2', async (_, more, words) => {
    expect(await refused(importFrom('1', ...more), 2)).toContain(words);
  });

  test('killed in the middle: nothing is imported, and the same file then goes in', async () => {
    const id = await surveyed();
    const file = await historyFile(pastSurvey('2024-W47'));
    const [ready, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = pool.begin(async (tx) => {
      await tx`insert into questions (account_id, key, type, text, language) values (${id}, 'scale', 1, '', 'en')`;
      ready.resolve();
      await end.promise;
      throw new Error('rolled back');
    });
    await ready.promise;
    const cli = join(root, 'server/src/cli/cli.ts'); // what the command starts, which would outlive it
    const child = spawn(process.execPath, [cli, ...importFrom(id, file)], {
      env: { ...bareEnvironment, DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    const isWaiting = async () =>
      (
        await pool`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into questions%'`
      ).length > 0;
    while (!(await isWaiting()));
    child.kill('SIGKILL');
    await once(child, 'close');
    end.resolve();
    await expect(held).rejects.toThrow('rolled back');
    expect(await json(importFrom(id, file))).toMatchObject({ questions: 1, answers: 6 });
    expect(await publishedOf(id)).toEqual({ '2024-11-18': 6 });
  });
});

describe('keys remove-process', () => {
  test('forgets a process that is gone, and every account’s log says so; there is none of another name', async () => {
    const id = await newAccount();
    await pool`insert into key_processes (name, epoch, seen_at) values ('gone:/keys/answers', 0, '2024-01-01')`;
    const forget = ['keys', 'remove-process', '--name', 'gone:/keys/answers'];
    expect(await json(forget)).toEqual({ forgotten: 'gone:/keys/answers' });
    expect(await pool`select 1 from key_processes where name = 'gone:/keys/answers'`).toEqual([]);
    expect(
      await pool`select action, subject from audit_entries where account_id = ${id} and action <> 'account created'`,
    ).toEqual([{ action: 'key process removed', subject: 'gone:/keys/answers' }]);
    expect(await refused(forget)).toContain('Process "gone:/keys/answers" does not exist');
    expect(await refused(['keys', 'remove-process'], 2)).toContain('--name');
  });
});

describe('week close', () => {
  const close = (id: string, ...options: string[]) => ['week', 'close', '--account', id, ...options];

  test('publishes the week that is named, and forgets its answers; the second time there is nothing to publish', async () => {
    const id = await surveyed();
    await json(['history', 'import', '--account', id, await historyFile(pastSurvey(ahead))]);
    expect(await publishedOf(id)).toEqual({});
    const week = ['--week', ahead];
    expect(await json(close(id, ...week))).toEqual({ week: ahead, published: 1 });
    expect(await publishedOf(id)).toEqual({ [aheadMonday]: 6 });
    expect(await pool`select from answers where account_id = ${id}`).toHaveLength(0);
    expect(await json(close(id, ...week))).toEqual({ week: ahead, published: 0 });
    const { status, out, err } = await soundings(close(id, ...week));
    expect({ status, out, err }).toEqual({
      status: 0,
      out: `${ahead} is closed. Nothing was published: the week was already closed, or too few people answered.\n`,
      err: '',
    });
  });

  test('says in words how many figures were published', async () => {
    const id = await surveyed();
    await json(['history', 'import', '--account', id, await historyFile(pastSurvey(ahead))]);
    const { out } = await soundings(close(id, '--week', ahead));
    expect(out).toBe(`${ahead} is closed. 1 figures published.\n`);
  });

  test('without a week: the last one that has ended', async () => {
    const id = await surveyed();
    const last = () => weekName(addWeeks(weekOf(dayIn('UTC', Date.now())), -1));
    const before = last();
    const said = await refused(close(id));
    expect([before, last()].map((week) => `No questions were asked in week ${week}.\n`)).toContain(said);
  });

  test('a week in which nothing was asked, or an account that is not there: exit status 1', async () => {
    const id = await surveyed();
    expect(await refused(close(id, '--week', '2024-W47'))).toBe(
      'No questions were asked in week 2024-W47.\n',
    );
    expect(await refused(close('99999', '--week', '2024-W47'))).toBe('Account 99999 does not exist.\n');
  });

  test.each([
    ['a week that no year has', ['--week', '2025-W53'], '"2025-W53"'],
    ['a day', ['--week', '2024-11-18'], '"2024-11-18"'],
    ['a week in other letters', ['--week', '2024-w47'], '"2024-w47"'],
    ['a week without --week', ['2024-W47'], '2024-W47'],
  ])('%s: exit status 2', async (_, options, words) => {
    expect(await refused(close('1', ...options), 2)).toContain(words);
  });
});

/** The id of an account that has a group `top`, as text. */
async function surveyed(): Promise<string> {
  const id = await newAccount();
  await inTransaction(pool, (tx) => createGroup(tx, Number(id), { name: 'Top', externalId: 'top' }));
  return id;
}

/** A week in which six people answer a question. */
function pastSurvey(week: string): object[] {
  const people = ['e1', 'e2', 'e3', 'e4', 'e5', 'e6'];
  const asked = people.map((person) => ({ person, memberOf: ['top'] }));
  return [
    { question: { key: 'scale', type: 1, text: 'How?', language: 'en' } },
    { kpi: { id: 'mood', name: 'Mood', questions: ['scale'] } },
    { round: { week, group: 'top', questions: ['scale'], asked } },
    ...people.map((person) => ({ answer: { week, group: 'top', person, question: 'scale', value: 4 } })),
  ];
}

let files = 0;
async function historyFile(lines: (object | string)[]): Promise<string> {
  const path = join(home, `history${++files}.ndjson`);
  await writeFile(path, lines.map((line) => (line === '' ? '\n' : `${JSON.stringify(line)}\n`)).join(''));
  return path;
}

/** How many answers the published figure of each week rests on. */
async function publishedOf(id: string): Promise<Record<string, number>> {
  const rows = await pool<{ week: string; answers: number }[]>`
    select week, answers from results where account_id = ${id} order by week`;
  return Object.fromEntries(rows.map(({ week, answers }) => [week, answers]));
}

describe('migrate, version and help', () => {
  test('migrate says what it applied: nothing, on a database that is up to date', async () => {
    expect(await json(['migrate'])).toEqual({ applied: [] });
  });

  test('works without a running service: makes the database, migrates it, and leaves no server behind', async () => {
    const env = { DATA_DIR: join(home, 'alone') };
    expect(await json(['migrate'], { env })).toEqual({ applied: migrations().map(({ name }) => name) });
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(await json(['migrate'], { env })).toEqual({ applied: [] });
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('works on a database that DATABASE_URL names, and touches no data directory then', async () => {
    const env = { DATA_DIR: join(home, 'untouched'), DATABASE_URL: embedded.url };
    const id = await newAccount();
    expect(await json(['token', 'list', '--account', id], { env })).toEqual([]);
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });

  test('says so in one line when the database cannot be reached, or a setting is wrong', async () => {
    const [unreachable, wrong] = await Promise.all([
      refused(['migrate'], 1, { env: { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' } }),
      refused(['migrate'], 1, { env: { PORT: 'none' } }),
    ]);
    expect(unreachable).toBe('The database cannot be reached. Try again.\n');
    expect(wrong).toMatch(/PORT must be .*"none"/);
  });

  test('version needs no database', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'server/package.json'), 'utf8')) as {
      version: string;
    };
    const env = { DATA_DIR: '/nowhere/at/all' };
    expect(await json(['version'], { env })).toEqual({ version });
    expect((await soundings(['version'], { env })).out).toContain(version);
  });

  test('help names every command, on standard output, without a database', async () => {
    const env = { DATA_DIR: '/nowhere/at/all' };
    const names = [
      'account create',
      'account set',
      'token create',
      'token list',
      'token revoke',
      'attribute define',
      'group create',
      'user create',
      'runs list',
      'run approve',
      'history import',
      'week close',
      'privacy report',
      'migrate',
      'version',
    ];
    for (const args of [[], ['help']]) {
      const { status, out, err } = await soundings(args, { env });
      expect({ status, err }).toEqual({ status: 0, err: '' });
      expect(names.filter((name) => !out.includes(`soundings ${name}`))).toEqual([]);
    }
    const one = await soundings(['group', 'create', '--help'], { env });
    expect(one).toMatchObject({ status: 0, err: '', out: expect.stringContaining('--parent GROUP_ID') });
    expect(one.out).not.toContain('account create');
  });
});

describe('privacy report', () => {
  test('says what is in force, follows the settings of the installation, and counts the links that the command has exported', async () => {
    const id = await newAccount();
    const auditor = ['user', 'create', '--account', id, '--first-name', 'D', '--last-name', 'PO'];
    const { id: userId } = await json<{ id: number }>([...auditor, '--role', 'Auditor']);
    await pool`
      insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold)
      values (${id}, ${aheadMonday}, 6, 12, 12)`;
    await pool`insert into participants (account_id, user_id, week) values (${id}, ${userId}, ${aheadMonday})`;
    const exported = await json<{ links: unknown[] }>(['links', 'export', '--account', id]);
    expect(exported.links).toHaveLength(1);
    const entries = await pool`
      select origin, action, subject, details from audit_entries
      where  account_id = ${id} and (action = 'links exported' or subject = 'links export')`;
    expect(entries.map((entry) => ({ ...entry }))).toEqual([
      {
        origin: 'command',
        action: 'links exported',
        subject: ahead,
        details: { people: 1, isReplacing: false },
      },
    ]);

    const ask = ['privacy', 'report', '--account', id];
    const env = {
      FILE_DAYS: '9',
      PUBLIC_URL: 'https://surveys.example.com',
      SMTP_URL: 'smtp://localhost:25',
    };
    const report = await json<PrivacyReport>(ask, { env });
    expect(report).toMatchObject({
      account: { id: Number(id) },
      rules: { threshold: 5 },
      openWeeks: [{ week: ahead, threshold: 6, people: 1 }],
      links: { exports: [{ week: ahead, origin: 'command', times: 1, people: 1 }] },
      roles: [
        { role: 'Administrator' },
        { role: 'Manager' },
        { role: 'Auditor', people: 1 },
        { role: 'User' },
      ],
    });
    expect(report.kept).toContainEqual({ code: 'files', days: 9 });
    const codes = (one: PrivacyReport) => one.limits.map(({ code }) => code);
    expect(codes(report)).not.toContain('noMail');
    expect(codes(await json<PrivacyReport>(ask))).toContain('noMail');

    const { status, out, err } = await soundings(ask);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toContain(`Privacy report: `);
    expect(out).toMatch(/minimum answers behind a figure +5 +6\n/);
    expect(out).toContain('Means and response rates that rest on fewer than 5 answers.');
    expect(out).toContain(`No mail server is set`);
    await json(['account', 'set', '--account', id, '--threshold', '8']);
    expect((await soundings(ask)).out).toMatch(/minimum answers behind a figure +8 +6\n/);
    expect(await refused(['privacy', 'report', '--account', '999999'])).toContain('999999');
  });
});

describe('wrong usage', () => {
  test.each([
    ['an unknown command', ['frobnicate']],
    ['a command with an unknown second word', ['account', 'destroy']],
    ['the name of what every object has', ['toString']],
    ['an unknown option', ['migrate', '--force']],
    ['an option without its value', ['group', 'create', '--account', '1', '--name']],
    ['an argument too many', ['token', 'list', '--account', '1', 'x']],
    ['the account missing', ['token', 'list']],
    ['an account that is no number', ['token', 'list', '--account', 'acme']],
  ])('%s: exit status 2, nothing on standard output', async (_, args) => {
    const { status, out, err } = await soundings(args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).not.toBe('');
    expect(err).not.toMatch(/TypeError|^\s+at /m);
  });
});

describe('the command itself', () => {
  test('is what npx finds', async () => {
    const program = [join(root, 'node_modules/.bin/soundings')];
    expect(await json(['migrate'], { program })).toEqual({ applied: [] });
  });

  test('passes arguments, standard input, output and the exit status through an older Node', async (context) => {
    const older = await olderNode();
    if (!older)
      return context.skip('SKIPPED: there is no Node older than 24 on this machine to start it with');
    const program = [older, command];
    const args = ['account', 'create', '--name', 'O’Brien & "Sons"', '--admin-email', 'o@example.org'];
    const input = 'correct horse battery\n';
    const made = await json<MadeAccount>([...args, '--admin-password-stdin'], { program, input });
    expect(made.account.name).toBe('O’Brien & "Sons"');
    await refused(['frobnicate'], 2, { program });
  });

  test('several at once do not disturb each other', async () => {
    const id = await newAccount();
    const create = ['group', 'create', '--account', id, '--name', 'N', '--external-id'];
    const ran = await Promise.all(['x', 'x', 'x', 'y'].map((name) => soundings([...create, name, '--json'])));
    expect(ran.map(({ status }) => status).toSorted()).toEqual([0, 0, 1, 1]);
    expect(await pool`select from groups where account_id = ${id}`).toHaveLength(2);
  });
});

/** The first Node on the way of PATH that is older than the one that runs TypeScript. */
async function olderNode(): Promise<string | undefined> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/bin', '/usr/bin'];
  for (const file of folders.map((folder) => join(folder, 'node')).filter((one) => existsSync(one))) {
    const { out } = await soundings(['--version'], { program: [file] });
    if (Number(/^v(\d+)/.exec(out)?.[1]) < 24) return file;
  }
  return undefined;
}
