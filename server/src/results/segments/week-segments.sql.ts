// SQL of the segments that were frozen when the rounds of an open week were opened. Reads only.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

/** Returns the sealed segments of the people of an open week. */
export async function selectSealedSegments(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ respondent: string; roundId: number; sealed: Buffer }[]> {
  return db<{ respondent: string; roundId: number; sealed: Buffer }[]>`
    select respondent as "respondent", round_id as "roundId", sealed_segments as "sealed"
    from   assignments
    where  account_id = ${accountId} and week = ${week} and sealed_segments is not null
    order  by respondent, round_id`;
}
