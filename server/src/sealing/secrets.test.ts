// Secrets that the service must be able to read again: neither the database nor its backups reveal them, and what happens to them
// when the key is created, moved, missing or lost.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { TOTP } from 'otpauth';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { noiseKeyOf } from '../accounts/noise-key.ts';
import { beginTwoFactor, checkTwoFactor, confirmTwoFactor } from '../auth/two-factor.ts';
import { startApp } from '../app.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { hostKeys } from '../sftp/host-keys.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { dumpFile, dumpOf } from '../testing/attacks/file-attacker.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { signInNew } from '../testing/signed-in.ts';
import { testConfig } from '../testing/world.ts';
import { Secrets } from './secrets.ts';

let database: TestDatabase;
let person: { accountId: number; userId: number };
let secrets: Secrets;
let now = Date.parse('2026-11-16T08:00:00Z');

beforeEach(async () => {
  database = await openTestDatabase();
  secrets = on('one');
  person = await inTransaction(database.pool, async (tx) => {
    const { id: accountId } = await createAccount(tx, { name: 'Acme' });
    const userId = await createUser(tx, accountId, {
      firstName: 'A',
      lastName: 'B',
      email: 'a@b.example',
      role: 'User',
    });
    return { accountId, userId };
  });
});
afterEach(() => database.close());

/** Returns the secrets as a process on another machine has them. */
const on = (machine: string, place: 'file' | 'database' = 'file') =>
  new Secrets(database.pool, { place, directory: join(database.keyPlace.directory, machine) });

/** Turns on two-factor authentication for the person, and returns what is needed to create and check codes. */
async function codes() {
  const { secret } = await beginTwoFactor(database.pool, secrets, person, 'label');
  const totp = new TOTP({ secret });
  const code = () => totp.generate({ timestamp: (now += 60_000) });
  const recovery = await inTransaction(database.pool, (tx) =>
    confirmTwoFactor(tx, secrets, person, code(), now),
  );
  const check = (by: Secrets, given = code()) => checkTwoFactor(database.pool, by, person, given, now);
  return { secret, bytes: Buffer.from(totp.secret.bytes), check, recovery };
}

const fingerprints = async (by: Secrets) =>
  (await hostKeys(database.pool, by, openLog('fatal'))).map(({ fingerprint }) => fingerprint);

const noiseKey = async (by: Secrets) =>
  Buffer.from(await inTransaction(database.pool, (tx) => noiseKeyOf(tx, person.accountId, by)));

const missing = { kind: 'unavailable', code: 'secrets key missing' };

/** Stores secrets as earlier versions did. */
async function storePlain({ bytes }: { bytes: Buffer }): Promise<string[]> {
  const before = await hostKeys(database.pool, secrets, openLog('fatal'));
  const opened = await database.pool<{ kind: string; privateKey: string }[]>`
    select kind as "kind", private_key as "privateKey" from sftp_host_keys`;
  for (const { kind, privateKey } of opened) {
    const plain = await secrets.open(`sftp host key ${kind}`, Buffer.from(privateKey, 'base64'));
    await database.pool`update sftp_host_keys set private_key = ${String(plain)} where kind = ${kind}`;
  }
  await database.pool`update two_factor set secret = ${bytes}`;
  await database.pool`update noise_keys set secret = ${await noiseKey(secrets)}`;
  await database.pool`delete from secrets_keys`;
  rmSync(secrets.path);
  return before.map(({ fingerprint }) => fingerprint);
}

/** Returns whether a dump of the database reveals a secret, in any notation in which bytes are written there. */
async function reveals(bytes: Buffer): Promise<boolean> {
  const dump = dumpFile(await dumpOf(database.pool)).bytes.toString();
  return ['hex', 'base64', 'latin1'].some((how) => dump.includes(bytes.toString(how as 'hex')));
}

describe('secrets', () => {
  test('are not readable in the database, and every process with the key can read them', async () => {
    const { bytes, check } = await codes();
    const keys = await fingerprints(secrets);
    const noise = await noiseKey(secrets);
    expect(await reveals(bytes)).toBe(false);
    expect(await reveals(noise)).toBe(false);
    expect(dumpFile(await dumpOf(database.pool)).bytes.toString()).not.toContain('PRIVATE KEY');
    const again = on('one');
    expect(await check(again)).toBe('code');
    expect(await fingerprints(again)).toEqual(keys);
    expect(await noiseKey(again)).toEqual(noise);
    expect(statSync(secrets.path).mode & 0o777).toBe(0o600);
    expect(readFileSync(secrets.path, 'utf8')).toContain('docs/operators/operations.md');
  });

  test("of one person can't be decrypted for another", async () => {
    const { check } = await codes();
    const other = await inTransaction(database.pool, (tx) =>
      createUser(tx, person.accountId, { firstName: 'C', lastName: 'D', email: 'c@d.example', role: 'User' }),
    );
    await database.pool`update two_factor set user_id = ${other}`;
    person = { ...person, userId: other };
    expect(await check(secrets)).toBeUndefined();
  });

  test('stored by an earlier version are encrypted at startup and still work', async () => {
    const codesOfPerson = await codes();
    const noise = await noiseKey(secrets);
    const keys = await storePlain(codesOfPerson);
    expect(await reveals(codesOfPerson.bytes)).toBe(true);
    expect(await reveals(noise)).toBe(true);
    const upgraded = on('one');
    expect(await Promise.all([upgraded.prepare(), on('one').prepare()])).toEqual([true, true]);
    expect(await reveals(codesOfPerson.bytes)).toBe(false);
    expect(await reveals(noise)).toBe(false);
    expect(await noiseKey(upgraded)).toEqual(noise);
    expect(dumpFile(await dumpOf(database.pool)).bytes.toString()).not.toContain('PRIVATE KEY');
    expect(await codesOfPerson.check(upgraded)).toBe('code');
    expect(await fingerprints(upgraded)).toEqual(keys);
  });
});

