// SQL for processing files: the queue, the turn of an account, reports, and the current values that empty cells keep.
import type { FileReport } from '@soundings/contract/storage.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** The stored part of a report. Its changes are stored with the run. */
export type StoredFileReport = Omit<FileReport, 'changes'>;

export type WaitingFile = {
  id: number;
  name: string;
  via: 'https' | 'sftp' | 'console' | 'pull';
  /** Whether it must change nothing, whatever the settings of the account say. */
  isDryRun: boolean;
  tokenId: number | null;
  userId: number | null;
  address: string | null;
  arrivedAt: Date;
  /** The turn that started the file and has not finished it, or null. */
  turn: string | null;
  /** The time since processing last started, in seconds. */
  begunAgo: number | null;
  failures: number;
  /**
   * How many interruptions are recorded. If `turn` has ended without finishing the file, that is one more interruption, not
   * recorded yet.
   */
  interruptions: number;
  runId: string | null;
};

/** The namespace of these advisory locks. No other lock of ours uses it. */
const turnLocks = 7303;

/**
 * Takes the turn to process the files of an account until the transaction ends. It also ends with the connection, for example
 * when the process is killed. Returns the process id of the connection, or undefined if the turn is taken.
 */
export async function takeTurn(tx: Transaction, accountId: AccountId): Promise<number | undefined> {
  const [row] = await tx<{ isTaken: boolean; connection: number }[]>`
    select pg_try_advisory_xact_lock(${turnLocks}::integer, ${accountId}::integer)  as "isTaken",
           pg_backend_pid()                                                         as "connection",
           set_config('idle_in_transaction_session_timeout', '0', true)`;
  return row?.isTaken ? row.connection : undefined;
}

/** Whether the turn is free at the moment. */
export async function isTurnFree(db: Db, accountId: AccountId): Promise<boolean> {
  const [row] = await db<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(${turnLocks}::integer, ${accountId}::integer) as "isFree"`;
  return row?.isFree ?? false;
}

/** Returns the next file of an account to process. */
export async function selectNextFile(db: Db, accountId: AccountId): Promise<WaitingFile | undefined> {
  const [row] = await db<WaitingFile[]>`
    select file_id    as "id",
           name       as "name",
           via        as "via",
           is_dry_run as "isDryRun",
           token_id   as "tokenId",
           user_id    as "userId",
           address    as "address",
           arrived_at as "arrivedAt",
           turn       as "turn",
           extract(epoch from clock_timestamp() - begun_at)::float8 as "begunAgo",
           failures      as "failures",
           interruptions as "interruptions",
           run_id        as "runId"
    from   files
    where  account_id = ${accountId} and arrival is not null and processed_at is null
    order  by arrival
    limit  1`;
  return row;
}

/** A turn, and the process id of the connection that has it. */
export type Turn = { id: string; connection: number };

/**
 * Records that processing of a file starts, and returns its run id, which stays the same when the file is started again. A file
 * with an unfinished turn counts as interrupted. Returns undefined if the file is processed or the turn is lost.
 */
export async function updateBegun(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  { turn, runId }: { turn: Turn; runId: string },
): Promise<string | undefined> {
  const [row] = await tx<{ runId: string }[]>`
    update files
    set    interruptions = interruptions + (turn is not null)::integer,
           turn          = ${turn.id},
           begun_at      = statement_timestamp(),
           run_id        = coalesce(run_id, ${runId})
    where  account_id = ${accountId} and file_id = ${fileId} and processed_at is null
      and  exists (select 1
                   from   pg_locks
                   where  locktype = 'advisory' and granted and pid = ${turn.connection}
                     and  database = (select oid from pg_database where datname = current_database())
                     and  classid = ${turnLocks} and objid = ${accountId} and objsubid = 2)
    returning run_id as "runId"`;
  return row?.runId;
}

/** Whether a file is still unprocessed and belongs to this turn. Locks the row, so that the file is processed once. */
export async function lockBegunFile(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  turnId: string | null,
): Promise<boolean> {
  const rows = await tx`
    select 1
    from   files
    where  account_id = ${accountId} and file_id = ${fileId} and processed_at is null
      and  turn is not distinct from ${turnId}::uuid
    for    update`;
  return rows.length > 0;
}

/** Records that a turn has ended without finishing its file. `isOfFile` says whether that counts as a failure of the file. */
export async function updateLeft(
  db: Db,
  accountId: AccountId,
  turnId: string,
  isOfFile: boolean,
): Promise<void> {
  await db`
    update files
    set    turn = null, failures = failures + ${isOfFile}::boolean::integer
    where  account_id = ${accountId} and turn = ${turnId} and processed_at is null`;
}

/** Stores the report of a file, and marks it as processed. */
export async function updateProcessed(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  report: StoredFileReport,
): Promise<void> {
  await tx`
    update files
    set    processed_at = statement_timestamp(), turn = null, report = ${tx.json(report)}
    where  account_id = ${accountId} and file_id = ${fileId}`;
}

/**
 * Queues a processed file again. Returns undefined, and changes nothing, if the file does not exist, a later file has the same
 * name, or another run has applied changes since the file arrived.
 */
export async function updateToRepeat(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
): Promise<{ runId: string | null; outcome: string | null } | undefined> {
  const [row] = await tx<{ runId: string | null; outcome: string | null }[]>`
    update files f
    set    processed_at = null, turn = null, failures = 0, interruptions = 0, run_id = null, report = null
    from   (select run_id, report ->> 'outcome' as outcome
            from   files
            where  account_id = ${accountId} and file_id = ${fileId}
            for    update) before
    where  f.account_id = ${accountId} and f.file_id = ${fileId} and f.processed_at is not null and not f.is_refused
      and  not exists (select 1 from files later
                       where  later.account_id = ${accountId} and later.name = f.name and later.arrival > f.arrival
                         and  not later.is_refused)
      and  not exists (select 1 from runs r
                       where  r.account_id = ${accountId} and r.outcome = 'applied' and r.run_id is distinct from f.run_id
                         and  coalesce(r.decided_at, r.at) > f.arrived_at
                         and  exists (select 1 from run_changes c
                                      where  c.account_id = ${accountId} and c.run_id = r.run_id))
    returning before.run_id as "runId", before.outcome as "outcome"`;
  return row;
}

/**
 * Returns the name of the file that a run came from, if a newer file with this name has replaced it and the run was not applied. The newer
 * file may still be waiting, and may have errors. Dry runs and refused uploads replace nothing.
 */
export async function selectReplacedName(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    select f.name as "name"
    from   files f
    join   runs r on r.account_id = f.account_id and r.run_id = f.run_id
    where  f.account_id = ${accountId} and f.run_id::text = ${runId} and r.outcome in ('pending', 'refused')
      and  exists (select 1 from files later
                   where  later.account_id = ${accountId} and later.name = f.name and later.arrival > f.arrival
                     and  not later.is_refused and not later.is_dry_run)`;
  return row?.name;
}

