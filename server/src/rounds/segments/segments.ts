// Kinds of segments: attributes of people by whose values results are also shown. Opening and closing a kind applies to weeks that
// open later. Removing it deletes its figures.
import type { Week } from '@soundings/contract/weeks.ts';
import { maxSegmentBands, maxSegmentKinds } from '@soundings/contract/limits.ts';
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
  deleteKind,
  insertKind,
  type SegmentKind,
  selectAttributeValues,
  selectKinds,
  updateClosed,
} from './segments.sql.ts';

/** A kind to open. `bands`: for an attribute that contains dates. `crossOf`: two open kinds to combine, in place of an attribute. */
export type NewKind = {
  name: string;
  attribute: string | null;
  bands: number[] | null;
  crossOf: [number, number] | null;
};

/** Returns what a kind divides people by. Throws if a kind that it combines does not exist, which the rules of removing prevent. */
export function divisionOf(
  { attribute, bands, crossOf }: Pick<SegmentKind, 'attribute' | 'bands' | 'crossOf'>,
  kinds: readonly Pick<SegmentKind, 'id' | 'attribute' | 'bands' | 'crossOf'>[],
): Division {
  if (attribute !== null) return { attribute, bands };
  const partOf = (kindId: number | undefined) => {
    const kind = kinds.find(({ id }) => id === kindId);
    if (!kind || kind.attribute === null) throw new Error(`Kind ${kindId} can't be combined.`);
    return { attribute: kind.attribute, bands: kind.bands };
  };
  return { cross: [partOf(crossOf?.[0]), partOf(crossOf?.[1])] };
}

/**
 * Returns for each kind the segment that each of these people would be in, with the people in the same order. People who are not active
 * are left out.
 */
export async function valuesOfPeople(
  db: Db,
  accountId: AccountId,
  divisions: readonly Division[],
  week: Week,
  userIds: number[],
): Promise<{ userIds: number[]; kinds: (string | undefined)[][] }> {
  const names = [...new Set(divisions.flatMap(attributesIn))];
  const people = await selectAttributeValues(db, accountId, names, userIds);
  return {
    userIds: people.map(({ userId }) => userId),
    kinds: divisions.map((division) =>
      people.map(({ attributes }) => segmentValueOf(division, attributes, week)),
    ),
  };
}

/** Opens a kind for all weeks that open from now on, and returns its id. Throws a Fault if it isn't valid, or too many are open. */
export async function openKind(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  kind: NewKind,
): Promise<number> {
  await lockAccount(tx, accountId);
  const checked = await checkedKind(tx, accountId, kind);
  const openedBy = actor.origin === 'console' ? actor.userId : null;
  const id = await insertKind(tx, accountId, checked, openedBy);
  await raiseVersion(tx, accountId);
  const { name, attribute, bands, crossOf } = checked;
  await audit(tx, accountId, actor, 'segments opened', {
    subject: name,
    details: { attribute, bands, crossOf },
  });
  return id;
}

/** Returns a kind as it would be opened. Throws a Fault if it isn't valid, or too many kinds are open. */
export async function checkedKind(db: Db, accountId: AccountId, kind: NewKind): Promise<NewKind> {
  const open = (await selectKinds(db, accountId)).filter(({ closedAt }) => closedAt === null);
  const { attribute, bands, crossOf } = kind;
  const name = kind.name.trim();
  refuseField('/name', nameFault('name', name));
  if (open.some((one) => one.name === name)) {
    throw faultAtField(
      'conflict',
      'segments taken',
      '/name',
      `Segments named ${quote(name)} are already open. Choose another name.`,
    );
  }
  if (open.length >= maxSegmentKinds) {
    const message = `Results can be shown by at most ${maxSegmentKinds} kinds of segments. Close one first.`;
    throw faultAtField('conflict', 'too many segments', '/name', message);
  }
  if ((attribute === null) === (crossOf === null)) {
    const message = 'Enter either an attribute or two open kinds of segments to combine.';
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

function refuseCross(crossOf: [number, number], bands: number[] | null, open: SegmentKind[]): void {
  const parts = crossOf.map((id) => open.find((one) => one.id === id));
  if (crossOf[0] === crossOf[1] || parts.some((part) => !part || part.attribute === null)) {
    const message = 'Combine two different open kinds of segments that are not combinations themselves.';
    throw faultAtField('invalid', 'invalid value', '/crossOf', message);
  }
  if (bands) {
    const message = "A combination can't have its own bands. It uses the bands of the two kinds.";
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

/** Closes a kind: weeks that open later have no segments of it. Its figures stay, and weeks that are open get theirs. */
export async function closeKind(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  kindId: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  const { kind, kinds } = await foundKind(tx, accountId, kindId);
  if (kind.closedAt !== null) return;
  refuseCombined(
    kind,
    kinds.filter(({ closedAt }) => closedAt === null),
  );
  await updateClosed(tx, accountId, [kindId]);
  await raiseVersion(tx, accountId);
  await audit(tx, accountId, actor, 'segments closed', { subject: kind.name });
}

/**
 * Removes a kind with its segments and all their figures; weeks that are open get none. `deleteFigures` deletes the figures of
 * segments, in this transaction.
 */
export async function removeKind(
  tx: Transaction,
  accountId: AccountId,
  actor: Actor,
  kindId: number,
  deleteFigures: (tx: Transaction, accountId: AccountId, segmentIds: number[]) => Promise<void>,
): Promise<void> {
  await lockAccount(tx, accountId);
  const { kind, kinds } = await foundKind(tx, accountId, kindId);
  refuseCombined(kind, kinds);
  await deleteFigures(tx, accountId, await deleteKind(tx, accountId, kindId));
  await raiseVersion(tx, accountId);
  await audit(tx, accountId, actor, 'segments removed', { subject: kind.name });
}

async function foundKind(db: Db, accountId: AccountId, kindId: number) {
  const kinds = await selectKinds(db, accountId);
  const kind = kinds.find(({ id }) => id === kindId);
  if (kind) return { kind, kinds };
  throw segmentsNotFound();
}

function refuseCombined(kind: SegmentKind, kinds: SegmentKind[]): void {
  const other = kinds.find(({ crossOf }) => crossOf?.includes(kind.id));
  if (!other) return;
  const message = `${quote(other.name)} combines ${quote(kind.name)} with other segments. ${other.closedAt === null ? 'Close or remove' : 'Remove'} ${quote(other.name)} first.`;
  throw faultAtField('conflict', 'segments combined', '/kindId', message);
}

/** Returns the Fault for a kind of segments that does not exist. */
export const segmentsNotFound = (): Fault =>
  new Fault('not_found', 'segments not found', 'These segments do not exist. They may have been removed.');

/** Returns the Fault for a segment that does not exist. */
export const segmentNotFound = (): Fault =>
  new Fault('not_found', 'segment not found', 'This segment does not exist. It may have been removed.');
