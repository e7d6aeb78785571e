// The host keys by which SFTP clients recognize the service. They are created once and stored in the database, sealed, so that
// all processes share them. A stored key that can be opened but not parsed is replaced.
import { createHash, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import ssh2, { type ParsedKey } from 'ssh2';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Pool } from '../db/db.ts';
import { openHostKey, sealHostKey } from './host-keys.sealed.ts';
import { type HostKeyRow, replaceHostKey, selectHostKeys } from './host-keys.sql.ts';

export type HostKey = {
  kind: 'ED25519' | 'RSA';
  bits: number;
  /** In the form of OpenSSH: SHA256:… */
  fingerprint: string;
  /** In the form of a known_hosts file, without the host name. */
  publicKey: string;
};

type Kind = HostKeyRow['kind'];
export type ReadableKey = { kind: Kind; key: ParsedKey };

const kinds: readonly Kind[] = ['ed25519', 'rsa'];
const types: Record<Kind, string> = { ed25519: 'ssh-ed25519', rsa: 'ssh-rsa' };
const rsaBits = 3072;

/** Returns the public keys and fingerprints. Creates keys that don't exist. Throws a Fault if the secrets key is missing. */
export async function hostKeys(pool: Pool, secrets: Sealer, log: Log): Promise<HostKey[]> {
  const keys = await readableHostKeys(pool, secrets, log);
  return keys.map(({ kind, key }) => {
    const bytes = key.getPublicSSH();
    const digest = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '');
    return {
      kind: kind === 'rsa' ? 'RSA' : 'ED25519',
      bits: kind === 'rsa' ? rsaBits : 256,
      fingerprint: `SHA256:${digest}`,
      publicKey: `${key.type} ${bytes.toString('base64')}`,
    };
  });
}

/**
 * Returns the private keys, Ed25519 first. Creates missing keys, and replaces damaged ones. Throws if the secrets key is missing
 * or a host key was sealed with another one, because it may still be intact.
 */
export async function readableHostKeys(pool: Pool, secrets: Sealer, log: Log): Promise<ReadableKey[]> {
  const stored = new Map((await selectHostKeys(pool)).map((row) => [row.kind, row]));
  return Promise.all(
    kinds.map(async (kind) => {
      const before = stored.get(kind);
      const opened = before && readHostKey(kind, (await openHostKey(secrets, before)).privateKey);
      return { kind, key: opened ?? (await renewed(pool, secrets, kind, before, log)) };
    }),
  );
}

/** Replaces `before` by a new key, or returns the key that another process has stored in the meantime. */
async function renewed(
  pool: Pool,
  secrets: Sealer,
  kind: Kind,
  before: HostKeyRow | undefined,
  log: Log,
): Promise<ParsedKey> {
  const privateKey = await sealHostKey(secrets, kind, await createHostKey(kind));
  const isOurs = await replaceHostKey(pool, { kind, privateKey }, before?.privateKey);
  if (isOurs && before !== undefined) {
    log.error(
      { kind },
      'An SFTP host key could not be read and was replaced. Clients must accept the new one',
    );
  }
  const now = (await selectHostKeys(pool)).find((row) => row.kind === kind);
  const key = now && readHostKey(kind, (await openHostKey(secrets, now)).privateKey);
  if (!key) throw new Error(`The ${kind} SFTP host key can't be read.`);
  return key;
}

/** Parses a private key. Returns undefined if it is damaged or of another kind. */
export function readHostKey(kind: Kind, privateKey: string): ParsedKey | undefined {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error || key.type !== types[kind] || !key.isPrivateKey()) return undefined;
  const probe = Buffer.from('probe');
  const signature = key.sign(probe, kind === 'rsa' ? 'sha512' : undefined);
  const isPair =
    Buffer.isBuffer(signature) && key.verify(probe, signature, kind === 'rsa' ? 'sha512' : undefined);
  return isPair === true ? key : undefined;
}

const newPair = promisify(generateKeyPair);

/**
 * Returns a new private key as text. Does not use ssh2.utils.generateKeyPair, because about one in 235 of its Ed25519 keys loses
 * a leading zero, so that ssh2 itself can't read it.
 */
export async function createHostKey(kind: Kind): Promise<string> {
  if (kind === 'rsa') {
    const { privateKey } = await newPair('rsa', { modulusLength: rsaBits });
    return privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  }
  const { privateKey } = await newPair('ed25519');
  const { x, d } = privateKey.export({ format: 'jwk' });
  return openSshKey(Buffer.from(x as string, 'base64url'), Buffer.from(d as string, 'base64url'));
}

/** Returns an unencrypted Ed25519 key in the format of OpenSSH (PROTOCOL.key). `open` and `secret` have 32 bytes each. */
function openSshKey(open: Buffer, secret: Buffer): string {
  const name = text(types.ed25519);
  const check = Buffer.alloc(8); // Two equal numbers. With a passphrase, they would reveal a wrong one.
  const inner = Buffer.concat([check, name, text(open), text(Buffer.concat([secret, open])), text('')]);
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, i) => i + 1));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    Buffer.concat([text('none'), text('none'), text('')]), // The cipher, the key derivation and its options.
    Buffer.from([0, 0, 0, 1]), // The number of keys.
    text(Buffer.concat([name, text(open)])),
    text(Buffer.concat([inner, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) as string[];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}

/** Returns bytes preceded by their length, as in SSH. */
function text(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
