// Reading workbooks, .xlsx and .xls, by SheetJS: cells as a person sees them, of the sheets that a person sees. Nothing is
// unpacked but what the look at the archive allows, and a sheet that cannot be read whole is a fault, not an empty sheet.
import * as xlsx from '@e965/xlsx';
import { Fault } from '../base/errors.ts';
import { workbookFault } from './content.ts';
import { newSheet, unreadable } from './rows.ts';
import type { Cell, Sheet } from './sheet.ts';
import { damaged, locked, readZip, type ZipEntry } from './zip.ts';

/** What SheetJS offers beyond its types: containers, which are read by ourselves, and what reads workbooks out of them. */
const { CFB, parse_zip, parse_xlscfb } = xlsx as unknown as {
  CFB: {
    read(bytes: Buffer, options: { type: 'buffer' }): object;
    find(container: object, name: string): { size: number; content: Uint8Array } | null;
  };
  parse_zip(container: { FullPaths: string[]; FileIndex: Part[] }, options: xlsx.ParsingOptions): Book;
  parse_xlscfb(container: object, options: xlsx.ParsingOptions): Book;
};

type Part = { name: string; type: 2; readonly content: Buffer };

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

/** The most sheets of a workbook, hidden ones included. */
const maxSheets = 255;

/** The sheets that are not hidden. Throws a Fault for what is no workbook, is damaged, or exceeds a limit. */
export async function readWorkbook(bytes: Buffer, kind: 'xls' | 'xlsx'): Promise<Sheet[]> {
  // Old ones may have their texts in the encoding of their country.
  if (kind === 'xls') xlsx.set_cptable(await import('@e965/xlsx/dist/cpexcel.full.mjs'));
  const book = kind === 'xlsx' ? bookOfZip(bytes) : bookOfOle(bytes);
  if (book.SheetNames.length > maxSheets) throw unreadable(`The workbook has more than ${maxSheets} sheets.`);
  if (new Set(book.SheetNames).size < book.SheetNames.length) throw damaged();
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
  const { set, sheet } = newSheet(name);
  for (const [i, row = []] of data.entries()) {
    const cells = row.map((cell) => valueOf(cell, is1904));
    set(i, cells);
  }
  return sheet;
}

function bookOfZip(bytes: Buffer): Book {
  const entries = readZip(bytes);
  const fault = workbookFault(entries);
  if (fault !== undefined) throw unreadable(fault);
  const faults: unknown[] = [];
  const parts = entries.map((entry) => partOf(entry, faults));
  let book: Book | undefined;
  try {
    book = parse_zip({ FullPaths: entries.map(({ name }) => name), FileIndex: parts }, { ...options });
  } catch (error) {
    faults.push(error);
  }
  // A fault of a part is the cause of those that come after it; SheetJS swallows some.
  if (!book || faults.length > 0) throw faults[0] instanceof Fault ? faults[0] : damaged(faults[0]);
  return book;
}

/** An entry as SheetJS looks for it, unpacked when it is needed. */
function partOf(entry: ZipEntry, faults: unknown[]): Part {
  let unpacked: WeakRef<Buffer> | undefined;
  return {
    name: entry.name.slice(entry.name.lastIndexOf('/') + 1),
    type: 2,
    get content() {
      const known = unpacked?.deref();
      if (known) return known;
      try {
        const bytes = entry.unpack();
        if (isWithDtd(bytes)) throw damaged('A document type');
        unpacked = new WeakRef(bytes);
        return bytes;
      } catch (error) {
        faults.push(error);
        throw error;
      }
    },
  };
}

/** What defines entities, which may expand to any size or name other files; no workbook has one. */
const isWithDtd = (bytes: Buffer): boolean =>
  bytes.includes('<!DOCTYPE') || bytes.includes(Buffer.from('<!DOCTYPE', 'utf16le'));

function bookOfOle(bytes: Buffer): Book {
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
  if (typeof v !== 'number') return v ?? null;
  if (!Number.isFinite(v)) return null;
  if (xlsx.SSF.is_date(z)) return dateOf(v, z, is1904);
  // A format of zeros alone is how Excel shows numbers such as 00123.
  return /^0{2,}$/.test(z) && Number.isSafeInteger(v) && v >= 0 ? String(v).padStart(z.length, '0') : v;
}

const daySeconds = 86_400;
const dayMs = daySeconds * 1000;
/** The day after 9999-12-31, as a count of days from 1899-12-30. */
const endOfDays = 2_958_466;

/**
 * A date or time, which workbooks keep as a count of days, as text: with its time where it has one, and only that where it
 * is less than a day. What no calendar has stays a number. No time zone is asked.
 */
function dateOf(count: number, format: string, is1904: boolean): Cell {
  if (count < 0 || count >= endOfDays) return count;
  const seconds = Math.round(count * daySeconds);
  const days = Math.floor(seconds / daySeconds);
  const clock = clockOf(seconds - days * daySeconds);
  if (/\[[hms]+\]/i.test(format)) return clockOf(seconds); // how long, not when
  if (days === 0 && (!is1904 || seconds > 0)) return clock;
  if (days === 60 && !is1904) return '1900-02-29'; // which Excel has, and no calendar
  // Because of that day, those before it are counted from one day later.
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(first + days * dayMs).toISOString().slice(0, 10);
  return seconds === days * daySeconds ? date : `${date} ${clock}`;
}

function clockOf(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
