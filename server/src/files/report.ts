// The report of a file: what happened to it, and who gets an email about it.
import type { EventData } from '@soundings/contract/webhooks/webhooks.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { audit } from '../accounts/audit.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import type { Findings } from '../sync/findings.ts';
import { rejectPendingRun } from '../sync/pending-runs.ts';
import type { Synchronized } from '../sync/sync.ts';
import {
  addMails,
  selectReplacedRuns,
  type StoredFileReport,
  updateProcessed,
  updateReport,
  type WaitingFile,
} from './process.sql.ts';
import { reportMessageOf } from './report-texts.ts';

/** Returns the report of a file whose run has ended. */
export function fileReportOf(
  account: Account,
  file: WaitingFile,
  runId: string,
  { outcome, plan }: { outcome: StoredFileReport['outcome']; plan?: Synchronized['plan'] },
  findings: Findings,
): StoredFileReport {
  const report = {
    file: file.name,
    receivedAt: file.arrivedAt.toISOString(),
    outcome,
    runId,
    ...(plan && { summary: plan.summary }),
    details: findings.faults(),
    warnings: findings.warnings(),
  };
  return { ...report, message: reportMessageOf(report, account.id) };
}

/** Warnings that only say how a file was read. */
const informational = new Set(['default country', 'group by name', 'placeholder']);

/** Warnings about values that were ignored. Without an email, no one would notice that the file needs a correction. */
const ignoring = new Set(['unknown value', 'ignored value', 'ambiguous name']);

/**
 * Stores the report of a file, records it for webhooks, and adds jobs for its emails. Files with errors or awaiting approval always get emails.
 * Ends the pending runs of earlier files with the same name. The transaction must have locked the account.
 */
export async function storeReport(
  tx: Transaction,
  account: Account,
  file: WaitingFile,
  report: StoredFileReport,
): Promise<void> {
  const { id, isDryRun } = file;
  await updateProcessed(tx, account.id, id, report);
  if (!isDryRun) await endReplaced(tx, account.id, file);
  const { outcome, runId, warnings, summary } = report;
  const event = { fileId: id, runId, outcome } as EventData<'file.processed'>; // it has a run and has ended
  await recordEvent(tx, account.id, 'file.processed', id, event);
  // People who were removed may be listed in a sheet that was ignored.
  const isDoubtful = warnings.some(
    ({ type }) => ignoring.has(type) || (!informational.has(type) && (summary?.users.deleted ?? 0) > 0),
  );
  const isMailed = account.notifySuccess || isDoubtful || ['refused', 'pending', 'failed'].includes(outcome);
  // Who asked for a dry run is watching it.
  if (isMailed && !isDryRun) await addMails(tx, account.id, id, account.notify);
}

/** Ends the pending runs of the files that this one has replaced, whatever its outcome. */
async function endReplaced(tx: Transaction, accountId: AccountId, file: WaitingFile): Promise<void> {
  const message = 'A newer file with the same name was uploaded. Nothing of this one was applied.';
  for (const runId of await selectReplacedRuns(tx, accountId, file)) {
    await rejectPendingRun(tx, accountId, runId, { userId: null, message });
    await updateReport(tx, accountId, runId, (before) => ({ ...before, outcome: 'refused', message }));
    const entry = { subject: runId, details: { file: file.name } };
    await audit(tx, accountId, { origin: 'service' }, 'run refused', entry);
  }
}
