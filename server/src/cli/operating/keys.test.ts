// The keys commands as operators run them, on two machines that share a database: output, exit status and effects. Only an
// export prints a key.
import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyState } from '@soundings/contract/console/privacy.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { openEmptyWeek } from '../../testing/asking.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { type EpochKey, keyAt, newChain } from '../../sealing/epoch-keys.ts';
import { keyIn, keyText } from '../../sealing/key-file.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { runHere } from '../cli.fixture.ts';

let home: string;
let database: TestDatabase;
let accountId: number;
/** Every key that was in a file, in hexadecimal. */
let secrets: Set<string>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'soundings-cli-keys-'));
  database = await openTestDatabase();
  accountId = await inTransaction(
    database.pool,
    async (tx) => (await createAccount(tx, { name: 'Acme' })).id,
  );
  secrets = new Set();
});
afterEach(async () => {
  await database.close();
  await rm(home, { recursive: true, force: true });
});

type Machine = 'one' | 'two';
const pathOf = (machine: Machine) => join(home, machine, 'keys', 'answers');
const secretsPathOf = (machine: Machine) => join(home, machine, 'keys', 'secrets');
const nameOf = (machine: Machine) => `${hostname()}:${pathOf(machine)}`;
/** Returns the keys that the service on a machine uses. */
const serviceOn = (machine: Machine) =>
  new AnswerKeys(database.pool, { place: 'file', directory: join(home, machine, 'keys') });

function keyOn(machine: Machine): EpochKey | undefined {
  const [key, ofSecrets] = [pathOf(machine), secretsPathOf(machine)].map((path) => {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile();
    return isFile ? keyIn(readFileSync(path, 'utf8')) : undefined;
  });
  for (const one of [key, ofSecrets]) if (one) secrets.add(one.secret.toString('hex'));
  return key;
}

/** Runs a command on a machine. Checks that only an export prints a key, and that an error message has no stack. */
async function run(machine: Machine, args: string[], input = '') {
  keyOn(machine);
  const env = { DATABASE_URL: database.url, DATA_DIR: join(home, machine) };
  const { status, out, err } = await runHere(args, env, input);
  keyOn(machine);
  const shown = args[1] === 'export' ? err : out + err;
  for (const secret of secrets) expect(shown).not.toContain(secret);
  expect(err).not.toMatch(/^\s+at |\.ts:\d/m);
  return { status, out, err };
}

async function done(machine: Machine, args: string[], input = ''): Promise<string> {
  const { status, out, err } = await run(machine, args, input);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return out;
}

async function refused(machine: Machine, args: string[], status: 1 | 2, input = ''): Promise<string> {
  const ran = await run(machine, args, input);
  expect({ status: ran.status, out: ran.out }).toEqual({ status, out: '' });
  return ran.err;
}

const show = async (machine: Machine) =>
  JSON.parse(await done(machine, ['keys', 'show', '--json'])) as KeyState;

const weekAt = (i: number): Week =>
  new Date(Date.parse('2026-01-05') + i * 7 * 86_400_000).toISOString().slice(0, 10);

const open = (keys: AnswerKeys, week: Week) =>
  inTransaction(database.pool, async (tx) =>
    Buffer.from((await openEmptyWeek(tx, keys, accountId, week)).secret),
  );
async function close(keys: AnswerKeys, week: Week): Promise<void> {
  await inTransaction(database.pool, async (tx) => {
    await keys.forget(tx, accountId, week);
    await tx`update weeks set closed_at = now() where account_id = ${accountId} and week = ${week}`;
  });
  await keys.chain.advance();
}

const logged = async () =>
  (
    await database.pool<{ action: string; subject: string | null }[]>`
      select action, subject from audit_entries
      where  account_id = ${accountId} and action like '%key%' order by entry_id`
  ).map(({ action, subject }) => (subject === null ? action : `${action}: ${subject}`));

