// Runs: a record of every organization request and file, with its settings and its result (decision B14).
import { mostUnappliedChanges, runRetentionDays } from '@soundings/contract/limits.ts';
import { isDryRun } from '@soundings/contract/dry-run.ts';
import type { Settings, Summary } from '@soundings/contract/organization.ts';
import { accountById } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import type { Findings } from './findings.ts';
import {
  deleteOldRuns,
  deleteUnappliedChanges,
  insertRun,
  type StoredRun,
  type RunEnd,
  type RunStart,
  selectRunEnd,
  selectRuns,
  updateRun,
  updateWarnings,
} from './runs.sql.ts';

/** Returns the latest runs, newest first. */
export async function listRuns(db: Db, accountId: AccountId, limit: number): Promise<StoredRun[]> {
  await accountById(db, accountId);
  return selectRuns(db, accountId, limit);
}

/** Stores warnings that were added after a run has ended. They must not quote values. */
export async function storeWarnings(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  findings: Findings,
): Promise<void> {
  await updateWarnings(tx, accountId, runId, findings.warnings());
}

/** Records that a run has started. Starting it again changes nothing. */
export async function beginRun(
  db: Db,
  accountId: AccountId,
  run: RunStart,
  settings: Settings,
): Promise<void> {
  const end = { summary: null, warnings: null, details: null, message: null };
  await insertRun(db, accountId, {
    ...run,
    ...end,
    validateOnly: isDryRun(settings),
    outcome: 'processing',
    settings,
  });
}

/** Deletes runs that are older than the retention period. */
export async function deleteOldRunsDue(pool: Pool): Promise<void> {
  await deleteOldRuns(pool, runRetentionDays);
}

/** Deletes the changes of runs that applied nothing, in every account, of which newer runs have enough. */
export async function deleteUnappliedChangesDue(pool: Pool): Promise<void> {
  await deleteUnappliedChanges(pool, null, mostUnappliedChanges);
}

/** Stores the result of a run, and does the same as `auditRun`. */
export async function storeRunEnd(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  end: RunEnd,
): Promise<void> {
  // The connection runs them in order.
  await Promise.all([updateRun(tx, accountId, runId, end), auditRun(tx, accountId, runId)]);
}

/** Adds the outcome of a run to the audit log, and records it for webhooks, unless it was a dry run, failed or has not ended. */
export async function auditRun(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  const run = await selectRunEnd(tx, accountId, runId);
  if (!run || run.outcome === 'validated' || run.outcome === 'failed' || run.outcome === 'processing') return;
  const { source, tokenId, userId, address, file, outcome, summary } = run;
  const origin: 'file' | 'api' = source === 'file' ? 'file' : 'api'; // the directory uses an API token too
  const details = { ...(file !== null && { file }), ...(summary && { summary }) };
  const actor = { origin, tokenId, userId, address };
  await Promise.all([
    audit(tx, accountId, actor, `run ${outcome}`, { subject: runId, details }),
    recordRun(tx, accountId, outcome, { runId, source, summary }),
  ]);
}

/** Records the outcome of a run for webhooks. */
export async function recordRun(
  tx: Transaction,
  accountId: AccountId,
  outcome: 'pending' | 'applied' | 'refused' | 'rejected',
  { runId, source, summary }: { runId: string; source: RunStart['source']; summary: Summary | null },
): Promise<void> {
  const changes = summary && { users: changesIn(summary.users), groups: changesIn(summary.groups) };
  await recordEvent(tx, accountId, `run.${outcome}`, runId, { runId, source, changes });
}

const changesIn = ({ created, updated, deleted }: Summary['users']) => ({ created, updated, deleted });
