// The published figures as rows, for the console. It uses the same statements as the data interface and shapes rows in the same
// way, so that the console never shows anything that the data interface withholds.
import type { AnswerData } from '@soundings/contract/answer-data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { type Kpi, selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import { questionsIn } from './kpi-questions.ts';
import { selectGroupKpiValues, selectGroupRates, selectGroupResults } from './single-group.sql.ts';
import { answerData, translatedQuestion, type TranslatedQuestion } from './shape.ts';
import { selectAskedWeeks } from './statistics-shown.sql.ts';
import type { Window } from './window.ts';

/** All possible weeks. */
export const allTime: Window = { first: '0001-01-01', last: '9999-12-27' };

/** `value`: null if withheld. `handedOut`: whether too many of its answers came through links that the employer handed out (P14). */
export type WeekValue = { week: Week; value: number | null; handedOut: boolean };
/** How many people the rate is based on, and how many of them answered; null if unknown or withheld. */
export type WeekRate = WeekValue & { asked: number | null; answered: number | null };

/** Returns the values of a KPI in a group, by week. Empty if the group or KPI does not exist. */
export async function readKpiValues(
  db: Db,
  accountId: AccountId,
  groupId: number,
  kpiId: string,
  window: Window,
): Promise<WeekValue[]> {
  const rows = await selectGroupKpiValues(db, accountId, { groupId, kpiId }, window);
  return rows.flatMap(({ week, value, handedOut }) =>
    week === null ? [] : [{ week, value, handedOut: handedOut === true }],
  );
}

/** Returns the response rates of a group, by week. Empty if the group does not exist. */
export async function readRates(
  db: Db,
  accountId: AccountId,
  groupId: number,
  window: Window,
): Promise<WeekRate[]> {
  const rows = await selectGroupRates(db, accountId, { groupId }, window);
  return rows.flatMap(({ week, value, asked, answered, handedOut }) =>
    week === null ? [] : [rateOf({ week, value, asked, answered, handedOut: handedOut === true })],
  );
}

/**
 * Returns a rate that agrees with its numbers of people: people who answered only some of their questions count fully. Where the numbers
 * are not known, it is the rate of the data interface.
 */
export const rateOf = <T extends WeekRate>(rate: T): T =>
  rate.asked !== null && rate.answered !== null ? { ...rate, value: rate.answered / rate.asked } : rate;

/** Returns the results of questions in a group, by question and week. Empty if the group does not exist. */
export async function readResults(
  db: Db,
  accountId: AccountId,
  groupId: number,
  window: Window,
  questions: ReadonlyMap<number, TranslatedQuestion>,
): Promise<{ questionId: number; week: Week; data: AnswerData; handedOut: boolean }[]> {
  const wanted = { groupId, questionIds: [...questions.keys()] };
  const { rows } = (await selectGroupResults(db, accountId, wanted, window)) ?? { rows: [] };
  return rows.flatMap((row) => {
    const question = questions.get(row.questionId);
    if (!question) return [];
    const data = JSON.parse(answerData(question, row, false)) as AnswerData;
    return [{ questionId: row.questionId, week: row.week, data, handedOut: row.handedOut }];
  });
}

/** A question with its texts, and the ids of its options in order. */
export type ShownQuestion = TranslatedQuestion & { optionIds: string[] };

/** Returns the questions of the account by id, in `language` if they are translated, otherwise in their own language. */
export async function shownQuestions(
  db: Db,
  accountId: AccountId,
  language: string | undefined,
): Promise<Map<number, ShownQuestion>> {
  const questions = await selectQuestions(db, accountId);
  return new Map(
    questions.map((question) => [
      question.id,
      { ...translatedQuestion(question, language), optionIds: question.options.map(({ id }) => id) },
    ]),
  );
}

/** Returns the KPIs with the questions that they had in the last week of a window, without those that had none. */
export async function kpisIn(db: Db, accountId: AccountId, window: Window): Promise<Kpi[]> {
  const [kpis, weeks] = await Promise.all([
    selectKpis(db, accountId),
    selectAskedWeeks(db, accountId, window),
  ]);
  const questionsOf = questionsIn(weeks, kpis);
  return kpis.flatMap((kpi) => {
    const questionIds = [...questionsOf(kpi.id, window.last)];
    return questionIds.length === 0 ? [] : { ...kpi, questionIds };
  });
}
