// SQL of runs. Writers: runs.ts.
import type { Change, Settings, Summary, Warning } from '@soundings/contract/organization.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { type AccountId, copyInto, type Db, type Transaction } from '../db/db.ts';

export type Outcome = 'processing' | 'validated' | 'applied' | 'refused' | 'held' | 'failed';

export type RunRow = {
  id: string;
  at: Date;
  source: 'api' | 'file';
  tokenId: number | null;
  file: string | null;
  validateOnly: boolean;
  outcome: Outcome;
  message: string | null;
  summary: Summary | null;
  details: Detail[] | null;
};

/** `address`: that it came from. Of a file also how it came, and who sent it from the console. */
export type RunStart = {
  id: string;
  source: 'api' | 'file';
  tokenId: number | null;
  file: string | null;
  address: string | null;
  via?: 'https' | 'sftp' | 'console';
  userId?: number | null;
};

export type RunEnd = {
  validateOnly: boolean;
  outcome: Outcome;
  message: string | null;
  settings: Settings | null;
  summary: Summary | null;
  warnings: Warning[] | null;
  details: Detail[] | null;
  /** Of an applied run that lists groups: whether it says where they stand. */
  setsTree?: boolean | null;
};

export async function insertRun(db: Db, accountId: AccountId, run: RunStart & RunEnd): Promise<void> {
  await db`
    insert into runs (account_id, run_id, source, via, token_id, user_id, address, file, validate_only, outcome, message,
                      settings, summary, warnings, details)
    values (${accountId}, ${run.id}, ${run.source}, ${run.via ?? null}, ${run.tokenId}, ${run.userId ?? null},
            ${run.address}, ${run.file}, ${run.validateOnly}, ${run.outcome},
            ${run.message}, ${run.settings && db.json(run.settings)}, ${run.summary && db.json(run.summary)},
            ${run.warnings && db.json(run.warnings)}, ${run.details && db.json(run.details)})
    on conflict (account_id, run_id) do nothing`;
}

export async function updateRun(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  end: RunEnd,
): Promise<void> {
  await tx`
    update runs
    set    validate_only = ${end.validateOnly},
           outcome       = ${end.outcome},
           message       = ${end.message},
           settings      = ${end.settings && tx.json(end.settings)},
           summary       = ${end.summary && tx.json(end.summary)},
           warnings      = ${end.warnings && tx.json(end.warnings)},
           details       = ${end.details && tx.json(end.details)},
           sets_tree     = ${end.setsTree ?? null}
    where  account_id = ${accountId} and run_id = ${id}`;
}

/** Ends a run that has come to nothing. One that has ended stays as it is. */
export async function updateFailed(
  db: Db,
  accountId: AccountId,
  id: string,
  message: string | null,
): Promise<void> {
  await db`
    update runs
    set    outcome = 'failed', message = ${message}
    where  account_id = ${accountId} and run_id = ${id} and outcome = 'processing'`;
}

/** A number that no other lock of ours begins with. */
const runLocks = 7304;

/** Shows, until the transaction ends, that the run of a request is being processed. */
export async function showProcessing(tx: Transaction, accountId: AccountId, id: string): Promise<void> {
  await tx`
    select pg_advisory_xact_lock_shared(${runLocks}::integer, hashtext(${accountId}::integer || ' ' || ${id}::uuid)) as account_id`;
}

/**
 * Ends runs of requests, of every account, that no transaction is processing. One that is just about to be says so itself in
 * the end.
 */
export async function updateLostRuns(db: Db): Promise<void> {
  await db`
    with lost as materialized (
      select account_id, run_id
      from   runs
      where  account_id in (select account_id from accounts) and source = 'api' and outcome = 'processing'
    )
    update runs r
    set    outcome = 'failed'
    from   lost
    where  r.account_id = lost.account_id and r.run_id = lost.run_id and r.outcome = 'processing'
      and  pg_try_advisory_xact_lock(${runLocks}::integer, hashtext(r.account_id || ' ' || r.run_id))`;
}

/** Keeps what a run changes, with what the groups among them are called. */
export async function copyChanges(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  changes: Change[],
  groupNames: ReadonlyMap<string, string>,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(
    ({ entity, externalId, action, fields }, position) =>
      [
        accountId,
        runId,
        position,
        entity,
        externalId,
        action,
        fields ? JSON.stringify(fields) : null,
        entity === 'group' ? (groupNames.get(externalId) ?? null) : null,
      ] as const,
  );
  await copyInto(
    tx`copy run_changes (account_id, run_id, position, entity, external_id, action, fields, name) from stdin`,
    rows,
  );
}

/** Notes who has approved a run, and when. */
export async function updateApproved(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  userId: number | null,
): Promise<void> {
  await tx`
    update runs
    set    decided_at = now(), decided_by = ${userId}
    where  account_id = ${accountId} and run_id = ${id}`;
}

/** Ends a held run that somebody has rejected. */
export async function updateRejected(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  userId: number | null,
  message: string,
): Promise<void> {
  await tx`
    update runs
    set    outcome = 'refused', message = ${message}, decided_at = now(), decided_by = ${userId}
    where  account_id = ${accountId} and run_id = ${id}`;
}

/** Erases what earlier runs tell of users who are removed (decision B13): that there was a change stays. */
export async function eraseUserChanges(
  tx: Transaction,
  accountId: AccountId,
  externalIds: string[],
): Promise<void> {
  if (externalIds.length === 0) return;
  await tx`
    update run_changes
    set    fields = null
    where  account_id = ${accountId} and entity = 'user' and fields is not null
      and  external_id = any(${externalIds})`;
}

/** The latest runs of the account, newest first. */
export async function selectRuns(db: Db, accountId: AccountId, limit: number): Promise<RunRow[]> {
  return db<RunRow[]>`
    select run_id        as "id",
           at            as "at",
           source        as "source",
           token_id      as "tokenId",
           file          as "file",
           validate_only as "validateOnly",
           outcome       as "outcome",
           message       as "message",
           summary       as "summary",
           details       as "details"
    from   runs
    where  account_id = ${accountId}
    order  by run_id desc
    limit  ${limit}`;
}

/** Removes runs, of every account, that are older than the given number of days; their changes go with them. */
export async function deleteOldRuns(db: Db, days: number): Promise<void> {
  await db`
    delete from runs
    where  account_id in (select account_id from accounts) and at < now() - make_interval(days => ${days})`;
}

/** Whose a run is and where it came from, and what it came to: for the audit log. */
export type RunToAudit = Pick<RunRow, 'source' | 'tokenId' | 'file' | 'outcome' | 'summary'> & {
  userId: number | null;
  address: string | null;
};

export async function selectRunEnd(
  db: Db,
  accountId: AccountId,
  id: string,
): Promise<RunToAudit | undefined> {
  const [row] = await db<RunToAudit[]>`
    select source   as "source",
           token_id as "tokenId",
           user_id  as "userId",
           address  as "address",
           file     as "file",
           outcome  as "outcome",
           summary  as "summary"
    from   runs
    where  account_id = ${accountId} and run_id = ${id}`;
  return row;
}
