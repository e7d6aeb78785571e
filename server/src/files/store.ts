// Receives files over HTTPS and SFTP. Bytes are written to PostgreSQL in chunks as they arrive. When an upload ends, one
// transaction creates the complete file and the job that processes it.
import { maxStoredBytes, maxStoredFiles, maxUploadBytes } from '@soundings/contract/limits.ts';
import type { FileReport } from '@soundings/contract/storage.ts';
import { Fault, uploadRefusal } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { contentFault, structureFault } from '../sheets/content.ts';
import { type FileKind, fileNameOf, kindOf, plainNameOf } from '../sheets/file-names.ts';
import { expirePendingRuns } from '../sync/pending-runs.ts';
import {
  addProcessing,
  deleteOldFiles,
  deleteParkedByOthers,
  deleteReplaced,
  deleteUpload,
  insertRefused,
  insertUpload,
  rowBytes,
  selectAllRows,
  selectRows,
  selectUpload,
  updateArrived,
  updateUpload,
  type Via,
} from './store.sql.ts';
import { type Chunks, openChunks } from './upload-chunks.ts';

/** Unfinished uploads are deleted after this many minutes. */
const uploadMinutes = 60;

/** The maximum number of separate byte ranges of a file during an upload. Clients that send ahead need far fewer. */
const maxRanges = 1000;

/** A file during its upload. At most three chunks of it are in memory. */
export type Upload = {
  readonly id: number;
  readonly size: number;
  /** The bytes in memory that are not in the database yet. */
  readonly unwritten: number;
  /**
   * Writes bytes at an offset. Clients that send ahead may send bytes out of order. Resolves when the client may send more.
   * Throws a Fault (`file validation`) if the file exceeds 10 MB or has too many separate byte ranges, and then on every
   * further call.
   */
  write(offset: number, bytes: Buffer): Promise<void>;
  /** Writes a chunk to the database to free memory. Must not be called during `write`. */
  shrink(): Promise<void>;
  /**
   * Writes everything to the database, so that the upload can wait for its final name. Replaces an earlier upload that waits
   * under the same temporary name. Throws a Fault (`file validation`) if bytes are missing.
   */
  park(name: string): Promise<void>;
  /**
   * Turns the upload into a file with this name. The file is then listed, and will be processed. Throws a Fault (`file
   * validation`) if the file is empty, has missing bytes, or does not match its extension; the upload is then deleted. `note`
   * runs in the same transaction.
   */
  finish(name: string, note?: (tx: Transaction) => Promise<void>): Promise<void>;
  abort(): Promise<void>;
};

type Sender = { accountId: AccountId; tokenId: number | null };
/**
 * The sender, which is a token or a console user, and its IP address. For a list that the service has fetched: its host, who asked for it,
 * and whether the file must change nothing.
 */
export type Receiving = { accountId: AccountId; address: string } & (
  | { via: Exclude<Via, 'console' | 'pull'>; tokenId: number }
  | { via: 'console'; tokenId: null; userId: number }
  | { via: 'pull'; tokenId: null; userId: number | null; isDryRun: boolean }
);

/** How many replaced files are deleted at a time. Deleting 20 files of 10 MB takes a fraction of a second. */
const replacedAtATime = 20;

/**
 * Starts an upload under a name, which may be temporary. If the account has reached its storage limit, the oldest replaced files are deleted:
 * only their reports in the console are lost earlier. Throws a Fault (`file validation`) if there is still no space.
 */
export async function openUpload(pool: Pool, receiving: Receiving, name: string): Promise<Upload> {
  const { accountId, tokenId } = receiving;
  const most = { files: maxStoredFiles, bytes: maxStoredBytes };
  const start = () => insertUpload(pool, accountId, { ...receiving, name }, most);
  let id = await start();
  while (id === undefined) {
    if ((await deleteReplaced(pool, accountId, replacedAtATime)) === 0) throw storageFull();
    id = await start();
  }
  return uploadOf(pool, { accountId, tokenId }, id, 0);
}

const storageFull = (): Fault =>
  uploadRefusal(
    `The account has reached its storage limit of ${maxStoredFiles} files or ${maxStoredBytes / 1024 ** 3} GB. ` +
      'If files are waiting, wait until they have been processed. Use the same file name each time: replaced files make room for new ones. ' +
      'The operator can have files with other names deleted earlier, with the FILE_DAYS setting.',
  );

/** Returns the token's upload that waits under a temporary name, or undefined if there is none. */
export async function parkedUpload(pool: Pool, sender: Sender, name: string): Promise<Upload | undefined> {
  const found = await selectUpload(pool, sender.accountId, sender.tokenId, name);
  return found && uploadOf(pool, sender, found.id, found.size);
}

