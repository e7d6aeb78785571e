// The keys by which SFTP clients know the service: made once, kept in the database, so that all processes on it have the
// same ones.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import type { Pool } from '../db/db.ts';
import { type HostKeyRow, insertHostKeys, selectHostKeys } from './hostkeys.sql.ts';

export type { HostKeyRow };

export type HostKey = {
  kind: 'ED25519' | 'RSA';
  bits: number;
  /** As OpenSSH prints it: SHA256:… */
  fingerprint: string;
  /** As it stands in a known_hosts file behind the name of the host. */
  publicKey: string;
};

const rsaBits = 3072;

const makeKey = promisify(ssh2.utils.generateKeyPair) as (
  kind: 'ed25519' | 'rsa',
  options: { bits?: number },
) => Promise<{ private: string }>;

/** What the service shows of its keys. They are made when there are none yet. */
export async function hostKeys(pool: Pool): Promise<HostKey[]> {
  const keys = await privateHostKeys(pool);
  return keys.map(({ kind, privateKey }) => {
    const parsed = ssh2.utils.parseKey(privateKey);
    if (parsed instanceof Error) throw parsed;
    const bytes = parsed.getPublicSSH();
    const digest = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '');
    return {
      kind: kind === 'rsa' ? 'RSA' : 'ED25519',
      bits: kind === 'rsa' ? rsaBits : 256,
      fingerprint: `SHA256:${digest}`,
      publicKey: `${parsed.type} ${bytes.toString('base64')}`,
    };
  });
}

/** The keys themselves, Ed25519 first. */
export async function privateHostKeys(pool: Pool): Promise<HostKeyRow[]> {
  const kept = await selectHostKeys(pool);
  if (kept.length === 2) return kept;
  const [ed25519, rsa] = await Promise.all([makeKey('ed25519', {}), makeKey('rsa', { bits: rsaBits })]);
  await insertHostKeys(pool, { ed25519: ed25519.private, rsa: rsa.private });
  return selectHostKeys(pool);
}
