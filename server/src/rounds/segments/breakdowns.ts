// Breakdowns: attributes of people by whose values results are also shown. Opening and closing a breakdown applies to weeks that
// open later. Removing it deletes its figures.
import type { Week } from '@soundings/contract/weeks.ts';
import { maxSegmentBands, maxBreakdowns } from '@soundings/contract/limits.ts';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { type Actor, audit } from '../../accounts/audit.ts';
import { Fault, faultAtField } from '../../base/errors.ts';
import { nameFault, refuseField } from '../../base/field-faults.ts';
import { quote } from '../../base/text.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import { attributesIn, type Division, segmentValueOf } from './segment-values.ts';
import {
  deleteBreakdown,
  insertBreakdown,
  type Breakdown,
  selectAttributeValues,
  selectBreakdowns,
  updateClosed,
} from './breakdowns.sql.ts';

/**
 * A breakdown to open. `bands`: for an attribute that contains dates. `crossOf`: two open breakdowns to combine, in place
 * of an attribute.
 */
export type NewBreakdown = {
  name: string;
  attribute: string | null;
  bands: number[] | null;
  crossOf: [number, number] | null;
};

/**
 * Returns what a breakdown divides people by. Throws if a breakdown that it combines does not exist. That can't happen,
 * because a breakdown can't be removed while a combination needs it.
 */
export function divisionOf(
  { attribute, bands, crossOf }: Pick<Breakdown, 'attribute' | 'bands' | 'crossOf'>,
  breakdowns: readonly Pick<Breakdown, 'id' | 'attribute' | 'bands' | 'crossOf'>[],
): Division {
  if (attribute !== null) return { attribute, bands };
  const partOf = (breakdownId: number | undefined) => {
    const breakdown = breakdowns.find(({ id }) => id === breakdownId);
    if (!breakdown || breakdown.attribute === null)
      throw new Error(`Breakdown ${breakdownId} can't be combined.`);
    return { attribute: breakdown.attribute, bands: breakdown.bands };
  };
  return { cross: [partOf(crossOf?.[0]), partOf(crossOf?.[1])] };
}

/**
 * Returns for each breakdown the segment that each of these people would be in, with the people in the same order. People who are
 * not active are left out.
 */
export async function valuesOfPeople(
  db: Db,
  accountId: AccountId,
  divisions: readonly Division[],
  week: Week,
  userIds: number[],
): Promise<{ userIds: number[]; breakdowns: (string | undefined)[][] }> {
  const names = [...new Set(divisions.flatMap(attributesIn))];
  const people = await selectAttributeValues(db, accountId, names, userIds);
  return {
    userIds: people.map(({ userId }) => userId),
    breakdowns: divisions.map((division) =>
      people.map(({ attributes }) => segmentValueOf(division, attributes, week)),
    ),
  };
}

/** Opens a breakdown for all weeks that open from now on, and returns its id. Throws a Fault if it isn't valid, or too many are open. */
export async function openBreakdown(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  breakdown: NewBreakdown,
): Promise<number> {
  await lockAccount(tx, accountId);
  const checked = await checkedBreakdown(tx, accountId, breakdown);
  const openedBy = actor.origin === 'console' ? actor.userId : null;
  const id = await insertBreakdown(tx, accountId, checked, openedBy);
  await raiseVersion(tx, accountId);
  const { name, attribute, bands, crossOf } = checked;
  await audit(tx, accountId, actor, 'breakdown opened', {
    subject: name,
    details: { attribute, bands, crossOf },
  });
  return id;
}

/** Returns a breakdown as it would be opened. Throws a Fault if it isn't valid, or too many breakdowns are open. */
export async function checkedBreakdown(
  db: Db,
  accountId: AccountId,
  breakdown: NewBreakdown,
): Promise<NewBreakdown> {
  const open = (await selectBreakdowns(db, accountId)).filter(({ closedAt }) => closedAt === null);
  const { attribute, bands, crossOf } = breakdown;
  const name = breakdown.name.trim();
  refuseField('/name', nameFault('name', name));
  if (open.some((one) => one.name === name)) {
    throw faultAtField(
      'conflict',
      'breakdown taken',
      '/name',
      `A breakdown named ${quote(name)} is already open. Choose another name.`,
    );
  }
  if (open.length >= maxBreakdowns) {
    const message = `At most ${maxBreakdowns} breakdowns can be open. Close one first.`;
    throw faultAtField('conflict', 'too many breakdowns', '/name', message);
  }
  if ((attribute === null) === (crossOf === null)) {
    const message = 'Enter either an attribute or two open breakdowns to combine.';
    throw faultAtField('invalid', 'invalid value', '/attribute', message);
  }
  if (crossOf) refuseCross(crossOf, bands, open);
  if (attribute !== null && !(await attributesOf(db, accountId)).has(attribute)) {
    const message = `The attribute ${quote(attribute)} does not exist in this account. Create it first.`;
    throw faultAtField('invalid', 'unknown attribute', '/attribute', message);
  }
  if (bands) refuseBands(bands);
  return { name, attribute, bands, crossOf };
}

