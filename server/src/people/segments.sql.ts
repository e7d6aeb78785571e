// SQL of listing segments: the values of attributes whose figures are shown (docs/administrators/segments.md). rounds/segments writes
// them.
import type { AccountId, Db } from '../db/db.ts';

/** `breakdown`: the name of the breakdown, such as Site. `value`: such as Stockholm. */
export type SegmentRow = { id: number; breakdownId: number; breakdown: string; value: string };

/** Returns all segments of the account, ordered by id. */
export async function selectSegmentsWithBreakdowns(db: Db, accountId: AccountId): Promise<SegmentRow[]> {
  return db<SegmentRow[]>`
    select s.segment_id as "id", b.breakdown_id as "breakdownId", b.name as "breakdown", s.value as "value"
    from   breakdowns b
    join   segments s on s.account_id = b.account_id and s.breakdown_id = b.breakdown_id
    where  b.account_id = ${accountId}
    order  by s.segment_id`;
}
