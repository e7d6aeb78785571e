// Freezes the segments of people when a round is opened: which segment of each breakdown they are in is decided by their attributes at that
// time, and stored sealed, so that later changes of attributes have no effect on the week.
import { maxSegmentsOfBreakdown } from '@soundings/contract/limits.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { WeekKey } from '../../sealing/week-key.ts';
import { valuesToUse } from './segment-values.ts';
import { divisionOf, valuesOfPeople } from './breakdowns.ts';
import {
  insertSegments,
  insertWeekBreakdowns,
  selectBreakdowns,
  selectSegments,
  selectWeekRules,
} from './breakdowns.sql.ts';

/**
 * Returns the sealed segments of these people by respondent number, and creates segments for values that enough of these
 * people have. Undefined if the account has no open breakdowns, or if the week has live results: such weeks have no
 * segments. The caller holds the account's lock.
 */
export async function frozenSegments(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  key: WeekKey,
  userIds: number[],
): Promise<Map<string, Buffer> | undefined> {
  const all = await selectBreakdowns(tx, accountId);
  const breakdowns = all
    .filter(({ closedAt }) => closedAt === null)
    .map((breakdown) => ({ id: breakdown.id, division: divisionOf(breakdown, all) }));
  if (breakdowns.length === 0) return undefined;
  const { threshold, isLive } = await selectWeekRules(tx, accountId, week);
  if (isLive) return undefined;
  await insertWeekBreakdowns(
    tx,
    accountId,
    week,
    breakdowns.map(({ id }) => id),
  );
  const divisions = breakdowns.map(({ division }) => division);
  const people = await valuesOfPeople(tx, accountId, divisions, week, userIds);
  const known = await selectSegments(tx, accountId);
  const valuesOf = breakdowns.map(({ id }, place) => {
    const values = people.breakdowns[place] ?? [];
    const existing = new Set(known.filter(({ breakdownId }) => breakdownId === id).map(({ value }) => value));
    const used = valuesToUse(values, existing, threshold, maxSegmentsOfBreakdown).map(({ value }) => value);
    return { breakdownId: id, values, used: new Set(used), existing };
  });
  const created = valuesOf.flatMap(({ breakdownId, used, existing }) =>
    [...used].filter((value) => !existing.has(value)).map((value) => ({ breakdownId, value })),
  );
  if (created.length > 0) await insertSegments(tx, accountId, created);
  const segments = created.length > 0 ? await selectSegments(tx, accountId) : known;
  const idOf = new Map(segments.map(({ id, breakdownId, value }) => [`${breakdownId} ${value}`, id]));
  const sealed = people.userIds.map((userId, person): [string, Buffer] => {
    const ids = valuesOf.flatMap(({ breakdownId, values, used }) => {
      const value = values[person];
      return value !== undefined && used.has(value) ? [idOf.get(`${breakdownId} ${value}`) as number] : [];
    });
    const respondent = key.respondentOf(userId);
    return [respondent, key.sealSegments(respondent, ids)];
  });
  return new Map(sealed);
}