function refuseCross(crossOf: [number, number], bands: number[] | null, open: Breakdown[]): void {
  const parts = crossOf.map((id) => open.find((one) => one.id === id));
  if (crossOf[0] === crossOf[1] || parts.some((part) => !part || part.attribute === null)) {
    const message = 'Combine two different open breakdowns that are not combinations themselves.';
    throw faultAtField('invalid', 'invalid value', '/crossOf', message);
  }
  if (bands) {
    const message = "A combination can't have its own bands. It uses the bands of the two breakdowns.";
    throw faultAtField('invalid', 'invalid value', '/bands', message);
  }
}

function refuseBands(bands: number[]): void {
  const isAscending = bands.every((limit, i) => i === 0 || limit > (bands[i - 1] as number));
  const isValid = bands.every((limit) => Number.isInteger(limit) && limit >= 1 && limit <= 120);
  if (bands.length > 0 && bands.length <= maxSegmentBands && isAscending && isValid) return;
  const message = `Enter 1 to ${maxSegmentBands} ascending numbers of years from 1 to 120, such as 30, 40, 50, 60.`;
  throw faultAtField('invalid', 'invalid value', '/bands', message);
}

/**
 * Closes a breakdown: weeks that open later have no segments of it. Its figures stay, and weeks that are already open still
 * get figures of it.
 */
export async function closeBreakdown(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  breakdownId: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  const { breakdown, breakdowns } = await foundBreakdown(tx, accountId, breakdownId);
  if (breakdown.closedAt !== null) return;
  refuseCombined(
    breakdown,
    breakdowns.filter(({ closedAt }) => closedAt === null),
  );
  await updateClosed(tx, accountId, [breakdownId]);
  await raiseVersion(tx, accountId);
  await audit(tx, accountId, actor, 'breakdown closed', { subject: breakdown.name });
}

/**
 * Removes a breakdown with its segments and all their figures. Weeks that are already open get no figures of it.
 * `deleteFigures` deletes the figures of segments, in this transaction.
 */
export async function removeBreakdown(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  breakdownId: number,
  deleteFigures: (tx: Transaction, accountId: AccountId, segmentIds: number[]) => Promise<void>,
): Promise<void> {
  await lockAccount(tx, accountId);
  const { breakdown, breakdowns } = await foundBreakdown(tx, accountId, breakdownId);
  refuseCombined(breakdown, breakdowns);
  await deleteFigures(tx, accountId, await deleteBreakdown(tx, accountId, breakdownId));
  await raiseVersion(tx, accountId);
  await audit(tx, accountId, actor, 'breakdown removed', { subject: breakdown.name });
}

async function foundBreakdown(db: Db, accountId: AccountId, breakdownId: number) {
  const breakdowns = await selectBreakdowns(db, accountId);
  const breakdown = breakdowns.find(({ id }) => id === breakdownId);
  if (breakdown) return { breakdown, breakdowns };
  throw breakdownNotFound();
}

function refuseCombined(breakdown: Breakdown, breakdowns: Breakdown[]): void {
  const other = breakdowns.find(({ crossOf }) => crossOf?.includes(breakdown.id));
  if (!other) return;
  const message = `${quote(other.name)} combines ${quote(breakdown.name)} with another breakdown. ${other.closedAt === null ? 'Close or remove' : 'Remove'} ${quote(other.name)} first.`;
  throw faultAtField('conflict', 'breakdown combined', '/breakdownId', message);
}

/** Returns the Fault for a breakdown that does not exist. */
export const breakdownNotFound = (): Fault =>
  new Fault('not_found', 'breakdown not found', 'This breakdown does not exist. It may have been removed.');

/** Returns the Fault for a segment that does not exist. */
export const segmentNotFound = (): Fault =>
  new Fault('not_found', 'segment not found', 'This segment does not exist. It may have been removed.');
