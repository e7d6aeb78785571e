// Sessions of the console: who is signed in, by a random cookie of which only the SHA-256 is kept. A session ends when it
// was not used for a week, after thirty days, when its person is removed or no longer active, and when it is revoked.
// Whoever is made active again signs in anew.
import type { Role } from '@soundings/contract/organization.ts';
import { randomBytes } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import { tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionByHash,
  deleteSessionsOf,
  deleteSessionsOfMany,
  insertSession,
  selectIsSessionKept,
  selectSession,
  selectSessions,
  updateSessionSeen,
} from './sessions.sql.ts';
import { deleteExpiredLinks, deleteLinksOfMany } from './sign-in-links.sql.ts';
import { forgetUnconfirmed } from './totp.ts';

export { browserOf } from './sessions-browsers.ts';
export { updateSessionProved as noteProof } from './sessions.sql.ts';
export { deleteSession as endSession, deleteSessionsOf as endSessions, selectSessions as sessionsOf };

/** Who is signed in, and what of the account every answer needs. */
export type SignedIn = {
  sessionId: number;
  accountId: AccountId;
  userId: number;
  role: Role;
  /** The account's time zone, and its version, which is raised by whatever changes an answer of the data interface. */
  timezone: string;
  version: string;
  /** Whether the password was given in this session within the last ten minutes, as dangerous acts demand. */
  isProved: boolean;
};

/** Begins a session and returns its secret, for the cookie: 192 random bits. */
export async function beginSession(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  { address, agent }: { address: string; agent: string },
): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  await insertSession(db, {
    accountId,
    userId,
    hash: tokenHash(secret),
    address,
    agent: agent.slice(0, 300),
  });
  return secret;
}

/** Who is signed in by a cookie; undefined when nobody is. */
export async function sessionOf(pool: Pool, secret: string): Promise<SignedIn | undefined> {
  if (!/^[\w-]{32}$/.test(secret)) return undefined;
  const found = await selectSession(pool, tokenHash(secret));
  if (!found) return undefined;
  const { stale, ...session } = found;
  if (stale) await updateSessionSeen(pool, session.accountId, session.sessionId).catch(() => {});
  return session;
}

/** Throws a Fault if the session has ended since the request began. From here on it, and the role, stay until the transaction ends. */
export async function refuseEndedSession(tx: Transaction, session: SignedIn): Promise<void> {
  if (await selectIsSessionKept(tx, session)) return;
  throw new Fault('unauthenticated', 'not signed in', 'Your session has ended. Sign in again.');
}

/** Ends the session of a cookie, whosever it is. */
export async function endSessionOf(db: Db, secret: string): Promise<void> {
  await deleteSessionByHash(db, tokenHash(secret));
}

/** Of people who are no longer active: their sessions end, and links to set a password are dead, for good. */
export async function shutOut(db: Db, accountId: AccountId, userIds: number[]): Promise<void> {
  if (userIds.length === 0) return;
  await deleteSessionsOfMany(db, accountId, userIds);
  await deleteLinksOfMany(db, accountId, userIds);
}

/** Deletes what has ended by itself: sessions, links to set a password, second steps that nobody confirmed. */
export async function forgetEnded(pool: Pool): Promise<void> {
  await deleteEndedSessions(pool);
  await deleteExpiredLinks(pool);
  await forgetUnconfirmed(pool);
}
