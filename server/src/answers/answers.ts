// Answers of open weeks: given, changed, skipped. Each is kept under the person's number in the week, and nothing else.
import { weekName } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { type AnswerRow, copyAnswers, selectIsAsked, upsertAnswer } from './answers.sql.ts';

export type Answer = AnswerRow;
export { copyAnswers };

/**
 * Keeps an answer, in place of the one that the person gave before. Its value has passed `readAnswer`. Throws a Fault
 * when the person is not asked this in the week, or the week has closed. An answer is counted or refused: closing waits
 * for the transaction that keeps it.
 */
export async function giveAnswer(tx: Transaction, accountId: AccountId, answer: Answer): Promise<void> {
  if (!(await selectIsAsked(tx, accountId, answer))) {
    const message = `The question is not asked, or the week ${weekName(answer.week)} has closed.`;
    throw new Fault('conflict', 'not asked', message);
  }
  await upsertAnswer(tx, accountId, answer);
}
