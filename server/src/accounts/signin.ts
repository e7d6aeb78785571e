// How people sign in: address and password, which account when there are several, and the code of the second step. Whether an
// address is known can be told neither by words nor by time: there are as many digests for one as for any other.
import { emailKey } from '@soundings/contract/formats.ts';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/sealer.ts';
import { nobodysHash } from '../base/secrets.ts';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { type Actor, audit } from './audit.ts';
import { digestPassword, fitsPassword } from './passwords.ts';
import { beginSession, endSessionOf, endSessions } from './sessions.ts';
import { deleteLinksOf } from './sign-in-links.sql.ts';
import { type Throttle, tried } from './signin-throttle.ts';
import {
  type Candidate,
  selectAccountsThere,
  selectByEmail,
  selectCandidates,
  selectMaySignIn,
  selectMostCandidates,
  selectPerson,
  upsertPassword,
} from './signin.sql.ts';
import { checkSecondStep, turnOffSecondStep } from './totp.ts';

export { digestPassword } from './passwords.ts';
export { forgetOldFailures, openSignInThrottle, type Throttle, tried } from './signin-throttle.ts';
export { selectAccountsThere as accountsThere };

export type Person = { accountId: AccountId; userId: number };

/** The browser that signs in. `secret`: of the session that it had, which ends. */
export type Browser = { address: string; agent: string; secret: string | undefined };

export type SignIn = {
  email: string;
  password: string;
  accountId?: AccountId | undefined;
  code?: string | undefined;
};

export type SignInOutcome =
  | ({ state: 'signed in'; secret: string } & Person)
  | { state: 'choose account'; accounts: { id: AccountId; name: string }[] }
  | { state: 'code needed'; accountId: AccountId };

/** So many accounts may have the same address: whoever is in more signs in to those whose password is newest. */
const mostAccounts = 10;

type Parts = { pool: Pool; secrets: Sealer; throttle: Throttle; now: () => number; log: Log };

/**
 * Signs somebody in, or says what is missing. Throws a Fault: wrong sign-in, wrong code, or too many tries with the
 * time to wait.
 */
export async function signIn(parts: Parts, wanted: SignIn, browser: Browser): Promise<SignInOutcome> {
  const { pool, throttle } = parts;
  const key = emailKey(wanted.email);
  const attempt = await throttle.try(key, browser.address);
  const { candidates, fitting } = await tried(attempt, () => whoFits(parts, key, wanted.password));
  const chosen = fitting.filter(({ accountId }) => (wanted.accountId ?? accountId) === accountId);
  const [found] = chosen;
  if (!found) {
    await attempt.failed();
    noteRefusal(parts, candidates, browser);
    throw wrongSignIn();
  }
  await attempt.undecided();
  if (chosen.length > 1) {
    const accounts = chosen.map(({ accountId: id, accountName: name }) => ({ id, name }));
    return { state: 'choose account', accounts };
  }
  if (found.hasSecondStep && wanted.code === undefined) {
    return { state: 'code needed', accountId: found.accountId };
  }
  const how = found.hasSecondStep
    ? await checkedCode(parts, found, wanted.code as string, browser)
    : 'password';
  await attempt.succeeded();
  const secret = await begin(pool, found, browser, how);
  return { state: 'signed in', accountId: found.accountId, userId: found.userId, secret };
}

const wrongSignIn = () =>
  new Fault('unauthenticated', 'wrong sign-in', 'The address and the password do not go together.');

/** How the code of a person is good. Throws a Fault for one that is not, and when it is too early for another. */
async function checkedCode(
  parts: Parts,
  person: Candidate,
  code: string,
  browser: Browser,
): Promise<'code' | 'recovery code'> {
  const { pool, secrets, throttle, now } = parts;
  const codes = await throttle.tryCode(`${person.accountId}/${person.userId}`);
  const kind = await tried(codes, () => checkSecondStep(pool, secrets, person, code, now()));
  if (kind) {
    await codes.succeeded();
    return kind;
  }
  noteRefusal(parts, [person], browser);
  const message = 'This code is wrong, too old or used already.';
  const details = [{ type: 'wrong code', message, path: '/code' }];
  throw new Fault('unauthenticated', 'wrong code', message, { details });
}

/**
 * Begins a session in place of the one that the browser had, and returns its secret. `hash`: of the password that was
 * given. Throws a Fault when it is another one by now, or the person may no longer sign in.
 */
