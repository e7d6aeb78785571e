// Reads CSV files as Excel and HR systems in Europe write them. Detects the encoding and the delimiter. Every cell is text as
// written.
import { maxSheetRows } from '@soundings/contract/limits.ts';
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { type Place, placeText, unreadable } from './faults.ts';
import { newSheet, tooManyRows } from './rows.ts';
import type { Sheet } from './sheet.ts';

/** In order of preference if two of them fit equally well. */
const delimiters = [',', ';', '\t', '|'];

/** How much of a file is examined to detect its delimiter. */
const sample = { bytes: 64 * 1024, records: 200 };

/** Leaves room for records with nothing but delimiters. At the end of a file, these do not count as rows. */
const maxRecords = 2 * maxSheetRows;

/** Returns the single sheet of a CSV file. Throws a Fault that names the invalid row or the exceeded limit. */
export function readCsv(bytes: Buffer): Sheet {
  const whole = toUtf8(bytes);
  const start = whole.toString('utf8', 0, sample.bytes);
  const declared = /^sep=([,;\t|])\r?\n?/i.exec(start); // Excel reads this line and does not show it.
  const text = declared ? whole.subarray(declared[0].length) : whole;
  const delimiter = declared?.[1] ?? delimiterOf(start, whole.length <= sample.bytes);
  try {
    return parseRecords(text, delimiter, false);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return parseSpaced(text, delimiter, error);
  }
}

/** Reads a file with spaces around its delimiters. There, quotation marks are not the first or last character of a cell. */
function parseSpaced(text: Buffer, delimiter: string, before: CsvError): Sheet {
  try {
    return parseRecords(text, delimiter, true);
  } catch (error) {
    throw error instanceof CsvError ? faultOf(before) : error;
  }
}

function parseRecords(text: Buffer, delimiter: string, trim: boolean): Sheet {
  const { sheet, put } = newSheet('');
  parse(text, {
    delimiter,
    trim,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true, // Counted in empty_lines.
    on_record: (cells: string[], { records, empty_lines: blank }) => {
      if (records > maxRecords) throw tooManyRows('');
      for (const [i, cell] of cells.entries()) put(records + blank - 1, i, cell);
      return null; // The sheet keeps the cells.
    },
  });
  return sheet;
}

function faultOf({ code, records, empty_lines: blank, column }: CsvError): Error {
  const row = Number(records) + Number(blank) + 1;
  const place: Place = { sheet: '', row, column: Number(column) + 1 };
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    return unreadable(`${placeText(place)} begins with a quotation mark (") that is never closed.`, place);
  }
  const remedy = 'Put the whole cell in quotation marks, and double each quotation mark inside it.';
  return unreadable(
    `${placeText(place)} has a quotation mark (") in the middle of the text. ${remedy}`,
    place,
  );
}

/** Returns the text as UTF-8 bytes. Throws a Fault if the encoding is damaged. */
function toUtf8(bytes: Buffer): Buffer {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return fromUtf16(bytes, 'utf-16le');
  if (first === 0xfe && second === 0xff) return fromUtf16(bytes, 'utf-16be');
  if (isUtf8(bytes)) return bytes.subarray(bytes.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? 3 : 0);
  refuseDamagedUtf8(bytes);
  return Buffer.from(new TextDecoder('windows-1252').decode(bytes));
}

function fromUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): Buffer {
  try {
    return Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch {
    throw unreadable(
      'The file is marked as UTF-16 text, but contains invalid characters. Save it as CSV in UTF-8.',
    );
  }
}

/**
 * Throws a Fault for text that is nearly UTF-8, because it is damaged UTF-8. As Windows-1252, it could be read without an error, and
 * every Å would become Ã….
 */
function refuseDamagedUtf8(bytes: Buffer): void {
  const text = bytes.toString();
  const lost = text.split('\ufffd').length - 1;
  const kept = text.replaceAll(/[\0-\x7f\ufffd]+/g, '').length;
  if (kept <= lost && !text.startsWith('\ufeff')) return;
  const line = text.slice(0, text.indexOf('\ufffd')).split(/\r\n?|\n/).length;
  throw unreadable(
    `Line ${line} is not valid UTF-8, although the rest of the file is. Save the file as CSV in UTF-8 again.`,
  );
}

/**
 * Returns the delimiter of a text: the one that gives most of the first records the same number of cells, or among equals the
 * one that gives the most cells.
 */
function delimiterOf(text: string, isWhole: boolean): string {
  const [best] = delimiters
    .map((delimiter) => ({ delimiter, ...agreement(counts(text, delimiter, isWhole)) }))
    .toSorted((a, b) => b.records - a.records || b.count - a.count);
  return best!.delimiter;
}

/** Returns the most common number of delimiters, and how many records have it. Records without delimiters don't count. */
function agreement(found: number[]): { count: number; records: number } {
  const records = Map.groupBy(
    found.filter((count) => count > 0),
    (count) => count,
  );
  const agreed = [...records].map(([count, { length }]) => ({ count, records: length }));
  return agreed.toSorted((a, b) => b.records - a.records || b.count - a.count)[0] ?? { count: 0, records: 0 };
}

/** Returns the number of delimiters outside quotation marks for each of the first records. */
function counts(text: string, delimiter: string, isWhole: boolean): number[] {
  const cells = new RegExp(
    `(?: *"[^"]*(?:""[^"]*)*(?:"|$))?[^${delimiter}\\r\\n]*([${delimiter}]|\\r\\n?|\\n|$)`,
    'g',
  );
  const found: number[] = [];
  let count = 0;
  for (const [, end] of text.matchAll(cells)) {
    if (end === delimiter) {
      count++;
      continue;
    }
    // The last record of a sample may be cut off.
    if (end !== '' || isWhole || found.length === 0) found.push(count);
    if (end === '' || found.length === sample.records) break;
    count = 0;
  }
  return found;
}
