// Processes a file: reads it, converts it to users and groups, applies it with the same code as organization requests, and stores
// a report (decision C8).
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { type LaidOutFile, layOut } from '../layout/layout.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { kindOf } from '../sheets/file-names.ts';
import { readSheets } from '../sheets/sheet.ts';
import type { Findings } from '../sync/findings.ts';
import { beginRun } from '../sync/runs.ts';
import { rejectInvalidRun, synchronizeFile } from '../sync/sync.ts';
import { knowledgeOf } from './mappings.ts';
import { findingsIn } from './placed-findings.ts';
import { lockBegunFile, type Turn, updateBegun, type WaitingFile } from './process.sql.ts';
import { fileReportOf, storeReport } from './report.ts';
import { requestOf, settingsOf } from './request.ts';
import { contentOf } from './store.ts';

/** The turn in which files are processed, and what processing needs from layers above. */
export type Processing = { turn: Turn; deleteGroupResults: DeleteGroupResults; log: Log };

/**
 * Processes a file in a turn, and stores its report, whatever the file contains. Throws a Fault (unavailable) if the turn was
 * lost. Any error thrown is one to retry.
 */
export async function processFile(
  pool: Pool,
  accountId: AccountId,
  file: WaitingFile,
  { turn, deleteGroupResults, log }: Processing,
): Promise<void> {
  const stored = await accountById(pool, accountId);
  const account = { ...stored, applyFiles: stored.applyFiles && !file.isDryRun };
  const runId = await startRun(pool, account, file, turn);
  const { laidOut, findings } = await readFile(pool, account, file, { runId, log });
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    if (!(await lockBegunFile(tx, accountId, file.id, turn.id))) throw turnLost();
    const wanted = { runId, deleteGroupResults, beyondLimits: 'requireApproval' as const };
    const isRead = laidOut !== undefined && findings.faultCount() === 0;
    const request = isRead ? await requestOf(tx, account, laidOut, findings) : undefined;
    const end = request
      ? await synchronizeFile(tx, accountId, request, wanted, findings)
      : await rejectInvalidRun(tx, accountId, runId, settingsOf(account), findings);
    await storeReport(tx, account, file, fileReportOf(account, file, runId, end, findings));
  });
}

/** Records that a file is being processed, and returns the id of its run. */
async function startRun(pool: Pool, account: Account, file: WaitingFile, turn: Turn): Promise<string> {
  return inTransaction(pool, async (tx) => {
    const id = await updateBegun(tx, account.id, file.id, { turn, runId: newId() });
    if (id === undefined) throw turnLost();
    const { via, tokenId, userId, address, name } = file;
    const run = { id, source: 'file' as const, via, tokenId, userId, address, file: name };
    await beginRun(tx, account.id, run, settingsOf(account));
    return id;
  });
}

/** Reads a file. What is wrong with it is in the findings. If it can't be read at all, `laidOut` is undefined. */
async function readFile(
  pool: Pool,
  account: Account,
  file: WaitingFile,
  { runId, log }: { runId: string; log: Log },
): Promise<{ laidOut: LaidOutFile | undefined; findings: Findings }> {
  let laidOut: LaidOutFile | undefined;
  const findings = findingsIn(() => laidOut);
  try {
    const bytes = await contentOf(pool, account.id, file.id);
    const sheets = await readSheets(bytes, kindOf(file.name) ?? 'csv');
    laidOut = layOut(sheets, await knowledgeOf(pool, account), findings);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    const { code, message, details, cause } = error;
    const ids = { accountId: account.id, fileId: file.id, runId };
    if (cause !== undefined) log.warn({ ...ids, cause }, 'File could not be read');
    for (const detail of details.length > 0 ? details : [{ type: code, message }]) {
      findings.fault(detail as Detail & { type: DetailType });
    }
  }
  return { laidOut, findings };
}

/** The connection that had the turn was lost, so another process may have started the file. */
export const turnLost = () =>
  new Fault('unavailable', 'unavailable', 'The lock for processing the files of this account was lost.');
