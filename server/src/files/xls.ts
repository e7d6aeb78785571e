// Reading old workbooks, .xls, by SheetJS: cells as a person sees them, of the sheets that a person sees.
import * as xlsx from '@e965/xlsx';
import * as codepages from '@e965/xlsx/dist/cpexcel.full.mjs';
import { Fault } from '../base/errors.ts';
import { shapeOf, shownNumber } from './numbers.ts';
import { damaged, locked, newSheet, refuseSheets, unreadable } from './rows.ts';
import type { Cell, Sheet } from './sheet.ts';

// Their texts may be in the encoding of a country.
xlsx.set_cptable(codepages);

/** What SheetJS offers beyond its types: the container, and what reads a workbook out of it. */
const { CFB, parse_xlscfb } = xlsx as unknown as {
  CFB: {
    read(bytes: Buffer, options: { type: 'buffer' }): object;
    find(container: object, name: string): { size: number; content: Uint8Array } | null;
  };
  parse_xlscfb(container: object, options: xlsx.ParsingOptions): Book;
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
  try {
    const container = CFB.read(bytes, { type: 'buffer' });
    if (CFB.find(container, 'EncryptedPackage')) throw locked();
    const stream = CFB.find(container, '/Workbook') ?? CFB.find(container, '/Book');
    if (!stream) throw unreadable('The name ends in .xls, but the file is another document of Office.');
    if (stream.content.length < stream.size) throw damaged('The stream is cut off');
    return parse_xlscfb(container, { ...options });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw /password|encrypt/i.test(String(error)) ? locked() : damaged(error);
  }
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
