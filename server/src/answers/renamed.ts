// People answer under a number that is made of what they are called: whoever gets another externalId in an open week gets
// another number, and keeps what was asked and answered under the one before. Else they would be asked twice, and what they
// said first would count no more.
import type { AccountId, Transaction } from '../db/db.ts';
import { lockSurvey } from '../rounds/rounds.ts';
import { lockOpenWeeks, renameAnswers, renameAssignments } from './renamed.sql.ts';

/** How a person is called where numbers are made: as person_of of the schema. */
const personOf = (userId: number, externalId: string | null) => externalId ?? `\u0001${userId}`;

/**
 * Before somebody's externalId is changed, and before the account is locked, as opening and closing have it: keeps weeks
 * from being opened, answered and closed until the transaction ends.
 */
export async function lockNumbers(tx: Transaction, accountId: AccountId): Promise<void> {
  await lockSurvey(tx, accountId);
  await lockOpenWeeks(tx, accountId);
}

/** After it was changed. The caller has called lockNumbers. */
export async function renamePerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  from: string | null,
  to: string | null,
): Promise<void> {
  if (from === to) return;
  const [before, after] = [personOf(userId, from), personOf(userId, to)];
  await renameAnswers(tx, accountId, before, after);
  await renameAssignments(tx, accountId, before, after);
}
