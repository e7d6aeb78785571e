// Opens weeks in which no one is asked.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { openWeek } from '../rounds/rounds.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';

/** Opens a week without rounds if it is not open yet, and returns its key, which is stored. */
export async function openEmptyWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
): Promise<WeekKey> {
  const { key, isNew } = await openWeek(tx, keys, accountId, week);
  if (isNew) await keys.keep(tx, accountId, week, key);
  return key;
}
