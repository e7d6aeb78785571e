// SQL of processing files. Writers of what became of a file: process.ts.
import type { FileReport as WholeReport } from '@soundings/contract/storage.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** What is kept of a report; its changes are those of the run. */
export type FileReport = Omit<WholeReport, 'changes'>;

export type WaitingFile = {
  id: number;
  name: string;
  via: 'https' | 'sftp' | 'console';
  tokenId: number | null;
  userId: number | null;
  address: string | null;
  arrivedAt: Date;
  /** The turn in which it was begun, and which has not ended it; null: none. */
  turn: string | null;
  /** How long ago it was begun last, in seconds. */
  begunAgo: number | null;
  failures: number;
  /** Those that are known: whoever finds a `turn` that is over has found one more. */
  interruptions: number;
  runId: string | null;
};

/** A number that no other lock of ours begins with. */
const turnLocks = 7303;

/**
 * Takes the turn to process the files of an account until the transaction ends: at the latest with its connection, also
 * when the process is killed. Returns the number of the connection; undefined: another has the turn.
 */
export async function takeTurn(tx: Transaction, accountId: AccountId): Promise<number | undefined> {
  const [row] = await tx<{ isTaken: boolean; connection: number }[]>`
    select pg_try_advisory_xact_lock(${turnLocks}::integer, ${accountId}::integer)  as "isTaken",
           pg_backend_pid()                                                         as "connection",
           set_config('idle_in_transaction_session_timeout', '0', true)`;
  return row?.isTaken ? row.connection : undefined;
}

/** Whether no one has the turn at the moment. */
export async function isTurnFree(db: Db, accountId: AccountId): Promise<boolean> {
  const [row] = await db<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(${turnLocks}::integer, ${accountId}::integer) as "isFree"`;
  return row?.isFree ?? false;
}

/** The file of an account that is next to be processed. */
export async function selectNextFile(db: Db, accountId: AccountId): Promise<WaitingFile | undefined> {
  const [row] = await db<WaitingFile[]>`
    select file_id    as "id",
           name       as "name",
           via        as "via",
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

/** A turn, and the number of the connection that has it. */
export type Turn = { id: string; connection: number };

/**
 * Notes that the processing of a file begins, and the run that comes of it: the same however often it begins. A file that was
 * left in the middle of a turn has been interrupted. Undefined: it is processed, or the turn is lost.
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
           begun_at      = clock_timestamp(),
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

/** Whether a file still waits, and nobody else has begun it since; locked, so that it is processed once. */
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

/** Notes that a turn has ended before the file that it was at. `isOfFile`: by the doing of the file. */
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

/** Notes what became of a file. */
export async function updateProcessed(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  report: FileReport,
): Promise<void> {
  await tx`
    update files
    set    processed_at = clock_timestamp(), turn = null, report = ${tx.json(report)}
    where  account_id = ${accountId} and file_id = ${fileId}`;
}

/**
 * Makes a file that was processed wait again. Undefined, and nothing is changed: there is no such file, a later one has its
 * name, or something else that changed anything was applied since it arrived.
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
                       where  later.account_id = f.account_id and later.name = f.name and later.arrival > f.arrival
                         and  not later.is_refused)
      and  not exists (select 1 from runs r
                       where  r.account_id = f.account_id and r.outcome = 'applied' and r.run_id is distinct from f.run_id
                         and  coalesce(r.decided_at, r.at) > f.arrived_at
                         and  exists (select 1 from run_changes c
                                      where  c.account_id = r.account_id and c.run_id = r.run_id))
    returning before.run_id as "runId", before.outcome as "outcome"`;
  return row;
}

/** Changes what is told of the file that a run came of. Returns it; undefined: the file is gone. */
export async function updateReport(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  change: (report: FileReport) => FileReport,
): Promise<{ id: number; report: FileReport } | undefined> {
  const [row] = await tx<{ id: number; report: FileReport }[]>`
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
): Promise<FileReport | undefined> {
  const [row] = await db<{ report: FileReport | null }[]>`
    select report as "report" from files where account_id = ${accountId} and file_id = ${fileId}`;
  return row?.report ?? undefined;
}

export type HeldPerson = {
  externalId: string;
  firstName: string;
  lastName: string;
  active: boolean;
  timezone: string | null;
  role: string;
};

/** What a file may leave out of those who are there: an empty cell leaves it as it is. */
export async function selectHeldPeople(tx: Transaction, accountId: AccountId): Promise<HeldPerson[]> {
  return tx<HeldPerson[]>`
    select external_id as "externalId",
           first_name  as "firstName",
           last_name   as "lastName",
           active      as "active",
           timezone    as "timezone",
           role        as "role"
    from   users
    where  account_id = ${accountId} and external_id is not null and managed`;
}

/** The groups that come by files and are owned by people who do, by the externalIds of these. */
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

/** The groups that a file can name. */
export async function selectHeldGroups(
  tx: Transaction,
  accountId: AccountId,
): Promise<{ externalId: string; name: string; managed: boolean }[]> {
  return tx<{ externalId: string; name: string; managed: boolean }[]>`
    select external_id as "externalId", name as "name", managed as "managed"
    from   groups
    where  account_id = ${accountId} and external_id is not null`;
}

/** Asks for a mail to each address, in the transaction that makes the report. */
export async function addMails(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  addresses: readonly string[],
): Promise<void> {
  for (const to of addresses) {
    // oxlint-disable-next-line no-await-in-loop -- a few addresses
    await tx`
      select graphile_worker.add_job(
        'mail file report', json_build_object('accountId', ${accountId}::integer, 'fileId', ${fileId}::integer,
                                              'to', ${to}::text), queue_name := 'mail')`;
  }
}
