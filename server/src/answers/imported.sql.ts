// SQL of answers that come from a history file. Writers: imported.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type CopyValue, copyInto, inBatches, type Transaction } from '../db/db.ts';

export type SealedPart = { week: Week; respondent: string; sealed: Buffer };

/**
 * Writes what a file has of people, a part for each batch of it in which they occur. Parts are numbered from 1 for each person
 * of the file, behind what is there: the caller's transaction holds the lock of the account's weeks.
 */
export async function copyParts(
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

/** What people have answered in a week, sealed. */
export function selectParts(
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