/** Returns the pending runs of earlier files with the same name as a file, and locks them. */
export async function selectReplacedRuns(
  tx: Transaction,
  accountId: AccountId,
  { id, name }: Pick<WaitingFile, 'id' | 'name'>,
): Promise<string[]> {
  const rows = await tx<{ runId: string }[]>`
    select r.run_id as "runId"
    from   runs r
    join   files earlier on earlier.account_id = r.account_id and earlier.run_id = r.run_id
    where  r.account_id = ${accountId} and r.outcome = 'pending' and earlier.name = ${name}
      and  earlier.arrival < (select arrival from files where account_id = ${accountId} and file_id = ${id})
    for    update of r`;
  return rows.map(({ runId }) => runId);
}

/** Changes the report of the file that a run came from. Returns the report, or undefined if the file has been deleted. */
export async function updateReport(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  change: (report: StoredFileReport) => StoredFileReport,
): Promise<{ id: number; report: StoredFileReport } | undefined> {
  const [row] = await tx<{ id: number; report: StoredFileReport }[]>`
    select file_id as "id", report as "report"
    from   files
    where  account_id = ${accountId} and run_id = ${runId}
    for    update`;
  if (!row) return undefined;
  const report = change(row.report);
  await tx`
    update files
    set    report = ${tx.json(report)}
    where  account_id = ${accountId} and file_id = ${row.id}`;
  return { id: row.id, report };
}

export async function selectReport(
  db: Db,
  accountId: AccountId,
  fileId: number,
): Promise<StoredFileReport | undefined> {
  const [row] = await db<{ report: StoredFileReport | null }[]>`
    select report as "report" from files where account_id = ${accountId} and file_id = ${fileId}`;
  return row?.report ?? undefined;
}

export type KnownPerson = {
  externalId: string;
  firstName: string;
  lastName: string;
  active: boolean;
  timezone: string | null;
  role: string;
};

/** Returns the managed people with the values that a file may leave empty. An empty cell keeps the current value. */
export async function selectKnownPeople(tx: Transaction, accountId: AccountId): Promise<KnownPerson[]> {
  return tx<KnownPerson[]>`
    select external_id as "externalId",
           first_name  as "firstName",
           last_name   as "lastName",
           active      as "active",
           timezone    as "timezone",
           role        as "role"
    from   users
    where  account_id = ${accountId} and external_id is not null and managed`;
}

/** Returns the managed groups of each managed owner, by the owner's externalId. */
export async function selectOwnedGroups(
  tx: Transaction,
  accountId: AccountId,
): Promise<{ externalId: string; groups: string[] }[]> {
  return tx<{ externalId: string; groups: string[] }[]>`
    select u.external_id as "externalId", array_agg(g.external_id order by g.group_id) as "groups"
    from   memberships m
    join   users u using (account_id, user_id)
    join   groups g using (account_id, group_id)
    where  m.account_id = ${accountId} and m.kind = 'adminOf' and u.managed and g.managed
    group  by u.external_id`;
}

/** Returns the groups that a file can refer to. */
export async function selectGroupsForFile(
  tx: Transaction,
  accountId: AccountId,
): Promise<{ externalId: string; name: string; managed: boolean }[]> {
  return tx<{ externalId: string; name: string; managed: boolean }[]>`
    select external_id as "externalId", name as "name", managed as "managed"
    from   groups
    where  account_id = ${accountId} and external_id is not null`;
}

/** Adds a mail job for each address, in the transaction that stores the report. */
export async function addMails(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  addresses: readonly string[],
): Promise<void> {
  for (const to of addresses) {
    await tx`
      select graphile_worker.add_job(
        'mail file report', json_build_object('accountId', ${accountId}::integer, 'fileId', ${fileId}::integer,
                                              'to', ${to}::text), queue_name := 'mail')`;
  }
}
