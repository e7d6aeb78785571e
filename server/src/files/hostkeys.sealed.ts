// The host keys of SFTP as they are kept: sealed. Apart from hostkeys.ts, so that what only seals them does not load SSH.
import type { Sealer } from '../base/sealer.ts';
import type { Transaction } from '../db/db.ts';
import { deleteHostKeys, type HostKeyRow, selectHostKeys, updateHostKey } from './hostkeys.sql.ts';

/** What a key is sealed for. */
const contextOf = (kind: HostKeyRow['kind']) => `sftp host key ${kind}`;

const textOf = (sealed: Buffer) => sealed.toString('base64');

export async function sealHostKey(secrets: Sealer, kind: HostKeyRow['kind'], key: string): Promise<string> {
  return textOf(await secrets.seal(contextOf(kind), Buffer.from(key)));
}

/** Returns the row with its key as it was before it was sealed. */
export async function openHostKey(secrets: Sealer, { kind, privateKey }: HostKeyRow): Promise<HostKeyRow> {
  const opened = await secrets.open(contextOf(kind), Buffer.from(privateKey, 'base64'));
  if (!opened) throw new Error(`The ${kind} host key of SFTP was sealed by another key.`);
  return { kind, privateKey: opened.toString() };
}

/** Seals keys by another key of secrets, and those of earlier versions that are not sealed. See resealSecondSteps. */
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
    // oxlint-disable-next-line no-await-in-loop -- two
    if (sealed) await updateHostKey(tx, { kind, privateKey: textOf(sealed) });
  }
}

/** Forgets keys that nothing opens any more. New ones are made when they are needed. */
export { deleteHostKeys as forgetHostKeys };
