// SQL of uploads and files. Writers: store.ts, process.ts (that it was processed).
import type { FileReport } from '@soundings/contract/storage.ts';
import { type AccountId, copyBytes, type Db, onConnection, type Pool, type Transaction } from '../db/db.ts';

export type Via = 'https' | 'sftp' | 'console';

/** Begins an upload; undefined when the account has as many files, or bytes in them, as it may. */
export async function insertUpload(
  db: Db,
  accountId: AccountId,
  upload: { name: string; via: Via; tokenId: number | null; userId?: number; address: string },
  most: { files: number; bytes: number },
): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    insert into files (account_id, name, size, via, token_id, user_id, address)
    select ${accountId}, ${upload.name}, 0, ${upload.via}, ${upload.tokenId}::integer, ${upload.userId ?? null}::integer,
           ${upload.address}
    from   (select count(*) as files, coalesce(sum(size), 0) as bytes
            from   files where account_id = ${accountId} and not is_refused) stored
    where  stored.files < ${most.files} and stored.bytes < ${most.bytes}
    returning file_id as id`;
  return row?.id;
}

/** So many refused uploads of an account are remembered. */
const mostRefused = 100;

/** Keeps the report of an upload that was refused, instead of an earlier one of its name. */
export async function insertRefused(
  tx: Transaction,
  accountId: AccountId,
  upload: {
    name: string;
    via: Via;
    tokenId: number | null;
    userId?: number;
    address: string;
    report: Omit<FileReport, 'changes'>;
  },
): Promise<void> {
  await tx`
    delete from files
    where  account_id = ${accountId} and is_refused
      and  (name = ${upload.name}
            or arrival < (select arrival from files where account_id = ${accountId} and is_refused
                          order by arrival desc offset ${mostRefused - 2} limit 1))`;
  await tx`
    insert into files (account_id, name, size, via, token_id, user_id, address, arrival, arrived_at, processed_at,
                       is_refused, report)
    values (${accountId}, ${upload.name}, 0, ${upload.via}, ${upload.tokenId}, ${upload.userId ?? null},
            ${upload.address}, nextval('file_arrivals'), clock_timestamp(), clock_timestamp(), true,
            ${tx.json(upload.report)})`;
}

/** So many bytes of a file are in a row: as many as fit a page of PostgreSQL, which else would divide them into more rows. */
export const rowBytes = 8000;
/** So many rows are written at a time at most, from a multiple of that on: the first of them asks whether there is the file. */
export const mostRows = 32;

/**
 * Writes rows from a position on, or writes them anew. It does not wait for the disk: the statement that makes the upload a
 * file does, and with it for all that was written before.
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
    insert into file_parts (account_id, file_id, position, bytes)
    select ${accountId}::integer, ${fileId}::integer, ${position}::integer + i,
           substring(${bytes}::bytea from i * ${rowBytes}::integer + 1 for ${rowBytes}::integer)
    from   at_once, generate_series(0, (${bytes.length}::integer - 1) / ${rowBytes}::integer) i
    on conflict (account_id, file_id, position) do update set bytes = excluded.bytes`;
}

/** The same for rows that are not there yet. By COPY, as bytes: as a parameter they would be sent as twice as long a text. */
export async function insertRows(
  pool: Pool,
  accountId: AccountId,
  fileId: number,
  position: number,
  bytes: Buffer,
): Promise<void> {
  const room = spare.pop() ?? Buffer.allocUnsafeSlow(mostCopied);
  const rows = binaryRows(room, [accountId, fileId, position], bytes);
  await onConnection(pool, (db) => {
    const statement = db`
      set local synchronous_commit = off;
      copy file_parts (account_id, file_id, position, bytes) from stdin (format binary)`;
    return copyBytes(statement, [rows]);
  });
  spare.push(room);
}

const binaryStart = Buffer.from('PGCOPY\n\xff\r\n\0' + '\0'.repeat(8), 'latin1');
const binaryEnd = Buffer.from([0xff, 0xff]);
/** What comes before the bytes of a row: how many values it has, and each with its length. */
const rowHead = 2 + 3 * (4 + 4) + 4;
const mostCopied = binaryStart.length + mostRows * (rowHead + rowBytes) + binaryEnd.length;

/** Room for rows that are copied, to be used again: with new room each time, collecting garbage took as long as all else. */
const spare: Buffer[] = [];