/** Returns a service on machine one with an open week. */
async function runOne(): Promise<{ keys: AnswerKeys; secret: Buffer }> {
  const keys = serviceOn('one');
  const secret = await open(keys, weekAt(0));
  await keys.chain.advance();
  return { keys, secret };
}

async function secretOn(machine: Machine, week: Week): Promise<Buffer> {
  return Buffer.from((await serviceOn(machine).of(database.pool, accountId, week))!.secret);
}

describe('keys show', () => {
  test('shows the place, the epoch and the processes of the key, and that it is missing', async () => {
    const { keys } = await runOne();
    expect(await show('one')).toMatchObject({
      place: 'file',
      path: pathOf('one'),
      state: 'ready',
      epoch: 1,
      exportedAt: null,
      processes: [{ name: nameOf('one'), epoch: 1, isBehind: false }],
    });
    const output = await done('one', ['keys', 'show']);
    expect(output).toContain(`Answer key in ${pathOf('one')}: ready. Epoch 1.\n`);
    expect(output).toContain(nameOf('one'));
    expect(output).not.toMatch(/out of date|exported/);
    expect(await done('two', ['keys', 'show'])).toContain(
      `Answer key in ${pathOf('two')}: missing. Epoch 1.\n`,
    );
    expect(keyOn('two')).toBeUndefined();
    expect(await keys.lostWeeks()).toEqual([]);
  });

  test('lists a machine that was switched off as out of date, and says what to do, until it is removed', async () => {
    const { keys } = await runOne();
    await done('two', ['keys', 'import'], await done('one', ['keys', 'export']));
    await open(keys, weekAt(1));
    await close(keys, weekAt(1));
    const output = await done('one', ['keys', 'show']);
    const rows = output.split('\n').filter((line) => line.includes('/keys/answers  '));
    expect(rows).toHaveLength(2);
    for (const row of rows)
      expect(
        row.includes('out of date: start it, or delete its key file and run "keys remove-process"'),
      ).toBe(row.startsWith(nameOf('two')));
    expect(await done('one', ['keys', 'remove-process', '--name', nameOf('two')])).toBe(
      `${nameOf('two')} removed.\n`,
    );
    expect((await show('one')).processes.map(({ name }) => name)).toEqual([nameOf('one')]);
    expect(await logged()).toContain(`key process removed: ${nameOf('two')}`);
    const unknown = await refused('one', ['keys', 'remove-process', '--name', nameOf('two')], 1);
    expect(unknown).toBe(
      `Process "${nameOf('two')}" does not exist. Run "soundings keys show" to list all processes.\n`,
    );
    expect(await refused('one', ['keys', 'remove-process'], 2)).toBe('--name is required.\n');
  });
});

describe('the secrets key', () => {
  const fingerprints = async (machine: Machine) => done(machine, ['sftp', 'hostkeys']);

  test('is stored where `keys show` says; if it is missing, it can be imported from a copy of its file; if it is lost, it can be reset', async () => {
    const before = await fingerprints('one');
    expect(await done('one', ['keys', 'show'])).toContain(`Secrets key in ${secretsPathOf('one')}: ready.`);
    expect(await done('two', ['keys', 'show'])).toContain('missing');
    expect(await refused('two', ['sftp', 'hostkeys'], 1)).toContain('DATA_DIR/keys/secrets');
    const copy = await done('one', ['keys', 'export', '--secrets']);
    expect(copy).toBe(readFileSync(secretsPathOf('one'), 'utf8'));
    expect((await show('one')).exportedAt).toBeNull(); // the secrets key opens no answers, so it doesn't count
    await done('two', ['keys', 'import'], copy);
    expect(await fingerprints('two')).toBe(before);
    expect(await refused('two', ['keys', 'reset', '--secrets'], 2)).toContain('Add --yes');
    expect(await done('two', ['keys', 'reset', '--secrets', '--yes'])).toContain('New key created.');
    expect(await fingerprints('two')).not.toBe(before);
    expect(await logged()).toEqual(['secrets key exported', 'secrets key imported', 'secrets key reset']);
  });
});

