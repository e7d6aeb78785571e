// SQL of fetching: which pulls are due, who fetches them, and the outcome of each attempt. Writers: puller.ts, fetch-pull.ts.
import type { FetchReason } from '@soundings/contract/pulls/pull-values.ts';
import type { FetchRow } from '@soundings/contract/pulls/pulls.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Fragment, Transaction } from '../db/db.ts';
import type { Entered, Times } from './pulls.sql.ts';

/** A pull that this process fetches, as long as it has this claim. */
export type ClaimedPull = { accountId: AccountId; pullId: number; claim: string };

/**
 * Claims pulls of any account (account_id) that are due, until a time in ms: one of an account at a time, and first those that have
 * waited longest. A claim that has run out belonged to a process that was killed.
 */
export async function claimPulls(
  db: Db,
  { claim, count, now, until }: { claim: string; count: number; now: number; until: number },
): Promise<ClaimedPull[]> {
  const time = new Date(now);
  const isFree = (p: Fragment) => db`(${p}.claimed_by is null or ${p}.claimed_until <= ${time})`;
  const onCitus = await isOnCitus(db);
  return db`
    with due as materialized (
      select distinct on (p.account_id) p.account_id, p.pull_id, coalesce(p.wanted_at, p.next_at) as since
      from   pulls p
      where  (p.wanted_at <= ${time} or p.next_at <= ${time}) and ${isFree(db`p`)}
        and  not exists (select 1 from pulls c
                         where  c.account_id = p.account_id and c.claimed_by is not null and c.claimed_until > ${time})
      order  by p.account_id, since, p.pull_id
    ), free as (
      select p.account_id, p.pull_id
      from   due
      join   pulls p using (account_id, pull_id)
      where  ${isFree(db`p`)}
      order  by due.since
      limit  ${count}
      ${onCitus ? db`` : db`for no key update of p skip locked`}
    )
    update pulls p
    set    claimed_by = ${claim}, claimed_until = ${new Date(until)}
    from   free f
    where  p.account_id = f.account_id and p.pull_id = f.pull_id and ${isFree(db`p`)}
    returning p.account_id as "accountId", p.pull_id as "pullId", p.claimed_by as "claim"`;
}

/** Gives a claim up without an outcome, so that the pull is fetched again at a time in ms. */
export async function releasePull(
  db: Db,
  { accountId, pullId, claim }: ClaimedPull,
  again: number,
): Promise<void> {
  await db`
    update pulls
    set    claimed_by = null,
           wanted_at  = case when wanted_at is not null then greatest(wanted_at, ${new Date(again)}) end,
           next_at    = case when next_at is not null then greatest(next_at, ${new Date(again)}) end
    where  account_id = ${accountId} and pull_id = ${pullId} and claimed_by = ${claim}`;
}

export type DuePull = Entered & {
  secret: Buffer | null;
  isOn: boolean;
  wanted: 'fetch' | 'dryRun' | null;
  wantedAt: Date | null;
  wantedBy: number | null;
  columns: string[];
  digest: Buffer | null;
  etag: string | null;
  lastModified: string | null;
  failures: number;
  isNotified: boolean;
  lastFileId: number | null;
  /**
   * Whether the same list as last time would change nothing: its file was processed, and since then nothing was applied, no column or value
   * was mapped, and there was no dry run.
   */
  isSettled: boolean;
};

/** Returns a claimed pull; undefined if the claim is lost. */
export async function selectDuePull(
  db: Db,
  { accountId, pullId, claim }: ClaimedPull,
): Promise<DuePull | undefined> {
  const [row] = await db<DuePull[]>`
    select p.name, p.source, p.url, p.list, p.access, p.secret, p.repeat, p.hour, p.weekday,
           p.is_on              as "isOn",
           p.wanted             as "wanted",
           p.wanted_at          as "wantedAt",
           p.wanted_by          as "wantedBy",
           p.columns            as "columns",
           p.digest             as "digest",
           p.etag               as "etag",
           p.last_modified      as "lastModified",
           p.failures           as "failures",
           p.notified_at is not null as "isNotified",
           p.last_file_id       as "lastFileId",
           exists (
             select 1 from files f
             join   accounts a on a.account_id = f.account_id
             where  f.account_id = ${accountId} and f.file_id = p.last_file_id
               and  (f.processed_at is null
                     or f.report ->> 'outcome' in ('applied', 'pending', 'refused')
                     or f.report ->> 'outcome' = 'validated' and not a.apply_files)
               and  not exists (select 1 from runs r
                                where  r.account_id = ${accountId} and r.outcome = 'applied' and not r.validate_only
                                  and  r.run_id is distinct from f.run_id and coalesce(r.decided_at, r.at) > f.arrived_at
                                  and  exists (select 1 from run_changes c
                                               where  c.account_id = ${accountId} and c.run_id = r.run_id))
               and  coalesce(f.arrived_at >= greatest(
                      (select max(m.confirmed_at) from column_mappings m where m.account_id = ${accountId}),
                      (select max(v.confirmed_at) from value_mappings v where v.account_id = ${accountId}),
                      (select max(d.at) from pull_fetches d
                       where  d.account_id = ${accountId} and d.pull_id = p.pull_id
                         and  d.reason = 'dryRun' and d.outcome = 'stored')), true)) as "isSettled"
    from   pulls p
    where  p.account_id = ${accountId} and p.pull_id = ${pullId} and p.claimed_by = ${claim}`;
  return row;
}

