// SQL for sessions. Writers: sessions.ts.
import type { Role } from '@soundings/contract/people/roles.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
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
  /** The provider with which the session began; null: it began with a password or a link. */
  providerId: number | null;
};

/** How a session began with a provider. */
export type ProviderSignIn = {
  providerId: number;
  /** The identifiers of the person and, if there is one, of the session at the provider. */
  subject: string;
  providerSession: string | null;
  /** When the person signed in at the provider, if it says so. A time in the future counts as none. */
  provedAt: Date | null;
  endsAt: Date | null;
  /** Sealed. */
  idToken: Buffer | null;
};

export async function insertSession(
  db: Db,
  session: { accountId: AccountId; userId: number; hash: Buffer; address: string; agent: string },
  provider: ProviderSignIn | null,
): Promise<void> {
  await db`
    insert into sessions (hash, account_id, user_id, address, agent, proved_at, provider_id, subject, provider_session,
                          ends_at, id_token)
    values (${session.hash}, ${session.accountId}, ${session.userId}, ${session.address}, ${session.agent},
            case when ${provider === null} then now()
                 when ${provider?.provedAt ?? null}::timestamptz <= now() then ${provider?.provedAt ?? null}::timestamptz
                 when ${provider?.provedAt ?? null}::timestamptz <= now() + interval '30 seconds' then now() end,
            ${provider?.providerId ?? null}, ${provider?.subject ?? null}, ${provider?.providerSession ?? null},
            ${provider?.endsAt ?? null}, ${provider?.idToken ?? null})`;
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
           s.provider_id     as "providerId",
           s.seen_at < now() - interval '1 minute' as "stale"
    from   sessions s
    join   users u    on u.account_id = s.account_id and u.user_id = s.user_id
    join   accounts a on a.account_id = s.account_id
    where  s.hash = ${hash} and u.active and a.kind = 'company'
      and  s.seen_at > now() - interval '7 days' and s.created_at > now() - interval '30 days'
      and  coalesce(s.ends_at > now(), true)`;
  return row;
}

export async function updateSessionSeen(pool: Pool, accountId: AccountId, sessionId: number): Promise<void> {
  await pool`
    update sessions set seen_at = now() where account_id = ${accountId} and session_id = ${sessionId}`;
}

/** Records that the password was entered again in a session, or that the provider confirmed the user. */
export async function updateSessionProved(db: Db, accountId: AccountId, sessionId: number): Promise<void> {
  await db`
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

/**
 * Deletes the sessions of a provider's session or, without one, of a person at the provider. Sessions for which the provider had named no
 * session are the person's in both cases. Returns whose they were.
 */
export async function deleteSessionsOfProvider(
  tx: Transaction,
  accountId: AccountId,
  of: { providerId: number; providerSession: string | null; subject: string | null },
): Promise<number[]> {
  const rows = await tx<{ userId: number }[]>`
    delete from sessions
    where  account_id = ${accountId} and provider_id = ${of.providerId}
      and  (provider_session = ${of.providerSession}
            or ((${of.providerSession}::text is null or provider_session is null) and subject = ${of.subject}))
      and  subject = coalesce(${of.subject}, subject)
    returning user_id as "userId"`;
  return [...new Set(rows.map(({ userId }) => userId))];
}

/** Deletes the sessions that began with a provider, of one person or of all. Returns how many. */
export async function deleteProviderSessions(
  tx: Transaction,
  accountId: AccountId,
  { providerId, userId = null }: { providerId: number; userId?: number | null },
): Promise<number> {
  const rows = await tx`
    delete from sessions
    where  account_id = ${accountId} and provider_id = ${providerId} and user_id = coalesce(${userId}, user_id)
    returning 1`;
  return rows.length;
}

/** Deletes the sessions that began without a provider, except those of break-glass administrators. Returns how many. */
export async function deletePasswordSessions(tx: Transaction, accountId: AccountId): Promise<number> {
  const rows = await tx`
    delete from sessions s
    where  s.account_id = ${accountId} and s.provider_id is null
      and  not exists (select 1 from break_glass_administrators b
                       where  b.account_id = ${accountId} and b.user_id = s.user_id)
    returning 1`;
  return rows.length;
}

/** `provider`: the name of the provider with which the session began. */
export type SessionRow = {
  id: number;
  agent: string;
  address: string;
  signedInAt: Date;
  seenAt: Date;
  provider: string | null;
};

/** Returns the current sessions of a person, the most recently used first. */
export async function selectSessions(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
): Promise<SessionRow[]> {
  return db<SessionRow[]>`
    select s.session_id as "id",
           s.agent      as "agent",
           s.address    as "address",
           s.created_at as "signedInAt",
           s.seen_at    as "seenAt",
           p.name       as "provider"
    from   sessions s
    left   join sign_in_providers p on p.account_id = s.account_id and p.provider_id = s.provider_id
    where  s.account_id = ${accountId} and s.user_id = ${userId}
      and  s.seen_at > now() - interval '7 days' and s.created_at > now() - interval '30 days'
      and  coalesce(s.ends_at > now(), true)
    order  by s.seen_at desc, s.session_id desc`;
}

/**
 * Deletes the expired sessions of all accounts, and the sessions of people who are no longer active. Skips those that others are deleting, in
 * another order.
 */
export async function deleteEndedSessions(db: Db): Promise<void> {
  const onCitus = await isOnCitus(db);
  await db`
    with ended as (
      select s.account_id, s.hash
      from   sessions s
      where  s.seen_at <= now() - interval '7 days' or s.created_at <= now() - interval '30 days' or s.ends_at <= now()
         or  exists (select 1 from users u
                     where  u.account_id = s.account_id and u.user_id = s.user_id and not u.active)
      ${onCitus ? db`` : db`for update of s skip locked`})
    delete from sessions s using ended where s.account_id = ended.account_id and s.hash = ended.hash`;
}
