// What the data interface tells, as rows rather than text: for the console. By the very statements that the interface reads by,
// and shaped as it shapes, so that nothing is shown here that is withheld there.
import type { AnswerData } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { questionsOf } from '../questions/questions.ts';
import {
  type CommentFilter,
  type KpiWeekRow,
  type KpiWords,
  type MarkedComment,
  type Scope,
  selectCommentPage,
  selectGroupKpiValues,
  selectGroupRates,
  selectGroupResults,
  selectKpi,
  selectKpiLastWeeks,
  selectKpiWeeks,
  selectValuedKpis,
  selectWeekRates,
} from './results.sql.ts';
import { answerData, worded, type WordedQuestion } from './shape.ts';
import type { Window } from './window.ts';

export type { CommentFilter, KpiWeekRow, KpiWords, MarkedComment, Scope, Window };
export {
  selectCommentPage as commentsShown,
  selectKpi as kpiNamed,
  selectKpiLastWeeks as kpiLastWeeks,
  selectKpiWeeks as kpiWeeksIn,
  selectValuedKpis as kpisShown,
  selectWeekRates as ratesIn,
};

/** Every week that there can be. */
export const always: Window = { first: '0001-01-01', last: '9999-12-27' };

/** `value`: null: withheld. `handedOut`: whether it rests on links that the employer handed out (P14). */
export type WeekValue = { week: Week; value: number | null; handedOut: boolean };
/** `people`: how many people the week asked; null: that is not known, or the rate is withheld. */
export type WeekRate = WeekValue & { people: number | null };

/** The values of a KPI in a group, by week; none when there is no such group or KPI. */
export async function kpiValuesShown(
  pool: Pool,
  accountId: AccountId,
  groupId: number,
  kpiId: string,
  window: Window,
): Promise<WeekValue[]> {
  const rows = await selectGroupKpiValues(pool, accountId, groupId, kpiId, window);
  return rows.flatMap(({ week, value, handedOut }) =>
    week === null ? [] : [{ week, value, handedOut: handedOut === true }],
  );
}

/** The response rates of a group, by week; none when there is no such group. */
export async function ratesShown(
  pool: Pool,
  accountId: AccountId,
  groupId: number,
  window: Window,
): Promise<WeekRate[]> {
  const rows = await selectGroupRates(pool, accountId, groupId, window);
  return rows.flatMap(({ week, value, people, handedOut }) =>
    week === null ? [] : [{ week, value, people, handedOut: handedOut === true }],
  );
}

/** The results of questions in a group, by question and week; none when there is no such group. */
export async function resultsShown(
  pool: Pool,
  accountId: AccountId,
  groupId: number,
  window: Window,
  questions: ReadonlyMap<number, WordedQuestion>,
): Promise<{ questionId: number; week: Week; data: AnswerData; handedOut: boolean }[]> {
  const rows = (await selectGroupResults(pool, accountId, groupId, window, [...questions.keys()])) ?? [];
  return rows.flatMap((row) => {
    const question = questions.get(row.questionId);
    if (!question) return [];
    const data = JSON.parse(answerData(question, row, false)) as AnswerData;
    return [{ questionId: row.questionId, week: row.week, data, handedOut: row.handedOut }];
  });
}

/** A question in words, and its options in their order. */
export type ShownQuestion = WordedQuestion & { optionIds: string[] };

/** The questions of the account by id, in a language where they have it, else in their own. */
export async function questionsWorded(
  pool: Pool,
  accountId: AccountId,
  language: string | undefined,
): Promise<Map<number, ShownQuestion>> {
  const questions = await questionsOf(pool, accountId);
  return new Map(
    questions.map((question) => [
      question.id,
      { ...worded(question, language), optionIds: question.options.map(({ id }) => id) },
    ]),
  );
}
