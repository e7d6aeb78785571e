// SQL of sandboxes. Writers: sandboxes.ts, tend.ts, template.ts.
import type { SandboxState } from '@soundings/contract/sandbox/sandbox.ts';
import type { Scope } from '@soundings/contract/operation.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** An administrator: the account and the user. */
export type Owner = { accountId: AccountId; userId: number };

export type SandboxRow = {
  sandboxId: AccountId | null;
  state: SandboxState;
  tokenHash: Buffer;
  scopes: Scope[];
  createdAt: Date;
  requestedAt: Date;
  resetAt: Date | null;
  readyAt: Date | null;
  bytes: number | null;
  failure: string | null;
  retryAt: Date | null;
};

const columns = (db: Db) => db`
  sandbox_id    as "sandboxId",
  state         as "state",
  token_hash    as "tokenHash",
  scopes        as "scopes",
  created_at    as "createdAt",
  requested_at  as "requestedAt",
  reset_at      as "resetAt",
  ready_at      as "readyAt",
  bytes::float8 as "bytes",
  failure       as "failure",
  retry_at      as "retryAt"`;

/** Returns the sandbox of a person, when its token was last used, and how many requests are before it. Undefined: there is none. */
export async function selectSandbox(
  db: Db,
  { accountId, userId }: Owner,
): Promise<(SandboxRow & { usedAt: Date | null; before: number; sftpUsername: string | null }) | undefined> {
  const [row] = await db<SandboxRow[]>`
    select ${columns(db)} from sandboxes where account_id = ${accountId} and user_id = ${userId}`;
  if (!row) return undefined;
  const { sandboxId, requestedAt } = row;
  const [[used], [others], [sftp]] = await Promise.all([
    db<{ at: Date | null }[]>`select max(last_used_at) as "at" from tokens where account_id = ${sandboxId}`,
    db<{ before: number }[]>`
      select count(*)::integer as "before" from sandboxes -- account_id: of all accounts
      where  state <> 'ready' and requested_at < ${requestedAt}`,
    db<
      { username: string }[]
    >`select username as "username" from sftp_usernames where account_id = ${sandboxId}`,
  ]);
  return { ...row, usedAt: used!.at, before: others!.before, sftpUsername: sftp?.username ?? null };
}

/** Returns the sandbox of a person, and locks it until the transaction ends. */
export async function lockSandbox(
  tx: Transaction,
  { accountId, userId }: Owner,
): Promise<SandboxRow | undefined> {
  const [row] = await tx<SandboxRow[]>`
    select ${columns(tx)} from sandboxes
    where  account_id = ${accountId} and user_id = ${userId}
    for    update`;
  return row;
}

/** The advisory locks of sandboxes: of their number, and of the process that creates and deletes them. No other lock has these numbers. */
const [countLock, turnLock] = [7_320_001, 7_320_002];

/** Locks the number of sandboxes until the transaction ends, and returns how many there are in all accounts (account_id). */
export async function lockCount(tx: Transaction): Promise<number> {
  await tx`select pg_advisory_xact_lock(${countLock}::integer) as account_id`;
  const [row] = await tx<{ count: number }[]>`select count(account_id)::integer as "count" from sandboxes`;
  return row?.count ?? 0;
}

/** Returns whether this transaction is now the only one that creates and deletes sandboxes. It may then stay idle for as long as it needs. */
export async function takeSandboxTurn(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ isTaken: boolean }[]>`
    select pg_try_advisory_xact_lock(${turnLock}::integer)                  as "isTaken",
           set_config('idle_in_transaction_session_timeout', '0', true) -- account_id: of all accounts`;
  return row?.isTaken ?? false;
}

/** Returns how many times a person has created or reset their sandbox in the last hour, from the audit log. */
export async function countRequests(db: Db, { accountId, userId }: Owner): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count" from audit_entries
    where  account_id = ${accountId} and user_id = ${userId} and action in ('sandbox created', 'sandbox reset')
      and  entry_id > (select coalesce(max(e.entry_id), 0) - 10000 from audit_entries e where e.account_id = ${accountId})
      and  at > now() - interval '1 hour'`;
  return row?.count ?? 0;
}

/** Creates the row of a person's sandbox. Returns false if there is one. */
export async function insertSandbox(
  tx: Transaction,
  { accountId, userId }: Owner,
  { hash, scopes }: { hash: Buffer; scopes: Scope[] },
): Promise<boolean> {
  const rows = await tx`
    insert into sandboxes (account_id, user_id, token_hash, scopes)
    values (${accountId}, ${userId}, ${hash}, ${scopes})
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

/** Requests that a sandbox is reset. */
export async function updateResetting(tx: Transaction, { accountId, userId }: Owner): Promise<void> {
  await tx`
    update sandboxes
    set    state = 'resetting', requested_at = statement_timestamp(), reset_at = now(), failures = 0, failure = null, retry_at = null
    where  account_id = ${accountId} and user_id = ${userId}`;
}

export async function updateToken(
  tx: Transaction,
  { accountId, userId }: Owner,
  { hash, scopes }: { hash: Buffer; scopes: Scope[] },
): Promise<void> {
  await tx`
    update sandboxes set token_hash = ${hash}, scopes = ${scopes}
    where  account_id = ${accountId} and user_id = ${userId}`;
}

export async function deleteSandbox(tx: Transaction, { accountId, userId }: Owner): Promise<void> {
  await tx`delete from sandboxes where account_id = ${accountId} and user_id = ${userId}`;
}

/** Adds a job that creates, resets and deletes what was requested. */
export async function addTending(tx: Db): Promise<void> {
  await tx`select graphile_worker.add_job('tend sandboxes') -- account_id: of all accounts`;
}

