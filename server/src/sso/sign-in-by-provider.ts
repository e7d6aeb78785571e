// Decides which person an identity at a provider belongs to, and starts their session (docs/decisions/0043-single-sign-on.md). An identity
// that is linked decides alone. Only a verified address links a new one, and never to someone who has another identity there.
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import { emailKey } from '@soundings/contract/formats.ts';
import { notifyAdministrators, notifyPerson } from '../accounts/account-notices.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { beginSession, endSessionOf } from '../auth/sessions.ts';
import { selectIsSessionKept, updateSessionProved } from '../auth/sessions.sql.ts';
import type { Browser } from '../auth/sign-in.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { changeUser, createUser } from '../people/users.ts';
import { selectHasOtherAdministrator } from '../people/users.sql.ts';
import { type Checked, isInDomains, type Person, roleOf } from './claims.ts';
import type { Flow } from './flows.sql.ts';
import {
  type FoundPerson,
  selectPersonOfAddress,
  selectPersonOfIdentity,
  selectRoleOf,
  upsertIdentity,
} from './identities.sql.ts';
import { idTokenContext } from './logout/id-tokens.ts';
import { Refused } from './provider-fault.ts';
import { type Provider, selectIsEnabled } from './providers.sql.ts';

type Dependencies = { pool: Pool; secrets: Sealer; canMail: boolean; now: () => number };

/** Signs in the person of a checked response, in place of the browser's previous session. Returns the secret of the session. Throws Refused. */
export async function signInPerson(
  { pool, secrets, canMail, now }: Dependencies,
  provider: Provider,
  { person, idToken, browser }: Checked & { browser: Browser },
): Promise<string> {
  const { accountId, providerId } = provider;
  const sealed = await sealedIdToken(secrets, provider, idToken);
  return inTransaction(pool, async (tx) => {
    await lockIfChanging(tx, provider, person);
    await refuseIfOff(tx, provider);
    const found = await personOf(tx, provider, person);
    await applyRole(tx, provider, found, { person, canMail });
    const { userId } = found;
    // After the role, because becoming an administrator ends earlier ways to sign in.
    if (!(await upsertIdentity(tx, accountId, { providerId, subject: person.subject, userId })))
      throw new Refused('taken');
    if (found.isNew) await noteLinked(tx, provider, userId, canMail);
    if (browser.secret !== undefined) await endSessionOf(tx, browser.secret);
    const actor: Actor = { origin: 'console', userId, address: browser.address };
    const details = { how: 'provider', provider: provider.name, methods: person.methods };
    await audit(tx, accountId, actor, 'signed in', { details });
    return beginSession(tx, { accountId, userId }, browser, {
      providerId,
      subject: person.subject,
      providerSession: person.session,
      provedAt: person.signedInAt,
      endsAt: endOf(provider, person, now()),
      idToken: sealed,
    });
  });
}

/** Locks the account if a person is to be created or get another role, before their row: imports lock in this order as well. */
async function lockIfChanging(
  tx: Transaction,
  provider: Provider,
  { subject, email, roleValues }: Person,
): Promise<void> {
  const { accountId, providerId } = provider;
  const key = email === undefined ? null : emailKey(email);
  const [before, after] = [
    await selectRoleOf(tx, accountId, { providerId, subject, emailKey: key }),
    roleOf(roleValues, provider.roleValues),
  ];
  const isChanging = before === undefined ? provider.createsPeople : after !== null && after !== before;
  if (isChanging) await lockAccount(tx, accountId);
}

/** Keeps the provider turned on until the transaction ends. Throws Refused if it is turned off, which ends the sessions that began before. */
export async function refuseIfOff(tx: Transaction, { accountId, providerId }: Provider): Promise<void> {
  if (!(await selectIsEnabled(tx, accountId, providerId))) throw new Refused('off');
}

/** The longest ID token that is kept for signing out. A longer one would not fit into an address. */
const maxIdToken = 6000;

async function sealedIdToken(secrets: Sealer, provider: Provider, idToken: string): Promise<Buffer | null> {
  if (idToken.length > maxIdToken) return null;
  return secrets.seal(idTokenContext(provider), Buffer.from(idToken)).catch(() => null);
}

/** Returns when a session ends: after the hours in the settings, or when the provider says so, whichever is earlier. */
function endOf({ sessionHours }: Provider, { endsAt }: Person, now: number): Date | null {
  const ends = [
    ...(sessionHours === null ? [] : [now + sessionHours * 3_600_000]),
    ...(endsAt ? [endsAt.getTime()] : []),
  ];
  return ends.length === 0 ? null : new Date(Math.min(...ends));
}

type Found = Omit<FoundPerson, 'active' | 'isAddressNew' | 'hasIdentity'> & { isNew: boolean };

/** Returns the person that an identity belongs to, or is to be linked to. Throws Refused. */
async function personOf(tx: Transaction, provider: Provider, person: Person): Promise<Found> {
  const { accountId, providerId } = provider;
  const linked = await selectPersonOfIdentity(tx, accountId, providerId, person.subject);
  if (linked) {
    if (!linked.active) throw new Refused('inactive');
    return { ...linked, isNew: false };
  }
  const email = vouchedAddress(provider, person);
  const found = await selectPersonOfAddress(tx, accountId, providerId, emailKey(email));
  const refusal = found ? refusalToLink(provider, found) : provider.createsPeople ? null : 'unknown';
  if (refusal) throw new Refused(refusal);
  if (found) return { ...found, isNew: true };
  const userId = await createPerson(tx, provider, { ...person, email });
  return { ...justCreated, userId, isNew: true };
}

