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

/** Returns, of every account, the runs that have been pending for `days`, oldest first. */
export async function selectOldPendingRuns(
  db: Db,
  days: number,
): Promise<{ accountId: AccountId; runId: string }[]> {
  return db`
    select r.account_id as "accountId", r.run_id as "runId"
    from   pending_runs h
    join   runs r on r.account_id = h.account_id and r.run_id = h.run_id
    where  r.at < now() - make_interval(days => ${days})
    order  by r.account_id, r.at`;
}

/** Ends a run that was not approved in time. No one has decided it. */
export async function updateExpired(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  message: string,
): Promise<void> {
  await tx`
    update runs set outcome = 'refused', message = ${message}
    where  account_id = ${accountId} and run_id = ${runId}`;
}