/** Returns whether there may be anything to do: any account (account_id) has a sandbox, or accounts of sandboxes are left. */
export async function canTend(db: Db): Promise<boolean> {
  const [row] = await db<{ has: boolean }[]>`
    select exists (select account_id from sandboxes)
           or exists (select account_id from accounts where kind <> 'company') as "has"`;
  return row?.has ?? false;
}

/** Why the service deletes a sandbox. */
export type DeletionReason = 'off' | 'role' | 'unused';

/**
 * Returns the sandboxes to delete: all if they are turned off, otherwise those of people who are not active administrators, and those that
 * were not used for `days`.
 */
export async function selectToDelete(
  db: Db,
  { isOff, days }: { isOff: boolean; days: number },
): Promise<(Owner & { reason: DeletionReason })[]> {
  return db<(Owner & { reason: DeletionReason })[]>`
    select *
    from   (select s.account_id as "accountId", s.user_id as "userId",
                   case when ${isOff} then 'off'
                        when not u.active or u.role <> 'Administrator' or u.role_pending then 'role'
                        when greatest(s.requested_at, s.ready_at,
                                      (select max(t.last_used_at) from tokens t where t.account_id = s.sandbox_id))
                             < now() - make_interval(days => ${days}) then 'unused' end as "reason"
            from   sandboxes s
            join   users u on u.account_id = s.account_id and u.user_id = s.user_id) found
    where  "reason" is not null
    order  by "accountId", "userId"`;
}

/** Returns the request that is next, if one is due. */
export async function selectNext(
  db: Db,
): Promise<(Owner & { requestedAt: Date; failures: number }) | undefined> {
  const [row] = await db<(Owner & { requestedAt: Date; failures: number })[]>`
    select account_id as "accountId", user_id as "userId", requested_at as "requestedAt", failures as "failures"
    from   sandboxes
    where  state <> 'ready' and coalesce(retry_at <= clock_timestamp(), true)
    order  by requested_at
    limit  1`;
  return row;
}

export async function updateReady(
  tx: Transaction,
  { accountId, userId }: Owner,
  sandboxId: AccountId,
): Promise<void> {
  await tx`
    update sandboxes
    set    sandbox_id = ${sandboxId}, state = 'ready', ready_at = statement_timestamp(), bytes = null, measured_at = null,
           failures = 0, failure = null, retry_at = null
    where  account_id = ${accountId} and user_id = ${userId}`;
}

/** Records why an attempt failed, and when the next is due. */
export async function updateFailure(
  db: Db,
  { accountId, userId }: Owner,
  { failure, seconds }: { failure: string; seconds: number },
): Promise<void> {
  await db`
    update sandboxes
    set    failures = case when failures < 1000 then failures + 1 else failures end, failure = ${failure},
           retry_at = statement_timestamp() + make_interval(secs => ${seconds})
    where  account_id = ${accountId} and user_id = ${userId} and state <> 'ready'`;
}

/** Returns the sandboxes that were used since they were last measured. */
export async function selectToMeasure(db: Db): Promise<(Owner & { sandboxId: AccountId })[]> {
  return db<(Owner & { sandboxId: AccountId })[]>`
    select s.account_id as "accountId", s.user_id as "userId", s.sandbox_id as "sandboxId"
    from   sandboxes s
    where  s.sandbox_id is not null
      and  (s.measured_at is null
            or exists (select 1 from tokens t where t.account_id = s.sandbox_id
                                              and t.last_used_at > s.measured_at - interval '2 minutes'))
    order  by s.account_id, s.user_id`;
}

export async function updateSize(
  db: Db,
  { accountId, userId, sandboxId }: Owner & { sandboxId: AccountId },
  bytes: number,
): Promise<void> {
  await db`
    update sandboxes set bytes = ${bytes}, measured_at = now()
    where  account_id = ${accountId} and user_id = ${userId} and sandbox_id = ${sandboxId}`;
}

export type TemplateRow = { accountId: AccountId; weeks: number; weeksDone: number; isReady: boolean };

/** Returns the template of this version of the program with this number of weeks, finished or not. */
export async function selectTemplate(
  db: Db,
  program: string,
  weeks: number,
): Promise<TemplateRow | undefined> {
  const [row] = await db<TemplateRow[]>`
    select t.account_id as "accountId", t.weeks as "weeks", t.weeks_done as "weeksDone", t.ready_at is not null as "isReady"
    from   sandbox_templates t
    join   accounts a on a.account_id = t.account_id and a.ended_at is null
    where  t.program = ${program} and t.weeks = ${weeks}
    order  by t.account_id desc
    limit  1`;
  return row;
}

export async function insertTemplate(
  tx: Transaction,
  accountId: AccountId,
  { program, weeks }: { program: string; weeks: number },
): Promise<void> {
  await tx`insert into sandbox_templates (account_id, program, weeks) values (${accountId}, ${program}, ${weeks})`;
}

export async function updateTemplateProgress(db: Db, accountId: AccountId, weeksDone: number): Promise<void> {
  await db`update sandbox_templates set weeks_done = ${weeksDone} where account_id = ${accountId}`;
}

export async function updateTemplateReady(db: Db, accountId: AccountId): Promise<void> {
  await db`update sandbox_templates set weeks_done = weeks, ready_at = now() where account_id = ${accountId}`;
}

/** Deletes the heads and cursors of audit logs whose accounts were deleted while their entries were being chained. */
export async function deleteLostHeads(tx: Transaction): Promise<void> {
  await tx`delete from audit_heads h where not exists (select 1 from accounts a where a.account_id = h.account_id)`;
  await tx`delete from audit_syslog_cursors c where not exists (select 1 from accounts a where a.account_id = c.account_id)`;
}
