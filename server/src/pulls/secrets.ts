// The secrets with which lists are fetched. They are sealed together with the origins that may get them, so that a changed address can't
// get a stored secret, whatever else goes wrong.
import type { Access } from '@soundings/contract/pulls/pulls.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { originsOf } from './access.ts';
import { selectPullSecrets, updatePullSecret } from './pulls.sql.ts';

/** What a secret is sealed for. */
export type SecretPlace = { accountId: AccountId; pullId: number; url: string; access: Access };

const contextOf = (place: SecretPlace): string =>
  `pull ${place.accountId} ${place.pullId} ${originsOf(place)}`;

/** Returns a secret sealed. Throws a Fault if the key of the secrets is missing on this server. */
export const sealPullSecret = (secrets: Sealer, place: SecretPlace, secret: string): Promise<Buffer> =>
  secrets.seal(contextOf(place), Buffer.from(secret));

/** Returns a secret; undefined if it was sealed with a lost key, or for other origins. Throws a Fault like `sealPullSecret`. */
export async function openPullSecret(
  secrets: Sealer,
  place: SecretPlace,
  sealed: Buffer,
): Promise<string | undefined> {
  return (await secrets.open(contextOf(place), sealed))?.toString('utf8');
}

/** Seals all secrets with another key of secrets. See resealTwoFactorSecrets. */
export async function resealPullSecrets(
  tx: Transaction,
  reseal: (context: string, secret: { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { secret, ...place } of await selectPullSecrets(tx)) {
    const sealed = reseal(contextOf(place), { sealed: secret });
    if (sealed) await updatePullSecret(tx, place, secret, sealed);
  }
}
