// Runs: a record of every organization request and file, with its settings and its result (decision B14).
import { runRetentionDays } from '@soundings/contract/limits.ts';
import { isDryRun } from '@soundings/contract/dry-run.ts';
import type { Settings } from '@soundings/contract/organization.ts';
import { accountById } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import {
  deleteOldRuns,
  insertRun,
  type StoredRun,
  type RunStart,
  selectRunEnd,
  selectRuns,
} from './runs.sql.ts';

/** Returns the latest runs, newest first. */
export async function listRuns(db: Db, accountId: AccountId, limit: number): Promise<StoredRun[]> {
  await accountById(db, accountId);
  return selectRuns(db, accountId, limit);
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

/** Adds the outcome of a run to the audit log, unless it was a dry run, failed or has not ended. */
export async function auditRun(db: Db, accountId: AccountId, runId: string): Promise<void> {
  const run = await selectRunEnd(db, accountId, runId);
  if (!run || run.outcome === 'validated' || run.outcome === 'failed' || run.outcome === 'processing') return;
  const { source: origin, tokenId, userId, address, file, outcome, summary } = run;
  const details = { ...(file !== null && { file }), ...(summary && { summary }) };
  const actor = { origin, tokenId, userId, address };
  await audit(db, accountId, actor, `run ${outcome}`, { subject: runId, details });
}
