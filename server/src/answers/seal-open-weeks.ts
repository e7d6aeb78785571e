// The part of migrations 0016 to 0020 that SQL can't do: encrypts the existing answers of open weeks and gives them new respondent
// numbers. Links continue to work.
import { randomBytes } from 'node:crypto';
import type { MigrationSteps } from '../db/migrate.ts';
import type { Transaction } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { encodeAnswers, type PersonAnswers } from '../sealing/person-answers.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import {
  forgetUnsealed,
  insertSealed,
  selectOldNumbers,
  selectUnsealed,
  selectUnsealedAssignments,
  selectUnsealedWeeks,
  type UnsealedWeek,
} from './seal-open-weeks.sql.ts';

/**
 * Returns the migration steps that the service adds, for migrate(). Weeks are encrypted before 0020, which drops unencrypted answers.
 * If 0016 has run without the service, 0020 stops, and the next start of the service encrypts them.
 */
export const migrationSteps = (keys: AnswerKeys): MigrationSteps => ({
  20: (tx) => sealOpenWeeks(tx, keys),
});

async function sealOpenWeeks(tx: Transaction, keys: AnswerKeys): Promise<void> {
  const weeks = await selectUnsealedWeeks(tx);
  if (weeks.length > 0) await keys.chain.prepare(tx);
  for (const week of weeks) {
    const key = keys.temporary(week.accountId, week.week);
    // Only one week at a time is in memory.
    await keys.keep(tx, week.accountId, week.week, key, false);
    await sealWeek(tx, week, key);
  }
  await forgetUnsealed(tx);
}

/**
 * It is unknown which link the old answers were given with. They count as given with a link that was sent, and no browser shows
 * them.
 */
const before = { link: 'before', visit: null, handedOut: false };

async function sealWeek(tx: Transaction, { accountId, week }: UnsealedWeek, key: WeekKey): Promise<void> {
  const userOf = new Map(
    (await selectOldNumbers(tx, accountId, week)).map(({ old, userId }) => [old, userId]),
  );
  const strangers = randomBytes(16).toString('hex');
  const numberOf = (old: string) => {
    const userId = userOf.get(old);
    return userId === undefined ? key.respondentOfStranger(`${strangers} ${old}`) : key.respondentOf(userId);
  };
  const assignments = (await selectUnsealedAssignments(tx, accountId, week)).map(({ old, ...one }) => ({
    ...one,
    respondent: numberOf(old),
  }));
  const people = new Map<string, PersonAnswers>();
  for (const { old, questionId, ...answer } of await selectUnsealed(tx, accountId, week)) {
    const respondent = numberOf(old);
    const answers = people.get(respondent) ?? new Map();
    people.set(respondent, answers.set(questionId, { ...answer, counted: false, giving: before }));
  }
  const sealed = [...people].map(([respondent, answers]) => ({
    respondent,
    sealed: key.seal(respondent, encodeAnswers(answers)),
  }));
  await insertSealed(tx, accountId, week, { assignments, sealed });
}