function uploadOf(pool: Pool, { accountId, tokenId }: Sender, fileId: number, written: number): Upload {
  const chunks = openChunks(pool, accountId, fileId, written);
  let refused: Fault | undefined;

  /** Returns bytes from the database. */
  async function read(from: number, to: number): Promise<Buffer> {
    const first = Math.floor(from / rowBytes);
    const rows = await selectRows(pool, accountId, fileId, first, Math.ceil(to / rowBytes) - first);
    return rows.subarray(from - first * rowBytes, to - first * rowBytes);
  }

  async function remove(): Promise<void> {
    await chunks.settled();
    await deleteUpload(pool, accountId, fileId);
  }

  return {
    id: fileId,

    get size() {
      return chunks.size;
    },

    get unwritten() {
      return chunks.unwritten;
    },

    async write(offset, bytes) {
      if (refused) throw refused;
      if (offset + bytes.length > maxUploadBytes) refused = tooLarge();
      if (chunks.ranges > maxRanges) refused = tooManyGaps();
      if (refused) throw refused;
      await chunks.put(offset, bytes);
    },

    shrink: chunks.shrink,

    async park(name) {
      if (refused) throw refused;
      refuseGap(chunks);
      await chunks.flush();
      await updateUpload(pool, accountId, fileId, { name, size: chunks.size });
      await deleteParkedByOthers(pool, accountId, tokenId, name, fileId);
    },

    async finish(sent, note) {
      try {
        if (refused) throw refused;
        refuseGap(chunks);
        const name = fileNameOf(sent);
        const size = await checkedSize(chunks, kindOf(name) as FileKind, read);
        await inTransaction(pool, async (tx) => {
          // Must come first: other uploads of the account wait here, so that files appear in the order of their arrival.
          await addProcessing(tx, accountId);
          if (!(await updateArrived(tx, accountId, fileId, { name, size }))) {
            throw uploadRefusal(
              'The upload took too long, or some of its data was lost. Send the file again.',
            );
          }
          await note?.(tx);
        });
      } catch (error) {
        if (error instanceof Fault && error.code === 'file validation') await remove();
        throw error;
      }
    },

    abort: remove,
  };
}

/** Writes the last chunks of an upload to the database, and returns its size. Throws a Fault if it is empty or does not match its kind. */
async function checkedSize(
  chunks: Chunks,
  kind: FileKind,
  read: (from: number, to: number) => Promise<Buffer>,
): Promise<number> {
  const head = await chunks.head();
  await chunks.flush();
  const { size } = chunks;
  if (size === 0 || !head) throw wrongSize('The file is empty.');
  const fault = contentFault(kind, head) ?? (await structureFault(kind, { size, read }));
  if (fault !== undefined) throw uploadRefusal(fault);
  return size;
}

/**
 * Records why an upload was refused, for the list of files and its report. Only the last refusal of each name is kept. Ignores
 * invalid file names and other errors. Never throws.
 */
export async function recordRefusal(
  pool: Pool,
  receiving: Receiving,
  sent: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Fault) || error.code !== 'file validation') return;
  try {
    const name = plainNameOf(sent);
    const { message, details } = error;
    const report = {
      file: name,
      receivedAt: new Date().toISOString(),
      outcome: 'refused' as const,
      message: `The upload was refused, and nothing was changed. ${message}`,
      details: details as FileReport['details'],
      warnings: [],
    };
    await inTransaction(pool, (tx) => insertRefused(tx, receiving.accountId, { ...receiving, name, report }));
  } catch {
    // The client still gets the refusal itself.
  }
}

function refuseGap({ gap, size }: Chunks): void {
  if (gap < size)
    throw uploadRefusal(`The file is incomplete: the bytes from ${gap + 1} on were not sent. Send it again.`);
}

export const tooLarge = (): Fault => wrongSize('The file is larger than 10 MB.');

/** Returns the Fault for a file that does not exist. */
export const fileNotFound = (name?: string): Fault =>
  new Fault(
    'not_found',
    'file not found',
    `${name === undefined ? 'This file' : `File ${quote(name)}`} does not exist. It may have been deleted. Send it again.`,
  );

const tooManyGaps = (): Fault => uploadRefusal('Too many gaps in the file. Send the bytes in order.');

/** Returns the Fault for a wrong size, with the messages that §7 requires. */
function wrongSize(message: string): Fault {
  const details = [{ type: 'file validation', message }];
  return new Fault('invalid', 'file validation', `Incorrect file size. ${message}`, { details });
}

/** Returns the bytes of a file. */
export async function contentOf(pool: Pool, accountId: AccountId, fileId: number): Promise<Buffer> {
  return Buffer.concat(await selectAllRows(pool, accountId, fileId));
}

/** Deletes unfinished uploads and files processed `days` days ago, and ends runs that have been pending as long. */
export async function deleteOldFilesDue(pool: Pool, days: number): Promise<void> {
  await deleteOldFiles(pool, uploadMinutes, days);
  await expirePendingRuns(pool, days);
}
