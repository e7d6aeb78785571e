// Reading old workbooks, .xls, by SheetJS: cells as a person sees them, of the sheets that a person sees.
import * as xlsx from '@e965/xlsx';
import * as codepages from '@e965/xlsx/dist/cpexcel.full.mjs';
import { isContainer, openContainer } from './container.ts';
import { decryptBook } from './decrypt.ts';
import { shapeOf, shownNumber } from './numbers.ts';
import { damaged, locked, newSheet, orDamaged, refuseSheets, unreadable } from './rows.ts';
import type { Cell, Sheet } from './sheet.ts';

// Their texts may be in the encoding of a country.
xlsx.set_cptable(codepages);

/** What SheetJS offers beyond its types: reads the stream of a workbook. */
const { parse_xlscfb } = xlsx as unknown as {
  parse_xlscfb(stream: Buffer, options: xlsx.ParsingOptions): Book;
};

type Book = {
  SheetNames: string[];
  Sheets: Record<string, { '!type'?: string; '!data'?: BookCell[][] } | undefined>;
  Workbook?: { Sheets?: { Hidden?: number }[]; WBProps?: { date1904?: boolean } };
};
/** Its type, value and number format. */
type BookCell = { t: string; v?: string | number | boolean; z?: string };

const options: xlsx.ParsingOptions = {
  dense: true,
  cellNF: true,
  cellFormula: false,
  cellHTML: false,
  cellText: false,
};

/** The sheets that are not hidden. Throws a Fault for what is no workbook, is damaged, or exceeds a limit. */
export function readXls(bytes: Buffer): Sheet[] {
  const book = bookOf(bytes);
  refuseSheets(book.SheetNames);
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  return book.SheetNames.flatMap((name, i) => {
    if (book.Workbook?.Sheets?.[i]?.Hidden) return [];
    const sheet = Object.hasOwn(book.Sheets, name) ? book.Sheets[name] : undefined;
    if (!sheet) throw damaged();
    if (sheet['!type'] !== undefined) return []; // a chart, for instance
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
  return orDamaged(() => parse_xlscfb(withSheetStarts(plain), { ...options, type: 'buffer' }));
}

const boundSheet = 0x85;
const begins = 0x809;

/**
 * The stream with the places of its sheets as SheetJS looks for them: at the record that begins a sheet. Some programs give
 * the place behind that record, and Excel opens what they write ([MS-XLS] §2.4.28).
 */
function withSheetStarts(stream: Buffer): Buffer {
  const starts = new Map<number, number>();
  const places: number[] = [];
  for (let at = 0; at + 4 <= stream.length; at += 4 + stream.readUInt16LE(at + 2)) {
    const [type, length] = [stream.readUInt16LE(at), stream.readUInt16LE(at + 2)];
    if (type === begins) starts.set(at + 4 + length, at);
    if (type === boundSheet && length >= 4 && at + 8 <= stream.length) places.push(at + 4);
  }
  const wrong = places.filter((at) => starts.has(stream.readUInt32LE(at)));
  if (wrong.length === 0) return stream;
  const mended = Buffer.from(stream);
  for (const at of wrong) mended.writeUInt32LE(starts.get(stream.readUInt32LE(at)) as number, at);
  return mended;
}

function streamIn(bytes: Buffer): Buffer {
  const open = openContainer(bytes);
  if (open('/EncryptedPackage')) throw locked();
  const stream = open('/Workbook') ?? open('/Book');
  if (!stream) throw unreadable('The name ends in .xls, but the file is another document of Office.');
  return stream;
}

/** As they are shown, by their codes (ECMA-376-1 §18.17.3, [MS-XLS] §2.5.10). */
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
