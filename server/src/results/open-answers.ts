// Decrypts the answers of an open week. They are read once, person by person, and returned question by question. Each answer takes
// only a few bytes of memory, so that a week with millions of answers fits.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { decodedAnswers } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { addAnswer, type AnswerColumn, answersInColumn, emptyColumn } from './answer-columns.ts';
import { noQuestions, sharedSets, type Turnout, type WeekAnswer } from './turnout.ts';
import { selectSealed } from './published-figures.sql.ts';
import type { WeekPeople } from './week-people.ts';

export type OpenAnswers = Pick<Turnout, 'done'> & {
  /** Returns the answers to a question, in an order that reveals nothing. */
  to(questionId: number): WeekAnswer[];
  /** The same, one array per field. */
  columnOf(questionId: number): AnswerColumn;
};

/** Decrypts all answers of a week. Throws if the week's key can't decrypt one of them. */
export async function openAnswers(
  tx: Transaction,
  key: WeekKey,
  people: WeekPeople,
  { accountId, week }: { accountId: AccountId; week: Week },
): Promise<OpenAnswers> {
  const columns = new Map<number, AnswerColumn>();
  const done: Turnout['done'] = [];
  const withQuestion = sharedSets();
  for await (const rows of selectSealed(tx, accountId, week)) {
    for (const { respondent, sealed } of rows) {
      const person = people.numberOf(respondent);
      // A person can have several rows.
      let own = done[person] ?? noQuestions;
      for (const [questionId, answer] of decodedAnswers(key.open(respondent, sealed))) {
        let column = columns.get(questionId);
        if (!column) columns.set(questionId, (column = emptyColumn()));
        addAnswer(column, person, answer, answer.giving.handedOut);
        own = withQuestion(own, questionId);
      }
      done[person] = own;
    }
  }
  const columnOf = (questionId: number) => columns.get(questionId) ?? emptyColumn();
  return { done, columnOf, to: (questionId) => answersInColumn(columnOf(questionId), people) };
}
