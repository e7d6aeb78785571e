// Reads and changes the attributes of an account. They can't be renamed, because pushes and files refer to them by name.
import { lockAccount } from '../accounts/accounts.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { missing, nameFault, refuseField } from '../base/field-faults.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import {
  clearFingerprints,
  deleteAttribute,
  eraseValues,
  selectAttributes,
  selectOpenBreakdownOf,
  selectScheduleByDate,
  selectValueCounts,
  upsertAttribute,
} from './attributes.sql.ts';

/** Returns the attributes of the account, by name. */
export async function attributesOf(db: Db, accountId: AccountId): Promise<Map<string, Attribute>> {
  const attributes = await selectAttributes(db, accountId);
  return new Map(attributes.map((attribute) => [attribute.name, attribute]));
}

/**
 * Defines an attribute, or changes its allowed values. Values that users already have stay. Throws a Fault if the name or a
 * value is invalid.
 */
export async function defineAttribute(
  tx: Transaction,
  accountId: AccountId,
  { name, allowedValues }: Attribute,
): Promise<Attribute> {
  refuseAttribute({ name, allowedValues });
  await lockAccount(tx, accountId);
  const values = allowedValues && [...new Set(allowedValues)];
  await upsertAttribute(tx, accountId, name, values);
  await clearFingerprints(tx, accountId, name);
  return { name, allowedValues: values };
}

/** Like defineAttribute, but throws a Fault if the name is taken. */
export async function createAttribute(
  tx: Transaction,
  accountId: AccountId,
  attribute: Attribute,
): Promise<void> {
  await lockAccount(tx, accountId);
  if ((await attributesOf(tx, accountId)).has(attribute.name)) {
    throw faultAtField(
      'conflict',
      'attribute taken',
      '/name',
      'An attribute with this name already exists. Choose another name.',
    );
  }
  await defineAttribute(tx, accountId, attribute);
}

/** Like defineAttribute, but throws a Fault if the attribute does not exist. */
export async function changeAttribute(
  tx: Transaction,
  accountId: AccountId,
  attribute: Attribute,
): Promise<void> {
  await lockAccount(tx, accountId);
  if (!(await attributesOf(tx, accountId)).has(attribute.name)) throw attributeNotFound();
  await defineAttribute(tx, accountId, attribute);
}

/**
 * Removes an attribute and everyone's value of it. Returns how many people had one. The next push compares them again.
 * Throws a Fault while an open breakdown or a schedule uses it.
 */
export async function removeAttribute(tx: Transaction, accountId: AccountId, name: string): Promise<number> {
  await lockAccount(tx, accountId);
  const breakdown = await selectOpenBreakdownOf(tx, accountId, name);
  if (breakdown !== undefined) {
    const message = `The open breakdown ${quote(breakdown)} uses this attribute. Close the breakdown first.`;
    throw faultAtField('conflict', 'breakdown open', '/name', message);
  }
  const schedule = await selectScheduleByDate(tx, accountId, name);
  if (schedule !== undefined) {
    const message = `The schedule ${quote(schedule)} chooses people by the date in this attribute. Change or delete the schedule first.`;
    throw faultAtField('conflict', 'schedule by date', '/name', message);
  }
  if (!(await deleteAttribute(tx, accountId, name))) throw attributeNotFound();
  return eraseValues(tx, accountId, name);
}

/** Returns the values that people have and that would not be allowed, the most frequent first. */
export async function disallowedValues(
  db: Db,
  accountId: AccountId,
  name: string,
  allowedValues: string[],
): Promise<{ value: string; people: number }[]> {
  if (!(await attributesOf(db, accountId)).has(name)) throw attributeNotFound();
  const allowed = new Set(allowedValues);
  return (await selectValueCounts(db, accountId, name)).filter(({ value }) => !allowed.has(value));
}

function refuseAttribute({ name, allowedValues }: Attribute): void {
  refuseField('/name', nameFault('name', name));
  if (name.trim() !== name || name === '__proto__') {
    const message = 'Enter a name without leading or trailing spaces. __proto__ is a reserved name.';
    throw faultAtField('invalid', 'invalid value', '/name', message);
  }
  if (allowedValues?.length === 0) {
    refuseField('/allowedValues', missing('allowedValues'));
  }
  if (allowedValues?.some((value) => value === '' || value.trim() !== value)) {
    const message = 'An allowed value must not be empty or have leading or trailing spaces.';
    throw faultAtField('invalid', 'invalid value', '/allowedValues', message);
  }
}

const attributeNotFound = () =>
  new Fault('not_found', 'attribute not found', 'This attribute does not exist. It may have been removed.');
