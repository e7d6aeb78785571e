// Signs people in by address and password, a choice of account if there are several, and a two-factor code. Neither messages
// nor timing reveal whether an address exists: every address takes the same number of password hashes.
import { emailKey } from '@soundings/contract/formats.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { placeholderHash } from '../base/crypto/secrets.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { digestPassword, matchesPassword } from './passwords.ts';
import { beginSession, endSessionOf } from './sessions.ts';
import { deleteSessionsOf } from './sessions.sql.ts';
import { deleteInvitation } from './sign-in-invitations.sql.ts';
import { deleteLinksOf } from './sign-in-links.sql.ts';
import { type SignInThrottle, recordAttempt } from './sign-in-throttle.ts';
import {
  type Candidate,
  selectByEmail,
  selectCandidates,
  selectMaySignIn,
  selectMostCandidates,
  selectPersonWithPassword,
  upsertPassword,
} from './sign-in.sql.ts';
import { checkTwoFactor, turnOffTwoFactor, wrongCode } from './two-factor.ts';

export type PersonKey = { accountId: AccountId; userId: number };

/** The browser that signs in. `secret`: of its previous session, which ends. */
export type Browser = { address: string; agent: string; secret: string | undefined };

export type SignIn = {
  email: string;
  password: string;
  accountId?: AccountId | undefined;
  code?: string | undefined;
};

export type SignInOutcome =
  | ({ state: 'signed in'; secret: string } & PersonKey)
  | { state: 'choose account'; accounts: { id: AccountId; name: string }[] }
  | { state: 'code needed'; accountId: AccountId };

/** The maximum number of accounts per address. A person in more accounts can sign in to those with the newest passwords. */
const maxAccounts = 10;

type Dependencies = { pool: Pool; secrets: Sealer; throttle: SignInThrottle; now: () => number; log: Log };

/**
 * Signs a person in, or returns what is missing. Throws a Fault: wrong sign-in, wrong code, or too many attempts with the time to
 * wait.
 */
export async function signIn(deps: Dependencies, wanted: SignIn, browser: Browser): Promise<SignInOutcome> {
  const { pool, throttle } = deps;
  const key = emailKey(wanted.email);
  const attempt = await throttle.try(key, browser.address);
  const { candidates, fitting } = await recordAttempt(attempt, () => whoFits(deps, key, wanted.password));
  const meant = fitting.filter(({ accountId }) => (wanted.accountId ?? accountId) === accountId);
  const chosen = meant.filter(({ isPasswordAllowed }) => isPasswordAllowed);
  const [found] = chosen;
  if (!found && meant.length > 0) {
    await attempt.undecided();
    throw ssoRequired();
  }
  if (!found) {
    await attempt.failed();
    noteRefusal(deps, candidates, browser);
    throw wrongSignIn();
  }
  await attempt.undecided();
  if (chosen.length > 1) {
    const accounts = chosen.map(({ accountId: id, accountName: name }) => ({ id, name }));
    return { state: 'choose account', accounts };
  }
  if (found.hasTwoFactor && wanted.code === undefined) {
    return { state: 'code needed', accountId: found.accountId };
  }
  const how = found.hasTwoFactor
    ? await checkedCode(deps, found, wanted.code as string, browser)
    : 'password';
  await attempt.succeeded();
  const secret = await begin(pool, found, browser, how);
  return { state: 'signed in', accountId: found.accountId, userId: found.userId, secret };
}

/** Returns the Fault for someone whose account requires single sign-on. Only for people who have proved who they are. */
export const ssoRequired = (): Fault =>
  new Fault(
    'forbidden',
    'sso required',
    'Your company requires that you sign in with its provider. Use its button on the sign-in page instead of a password.',
  );

const wrongSignIn = () => new Fault('unauthenticated', 'wrong sign-in', 'Wrong email address or password.');

/** Returns which kind of code this is. Throws a Fault if it is wrong, and if it is too early for another attempt. */
async function checkedCode(
  deps: Dependencies,
  person: Candidate,
  code: string,
  browser: Browser,
): Promise<'code' | 'recovery code'> {
  const { pool, secrets, throttle, now } = deps;
  const codes = await throttle.tryCode(`${person.accountId}/${person.userId}`);
  const kind = await recordAttempt(codes, () => checkTwoFactor(pool, secrets, person, code, now()));
  if (kind) {
    await codes.succeeded();
    return kind;
  }
  noteRefusal(deps, [person], browser);
  throw wrongCode('unauthenticated');
}

/**
 * Starts a session that replaces the browser's previous one, and returns its secret. `hash`: of the password that was entered.
 * Throws a Fault if the password has changed since, or if the person can no longer sign in.
 */
export async function begin(
  pool: Pool,
  { accountId, userId, hash = null }: PersonKey & { hash?: string | null },
  browser: Browser,
  how: 'password' | 'code' | 'recovery code' | 'link' | 'first start',
): Promise<string> {
  return inTransaction(pool, async (tx) => {
    if (!(await selectMaySignIn(tx, accountId, userId, hash))) throw wrongSignIn();
    if (browser.secret !== undefined) await endSessionOf(tx, browser.secret);
    const actor: Actor = { origin: 'console', userId, address: browser.address };
    await audit(tx, accountId, actor, 'signed in', { details: { how } });
    return beginSession(tx, { accountId, userId }, browser);
  });
}