/** Returns when a claimed pull is fetched, as it is now, and locks it. Undefined if the claim is lost. */
export async function selectClaimedTimes(
  tx: Transaction,
  { accountId, pullId, claim }: ClaimedPull,
): Promise<Times | undefined> {
  const [row] = await tx<Times[]>`
    select repeat as "repeat", hour as "hour", weekday as "weekday"
    from   pulls
    where  account_id = ${accountId} and pull_id = ${pullId} and claimed_by = ${claim}
    for    no key update`;
  return row;
}

/** The state of a pull after an attempt. Times in ms. */
export type AfterFetch = {
  /** When it is fetched next, if it is on. Null: as before, because an administrator asked for this attempt. */
  nextAt: number | null;
  /** When this attempt was requested. What was requested later still has to be done. */
  wantedAt: Date | null;
  now: number;
};

const afterColumns = (tx: Transaction, { nextAt, wantedAt }: AfterFetch): Fragment => {
  const next = nextAt === null ? null : new Date(nextAt);
  const isLater = tx`wanted_at is distinct from ${wantedAt}::timestamptz`;
  return tx`
    claimed_by = null,
    wanted     = case when ${isLater} then wanted end,
    wanted_by  = case when ${isLater} then wanted_by end,
    wanted_at  = case when ${isLater} then wanted_at end,
    next_at    = case when is_on then coalesce(${next}::timestamptz, next_at) end`;
};

/** Records that a list was stored or unchanged. Returns false if the claim is lost. */
export async function updateFetched(
  tx: Transaction,
  { accountId, pullId, claim }: ClaimedPull,
  after: AfterFetch,
  list?: {
    columns: readonly string[];
    digest: Buffer;
    etag: string | null;
    lastModified: string | null;
    fileId: number;
    isDryRun: boolean;
  },
): Promise<boolean> {
  const isKept = list !== undefined && !list.isDryRun;
  const rows = await tx`
    update pulls
    set    failures = 0, failing_since = null, notified_at = null,
           columns       = coalesce(${list ? [...list.columns] : null}::text[], columns),
           digest        = case when ${isKept} then ${list?.digest ?? null}::bytea else digest end,
           etag          = case when ${isKept} then ${list?.etag ?? null}::text else etag end,
           last_modified = case when ${isKept} then ${list?.lastModified ?? null}::text else last_modified end,
           last_file_id  = case when ${isKept} then ${list?.fileId ?? null}::integer else last_file_id end,
           ${afterColumns(tx, after)}
    where  account_id = ${accountId} and pull_id = ${pullId} and claimed_by = ${claim}
    returning 1`;
  return rows.length > 0;
}

/** Records a failure. `counts`: it is one of the schedule. `notifies`: the administrators are notified. Returns false if the claim is lost. */
export async function updateFailedFetch(
  tx: Transaction,
  { accountId, pullId, claim }: ClaimedPull,
  after: AfterFetch,
  { counts, notifies }: { counts: boolean; notifies: boolean },
): Promise<boolean> {
  const rows = await tx`
    update pulls
    set    failures      = failures + ${counts}::boolean::integer,
           failing_since = case when ${counts} then coalesce(failing_since, ${new Date(after.now)}) else failing_since end,
           notified_at   = case when ${notifies} then ${new Date(after.now)} else notified_at end,
           ${afterColumns(tx, after)}
    where  account_id = ${accountId} and pull_id = ${pullId} and claimed_by = ${claim}
    returning 1`;
  return rows.length > 0;
}

export type NewFetch = {
  reason: FetchReason;
  outcome: FetchRow['outcome'];
  error: FetchRow['error'];
  detail: string | null;
  fileId: number | null;
  requests: number;
  bytes: number;
  rows: number | null;
  userId: number | null;
};

export async function insertFetch(
  tx: Transaction,
  { accountId, pullId }: { accountId: AccountId; pullId: number },
  one: NewFetch,
): Promise<void> {
  await tx`
    insert into pull_fetches (account_id, pull_id, reason, outcome, error, detail, file_id, requests, bytes, rows, user_id)
    values (${accountId}, ${pullId}, ${one.reason}, ${one.outcome}, ${one.error}, ${one.detail}, ${one.fileId},
            ${one.requests}, ${one.bytes}, ${one.rows}, ${one.userId})`;
}