/** Bytes as rows from a position on, in the form in which they are copied. */
function binaryRows(
  room: Buffer,
  [accountId, fileId, position]: [number, number, number],
  bytes: Buffer,
): Buffer {
  let at = binaryStart.copy(room);
  for (let from = 0, row = position; from < bytes.length; from += rowBytes, row++) {
    const piece = bytes.subarray(from, from + rowBytes);
    at = room.writeInt16BE(4, at);
    for (const integer of [accountId, fileId, row]) at = room.writeInt32BE(integer, room.writeInt32BE(4, at));
    at = room.writeInt32BE(piece.length, at);
    at += piece.copy(room, at);
  }
  at += binaryEnd.copy(room, at);
  return room.subarray(0, at);
}

/** The bytes of so many rows from a position on, as far as there are any. */
export async function selectRows(
  db: Db,
  accountId: AccountId,
  fileId: number,
  position: number,
  count: number,
): Promise<Buffer> {
  const rows = await db<{ bytes: Buffer }[]>`
    select bytes as "bytes"
    from   file_parts
    where  account_id = ${accountId} and file_id = ${fileId}
      and  position between ${position} and ${position + count - 1}
    order  by position`;
  return Buffer.concat(rows.map(({ bytes }) => bytes));
}

/** Notes how far an upload has come, and the name that it goes by now. */
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
 * Makes an upload a file: whole from now on, and next in the order of those to be processed. Not when there is no such
 * upload any more, nor when not all of it is there: a database that has failed may have lost the last parts.
 */
export async function updateArrived(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  { name, size }: { name: string; size: number },
): Promise<boolean> {
  const rows = await tx`
    update files
    set    name = ${name}, size = ${size}, arrival = nextval('file_arrivals'), arrived_at = clock_timestamp()
    where  account_id = ${accountId} and file_id = ${fileId} and arrival is null
      and  ${size} = (select sum(octet_length(bytes)) from file_parts where account_id = ${accountId} and file_id = ${fileId})
    returning 1`;
  return rows.length > 0;
}

/**
 * Asks for the files of an account to be processed, in so many seconds: once, however many wait, in the transaction that
 * brings one. Without a queue: what a killed process had begun would keep its queue. Who processes files has the turn.
 */
export async function addProcessing(db: Db, accountId: AccountId, seconds = 0): Promise<void> {
  await db`
    select graphile_worker.add_job(
      'process files', json_build_object('accountId', ${accountId}::integer),
      job_key := 'files ' || ${accountId}::integer, run_at := now() + make_interval(secs => ${seconds}))`;
}

/** Asks for it in all accounts where a file has waited for more than a minute: who had begun may have been killed. */
export async function addForgottenProcessing(db: Db): Promise<void> {
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

/** The files of an account: of each name the last, by name. */
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

/** The last file of a name. */
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

/** A finished upload of a token under a temporary name, which may yet be given a final one. While written, it has no size. */
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

/** Removes what else of a token waits under a temporary name. */
export async function deleteOthersParked(
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

/** Parts of a file, in their order. */
export async function selectParts(db: Db, accountId: AccountId, fileId: number): Promise<Buffer[]> {
  const rows = await db<{ bytes: Buffer }[]>`
    select bytes as "bytes"
    from   file_parts
    where  account_id = ${accountId} and file_id = ${fileId}
    order  by position`;
  return rows.map(({ bytes }) => bytes);
}

/**
 * Removes, of every account, uploads that nobody has finished for so many minutes, and files that were processed so many
 * days ago.
 */
export async function deleteOldFiles(db: Db, uploadMinutes: number, days: number): Promise<void> {
  await db`
    delete from files
    where  account_id in (select account_id from accounts)
      and  (arrival is null and started_at < now() - make_interval(mins => ${uploadMinutes})
            or processed_at < now() - make_interval(days => ${days}))`;
}

/** How many files of all accounts wait to be processed, and for how long the oldest has. */
export async function countWaiting(db: Db): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await db<{ count: number; oldestSeconds: number }[]>`
    select count(account_id)::integer                                                        as "count",
           coalesce(extract(epoch from clock_timestamp() - min(arrived_at)), 0)::float8      as "oldestSeconds"
    from   files
    where  arrival is not null and processed_at is null`;
  return row!;
}
