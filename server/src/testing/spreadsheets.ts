// Compares how our reader and other readers read workbooks, cell by cell. As a program, it compares every workbook in a
// folder and needs `python3` with openpyxl (.xlsx) and xlrd (.xls):
//
//   node server/src/testing/spreadsheets.ts ../shared/data/spreadsheets
import * as xlsx from '@e965/xlsx';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Fault } from '../base/errors.ts';
import { shapeOf, shownNumber } from '../sheets/numbers.ts';
import { readSheets, type Cell, type Sheet } from '../sheets/sheet.ts';

type BookCell = { t: string; v?: string | number | boolean; w?: string; z?: string };

/** Returns the visible sheets of a workbook as SheetJS reads them, in our format. Errors of SheetJS are thrown. */
export function readByAnother(bytes: Buffer): Sheet[] {
  const book = xlsx.read(bytes, { dense: true, cellNF: true, cellHTML: false, cellFormula: false });
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  return book.SheetNames.flatMap((name, i) => {
    const sheet = book.Sheets[name] as { '!type'?: string; '!data'?: BookCell[][] };
    if (book.Workbook?.Sheets?.[i]?.Hidden || sheet['!type'] !== undefined) return [];
    const rows = Array.from(sheet['!data'] ?? [], (row) =>
      Array.from(row ?? [], (cell) => cellOf(cell, is1904)),
    );
    return [{ name, rows: trimmed(rows) }];
  });
}

function cellOf(cell: BookCell | undefined, is1904: boolean): Cell {
  if (!cell) return null;
  if (cell.t === 'e') return cell.w ?? '#ERROR!';
  if (typeof cell.v === 'number') return shownNumber(cell.v, shapeOf(cell.z ?? ''), is1904);
  return cell.v ?? null;
}

/** Returns the rows with empty cells as null, and without empty cells or rows at the end. */
export function trimmed(rows: Cell[][]): Cell[][] {
  const all = rows.map((row) => row.map((cell) => (cell === '' ? null : cell)));
  const short = all.map((row) => row.slice(0, row.findLastIndex((cell) => cell !== null) + 1));
  return short.slice(0, short.findLastIndex((row) => row.length > 0) + 1);
}

// --- Comparing all workbooks of a folder.

/** What spreadsheets.py prints for a file. Cells are keyed by row and column, both counted from 1. */
type Theirs = { path: string; error?: string; sheets?: { name: string; cells: [string, TheirCell][] }[] };
/** Dates are days since 1899-12-30 (or 1904-01-01), as stored in the file. */
type TheirCell = string | number | boolean | { days: number } | { error: string };

const print = (line: string) => process.stdout.write(`${line}\n`);

async function compareFolder(folder: string): Promise<void> {
  const script = fileURLToPath(new URL('spreadsheets.py', import.meta.url));
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.xlsx?$/i.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .toSorted();
  const count = { files: 0, cells: 0, different: 0, refused: 0, refusedByThem: 0 };
  const python = spawn('python3', [script, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(python.stdout)) {
    const { path, error, sheets = [] } = JSON.parse(line) as Theirs;
    const kind = path.toLowerCase().endsWith('x') ? 'xlsx' : 'xls';
    const ours = await readSheets(readFileSync(path), kind).catch((fault: unknown) => {
      if (fault instanceof Fault) return fault.message;
      throw fault;
    });
    if (typeof ours === 'string') count.refused++;
    else if (error !== undefined) count.refusedByThem++;
    else {
      count.files++;
      for (const difference of differences(ours, sheets, count)) print(`${path}: ${difference}`);
    }
    if (typeof ours === 'string' && error === undefined) {
      print(`${path}: only we refuse it: ${ours}`);
    }
  }
  print(JSON.stringify(count));
}

function* differences(
  ours: Sheet[],
  theirs: NonNullable<Theirs['sheets']>,
  count: { cells: number; different: number },
): Generator<string> {
  const byName = new Map(theirs.map(({ name, cells }) => [name, new Map(cells)]));
  for (const { name, rows } of ours) {
    const cells = byName.get(name);
    byName.delete(name);
    for (const [i, row] of rows.entries()) {
      for (const [j, cell] of row.entries()) {
        const place = `${i + 1},${j + 1}`;
        const other = cells?.get(place);
        cells?.delete(place);
        if (cell === null && (other === undefined || other === '')) continue;
        count.cells++;
        if (isSame(cell, other)) continue;
        count.different++;
        yield `${name} ${place}: ${JSON.stringify(cell)}, but they have ${JSON.stringify(other)}`;
      }
    }
    for (const [place, other] of cells ?? []) {
      if (other === '') continue;
      count.different++;
      yield `${name} ${place}: nothing, but they have ${JSON.stringify(other)}`;
    }
  }
  for (const [name, cells] of byName) if (cells.size > 0) yield `The sheet ${name} is missing`;
}

function isSame(cell: Cell, other: TheirCell | undefined): boolean {
  if (typeof other === 'object') {
    if ('error' in other) return cell === other.error;
    const days = typeof cell === 'string' ? daysOf(cell) : cell;
    // Dates counted from 1904, and dates before March 1900, have another first day.
    const apart = [0, 1, 1462].map((shift) => Math.abs(Number(days) - other.days - shift));
    return Math.min(...apart) * 86_400 < 1.01;
  }
  if (typeof other === 'number') {
    const number = typeof cell === 'string' && /^0\d+$/.test(cell) ? Number(cell) : cell;
    return typeof number === 'number' && Math.abs(number - other) <= 1e-9 * Math.abs(other);
  }
  if (typeof other === 'string' && typeof cell === 'string') return plain(cell) === plain(other);
  return cell === other;
}

/** Returns a text for comparing: not all readers keep white space at its ends, or read characters that XML can't contain. */
const plain = (text: string): string =>
  text
    .replaceAll(/_x[\da-f]{4}_|[\p{Cc}\p{Cs}]/giu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();

function daysOf(text: string): number {
  const [, date = '1899-12-30', hours = '0', minutes = '0', seconds = '0'] =
    /^(\d{4}-\d\d-\d\d)?\s?(?:(\d+):(\d\d):(\d\d))?$/.exec(text) ?? [];
  const days = (Date.parse(date) - Date.UTC(1899, 11, 30)) / 86_400_000;
  return days + (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await compareFolder(process.argv[2] ?? '.');
