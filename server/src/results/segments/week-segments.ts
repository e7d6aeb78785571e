// The segments in which the people of an open week count, as they were frozen when its rounds were opened. Only closing reads them.
import { selectSegments } from '../../rounds/segments/breakdowns.sql.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { WeekKey } from '../../sealing/week-key.ts';
import type { WeekData } from '../turnout.ts';
import { selectSealedSegments } from './week-segments.sql.ts';

/**
 * Returns the data of a week with the segments of its people, and the segments of each breakdown in the order in which the breakdowns were
 * opened. Breakdowns that have been removed since count nowhere.
 */
export async function withSegments<Data extends Pick<WeekData, 'assignments'>>(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  key: WeekKey,
  data: Data,
): Promise<Data & Pick<WeekData, 'breakdowns'>> {
  const segments = await selectSegments(tx, accountId);
  if (segments.length === 0) return data;
  const existing = new Set(segments.map(({ id }) => id));
  const segmentIdsOf = new Map<string, number[]>();
  for (const { respondent, roundId, sealed } of await selectSealedSegments(tx, accountId, week)) {
    const ids = key.openSegments(respondent, sealed).filter((id) => existing.has(id));
    segmentIdsOf.set(`${roundId} ${respondent}`, ids);
  }
  if (segmentIdsOf.size === 0) return data;
  const assignments = data.assignments.map((assignment) => {
    const segmentIds = segmentIdsOf.get(`${assignment.roundId} ${assignment.respondent}`);
    return segmentIds ? { ...assignment, segmentIds } : assignment;
  });
  const breakdowns = Map.groupBy(segments, ({ breakdownId }) => breakdownId);
  return {
    ...data,
    assignments,
    breakdowns: [...breakdowns.values()].map((list) => list.map(({ id }) => id)),
  };
}
