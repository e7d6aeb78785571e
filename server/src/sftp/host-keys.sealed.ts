// Seals and opens the stored SFTP host keys. Separate from host-keys.ts, so that code that only reseals them does not load SSH.
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Transaction } from '../db/db.ts';
import { type HostKeyRow, selectHostKeys, updateHostKey } from './host-keys.sql.ts';

/** The context that a key is sealed for. */
const contextOf = (kind: HostKeyRow['kind']) => `sftp host key ${kind}`;

const textOf = (sealed: Buffer) => sealed.toString('base64');

export async function sealHostKey(secrets: Sealer, kind: HostKeyRow['kind'], key: string): Promise<string> {
  return textOf(await secrets.seal(contextOf(kind), Buffer.from(key)));
}

/** Returns the row with the opened key. */
export async function openHostKey(
  secrets: Pick<Sealer, 'open'>,
  { kind, privateKey }: HostKeyRow,
): Promise<HostKeyRow> {
  const opened = await secrets.open(contextOf(kind), Buffer.from(privateKey, 'base64'));
  if (!opened) throw new Error(`The ${kind} SFTP host key was sealed with another key.`);
  return { kind, privateKey: opened.toString() };
}

/** Seals the host keys with another secrets key, including unsealed ones of earlier versions. See resealTwoFactorSecrets. */
export async function resealHostKeys(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { kind, privateKey } of await selectHostKeys(tx)) {
    const isPlain = privateKey.startsWith('-----BEGIN');
    const sealed = reseal(
      contextOf(kind),
      isPlain ? { plain: Buffer.from(privateKey) } : { sealed: Buffer.from(privateKey, 'base64') },
    );
    if (sealed) await updateHostKey(tx, { kind, privateKey: textOf(sealed) });
  }
}

/** Deletes keys that can no longer be opened. New ones are created when they are needed. */
