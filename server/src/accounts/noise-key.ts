// The noise keys of accounts: sealed, so that a copy of the database doesn't tell the errors of the figures in it.
import { randomBytes } from 'node:crypto';
import type { Sealer } from '../base/sealer.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { selectNoiseKey, selectNoiseKeys, upsertNoiseKey } from './noise-key.sql.ts';

/** What a key is sealed for. */
const contextOf = (accountId: AccountId) => `noise ${accountId}`;

/** In bytes. */
const keyLength = 32;

/**
 * Returns what decides the errors of an account's figures, 32 bytes; created when it is needed first, or when its seal can't be opened
 * any more: then the errors of the same people differ from those before. Throws a Fault when the key of the secrets is missing here.
 * One call for an account at a time: the caller has locked its survey.
 */
export async function noiseKeyOf(
  tx: Transaction,
  accountId: AccountId,
  secrets: Sealer,
): Promise<Uint8Array> {
  // Twice: the key of the secrets may just have been prepared, and have sealed the row anew since it was read.
  for (let i = 0; i < 2; i++) {
    // oxlint-disable no-await-in-loop -- the second seldom
    const sealed = await selectNoiseKey(tx, accountId);
    const kept = sealed && (await secrets.open(contextOf(accountId), sealed));
    // oxlint-enable no-await-in-loop
    if (kept) return kept;
  }
  const key = randomBytes(keyLength);
  await upsertNoiseKey(tx, accountId, await secrets.seal(contextOf(accountId), key));
  return key;
}

/** Seals keys by another key of secrets, and those of earlier versions that are not sealed. See resealSecondSteps. */
export async function resealNoiseKeys(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { accountId, secret } of await selectNoiseKeys(tx)) {
    const isPlain = secret.length === keyLength; // a sealed one is longer
    const sealed = reseal(contextOf(accountId), isPlain ? { plain: secret } : { sealed: secret });
    // oxlint-disable-next-line no-await-in-loop -- once in the life of an installation
    if (sealed) await upsertNoiseKey(tx, accountId, sealed);
  }
}
