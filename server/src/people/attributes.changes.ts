// Attributes of an account, changed by hand. An attribute cannot be given another name: pushes and files name it.
import type { DetailType } from '@soundings/contract/problem.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { Fault, type FaultKind } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';
import { deleteAttribute, eraseValues, selectValues } from './attributes.sql.ts';
import { attributesOf, defineAttribute } from './people.ts';

/** Defines a new attribute. Throws a Fault for a name that is taken or cannot be, and for values that cannot be. */
export async function createAttribute(
  tx: Transaction,
  accountId: AccountId,
  attribute: Attribute,
): Promise<void> {
  refuseAttribute(attribute);
  await lockAccount(tx, accountId);
  if ((await attributesOf(tx, accountId)).has(attribute.name)) {
    throw fault('conflict', 'attribute taken', '/name', 'There is an attribute of this name already.');
  }
  await defineAttribute(tx, accountId, attribute);
}

/** Changes the values that an attribute allows. Those that people have already stay. */
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

/** Removes an attribute, and everybody's value of it; returns how many people had one. They are compared anew. */
export async function removeAttribute(tx: Transaction, accountId: AccountId, name: string): Promise<number> {
  await lockAccount(tx, accountId);
  if (!(await deleteAttribute(tx, accountId, name))) throw attributeNotFound();
  return eraseValues(tx, accountId, name);
}

/** The values that people have and that would not be among the allowed ones, the most frequent first. */
export async function straysOf(
  db: Db,
  accountId: AccountId,
  name: string,
  allowedValues: string[],
): Promise<{ value: string; people: number }[]> {
  if (!(await attributesOf(db, accountId)).has(name)) throw attributeNotFound();
  const allowed = new Set(allowedValues);
  return (await selectValues(db, accountId, name)).filter(({ value }) => !allowed.has(value));
}

/** What defineAttribute refuses as well, but with the place. */
function refuseAttribute({ name, allowedValues }: Attribute): void {
  if (name.trim() !== name || name === '' || name === '__proto__') {
    const message = 'A name has no white space at its ends, and is not __proto__.';
    throw fault('invalid', 'invalid value', '/name', message);
  }
  if (allowedValues?.length === 0) {
    throw fault('invalid', 'missing field', '/allowedValues', 'At least one value is needed.');
  }
  const untrimmed = allowedValues?.findIndex((value) => value.trim() !== value) ?? -1;
  if (untrimmed >= 0) {
    const message = 'A value has no white space at its ends.';
    throw fault('invalid', 'invalid value', '/allowedValues', message);
  }
}

const fault = (kind: FaultKind, type: DetailType, path: string, message: string) =>
  new Fault(kind, type, message, { details: [{ type, message, path }] });
const attributeNotFound = () => new Fault('not_found', 'attribute not found', 'There is no such attribute.');
