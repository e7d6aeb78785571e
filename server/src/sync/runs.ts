// Runs: every organization request and file, what was asked and what came of it (decision B14).
import { runRetentionDays } from '@soundings/contract/limits.ts';
import type { Settings } from '@soundings/contract/organization.ts';
import { accountById } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import {
  deleteOldRuns,
  eraseUserChanges,
  insertRun,
  type RunRow,
  type RunStart,
  selectRunEnd,
  selectRuns,
  updateFailed,
  updateLostRuns,
  updateApproved,
} from './runs.sql.ts';

export { eraseUserChanges, updateApproved as noteApproval, updateFailed as failRun };

/** The latest runs, newest first. */
export async function listRuns(db: Db, accountId: AccountId, limit: number): Promise<RunRow[]> {
  await accountById(db, accountId);
  return selectRuns(db, accountId, limit);
}

/** Writes down that a run has begun. Beginning it again changes nothing. */
export async function beginRun(
  db: Db,
  accountId: AccountId,
  run: RunStart,
  settings: Settings,
): Promise<void> {
  const end = { summary: null, warnings: null, details: null, message: null };
  const validateOnly = settings.validateOnly !== false;
  await insertRun(db, accountId, { ...run, ...end, validateOnly, outcome: 'processing', settings });
}

/** Ends the runs of requests, of every account, whose process was killed: as failed. */
export async function endLostRuns(pool: Pool): Promise<void> {
  await updateLostRuns(pool);
}

/** Removes runs older than the time they are kept. */
export async function forgetOldRuns(pool: Pool): Promise<void> {
  await deleteOldRuns(pool, runRetentionDays);
}

/** Writes into the audit log what a run has come to, unless it was a dry run, which changes nothing. */
export async function auditRun(db: Db, accountId: AccountId, runId: string): Promise<void> {
  const run = await selectRunEnd(db, accountId, runId);
  if (!run || run.outcome === 'validated' || run.outcome === 'failed' || run.outcome === 'processing') return;
  const { source: origin, tokenId, userId, address, file, outcome, summary } = run;
  const details = { ...(file !== null && { file }), ...(summary && { summary }) };
  const actor = { origin, tokenId, userId, address };
  await audit(db, accountId, actor, `run ${outcome}`, { subject: runId, details });
}
