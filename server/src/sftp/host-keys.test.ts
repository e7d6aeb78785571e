// Keys by which SFTP clients know the service: each one that is created can be read, and one that can't be is replaced.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { sealHostKey } from './host-keys.sealed.ts';
import { createHostKey, hostKeys, readHostKey } from './host-keys.ts';

let database: TestDatabase;
beforeAll(async () => (database = await openTestDatabase()));
afterAll(() => database.close());

/** A log, and the lines of it. */
function kept() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) };
}

// The defect that this guards against spoiled one key in 235: HOST_KEYS=10000 takes some 10 s.
const count = Number(process.env['HOST_KEYS'] ?? 100);

test('every Ed25519 key that is created can be read, signs, and has all of its 32 bytes', async () => {
  for (let i = 0; i < count; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one after another: each takes half a millisecond
    const key = readHostKey('ed25519', await createHostKey('ed25519'));
    expect(key?.getPublicSSH()).toHaveLength(4 + 'ssh-ed25519'.length + 4 + 32);
  }
}, 120_000);

test('OpenSSH reads the keys, too', async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), 'soundings-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const kind of ['ed25519', 'rsa'] as const) {
    const path = join(folder, kind);
    // oxlint-disable-next-line no-await-in-loop -- two
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
  ['no key', () => 'no key at all'],
  ['cut off', (key) => `${key.slice(0, 200)}\n-----END OPENSSH PRIVATE KEY-----\n`],
  ['the public half of another key', (key) => swapped(key)],
])('a stored key that cannot be read (%s) is replaced, and the log says so', async (_, spoil) => {
  const {
    pool,
    keys: { secrets },
  } = database;
  const { log, lines } = kept();
  const before = await hostKeys(pool, secrets, log);
  lines.length = 0;
  const spoilt = await sealHostKey(secrets, 'ed25519', spoil(await createHostKey('ed25519')));
  await pool`update sftp_host_keys set private_key = ${spoilt} where kind = 'ed25519'`;
  const after = await Promise.all([1, 2, 3].map(() => hostKeys(pool, secrets, log)));
  expect(after[1]).toEqual(after[0]);
  expect(after[2]).toEqual(after[0]);
  expect(after[0]?.[0]?.fingerprint).not.toBe(before[0]?.fingerprint);
  expect(after[0]?.[1]).toEqual(before[1]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('An SFTP host key could not be read and was replaced');
  expect(await hostKeys(pool, secrets, log)).toEqual(after[0]);
});

/** The key with a bit of its public half changed, in both places where it stands. */
function swapped(key: string): string {
  const bytes = Buffer.from(key.replaceAll(/-.*-|\n/g, ''), 'base64');
  const at = bytes.indexOf('ssh-ed25519') + 'ssh-ed25519'.length + 4;
  const open = Buffer.from(bytes.subarray(at, at + 32));
  for (let i = bytes.indexOf(open); i >= 0; i = bytes.indexOf(open, i + 1)) bytes[i] = bytes[i]! ^ 1;
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
