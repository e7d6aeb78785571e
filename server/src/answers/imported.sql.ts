// SQL of answers that are imported from a history file. Writers: imported.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type CopyValue, copyInto, inBatches, type Transaction } from '../db/db.ts';

export type SealedPart = { week: Week; respondent: string; sealed: Buffer };

/**
 * Writes the imported answers of people: one row (part) per person and batch of the file. Part numbers continue after the highest
 * existing one of the account. The caller's transaction must hold the lock of the account's weeks.
 */
export async function copyAnswerParts(
  tx: Transaction,
  accountId: AccountId,
  batches: AsyncIterable<SealedPart[]>,
): Promise<void> {
  const [row] = await tx<{ last: number }[]>`
    select coalesce(max(part), 0)::integer as last from answers where account_id = ${accountId}`;
  await copyInto(
    tx`copy answers (account_id, week, respondent, part, sealed) from stdin`,
    rowsOf(accountId, row!.last, batches),
  );
}

async function* rowsOf(
  accountId: AccountId,
  last: number,
  batches: AsyncIterable<SealedPart[]>,
): AsyncIterable<CopyValue[][]> {
  let part = last;
  for await (const batch of batches) {
    part++;
    yield batch.map(({ week, respondent, sealed }) => [accountId, week, respondent, part, sealed]);
  }
}

/** Yields the sealed answers of a week. */
export function selectAnswerParts(
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
