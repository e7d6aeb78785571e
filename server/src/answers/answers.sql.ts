// SQL of many answers at once. Writers: answers.ts; closing deletes them (results/publish.sql.ts).
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type CopyValue, copyInto, type Transaction } from '../db/db.ts';

export type AnswerRow = {
  week: Week;
  questionId: number;
  respondent: number;
  value: number | null;
  choices: string[] | null;
  comment: string | null;
  skipped: boolean;
};

/** Writes many answers at once; one that is there already is an error of the database. */
export async function copyAnswers(
  tx: Transaction,
  accountId: AccountId,
  answers: AsyncIterable<AnswerRow[]>,
): Promise<void> {
  await copyInto(
    tx`
      copy answers (account_id, week, question_id, respondent, value, choices, comment, skipped) from stdin`,
    rowsOf(accountId, answers),
  );
}

async function* rowsOf(
  accountId: AccountId,
  answers: AsyncIterable<AnswerRow[]>,
): AsyncIterable<CopyValue[][]> {
  for await (const batch of answers) {
    yield batch.map(({ week, questionId, respondent, value, choices, comment, skipped }) => [
      accountId,
      week,
      questionId,
      respondent,
      value,
      choices && arrayText(choices),
      comment,
      skipped,
    ]);
  }
}

/** An array of texts as PostgreSQL reads it. */
const arrayText = (texts: string[]) =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join()}}`;
