// The commands for an account: create, set, values in files, tokens and the privacy report.
import type { PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { callerOf } from '../accounts/callers.ts';
import { isPassword, isTokenShaped } from '../base/crypto/secrets.ts';
import { inTransaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import {
  ahead,
  aheadMonday,
  type CreatedAccount,
  json,
  newAccount,
  pool,
  refused,
  soundings,
  useDatabase,
} from './cli.fixture.ts';

useDatabase();

const counts = async () => {
  const [row] = await pool`
    select (select count(*) from accounts) as accounts, (select count(*) from users) as users,
           (select count(*) from sftp_usernames) as names`;
  return row;
};

describe('account create', () => {
  const create = ['account', 'create', '--name', 'Åkes Äpplen & Co', '--admin-email', 'Åsa@example.org'];

  test('creates an account and its administrator, who can sign in with the generated password', async () => {
    const created = await json<CreatedAccount>(create);
    const { id } = created.account;
    expect(created).toEqual({
      account: { id: expect.any(Number), name: 'Åkes Äpplen & Co', sftpUsername: `akes-applen-co-${id}` },
      admin: {
        id: expect.any(Number),
        email: 'Åsa@example.org',
        password: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
      },
    });
    const [stored] = await pool<{ hash: string; role: string; active: boolean; managed: boolean }[]>`
      select p.hash, u.role, u.active, u.managed from users u join passwords p using (account_id, user_id)
      where u.account_id = ${id} and u.user_id = ${created.admin.id}`;
    expect(stored).toMatchObject({ role: 'Administrator', active: true, managed: false });
    expect(await isPassword(created.admin.password!, stored!.hash)).toBe(true);
    expect(await isPassword(`${created.admin.password}x`, stored!.hash)).toBe(false);
  });

  test('takes the password unchanged from standard input and does not repeat it', async () => {
    const password = ' p\u00e4ss w\u00f6rd "$HOME" ';
    const created = await json<CreatedAccount>([...create, '--admin-password-stdin'], {
      input: `${password}\n`,
    });
    expect(Object.keys(created.admin)).toEqual(['id', 'email']);
    const [stored] = await pool<{ hash: string }[]>`
      select hash from passwords where account_id = ${created.account.id}`;
    expect(await isPassword(password, stored!.hash)).toBe(true);
  });

  test('refuses a password that is too short or empty, and creates nothing', async () => {
    const before = await counts();
    for (const input of ['short\n', '\n']) {
      expect(await refused([...create, '--admin-password-stdin'], 1, { input })).toContain('at least 12');
    }
    expect(await counts()).toEqual(before);
  });

  test('has no option that takes a password', async () => {
    expect(await refused([...create, '--admin-password', 'in sight of all'], 2)).toContain(
      '--admin-password',
    );
  });

  test('takes time zone, language and threshold; the defaults are UTC, en and 5', async () => {
    const [given, plain] = await Promise.all([
      json<CreatedAccount>([
        ...create,
        '--timezone',
        'Europe/Stockholm',
        '--language',
        'sv',
        '--threshold',
        '7',
      ]),
      json<CreatedAccount>(create),
    ]);
    const settings = async ({ account }: CreatedAccount) =>
      [
        ...(await pool`select timezone, language, threshold from accounts where account_id = ${account.id}`),
      ][0];
    expect(await settings(given)).toEqual({ timezone: 'Europe/Stockholm', language: 'sv', threshold: 7 });
    expect(await settings(plain)).toEqual({ timezone: 'UTC', language: 'en', threshold: 5 });
  });

  test('names all invalid settings at once, and creates nothing if the email address is invalid', async () => {
    const before = await counts();
    const wrong = ['--timezone', 'Sweden', '--language', 'swedish', '--threshold', '2'];
    const message = await refused([...create, ...wrong]);
    expect(message).toMatch(/"Sweden"[\s\S]*"swedish"[\s\S]*from 3 to 1000/);
    await refused(['account', 'create', '--name', 'X', '--admin-email', 'not an address']);
    await refused(['account', 'create', '--name', ' ', '--admin-email', 'a@example.org']);
    expect(await counts()).toEqual(before);
  });
});

describe('account list', () => {
  type Listed = { id: number; kind: string; name: string; people: number; owner: object | null };

  test('lists every account with its kind and people, and whose sandbox it is', async () => {
    const created = (name: string, kind: 'company' | 'template' | 'sandbox') =>
      inTransaction(pool, async (tx) => {
        const { id } = await createAccount(tx, { name, kind });
        await createUser(tx, id, { email: `${kind}@example.org`, role: 'Administrator' });
        return id;
      });
    const company = await created('Company', 'company');
    const other = await created('Other company', 'company');
    const template = await created('Template', 'template');
    const sandbox = await created('Lavmark', 'sandbox');
    const ended = await created('Ended', 'sandbox');
    const rows = await pool<{ userId: number }[]>`
      select user_id as "userId" from users where account_id = ${company}`;
    const { userId } = rows[0]!;
    await pool`
      insert into sandboxes (account_id, user_id, state, sandbox_id, token_hash, scopes)
      values (${company}, ${userId}, 'ready', ${sandbox}, ${Buffer.alloc(32)}, '{data}')`;
    const before = await pool`select count(*) from audit_entries`;
    const all = await json<Listed[]>(['account', 'list']);
    const ids = [company, other, template, sandbox, ended];
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b));
    expect(all.filter(({ id }) => ids.includes(id))).toEqual([
      { id: company, kind: 'company', name: 'Company', people: expect.any(Number), owner: null },
      { id: other, kind: 'company', name: 'Other company', people: expect.any(Number), owner: null },
      { id: template, kind: 'template', name: 'Template', people: expect.any(Number), owner: null },
      {
        id: sandbox,
        kind: 'sandbox',
        name: 'Lavmark',
        people: expect.any(Number),
        owner: { accountId: company, userId },
      },
      { id: ended, kind: 'sandbox', name: 'Ended', people: expect.any(Number), owner: null },
    ]);
    for (const { id, people } of all) {
      const [counted] = await pool<{ count: number }[]>`
        select count(*)::integer as count from users where account_id = ${id}`;
      expect([id, people]).toEqual([id, counted!.count]);
    }
    // It reads, so no account's audit log has it.
    expect(await pool`select count(*) from audit_entries`).toEqual(before);
    const { out, status } = await soundings(['account', 'list']);
    expect(status).toBe(0);
    const lines = out.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(lines[0]).toEqual(['account', 'kind', 'people', 'name', 'sandbox of']);
    const lineOf = (id: number) => lines.find(([first]) => first === String(id));
    expect(lineOf(sandbox)?.slice(3)).toEqual(['Lavmark', `user ${userId} of account ${company}`]);
    expect(lineOf(ended)?.slice(3)).toEqual(['Ended']);
  });

  test('takes no options', async () => {
    expect(await refused(['account', 'list', '--account', '1'], 2)).toContain('--account');
  });
});

