// SQL for uploads and stored files.
import type { FileReport } from '@soundings/contract/storage.ts';
import { binaryEnd, binaryStart } from '../db/binary-copy.ts';
import { type AccountId, copyBytes, type Db, onConnection, type Pool, type Transaction } from '../db/db.ts';

export type Via = 'https' | 'sftp' | 'console' | 'pull';

/** Starts an upload. Returns undefined if the account has reached its limit of files or bytes. */
export async function insertUpload(
  db: Db,
  accountId: AccountId,
  upload: {
    name: string;
    via: Via;
    tokenId: number | null;
    userId?: number | null;
    address: string;
    isDryRun?: boolean;
  },
  most: { files: number; bytes: number },
): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    insert into files (account_id, name, size, via, token_id, user_id, address, is_dry_run)
    select ${accountId}, ${upload.name}, 0, ${upload.via}, ${upload.tokenId}::integer, ${upload.userId ?? null}::integer,
           ${upload.address}, ${upload.isDryRun ?? false}
    from   (select count(*) as files, coalesce(sum(size), 0) as bytes
            from   files where account_id = ${accountId} and not is_refused) stored
    where  stored.files < ${most.files} and stored.bytes < ${most.bytes}
    returning file_id as id`;
  return row?.id;
}

/**
 * Deletes the oldest `count` processed files that a newer file with the same name has replaced, except those whose run is pending, and those of
 * pulls, which are needed later. Returns how many it has deleted. Dry runs replace only dry runs. Leaves rows that another transaction is changing.
 */
export async function deleteReplaced(db: Db, accountId: AccountId, count: number): Promise<number> {
  // A subquery instead of "with" would be executed again for each file, and find others each time, if the plan is a nested loop.
  const rows = await db`
    with replaced as (
      select f.file_id
      from   files f
      where  f.account_id = ${accountId} and f.processed_at is not null and not f.is_refused
        and  exists (select 1 from files later
                     where  later.account_id = ${accountId} and later.name = f.name and later.arrival > f.arrival
                       and  not later.is_refused and (f.is_dry_run or not later.is_dry_run))
        and  not exists (select 1 from runs r
                         where  r.account_id = ${accountId} and r.run_id = f.run_id and r.outcome = 'pending')
        and  not exists (select 1 from pulls p where p.account_id = ${accountId} and p.last_file_id = f.file_id)
        and  not exists (select 1 from pull_fetches t where t.account_id = ${accountId} and t.file_id = f.file_id)
      order  by f.arrival
      limit  ${count}
      for    update of f skip locked)
    delete from files f
    using  replaced
    where  f.account_id = ${accountId} and f.file_id = replaced.file_id
    returning 1`;
  return rows.length;
}

/** The maximum number of refused uploads to keep for an account. */
const maxRefused = 100;

/** Stores the report of a refused upload, in place of an earlier one with the same name. */
export async function insertRefused(
  tx: Transaction,
  accountId: AccountId,
  upload: {
    name: string;
    via: Via;
    tokenId: number | null;
    userId?: number | null;
    address: string;
    report: Omit<FileReport, 'changes'>;
  },
): Promise<void> {
  await tx`
    delete from files
    where  account_id = ${accountId} and is_refused
      and  (name = ${upload.name}
            or arrival < (select arrival from files where account_id = ${accountId} and is_refused
                          order by arrival desc offset ${maxRefused - 2} limit 1))`;
  await tx`
    insert into files (account_id, name, size, via, token_id, user_id, address, arrival, arrived_at, processed_at,
                       is_refused, report)
    values (${accountId}, ${upload.name}, 0, ${upload.via}, ${upload.tokenId}, ${upload.userId ?? null},
            ${upload.address}, nextval('file_arrivals'), clock_timestamp(), clock_timestamp(), true,
            ${tx.json(upload.report)})`;
}

/** Bytes of a file per row: as many as fit a page of PostgreSQL, so that it does not split them. */
export const rowBytes = 8000;
/** The maximum number of rows written at a time, starting at a multiple of this number. The first row checks that the file exists. */
export const maxRows = 32;

/**
 * Inserts or replaces rows from a position on. Does not wait until the rows are on the disk. The statement that turns the
 * upload into a file waits for that, including everything that was written before it.
 */
export async function upsertRows(
  db: Db,
  accountId: AccountId,
  fileId: number,
  position: number,
  bytes: Buffer,
): Promise<void> {
  await db`
    with at_once as materialized (select set_config('synchronous_commit', 'off', true))
    insert into file_chunks (account_id, file_id, position, bytes)
    select ${accountId}::integer, ${fileId}::integer, ${position}::integer + i,
           substring(${bytes}::bytea from i * ${rowBytes}::integer + 1 for ${rowBytes}::integer)
    from   at_once, generate_series(0, (${bytes.length}::integer - 1) / ${rowBytes}::integer) i
    on conflict (account_id, file_id, position) do update set bytes = excluded.bytes`;
}

/** Like `upsertRows`, for new rows. Uses binary COPY, because a parameter would be sent as text of twice the length. */
export async function insertRows(
  pool: Pool,
  accountId: AccountId,
  fileId: number,
  position: number,
  bytes: Buffer,
): Promise<void> {
  const room = spare.pop() ?? Buffer.allocUnsafeSlow(maxCopied);
  const rows = binaryRows(room, [accountId, fileId, position], bytes);
  await onConnection(pool, (db) => {
    const statement = db`
      set local synchronous_commit = off;
      copy file_chunks (account_id, file_id, position, bytes) from stdin (format binary)`;
    return copyBytes(statement, [rows]);
  });
  spare.push(room);
}

/** The length of the fields before the bytes of a row: the number of values, then each value with its length. */
const rowHead = 2 + 3 * (4 + 4) + 4;
const maxCopied = binaryStart.length + maxRows * (rowHead + rowBytes) + binaryEnd.length;

/** Buffers for COPY, to be reused. With a new buffer each time, garbage collection took as long as everything else. */
const spare: Buffer[] = [];

/** Returns the bytes as rows from a position on, in the binary format of COPY. */
function binaryRows(
  room: Buffer,
  [accountId, fileId, position]: [number, number, number],
  bytes: Buffer,
): Buffer {
  let at = binaryStart.copy(room);
  for (let from = 0, row = position; from < bytes.length; from += rowBytes, row++) {
    const content = bytes.subarray(from, from + rowBytes);
    at = room.writeInt16BE(4, at);
    for (const integer of [accountId, fileId, row]) at = room.writeInt32BE(integer, room.writeInt32BE(4, at));
    at = room.writeInt32BE(content.length, at);
    at += content.copy(room, at);
  }
  at += binaryEnd.copy(room, at);
  return room.subarray(0, at);
}

/** Returns the bytes of up to `count` rows from a position on. */
export async function selectRows(
  db: Db,
  accountId: AccountId,
  fileId: number,
  position: number,
  count: number,
): Promise<Buffer> {
  const rows = await db<{ bytes: Buffer }[]>`
    select bytes as "bytes"
    from   file_chunks
    where  account_id = ${accountId} and file_id = ${fileId}
      and  position between ${position} and ${position + count - 1}
    order  by position`;
  return Buffer.concat(rows.map(({ bytes }) => bytes));
}

/** Updates the size and the temporary name of an upload. */
export async function updateUpload(
  db: Db,
  accountId: AccountId,
  fileId: number,
  { name, size }: { name: string; size: number },
): Promise<void> {
  await db`
    update files
    set    name = ${name}, size = ${size}
    where  account_id = ${accountId} and file_id = ${fileId} and arrival is null`;
}

/**
 * Turns an upload into a file and appends it to the queue. Returns false if the upload no longer exists, or if bytes are missing:
 * a database that crashed may have lost the last rows.
 */
export async function updateArrived(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  { name, size }: { name: string; size: number },
): Promise<boolean> {
  const [next] = await tx<{ arrival: number }[]>`select nextval('file_arrivals')::integer as "arrival"`;
  const rows = await tx`
    update files
    set    name = ${name}, size = ${size}, arrival = ${next!.arrival}, arrived_at = statement_timestamp()
    where  account_id = ${accountId} and file_id = ${fileId} and arrival is null
      and  ${size} = (select sum(octet_length(bytes)) from file_chunks where account_id = ${accountId} and file_id = ${fileId})
    returning 1`;
  return rows.length > 0;
}

/**
 * Adds the job that processes the files of an account, in the transaction that adds a file. One job covers all waiting files. The
 * job has no queue, because the job of a killed process would keep its queue locked. The account's turn keeps the order.
 */
export async function addProcessing(db: Db, accountId: AccountId, seconds = 0): Promise<void> {
  await db`
    select graphile_worker.add_job(
      'process files', json_build_object('accountId', ${accountId}::integer),
      job_key := 'files ' || ${accountId}::integer, run_at := now() + make_interval(secs => ${seconds}))`;
}

/**
 * Adds the job that processes files for all accounts with a file that has waited more than a minute: the process that
 * started it may be gone.
 */
export async function addLostProcessing(db: Db): Promise<void> {
  await db`
    select graphile_worker.add_job('process files', json_build_object('accountId', account_id),
                                   job_key := 'files ' || account_id)
    from   (select distinct account_id
            from   files
            where  arrived_at < now() - interval '1 minute' and processed_at is null) waiting`;
}

export async function deleteUpload(db: Db, accountId: AccountId, fileId: number): Promise<void> {
  await db`delete from files where account_id = ${accountId} and file_id = ${fileId} and arrival is null`;
}

export type StoredFile = { id: number; name: string; size: number; arrivedAt: Date };

/** Returns the latest file of each name, sorted by name. */
export async function selectFiles(db: Db, accountId: AccountId): Promise<StoredFile[]> {
  return db<StoredFile[]>`
    select distinct on (name collate "C")
           file_id    as "id",
           name       as "name",
           size       as "size",
           arrived_at as "arrivedAt"
    from   files
    where  account_id = ${accountId} and arrival is not null and not is_refused
    order  by name collate "C", arrival desc`;
}

/** Returns the latest file with a name. */
export async function selectFile(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<StoredFile | undefined> {
  const [row] = await db<StoredFile[]>`
    select file_id as "id", name as "name", size as "size", arrived_at as "arrivedAt"
    from   files
    where  account_id = ${accountId} and name = ${name} and arrival is not null and not is_refused
    order  by arrival desc
    limit  1`;
  return row;
}

export type UploadRow = { id: number; size: number };

/** Returns a complete upload of a token that waits under a temporary name. Uploads in progress have size 0. */
export async function selectUpload(
  db: Db,
  accountId: AccountId,
  tokenId: number | null,
  name: string,
): Promise<UploadRow | undefined> {
  const [row] = await db<UploadRow[]>`
    select file_id as "id", size as "size"
    from   files
    where  account_id = ${accountId} and token_id = ${tokenId} and name = ${name}
      and  arrival is null and size > 0
    order  by file_id desc
    limit  1`;
  return row;
}

/** Deletes the token's other uploads that wait under a temporary name. */
export async function deleteParkedByOthers(
  db: Db,
  accountId: AccountId,
  tokenId: number | null,
  name: string,
  fileId: number,
): Promise<void> {
  await db`
    delete from files
    where  account_id = ${accountId} and token_id = ${tokenId} and name = ${name}
      and  arrival is null and size > 0 and file_id <> ${fileId}`;
}

/** Returns the bytes of all rows of a file, in order. */
export async function selectAllRows(db: Db, accountId: AccountId, fileId: number): Promise<Buffer[]> {
  const rows = await db<{ bytes: Buffer }[]>`
    select bytes as "bytes"
    from   file_chunks
    where  account_id = ${accountId} and file_id = ${fileId}
    order  by position`;
  return rows.map(({ bytes }) => bytes);
}

/** Deletes, in all accounts, uploads unfinished for `uploadMinutes` minutes, and files processed `days` days ago. */
export async function deleteOldFiles(db: Db, uploadMinutes: number, days: number): Promise<void> {
  await db`
    delete from files
    where  account_id in (select account_id from accounts)
      and  (arrival is null and started_at < now() - make_interval(mins => ${uploadMinutes})
            or processed_at < now() - make_interval(days => ${days}))`;
}

/** Returns how many files of all accounts, apart from sandboxes, are waiting, and for how long the oldest has waited. */
export async function countWaiting(db: Db): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await db<{ count: number; oldestSeconds: number }[]>`
    select count(account_id)::integer                                                        as "count",
           coalesce(extract(epoch from clock_timestamp() - min(arrived_at)), 0)::float8      as "oldestSeconds"
    from   files
    where  arrival is not null and processed_at is null
      and  account_id in (select account_id from accounts where kind = 'company')`;
  return row!;
}
