// Answers of open weeks that are imported from a history file. They are encrypted like the answers that people give (answering.ts).
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { decodeAnswers, encodeAnswers, type PersonAnswers } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import { type ImportedAnswers, selectSealedAnswers } from './imported.sql.ts';

/** Yields which questions each respondent of an open week has answered so far. */
export async function* answeredBefore(
  tx: Transaction,
  key: WeekKey,
  accountId: AccountId,
  week: Week,
): AsyncGenerator<[respondent: string, questionIds: number[]]> {
  for await (const rows of selectSealedAnswers(tx, accountId, week)) {
    for (const { respondent, sealed } of rows) {
      yield [respondent, [...decodeAnswers(key.open(respondent, sealed)).keys()]];
    }
  }
}

/** Returns the sealed answers of a person in one batch of a file. */
export const sealedIn = (
  key: WeekKey,
  { week, respondent, answers }: { week: Week; respondent: string; answers: PersonAnswers },
): ImportedAnswers => ({ week, respondent, sealed: key.seal(respondent, encodeAnswers(answers)) });
