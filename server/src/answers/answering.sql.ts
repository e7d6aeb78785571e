// SQL of answering by a personal link. Writers: answering.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';
import type { Question } from '../questions/questions.ts';

export type LinkRow = {
  accountId: AccountId;
  userId: number;
  week: Week;
  respondentKey: Buffer;
  person: string;
  company: string;
  firstName: string;
  language: string;
  timezone: string;
  figures: number;
  spread: number;
  comments: number;
  isLive: boolean;
  isExported: boolean;
};

/** Whom a link is for, if it opens anything: the week is open, and the person active. */
export async function selectLink(db: Db, hash: Uint8Array): Promise<LinkRow | undefined> {
  const [row] = await db<LinkRow[]>`
    select l.account_id                                  as "accountId",
           l.user_id                                     as "userId",
           l.week                                        as "week",
           w.respondent_key                              as "respondentKey",
           person_of(u.external_id, u.user_id) as "person",
           a.name                                        as "company",
           u.first_name                                  as "firstName",
           coalesce(u.language, a.language)              as "language",
           a.timezone                                    as "timezone",
           w.threshold                                   as "figures",
           w.spread_threshold                            as "spread",
           w.comment_threshold                           as "comments",
           w.is_live                                     as "isLive",
           l.is_exported                                 as "isExported"
    from   links l
    join   users u on u.account_id = l.account_id and u.user_id = l.user_id
    join   accounts a on a.account_id = l.account_id
    join   weeks w on w.account_id = l.account_id and w.week = l.week
    where  l.hash = ${hash} and u.active and w.closed_at is null`;
  return row;
}

/** What a person is asked in a week, in the order of the rounds and of their questions, each once. */
export async function selectAsked(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: number,
): Promise<Question[]> {
  return db<Question[]>`
    select q.question_id  as "id",
           q.key          as "key",
           q.type         as "type",
           q.text         as "text",
           q.language     as "language",
           q.translations as "translations",
           q.options      as "options",
           q.retired_at   as "retiredAt"
    from   (select o.question_id, min(array[r.round_id, o.place::integer]) as place
            from   assignments s
            join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id,
                   unnest(r.question_ids) with ordinality as o(question_id, place)
            where  s.account_id = ${accountId} and s.week = ${week} and s.respondent = ${respondent}
            group  by o.question_id) asked
    join   questions q on q.account_id = ${accountId} and q.question_id = asked.question_id
    order  by asked.place`;
}

export type GivenRow = {
  questionId: number;
  value: number | null;
  choices: string[] | null;
  comment: string | null;
  skipped: boolean;
};

/** What a person has answered in a week so far. */
export async function selectGiven(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: number,
): Promise<GivenRow[]> {
  return db<GivenRow[]>`
    select question_id as "questionId",
           value       as "value",
           choices     as "choices",
           comment     as "comment",
           skipped     as "skipped"
    from   answers
    where  account_id = ${accountId} and week = ${week} and respondent = ${respondent}`;
}

/** What became of answers: kept; refused, as some are of questions that are not asked; or the link opens nothing. */
export type Outcome = { isOpen: boolean; unasked: number[] };

/**
 * Keeps answers in place of those that the person gave before: all of them or none, in one statement. The week is locked against closing meanwhile: closing waits for it, and what comes later finds
 * the week closed. So an answer is counted or refused. The number of the person is that of respondentOf (rounds.ts).
 */
export async function upsertAnswers(db: Db, hash: Uint8Array, given: GivenRow[]): Promise<Outcome> {
  const [row] = await db<{ isOpen: boolean; unasked: number[] | null }[]>`
    with given as (select *
                   from   jsonb_to_recordset(${db.json(given)})
                          as g("questionId" integer, value smallint, choices jsonb, comment text, skipped boolean)),
         link as (select l.account_id, l.week, w.respondent_key,
                         person_of(u.external_id, u.user_id) as person
                  from   links l
                  join   users u on u.account_id = l.account_id and u.user_id = l.user_id
                  join   weeks w on w.account_id = l.account_id and w.week = l.week
                  where  l.hash = ${hash} and u.active and w.closed_at is null
                  for    share of w),
         me as (select account_id, week, respondent_of(respondent_key, person) as respondent from link),
         unasked as (select g."questionId" as id
                     from   given g, me
                     where  not exists (select 1
                                        from   assignments s
                                        join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id
                                        where  s.account_id = me.account_id and s.week = me.week
                                          and  s.respondent = me.respondent and g."questionId" = any(r.question_ids))),
         kept as (insert into answers (account_id, week, question_id, respondent, value, choices, comment, skipped)
                  select me.account_id, me.week, g."questionId", me.respondent, g.value,
                         case when g.choices is not null
                              then array(select jsonb_array_elements_text(g.choices)) end,
                         g.comment, g.skipped
                  from   me, given g
                  where  not exists (select 1 from unasked)
                  on conflict (account_id, week, question_id, respondent) do update
                  set    value = excluded.value, choices = excluded.choices, comment = excluded.comment,
                         skipped = excluded.skipped)
    select exists (select 1 from me)                as "isOpen",
           (select array_agg(id) from unasked)      as "unasked"`;
  return { isOpen: row!.isOpen, unasked: row!.unasked ?? [] };
}
