// A look into a file that is kept: its columns with examples, and its faulty rows as they stand in it. What is read is given
// to whoever asks, and not kept.
import type { FileColumns } from '@soundings/contract/console.runs.ts';
import { accountById } from '../accounts/accounts.ts';
import { csvRow } from '../base/csv.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { columnsIn } from './columns.ts';
import { attributesBy, headersIn, placeIn } from './headers.ts';
import { knowledgeOf } from './mappings.ts';
import { kindOf } from './names.ts';
import { readSheets, type Sheet } from './sheet.ts';
import { contentOf } from './store.ts';
import { textOf } from './values.ts';

/** Reading takes a process of its own with up to 512 MB: one file after another. Of what was read nothing is kept here. */
let last: Promise<void> = Promise.resolve();
/** So many files of an account may wait to be read, so that no account keeps the others waiting for long. */
const mostWaiting = 3;
const waiting = new Map<AccountId, number>();

async function sheetsOf(pool: Pool, accountId: AccountId, file: { fileId: number; name: string }) {
  const count = waiting.get(accountId) ?? 0;
  if (count >= mostWaiting) {
    const message = 'Other files of the account are being read. Try again in a moment.';
    throw new Fault('unavailable', 'unavailable', message, { retryAfter: 5 });
  }
  waiting.set(accountId, count + 1);
  const read = last.then(async () => {
    const bytes = await contentOf(pool, accountId, file.fileId);
    if (bytes.length === 0) throw new Fault('not_found', 'file not found', 'The file is no longer kept.');
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

/** The columns of a file. Throws a Fault where it cannot be read, or is gone. */
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

/** A fault with its place in a file, and the reason in the words of whoever is to mend it. */
export type PlacedFault = { sheet?: string; row?: number; column?: string; remedy: string };

/**
 * The faulty rows of a file as CSV: their cells as they stand in it, under its headers, then the row and the reasons. Each
 * sheet has a part of its own. Throws a Fault where the file cannot be read any more.
 */
export async function faultyRowsOf(
  pool: Pool,
  accountId: AccountId,
  file: { fileId: number; name: string },
  faults: PlacedFault[],
  words: { row: string; reason: string },
): Promise<string> {
  const sheets = await sheetsOf(pool, accountId, file);
  const { attributes: names, mappings } = await knowledgeOf(pool, await accountById(pool, accountId));
  const attributes = attributesBy(names);
  const parts = sheets.flatMap((sheet) => {
    const { sheet: name } = placeIn(sheet, 0);
    const found = faults.filter((fault) => fault.row !== undefined && fault.sheet === name);
    if (found.length === 0) return [];
    const headers = headersIn(sheet, attributes, mappings)?.index ?? 0;
    return [faultySheet(sheet, headers, found, words)];
  });
  return parts.join('\r\n');
}

function faultySheet(
  { rows }: Sheet,
  headers: number,
  faults: PlacedFault[],
  words: { row: string; reason: string },
): string {
  const byRow = [...Map.groupBy(faults, ({ row }) => row as number)].toSorted(([a], [b]) => a - b);
  const width = Math.max(...[headers, ...byRow.map(([row]) => row - 1)].map((i) => rows[i]?.length ?? 0));
  const cellsOf = (index: number) => Array.from({ length: width }, (_, i) => textOf(rows[index]?.[i]));
  const reasonOf = (found: PlacedFault[]) =>
    found.map(({ column, remedy }) => (column === undefined ? remedy : `${column}: ${remedy}`)).join(' · ');
  return [
    csvRow([...cellsOf(headers), words.row, words.reason]),
    ...byRow.map(([row, found]) => csvRow([...cellsOf(row - 1), row, reasonOf(found)])),
  ].join('');
}
