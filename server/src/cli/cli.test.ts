// The soundings command as people and scripts run it: its output, its exit status and its effects.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrations } from '../db/migrate.ts';
import {
  command,
  type CreatedAccount,
  embedded,
  home,
  json,
  newAccount,
  pool,
  program,
  refused,
  root,
  soundings,
  useDatabase,
} from './cli.fixture.ts';

useDatabase();

describe('migrate, version and help', () => {
  test('migrate reports what it applied: nothing if the database is up to date', async () => {
    expect(await json(['migrate'])).toEqual({ applied: [] });
  });

  test('works without a running service: creates the database, migrates it, and leaves no server running', async () => {
    const env = { DATA_DIR: join(home, 'alone') };
    expect(await json(['migrate'], { env, program })).toEqual({
      applied: migrations().map(({ name }) => name),
    });
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(await json(['migrate'], { env, program })).toEqual({ applied: [] });
    expect(existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('works on the database in DATABASE_URL, without touching a data directory', async () => {
    const env = { DATA_DIR: join(home, 'untouched'), DATABASE_URL: embedded.url };
    const id = await newAccount();
    expect(await json(['token', 'list', '--account', id], { env })).toEqual([]);
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });

  test('reports in one line that the database cannot be reached, or that a setting is invalid', async () => {
    const [unreachable, wrong] = await Promise.all([
      refused(['migrate'], 1, {
        env: { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' },
        program,
      }),
      refused(['migrate'], 1, { env: { PORT: 'none' }, program }),
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
    for (const word of ['version', '--version']) {
      expect((await soundings([word], { env })).out).toContain(version);
    }
  });

  test('help names every command on standard output, without a database', async () => {
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

describe('wrong usage', () => {
  test.each([
    ['an unknown command', ['frobnicate']],
    ['an unknown second word', ['account', 'destroy']],
    ['a name that every JavaScript object has', ['toString']],
    ['an unknown option', ['migrate', '--force']],
    ['an option without its value', ['group', 'create', '--account', '1', '--name']],
    ['an extra argument', ['token', 'list', '--account', '1', 'x']],
    ['a missing account', ['token', 'list']],
    ['an account that is not a number', ['token', 'list', '--account', 'acme']],
  ])('%s: exit status 2, nothing on standard output', async (_, args) => {
    const { status, out, err } = await soundings(args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).not.toBe('');
    expect(err).not.toMatch(/TypeError|^\s+at /m);
  });
});

describe('the command itself', () => {
  test('npx finds it', async () => {
    const found = [join(root, 'node_modules/.bin/soundings')];
    expect(await json(['migrate'], { program: found })).toEqual({ applied: [] });
  });

  test('reads standard input to its end, prints results and errors where they belong, and ends by itself with its status', async () => {
    const args = ['account', 'create', '--name', 'Å & "Ö"', '--admin-email', 'p@example.org'];
    const create = [...args, '--admin-password-stdin'];
    const created = await json<CreatedAccount>(create, { program, input: 'correct horse battery\n' });
    expect(created.account.name).toBe('Å & "Ö"');
    expect(created.admin.password).toBeUndefined();
    expect(await refused(create, 1, { program, input: 'short\n' })).toContain('at least 12');
    expect(await refused(['frobnicate'], 2, { program })).toContain('Unknown command "frobnicate');
    const { key } = await json<{ key: string }>(['keys', 'export'], { program });
    expect(await json(['keys', 'import'], { program, input: key })).toEqual({ imported: true });
  });

  test('works when it is started with an older Node, with its arguments, standard input, output and exit status', async (context) => {
    const older = await olderNode();
    if (!older)
      return context.skip('SKIPPED: there is no Node older than 24 on this machine to start it with');
    const olderProgram = [older, command];
    const args = ['account', 'create', '--name', 'O’Brien & "Sons"', '--admin-email', 'o@example.org'];
    const input = 'correct horse battery\n';
    const created = await json<CreatedAccount>([...args, '--admin-password-stdin'], {
      program: olderProgram,
      input,
    });
    expect(created.account.name).toBe('O’Brien & "Sons"');
    await refused(['frobnicate'], 2, { program: olderProgram });
  });

  test('several commands that run at the same time do not disturb each other', async () => {
    const id = await newAccount();
    const create = ['group', 'create', '--account', id, '--name', 'N', '--external-id'];
    const ran = await Promise.all(
      ['x', 'x', 'x', 'y'].map((name) => soundings([...create, name, '--json'], { program })),
    );
    expect(ran.map(({ status }) => status).toSorted()).toEqual([0, 0, 1, 1]);
    expect(await pool`select from groups where account_id = ${id}`).toHaveLength(2);
  });
});

/** Returns the first Node on PATH that is older than the one that runs TypeScript. */
async function olderNode(): Promise<string | undefined> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/bin', '/usr/bin'];
  for (const file of folders.map((folder) => join(folder, 'node')).filter((one) => existsSync(one))) {
    const { out } = await soundings(['--version'], { program: [file] });
    if (Number(/^v(\d+)/.exec(out)?.[1]) < 24) return file;
  }
  return undefined;
}

describe('audit verify', () => {
  type Verified = { accountId: number; last: { position: number; hash: string }; fault?: string };

  test('reports intact logs with their last entry, and exits with 1 after a change', async () => {
    const id = await newAccount();
    await json(['account', 'set', '--account', id, '--threshold', '8']);
    const one = ['audit', 'verify', '--account', id];
    const [intact] = await json<Verified[]>(one);
    const { position, hash } = intact!.last;
    expect(position).toBeGreaterThan(0);
    expect((await soundings(['audit', 'verify'])).out).toContain(`Last: ${position}:${hash}\n`);
    expect((await soundings([...one, '--last', `${position}:${hash}`])).status).toBe(0);

    const other = await soundings([...one, '--last', `${position}:${'0'.repeat(64)}`]);
    expect([other.status, other.out]).toEqual([1, expect.stringContaining('a different hash')]);
    await pool.begin(async (tx) => {
      await tx`alter table audit_entries disable trigger user`;
      await tx`update audit_entries set details = '{}' where account_id = ${id} and position = ${position}`;
      await tx`alter table audit_entries enable trigger user`;
    });
    const changed = await soundings(one);
    expect([changed.status, changed.out]).toEqual([1, expect.stringContaining(`Position ${position} (`)]);
  });

  test('refuses an unknown account, and --last that is not what it prints', async () => {
    expect(await refused(['audit', 'verify', '--account', '999999'])).toContain('999999');
    expect(await refused(['audit', 'verify', '--last', `1:${'0'.repeat(64)}`], 2)).toContain('--account');
    expect(await refused(['audit', 'verify', '--account', '1', '--last', 'x'], 2)).toContain('--last must');
  });
});
