// Console sessions, identified by a random cookie of which only the SHA-256 hash is stored. A session ends after a week without
// use, after 30 days, or earlier if the provider with which it began says so, when its person is removed or deactivated, and when it
// is revoked. A person who is activated again has to sign in again.
import { randomBytes } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';
import {
  deleteEndedSessions,
  deleteSessionByHash,
  deleteSessionsOfMany,
  insertSession,
  type ProviderSignIn,
  selectIsSessionKept,
  selectSession,
  type SignedIn,
  updateSessionSeen,
} from './sessions.sql.ts';
import { deleteExpiredLinks, deleteLinksOfMany } from './sign-in-links.sql.ts';
import { deleteUnconfirmed } from './two-factor.sql.ts';

/** Starts a session and returns its secret of 192 random bits, for the cookie. `provider`: if it begins with one. */
export async function beginSession(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  { address, agent }: { address: string; agent: string },
  provider: ProviderSignIn | null = null,
): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  const session = { accountId, userId, hash: tokenHash(secret), address, agent: agent.slice(0, 300) };
  await insertSession(db, session, provider);
  return secret;
}

/** Returns who is signed in with a cookie, or undefined if no one is. */
export async function sessionOf(pool: Pool, secret: string): Promise<SignedIn | undefined> {
  if (!/^[\w-]{32}$/.test(secret)) return undefined;
  const found = await selectSession(pool, tokenHash(secret));
  if (!found) return undefined;
  const { stale, ...session } = found;
  if (stale) await updateSessionSeen(pool, session.accountId, session.sessionId).catch(() => {});
  return session;
}

/** Throws a Fault if the session has ended since the request began. Otherwise locks the person's row until the transaction ends. */
export async function rejectEndedSession(tx: Transaction, session: SignedIn): Promise<void> {
  if (await selectIsSessionKept(tx, session)) return;
  throw notSignedIn();
}

/** Returns the Fault for a request without a session, or whose session has ended. */
export const notSignedIn = (): Fault =>
  new Fault('unauthenticated', 'not signed in', 'Your session has expired. Sign in again.');

/** Ends the session of a cookie. */
export async function endSessionOf(db: Db, secret: string): Promise<void> {
  await deleteSessionByHash(db, tokenHash(secret));
}

/** Ends the sessions of people who are no longer active, and deletes their links for setting a password. */
export async function revokeAccess(db: Db, accountId: AccountId, userIds: number[]): Promise<void> {
  if (userIds.length === 0) return;
  await deleteSessionsOfMany(db, accountId, userIds);
  await deleteLinksOfMany(db, accountId, userIds);
}

/** Deletes expired sessions, expired links for setting a password, and two-factor setups that were never confirmed. */
export async function deleteExpiredSessions(pool: Pool): Promise<void> {
  await deleteEndedSessions(pool);
  await deleteExpiredLinks(pool);
  await deleteUnconfirmed(pool);
}