/** Returns the people with this normalized address, and those of them whose password this is. */
async function whoFits(
  deps: Dependencies,
  key: string,
  password: string,
): Promise<{ candidates: Candidate[]; fitting: Candidate[] }> {
  const [candidates, most] = await Promise.all([
    selectCandidates(deps.pool, key, maxAccounts),
    mostCandidates(deps),
  ]);
  return { candidates, fitting: await fittingOf(candidates, Math.min(most, maxAccounts), password) };
}

/** The last result of selectMostCandidates per pool, and its time in milliseconds. */
const mostCached = new WeakMap<Pool, { at: number; most: Promise<number> }>();

/** Like selectMostCandidates, cached for a minute, because it reads all people and anyone can trigger it by trying to sign in. */
function mostCandidates({ pool, now }: Dependencies): Promise<number> {
  const cached = mostCached.get(pool);
  if (cached && now() - cached.at < 60_000) return cached.most;
  const most = selectMostCandidates(pool);
  mostCached.set(pool, { at: now(), most });
  most.catch(() => mostCached.delete(pool));
  return most;
}

/** Returns the candidates whose password this is. Always computes as many hashes as for the address with the most accounts. */
async function fittingOf(candidates: Candidate[], most: number, password: string): Promise<Candidate[]> {
  const fitting: Candidate[] = [];
  for (let i = 0; i < Math.max(1, most, candidates.length); i++) {
    const candidate = candidates[i];
    const fits = await matchesPassword(password, candidate?.hash ?? placeholderHash());
    if (fits && candidate) fitting.push(candidate);
  }
  return fitting;
}

/** Adds a refused sign-in to the audit log. Doesn't wait for it, because the time must not reveal whether the address exists. */
function noteRefusal({ pool, log }: Dependencies, people: PersonKey[], { address }: Browser): void {
  const actor: Actor = { origin: 'console', userId: null, address };
  const noted = people.map(({ accountId, userId }) =>
    audit(pool, accountId, actor, 'sign-in refused', { subject: userId }),
  );
  Promise.all(noted).catch((error: unknown) =>
    log.warn({ cause: error }, 'A refused sign-in could not be added to the audit log'),
  );
}

/** Sets a user's password, stored only as an Argon2id hash, and deletes the user's links for setting one. Throws a Fault if it is too weak. */
export async function setPassword(
  db: Db,
  accountId: AccountId,
  userId: number,
  password: string,
): Promise<void> {
  await keepPassword(db, { accountId, userId }, await digestPasswordOf(db, { accountId, userId }, password));
}

/** The first half of setPassword, outside a transaction: returns the hash. `path`: the field of the request with the password. */
export async function digestPasswordOf(
  db: Db,
  { accountId, userId }: PersonKey,
  password: string,
  path?: string,
): Promise<string> {
  const person = await selectPersonWithPassword(db, accountId, userId);
  if (!person) throw new Error(`User ${userId} does not exist in account ${accountId}`);
  return digestPassword(password, person, path);
}

/** The second half of setPassword: stores the hash. The person is no longer invited to set one. */
export async function keepPassword(db: Db, { accountId, userId }: PersonKey, hash: string): Promise<void> {
  await upsertPassword(db, accountId, userId, hash);
  await deleteInvitation(db, accountId, userId);
  await deleteLinksOf(db, accountId, userId);
}

/**
 * Sets the password of a person who can no longer sign in, for the operator's command, and ends all sessions of the person.
 * Turns off two-factor authentication too if requested. Throws a Fault if no active person of the account has the address.
 */
export async function resetPassword(
  tx: Transaction,
  accountId: AccountId,
  { email, password }: { email: string; password: string },
  turnsOffTwoFactor: boolean,
): Promise<{ userId: number; email: string; role: string }> {
  const person = await selectByEmail(tx, accountId, emailKey(email));
  if (!person) {
    const message = `No active person in account ${accountId} has the email address ${email}.`;
    throw new Fault('not_found', 'person not found', message);
  }
  await setPassword(tx, accountId, person.userId, password);
  if (turnsOffTwoFactor) await turnOffTwoFactor(tx, { accountId, userId: person.userId });
  await deleteSessionsOf(tx, { accountId, userId: person.userId });
  return person;
}

/** Checks the current password of a person who is signed in. Throws a Fault if it is wrong. */
export async function rejectWrongPassword(
  db: Db,
  throttle: SignInThrottle,
  { accountId, userId }: PersonKey,
  password: string,
): Promise<void> {
  const attempt = await throttle.tryCode(`${accountId}/${userId} password`);
  const fits = await recordAttempt(attempt, async () => {
    const person = await selectPersonWithPassword(db, accountId, userId);
    return matchesPassword(password, person?.hash ?? placeholderHash());
  });
  if (!fits) throw faultAtField('invalid', 'wrong password', '/password', 'Wrong password.');
  await attempt.succeeded();
}