describe('keys export and import', () => {
  test('copy the key to another machine, which follows later epochs by itself; the export and the import are in the audit log', async () => {
    const { keys, secret } = await runOne();
    const text = await done('one', ['keys', 'export']);
    expect(text).toBe(readFileSync(pathOf('one'), 'utf8') + readFileSync(secretsPathOf('one'), 'utf8'));
    expect(JSON.parse(await done('one', ['keys', 'export', '--json']))).toEqual({ key: text });
    expect(await done('one', ['keys', 'show'])).toMatch(/^Last exported on \d{4}-\d\d-\d\d \d\d:\d\d\.$/m);
    expect(await done('two', ['keys', 'import'], text)).toBe('Key imported.\n');
    expect(keyOn('two')).toEqual(keyOn('one'));
    expect(readFileSync(secretsPathOf('two'), 'utf8')).toBe(readFileSync(secretsPathOf('one'), 'utf8'));
    for (const path of [pathOf('two'), secretsPathOf('two')]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await secretOn('two', weekAt(0))).toEqual(secret);
    expect(await logged()).toEqual(['answer key exported', 'answer key exported', 'answer key imported']);

    const next = await open(serviceOn('two'), weekAt(1));
    await close(keys, weekAt(0));
    expect((await show('one')).processes.map(({ isBehind }) => isBehind).toSorted()).toEqual([false, true]);
    await serviceOn('two').chain.advance();
    expect(keyOn('two')).toEqual(keyOn('one'));
    expect(await secretOn('two', weekAt(1))).toEqual(next);
    expect((await show('two')).processes.map(({ isBehind }) => isBehind)).toEqual([false, false]);
    const rows = await database.pool`
      select to_jsonb(a)::text as row from answer_keys a
      union all select to_jsonb(p)::text from key_processes p
      union all select to_jsonb(e)::text from audit_entries e`;
    expect(rows.length).toBeGreaterThan(4);
    for (const secretText of secrets)
      expect(rows.map(({ row }) => row as string).join()).not.toContain(secretText);
  });

  test('an invalid text is not imported, and the message says where to get a key', async () => {
    await runOne();
    const text = await done('one', ['keys', 'export']);
    const secret = keyOn('one')!.secret.toString('hex');
    const other = secret.startsWith('0') ? '1' : '0';
    for (const broken of [
      '',
      'key',
      text.slice(0, -8),
      text.replace(secret, other + secret.slice(1)),
      text.replace('epoch 0', 'epoch 1'),
      JSON.stringify({ key: text }),
    ]) {
      expect(await refused('two', ['keys', 'import'], 1, broken)).toMatch(
        /^This is not (an exported answer key|the secrets key of this installation)\. Run "soundings keys export" again on the server that has the key\.\n$/,
      );
    }
    expect(keyOn('two')).toBeUndefined();
    expect(await logged()).toEqual(['answer key exported']);
    expect(await done('two', ['keys', 'import'], text.trim())).toBe('Key imported.\n');
  });

  test('a key that was replaced, or is from another installation, is not imported, and the current key stays', async () => {
    const { keys } = await runOne();
    const replaced = await done('one', ['keys', 'export']);
    await close(keys, weekAt(0));
    await done('one', ['keys', 'reset', '--yes']);
    await open(serviceOn('one'), weekAt(1));
    const before = keyOn('one');
    const stranger = newChain();
    const later = keyAt(before!, before!.epoch + 1)!;
    for (const key of [stranger, later]) secrets.add(key.secret.toString('hex'));
    for (const text of [keyText(stranger), replaced, keyText(later)]) {
      for (const machine of ['one', 'two'] as const) {
        const output = await refused(machine, ['keys', 'import'], 1, text);
        expect(output).toMatch(/another installation, was replaced .*, or is newer than the database\./);
        expect(output).toContain('Run "soundings keys export" again on the server that has the key.');
      }
    }
    expect(keyOn('one')).toEqual(before);
    expect(keyOn('two')).toBeUndefined();
  });

  test('an older key of the same chain is imported and advanced to the current epoch', async () => {
    const { keys } = await runOne();
    const older = await done('one', ['keys', 'export']);
    const secret = await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await done('two', ['keys', 'import'], older);
    expect(keyOn('two')).toEqual(keyOn('one'));
    expect(keyOn('two')!.epoch).toBe(2);
    expect(await secretOn('two', weekAt(1))).toEqual(secret);
    expect((await show('one')).processes.map(({ isBehind }) => isBehind)).toEqual([false, false]);
  });

  test('a missing key can’t be exported, and the message says what to do', async () => {
    await runOne();
    const output = await refused('two', ['keys', 'export'], 1);
    for (const remedy of [
      '"soundings keys export" there',
      'keys import',
      'keys reset',
      'ANSWER_KEYS=database',
    ])
      expect(output).toContain(remedy);
    expect((await show('two')).exportedAt).toBeNull();
    expect(await logged()).toEqual([]);
  });

  test('a key is read only from standard input', async () => {
    await runOne();
    const message = await refused('two', ['keys', 'import', 'key by mistake'], 2);
    expect(message).toContain('npx soundings keys import');
    expect(message).not.toContain('by mistake');
    expect(await refused('two', ['keys', 'import', '--key', 'a key'], 2)).toContain('from standard input');
    expect(keyOn('two')).toBeUndefined();
  });
});

