// SQL of the privacy report, read-only. It reads settings and counts, never people's names or answers.
import { allChannels } from '../../base/messages/channels.ts';
import type {
  DataToken,
  LinkExport,
  ManagerBasis,
  NoiseLevel,
  PrivacyRules,
  ReportedBreakdown,
} from '@soundings/contract/console/privacy.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { canBeReached } from '../../rounds/reach.sql.ts';

export type AccountFacts = {
  id: number;
  name: string;
  timezone: string;
  rules: PrivacyRules;
  groups: number;
  /** Active people: all of them, those created manually, and those without an email address. */
  people: number;
  manual: number;
  unreachable: number;
  /** How many people have a printed card. */
  cards: number;
  /** The oldest entry of the audit log. */
  auditSince: Date | null;
};

type RulesRow = {
  threshold: number;
  distributionThreshold: number;
  commentThreshold: number;
  isLive: boolean;
  noise: number;
};

const rulesOf = ({
  threshold,
  distributionThreshold,
  commentThreshold,
  isLive,
  noise,
}: RulesRow): PrivacyRules => ({
  threshold,
  distributionThreshold,
  commentThreshold,
  isLive,
  noise: noise as NoiseLevel,
});

/** Returns the account's settings and its numbers of people and groups; undefined if the account does not exist. */
export async function selectAccountFacts(db: Db, accountId: AccountId): Promise<AccountFacts | undefined> {
  const [row] = await db<(Omit<AccountFacts, 'rules'> & RulesRow)[]>`
    select a.account_id             as "id",
           a.name                   as "name",
           a.timezone               as "timezone",
           a.threshold              as "threshold",
           coalesce(a.distribution_threshold, case a.threshold when 1 then 1 else 2 * a.threshold end)  as "distributionThreshold",
           coalesce(a.comment_threshold, case a.threshold when 1 then 1 else 2 * a.threshold end) as "commentThreshold",
           a.publication = 'live'   as "isLive",
           a.noise                  as "noise",
           (select count(*)::integer from groups g where g.account_id = ${accountId}) as "groups",
           u.*,
           (select count(*)::integer from cards c where c.account_id = ${accountId})  as "cards",
           (select min(e.at) from audit_entries e where e.account_id = ${accountId})  as "auditSince"
    from   accounts a
    cross  join lateral (
             select count(*)::integer                                  as "people",
                    (count(*) filter (where not managed))::integer     as "manual",
                    (count(*) filter (where not ${canBeReached(db, allChannels, accountId)}))::integer as "unreachable"
             from   users u
             where  u.account_id = ${accountId} and u.active) u
    where  a.account_id = ${accountId}`;
  if (!row) return undefined;
  const { id, name, timezone, groups, people, manual, unreachable, cards, auditSince } = row;
  return { id, name, timezone, rules: rulesOf(row), groups, people, manual, unreachable, cards, auditSince };
}

/** Returns the open weeks, each with the rules under which it was opened and the number of people asked. */
export async function selectOpenWeekRules(
  db: Db,
  accountId: AccountId,
): Promise<{ week: Week; people: number; rules: PrivacyRules }[]> {
  const rows = await db<(RulesRow & { week: Week; people: number })[]>`
    select w.week::text          as "week",
           w.threshold           as "threshold",
           w.distribution_threshold    as "distributionThreshold",
           w.comment_threshold   as "commentThreshold",
           coalesce((to_jsonb(w) ->> 'is_live')::boolean, a.publication = 'live') as "isLive",
           w.noise               as "noise",
           (select count(*)::integer
            from   participants p
            where  p.account_id = ${accountId} and p.week = w.week) as "people"
    from   weeks w
    join   accounts a on a.account_id = w.account_id
    where  w.account_id = ${accountId} and w.closed_at is null
    order  by w.week`;
  return rows.map((row) => ({ week: row.week, people: row.people, rules: rulesOf(row) }));
}

/**
 * Returns how many weeks have closed, the first of them, and how many of them began after `copiesUntil`, in every time zone. If
 * `copiesUntil` is null, that is all of them.
 */
export async function selectClosedWeekCount(
  db: Db,
  accountId: AccountId,
  copiesUntil: string | null,
): Promise<{ count: number; first: Week | null; afterCopies: number }> {
  const [row] = await db<{ count: number; first: Week | null; afterCopies: number }[]>`
    select count(*)::integer  as "count",
           min(week)::text    as "first",
           (count(*) filter (where ${copiesUntil}::timestamptz is null
                                or week > ${copiesUntil}::timestamptz + interval '1 day'))::integer as "afterCopies"
    from   weeks
    where  account_id = ${accountId} and closed_at is not null`;
  return row!;
}

/** Returns the breakdowns that are open or have figures, in order, with the weeks that have figures. */
export async function selectReportedBreakdowns(
  db: Db,
  accountId: AccountId,
): Promise<(Omit<ReportedBreakdown, 'openedAt' | 'closedAt'> & { openedAt: Date; closedAt: Date | null })[]> {
  return db`
    select b.name      as "name",
           (select json_agg(json_build_object('attribute', p.attribute, 'bands', p.bands)
                            order by array_position(b.cross_of, p.breakdown_id))
            from   breakdowns p
            where  p.account_id = ${accountId}
              and  p.breakdown_id = any(coalesce(b.cross_of, array[b.breakdown_id]))) as "by",
           b.opened_at as "openedAt",
           b.closed_at as "closedAt",
           f.weeks     as "weeks",
           f.first     as "first",
           f.last      as "last"
    from   breakdowns b
    cross  join lateral (
             select count(distinct r.week)::integer as weeks, min(r.week)::text as first, max(r.week)::text as last
             from   segments s
             join   response_rates r on r.account_id = s.account_id and r.group_id = s.segment_id
             where  s.account_id = ${accountId} and s.breakdown_id = b.breakdown_id) f
    where  b.account_id = ${accountId} and (b.closed_at is null or f.weeks > 0)
    order  by b.position`;
}

