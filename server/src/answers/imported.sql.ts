// SQL of answers that are imported from a history file. Writers: imported.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type CopyValue, copyInto, inBatches, type Transaction } from '../db/db.ts';

/** The sealed answers of a person in one batch of a file. */
export type ImportedAnswers = { week: Week; respondent: string; sealed: Buffer };

/**
 * Writes the imported answers of people: one row per person and batch of the file. Batch numbers continue after the highest
 * existing one of the account. The caller's transaction must hold the lock of the account's weeks.
 */
export async function copyAnswerBatches(
  tx: Transaction,
  accountId: AccountId,
  batches: AsyncIterable<ImportedAnswers[]>,
): Promise<void> {
  const [row] = await tx<{ last: number }[]>`
    select coalesce(max(import_batch), 0)::integer as last from answers where account_id = ${accountId}`;
  await copyInto(
    tx`copy answers (account_id, week, respondent, import_batch, sealed) from stdin`,
    rowsOf(accountId, row!.last, batches),
  );
}

async function* rowsOf(
  accountId: AccountId,
  last: number,
  batches: AsyncIterable<ImportedAnswers[]>,
): AsyncIterable<CopyValue[][]> {
  let number = last;
  for await (const batch of batches) {
    number++;
    yield batch.map(({ week, respondent, sealed }) => [accountId, week, respondent, number, sealed]);
  }
}

/** Yields the sealed answers of a week. */
export function selectSealedAnswers(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): AsyncIterable<{ respondent: string; sealed: Buffer }[]> {
  return inBatches(
    tx<{ respondent: string; sealed: Buffer }[]>`
    select respondent as "respondent", sealed as "sealed"
    from   answers
    where  account_id = ${accountId} and week = ${week}`,
    2_000,
  );
}