describe('account set', () => {
  test('sets each setting that is given and leaves the others', async () => {
    const id = await newAccount();
    const set = (...options: string[]) =>
      json<Record<string, unknown>>(['account', 'set', '--account', id, ...options]);
    const before = await set();
    expect(before).toEqual({
      id: Number(id),
      name: 'Acme',
      kind: 'company',
      sftpUsername: `acme-${id}`,
      timezone: 'UTC',
      language: 'en',
      threshold: 5,
      distributionThreshold: null,
      commentThreshold: null,
      noise: 0,
      kpiWeeks: null,
      managerComparisons: ['company', 'parent', 'halfYear'],
      digest: true,
      digestDays: 0,
      digestHour: 8,
      digestComments: true,
      sms: false,
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
      largestPush: 20_000,
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

  test('changes nothing if a value is invalid', async () => {
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

describe('value map, list and remove', () => {
  test('save, list and delete what a value in files means', async () => {
    const id = await newAccount();
    const map = (...options: string[]) => ['value', 'map', '--account', id, ...options];
    await json(map('--field', 'active', '--value', 'In Elternzeit', '--meaning', 'no'));
    await json(map('--field', 'active', '--value', 'in elternzeit', '--meaning', 'yes'));
    const list = () =>
      json<{ mappingId: number; value: string; meaning: string }[]>(['value', 'list', '--account', id]);
    const [one, ...others] = await list();
    expect(one).toMatchObject({ field: 'active', value: 'In Elternzeit', meaning: 'yes', confirmedBy: null });
    expect(others).toEqual([]);
    expect(await refused(map('--field', 'role', '--value', 'x', '--meaning', 'yes'))).toContain('Manager');
    expect(await refused(map('--field', 'email', '--value', 'x', '--meaning', 'yes'))).toContain('isManager');
    expect(await refused(map('--field', 'role', '--value', 'x', '--means', 'User'), 2)).toContain(
      '--meaning',
    );
    await json(['value', 'remove', '--account', id, '--id', String(one?.mappingId)]);
    expect(await list()).toEqual([]);
    await refused(['value', 'remove', '--account', id, '--id', String(one?.mappingId)]);
  });
});

describe('token create, list and revoke', () => {
  type CreatedToken = { id: number; token: string; scopes: string[] };
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

  test('a token has the given scopes and gives access to its account', async () => {
    const id = await newAccount();
    const [all, one, two] = await Promise.all([
      json<CreatedToken>(create(id, '--scope', 'data', '--scope', 'organization', '--scope', 'files')),
      json<CreatedToken>(create(id, '--scope', 'files')),
      json<CreatedToken>(create(id, '--scope', 'organization', '--scope', 'data', '--scope', 'data')),
    ]);
    expect(Object.keys(all)).toEqual(['id', 'token', 'scopes']);
    expect([all, one, two].map(({ scopes }) => scopes)).toEqual([
      ['data', 'organization', 'files'],
      ['files'],
      ['data', 'organization'],
    ]);
    expect(isTokenShaped(all.token)).toBe(true);
    expect(await callerOf(pool, all.token, 'data')).toMatchObject({ numbers: 'plain' });
    const quoted = await json<CreatedToken>(create(id, '--scope', 'data', '--numbers', 'quoted'));
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

  test('without a scope is wrong usage and creates no token', async () => {
    const id = await newAccount();
    const { status, err } = await soundings(create(id));
    expect([status, err]).toEqual([
      2,
      expect.stringContaining('--scope is required: data, organization, files or audit'),
    ]);
    expect(await list(id)).toEqual([]);
  });

  test('an expiry date means the end of that day in UTC; a date and time means exactly that', async () => {
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

  test('refuses an invalid scope, expiry or name, and creates no token', async () => {
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

  test('a revoked token gives no access; revoking it again keeps the time', async () => {
    const id = await newAccount();
    const created = await json<CreatedToken>(create(id, '--scope', 'data'));
    const revoke = ['token', 'revoke', '--account', id, '--id', String(created.id)];
    expect(await json(revoke)).toEqual({ id: created.id, revoked: true });
    await expect(callerOf(pool, created.token, 'data')).rejects.toMatchObject({ kind: 'unauthenticated' });
    const [first] = await list(id);
    expect(first?.revokedAt).toEqual(expect.any(String));
    await json(revoke);
    expect(await list(id)).toEqual([first]);
  });

  test("another account's token gets the same message as a token that does not exist", async () => {
    const [one, other] = await Promise.all([newAccount(), newAccount()]);
    const created = await json<CreatedToken>(create(other, '--scope', 'data'));
    const [theirs, absent] = await Promise.all([
      refused(['token', 'revoke', '--account', one, '--id', String(created.id)]),
      refused(['token', 'revoke', '--account', one, '--id', '99999']),
    ]);
    expect(theirs.replace(String(created.id), '99999')).toBe(absent);
    expect((await callerOf(pool, created.token, 'data')).accountId).toBe(Number(other));
    expect(await list(one)).toEqual([]);
  });
});

describe('privacy report', () => {
  test('contains the rules in force, follows the settings of the installation, and counts the exported links', async () => {
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

    const command = ['privacy', 'report', '--account', id];
    const env = {
      FILE_DAYS: '9',
      PUBLIC_URL: 'https://surveys.example.com',
      SMTP_URL: 'smtp://localhost:25',
    };
    const report = await json<PrivacyReport>(command, { env });
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
    expect(codes(await json<PrivacyReport>(command))).toContain('noMail');

    const { status, out, err } = await soundings(command);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toContain(`Privacy report: `);
    expect(out).toMatch(/Minimum answers behind a figure +5 +6\n/);
    expect(out).toContain('Means and response rates based on fewer than 5 answers.');
    expect(out).toContain(`Neither a mail server nor a gateway for text messages is configured`);
    await json(['account', 'set', '--account', id, '--threshold', '8']);
    expect((await soundings(command)).out).toMatch(/Minimum answers behind a figure +8 +6\n/);
    expect(await refused(['privacy', 'report', '--account', '999999'])).toContain('999999');
  });
});
