// The segments in which the people of an open week count, as they were frozen when its rounds were opened. Only closing reads them.
import { selectSegments } from '../../rounds/segments/breakdowns.sql.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { WeekKey } from '../../sealing/week-key.ts';
import { selectSealedSegments } from './week-segments.sql.ts';

/** The segments of the people of a week. */
export type FrozenSegments = {
  /** The segments of each breakdown, in the order in which the breakdowns were opened. */
  breakdowns: number[][];
  segmentIdsOf: (roundId: number, respondent: string) => number[] | undefined;
};

/** Returns the segments of the people of a week, if any. Breakdowns that have been removed since count nowhere. */
export async function segmentsOfWeek(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  key: WeekKey,
): Promise<FrozenSegments | undefined> {
  const segments = await selectSegments(tx, accountId);
  if (segments.length === 0) return undefined;
  const existing = new Set(segments.map(({ id }) => id));
  const segmentIds = new Map<string, number[]>();
  for (const { respondent, roundId, sealed } of await selectSealedSegments(tx, accountId, week)) {
    const ids = key.openSegments(respondent, sealed).filter((id) => existing.has(id));
    segmentIds.set(`${roundId} ${respondent}`, ids);
  }
  if (segmentIds.size === 0) return undefined;
  const breakdowns = Map.groupBy(segments, ({ breakdownId }) => breakdownId);
  return {
    breakdowns: [...breakdowns.values()].map((list) => list.map(({ id }) => id)),
    segmentIdsOf: (roundId, respondent) => segmentIds.get(`${roundId} ${respondent}`),
  };
}
