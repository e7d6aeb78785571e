// The keys by which SFTP clients know the service: made once, kept in the database, so that all processes on it have the
// same ones. There they are sealed.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import type { Sealer } from '../base/sealer.ts';
import type { Pool } from '../db/db.ts';
import { openHostKey, sealHostKey } from './hostkeys.sealed.ts';
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

/** What the service shows of its keys. They are made when there are none yet. Throws a Fault when the key of secrets is missing. */
export async function hostKeys(pool: Pool, secrets: Sealer): Promise<HostKey[]> {
  const keys = await privateHostKeys(pool, secrets);
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
export async function privateHostKeys(pool: Pool, secrets: Sealer): Promise<HostKeyRow[]> {
  const opened = async () =>
    Promise.all((await selectHostKeys(pool)).map((row) => openHostKey(secrets, row)));
  const kept = await opened();
  if (kept.length === 2) return kept;
  const [ed25519, rsa] = await Promise.all([makeKey('ed25519', {}), makeKey('rsa', { bits: rsaBits })]);
  await insertHostKeys(pool, {
    ed25519: await sealHostKey(secrets, 'ed25519', ed25519.private),
    rsa: await sealHostKey(secrets, 'rsa', rsa.private),
  });
  return opened();
}
