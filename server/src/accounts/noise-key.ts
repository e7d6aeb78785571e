// The noise keys of accounts. They are sealed, so that a copy of the database doesn't reveal the noise in its figures.
import { randomBytes } from 'node:crypto';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { selectNoiseKey, selectNoiseKeys, updateNoiseKey, upsertNoiseKey } from './noise-key.sql.ts';

/** Returns the context that a key is sealed with. */
const contextOf = (accountId: AccountId) => `noise ${accountId}`;

/** In bytes. */
const keyLength = 32;

/**
 * Returns the 32-byte key that determines the noise in an account's figures. Creates the key when it is first needed, or when its
 * seal can't be opened any more. The noise of the same people is then different. Throws a Fault if the key of the secrets is
 * missing on this server. The caller has locked the survey of the account, so there is only one call for an account at a time.
 */
export async function noiseKeyOf(
  tx: Transaction,
  accountId: AccountId,
  secrets: Sealer,
): Promise<Uint8Array> {
  // Tries twice, because the key of the secrets may just have been set up, and the row may have been resealed since it was read.
  for (let i = 0; i < 2; i++) {
    const sealed = await selectNoiseKey(tx, accountId);
    const opened = sealed && (await secrets.open(contextOf(accountId), sealed));
    if (opened) return opened;
  }
  const key = randomBytes(keyLength);
  await upsertNoiseKey(tx, accountId, await secrets.seal(contextOf(accountId), key));
  return key;
}

/** Seals all keys with another key of secrets, including keys of earlier versions that are not sealed yet. See resealTwoFactorSecrets. */
export async function resealNoiseKeys(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { accountId, secret } of await selectNoiseKeys(tx)) {
    const isPlain = secret.length === keyLength; // a sealed one is longer
    const sealed = reseal(contextOf(accountId), isPlain ? { plain: secret } : { sealed: secret });
    if (sealed) await updateNoiseKey(tx, accountId, secret, sealed);
  }
}
