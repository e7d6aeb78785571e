// SQL of pulls as administrators enter and see them, of their secrets and of their times. Writers: pulls.ts, secrets.ts.
import type { PullSource, Repeat } from '@soundings/contract/pulls/pull-values.ts';
import type { Access, FetchRow, PullView } from '@soundings/contract/pulls/pulls.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Fragment, Transaction } from '../db/db.ts';

/** Returns the id of the next pull. Its secret is sealed for this id. */
export async function nextPullId(db: Db): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('pulls', 'pull_id'))::integer as "id"`;
  return row!.id;
}

export async function countPulls(db: Db, accountId: AccountId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count" from pulls where account_id = ${accountId}`;
  return row!.count;
}

/** When a pull is fetched. `hour` and `weekday` (1 is Monday) are in the time zone of the account. */
export type Times = { repeat: Repeat; hour: number; weekday: number };

/** What an administrator enters, apart from the secret. */
export type Entered = Times & { name: string; source: PullSource; url: string; list: string; access: Access };

export async function insertPull(
  tx: Transaction,
  accountId: AccountId,
  pull: Entered & { id: number; secret: Buffer | null; createdBy: number | null },
): Promise<void> {
  await tx`
    insert into pulls (account_id, pull_id, name, source, url, list, access, secret, repeat, hour, weekday, created_by)
    values (${accountId}, ${pull.id}, ${pull.name}, ${pull.source}, ${pull.url}, ${pull.list}, ${tx.json(pull.access)},
            ${pull.secret}, ${pull.repeat}, ${pull.hour}, ${pull.weekday}, ${pull.createdBy})`;
}

