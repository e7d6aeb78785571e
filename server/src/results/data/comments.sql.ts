// SQL of reading published comments. Every statement starts from existing groups, so the comments of a deleted group disappear
// from every response immediately.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type Db, inBatches } from '../../db/db.ts';
import { batch, groupsInScope, type GroupScope } from './results.sql.ts';
import type { Window } from './window.ts';

export type CommentRow = { questionId: number; groupId: number; week: Week; text: string };
/** `handedOut`: whether the group's comments on the question are marked as handed out (P14). */
export type MarkedComment = CommentRow & { handedOut: boolean };

/** `questionIds`: undefined means all. */
export type CommentScope = { window: Window; questionIds: number[] | undefined };
export type Span = { offset: number; limit: number };

/** The columns of a MarkedComment. */
const marked = (db: Db) => db`
           g.question_id as "questionId",
           g.group_id    as "groupId",
           g.week        as "week",
           c.text        as "text",
           g.handed_out  as "handedOut"`;

const one = (groupId: number): GroupScope => ({ groupId, withSubgroups: false });

/** Yields the comments shown in the groups by question, group and week, in their published order. */
export function selectComments(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  window: Window,
  questionIds: number[] | undefined,
): AsyncIterable<CommentRow[]> {
  return inBatches(
    db<CommentRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select g.question_id as "questionId",
           g.group_id    as "groupId",
           g.week        as "week",
           c.text        as "text"
    from   scope s
    join   comment_groups g on g.account_id = ${accountId} and g.group_id = s.group_id
                           and g.week between ${window.first} and ${window.last}
    join   comments c on c.account_id = ${accountId} and c.week = g.week and c.question_id = g.question_id
                     and c.position = g.position
    where  ${questionIds ? db`g.question_id = any(${questionIds})` : true}
    order  by g.question_id, g.group_id, g.week, g.position`,
    batch,
  );
}

/** The comments shown in a group that exists: g is the group's row. */
const shownIn = (
  db: Db,
  accountId: AccountId,
  groupId: number,
  { window: { first, last }, questionIds }: CommentScope,
) => db`
      from   comment_groups g
      where  g.account_id = ${accountId} and g.group_id = ${groupId} and g.week between ${first} and ${last}
        and  ${questionIds ? db`g.question_id = any(${questionIds})` : true}
        and  exists (select 1 from groups e where e.account_id = ${accountId} and e.group_id = ${groupId})`;

/**
 * Returns the newest comments shown in a group, with questions mixed within a week, and the number of all. Their texts are read last:
 * reading those of all comments of a company to return a few takes a quarter of a second.
 */
export async function selectNewestComments(
  db: Db,
  accountId: AccountId,
  groupId: number,
  scope: CommentScope,
  limit: number,
): Promise<{ total: number; rows: MarkedComment[] }> {
  const [counted, rows] = await Promise.all([
    db<{ total: number }[]>`
    select count(*)::integer as "total" ${shownIn(db, accountId, groupId, scope)}`,
    db<MarkedComment[]>`
    with g as (
      select g.* ${shownIn(db, accountId, groupId, scope)}
      order  by g.week desc, g.position, g.question_id
      limit  ${limit}
    )
    select ${marked(db)}
    from   g
    join   comments c on c.account_id = ${accountId} and c.week = g.week and c.question_id = g.question_id
                     and c.position = g.position
    order  by g.week desc, g.position, g.question_id`,
  ]);
  return { total: counted[0]!.total, rows };
}

export type CellCount = { questionId: number; week: Week; comments: number };

/** Returns how many comments are shown in a group, by question and week. */
export async function selectCommentCounts(
  db: Db,
  accountId: AccountId,
  groupId: number,
  { window, questionIds }: CommentScope,
): Promise<CellCount[]> {
  return db<CellCount[]>`
    with ${groupsInScope(db, accountId, one(groupId))}
    select g.question_id as "questionId", g.week as "week", count(*)::integer as "comments"
    from   scope s
    join   comment_groups g on g.account_id = ${accountId} and g.group_id = s.group_id
                           and g.week between ${window.first} and ${window.last}
    where  ${questionIds ? db`g.question_id = any(${questionIds})` : true}
    group  by g.question_id, g.week`;
}

/**
 * Returns the comments shown in a group, or a part of them, question by question in the order of `questionIds`, newest week first. A
 * statement that has not run yet, so that it can also be read in batches.
 */
export const selectCommentPage = (
  db: Db,
  accountId: AccountId,
  groupId: number,
  { window, questionIds }: { window: Window; questionIds: number[] },
  span?: Span,
) => db<MarkedComment[]>`
    with ${groupsInScope(db, accountId, one(groupId))}, g as (
      select g.*, array_position(${questionIds}::integer[], g.question_id) as card
      from   scope s
      join   comment_groups g on g.account_id = ${accountId} and g.group_id = s.group_id
                             and g.week between ${window.first} and ${window.last}
      where  g.question_id = any(${questionIds})
      order  by card, g.week desc, g.position
      ${span ? db`offset ${span.offset} limit ${span.limit}` : db``}
    )
    select ${marked(db)}
    from   g
    join   comments c on c.account_id = ${accountId} and c.week = g.week and c.question_id = g.question_id
                     and c.position = g.position
    order  by g.card, g.week desc, g.position`;

/** Yields all of them in the same order. */
export const selectCommentsByQuestion = (
  db: Db,
  accountId: AccountId,
  groupId: number,
  scope: { window: Window; questionIds: number[] },
): AsyncIterable<MarkedComment[]> => inBatches(selectCommentPage(db, accountId, groupId, scope), batch);

/** `isHere`: whether the comment is shown in the group, not only in the company. */
export type ComparedComment = { questionId: number; text: string; isHere: boolean };

/**
 * Returns the comments that are shown in a group or in its company, each once: at most `most` of them, the newest weeks first, and
 * within a week in their random order.
 */
export async function selectComparedComments(
  db: Db,
  accountId: AccountId,
  { groupId, companyId }: { groupId: number; companyId: number },
  { window: { first, last }, questionIds }: CommentScope,
  most: number,
): Promise<ComparedComment[]> {
  return db<ComparedComment[]>`
    with shown as (
      select g.week, g.question_id, g.position, bool_or(g.group_id = ${groupId}) as is_here
      from   groups o
      join   comment_groups g on g.account_id = o.account_id and g.group_id = o.group_id
                             and g.week between ${first} and ${last}
      where  o.account_id = ${accountId} and o.group_id = any(${[groupId, companyId]})
        and  ${questionIds ? db`g.question_id = any(${questionIds})` : true}
      group  by g.week, g.question_id, g.position
      order  by g.week desc, g.position, g.question_id
      limit  ${most}
    )
    select s.question_id as "questionId", c.text as "text", s.is_here as "isHere"
    from   shown s
    join   comments c on c.account_id = ${accountId} and c.week = s.week and c.question_id = s.question_id
                     and c.position = s.position
    order  by c.week, c.question_id, c.position`;
}

/** Returns the version of an account, which every change of its results raises. */
export async function selectVersion(db: Db, accountId: AccountId): Promise<string | undefined> {
  const [account] = await db<{ version: string }[]>`
    select version::text as "version" from accounts where account_id = ${accountId}`;
  return account?.version;
}
