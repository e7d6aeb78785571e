// Receiving: one core behind both doors. What arrives is written to PostgreSQL as it comes, in parts; a file is there when
// its upload ends, whole, with the job that processes it, or not at all.
import { maxStoredBytes, maxStoredFiles, maxUploadBytes } from '@soundings/contract/limits.ts';
import type { FileReport } from '@soundings/contract/storage.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { endOldHeldRuns } from '../sync/held-runs.ts';
import { contentFault, structureFault } from './content.ts';
import { type FileKind, fileNameOf, kindOf, plainNameOf, refusal } from './names.ts';
import { openParts, type Parts } from './parts.ts';
import {
  addForgottenProcessing,
  countWaiting,
  addProcessing,
  deleteOldFiles,
  deleteOthersParked,
  deleteUpload,
  insertRefused,
  insertUpload,
  rowBytes,
  selectFile,
  selectFiles,
  selectParts,
  selectRows,
  selectUpload,
  type StoredFile,
  updateArrived,
  updateUpload,
  type Via,
} from './store.sql.ts';

export type { StoredFile, Via };
export { selectFile as fileOf, selectFiles as filesOf };

/** An upload that is not finished is forgotten after so long. */
const uploadMinutes = 60;

/** In so many pieces, with gaps between them, a file may be while it is written: as many as clients send ahead, and more. */
const maxPieces = 1000;

/** A file while it is written. At most three parts of it are in memory. */
export type Upload = {
  readonly id: number;
  readonly size: number;
  /** What of it is in memory and not yet in the database, in bytes. */
  readonly unwritten: number;
  /**
   * Writes bytes at an offset: clients that send ahead do not keep to the order. Fulfilled when more may be written. Throws
   * a Fault (`file validation`) when the file would be larger than 10 MB, or is sent in too many pieces: then, and ever
   * after.
   */
  write(offset: number, bytes: Buffer): Promise<void>;
  /** Has less of it in memory, where there is any. Not to be called while it is written. */
  shrink(): Promise<void>;
  /**
   * Writes what is still in memory, so that the upload may wait for its final name. It replaces what has waited under the
   * name so far. Throws a Fault (`file validation`) when it has a hole.
   */
  park(name: string): Promise<void>;
  /**
   * Makes it the file of that name: from now on it is listed, and its processing is certain. Throws a Fault (`file
   * validation`) when it is empty, has a hole, or is not what its name says; then nothing of it is kept. `note` is done
   * in the same transaction.
   */
  finish(name: string, note?: (tx: Transaction) => Promise<void>): Promise<void>;
  abort(): Promise<void>;
};

type Sender = { accountId: AccountId; tokenId: number | null };
/** Who sends, from which address: a token, or in the console a user. */
export type Receiving = { accountId: AccountId; address: string } & (
  { via: Exclude<Via, 'console'>; tokenId: number } | { via: 'console'; tokenId: null; userId: number }
);

/**
 * Begins an upload under a name, which may be a temporary one. Throws a Fault (`file validation`) when the account has
 * stored as much as it may.
 */
export async function openUpload(pool: Pool, receiving: Receiving, name: string): Promise<Upload> {
  const { accountId, tokenId } = receiving;
  const most = { files: maxStoredFiles, bytes: maxStoredBytes };
  const id = await insertUpload(pool, accountId, { ...receiving, name }, most);
  if (id === undefined) {
    throw refusal(
      'The account has as many files stored as it may. They are removed some weeks after they were processed.',
    );
  }
  return uploadOf(pool, { accountId, tokenId }, id, 0);
}

/** The upload of a token, with something in it, that waits under a temporary name; undefined: there is none. */
export async function parkedUpload(pool: Pool, sender: Sender, name: string): Promise<Upload | undefined> {
  const found = await selectUpload(pool, sender.accountId, sender.tokenId, name);
  return found && uploadOf(pool, sender, found.id, found.size);
}

function uploadOf(pool: Pool, { accountId, tokenId }: Sender, fileId: number, written: number): Upload {
  const parts = openParts(pool, accountId, fileId, written);
  let refused: Fault | undefined;

  /** Bytes that are in the database. */
  async function read(from: number, to: number): Promise<Buffer> {
    const first = Math.floor(from / rowBytes);
    const rows = await selectRows(pool, accountId, fileId, first, Math.ceil(to / rowBytes) - first);
    return rows.subarray(from - first * rowBytes, to - first * rowBytes);
  }

  async function remove(): Promise<void> {
    await parts.settled();
    await deleteUpload(pool, accountId, fileId);
  }

  return {
    id: fileId,

    get size() {
      return parts.size;
    },

    get unwritten() {
      return parts.unwritten;
    },

    async write(offset, bytes) {
      if (refused) throw refused;
      if (offset + bytes.length > maxUploadBytes) refused = tooLarge();
      if (parts.pieces > maxPieces) refused = refusal('The file is sent in too many pieces, in no order.');
      if (refused) throw refused;
      await parts.put(offset, bytes);
    },

    shrink: parts.shrink,

    async park(name) {
      if (refused) throw refused;
      refuseHole(parts);
      await parts.flush();
      await updateUpload(pool, accountId, fileId, { name, size: parts.size });
      await deleteOthersParked(pool, accountId, tokenId, name, fileId);
    },

    async finish(sent, note) {
      try {
        if (refused) throw refused;
        refuseHole(parts);
        const name = fileNameOf(sent);
        const head = await parts.head();
        await parts.flush();
        const { size } = parts;
        if (size === 0 || !head) throw wrongSize('The file is empty.');
        const fault = contentFault(kindOf(name) as FileKind, head);
        if (fault !== undefined) throw refusal(fault);
        const structure = await structureFault(kindOf(name) as FileKind, { size, read });
        if (structure !== undefined) throw refusal(structure);
        await inTransaction(pool, async (tx) => {
          // First: another file of the account waits here, so that none is there before one of a lower arrival.
          await addProcessing(tx, accountId);
          if (!(await updateArrived(tx, accountId, fileId, { name, size }))) {
            throw refusal('The upload has taken too long, or parts of it were lost. Send the file again.');
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

/**
 * Keeps that an upload was refused, and why, for the list of files and the report: of each name the last. Not of what cannot
 * be the name of a file, nor what is no refusal. Does not throw.
 */
export async function noteRefused(
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
    // Then the refusal itself says it alone.
  }
}

function refuseHole({ gap, size }: Parts): void {
  if (gap < size) throw refusal(`The file has a hole: its bytes from ${gap + 1} on were not sent.`);
}

/** The file of which more was sent than is taken, or will be. */
export const tooLarge = (): Fault => wrongSize('The file is larger than 10 MB.');

/** The words of §7: a message about the size, and one over all of an incorrect size. */
function wrongSize(message: string): Fault {
  const details = [{ type: 'file validation', message }];
  return new Fault('invalid', 'file validation', `Incorrect file size. ${message}`, { details });
}

/** The bytes of a file. */
export async function contentOf(pool: Pool, accountId: AccountId, fileId: number): Promise<Buffer> {
  return Buffer.concat(await selectParts(pool, accountId, fileId));
}

export { addForgottenProcessing as resumeFiles, countWaiting as waitingFiles };

/** Removes uploads that were given up, and files that were processed `days` days ago; ends what was held as long. */
export async function forgetOldFiles(pool: Pool, days: number): Promise<void> {
  await deleteOldFiles(pool, uploadMinutes, days);
  await endOldHeldRuns(pool, days);
}
