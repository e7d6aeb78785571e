// SQL of the flat feed: one row per group, week and metric. Rows are ordered by group first, so that the readings of a group are read once for
// all its KPIs or questions. All of them are read in one transaction.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { inFetches } from '../../db/fetches.ts';
import { batch, groupsInScope, type GroupScope } from './results.sql.ts';
import type { Window } from './window.ts';

export type StoredFeedRow = {
  metricId: string;
  groupId: number;
  week: Week;
  value: number | null;
  answers: number | null;
  handedOut: boolean;
  /** For response rates: how many people were asked, and how many of them answered. */
  asked: number | null;
  answered: number | null;
  /** For questions: how many people chose "not applicable", and of how many. */
  notApplicable: number | null;
  notApplicableOf: number | null;
  /** Whether the week is still open, with nothing to show yet. */
  isOpen: boolean;
};

/** Joins what open weeks ask in a scope, if no figures of the week are shown yet. */
const askedInOpenWeeks = (db: Db, accountId: AccountId, { first, last }: Window) => db`
    join   asked a on a.account_id = ${accountId} and a.group_id = s.group_id
                  and a.week between ${first} and ${last}
    join   weeks w on w.account_id = ${accountId} and w.week = a.week and w.closed_at is null and w.shown_at is null`;

/** Yields KPI values, ordered by group, KPI and week. For open weeks, the KPIs with a question that is asked. */
export function selectKpiFeed(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  { first, last }: Window,
): AsyncIterable<StoredFeedRow[]> {
  return inFetches(
    db,
    db<StoredFeedRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select v.kpi_id           as "metricId",
           v.group_id         as "groupId",
           v.week             as "week",
           v.value            as "value",
           null::integer      as "answers",
           v.handed_out       as "handedOut",
           null::integer      as "asked",
           null::integer      as "answered",
           null::integer      as "notApplicable",
           null::integer      as "notApplicableOf",
           false              as "isOpen"
    from   scope s
    join   kpi_values v on v.account_id = ${accountId} and v.group_id = s.group_id
                       and v.week between ${first} and ${last}
    union  all
    select distinct q.kpi_id, a.group_id, a.week, null::double precision, null::integer, false,
           null::integer, null::integer, null::integer, null::integer, true
    from   scope s
    ${askedInOpenWeeks(db, accountId, { first, last })}
    join   kpi_questions q on q.account_id = ${accountId} and q.question_id = any(a.question_ids)
    order  by 2, 1, 3`,
    batch,
  );
}

/** Yields response rates, ordered by group and week. For open weeks, the groups that are asked. */
export function selectRateFeed(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  { first, last }: Window,
): AsyncIterable<StoredFeedRow[]> {
  return inFetches(
    db,
    db<StoredFeedRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select ''                as "metricId",
           r.group_id        as "groupId",
           r.week            as "week",
           r.value           as "value",
           null::integer     as "answers",
           r.handed_out      as "handedOut",
           r.asked           as "asked",
           r.answered        as "answered",
           null::integer     as "notApplicable",
           null::integer     as "notApplicableOf",
           false             as "isOpen"
    from   scope s
    join   response_rates r on r.account_id = ${accountId} and r.group_id = s.group_id
                           and r.week between ${first} and ${last}
    union  all
    select '', a.group_id, a.week, null::double precision, null::integer, false,
           null::integer, null::integer, null::integer, null::integer, true
    from   scope s
    ${askedInOpenWeeks(db, accountId, { first, last })}
    order  by 2, 3`,
    batch,
  );
}

/** Yields results of questions, ordered by group, question and week. For open weeks, the questions that are asked. */
export function selectQuestionFeed(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  { first, last }: Window,
): AsyncIterable<StoredFeedRow[]> {
  return inFetches(
    db,
    db<StoredFeedRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select r.question_id::text as "metricId",
           r.group_id          as "groupId",
           r.week              as "week",
           r.value             as "value",
           r.answers           as "answers",
           r.handed_out        as "handedOut",
           null::integer       as "asked",
           null::integer       as "answered",
           r.not_applicable    as "notApplicable",
           r.not_applicable_of as "notApplicableOf",
           false               as "isOpen",
           r.question_id       as "order"
    from   scope s
    join   results r on r.account_id = ${accountId} and r.group_id = s.group_id
                    and r.week between ${first} and ${last}
    union  all
    select q::text, a.group_id, a.week, null::double precision, null::integer, false,
           null::integer, null::integer, null::integer, null::integer, true, q
    from   scope s
    ${askedInOpenWeeks(db, accountId, { first, last })}
    cross  join unnest(a.question_ids) as q
    order  by 2, 12, 3`,
    batch,
  );
}

/** `breakdown`: the name of a segment's breakdown; null for groups. */
export type NamedGroup = { id: number; externalId: string | null; name: string; breakdown: string | null };

/** Returns the groups or segments of a scope with their names. */
export async function selectNames(db: Db, accountId: AccountId, scope: GroupScope): Promise<NamedGroup[]> {
  return db<NamedGroup[]>`
    with ${groupsInScope(db, accountId, scope)}
    select s.group_id as "id", g.external_id as "externalId", g.name as "name", null::text as "breakdown"
    from   scope s
    join   groups g on g.account_id = ${accountId} and g.group_id = s.group_id
    union  all
    select s.group_id, null, b.name || ': ' || own.value, b.name
    from   scope s
    join   segments own on own.account_id = ${accountId} and own.segment_id = s.group_id
    join   breakdowns b on b.account_id = ${accountId} and b.breakdown_id = own.breakdown_id
    order  by 1`;
}
