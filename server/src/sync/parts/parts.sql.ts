// SQL for pushes in parts. Writers: parts.ts, store-part.ts, commit.ts.
import type { Change, Summary, Warning } from '@soundings/contract/organization.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { isOnCitus } from '../../db/citus/distribution.ts';
import { copiedValue, copyRow, literal } from '../../db/binary-copy.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import type { Outcome } from '../runs.sql.ts';

/** What the last commit reports. */
export type CommitReport = {
  summary?: Summary;
  plan?: string;
  warnings: Warning[];
  message?: string;
  details?: Detail[];
};

export type StoredPush = {
  id: string;
  lastUsedAt: Date;
  runId: string | null;
  runAt: Date | null;
  outcome: Outcome | null;
  validateOnly: boolean | null;
  message: string | null;
  report: CommitReport | null;
};

/** Creates a push, unless the account has one. Returns whether it was created. */
export async function insertPush(tx: Transaction, accountId: AccountId, id: string): Promise<boolean> {
  const rows = await tx`
    insert into pushes (account_id, push_id) values (${accountId}, ${id})
    on conflict (account_id) do nothing
    returning 1`;
  return rows.length > 0;
}

/** What is read of the run `r` of a push. */
const ofRun = (db: Db) => db`
  r.run_id        as "runId",
  r.at            as "runAt",
  r.outcome       as "outcome",
  r.validate_only as "validateOnly",
  r.message       as "message"`;

/** Returns the push of the account, with its last run. */
export async function selectPush(db: Db, accountId: AccountId): Promise<StoredPush | undefined> {
  const [row] = await db<StoredPush[]>`
    select p.push_id       as "id",
           p.last_used_at  as "lastUsedAt",
           p.report        as "report",
           ${ofRun(db)}
    from   pushes p
    left   join runs r on r.account_id = p.account_id and r.run_id = p.run_id
    where  p.account_id = ${accountId}`;
  return row;
}

/** Returns a push that was applied, from its run, which is kept longer. */
export async function selectAppliedPush(
  db: Db,
  accountId: AccountId,
  id: string,
): Promise<StoredPush | undefined> {
  const [row] = await db<StoredPush[]>`
    select r.push_id as "id",
           r.at      as "lastUsedAt",
           json_build_object('summary', r.summary, 'warnings', r.warnings) as "report",
           ${ofRun(db)}
    from   runs r
    where  r.account_id = ${accountId} and r.push_id = ${id} and r.outcome = 'applied'`;
  return row;
}

/** Locks the push of the account until the transaction ends. A commit keeps the lock until it has ended. */
export async function lockPushRow(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`select 1 from pushes where account_id = ${accountId} for no key update`;
}

/** Returns whether a run is the one that processes the push of the account. */
export async function isProcessed(tx: Transaction, accountId: AccountId, runId: string): Promise<boolean> {
  const rows = await tx`
    select 1
    from   pushes p
    join   runs r on r.account_id = p.account_id and r.run_id = p.run_id
    where  p.account_id = ${accountId} and p.run_id = ${runId} and r.outcome = 'processing'`;
  return rows.length > 0;
}

/** Lets the rest of the transaction wait at most five seconds for a lock, as on the connections for requests. */
export async function limitLockWait(tx: Transaction): Promise<void> {
  await tx`set local lock_timeout = '5s'`;
}

/** Deletes a push with its parts. Does nothing if another one has replaced it in the meantime. */
export async function deletePushRow(tx: Transaction, accountId: AccountId, id: string): Promise<void> {
  await tx`delete from pushes where account_id = ${accountId} and push_id = ${id}`;
}

