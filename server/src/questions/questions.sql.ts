// SQL of questions and KPIs. Writers: questions.ts.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** An option of a choice question; translations: language to text. */
export type AnswerOption = { id: string; text: string; translations?: Record<string, string> };

export type Question = {
  id: number;
  key: string;
  type: QuestionType;
  text: string;
  language: string;
  translations: Record<string, string>;
  options: AnswerOption[];
  /** Whether people can answer it with "not applicable": in rounds that open from now on, or, of a question that is asked, there. */
  allowsNotApplicable: boolean;
  /** When it was retired; null if it is in use. */
  retiredAt: Date | null;
};

/** Without `allowsNotApplicable`, an existing question keeps what it has, and a new one doesn't allow it. */
export type NewQuestion = Omit<Question, 'id' | 'retiredAt' | 'allowsNotApplicable'> & {
  allowsNotApplicable?: boolean;
};

export type Kpi = {
  id: string;
  /** Its name in the data interface. */
  name: string;
  /** Language to name. */
  translations: Record<string, string>;
  imageUrl: string | null;
  questionIds: number[];
};

/** Returns all questions of the account, ordered by id. */
export async function selectQuestions(db: Db, accountId: AccountId): Promise<Question[]> {
  return db<Question[]>`
    select question_id  as "id",
           key          as "key",
           type         as "type",
           text         as "text",
           language     as "language",
           translations as "translations",
           options      as "options",
           allows_not_applicable as "allowsNotApplicable",
           retired_at   as "retiredAt"
    from   questions
    where  account_id = ${accountId}
    order  by question_id`;
}

/** Creates questions in the given order and returns their ids. */
export async function insertQuestions(
  tx: Transaction,
  accountId: AccountId,
  questions: NewQuestion[],
): Promise<number[]> {
  if (questions.length === 0) return [];
  const rows = await tx<{ id: number }[]>`
    insert into questions (account_id, key, type, text, language, translations, options, allows_not_applicable)
    select ${accountId}, q.key, q.type, q.text, q.language, q.translations, q.options,
           coalesce(q."allowsNotApplicable", false)
    from   rows from (jsonb_to_recordset(${tx.json(questions)})
                      as (key text, type smallint, text text, language text, translations jsonb, options json,
                          "allowsNotApplicable" boolean))
           with ordinality q
    order  by q.ordinality
    returning question_id as id`;
  return rows.map(({ id }) => id);
}

/** Updates the texts of questions, and whether they allow "not applicable". The type of a question never changes. */
export async function updateQuestions(
  tx: Transaction,
  accountId: AccountId,
  questions: (NewQuestion & { id: number })[],
): Promise<void> {
  if (questions.length === 0) return;
  await tx`
    update questions q
    set    text = s.text, language = s.language, translations = s.translations, options = s.options,
           allows_not_applicable = coalesce(s."allowsNotApplicable", q.allows_not_applicable)
    from   jsonb_to_recordset(${tx.json(questions)})
           as s(id integer, text text, language text, translations jsonb, options json, "allowsNotApplicable" boolean)
    where  q.account_id = ${accountId} and q.question_id = s.id`;
}

/** Retires questions, or brings them back. Returns the ids of those that exist. */
export async function updateRetired(
  tx: Transaction,
  accountId: AccountId,
  questionIds: number[],
  isRetired: boolean,
): Promise<number[]> {
  const [clock] = isRetired
    ? await tx<{ at: Date }[]>`select now() as "at" from accounts where account_id = ${accountId}`
    : [];
  const at = clock ? tx`coalesce(retired_at, ${clock.at})` : null;
  const rows = await tx<{ id: number }[]>`
    update questions
    set    retired_at = ${at}
    where  account_id = ${accountId} and question_id = any(${questionIds})
    returning question_id as id`;
  return rows.map(({ id }) => id);
}

/** Returns all KPIs of the account with their questions, ordered by id. */
export async function selectKpis(db: Db, accountId: AccountId): Promise<Kpi[]> {
  return db<Kpi[]>`
    select k.kpi_id    as "id",
           k.name      as "name",
           k.translations as "translations",
           k.image_url as "imageUrl",
           array(select q.question_id
                 from   kpi_questions q
                 where  q.account_id = ${accountId} and q.kpi_id = k.kpi_id
                 order  by q.question_id) as "questionIds"
    from   kpis k
    where  k.account_id = ${accountId}
    order  by k.kpi_id`;
}

/** Creates or updates KPIs and their lists of questions. */
export async function upsertKpis(tx: Transaction, accountId: AccountId, kpis: Kpi[]): Promise<void> {
  if (kpis.length === 0) return;
  await tx`
    insert into kpis (account_id, kpi_id, name, translations, image_url)
    select ${accountId}, k.id, k.name, k.translations, k."imageUrl"
    from   jsonb_to_recordset(${tx.json(kpis)}) as k(id text, name text, translations jsonb, "imageUrl" text)
    on conflict (account_id, kpi_id) do update
    set    name = excluded.name, translations = excluded.translations, image_url = excluded.image_url`;
  await tx`
    delete from kpi_questions
    where  account_id = ${accountId} and kpi_id = any(${kpis.map(({ id }) => id)})`;
  await tx`
    insert into kpi_questions (account_id, kpi_id, question_id)
    select ${accountId}, k.id, q::integer
    from   jsonb_to_recordset(${tx.json(kpis)}) as k(id text, "questionIds" jsonb),
           jsonb_array_elements_text(k."questionIds") as q`;
}

/** Returns those of the questions that are asked in an open week. */
export async function selectQuestionsAskedNow(
  db: Db,
  accountId: AccountId,
  questionIds: number[],
): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select distinct q.id as "id"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week
    join   unnest(${questionIds}::integer[]) as q(id) on q.id = any(r.question_ids)
    where  r.account_id = ${accountId} and w.closed_at is null`;
  return new Set(rows.map(({ id }) => id));
}
