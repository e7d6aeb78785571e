// SQL of listing segments: the values of attributes whose figures are shown (docs/administrators/segments.md). They are opened, and removed, in
// results/segments.
import type { AccountId, Db } from '../db/db.ts';

/** `kind`: the name of the kind, such as Site. `value`: such as Stockholm. */
export type SegmentRow = { id: number; kindId: number; kind: string; value: string };

/** Returns all segments of the account, ordered by id. */
export async function selectSegmentsWithKinds(db: Db, accountId: AccountId): Promise<SegmentRow[]> {
  return db<SegmentRow[]>`
    select s.segment_id as "id", k.kind_id as "kindId", k.name as "kind", s.value as "value"
    from   segment_kinds k
    join   segments s on s.account_id = k.account_id and s.kind_id = k.kind_id
    where  k.account_id = ${accountId}
    order  by s.segment_id`;
}
