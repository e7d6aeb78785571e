// SQL for pending runs: the contents of files whose changes exceed a limit. Writers: pending-runs.ts.
import type { Summary } from '@soundings/contract/organization.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Outcome, RunStart } from './runs.sql.ts';

export async function insertPendingRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  pending: { organization: Buffer; planDigest: string; names: Record<string, string> },
): Promise<void> {
  await tx`
    insert into pending_runs (account_id, run_id, organization, plan_digest, names)
    values (${accountId}, ${runId}, ${pending.organization}, ${pending.planDigest}, ${tx.json(pending.names)})`;
}

export type PendingRunRow = {
  outcome: Outcome;
  source: RunStart['source'];
  file: string | null;
  organization: Buffer | null;
  planDigest: string | null;
  summary: Summary | null;
};

/** Returns a run and the stored data of a pending run. Locks it, so that it is decided only once. */
export async function lockPendingRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
): Promise<PendingRunRow | undefined> {
  const [row] = await tx<PendingRunRow[]>`
    select r.outcome      as "outcome",
           r.source       as "source",
           r.file         as "file",
           h.organization as "organization",
           h.plan_digest  as "planDigest",
           r.summary      as "summary"
    from   runs r
    left   join pending_runs h on h.account_id = r.account_id and h.run_id = r.run_id
    where  r.account_id = ${accountId} and r.run_id = ${runId}
    for    update of r`;
  return row;
}

export async function deletePendingRun(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await tx`delete from pending_runs where account_id = ${accountId} and run_id = ${runId}`;
}

/** Ends, in every account, the runs that have been pending for `days`. */
export async function updateOldPendingRuns(
  db: Db,
  days: number,
): Promise<(Pick<PendingRunRow, 'source' | 'file' | 'summary'> & { accountId: AccountId; runId: string })[]> {
  return db`
    with ended as (
      delete from pending_runs h
      using  runs r
      where  r.account_id = h.account_id and r.run_id = h.run_id and r.at < now() - make_interval(days => ${days})
      returning h.account_id, h.run_id
    )
    update runs r
    set    outcome = 'refused', message = 'The changes were not approved in time. Nothing was applied.'
    from   ended e
    where  r.account_id = e.account_id and r.run_id = e.run_id
    returning r.account_id as "accountId", r.run_id as "runId", r.source as "source", r.file as "file",
              r.summary as "summary"`;
}
