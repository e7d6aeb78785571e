// Freezes the segments of people when a round is opened: which segment of each kind they are in is decided by their attributes at that
// time, and stored sealed, so that later changes of attributes have no effect on the week.
import { maxSegmentsOfKind } from '@soundings/contract/limits.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { WeekKey } from '../../sealing/week-key.ts';
import { valuesToUse } from './segment-values.ts';
import { divisionOf, valuesOfPeople } from './segments.ts';
import { insertSegments, selectKinds, selectSegments, selectWeekRules } from './segments.sql.ts';

/**
 * Returns the sealed segments of these people by respondent number, and creates segments for values of enough of them. Undefined if
 * the account has no open kinds, or the week has live results: those have no segments. The caller holds the account's lock.
 */
export async function frozenSegments(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  key: WeekKey,
  userIds: number[],
): Promise<Map<string, Buffer> | undefined> {
  const all = await selectKinds(tx, accountId);
  const kinds = all
    .filter(({ closedAt }) => closedAt === null)
    .map((kind) => ({ id: kind.id, division: divisionOf(kind, all) }));
  if (kinds.length === 0) return undefined;
  const { threshold, isLive } = await selectWeekRules(tx, accountId, week);
  if (isLive) return undefined;
  const divisions = kinds.map(({ division }) => division);
  const people = await valuesOfPeople(tx, accountId, divisions, week, userIds);
  const known = await selectSegments(tx, accountId);
  const valuesOf = kinds.map(({ id }, place) => {
    const values = people.kinds[place] ?? [];
    const existing = new Set(known.filter(({ kindId }) => kindId === id).map(({ value }) => value));
    const used = valuesToUse(values, existing, threshold, maxSegmentsOfKind).map(({ value }) => value);
    return { kindId: id, values, used: new Set(used), existing };
  });
  const created = valuesOf.flatMap(({ kindId, used, existing }) =>
    [...used].filter((value) => !existing.has(value)).map((value) => ({ kindId, value })),
  );
  if (created.length > 0) await insertSegments(tx, accountId, created);
  const segments = created.length > 0 ? await selectSegments(tx, accountId) : known;
  const idOf = new Map(segments.map(({ id, kindId, value }) => [`${kindId} ${value}`, id]));
  const sealed = people.userIds.map((userId, person): [string, Buffer] => {
    const ids = valuesOf.flatMap(({ kindId, values, used }) => {
      const value = values[person];
      return value !== undefined && used.has(value) ? [idOf.get(`${kindId} ${value}`) as number] : [];
    });
    const respondent = key.respondentOf(userId);
    return [respondent, key.sealSegments(respondent, ids)];
  });
  return new Map(sealed);
}
