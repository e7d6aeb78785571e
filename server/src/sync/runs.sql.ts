// SQL for runs. Writers: runs.ts.
import type { RunSource } from '@soundings/contract/console/run-outcomes.ts';
import type { Change, Settings, Summary, Warning } from '@soundings/contract/organization.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { type AccountId, copyInto, type Db, type Transaction } from '../db/db.ts';
import { isOnCitus, ofAccount } from '../db/citus/distribution.ts';

export type Outcome = 'processing' | 'validated' | 'applied' | 'refused' | 'pending' | 'failed';

export type StoredRun = {
  id: string;
  at: Date;
  source: RunSource;
  tokenId: number | null;
  file: string | null;
  validateOnly: boolean;
  outcome: Outcome;
  message: string | null;
  summary: Summary | null;
  details: Detail[] | null;
};

/** `address`: the sender's IP address. For a file also `via`, and `userId` if it was uploaded or asked for in the console. */
export type RunStart = {
  id: string;
  source: RunSource;
  tokenId: number | null;
  file: string | null;
  address: string | null;
  via?: 'https' | 'sftp' | 'console' | 'pull';
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
  /** For an applied run that lists groups: whether it sets their parents. */
  setsTree?: boolean | null;
};

/** `pushId`: the push in parts that the run commits. */
export async function insertRun(
  db: Db,
  accountId: AccountId,
  run: RunStart & RunEnd & { pushId?: string },
): Promise<void> {
  await db`
    insert into runs (account_id, run_id, source, via, token_id, user_id, address, file, validate_only, outcome, message,
                      settings, summary, warnings, details, push_id)
    values (${accountId}, ${run.id}, ${run.source}, ${run.via ?? null}, ${run.tokenId}, ${run.userId ?? null},
            ${run.address}, ${run.file}, ${run.validateOnly}, ${run.outcome},
            ${run.message}, ${run.settings && db.json(run.settings)}, ${run.summary && db.json(run.summary)},
            ${run.warnings && db.json(run.warnings)}, ${run.details && db.json(run.details)}, ${run.pushId ?? null})
    on conflict (account_id, run_id) do nothing`;
}

