// SQL of tokens and of the audit log, as the console shows them: reading only.
import { actionsAbout } from '@soundings/contract/audit-actions.ts';
import type { AuditEntry, TokenSummary } from '@soundings/contract/console/access.ts';
import type { AccountId, Db } from '../../db/db.ts';

/** Returns all tokens of the account. Active tokens come first, and within both kinds the newest. */
export async function selectTokenSummaries(db: Db, accountId: AccountId): Promise<TokenSummary[]> {
  return db<TokenSummary[]>`
    select t.token_id       as "id",
           t.name           as "name",
           t.scopes         as "scopes",
           t.numbers        as "numbers",
           t.created_at     as "createdAt",
           coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email) as "createdBy",
           t.expires_at     as "expiresAt",
           t.revoked_at     as "revokedAt",
           t.last_used_at   as "lastUsedAt",
           t.last_used_from as "lastUsedFrom"
    from   tokens t
    left   join users u on u.account_id = t.account_id and u.user_id = t.created_by
    where  t.account_id = ${accountId}
    order  by t.revoked_at is not null, coalesce(t.expires_at < now(), false), t.token_id desc`;
}

export type AuditFilter = {
  search: string | null;
  /** Further actions to find: those whose names in the caller's language match the search. */
  found: string[];
  origin: string | null;
  action: string | null;
  from: string | null;
  to: string | null;
};

/**
 * The subject of an entry with its current name; null if it no longer exists. Names are looked up when the log is read, so that
 * nothing that is erased with a person stays in it. A run without a file is named by the end of its id, because ids of runs from
 * about the same time begin with the same characters.
 */
const about = (db: Db) => {
  // The creation of a question is logged with its key as the subject, and its id in the details.
  const id = db`(case when e.action = 'question created' then e.details ->> 'id' else e.subject end)`;
  const number = db`(case when ${id} ~ '^[0-9]{1,9}$' then ${id}::integer end)`;
  const named = (name: ReturnType<Db>) =>
    db`json_build_object('id', ${id}, 'name', coalesce(${name}, ${id}))`;
  return db`
    case
      when e.action = any(${actionsAbout('person')}) then (
        select ${named(db`coalesce(nullif(trim(s.first_name || ' ' || s.last_name), ''), s.email)`)}
        from   users s where s.account_id = e.account_id and s.user_id = ${number})
      when e.action = any(${actionsAbout('group')}) then (
        select ${named(db`s.name`)} from groups s where s.account_id = e.account_id and s.group_id = ${number})
      when e.action = any(${actionsAbout('token')}) then (
        select ${named(db`s.name`)} from tokens s where s.account_id = e.account_id and s.token_id = ${number})
      when e.action = any(${actionsAbout('schedule')}) then (
        select ${named(db`s.name`)} from schedules s where s.account_id = e.account_id and s.schedule_id = ${number})
      when e.action = any(${actionsAbout('question')}) then (
        select ${named(db`s.text`)} from questions s where s.account_id = e.account_id and s.question_id = ${number})
      when e.action = any(${actionsAbout('kpi')}) then (
        select ${named(db`s.name`)} from kpis s where s.account_id = e.account_id and s.kpi_id = e.subject)
      when e.action = any(${actionsAbout('run')}) then (
        select ${named(db`coalesce(s.file, right(e.subject, 8))`)}
        from   runs s where s.account_id = e.account_id and s.run_id = e.subject::uuid)
      when e.action = any(${actionsAbout('file')}) then (
        select ${named(db`s.name`)} from files s where s.account_id = e.account_id and s.file_id = ${number})
      when e.action = any(${actionsAbout('pull')}) then (
        select ${named(db`s.name`)} from pulls s where s.account_id = e.account_id and s.pull_id = ${number})
      when e.action = any(${actionsAbout('webhook')}) then (
        select ${named(db`coalesce(nullif(s.description, ''), substring(s.url from '//([^/?]+)'))`)}
        from   webhook_endpoints s where s.account_id = e.account_id and s.endpoint_id = ${number})
    end`;
};

/** The condition for entries that match a filter. Days are in the account's time zone. */
const passing = (db: Db, { search, found, origin, action, from, to }: AuditFilter) => db`
       (${origin}::text is null or e.origin = ${origin})
  and  (${action}::text is null or e.action = ${action})
  and  (${from}::date is null or e.at >= (${from}::date)::timestamp at time zone a.timezone)
  and  (${to}::date is null or e.at < (${to}::date + 1)::timestamp at time zone a.timezone)
  and  (${search}::text is null
        or e.action = any(${found})
        or strpos(lower(concat_ws(' ', e.action, e.subject, e.address, u.first_name, u.last_name, u.email, t.name)),
                  lower(${search})) > 0
        or strpos(lower(${about(db)} ->> 'name'), lower(${search})) > 0)`;

const joined = (db: Db, accountId: AccountId) => db`
    from   audit_entries e
    join   accounts a on a.account_id = e.account_id
    left   join users u  on u.account_id = e.account_id and u.user_id = e.user_id
    left   join tokens t on t.account_id = e.account_id and t.token_id = e.token_id
    where  e.account_id = ${accountId}`;

/** Returns the entries that match a filter, newest first; `before`: only entries older than the one with this id. */
export async function selectAuditEntries(
  db: Db,
  accountId: AccountId,
  filter: AuditFilter,
  { before, offset, limit }: { before: number | null; offset: number; limit: number },
): Promise<AuditEntry[]> {
  return db<AuditEntry[]>`
    select e.entry_id::integer as "id",
           e.at       as "at",
           e.origin   as "origin",
           case when e.origin in ('api', 'file') then t.name
                else coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email) end as "who",
           e.user_id  as "userId",
           e.token_id as "tokenId",
           e.address  as "address",
           e.action   as "action",
           e.subject  as "subject",
           ${about(db)} as "about",
           e.details  as "details"
    ${joined(db, accountId)} and ${passing(db, filter)}
      and  (${before}::bigint is null or e.entry_id < ${before})
    order  by e.entry_id desc
    offset ${offset} limit ${limit}`;
}

/** Returns how many entries match a filter, and every action in the account's log. */
export async function selectAuditExtent(
  db: Db,
  accountId: AccountId,
  filter: AuditFilter,
): Promise<{ total: number; actions: string[] }> {
  const [[counted], actions] = await Promise.all([
    db<
      { total: number }[]
    >`select count(*)::integer as total ${joined(db, accountId)} and ${passing(db, filter)}`,
    db<{ action: string }[]>`
      select distinct action from audit_entries where account_id = ${accountId} order by action`,
  ]);
  return { total: counted?.total ?? 0, actions: actions.map(({ action }) => action) };
}

/** Returns how many active people would get text messages if the account turned them on. `mail`: whether a mail server is configured. */
export async function selectTextable(db: Db, accountId: AccountId, mail: boolean): Promise<number> {
  const [row] = await db<{ people: number }[]>`
    select count(*)::integer as "people"
    from   users u
    where  u.account_id = ${accountId} and u.active and u.phone is not null
      and  (u.email is null or not ${mail}::boolean)
      and  not exists (select 1 from reminder_opt_outs o
                       where  o.account_id = ${accountId} and o.user_id = u.user_id and o.all_emails)`;
  return row!.people;
}
