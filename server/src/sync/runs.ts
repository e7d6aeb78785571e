// Runs: every organization request and file, what was asked and what came of it (decision B14).
import { runRetentionDays } from '@soundings/contract/limits.ts';
import { accountById } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import { deleteOldRuns, type RunRow, selectRunOutcome, selectRuns } from './runs.sql.ts';

/** The latest runs, newest first. */
export async function listRuns(db: Db, accountId: AccountId, limit: number): Promise<RunRow[]> {
  await accountById(db, accountId);
  return selectRuns(db, accountId, limit);
}

/** Applies a held run. Only files are held; a run of the organization interface is refused in its place. */
export async function approveRun(db: Db, accountId: AccountId, runId: string): Promise<void> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId);
  const outcome = isId ? await selectRunOutcome(db, accountId, runId) : undefined;
  if (!outcome) throw new Fault('not_found', 'run not found', `Account ${accountId} has no run ${runId}.`);
  throw new Fault(
    'conflict',
    'run not held',
    `The run ${runId} is ${outcome}: only a held run can be approved.`,
  );
}

/** Removes runs older than the time they are kept. */
export async function forgetOldRuns(pool: Pool): Promise<void> {
  await deleteOldRuns(pool, runRetentionDays);
}
