// SQL of answering by a personal link. Writers: answering.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';
import type { Question } from '../questions/questions.ts';
import { nonceLength } from '../sealing/week-key.ts';

export type LinkRow = {
  accountId: AccountId;
  userId: number;
  week: Week;
  /** The week's key, wrapped. */
  wrapped: Buffer;
  company: string;
  firstName: string;
  language: string;
  timezone: string;
  figures: number;
  spread: number;
  comments: number;
  isLive: boolean;
  /** The employer has handed the link out. */
  isExported: boolean;
  /** Who handed it out, where that is known. */
  handedBy: string | null;
};

/** Which person a link is for, if it opens anything: the week is open, and the person active. */
export async function selectLink(db: Db, hash: Uint8Array): Promise<LinkRow | undefined> {
  const [row] = await db<LinkRow[]>`
    select l.account_id                                  as "accountId",
           l.user_id                                     as "userId",
           l.week                                        as "week",
           k.wrapped                                     as "wrapped",
           a.name                                        as "company",
           u.first_name                                  as "firstName",
           coalesce(u.language, a.language)              as "language",
           a.timezone                                    as "timezone",
           w.threshold                                   as "figures",
           w.spread_threshold                            as "spread",
           w.comment_threshold                           as "comments",
           w.is_live                                     as "isLive",
           l.is_exported                                 as "isExported",
           nullif(btrim(h.first_name || ' ' || h.last_name), '') as "handedBy"
    from   links l
    join   users u on u.account_id = l.account_id and u.user_id = l.user_id
    join   accounts a on a.account_id = l.account_id
    join   weeks w on w.account_id = l.account_id and w.week = l.week
    join   week_keys k on k.account_id = l.account_id and k.week = l.week
    left   join users h on h.account_id = l.account_id and h.user_id = l.handed_by
    where  l.hash = ${hash} and u.active and w.closed_at is null`;
  return row;
}

/** What it takes to keep an answer: the rest of what a link opens is looked at when it is kept (upsertAnswers). */
export type LinkKeyRow = Pick<LinkRow, 'accountId' | 'userId' | 'week' | 'wrapped' | 'isExported'>;

/** Which person and week a link is for, and the week's key. */
export async function selectLinkKey(db: Db, hash: Uint8Array): Promise<LinkKeyRow | undefined> {
  const [row] = await db<LinkKeyRow[]>`
    select l.account_id  as "accountId",
           l.user_id     as "userId",
           l.week        as "week",
           k.wrapped     as "wrapped",
           l.is_exported as "isExported"
    from   links l
    join   week_keys k on k.account_id = l.account_id and k.week = l.week
    where  l.hash = ${hash}`;
  return row;
}

/** What a person is asked in a week, in the order of the rounds and of their questions, each once. */
export async function selectAsked(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: string,
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

/** What a person has answered in a week, sealed: by a link, and in parts that come from a history file. */
export type SealedAnswers = { given: Buffer | null; imported: Buffer[] };

/** What a person has answered in a week so far. */
export async function selectSealed(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: string,
): Promise<SealedAnswers> {
  const rows = await db<{ part: number; sealed: Buffer }[]>`
    select part as "part", sealed as "sealed"
    from   answers
    where  account_id = ${accountId} and week = ${week} and respondent = ${respondent}
    order  by part`;
  return {
    given: rows.find(({ part }) => part === 0)?.sealed ?? null,
    imported: rows.filter(({ part }) => part > 0).map(({ sealed }) => sealed),
  };
}

/**
 * What became of answers: kept; refused, as some are of questions that are not asked; the link opens nothing; or none of
 * these, as the person's answers are not those that `before` says: somebody has answered meanwhile.
 */
export type Outcome = { isOpen: boolean; unasked: number[]; isKept: boolean };

/**
 * Keeps a person's answers in place of those before, in one statement, if they are still those. The week is locked against
 * closing meanwhile: closing waits for it, and what comes later finds the week closed. So an answer is counted or refused.
 * `questionIds`: what is answered; `before`: what was there, as it was sealed.
 */
export async function upsertAnswers(
  db: Db,
  hash: Uint8Array,
  {
    respondent,
    questionIds,
    sealed,
    before,
  }: { respondent: string; questionIds: number[]; sealed: Buffer; before: SealedAnswers },
): Promise<Outcome> {
  const [row] = await db<{ isOpen: boolean; unasked: number[] | null; isKept: boolean }[]>`
    with link as (select l.account_id, l.week
                  from   links l
                  join   users u on u.account_id = l.account_id and u.user_id = l.user_id
                  join   weeks w on w.account_id = l.account_id and w.week = l.week
                  where  l.hash = ${hash} and u.active and w.closed_at is null
                  for    share of w),
         unasked as (select q.id
                     from   unnest(${questionIds}::integer[]) as q(id), link
                     where  not exists (select 1
                                        from   assignments s
                                        join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id
                                        where  s.account_id = link.account_id and s.week = link.week
                                          and  s.respondent = ${respondent} and q.id = any(r.question_ids))),
         kept as (insert into answers (account_id, week, respondent, part, sealed)
                  select link.account_id, link.week, ${respondent}, 0, ${sealed}
                  from   link
                  where  not exists (select 1 from unasked)
                    and  ${before.imported.length} = (select count(*)
                                                      from   answers o
                                                      where  o.account_id = link.account_id and o.week = link.week
                                                        and  o.respondent = ${respondent} and o.part > 0)
                  on conflict (account_id, week, respondent, part) do update
                  set    sealed = excluded.sealed
                  -- What is sealed begins with a nonce, which is never used again.
                  where  substr(answers.sealed, 1, ${nonceLength}) = ${before.given && before.given.subarray(0, nonceLength)}
                  returning 1)
    select exists (select 1 from link)               as "isOpen",
           (select array_agg(id) from unasked)       as "unasked",
           exists (select 1 from kept)               as "isKept"`;
  return { isOpen: row!.isOpen, unasked: row!.unasked ?? [], isKept: row!.isKept };
}
