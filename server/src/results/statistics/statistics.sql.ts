// SQL of the statistics of weeks: reads published figures, writes parameters. Writers: statistics.ts.
import { scaledTypes } from '@soundings/contract/question-types.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, copyInto, type Db, type Transaction } from '../../db/db.ts';
import type { Cutoffs } from './marks.ts';
import type { Rotation } from './rotation.ts';
import type { KpiStatistics, QuestionStatistics, WeekStatistics } from './history.ts';

/** The first number of these advisory locks. No other lock of Soundings uses it. */
const statisticsLocks = 7302;

/** Locks the statistics of an account until the transaction ends. Waits for other processes; no one else waits for it. */
export async function lockStatistics(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(${statisticsLocks}::integer, ${accountId}::integer) as account_id,
           set_config('idle_in_transaction_session_timeout', '0', true)`;
}

/**
 * A week with published figures. `published`: identifies the figures, which change while a live week is open. `kpiWeeks`: null until its
 * statistics are computed for the first time. `kpiQuestions`: the questions of each KPI by its id; null: not stored.
 */
export type PublishedWeek = {
  week: Week;
  published: string;
  isComputed: boolean;
  kpiWeeks: number | null;
  kpiQuestions: Record<string, number[]> | null;
};

/** Returns the weeks whose figures are published, oldest first. */
export async function selectPublishedWeeks(db: Db, accountId: AccountId): Promise<PublishedWeek[]> {
  return db<PublishedWeek[]>`
    select week                                as "week",
           coalesce(closed_at, shown_at)::text as "published",
           statistics_at is not null           as "isComputed",
           kpi_weeks                           as "kpiWeeks",
           kpi_questions                       as "kpiQuestions"
    from   weeks
    where  account_id = ${accountId} and (closed_at is not null or shown_at is not null)
    order  by week`;
}

/** Returns the accounts with published weeks whose statistics have to be computed. */
export async function selectAccountsDue(db: Db): Promise<AccountId[]> {
  const rows = await db<{ accountId: AccountId }[]>`
    select distinct account_id as "accountId"
    from   weeks
    where  statistics_at is null and (closed_at is not null or shown_at is not null)
    order  by account_id`;
  return rows.map(({ accountId }) => accountId);
}

export type FigureRow = {
  groupId: number;
  questionId: number;
  value: number | null;
  answers: number | null;
  handedOut: boolean;
};

/** Returns the published figures of questions with a scale in a week, of groups that exist. */
export async function selectFigures(db: Db, accountId: AccountId, week: Week): Promise<FigureRow[]> {
  return db<FigureRow[]>`
    select r.group_id    as "groupId",
           r.question_id as "questionId",
           r.value       as "value",
           r.answers     as "answers",
           r.handed_out  as "handedOut"
    from   groups g
    join   results r on r.account_id = g.account_id and r.group_id = g.group_id and r.week = ${week}
    join   questions q on q.account_id = r.account_id and q.question_id = r.question_id and q.type = any(${scaledTypes}::smallint[])
    where  g.account_id = ${accountId}
    order  by r.group_id, r.question_id`;
}

/**
 * Returns how many people the response rates of a week are based on. Not joined to its figures in PostgreSQL: the tables have no statistics of
 * an account's first week, and the plan compared each figure with each rate (5 s for 12,400 figures).
 */
export async function selectAsked(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ groupId: number; asked: number | null }[]> {
  return db<{ groupId: number; asked: number | null }[]>`
    select group_id                as "groupId",
           coalesce(asked, people) as "asked"
    from   response_rates
    where  account_id = ${accountId} and week = ${week}
    order  by group_id`;
}

/** Returns the published distributions of the same questions. */
export async function selectDistributions(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ groupId: number; questionId: number; distribution: string }[]> {
  return db<{ groupId: number; questionId: number; distribution: string }[]>`
    select r.group_id     as "groupId",
           r.question_id  as "questionId",
           r.distribution as "distribution"
    from   groups g
    join   results r on r.account_id = g.account_id and r.group_id = g.group_id and r.week = ${week}
    join   questions q on q.account_id = r.account_id and q.question_id = r.question_id and q.type = any(${scaledTypes}::smallint[])
    where  g.account_id = ${accountId} and r.distribution is not null
    order  by r.group_id, r.question_id`;
}

/** Returns the statistics of weeks that were computed before, oldest first. */
export async function selectStatistics(
  db: Db,
  accountId: AccountId,
  first: Week,
  last: Week,
): Promise<WeekStatistics[]> {
  const weeks = await db<{ week: Week }[]>`
    select week as "week"
    from   weeks
    where  account_id = ${accountId} and week between ${first} and ${last} and statistics_at is not null
    order  by week`;
  const sums = await db<
    { week: Week; questionId: number; squares: number; freedom: number; answers: number; cells: number }[]
  >`
    select week        as "week",
           question_id as "questionId",
           squares     as "squares",
           freedom     as "freedom",
           answers     as "answers",
           cells       as "cells"
    from   question_variances
    where  account_id = ${accountId} and week between ${first} and ${last}
    order  by question_id`;
  const questions = await selectQuestionStatistics(db, accountId, first, last);
  const kpis = await selectKpiStatistics(db, accountId, first, last);
  const [sumsOf, questionsOf, kpisOf] = [byWeek(sums), byWeek(questions), byWeek(kpis)];
  return weeks.map(({ week }) => ({
    week,
    variations: (sumsOf.get(week) ?? []).map(({ questionId, squares, freedom, answers, cells }) => ({
      questionId,
      sums: { squares, freedom, answers, cells },
    })),
    questions: questionsOf.get(week) ?? [],
    kpis: kpisOf.get(week) ?? [],
  }));
}

const byWeek = <T extends { week: Week }>(rows: readonly T[]): Map<Week, T[]> =>
  Map.groupBy(rows, ({ week }) => week);

/** Returns the parameters of questions in these weeks, oldest first. */
export async function selectQuestionStatistics(
  db: Db,
  accountId: AccountId,
  first: Week,
  last: Week,
): Promise<(QuestionStatistics & { week: Week })[]> {
  return db<(QuestionStatistics & { week: Week })[]>`
    select week            as "week",
           question_id     as "questionId",
           variance        as "variance",
           steady_share    as "steadyShare",
           present_share   as "presentShare",
           shared_movement as "sharedMovement",
           group_variance  as "groupVariance",
           cutoffs         as "cutoffs"
    from   question_statistics
    where  account_id = ${accountId} and week between ${first} and ${last}
    order  by week, question_id`;
}

/** Returns the parameters of KPIs in these weeks, oldest first. */
export async function selectKpiStatistics(
  db: Db,
  accountId: AccountId,
  first: Week,
  last: Week,
): Promise<(KpiStatistics & { week: Week })[]> {
  return db<(KpiStatistics & { week: Week })[]>`
    select week           as "week",
           kpi_id         as "kpiId",
           factor         as "factor",
           ratio          as "ratio",
           pairs          as "pairs",
           group_variance as "groupVariance",
           cutoffs        as "cutoffs"
    from   kpi_statistics
    where  account_id = ${accountId} and week between ${first} and ${last}
    order  by week, kpi_id`;
}

/** Replaces the statistics of a week, and marks those of later weeks as outdated. Returns false if its figures have changed since. */
export async function writeStatistics(
  tx: Transaction,
  accountId: AccountId,
  { week, published }: Pick<PublishedWeek, 'week' | 'published'>,
  { variations, questions, kpis }: WeekStatistics,
  kpiWeeks: number,
): Promise<boolean> {
  const rows = await tx`
    update weeks
    set    statistics_at = now(), kpi_weeks = ${kpiWeeks}
    where  account_id = ${accountId} and week = ${week} and coalesce(closed_at, shown_at)::text = ${published}
    returning 1`;
  if (rows.length === 0) return false;
  await tx`
    update weeks set statistics_at = null
    where  account_id = ${accountId} and week > ${week} and statistics_at is not null`;
  await tx`delete from question_variances where account_id = ${accountId} and week = ${week}`;
  await tx`delete from question_statistics where account_id = ${accountId} and week = ${week}`;
  await tx`delete from kpi_statistics where account_id = ${accountId} and week = ${week}`;
  await copyInto(
    tx`copy question_variances (account_id, week, question_id, squares, freedom, answers, cells) from stdin`,
    variations.map(({ questionId, sums: { squares, freedom, answers, cells } }) => [
      accountId,
      week,
      questionId,
      squares,
      freedom,
      answers,
      cells,
    ]),
  );
  await copyInto(
    tx`copy question_statistics (account_id, week, question_id, variance, steady_share, present_share, shared_movement, group_variance, cutoffs) from stdin`,
    questions.map((one) => [
      accountId,
      week,
      one.questionId,
      one.variance,
      one.steadyShare,
      one.presentShare,
      one.sharedMovement,
      one.groupVariance,
      jsonOf(one.cutoffs),
    ]),
  );
  await copyInto(
    tx`copy kpi_statistics (account_id, week, kpi_id, factor, ratio, pairs, group_variance, cutoffs) from stdin`,
    kpis.map((one) => [
      accountId,
      week,
      one.kpiId,
      one.factor,
      one.ratio,
      one.pairs,
      one.groupVariance,
      jsonOf(one.cutoffs),
    ]),
  );
  return true;
}

const jsonOf = (cutoffs: Cutoffs) => JSON.stringify(cutoffs);

/** Returns what decides how often the account's schedules ask the same question. */
export async function selectRotations(db: Db, accountId: AccountId): Promise<Rotation[]> {
  return db<Rotation[]>`
    select s.repeat       as "repeat",
           s.repeat_weeks as "repeatWeeks",
           s.per_week     as "perWeek",
           s.every_weeks  as "everyWeeks",
           (select count(distinct k.question_id)::integer
            from   kpi_questions k
            join   questions q on q.account_id = k.account_id and q.question_id = k.question_id and q.retired_at is null
            where  k.account_id = ${accountId} and k.kpi_id = any(s.kpi_ids)) as "pool"
    from   schedules s
    where  s.account_id = ${accountId} and s.paused_at is null
    order  by s.schedule_id`;
}
