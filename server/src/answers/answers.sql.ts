// SQL of answers. Writers: answers.ts; closing deletes them (results/publish.sql.ts).
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

/** Whether a person is asked a question in an open week; locks the week against closing until the transaction ends. */
export async function selectIsAsked(
  tx: Transaction,
  accountId: AccountId,
  one: { week: Week; respondent: number; questionId: number },
): Promise<boolean> {
  const rows = await tx`
    select 1
    from   weeks w
    where  w.account_id = ${accountId} and w.week = ${one.week} and w.closed_at is null
      and  exists (select 1
                   from   assignments a
                   join   rounds r on r.account_id = a.account_id and r.round_id = a.round_id
                   where  a.account_id = ${accountId} and a.week = ${one.week}
                     and  a.respondent = ${one.respondent} and ${one.questionId} = any(r.question_ids))
    for    share of w`;
  return rows.length > 0;
}

/** Keeps an answer in place of the one that the person gave before. */
export async function upsertAnswer(tx: Transaction, accountId: AccountId, answer: AnswerRow): Promise<void> {
  const { week, questionId, respondent, value, choices, comment, skipped } = answer;
  await tx`
    insert into answers (account_id, week, question_id, respondent, value, choices, comment, skipped)
    values (${accountId}, ${week}, ${questionId}, ${respondent}, ${value}, ${choices}, ${comment}, ${skipped})
    on conflict (account_id, week, question_id, respondent) do update
    set    value = excluded.value, choices = excluded.choices, comment = excluded.comment, skipped = excluded.skipped`;
}
