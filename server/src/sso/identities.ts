// Users link their identity at a provider in their profile, and remove it. There they have proved who they are, so no address is needed.
import { type Actor, audit } from '../accounts/audit.ts';
import { deleteProviderSessions, selectIsSessionKept } from '../auth/sessions.sql.ts';
import type { Browser } from '../auth/sign-in.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import type { Checked } from './claims.ts';
import type { Flow } from './flows.sql.ts';
import { deleteIdentity, selectPersonOfIdentity, upsertIdentity } from './identities.sql.ts';
import { Refused } from './provider-fault.ts';
import type { Provider } from './providers.sql.ts';
import { noteLinked } from './sign-in-by-provider.ts';

/** Links the identity of a checked response to the user who began the visit. Throws Refused. */
export async function connectIdentity(
  tx: Transaction,
  provider: Provider,
  { userId, sessionId }: Flow,
  { person, canMail }: Checked & { browser: Browser; canMail: boolean },
): Promise<void> {
  const { accountId, providerId } = provider;
  if (userId === null || sessionId === null) throw new Refused('expired');
  if (!(await selectIsSessionKept(tx, { accountId, userId, sessionId }))) throw new Refused('expired');
  const owner = await selectPersonOfIdentity(tx, accountId, providerId, person.subject);
  if (owner && owner.userId !== userId) throw new Refused('linked');
  if (owner) return;
  if (!(await upsertIdentity(tx, accountId, { providerId, subject: person.subject, userId })))
    throw new Refused('taken');
  await noteLinked(tx, provider, userId, canMail);
}

/** Removes the identity of a user at a provider, and ends the sessions that began with it. Throws a Fault if there is none. */
export async function disconnectIdentity(
  tx: Transaction,
  accountId: AccountId,
  { providerId, userId }: { providerId: number; userId: number },
  actor: Actor,
): Promise<void> {
  if (!(await deleteIdentity(tx, accountId, providerId, userId)))
    throw new Fault('not_found', 'identity not found', 'You have no identity at this provider.');
  await deleteProviderSessions(tx, accountId, { providerId, userId });
  await audit(tx, accountId, actor, 'identity removed', { subject: userId });
}
