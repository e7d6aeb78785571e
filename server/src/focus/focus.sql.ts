// SQL of what groups work on. Writers: focus.ts.
import type {
  FocusCounts,
  FocusEventKind,
  FocusState,
  FocusTerms,
} from '@soundings/contract/console/focus.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type FocusRow = FocusTerms & {
  id: number;
  groupId: number;
  kpiId: string | null;
  questionId: number | null;
  state: FocusState;
  outlook: 'onTrack' | 'needsHelp' | null;
  checkedAt: Date;
  createdAt: Date;
};

const columns = (db: Db) => db`
           f.focus_id        as "id",
           f.group_id        as "groupId",
           f.kpi_id          as "kpiId",
           f.question_id     as "questionId",
           f.action          as "action",
           f.responsible     as "responsible",
           f.until_day::text as "until",
           f.state           as "state",
           f.outlook         as "outlook",
           f.checked_at      as "checkedAt",
           f.created_at      as "createdAt"`;

/**
 * Returns the focuses of groups: for each group, the open ones first, and then at least the newest `most` that are done or
 * stopped.
 */
export async function selectFocuses(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  most: number,
): Promise<FocusRow[]> {
  return db<FocusRow[]>`
    select ${columns(db)}
    from   unnest(${groupIds as number[]}::integer[]) as g(id)
    cross  join lateral (select *
                         from   focuses o
                         where  o.account_id = ${accountId} and o.group_id = g.id
                         order  by o.state <> 'open', o.focus_id desc
                         limit  ${most + 2}) f
    order  by f.group_id, f.state <> 'open', f.focus_id desc`;
}

/** Locks a focus with its group and returns it; undefined if it does not exist. */
export async function lockFocus(
  tx: Transaction,
  accountId: AccountId,
  focusId: number,
): Promise<FocusRow | undefined> {
  const [found] = await tx<{ groupId: number }[]>`
    select group_id as "groupId" from focuses where account_id = ${accountId} and focus_id = ${focusId}`;
  if (!found || !(await lockGroup(tx, accountId, found.groupId))) return undefined;
  const [row] = await tx<FocusRow[]>`
    select ${columns(tx)} from focuses f where f.account_id = ${accountId} and f.focus_id = ${focusId}`;
  return row;
}

/** Locks a group against other changes of its focus. Returns false if it does not exist. */
export async function lockGroup(tx: Transaction, accountId: AccountId, groupId: number): Promise<boolean> {
  const rows = await tx`
    select 1 from groups where account_id = ${accountId} and group_id = ${groupId} for no key update`;
  return rows.length > 0;
}

/** Returns how many open focuses a group has, how many focuses it has ever had, and whether an open one is about this subject. */
export async function selectFocusNumbers(
  db: Db,
  accountId: AccountId,
  { groupId, kpiId, questionId }: Pick<FocusRow, 'groupId' | 'kpiId' | 'questionId'>,
): Promise<{ open: number; all: number; same: number }> {
  const [row] = await db<{ open: number; all: number; same: number }[]>`
    select count(*) filter (where state = 'open')::integer as "open",
           count(*)::integer                               as "all",
           count(*) filter (where state = 'open' and kpi_id is not distinct from ${kpiId}
                              and question_id is not distinct from ${questionId})::integer as "same"
    from   focuses
    where  account_id = ${accountId} and group_id = ${groupId}`;
  return row!;
}

/** Returns whether the subject can be chosen: a KPI that exists, or a question that is not retired. */
export async function selectIsSubject(
  db: Db,
  accountId: AccountId,
  { kpiId, questionId }: Pick<FocusRow, 'kpiId' | 'questionId'>,
): Promise<boolean> {
  const rows = await db`
    select 1 from kpis where account_id = ${accountId} and kpi_id = ${kpiId}
    union all
    select 1 from questions
    where  account_id = ${accountId} and question_id = ${questionId} and retired_at is null`;
  return rows.length > 0;
}

