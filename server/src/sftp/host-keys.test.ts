// The host keys by which SFTP clients recognize the service can all be read, and an unreadable stored key is replaced.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { sealHostKey } from './host-keys.sealed.ts';
import { createHostKey, hostKeys, readHostKey } from './host-keys.ts';
import { caseCount } from '../testing/house/cases.ts';

let database: TestDatabase;
beforeAll(async () => (database = await openTestDatabase()));
afterAll(() => database.close());

/** Returns a log and the lines written to it. */
function openTestLog() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) };
}

// A former defect made one key in 235 unreadable. HOST_KEYS=10000 takes about 10 s.
const count = caseCount('HOST_KEYS', 40);

test('every created Ed25519 key can be read and has all of its 32 bytes', async () => {
  for (let i = 0; i < count; i++) {
    const key = readHostKey('ed25519', await createHostKey('ed25519'));
    expect(key?.getPublicSSH()).toHaveLength(4 + 'ssh-ed25519'.length + 4 + 32);
  }
});

test('OpenSSH can also read the keys', async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'soundings-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const kind of ['ed25519', 'rsa'] as const) {
    const path = join(folder, kind);
    const privateKey = await createHostKey(kind);
    writeFileSync(path, privateKey);
    chmodSync(path, 0o600);
    try {
      const printed = execFileSync('ssh-keygen', ['-y', '-P', '', '-f', path]).toString();
      const bytes = readHostKey(kind, privateKey)?.getPublicSSH().toString('base64');
      expect(printed).toContain(`ssh-${kind} ${bytes}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return skip('needs ssh-keygen (Debian: openssh-client)');
    }
  }
});

test.each<[string, (key: string) => string]>([
  ['is not a key', () => 'no key at all'],
  ['is cut off', (key) => `${key.slice(0, 200)}\n-----END OPENSSH PRIVATE KEY-----\n`],
  ['contains the public half of another key', (key) => withOtherPublicHalf(key)],
])('a stored key that %s is replaced, and this is logged', async (_, damage) => {
  const {
    pool,
    keys: { secrets },
  } = database;
  const { log, lines } = openTestLog();
  const before = await hostKeys(pool, secrets, log);
  lines.length = 0;
  const damaged = await sealHostKey(secrets, 'ed25519', damage(await createHostKey('ed25519')));
  await pool`update sftp_host_keys set private_key = ${damaged} where kind = 'ed25519'`;
  const after = await Promise.all([1, 2, 3].map(() => hostKeys(pool, secrets, log)));
  expect(after[1]).toEqual(after[0]);
  expect(after[2]).toEqual(after[0]);
  expect(after[0]?.[0]?.fingerprint).not.toBe(before[0]?.fingerprint);
  expect(after[0]?.[1]).toEqual(before[1]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('An SFTP host key could not be read and was replaced');
  expect(await hostKeys(pool, secrets, log)).toEqual(after[0]);
});

/** Returns the key with one bit of its public half changed in both places. */
function withOtherPublicHalf(key: string): string {
  const bytes = Buffer.from(key.replaceAll(/-.*-|\n/g, ''), 'base64');
  const at = bytes.indexOf('ssh-ed25519') + 'ssh-ed25519'.length + 4;
  const publicHalf = Buffer.from(bytes.subarray(at, at + 32));
  for (let i = bytes.indexOf(publicHalf); i >= 0; i = bytes.indexOf(publicHalf, i + 1))
    bytes[i] = bytes[i]! ^ 1;
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