/** Returns how many values changed before the latest weeks that were opened with breakdowns, newest first. */
export async function selectChangesBefore(
  db: Db,
  accountId: AccountId,
  weeks: number,
): Promise<{ week: Week; name: string; changes: number }[]> {
  return db<{ week: Week; name: string; changes: number }[]>`
    select w.week::text as "week", b.name as "name", w.changes as "changes"
    from   week_breakdowns w
    join   breakdowns b on b.account_id = w.account_id and b.breakdown_id = w.breakdown_id
    where  w.account_id = ${accountId}
      and  w.week in (select distinct week from week_breakdowns where account_id = ${accountId} order by week desc limit ${weeks})
    order  by w.week desc, b.position`;
}

/** Returns the tables that still have rows of closed weeks. There should be none, because closing a week deletes these rows. */
export async function selectLeftAfterClosing(db: Db, accountId: AccountId): Promise<string[]> {
  const left = (table: string) => db`
    exists (select 1
            from   weeks w
            where  w.account_id = ${accountId} and w.closed_at is not null
              and  exists (select 1 from ${db(table)} x where x.account_id = ${accountId} and x.week = w.week))`;
  const [row] = await db<{ [table: string]: boolean }[]>`
    select ${left('answers')}      as "answers",
           ${left('assignments')}  as "assignments",
           ${left('participants')} as "participants",
           ${left('links')}        as "links",
           ${left('messages')}     as "messages",
           ${left('week_keys')}    as "week_keys"
    from   accounts
    where  account_id = ${accountId}`;
  return Object.entries(row ?? {})
    .filter(([, hasRows]) => hasRows)
    .map(([table]) => table);
}

/** Returns how many active people have each role, and how many of them have a password. */
export async function selectRoleCounts(
  db: Db,
  accountId: AccountId,
): Promise<{ role: Role; people: number; canSignIn: number }[]> {
  return db`
    select r.role                    as "role",
           count(*)::integer         as "people",
           count(p.user_id)::integer as "canSignIn"
    from   users u
    left   join passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    cross  join lateral (select case when u.role_pending then 'User' else u.role end as role) r
    where  u.account_id = ${accountId} and u.active
    group  by r.role`;
}

/**
 * Returns why active managers see groups: as owner, as owner including subgroups, or with read access. `null`:
 * managers without any groups.
 */
export async function selectManagerBases(
  db: Db,
  accountId: AccountId,
): Promise<{ basis: ManagerBasis['basis'] | null; managers: number; groups: number }[]> {
  return db`
    with recursive given as (
      select u.user_id, m.kind, m.group_id
      from   users u
      left   join memberships m on m.account_id = u.account_id and m.user_id = u.user_id and m.kind <> 'memberOf'
      where  u.account_id = ${accountId} and u.active and u.role = 'Manager'
    ), administered as (
      select group_id from given where kind = 'inheritedAdminOf'
      union
      select g.group_id
      from   administered b
      join   groups g on g.account_id = ${accountId} and g.parent_id = b.group_id
    )
    select kind                              as "basis",
           count(distinct user_id)::integer  as "managers",
           case kind when 'inheritedAdminOf' then (select count(*)::integer from administered)
                     else count(distinct group_id)::integer end as "groups"
    from   given
    group  by kind`;
}

/** Returns the tokens that can currently read results (neither revoked nor expired), most recently used first. */
export async function selectDataTokens(
  db: Db,
  accountId: AccountId,
): Promise<
  (Pick<DataToken, 'name'> & { [field in 'createdAt' | 'lastUsedAt' | 'expiresAt']: Date | null })[]
> {
  return db`
    select name         as "name",
           created_at   as "createdAt",
           last_used_at as "lastUsedAt",
           expires_at   as "expiresAt"
    from   tokens
    where  account_id = ${accountId} and 'data' = any(scopes) and revoked_at is null
      and  (expires_at is null or expires_at > now())
    order  by last_used_at desc nulls last, token_id`;
}

/**
 * Returns the exports of links since a time, by week and origin, newest first. Earlier versions of the soundings command logged
 * only that it was used.
 */
export async function selectLinkExports(
  db: Db,
  accountId: AccountId,
  since: Date,
): Promise<(Omit<LinkExport, 'lastAt'> & { lastAt: Date })[]> {
  return db`
    select case when action = 'links exported' then subject end as "week",
           origin                                               as "origin",
           count(*)::integer                                    as "times",
           sum((details ->> 'people')::integer)::integer        as "people",
           max(at)                                              as "lastAt"
    from   audit_entries
    where  account_id = ${accountId} and at >= ${since}
      and  (action = 'links exported' or (action = 'command run' and subject = 'links export'))
    group  by 1, 2
    order  by max(at) desc`;
}

export type DatabaseFacts = { walBytes: number; isArchived: boolean; replicas: number };

/** Returns how much of its log PostgreSQL keeps, whether the log is archived, and how many replicas read it. The same for all accounts. */
export async function selectDatabaseFacts(db: Db): Promise<DatabaseFacts> {
  const [row] = await db<DatabaseFacts[]>`
    select pg_size_bytes(current_setting('max_wal_size'))::double precision as "walBytes",
           current_setting('archive_mode') <> 'off'                         as "isArchived",
           (select count(*)::integer from pg_stat_replication)              as "replicas"`;
  return row!;
}