/** Deletes, in every account, the pushes that were not used for `hours`, and those that are a week old. Those that a commit is processing stay. */
export async function deleteUnusedPushes(db: Db, hours: number): Promise<void> {
  const onCitus = await isOnCitus(db);
  const isUnused = db`(last_used_at < now() - make_interval(hours => ${hours}) or opened_at < now() - interval '7 days')`;
  await db`
    delete from pushes p
    using  (select account_id from pushes
            where  account_id in (select account_id from accounts) and ${isUnused}
            ${onCitus ? db`` : db`for update skip locked`}) as unused
    where  p.account_id = unused.account_id and ${isUnused}`;
}

/** What is stored of a part, without its content. `users`, `groups`: how many it lists; null if it has no such list. */
export type PartRow = { part: number; users: number | null; groups: number | null; bytes: number };

/** Returns the parts of the push, by number. */
export async function selectParts(db: Db, accountId: AccountId): Promise<PartRow[]> {
  return db<PartRow[]>`
    select part as "part", users as "users", groups as "groups", bytes as "bytes"
    from   push_parts
    where  account_id = ${accountId}
    order  by part`;
}

export async function selectPartContent(
  tx: Transaction,
  accountId: AccountId,
  part: number,
): Promise<Buffer | undefined> {
  const content = await copiedValue(tx`
    copy (select content from push_parts where account_id = ${literal(tx, accountId)} and part = ${literal(tx, part)})
    to   stdout (format binary)`);
  return content ?? undefined;
}

/** Returns the index of the people in a part; null if it has none. */
export async function selectPartPeople(
  tx: Transaction,
  accountId: AccountId,
  part: number,
): Promise<Buffer | null> {
  const people = await copiedValue(tx`
    copy (select people from push_parts where account_id = ${literal(tx, accountId)} and part = ${literal(tx, part)})
    to   stdout (format binary)`);
  return people ?? null;
}

/** Returns the SHA-256 of the content of each part up to `last`, by number. Null: there is no such part. */
export async function selectPartDigests(
  db: Db,
  accountId: AccountId,
  last: number,
): Promise<(Buffer | null)[]> {
  const rows = await db<{ digest: Buffer | null }[]>`
    select sha256(p.content) as "digest"
    from   generate_series(1, ${last}::integer) as n (part)
    left   join push_parts p on p.account_id = ${accountId} and p.part = n.part
    order  by n.part`;
  return rows.map(({ digest }) => digest);
}

/** Stores a part in place of an earlier one with the same number, and notes that the push is used. */
export async function upsertPart(
  tx: Transaction,
  accountId: AccountId,
  { part, users, groups, bytes, content, people }: PartRow & { content: Buffer; people: Buffer | null },
): Promise<void> {
  await tx`delete from push_parts where account_id = ${accountId} and part = ${part}`;
  await copyRow(
    tx`copy push_parts (account_id, part, users, groups, bytes, content, people) from stdin (format binary)`,
    [accountId, part, users, groups, bytes, content, people],
  );
  await tx`update pushes set last_used_at = now() where account_id = ${accountId}`;
}

export async function deleteParts(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`delete from push_parts where account_id = ${accountId}`;
}

/** Notes that a run processes the push. */
export async function updatePushRun(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await tx`
    update pushes set run_id = ${runId}, report = null, last_used_at = now() where account_id = ${accountId}`;
}

/** Stores what a commit reports. */
export async function updatePushReport(
  db: Db,
  accountId: AccountId,
  runId: string,
  report: CommitReport,
): Promise<void> {
  await db`
    update pushes
    set    report = ${db.json(report)}, last_used_at = now()
    where  account_id = ${accountId} and run_id = ${runId}`;
}

/** Returns the changes of a run from a position on. */
export async function selectChangesFrom(
  db: Db,
  accountId: AccountId,
  { runId, from, most }: { runId: string; from: number; most: number },
): Promise<(Omit<Change, 'fields'> & { fields: Change['fields'] | null })[]> {
  return db`
    select entity as "entity", external_id as "externalId", action as "action", fields as "fields"
    from   run_changes
    where  account_id = ${accountId} and run_id = ${runId} and position >= ${from}
    order  by position
    limit  ${most}`;
}
