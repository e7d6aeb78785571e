// Reads a stored file for the console: its columns with examples, and its rows with errors. The result is not stored.
import type { FileColumns } from '@soundings/contract/console/runs.ts';
import { accountById } from '../accounts/accounts.ts';
import { csvRow } from '../base/csv.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { columnsIn } from '../layout/columns.ts';
import { attributesBy, headersIn } from '../layout/headers.ts';
import { placeIn } from '../layout/tables.ts';
import { textOf } from '../layout/values.ts';
import { kindOf } from '../sheets/file-names.ts';
import { readSheets, type Sheet } from '../sheets/sheet.ts';
import { knowledgeOf } from './mappings.ts';
import { contentOf, fileNotFound } from './store.ts';

/** The read that was started last. Files are read one at a time, because each takes a process with up to 512 MB. */
let last: Promise<void> = Promise.resolve();
/** The maximum number of waiting reads of an account, so that no account blocks others for long. */
const maxWaiting = 3;
const waiting = new Map<AccountId, number>();

async function sheetsOf(pool: Pool, accountId: AccountId, file: { fileId: number; name: string }) {
  const count = waiting.get(accountId) ?? 0;
  if (count >= maxWaiting) {
    const message = 'Other files of this account are being read. Try again in a moment.';
    throw new Fault('unavailable', 'unavailable', message, { retryAfter: 5 });
  }
  waiting.set(accountId, count + 1);
  const read = last.then(async () => {
    const bytes = await contentOf(pool, accountId, file.fileId);
    if (bytes.length === 0) throw fileNotFound();
    return readSheets(bytes, kindOf(file.name) ?? 'csv');
  });
  const isOver = () => {
    const left = (waiting.get(accountId) ?? 1) - 1;
    if (left === 0) waiting.delete(accountId);
    else waiting.set(accountId, left);
  };
  last = read.then(isOver, isOver);
  return read;
}

/** Returns the columns of a file. Throws a Fault if it can't be read or has been deleted. */
export async function columnsOfFile(
  pool: Pool,
  accountId: AccountId,
  file: { fileId: number; name: string },
): Promise<FileColumns> {
  const sheets = await sheetsOf(pool, accountId, file);
  const knowledge = await knowledgeOf(pool, await accountById(pool, accountId));
  const { attributes, country } = knowledge;
  return { sheets: columnsIn(sheets, knowledge), attributes: [...attributes], country };
}

/** An error with its place in a file, and what to do about it. */
export type PlacedFault = { sheet?: string; row?: number; column?: string; remedy: string };

/**
 * Returns the rows with errors as CSV: their cells under the headers of the file, then the row number and the reasons. Each sheet
 * has its own section. Throws a Fault if the file can't be read or has been deleted.
 */
export async function faultyRowsOf(
  pool: Pool,
  accountId: AccountId,
  file: { fileId: number; name: string },
  faults: PlacedFault[],
  labels: { row: string; reason: string },
): Promise<string> {
  const sheets = await sheetsOf(pool, accountId, file);
  const { attributes: names, mappings } = await knowledgeOf(pool, await accountById(pool, accountId));
  const attributes = attributesBy(names);
  const parts = sheets.flatMap((sheet) => {
    const { sheet: name } = placeIn(sheet, 0);
    const found = faults.filter((fault) => fault.row !== undefined && fault.sheet === name);
    if (found.length === 0) return [];
    const headers = headersIn(sheet, attributes, mappings)?.index ?? 0;
    return [faultySheet(sheet, headers, found, labels)];
  });
  return parts.join('\r\n');
}

function faultySheet(
  { rows }: Sheet,
  headers: number,
  faults: PlacedFault[],
  labels: { row: string; reason: string },
): string {
  const byRow = [...Map.groupBy(faults, ({ row }) => row as number)].toSorted(([a], [b]) => a - b);
  const width = Math.max(...[headers, ...byRow.map(([row]) => row - 1)].map((i) => rows[i]?.length ?? 0));
  const cellsOf = (index: number) => Array.from({ length: width }, (_, i) => textOf(rows[index]?.[i]));
  const reasonOf = (found: PlacedFault[]) =>
    found.map(({ column, remedy }) => (column === undefined ? remedy : `${column}: ${remedy}`)).join(' · ');
  return [
    csvRow([...cellsOf(headers), labels.row, labels.reason]),
    ...byRow.map(([row, found]) => csvRow([...cellsOf(row - 1), row, reasonOf(found)])),
  ].join('');
}