const justCreated = {
  role: 'User' as const,
  isRolePending: false,
  isBreakGlass: false,
  hasSignedIn: false,
  isIdentityRecent: true,
};

/** Returns the address for which the provider vouches. Throws Refused if there is none. */
export function vouchedAddress({ domains }: Provider, { email, isVerified }: Person): string {
  if (email === undefined) throw new Refused('no address');
  if (domains.length > 0 && !isInDomains(email, domains)) throw new Refused('domain');
  if (!isVerified) throw new Refused('unverified');
  return email;
}

/**
 * Returns why an address doesn't link an identity to the person who has it, or null. An administrator must not be taken over by someone
 * who adds a provider or changes the address: for a week, only the administrator can link the identity, in the profile. The address of a
 * break-glass administrator never links one, because the password is to work without any provider.
 */
export function refusalToLink({ isRecent }: Provider, found: FoundPerson): Refusal | null {
  if (!found.active) return 'inactive';
  if (found.hasIdentity) return 'taken';
  if (found.isRolePending) return 'pending';
  const isEstablished = found.role === 'Administrator' && found.hasSignedIn;
  if (found.isAddressNew || found.isBreakGlass || (isEstablished && isRecent)) return 'connect first';
  return null;
}

/** Creates a manual person with the address and names that the provider reports, and the User role. */
async function createPerson(
  tx: Transaction,
  { accountId, name }: Provider,
  { email, firstName, lastName }: Person & { email: string },
): Promise<number> {
  const userId = await createUser(tx, accountId, { email, firstName, lastName });
  await audit(tx, accountId, { origin: 'service' }, 'person created', {
    subject: userId,
    details: { provider: name },
  });
  return userId;
}

/** Records that an identity was linked, and notifies the person. */
export async function noteLinked(
  tx: Transaction,
  provider: Provider,
  userId: number,
  canMail: boolean,
): Promise<void> {
  const { accountId, name } = provider;
  await audit(tx, accountId, { origin: 'service' }, 'identity linked', {
    subject: userId,
    details: { provider: name },
  });
  if (canMail) await notifyPerson(tx, accountId, userId, 'identity linked');
}

/**
 * Gives a person the role of their claim. The last administrator and break-glass administrators keep theirs: otherwise a mistake at the
 * provider would lock everyone out. And no one becomes an administrator too early.
 */
async function applyRole(
  tx: Transaction,
  provider: Provider,
  found: Found,
  { person, canMail }: { person: Person; canMail: boolean },
): Promise<void> {
  const { accountId, name, roleValues } = provider;
  const { userId, role: before, isRolePending, isBreakGlass } = found;
  const role = roleOf(person.roleValues, roleValues);
  if (role === null || role === before || isRolePending) return;
  const details = { fields: ['role'], from: before, to: role, provider: name };
  const isKept =
    before === 'Administrator'
      ? isBreakGlass || !(await selectHasOtherAdministrator(tx, accountId, userId))
      : role === 'Administrator' && isTooEarly(provider, found);
  if (isKept) return audit(tx, accountId, { origin: 'service' }, 'role kept', { subject: userId, details });
  await changeUser(tx, accountId, userId, { role }, noOne);
  await audit(tx, accountId, { origin: 'service' }, 'person changed', { subject: userId, details });
  if (!canMail) return;
  await notifyPerson(tx, accountId, userId, 'role changed');
  const about = [person.firstName, person.lastName, person.email].filter(Boolean).join(' ');
  if (role === 'Administrator')
    await notifyAdministrators(tx, accountId, { change: 'administrator added', about }, userId);
}

/**
 * Whether it is too early for a claim to make the person an administrator. Otherwise someone could take the role from an administrator, link the person
 * to an identity of their own, and have the claim give the role back.
 */
const isTooEarly = ({ isRecent }: Provider, { hasSignedIn, isIdentityRecent }: Found): boolean =>
  isRecent || (hasSignedIn && isIdentityRecent);

/** No administrator changes the role, so no one changes their own. */
const noOne = 0;

/** Records in a session that its user has just signed in at the provider again. Throws Refused. */
export async function confirmSession(
  tx: Transaction,
  { accountId, providerId }: Provider,
  { userId, sessionId }: Flow,
  { person, browser }: Checked & { browser: Browser },
): Promise<void> {
  if (userId === null || sessionId === null) throw new Refused('expired');
  const found = await selectPersonOfIdentity(tx, accountId, providerId, person.subject);
  if (found?.userId !== userId) throw new Refused('other person');
  if (!(await selectIsSessionKept(tx, { accountId, userId, sessionId }))) throw new Refused('expired');
  await updateSessionProved(tx, accountId, sessionId);
  await audit(tx, accountId, { origin: 'console', userId, address: browser.address }, 'sign-in confirmed');
}
