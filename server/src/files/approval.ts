// What an administrator decides about a processed file: to approve or reject its pending run, or to process the file again.
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { DeleteGroupResults } from '../people/groups.ts';
import { newFindings } from '../sync/findings.ts';
import { rejectPendingRun, takePendingRun } from '../sync/pending-runs.ts';
import { updateApproved } from '../sync/runs.sql.ts';
import { type SentByFile, staleRun, synchronizeFile } from '../sync/sync.ts';
import {
  addMails,
  selectReplacedName,
  type StoredFileReport,
  updateReport,
  updateToRepeat,
} from './process.sql.ts';
import { reportMessageOf } from './report-texts.ts';
import { addProcessing } from './store.sql.ts';

/** The console user who approves or rejects a run. */
export type Decider = Extract<Actor, { origin: 'console' }>;

/**
 * What approving needs from layers above. `refuseOutdated` throws a Fault (conflict) if the directory has taken back some of the removals
 * of its pending run.
 */
export type ApprovalHooks = {
  deleteGroupResults: DeleteGroupResults;
  refuseOutdated: (tx: Transaction, accountId: AccountId, runId: string) => Promise<void>;
};

/** Who approves, and how many people and groups the console showed as removed. */
export type Approval = { by: Decider; peopleRemoved: number; groupsRemoved: number };

/**
 * Applies a pending run, with exactly the changes that were shown. `approval` is given by the console. Throws a Fault: not_found;
 * conflict if the run is not pending, its changes have changed since or a newer file has replaced its own; invalid if the number of removed people or groups
 * differs from `approval`. The run then stays pending. Returns the report of its file; undefined if it has none.
 */
export async function approveRun(
  pool: Pool,
  accountId: AccountId,
  runId: string,
  { deleteGroupResults, refuseOutdated }: ApprovalHooks,
  approval?: Approval,
): Promise<StoredFileReport | undefined> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await refuseReplaced(tx, accountId, runId);
    const { organization, planDigest, removed } = await takePendingRun(tx, accountId, runId);
    if (approval) {
      refuseOtherNumber('people', approval.peopleRemoved, removed.people);
      refuseOtherNumber('groups', approval.groupsRemoved, removed.groups);
    }
    await refuseOutdated(tx, accountId, runId);
    const findings = newFindings();
    const { data, partial = [], ...more } = organization;
    const sent = { ...more, data: data as SentByFile['data'], partial };
    const wanted = { runId, deleteGroupResults, beyondLimits: 'apply' as const, shown: planDigest };
    const { outcome, refusal } = await synchronizeFile(tx, accountId, sent, wanted, findings);
    if (refusal) throw staleRun(refusal.message, refusal.details);
    await updateApproved(tx, accountId, runId, approval?.by.userId ?? null);
    if (approval) await audit(tx, accountId, approval.by, 'run approved', { subject: runId });
    const account = await accountById(tx, accountId);
    const report = await updateReport(tx, accountId, runId, (before) => {
      const after = { ...before, outcome, details: [], warnings: findings.warnings() };
      return { ...after, message: reportMessageOf(after, accountId) };
    });
    if (!report) return undefined; // a run of the directory
    await addMails(tx, accountId, report.id, account.notifySuccess ? account.notify : []);
    return report.report;
  });
}

/** Throws a Fault (conflict) if a newer file has replaced the one of a run: its changes would undo the correction. */
async function refuseReplaced(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  const name = await selectReplacedName(tx, accountId, runId);
  if (name === undefined) return;
  throw staleRun(
    `A newer file with the name ${quote(name)} was uploaded, so the changes of run ${runId} can't be applied any more. See the report of the newer file: if it awaits approval, approve that run; if it has errors, send a corrected file.`,
  );
}

function refuseOtherNumber(of: 'people' | 'groups', typed: number, removed: number): void {
  if (typed === removed) return;
  const message = `The run removes ${removed} ${of}, not ${typed}.`;
  const details = [{ type: 'invalid value', message, path: `/${of}Removed` }];
  throw new Fault('invalid', 'invalid value', message, { details });
}

/** Ends a pending run without applying it. Throws a Fault: not_found, or conflict if the run is not pending. */
export async function rejectRun(pool: Pool, accountId: AccountId, runId: string, by: Decider): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const message = 'The changes were rejected. Nothing was applied.';
    await rejectPendingRun(tx, accountId, runId, { userId: by.userId, message });
    await updateReport(tx, accountId, runId, (before) => ({ ...before, outcome: 'refused', message }));
    await audit(tx, accountId, by, 'run rejected', { subject: runId });
  });
}

/**
 * Processes a file again, for example after its columns have been mapped. Ends its pending run, if any. Returns false, and
 * does nothing, if other changes were applied after the file, because processing the file again would undo them.
 */
export async function repeatFile(
  tx: Transaction,
  accountId: AccountId,
  fileId: number,
  by: Decider,
): Promise<boolean> {
  await lockAccount(tx, accountId);
  const before = await updateToRepeat(tx, accountId, fileId);
  if (!before) return false;
  if (before.runId !== null && before.outcome === 'pending') {
    const message = 'The file is being processed again. No changes of this run were applied.';
    await rejectPendingRun(tx, accountId, before.runId, { userId: by.userId, message });
  }
  await addProcessing(tx, accountId);
  return true;
}