/** Stores a run with the settings and the outcome of an earlier one. */
export async function insertSameRun(
  tx: Transaction,
  accountId: AccountId,
  { id, source, tokenId, address }: RunStart,
  { runId, summary }: { runId: string; summary: Summary },
): Promise<void> {
  await tx`
    insert into runs (account_id, run_id, source, token_id, address, validate_only, outcome, settings, summary, warnings, sets_tree)
    select account_id, ${id}, ${source}, ${tokenId}, ${address}, validate_only, outcome, settings, ${tx.json(summary)}, warnings, sets_tree
    from   runs
    where  account_id = ${accountId} and run_id = ${runId}`;
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

export async function updateWarnings(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  warnings: Warning[],
): Promise<void> {
  await tx`update runs set warnings = ${tx.json(warnings)} where account_id = ${accountId} and run_id = ${id}`;
}

/** Marks a run as failed, unless it has already ended. */
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

/** The first key of the advisory locks of runs; no other lock of the service uses it. */
const runLocks = 7304;

/** Takes a lock until the transaction ends, which shows that the run of a request is being processed. */
export async function showProcessing(tx: Transaction, accountId: AccountId, id: string): Promise<void> {
  await tx`
    select pg_advisory_xact_lock_shared(${runLocks}::integer, hashtext(${accountId}::integer || ' ' || ${id}::uuid)) as account_id`;
}

/** For pushes in one request and for commits, which can also wait for too long. */
const lostMessage =
  'The run did not end: the service was interrupted, or the run waited for too long. Nothing was applied. Send the request again, or commit the push in parts again.';

/**
 * Marks the runs of requests that no transaction is processing as failed, in every account. If the run of a request is just about to start,
 * its own result overwrites this at the end. The commit of a push in parts may wait for a minute before it starts.
 */
export async function updateLostRuns(db: Db): Promise<void> {
  await db`
    with processing as materialized (
      select account_id, run_id
      from   runs
      where  account_id in (select account_id from accounts) and source = 'api' and outcome = 'processing'
        and  not (at > now() - interval '2 minutes' and exists (
               select 1 from pushes p where p.account_id = runs.account_id and p.run_id = runs.run_id))
    ), lost as materialized (
      select account_id, run_id
      from   processing
      where  pg_try_advisory_xact_lock(${runLocks}::integer, hashtext(account_id || ' ' || run_id))
    )
    update runs r
    set    outcome = 'failed', message = ${lostMessage}
    from   lost
    where  r.account_id = lost.account_id and r.run_id = lost.run_id and r.outcome = 'processing'`;
}

/** Stores the changes of a run, with the names of changed groups. `stored`: how many of its changes are stored already. */
export async function copyChanges(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  changes: Change[],
  { groupNames, stored = 0 }: { groupNames: ReadonlyMap<string, string>; stored?: number },
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(
    ({ entity, externalId, action, fields }, position) =>
      [
        accountId,
        runId,
        stored + position,
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

/** Stores that a run removes the people of `removed_people`. `stored`: how many of its changes are stored already. */
export async function insertRemovals(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  stored: number,
): Promise<void> {
  await tx`
    insert into run_changes (account_id, run_id, position, entity, external_id, action)
    select account_id, ${runId}, ${stored} + row_number() over (order by user_id) - 1, 'user', external_id, 'delete'
    from   removed_people
    where  account_id = ${accountId}`;
}

/** Deletes the stored changes of a pending run, before they are stored again. */
export async function deleteChanges(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await tx`delete from run_changes where account_id = ${accountId} and run_id = ${runId}`;
}

/** Records who approved a run, and when. */
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

/** Ends a pending run as refused. */
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

/** Erases the values in earlier changes of users who are removed (decision B13). The record that there was a change stays. */
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

/** Returns the latest runs of the account, newest first. */
export async function selectRuns(db: Db, accountId: AccountId, limit: number): Promise<StoredRun[]> {
  return db<StoredRun[]>`
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

/**
 * Deletes runs older than `days`, in every account, together with their changes. Leaves those with changes that others are erasing, in another
 * order, to the next call.
 */
export async function deleteOldRuns(db: Db, days: number): Promise<void> {
  const onCitus = await isOnCitus(db);
  const isOld = db`
    r.account_id in (select account_id from accounts) and r.at < now() - make_interval(days => ${days})`;
  await db`
    with old as (
      select c.account_id, c.run_id, c.position
      from   runs r
      join   run_changes c on c.account_id = r.account_id and c.run_id = r.run_id
      where  ${isOld}
      ${onCitus ? db`` : db`for update of c skip locked`})
    delete from run_changes c using old where ${isChange(db, 'old')}`;
  await db`
    delete from runs r
    where  ${isOld}
      and  not exists (select 1 from run_changes c where c.account_id = r.account_id and c.run_id = r.run_id)`;
}

/** Condition: c is the change in the row with this alias. */
const isChange = (db: Db, row: string) => db`
  c.account_id = ${db(row)}.account_id and c.run_id = ${db(row)}.run_id and c.position = ${db(row)}.position`;

/**
 * Deletes the changes of older runs that applied nothing, in one account or in every account (null): the newest runs keep as many as `most`
 * together, and the newest one and that of an open push keep all. Runs that a person rejected keep theirs, too. Leaves changes that others are
 * erasing, in another order, to the next call.
 */
export async function deleteUnappliedChanges(
  db: Db,
  accountId: AccountId | null,
  most: number,
): Promise<void> {
  if (accountId !== null || !(await isOnCitus(db))) return deleteUnappliedIn(db, accountId, most);
  const accounts = await db<{ id: AccountId }[]>`select distinct account_id as "id" from run_changes`;
  for (const { id } of accounts) await deleteUnappliedIn(db, id, most);
}

async function deleteUnappliedIn(db: Db, accountId: AccountId | null, most: number): Promise<void> {
  const onCitus = await isOnCitus(db);
  await db`
    with sized as (
      select account_id, run_id,
             (select sum(count::integer)
              from   json_each(summary) as entity, json_each_text(entity.value) as counts (name, count)
              where  counts.name <> 'unchanged') as changes
      from   runs
      where  account_id in (select account_id from accounts)
        ${ofAccount(db, 'runs', accountId)}
        and  outcome in ('validated', 'refused') and summary is not null and decided_at is null
    ), placed as (
      select account_id, run_id, row_number() over newest as place, sum(changes) over newest as total
      from   sized
      where  changes > 0
      window newest as (partition by account_id order by run_id desc)
    ), unneeded as (
      select c.account_id, c.run_id, c.position
      from   placed p
      join   run_changes c on c.account_id = p.account_id and c.run_id = p.run_id ${ofAccount(db, 'c', accountId)}
      where  p.place > 1 and p.total > ${most}
        and  not exists (select 1 from pushes o
                         where  o.account_id = ${accountId ?? db`p.account_id`} and o.run_id = p.run_id)
      ${onCitus ? db`` : db`for update of c skip locked`}
    )
    delete from run_changes c
    using  unneeded u
    where  ${isChange(db, 'u')} ${ofAccount(db, 'c', accountId)}`;
}

/** What the audit log records about a run. */
export type RunToAudit = Pick<StoredRun, 'source' | 'tokenId' | 'file' | 'outcome' | 'summary'> & {
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
