// The people of an account as CSV, in a form that can be edited into a users file.
import { byteOrderMark, csvRow } from '../../base/csv.ts';
import type { SheetRow } from './people.sql.ts';

/** Yields people as CSV, with the columns of users files where those exist, and a column for each attribute. */
export async function* peopleCsv(
  batches: AsyncIterable<readonly SheetRow[]>,
  attributes: string[],
): AsyncGenerator<string> {
  const head = [
    'externalId',
    'firstName',
    'lastName',
    'email',
    'phone',
    'role',
    'active',
    'language',
    'timezone',
    'memberOf',
    'managed',
  ];
  yield byteOrderMark + csvRow([...head, ...attributes]);
  for await (const rows of batches) yield rows.map((row) => lineOf(row, attributes)).join('');
}

const lineOf = (row: SheetRow, attributes: string[]): string =>
  csvRow([
    row.externalId,
    row.firstName,
    row.lastName,
    row.email,
    row.phone,
    row.role,
    row.active ? 'yes' : 'no',
    row.language,
    row.timezone,
    row.memberOf,
    row.managed ? 'yes' : 'no',
    ...attributes.map((name) => (Object.hasOwn(row.attributes, name) ? row.attributes[name]! : null)),
  ]);
