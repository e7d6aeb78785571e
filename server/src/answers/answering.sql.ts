// SQL of answering through a personal link. Writers: answering.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Fragment } from '../db/db.ts';
import type { Question } from '../questions/questions.sql.ts';
import { nonceLength } from '../sealing/epoch-keys.ts';

export type AnswerLink = {
  accountId: AccountId;
  userId: number;
  week: Week;
  /** The wrapped key of the week. */
  wrapped: Buffer;
  company: string;
  firstName: string;
  language: string;
  timezone: string;
  figures: number;
  distribution: number;
  comments: number;
  isLive: boolean;
  /** Whether the employer handed the link out. */
  isExported: boolean;
  /** Whether it was opened with a printed card. */
  isFromCard: boolean;
  /** The name of the person who handed it out, if known. */
  handedBy: string | null;
  copies: KeyCopies;
};

/**
 * Where there are copies of the key that, together with older copies of the database, can decrypt the answers of a closed week: in
 * the database itself, or 'elsewhere', because the key was exported or a stopped process still has a copy.
 */
export type KeyCopies = 'none' | 'database' | 'elsewhere';

/**
 * Returns the person and week of a link; undefined if the week is closed or the person inactive. `process`: the name of this process
 * among those that have the key.
 */
export async function selectAnswerLink(
  db: Db,
  hash: Uint8Array,
  process: string,
): Promise<AnswerLink | undefined> {
  const [row] = await db<AnswerLink[]>`
    select l.account_id                                  as "accountId",
           l.user_id                                     as "userId",
           l.week                                        as "week",
           k.wrapped                                     as "wrapped",
           a.name                                        as "company",
           u.first_name                                  as "firstName",
           coalesce(u.language, a.language)              as "language",
           a.timezone                                    as "timezone",
           w.threshold                                   as "figures",
           w.distribution_threshold                            as "distribution",
           w.comment_threshold                           as "comments",
           w.is_live                                     as "isLive",
           l.is_exported                                 as "isExported",
           l.from_card                                   as "isFromCard",
           nullif(btrim(h.first_name || ' ' || h.last_name), '') as "handedBy",
           case when k.in_database then 'database'
                when c.exported_at > coalesce(c.exported_until, '-infinity')
                  or exists (select 1 from key_processes p
                             where  p.name <> ${process} and p.seen_at < now() - interval '10 minutes') then 'elsewhere'
                else 'none' end                          as "copies"
    from   links l
    join   users u on u.account_id = l.account_id and u.user_id = l.user_id
    join   accounts a on a.account_id = l.account_id
    join   weeks w on w.account_id = l.account_id and w.week = l.week
    join   week_keys k on k.account_id = l.account_id and k.week = l.week
    left   join users h on h.account_id = l.account_id and h.user_id = l.handed_by
    cross  join answer_keys c
    where  l.hash = ${hash} and u.active and w.closed_at is null`;
  return row;
}

/** What is needed to save an answer. Everything else about the link is checked while saving (upsertAnswers). */
export type LinkKeyRow = Pick<AnswerLink, 'accountId' | 'userId' | 'week' | 'wrapped' | 'isExported'>;

/** Returns the person, week and wrapped key of each link, in the order of the hashes; undefined for invalid links. */
export async function selectLinkKeys(db: Db, hashes: Buffer[]): Promise<(LinkKeyRow | undefined)[]> {
  // A separate look-up for each, because a plan from when the table was empty would read the whole table.
  const link = (await isOnCitus(db))
    ? db`join links l on l.hash = decode(h.hash, 'base64')`
    : db`
    cross  join lateral (select account_id, user_id, week, is_exported
                         from   links
                         where  hash = decode(h.hash, 'base64')
                         limit  1) l`;
  const rows = await db<(LinkKeyRow & { place: number })[]>`
    select h.place::integer as "place",
           l.account_id     as "accountId",
           l.user_id        as "userId",
           l.week           as "week",
           k.wrapped        as "wrapped",
           l.is_exported    as "isExported"
    from   unnest((select ${inBase64(hashes)}::text[])) with ordinality as h(hash, place)
    ${link}
    join   week_keys k on k.account_id = l.account_id and k.week = l.week`;
  const found = new Map(rows.map(({ place, ...row }) => [place, row]));
  return hashes.map((_, i) => found.get(i + 1));
}

/** Converts bytes to base64, because arrays of bytes are sent to the database as text. */
const inBase64 = (many: (Uint8Array | null)[]) =>
  many.map((one) =>
    one === null ? null : Buffer.from(one.buffer, one.byteOffset, one.length).toString('base64'),
  );