describe('keys reset', () => {
  test('without --yes changes nothing; with it, open weeks close without results and the previous key can’t be used any more', async () => {
    await runOne();
    const before = keyOn('one')!;
    expect(await refused('two', ['keys', 'reset'], 2)).toBe(
      'Open weeks will be closed without results. Add --yes to continue.\n',
    );
    expect((await show('two')).state).toBe('missing');
    expect(await done('two', ['keys', 'reset', '--yes'])).toBe(
      'New key created. Weeks closed without results: 1.\n',
    );
    expect((await show('two')).state).toBe('ready');
    const [week] = await database.pool`
      select closed_at is not null as closed, is_lost as lost from weeks where account_id = ${accountId}`;
    expect(week).toEqual({ closed: true, lost: true });
    expect(await logged()).toEqual(['answer key reset']);
    const after = keyOn('two')!;
    expect(keyAt(before, after.epoch)!.secret.equals(after.secret)).toBe(false);
    // The other machine has the previous key. It is listed as behind, and gets the new key.
    const states = (await show('two')).processes.map(({ name, isBehind }) => [name, isBehind]);
    expect(Object.fromEntries(states)).toEqual({ [nameOf('one')]: true, [nameOf('two')]: false });
    const secret = await open(serviceOn('two'), weekAt(1));
    expect((await show('one')).state).toBe('missing');
    await done('one', ['keys', 'import'], await done('two', ['keys', 'export']));
    expect(await secretOn('one', weekAt(1))).toEqual(secret);
    expect((await show('one')).processes.map(({ isBehind }) => isBehind)).toEqual([false, false]);
  });

  test('without an open week, loses nothing and reports that', async () => {
    const { keys } = await runOne();
    await close(keys, weekAt(0));
    expect(JSON.parse(await done('one', ['keys', 'reset', '--yes', '--json']))).toEqual({ lost: [] });
    expect(await open(serviceOn('one'), weekAt(1))).toHaveLength(32);
  });
});

test('a key file that can’t be read is named, with what to do', async () => {
  await runOne();
  await mkdir(pathOf('two'), { recursive: true });
  for (const command of ['show', 'export']) {
    const output = await refused('two', ['keys', command], 1);
    expect(output).toContain(`The key file ${pathOf('two')} can’t be read (EISDIR).`);
    expect(output).toContain('as the user that runs the service, with the same DATA_DIR');
  }
});
