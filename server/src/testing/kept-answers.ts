// The decrypted answers of people in an open week. The database has them only encrypted (sealing/).
import type { Week } from '@soundings/contract/weeks.ts';
import { decodeAnswers, type GivenAnswer, givenIn, type PersonAnswer } from '../sealing/person-answers.ts';
import type { TestData } from './database.ts';

/** A stored answer without how it was given. `respondent`: a number that only the week's key leads to. */
export type KeptRow = GivenAnswer & { questionId: number };

/** Returns all stored answers of an open week, by question, then by respondent, with how each was given. */
export async function storedAnswers(
  { pool, keys }: TestData,
  accountId: number,
  week: Week,
): Promise<(PersonAnswer & { questionId: number; respondent: string })[]> {
  const key = await keys.of(pool, accountId, week);
  const rows = await pool<{ respondent: string; sealed: Buffer }[]>`
    select respondent, sealed from answers where account_id = ${accountId} and week = ${week}
    order  by respondent, import_batch`;
  if (!key) {
    if (rows.length > 0) throw new Error('There are answers of a week that has no key.');
    return [];
  }
  return rows
    .flatMap(({ respondent, sealed }) =>
      [...decodeAnswers(key.open(respondent, sealed))].map(([questionId, answer]) => ({
        questionId,
        respondent,
        ...answer,
      })),
    )
    .toSorted((a, b) => a.questionId - b.questionId);
}

/** Returns the same answers as storedAnswers, without their respondents and how they were given. */
export async function keptAnswers(data: TestData, accountId: number, week: Week): Promise<KeptRow[]> {
  const stored = await storedAnswers(data, accountId, week);
  return stored.map((answer) => ({ questionId: answer.questionId, ...givenIn(answer) }));
}

/** Returns what is stored of one person, by question. */
export async function answersOfPerson(
  data: TestData,
  accountId: number,
  week: Week,
  userId: number,
): Promise<Map<number, PersonAnswer & { respondent: string }>> {
  const key = await data.keys.of(data.pool, accountId, week);
  const own = key?.respondentOf(userId);
  return new Map(
    (await storedAnswers(data, accountId, week))
      .filter(({ respondent }) => respondent === own)
      .map((answer) => [answer.questionId, answer]),
  );
}
