// Changes the attributes of an account in the console. Attributes can't be renamed, because pushes and files refer to them by name.
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import { deleteAttribute, eraseValues, selectValues } from './attributes.sql.ts';
import { attributesOf, defineAttribute } from './people.ts';

/** Creates an attribute. Throws a Fault if the name is invalid or taken, or if a value is invalid. */
export async function createAttribute(
  tx: Transaction,
  accountId: AccountId,
  attribute: Attribute,
): Promise<void> {
  refuseAttribute(attribute);
  await lockAccount(tx, accountId);
  if ((await attributesOf(tx, accountId)).has(attribute.name)) {
    throw fault(
      'conflict',
      'attribute taken',
      '/name',
      'An attribute with this name already exists. Choose another name.',
    );
  }
  await defineAttribute(tx, accountId, attribute);
}

/** Changes the allowed values of an attribute. Values that people already have stay. */
export async function changeAttribute(
  tx: Transaction,
  accountId: AccountId,
  attribute: Attribute,
): Promise<void> {
  refuseAttribute(attribute);
  await lockAccount(tx, accountId);
  if (!(await attributesOf(tx, accountId)).has(attribute.name)) throw attributeNotFound();
  await defineAttribute(tx, accountId, attribute);
}

/** Removes an attribute and everyone's value of it. Returns how many people had one. The next push compares them again. */
export async function removeAttribute(tx: Transaction, accountId: AccountId, name: string): Promise<number> {
  await lockAccount(tx, accountId);
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
  return (await selectValues(db, accountId, name)).filter(({ value }) => !allowed.has(value));
}

/** Refuses what defineAttribute refuses, but with the path of the field. */
function refuseAttribute({ name, allowedValues }: Attribute): void {
  if (name.trim() !== name || name === '' || name === '__proto__') {
    const message = 'Enter a name without leading or trailing spaces. __proto__ is a reserved name.';
    throw fault('invalid', 'invalid value', '/name', message);
  }
  if (allowedValues?.length === 0) {
    throw fault('invalid', 'missing field', '/allowedValues', 'Enter at least one value.');
  }
  const untrimmed = allowedValues?.findIndex((value) => value.trim() !== value) ?? -1;
  if (untrimmed >= 0) {
    const message = 'A value must not have leading or trailing spaces.';
    throw fault('invalid', 'invalid value', '/allowedValues', message);
  }
}

const fault = (kind: FaultKind, type: DetailType, path: string, message: string) =>
  new Fault(kind, type, message, { details: [{ type, message, path }] });
const attributeNotFound = () =>
  new Fault('not_found', 'attribute not found', 'This attribute does not exist. It may have been removed.');