export async function begin(
  pool: Pool,
  { accountId, userId, hash = null }: Person & { hash?: string | null },
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

/** Who has an address, in its compared form, and those of them whose password it is. */
async function whoFits(
  parts: Parts,
  key: string,
  password: string,
): Promise<{ candidates: Candidate[]; fitting: Candidate[] }> {
  const [candidates, most] = await Promise.all([
    selectCandidates(parts.pool, key, mostAccounts),
    mostCandidates(parts),
  ]);
  return { candidates, fitting: await fittingOf(candidates, Math.min(most, mostAccounts), password) };
}

/** What selectMostCandidates said of a pool, and when, in ms. */
const mostSaid = new WeakMap<Pool, { at: number; most: Promise<number> }>();

/** Counted once a minute at most: it reads all people, and anybody may try to sign in. */
function mostCandidates({ pool, now }: Parts): Promise<number> {
  const said = mostSaid.get(pool);
  if (said && now() - said.at < 60_000) return said.most;
  const most = selectMostCandidates(pool);
  mostSaid.set(pool, { at: now(), most });
  most.catch(() => mostSaid.delete(pool));
  return most;
}

/** Those whose password it is; always as many digests as for the address that is in the most accounts. */
async function fittingOf(candidates: Candidate[], most: number, password: string): Promise<Candidate[]> {
  const fitting: Candidate[] = [];
  for (let i = 0; i < Math.max(1, most, candidates.length); i++) {
    const candidate = candidates[i];
    // oxlint-disable-next-line no-await-in-loop -- each takes 19 MiB
    const fits = await fitsPassword(password, candidate?.hash ?? nobodysHash());
    if (fits && candidate) fitting.push(candidate);
  }
  return fitting;
}

/** Not waited for: writing it must not tell that the address is known. */
function noteRefusal({ pool, log }: Parts, people: Person[], { address }: Browser): void {
  const actor: Actor = { origin: 'console', userId: null, address };
  const noted = people.map(({ accountId, userId }) =>
    audit(pool, accountId, actor, 'sign-in refused', { subject: userId }),
  );
  Promise.all(noted).catch((error: unknown) =>
    log.warn({ cause: error }, 'A refused sign-in was not noted in the audit log'),
  );
}

/** Sets a user's password. Only its Argon2id digest is kept. Throws a Fault for a weak one. Links to set one are dead. */
export async function setPassword(
  db: Db,
  accountId: AccountId,
  userId: number,
  password: string,
): Promise<void> {
  await keepPassword(db, { accountId, userId }, await digestPasswordOf(db, { accountId, userId }, password));
}

/** The first half of setPassword, before a transaction: the digest. `path`: where in the body the password stands. */
export async function digestPasswordOf(
  db: Db,
  { accountId, userId }: Person,
  password: string,
  path?: string,
): Promise<string> {
  const person = await selectPerson(db, accountId, userId);
  if (!person) throw new Error(`There is no user ${userId} in account ${accountId}`);
  return digestPassword(password, person, path);
}

/** The second half. */
export async function keepPassword(db: Db, { accountId, userId }: Person, hash: string): Promise<void> {
  await upsertPassword(db, accountId, userId, hash);
  await deleteLinksOf(db, accountId, userId);
}

/**
 * Sets the password of a person who can no longer sign in, as the operator does; every session of the person ends. Turns
 * the second step off too, where that is wanted. Throws a Fault when no active person of the account has the address.
 */
export async function resetPassword(
  tx: Transaction,
  accountId: AccountId,
  { email, password }: { email: string; password: string },
  turnsOffSecondStep: boolean,
): Promise<{ userId: number; email: string; role: string }> {
  const person = await selectByEmail(tx, accountId, emailKey(email));
  if (!person) {
    const message = `Account ${accountId} has no active person with the address ${email}.`;
    throw new Fault('not_found', 'person not found', message);
  }
  await setPassword(tx, accountId, person.userId, password);
  if (turnsOffSecondStep) await turnOffSecondStep(tx, { accountId, userId: person.userId });
  await endSessions(tx, { accountId, userId: person.userId });
  return person;
}

/** Throws a Fault unless it is the password of somebody who is signed in, and asked for it once more. */
export async function refuseWrongPassword(
  db: Db,
  throttle: Throttle,
  { accountId, userId }: Person,
  password: string,
): Promise<void> {
  const attempt = await throttle.tryCode(`${accountId}/${userId} password`);
  const fits = await tried(attempt, async () => {
    const person = await selectPerson(db, accountId, userId);
    return fitsPassword(password, person?.hash ?? nobodysHash());
  });
  if (!fits) {
    const message = 'This is not your password.';
    const details = [{ type: 'wrong password', message, path: '/password' }];
    throw new Fault('invalid', 'wrong password', message, { details });
  }
  await attempt.succeeded();
}
