// The client secrets of providers, which are stored sealed.
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Transaction } from '../db/db.ts';
import { type Provider, selectClientSecrets, updateClientSecret } from './providers.sql.ts';
import { ProviderFault } from './provider-fault.ts';

const contextOf = ({ publicKey }: Pick<Provider, 'publicKey'>) => `client secret ${publicKey}`;

export const sealClientSecret = (
  secrets: Sealer,
  provider: Pick<Provider, 'publicKey'>,
  secret: string,
): Promise<Buffer> => secrets.seal(contextOf(provider), Buffer.from(secret));

/** Returns the client secret of a provider. Throws a ProviderFault if it was sealed with a key that is lost. */
export async function openClientSecret(secrets: Sealer, provider: Provider): Promise<string> {
  const secret = await secrets.open(contextOf(provider), provider.clientSecret);
  if (!secret)
    throw new ProviderFault('client refused', 'The stored client secret can’t be read. Enter it again.');
  return secret.toString('utf8');
}

/** Seals all client secrets with another key. See resealTwoFactorSecrets. */
export async function resealClientSecrets(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { publicKey, secret, ...provider } of await selectClientSecrets(tx)) {
    const sealed = reseal(contextOf({ publicKey }), { sealed: secret });
    if (sealed) await updateClientSecret(tx, provider, secret, sealed);
  }
}