/** A breakdown, and the one or two attributes that it divides people by. `bands`: the limits in years; null: each value is a segment. */
export type AskedBreakdown = { name: string; by: { attribute: string; bands: number[] | null }[] };

/** Returns the breakdowns that can be shown for a week in which a person is asked. */
export async function selectAskedBreakdowns(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: string,
): Promise<AskedBreakdown[]> {
  return db<AskedBreakdown[]>`
    select b.name as "name",
           (select json_agg(json_build_object('attribute', p.attribute, 'bands', p.bands)
                            order by array_position(b.cross_of, p.breakdown_id))
            from   breakdowns p
            where  p.account_id = ${accountId}
              and  p.breakdown_id = any(coalesce(b.cross_of, array[b.breakdown_id]))) as "by"
    from   breakdowns b
    where  b.account_id = ${accountId} and (b.closed_at is null or b.closed_at >= ${week}::date - 1)
      and  exists (select 1 from assignments s
                   where  s.account_id = ${accountId} and s.week = ${week} and s.respondent = ${respondent}
                     and  s.sealed_segments is not null)
    order  by b.position`;
}

/** Returns the questions a person is asked in a week, each once, in the order of the rounds and their questions. */
export async function selectAskedQuestions(
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
           asked.allowed  as "allowsNotApplicable",
           q.retired_at   as "retiredAt"
    from   (select o.question_id, min(array[r.round_id, o.place::integer]) as place,
                   bool_or(o.question_id = any(r.not_applicable_ids)) as allowed
            from   assignments s
            join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id,
                   unnest(r.question_ids) with ordinality as o(question_id, place)
            where  s.account_id = ${accountId} and s.week = ${week} and s.respondent = ${respondent}
            group  by o.question_id) asked
    join   questions q on q.account_id = ${accountId} and q.question_id = asked.question_id
    order  by asked.place`;
}

/** The sealed answers of a person in a week. `given`: with links. `imported`: from history files. */
export type SealedAnswers = { given: Buffer | null; imported: Buffer[] };

/** Returns the sealed answers of a person in a week. */
export async function selectSealedOfPerson(
  db: Db,
  accountId: AccountId,
  week: Week,
  respondent: string,
): Promise<SealedAnswers> {
  const rows = await db<{ importBatch: number; sealed: Buffer }[]>`
    select import_batch as "importBatch", sealed as "sealed"
    from   answers
    where  account_id = ${accountId} and week = ${week} and respondent = ${respondent}
    order  by import_batch`;
  return {
    given: rows.find(({ importBatch }) => importBatch === 0)?.sealed ?? null,
    imported: rows.filter(({ importBatch }) => importBatch > 0).map(({ sealed }) => sealed),
  };
}

/**
 * Answers of a person to save. `questionIds`: the questions answered now. `sealed`: in base64. `before`: the sealed answers that these
 * replace.
 */
export type Keeping = {
  hash: Buffer;
  respondent: string;
  questionIds: number[];
  sealed: string;
  before: SealedAnswers;
};

/**
 * The outcome of saving answers. They are saved (`isKept`), or refused because some questions are not asked (`unasked`) or the link
 * is invalid (not `isOpen`). If none of these, the person's answers have changed in the meantime and differ from `before`.
 */
export type KeptOutcome = { isOpen: boolean; unasked: number[]; isKept: boolean };

/**
 * Saves the answers of several people in a week in one statement. Each replaces the answers in `before` if these are unchanged. No
 * person can be in the list twice. The week is locked, so closing it waits for this statement, and later answers find the week
 * closed. So every answer is either counted or refused. Returns the outcome for each person.
 */
export async function upsertAnswers(
  db: Db,
  { accountId, week }: { accountId: AccountId; week: Week },
  all: Keeping[],
): Promise<KeptOutcome[]> {
  const questions = all.flatMap(({ questionIds }, i) => questionIds.map((id) => ({ place: i + 1, id })));
  const onCitus = await isOnCitus(db);
  const [row] = await db<
    { kept: number; others: (Omit<KeptOutcome, 'isKept'> & { place: number })[] | null }[]
  >`
    with open_week as (select 1
                       from   weeks
                       where  account_id = ${accountId} and week = ${week} and closed_at is null
                       for    share),
         given as (select place::integer, respondent, imported,
                          decode(hash, 'base64') as hash, decode(sealed, 'base64') as sealed, decode(nonce, 'base64') as nonce
                   from   unnest((select ${listOf(all, ({ hash }) => hash.toString('base64'))}::text[]),
                                 (select ${listOf(all, ({ respondent }) => respondent)}::uuid[]),
                                 (select ${listOf(all, ({ sealed }) => sealed)}::text[]),
                                 (select ${listOf(all, ({ before }) => nonceIn(before.given))}::text[]),
                                 (select ${listOf(all, ({ before }) => before.imported.length)}::integer[]))
                          with ordinality as g(hash, respondent, sealed, nonce, imported, place)),
         -- A separate look-up for each, because a plan from when the tables were empty would read the whole tables.
         open as (select g.*
                  from   open_week, given g,
                  lateral (select l.account_id, l.week
                           from   links l
                           join   users u on u.account_id = l.account_id and u.user_id = l.user_id
                           where  l.hash = g.hash and u.active ${onCitus ? db`and l.account_id = ${accountId}` : db``}
                           limit  1) link
                  where  link.account_id = ${accountId} and link.week = ${week}),
         unasked as (select q.place, array_agg(q.id) as ids
                     from   unnest((select ${listOf(questions, ({ place }) => place)}::integer[]),
                                   (select ${listOf(questions, ({ id }) => id)}::integer[])) as q(place, id)
                     join   open o on o.place = q.place
                     where  0 = (select count(*)
                                 from   assignments s
                                 join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id
                                 where  s.account_id = ${accountId} and s.week = ${week}
                                   and  s.respondent = o.respondent and q.id = any(r.question_ids))
                     group  by q.place),
         ${keptAnswers(db, { accountId, week }, onCitus)}
    select count(k.respondent)::integer as "kept",
           json_agg(json_build_object('place', g.place, 'isOpen', o.place is not null, 'unasked', coalesce(n.ids, '{}')))
             filter (where k.respondent is null) as "others"
    from   given g
    left   join open o on o.place = g.place
    left   join unasked n on n.place = g.place
    left   join kept k on k.respondent = g.respondent`;
  const { kept, others } = row!;
  const outcomes = all.map((): KeptOutcome => ({ isOpen: true, unasked: [], isKept: true }));
  for (const { place, ...other } of others ?? []) outcomes[place - 1] = { ...other, isKept: false };
  if (kept + (others?.length ?? 0) !== all.length) throw new Error('Some answers have no outcome.');
  return outcomes;
}

/**
 * The part of `upsertAnswers` that writes the answers of `open` which can be kept. Citus refuses subqueries in the condition of a conflict, so
 * there it is two statements. Someone whose answers were deleted meanwhile is then not kept, and is asked again by the caller.
 */
function keptAnswers(
  db: Db,
  { accountId, week }: { accountId: AccountId; week: Week },
  onCitus: boolean,
): Fragment {
  const canBeKept = db`
    not exists (select 1 from unasked u where u.place = o.place)
    and o.imported = (select count(*)
                      from   answers i
                      where  i.account_id = ${accountId} and i.week = ${week}
                        and  i.respondent = o.respondent and i.import_batch > 0)`;
  const newRows = db`
    insert into answers (account_id, week, respondent, import_batch, sealed)
    select ${accountId}, ${week}, o.respondent, 0, o.sealed
    from   open o
    where  ${canBeKept} ${onCitus ? db`and o.nonce is null` : db``}
    order  by o.respondent -- prevents deadlocks
    on conflict (account_id, week, respondent, import_batch)`;
  if (!onCitus)
    return db`
      kept as (${newRows} do update
               set    sealed = excluded.sealed
               where  (answers.respondent, substr(answers.sealed, 1, ${nonceLength})) in (select g.respondent, g.nonce from given g)
               returning respondent)`;
  return db`
    changed as (update answers a
                set    sealed = o.sealed
                from   open o
                where  a.account_id = ${accountId} and a.week = ${week} and a.respondent = o.respondent and a.import_batch = 0
                  and  substr(a.sealed, 1, ${nonceLength}) = o.nonce and ${canBeKept}
                returning a.respondent),
    added as (${newRows} do nothing returning respondent),
    kept as (select respondent from changed union all select respondent from added)`;
}

/**
 * Returns an array for the database: `{a,b}`. The items need no quotes. Most statements pass arrays to the driver, which quotes each item
 * and takes several times as long.
 */
const listOf = <T>(all: T[], itemOf: (one: T) => string | number): string => `{${all.map(itemOf).join(',')}}`;

/** Sealed data starts with a unique nonce, so comparing nonces is enough. */
const nonceIn = (sealed: Buffer | null): string => sealed?.toString('base64', 0, nonceLength) ?? 'null';