const isoText = (db: Db, time: Fragment): Fragment =>
  db`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The columns of an attempt `f`. */
const fetchColumns = (db: Db): Fragment => db`
  f.fetch_id                       as "id",
  ${isoText(db, db`f.at`)}         as "at",
  f.reason                         as "reason",
  f.outcome                        as "outcome",
  f.error                          as "error",
  f.detail                         as "detail",
  s.file_id                        as "fileId",
  s.report ->> 'outcome'           as "fileOutcome",
  f.requests                       as "requests",
  f.bytes                          as "bytes",
  f.rows                           as "rows",
  nullif(concat_ws(' ', u.first_name, u.last_name), '') as "by"`;

const filesAndUsers = (db: Db, accountId: AccountId): Fragment => db`
  left   join files s on s.account_id = ${accountId} and s.file_id = f.file_id
  left   join users u on u.account_id = ${accountId} and u.user_id = f.user_id`;

export type StoredPull = Omit<PullView, 'last' | 'fetches'> & { secret: Buffer | null };

/** Returns a pull of the account or, if `pullId` is null, all of them by name. */
export async function selectPulls(
  db: Db,
  accountId: AccountId,
  pullId: number | null = null,
): Promise<StoredPull[]> {
  const [nextAt, failingSince] = [isoText(db, db`p.next_at`), isoText(db, db`p.failing_since`)];
  const createdAt = isoText(db, db`p.created_at`);
  return db`
    select p.pull_id                                   as "id",
           p.name                                      as "name",
           p.source                                    as "source",
           p.url                                       as "url",
           p.list                                      as "list",
           p.access                                    as "access",
           p.secret                                    as "secret",
           p.secret is not null                        as "hasSecret",
           p.is_on                                     as "isOn",
           p.repeat                                    as "repeat",
           p.hour                                      as "hour",
           p.weekday                                   as "weekday",
           ${nextAt}               as "nextAt",
           ${failingSince}         as "failingSince",
           p.wanted is not null or p.claimed_by is not null and p.claimed_until > now() as "isUnderWay",
           exists (select 1 from pull_fetches f
                   join   files s on s.account_id = f.account_id and s.file_id = f.file_id
                   where  f.account_id = ${accountId} and f.pull_id = p.pull_id and f.at > p.changed_at
                     and  f.outcome = 'stored' and s.report ->> 'outcome' in ('validated', 'applied', 'pending')) as "isTried",
           ${createdAt}            as "createdAt",
           nullif(concat_ws(' ', u.first_name, u.last_name), '') as "createdBy"
    from   pulls p
    left   join users u on u.account_id = p.account_id and u.user_id = p.created_by
    where  p.account_id = ${accountId} and (${pullId}::integer is null or p.pull_id = ${pullId}::integer)
    order  by folded(p.name), p.pull_id`;
}

/** Returns the last attempts of a pull, newest first. */
export async function selectFetches(
  db: Db,
  accountId: AccountId,
  pullId: number,
  count: number,
): Promise<FetchRow[]> {
  return db`
    select ${fetchColumns(db)}
    from   pull_fetches f
    ${filesAndUsers(db, accountId)}
    where  f.account_id = ${accountId} and f.pull_id = ${pullId}
    order  by f.fetch_id desc
    limit  ${count}`;
}

/** Returns the last attempt of each pull of an account. */
export async function selectLastFetches(
  db: Db,
  accountId: AccountId,
): Promise<(FetchRow & { pullId: number })[]> {
  return db`
    select p.pull_id as "pullId", ${fetchColumns(db)}
    from   pulls p
    cross  join lateral (select * from pull_fetches a
                         where  a.account_id = ${accountId} and a.pull_id = p.pull_id
                         order  by a.fetch_id desc
                         limit  1) f
    ${filesAndUsers(db, accountId)}
    where  p.account_id = ${accountId}`;
}

/**
 * Changes a pull. `isOther`: its address, list, access or secret is another one, so that what is known about the last list no longer
 * counts, and what an administrator has asked for becomes a dry run. `isOtherList`: its columns no longer count either. A pull that is
 * turned off applies nothing more, not even what is being fetched. `nextAt` in ms; undefined: as before.
 * `isSoonest`: not later than before.
 */
export async function updatePull(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
  pull: Entered & {
    secret: Buffer | null;
    isOn: boolean;
    isOther: boolean;
    isOtherList: boolean;
    nextAt?: number | undefined;
    isSoonest?: boolean | undefined;
  },
): Promise<void> {
  const nextAt = pull.nextAt === undefined ? null : new Date(pull.nextAt);
  const { isSoonest = false } = pull;
  const isTurnedOff = tx`(is_on and not ${pull.isOn}::boolean)`;
  const changedAt = pull.isOther ? tx`statement_timestamp()` : tx`changed_at`;
  const isWithdrawn = tx`(${isTurnedOff} and not ${pull.isOther}::boolean and wanted = 'fetch')`;
  await tx`
    update pulls
    set    name          = ${pull.name},
           source        = ${pull.source},
           url           = ${pull.url},
           list          = ${pull.list},
           access        = ${tx.json(pull.access)},
           secret        = ${pull.secret},
           repeat        = ${pull.repeat},
           hour          = ${pull.hour},
           weekday       = ${pull.weekday},
           is_on         = ${pull.isOn},
           next_at       = case when not ${pull.isOn} then null
                                when ${nextAt}::timestamptz is null or ${isSoonest} and next_at < ${nextAt} then next_at
                                else ${nextAt} end,
           failures      = case when ${pull.isOn} and not ${pull.isOther} then failures else 0 end,
           failing_since = case when ${pull.isOn} and not ${pull.isOther} then failing_since end,
           notified_at   = case when ${pull.isOn} and not ${pull.isOther} then notified_at end,
           wanted        = case when wanted is null or ${isWithdrawn} then null when ${pull.isOther} then 'dryRun' else wanted end,
           wanted_by     = case when not ${isWithdrawn} then wanted_by end,
           wanted_at     = case when not ${isWithdrawn} then wanted_at end,
           columns       = case when ${pull.isOtherList} then '{}' else columns end,
           digest        = case when ${pull.isOther} then null else digest end,
           etag          = case when ${pull.isOther} then null else etag end,
           last_modified = case when ${pull.isOther} then null else last_modified end,
           changed_at    = ${changedAt},
           claimed_by    = case when not ${pull.isOther} and not ${isTurnedOff} then claimed_by end
    where  account_id = ${accountId} and pull_id = ${pullId}`;
}

/**
 * Returns the name of another pull that is on and lists people, if this one does too and each list is complete: they would remove each other's
 * people. Undefined: there is none. A pull lists people if a file that it fetched since it was changed had some.
 */
export async function selectOverlapping(
  db: Db,
  accountId: AccountId,
  pullId: number,
): Promise<string | undefined> {
  const listsPeople = (p: Fragment) => db`
    exists (select 1 from pull_fetches f
            join   files s on s.account_id = f.account_id and s.file_id = f.file_id
            join   runs r on r.account_id = s.account_id and r.run_id = s.run_id
            where  f.account_id = ${p}.account_id and f.pull_id = ${p}.pull_id and f.at > ${p}.changed_at
              and  (r.summary #>> '{users,created}')::integer + (r.summary #>> '{users,updated}')::integer
                     + (r.summary #>> '{users,unchanged}')::integer > 0)`;
  const [row] = await db<{ name: string }[]>`
    select other.name as "name"
    from   pulls own
    join   accounts a on a.account_id = own.account_id and a.apply_files and not a.files_partial
    join   pulls other on other.account_id = own.account_id and other.pull_id <> own.pull_id and other.is_on
    where  own.account_id = ${accountId} and own.pull_id = ${pullId}
      and  ${listsPeople(db`own`)} and ${listsPeople(db`other`)}
    order  by other.pull_id
    limit  1`;
  return row?.name;
}

/** Deletes a pull with its attempts. Returns its address; undefined if there is none. */
export async function deletePull(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
): Promise<string | undefined> {
  const [row] = await tx<{ url: string }[]>`
    delete from pulls where account_id = ${accountId} and pull_id = ${pullId} returning url as "url"`;
  return row?.url;
}

/** Asks for the list of a pull, at a time in ms. */
export async function updateWanted(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
  { wanted, userId, now }: { wanted: 'fetch' | 'dryRun'; userId: number | null; now: number },
): Promise<void> {
  await tx`
    update pulls
    set    wanted = ${wanted}, wanted_by = ${userId}, wanted_at = ${new Date(now)}
    where  account_id = ${accountId} and pull_id = ${pullId}`;
}

/** Adds a job that fetches what is due. The job tables exist as soon as the service has run. */
export async function addPullJob(tx: Transaction): Promise<void> {
  await tx`select graphile_worker.add_job('fetch pulls now', '{}') -- account_id: of no account`;
}

/** Returns when a pull is due next after a time, both in ms. An hour that a clock change skips is the following one. */
export async function selectNextTime(
  db: Db,
  accountId: AccountId,
  { repeat, hour, weekday }: Times,
  now: number,
): Promise<number> {
  const time = new Date(now);
  const [row] = await db<{ at: Date }[]>`
    select case when ${repeat} = 'hourly' then date_trunc('hour', ${time}::timestamptz) + interval '1 hour'
                else (select min(starts)
                      from   generate_series(0, 8) as days,
                             lateral (select (${time}::timestamptz at time zone a.timezone)::date + days as day) d,
                             lateral (select (day + make_interval(hours => ${hour}::integer)) at time zone a.timezone as starts) m
                      where  starts > ${time} and (${repeat} = 'daily' or extract(isodow from day) = ${weekday}::integer))
           end as "at"
    from   accounts a
    where  a.account_id = ${accountId}`;
  return row!.at.getTime();
}

/** Deletes the attempts of all accounts (account_id) that are older than `days`. */
export async function deleteOldFetches(db: Db, days: number): Promise<void> {
  await db`delete from pull_fetches where at < now() - make_interval(days => ${days}) -- account_id: of all`;
}

export type SealedPull = {
  accountId: AccountId;
  pullId: number;
  url: string;
  access: Access;
  secret: Buffer;
};

/** Returns the secrets of all accounts (account_id) with what they are sealed for, and locks them, except on Citus. */
export async function selectPullSecrets(tx: Transaction): Promise<SealedPull[]> {
  const onCitus = await isOnCitus(tx);
  return tx`
    select account_id as "accountId", pull_id as "pullId", url as "url", access as "access", secret as "secret"
    from   pulls
    where  secret is not null
    order  by account_id, pull_id
    ${onCitus ? tx`` : tx`for no key update`}`;
}

/** Stores a secret that was sealed again, unless it has been changed since `before` was read. */
export async function updatePullSecret(
  tx: Transaction,
  { accountId, pullId }: { accountId: AccountId; pullId: number },
  before: Buffer,
  sealed: Buffer,
): Promise<void> {
  await tx`
    update pulls set secret = ${sealed}
    where  account_id = ${accountId} and pull_id = ${pullId} and secret = ${before}`;
}
