// The mappings of an account: what columns with certain headers mean, and what values such as "Leave" mean. They apply to every
// later file, however it is sent.
import type { MappedSheet, MappedValue } from '@soundings/contract/console/runs.ts';
import { valueFields, valueMeanings } from '@soundings/contract/people/meanings.ts';
import { createHash } from 'node:crypto';
import { lockAccount } from '../accounts/accounts.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { mappingFaults } from '../layout/columns.ts';
import { headersKey, type Mappings } from '../layout/headers.ts';
import type { Knowledge } from '../layout/layout.ts';
import { mappingKey, maxValueLength, valueKey } from '../layout/values.ts';
import { attributesOf } from '../people/attributes.changes.ts';
import {
  countMappingsWith,
  deleteMapping,
  deleteValue,
  selectManagedIds,
  selectMappings,
  selectValueMappings,
  upsertMapping,
  upsertValues,
} from './mappings.sql.ts';

/** The maximum number of column mappings of an account. All of them are read with every file. */
const maxMappings = 500;

const headersOf = ({ columns }: MappedSheet) => headersKey(columns.map(({ header }) => header));

/** The maximum number of mapped values of an account. */
const maxValues = 2000;

/** Returns the column mappings of the account, by the keys of the headers. */
export async function mappingsOf(db: Db, accountId: AccountId): Promise<Mappings> {
  const mappings = await selectMappings(db, accountId);
  return new Map(mappings.map((mapping) => [headersOf(mapping), mapping]));
}

/** Returns the settings and data that determine how files of the account are read. */
export async function knowledgeOf(db: Db, { id, defaultCountry }: Account): Promise<Knowledge> {
  const [attributes, mappings, values, ids] = await Promise.all([
    attributesOf(db, id),
    mappingsOf(db, id),
    selectValueMappings(db, id),
    selectManagedIds(db, id),
  ]);
  const idsOf = (kind: 'users' | 'groups') =>
    new Set(ids.filter((one) => one.kind === kind).map((one) => one.id));
  const existing = { users: idsOf('users'), groups: idsOf('groups') };
  return {
    attributes: [...attributes.keys()],
    allowedValues: new Map(
      attributes
        .values()
        .flatMap(({ name, allowedValues }) => (allowedValues ? [[name, allowedValues]] : [])),
    ),
    mappings,
    values: new Map(values.map(({ field, value, meaning }) => [mappingKey(field, valueKey(value)), meaning])),
    country: defaultCountry,
    isThere: (kind, externalId) => existing[kind].has(externalId),
  };
}

/** Stores what values mean in every later file. Throws a Fault that lists each invalid mapping. */
export async function confirmValues(
  tx: Transaction,
  accountId: AccountId,
  by: Actor,
  values: readonly MappedValue[],
): Promise<void> {
  if (values.length === 0) return;
  await lockAccount(tx, accountId);
  const details = values.flatMap((value, i) => valueFaults(value, `/values/${i}`));
  if (details[0]) throw new Fault('invalid', details[0].type, details[0].message, { details });
  const keyed = new Map(values.map((value) => [mappingKey(value.field, valueKey(value.value)), value]));
  const before = await selectValueMappings(tx, accountId);
  if (
    new Set([...keyed.keys(), ...before.map((one) => mappingKey(one.field, valueKey(one.value)))]).size >
    maxValues
  ) {
    throw tooManyMappings(`${maxValues} mapped values`);
  }
  const rows = [...keyed.values()].map((value) => ({
    ...value,
    value: value.value.trim(),
    key: valueKey(value.value),
  }));
  await upsertValues(tx, accountId, rows, by.origin === 'console' ? by.userId : null);
  await audit(tx, accountId, by, 'values confirmed', { details: { values: rows.length } });
}

function valueFaults({ field, value, meaning }: MappedValue, path: string) {
  const wrong = (part: string, message: string) => ({
    type: 'invalid value' as const,
    message,
    path: `${path}/${part}`,
  });
  if (!valueFields.includes(field))
    return [wrong('field', `Invalid field ${quote(field)}. Use one of ${valueFields.join(', ')}.`)];
  if (value.trim() === '' || value.length > maxValueLength)
    return [wrong('value', `A value must have 1 to ${maxValueLength} characters.`)];
  const allowed: readonly string[] = valueMeanings[field];
  return allowed.includes(meaning)
    ? []
    : [
        wrong(
          'meaning',
          `Invalid meaning ${quote(meaning)} for a value of ${field}. Use one of ${allowed.join(', ')}.`,
        ),
      ];
}

/** Deletes the mapping of a value. Throws a Fault: not_found. */
export async function deleteValueMapping(
  tx: Transaction,
  accountId: AccountId,
  by: Actor,
  mappingId: number,
): Promise<void> {
  if (!(await deleteValue(tx, accountId, mappingId))) throw mappingNotFound('value');
  await audit(tx, accountId, by, 'value removed', { subject: mappingId });
}

/** Stores what columns mean in every later file with the same headers. Throws a Fault that lists each invalid column. */
export async function confirmColumns(
  tx: Transaction,
  accountId: AccountId,
  by: Actor & { origin: 'console'; userId: number },
  sheets: MappedSheet[],
): Promise<void> {
  await lockAccount(tx, accountId);
  const attributes = await attributesOf(tx, accountId);
  const details = sheets.flatMap((sheet, i) => mappingFaults(sheet, [...attributes.keys()], `/sheets/${i}`));
  if (details[0]) throw new Fault('invalid', details[0].type, details[0].message, { details });
  const digests = sheets.map((sheet) => createHash('sha256').update(headersOf(sheet)).digest());
  if ((await countMappingsWith(tx, accountId, digests)) > maxMappings) {
    throw tooManyMappings(`${maxMappings} column mappings`);
  }
  for (const [i, sheet] of sheets.entries()) {
    await upsertMapping(tx, accountId, { ...sheet, digest: digests[i] as Buffer, userId: by.userId });
  }
  const auditDetails = { sheets: sheets.map(({ kind, columns }) => ({ kind, columns: columns.length })) };
  await audit(tx, accountId, by, 'columns confirmed', { details: auditDetails });
}

/** Deletes a column mapping. Later files with its headers are read by the usual rules. Throws a Fault: not_found. */
export async function deleteColumnMapping(
  tx: Transaction,
  accountId: AccountId,
  by: Actor,
  mappingId: number,
): Promise<void> {
  if (!(await deleteMapping(tx, accountId, mappingId))) throw mappingNotFound('column');
  await audit(tx, accountId, by, 'columns removed', { subject: mappingId });
}

const tooManyMappings = (many: string): Fault =>
  new Fault(
    'invalid',
    'too many values',
    `The account already has ${many}, which is the maximum. Remove some that are no longer used.`,
  );

const mappingNotFound = (of: 'value' | 'column'): Fault =>
  new Fault('not_found', 'mapping not found', `This ${of} mapping does not exist. It may have been removed.`);