export async function insertFocus(
  tx: Transaction,
  accountId: AccountId,
  {
    groupId,
    kpiId,
    questionId,
    action,
    responsible,
    until,
  }: Pick<FocusRow, 'groupId' | 'kpiId' | 'questionId'> & FocusTerms,
  now: number,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into focuses (account_id, group_id, kpi_id, question_id, action, responsible, until_day,
                         checked_at, announced_at, created_at)
    select ${accountId}, ${groupId}, ${kpiId}, ${questionId}, ${action}, ${responsible}, ${until}::date, n.at, n.at, n.at
    from   (values (to_timestamp(${now / 1000}::double precision))) as n(at)
    returning focus_id as "id"`;
  return row!.id;
}

/** Changes a focus. `checked` and `announced`: whether this is a check-in, and whether people are informed of it. */
export async function updateFocus(
  tx: Transaction,
  accountId: AccountId,
  { id, action, responsible, until, state, outlook }: Omit<FocusRow, 'groupId' | 'checkedAt' | 'createdAt'>,
  { checked, announced, now }: { checked: boolean; announced: boolean; now: number },
): Promise<void> {
  await tx`
    update focuses
    set    action       = ${action},
           responsible  = ${responsible},
           until_day    = ${until}::date,
           state        = ${state},
           outlook      = ${outlook},
           checked_at   = case when ${checked}::boolean then to_timestamp(${now / 1000}::double precision) else checked_at end,
           announced_at = case when ${announced}::boolean then to_timestamp(${now / 1000}::double precision) else announced_at end
    where  account_id = ${accountId} and focus_id = ${id}`;
}

export type FocusEventRow = {
  focusId: number;
  id: number;
  kind: FocusEventKind;
  at: Date;
  who: string | null;
  note: string;
  terms: FocusTerms | null;
};

export async function insertFocusEvent(
  tx: Transaction,
  accountId: AccountId,
  event: { focusId: number; kind: FocusEventKind; userId: number; note: string; terms: FocusTerms | null },
  now: number,
): Promise<void> {
  await tx`
    insert into focus_events (account_id, focus_id, kind, at, user_id, note, terms)
    values (${accountId}, ${event.focusId}, ${event.kind}, to_timestamp(${now / 1000}::double precision),
            ${event.userId}, ${event.note}, ${event.terms === null ? null : tx.json(event.terms)})`;
}

export async function countFocusEvents(db: Db, accountId: AccountId, focusId: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count" from focus_events where account_id = ${accountId} and focus_id = ${focusId}`;
  return row!.count;
}

/** Returns the history of focuses, newest first. */
export async function selectFocusEvents(
  db: Db,
  accountId: AccountId,
  focusIds: readonly number[],
): Promise<FocusEventRow[]> {
  return db<FocusEventRow[]>`
    select e.focus_id as "focusId",
           e.event_id as "id",
           e.kind     as "kind",
           e.at       as "at",
           coalesce(nullif(btrim(u.first_name || ' ' || u.last_name), ''), u.email) as "who",
           e.note     as "note",
           e.terms    as "terms"
    from   focus_events e
    left   join users u on u.account_id = e.account_id and u.user_id = e.user_id
    where  e.account_id = ${accountId} and e.focus_id = any(${focusIds as number[]}::integer[])
    order  by e.event_id desc`;
}

/** Counts groups and focuses. `now`: ms since 1970. */
export async function selectFocusCounts(db: Db, accountId: AccountId, now: number): Promise<FocusCounts> {
  const [row] = await db<FocusCounts[]>`
    select (select count(*)::integer from groups where account_id = ${accountId})                        as "groups",
           count(distinct group_id) filter (where state = 'open')::integer                               as "withFocus",
           count(*) filter (where state = 'open')::integer                                               as "open",
           count(*) filter (where state = 'open' and outlook = 'onTrack')::integer                       as "onTrack",
           count(*) filter (where state = 'open' and outlook = 'needsHelp')::integer                     as "needsHelp",
           count(*) filter (where state = 'open' and outlook is null)::integer                           as "notChecked",
           count(*) filter (where state = 'open'
                              and checked_at <= to_timestamp(${now / 1000}::double precision) - interval '30 days')::integer as "due",
           count(*) filter (where state = 'done')::integer                                               as "done",
           count(*) filter (where state = 'stopped')::integer                                            as "stopped"
    from   focuses
    where  account_id = ${accountId}`;
  return row!;
}

/** What a group does about a KPI or a question, as its people see it. */
export type AnnouncedFocus = {
  state: 'open' | 'done';
  group: string;
  action: string;
  /** The name or text, its language (null: not known, as for KPIs), and the translations. */
  subject: string;
  language: string | null;
  translations: Record<string, string>;
};

/**
 * Returns what the answering page of a person mentions: the newest announcement of the closest of their groups; undefined if there is
 * none. Depends only on the person's groups, never on answers. `days`: how long it is mentioned.
 */
export async function selectAnnouncedFocus(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  days: number,
): Promise<AnnouncedFocus | undefined> {
  const [row] = await db<AnnouncedFocus[]>`
    with recursive own as (
      select group_id, 0 as height
      from   memberships
      where  account_id = ${accountId} and user_id = ${userId} and kind = 'memberOf'
      union
      select g.parent_id, o.height + 1
      from   own o
      join   groups g on g.account_id = ${accountId} and g.group_id = o.group_id
      where  g.parent_id is not null
    )
    select f.state                                 as "state",
           g.name                                  as "group",
           f.action                                as "action",
           coalesce(k.name, q.text)                as "subject",
           q.language                              as "language",
           coalesce(k.translations, q.translations) as "translations"
    from   own o
    join   focuses f on f.account_id = ${accountId} and f.group_id = o.group_id
    join   groups g on g.account_id = f.account_id and g.group_id = f.group_id
    left   join kpis k on k.account_id = f.account_id and k.kpi_id = f.kpi_id
    left   join questions q on q.account_id = f.account_id and q.question_id = f.question_id
    where  f.state in ('open', 'done') and f.announced_at > now() - make_interval(days => ${days})
    order  by o.height, f.announced_at desc, f.focus_id desc
    limit  1`;
  return row;
}
