// The secrets that sign requests: 32 random bytes for each endpoint, sealed, and shown to administrators once (`whsec_` and base64).
import { randomBytes } from 'node:crypto';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { selectWebhookSecrets, updateSealedSecrets } from './endpoints.sql.ts';

/** Returns the context that the secret of an endpoint is sealed with. */
const contextOf = (accountId: AccountId, endpointId: number) => `webhook ${accountId} ${endpointId}`;

/** Returns a new secret as administrators see it, and sealed. Throws a Fault if the key of the secrets is missing on this server. */
export async function newSecret(
  secrets: Sealer,
  accountId: AccountId,
  endpointId: number,
): Promise<{ shown: string; sealed: Buffer }> {
  const key = randomBytes(32);
  const sealed = await secrets.seal(contextOf(accountId, endpointId), key);
  return { shown: `whsec_${key.toString('base64')}`, sealed };
}

/** Returns the keys that sign a request; none if the secret was sealed with a lost key. Throws a Fault like `newSecret`. */
export async function signingKeys(
  secrets: Sealer,
  { accountId, endpointId }: { accountId: AccountId; endpointId: number },
  { secret, previousSecret }: { secret: Buffer; previousSecret: Buffer | null },
): Promise<Buffer[]> {
  const opened = await secrets.open(contextOf(accountId, endpointId), secret);
  const previous = previousSecret && (await secrets.open(contextOf(accountId, endpointId), previousSecret));
  return opened ? [opened, ...(previous ? [previous] : [])] : [];
}

/** Seals all secrets with another key of secrets. See resealTwoFactorSecrets. */
export async function resealWebhookSecrets(
  tx: Transaction,
  reseal: (context: string, secret: { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const one of await selectWebhookSecrets(tx)) {
    const again = (sealed: Buffer) => reseal(contextOf(one.accountId, one.endpointId), { sealed });
    const secret = again(one.secret);
    const previous = one.previous && again(one.previous);
    if (secret) await updateSealedSecrets(tx, one, { secret, previous: previous ?? one.previous });
  }
}
