// Reads old workbooks (.xls) with SheetJS: the visible sheets, with cells as a person sees them. Not all that we use of it is
// documented (docs/decisions/0023).
import * as xlsx from '@e965/xlsx';
import * as codepages from '@e965/xlsx/dist/cpexcel.full.mjs';
import { isContainer, openContainer } from './container.ts';
import { decryptBook } from './decrypt.ts';
import { damaged, locked, orDamaged, unreadable } from './faults.ts';
import { shapeOf, shownNumber } from './numbers.ts';
import { newSheet, refuseSheets } from './rows.ts';
import type { Cell, Sheet } from './sheet.ts';

// Texts in old workbooks may use a national encoding.
xlsx.set_cptable(codepages);

/** What we use of the workbook that SheetJS returns. */
type Book = {
  SheetNames: string[];
  Sheets: Record<string, { '!type'?: string; '!data'?: BookCell[][] } | undefined>;
  Workbook?: { Sheets?: { Hidden?: number }[]; WBProps?: { date1904?: boolean } };
};
/** The type, value and number format of a cell. */
type BookCell = { t: string; v?: string | number | boolean; z?: string };

const options: xlsx.ParsingOptions = {
  dense: true,
  cellNF: true,
  cellFormula: false,
  cellHTML: false,
  cellText: false,
};

/** Returns the visible sheets. Throws a Fault if the file is not a workbook, is damaged, or exceeds a limit. */
export function readXls(bytes: Buffer): Sheet[] {
  const book = bookOf(bytes);
  refuseSheets(book.SheetNames);
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  return book.SheetNames.flatMap((name, i) => {
    if (book.Workbook?.Sheets?.[i]?.Hidden) return [];
    const sheet = Object.hasOwn(book.Sheets, name) ? book.Sheets[name] : undefined;
    if (!sheet) throw damaged();
    if (sheet['!type'] !== undefined) return []; // For example a chart.
    return [sheetOf(name, sheet['!data'] ?? [], is1904)];
  });
}

function sheetOf(name: string, data: BookCell[][], is1904: boolean): Sheet {
  const { put, sheet } = newSheet(name);
  for (const [i, row = []] of data.entries()) {
    for (const [j, cell] of row.entries()) if (cell) put(i, j, valueOf(cell, is1904));
  }
  return sheet;
}

function bookOf(bytes: Buffer): Book {
  const stream = isContainer(bytes) ? streamIn(bytes) : bytes;
  const plain = orDamaged(() => decryptBook(stream));
  if (!plain) throw locked();
  // SheetJS recognizes the stream of a workbook by its first record. Anything else it would read as another type of file.
  if (plain[0] !== 0x09 || (plain[1] ?? 0xff) > 0x08)
    throw damaged('The stream does not begin as a workbook');
  return orDamaged(() => xlsx.read(withSheetStarts(plain), { ...options, type: 'buffer' }) as Book);
}

const boundSheet = 0x85;
const sheetStart = 0x809;

/**
 * Returns the stream with corrected sheet offsets. SheetJS expects them to point to the first record of a sheet. Some programs
 * write the offset after that record, and Excel accepts it ([MS-XLS] §2.4.28).
 */
function withSheetStarts(stream: Buffer): Buffer {
  const starts = new Map<number, number>();
  const places: number[] = [];
  for (let at = 0; at + 4 <= stream.length; at += 4 + stream.readUInt16LE(at + 2)) {
    const [type, length] = [stream.readUInt16LE(at), stream.readUInt16LE(at + 2)];
    if (type === sheetStart) starts.set(at + 4 + length, at);
    if (type === boundSheet && length >= 4 && at + 8 <= stream.length) places.push(at + 4);
  }
  const wrong = places.filter((at) => starts.has(stream.readUInt32LE(at)));
  if (wrong.length === 0) return stream;
  const corrected = Buffer.from(stream);
  for (const at of wrong) corrected.writeUInt32LE(starts.get(stream.readUInt32LE(at)) as number, at);
  return corrected;
}

function streamIn(bytes: Buffer): Buffer {
  const open = openContainer(bytes);
  if (open('/EncryptedPackage')) throw locked();
  const stream = open('/Workbook') ?? open('/Book');
  if (!stream) {
    throw unreadable(
      'The name ends in .xls, but the file is another type of Office document. Save the list as an Excel workbook and send it again.',
    );
  }
  return stream;
}

/** The texts of error values by code (ECMA-376-1 §18.17.3, [MS-XLS] §2.5.10). */
const errorTexts: Record<number, string> = {
  0x00: '#NULL!',
  0x07: '#DIV/0!',
  0x0f: '#VALUE!',
  0x17: '#REF!',
  0x1d: '#NAME?',
  0x24: '#NUM!',
  0x2a: '#N/A',
};

function valueOf({ t, v, z = '' }: BookCell, is1904: boolean): Cell {
  if (t === 'e') return errorTexts[Number(v)] ?? '#ERROR!';
  return typeof v === 'number' ? shownNumber(v, shapeOf(z), is1904) : (v ?? null);
}