test('a noise key stored by an earlier version is encrypted when it is first needed', async () => {
  const codesOfPerson = await codes();
  const noise = await noiseKey(secrets);
  await storePlain(codesOfPerson);
  expect(await noiseKey(on('one'))).toEqual(noise);
  expect(await reveals(noise)).toBe(false);
});

describe('without the key', () => {
  test('codes, host keys and noise get a clear error, recovery codes work, and nothing is replaced', async () => {
    const { check, recovery } = await codes();
    const keys = await fingerprints(secrets);
    const other = on('two');
    expect(await other.prepare()).toBe(false);
    await expect(check(other)).rejects.toMatchObject(missing);
    await expect(fingerprints(other)).rejects.toMatchObject(missing);
    await expect(noiseKey(other)).rejects.toMatchObject(missing);
    await expect(other.exported()).rejects.toMatchObject(missing);
    await expect(beginTwoFactor(database.pool, other, person, 'x')).rejects.toMatchObject(missing);
    expect(await check(other, recovery[0])).toBe('recovery code');
    expect(existsSync(other.path)).toBe(false);
    expect(await fingerprints(secrets)).toEqual(keys);
  });

  test('the service starts without SFTP, and the log says what to do', async () => {
    await secrets.prepare();
    const logged: { level: number; msg: string }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }) as never;
    const sftpPort = await freePort();
    const answerKeys = { place: 'file' as const, directory: join(database.keyPlace.directory, 'two') };
    const config = { ...testConfig, answerKeys, sftpPort };
    const app = await startApp(config, Promise.resolve(database.url), log);
    onTestFinished(() => app.stop(1));
    await app.started;
    expect((await fetch(`${app.address}/health/ready`)).status).toBe(200);
    const errors = logged.filter(({ level }) => level === 50).map(({ msg }) => msg);
    expect(errors).toEqual([expect.stringContaining('soundings keys import')]);
    const socket = connect(sftpPort, '127.0.0.1');
    await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // The console says that SFTP is off.
    const { request } = await signInNew(
      { pool: database.pool, address: app.address },
      person.accountId,
      'Administrator',
    );
    expect((await request<{ sftp: unknown }>('GET /access')).body.sftp).toBeNull();
  });

  test('everything works again after the key is imported or its file copied', async () => {
    const { check } = await codes();
    const [two, three] = [on('two'), on('three')];
    await expect(check(two)).rejects.toMatchObject(missing);
    await two.imported(await secrets.exported());
    expect(await check(two)).toBe('code');
    await mkdir(dirname(three.path), { recursive: true });
    await copyFile(secrets.path, three.path);
    expect(await check(three)).toBe('code');
    expect(await on('two').prepare()).toBe(true);
  });

  test('no other key is accepted', async () => {
    await codes();
    const stranger = await openTestDatabase();
    const text = await new Secrets(stranger.pool, stranger.keyPlace).exported();
    await stranger.close();
    const two = on('two');
    for (const wrong of [text, 'nothing', (await secrets.exported()).slice(0, -30)])
      await expect(two.imported(wrong)).rejects.toMatchObject({ kind: 'conflict' });
    expect(existsSync(two.path)).toBe(false);
  });

  test('resetting it creates new host keys and noise, and a password alone is still not enough', async () => {
    const { check, recovery } = await codes();
    const keys = await fingerprints(secrets);
    const noise = await noiseKey(secrets);
    const two = on('two');
    await two.reset();
    expect(await noiseKey(two)).not.toEqual(noise);
    expect(await check(two)).toBeUndefined();
    expect(await check(two, recovery[0])).toBe('recovery code');
    const fresh = await fingerprints(two);
    expect(fresh).toHaveLength(2);
    expect(fresh.filter((one) => keys.includes(one))).toEqual([]);
    // A process that still has the previous key notices.
    await expect(fingerprints(secrets)).rejects.toMatchObject(missing);
  });
});

describe('ANSWER_KEYS=database', () => {
  test('stores the key in the database, and moving it to a file replaces it and keeps all secrets working', async () => {
    const { check } = await codes();
    const keys = await fingerprints(secrets);
    const noise = await noiseKey(secrets);
    const inDatabase = on('one', 'database');
    expect(await inDatabase.prepare()).toBe(true);
    expect(existsSync(secrets.path)).toBe(false);
    expect(await check(on('anywhere', 'database'))).toBe('code');
    const [row] = await database.pool<{ secret: Buffer }[]>`select secret from secrets_keys`;
    const backInFile = on('one');
    expect(await backInFile.prepare()).toBe(true);
    expect(await check(backInFile)).toBe('code');
    expect(await fingerprints(backInFile)).toEqual(keys);
    expect(await noiseKey(backInFile)).toEqual(noise);
    expect(await database.pool`select from secrets_keys where secret is null`).toHaveLength(1);
    expect(readFileSync(backInFile.path, 'utf8')).not.toContain(row!.secret.toString('hex'));
  });
});
