// SQL for sessions. Writers: sessions.ts.
import type { Role } from '@soundings/contract/people/roles.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';

/** Who is signed in, and the facts about the account that every response needs. */
export type SignedIn = {
  sessionId: number;
  accountId: AccountId;
  userId: number;
  role: Role;
  /**
   * The account's time zone, and its version. Every change that can affect a response of the data interface increases the version.
   */
  timezone: string;
  version: string;
  /** Whether the password was entered in this session within the last ten minutes, as sensitive actions require. */
  isProved: boolean;
};

export async function insertSession(
  db: Db,
  session: { accountId: AccountId; userId: number; hash: Buffer; address: string; agent: string },
): Promise<void> {
  await db`
    insert into sessions (hash, account_id, user_id, address, agent)
    values (${session.hash}, ${session.accountId}, ${session.userId}, ${session.address}, ${session.agent})`;
}

/** Returns who is signed in, or undefined if the session has ended or the person can't sign in. */
export async function selectSession(
  pool: Pool,
  hash: Buffer,
): Promise<(SignedIn & { stale: boolean }) | undefined> {
  const [row] = await pool<(SignedIn & { stale: boolean })[]>`
    select s.session_id      as "sessionId",
           s.account_id      as "accountId",
           s.user_id         as "userId",
           case when u.role_pending then 'User' else u.role end as "role",
           a.timezone        as "timezone",
           a.version::text   as "version",
           coalesce(s.proved_at > now() - interval '10 minutes', false) as "isProved",
           s.seen_at < now() - interval '1 minute' as "stale"
    from   sessions s
    join   users u    on u.account_id = s.account_id and u.user_id = s.user_id
    join   accounts a on a.account_id = s.account_id
    where  s.hash = ${hash} and u.active
      and  s.seen_at > now() - interval '7 days' and s.created_at > now() - interval '30 days'`;
  return row;
}

export async function updateSessionSeen(pool: Pool, accountId: AccountId, sessionId: number): Promise<void> {
  await pool`
    update sessions set seen_at = now() where account_id = ${accountId} and session_id = ${sessionId}`;
}

/** Records that the password was entered again in a session. */
export async function updateSessionProved(
  pool: Pool,
  accountId: AccountId,
  sessionId: number,
): Promise<void> {
  await pool`
    update sessions set proved_at = now() where account_id = ${accountId} and session_id = ${sessionId}`;
}

/** Returns whether a session still exists. Locks its person until the transaction ends. */
export async function selectIsSessionKept(
  tx: Transaction,
  { accountId, userId, sessionId }: { accountId: AccountId; userId: number; sessionId: number },
): Promise<boolean> {
  await tx`select from users where account_id = ${accountId} and user_id = ${userId} for share`;
  const rows = await tx`
    select from sessions where account_id = ${accountId} and user_id = ${userId} and session_id = ${sessionId}`;
  return rows.length > 0;
}

/** Deletes one session of a person. Returns whether it existed. */
export async function deleteSession(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  sessionId: number,
): Promise<boolean> {
  const rows = await db`
    delete from sessions
    where  account_id = ${accountId} and user_id = ${userId} and session_id = ${sessionId}
    returning 1`;
  return rows.length > 0;
}

export async function deleteSessionByHash(db: Db, hash: Buffer): Promise<void> {
  await db`delete from sessions where hash = ${hash}`;
}

/** Deletes all sessions of a person, or all except `but`. Returns how many were deleted. */
export async function deleteSessionsOf(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  but: number | null = null,
): Promise<number> {
  const rows = await db`
    delete from sessions
    where  account_id = ${accountId} and user_id = ${userId} and session_id is distinct from ${but}
    returning 1`;
  return rows.length;
}

export async function deleteSessionsOfMany(db: Db, accountId: AccountId, userIds: number[]): Promise<void> {
  await db`delete from sessions where account_id = ${accountId} and user_id = any(${userIds})`;
}

export type SessionRow = { id: number; agent: string; address: string; signedInAt: Date; seenAt: Date };

/** Returns the current sessions of a person, the most recently used first. */
export async function selectSessions(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
): Promise<SessionRow[]> {
  return db<SessionRow[]>`
    select session_id as "id", agent as "agent", address as "address", created_at as "signedInAt", seen_at as "seenAt"
    from   sessions
    where  account_id = ${accountId} and user_id = ${userId}
      and  seen_at > now() - interval '7 days' and created_at > now() - interval '30 days'
    order  by seen_at desc, session_id desc`;
}

/** Deletes the expired sessions of all accounts, and the sessions of people who are no longer active. */
export async function deleteEndedSessions(db: Db): Promise<void> {
  await db`
    delete from sessions s
    where  s.seen_at <= now() - interval '7 days' or s.created_at <= now() - interval '30 days'
       or  exists (select 1 from users u
                   where  u.account_id = s.account_id and u.user_id = s.user_id and not u.active)`;
}
