// Reading CSV: as Excel and HR systems write it in Europe, with the encoding and the delimiter found out. Every cell is
// text, as it stands.
import { maxSheetRows } from '@soundings/contract/limits.ts';
import { CsvError, parse } from 'csv-parse/sync';
import { isUtf8 } from 'node:buffer';
import { newSheet, type Place, placeInWords, tooManyRows, unreadable } from './rows.ts';
import type { Sheet } from './sheet.ts';

/** In order of preference, where a file looks the same by two of them. */
const delimiters = [',', ';', '\t', '|'];

/** So much of a file tells its delimiter. */
const sample = { bytes: 64 * 1024, records: 200 };

/** Records of nothing but delimiters are no rows where they come last, but as many as there may be rows are enough. */
const maxRecords = 2 * maxSheetRows;

/** The one sheet of a CSV file. Throws a Fault that says in which row it is not CSV, or which limit it exceeds. */
export function readCsv(bytes: Buffer): Sheet {
  const whole = toUtf8(bytes);
  const start = whole.toString('utf8', 0, sample.bytes);
  const told = /^sep=([,;\t|])\r?\n?/i.exec(start); // a line that Excel understands, and does not show
  const text = told ? whole.subarray(told[0].length) : whole;
  const delimiter = told?.[1] ?? delimiterOf(start, whole.length <= sample.bytes);
  try {
    return parseRecords(text, delimiter, false);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return parseSpaced(text, delimiter, error);
  }
}

/** Some writers put spaces around their delimiters: there, quotation marks do not begin or end a cell to the letter. */
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
    skip_empty_lines: true, // they are counted
    on_record: (cells: string[], { records, empty_lines: blank }) => {
      if (records > maxRecords) throw tooManyRows('');
      for (const [i, cell] of cells.entries()) put(records + blank - 1, i, cell);
      return null; // it is kept by the sheet
    },
  });
  return sheet;
}

function faultOf({ code, records, empty_lines: blank, column }: CsvError): Error {
  const row = Number(records) + Number(blank) + 1;
  const place: Place = { sheet: '', row, column: Number(column) + 1 };
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    return unreadable(`${placeInWords(place)} begins with a quotation mark (") that is never closed.`, place);
  }
  const remedy = 'Put such a cell in quotation marks, and write each one within it twice.';
  return unreadable(`${placeInWords(place)} has a quotation mark (") in its middle. ${remedy}`, place);
}

/** The bytes of a text in UTF-8. Throws a Fault for what is no text. */
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
    throw unreadable('The file is not text in UTF-16, as its beginning says. Save it as CSV in UTF-8.');
  }
}

/**
 * What is nearly UTF-8 was that, and is damaged. Read as Windows-1252, it would be without fault, and every Å would be Ã….
 */
function refuseDamagedUtf8(bytes: Buffer): void {
  const text = bytes.toString();
  const lost = text.split('\ufffd').length - 1;
  const kept = text.replaceAll(/[\0-\x7f\ufffd]+/g, '').length;
  if (kept <= lost && !text.startsWith('\ufeff')) return;
  const line = text.slice(0, text.indexOf('\ufffd')).split(/\r\n?|\n/).length;
  throw unreadable(`The file is text in UTF-8, but not in line ${line}. Save it as CSV in UTF-8 once more.`);
}

/**
 * By which the records at the beginning of a text are divided: that by which the most of them have equally many cells, and
 * among such the one that makes the most cells.
 */
function delimiterOf(text: string, isWhole: boolean): string {
  const [best] = delimiters
    .map((delimiter) => ({ delimiter, ...agreement(counts(text, delimiter, isWhole)) }))
    .toSorted((a, b) => b.records - a.records || b.count - a.count);
  return best!.delimiter;
}

/** The number of delimiters that the most records have, and how many have it; records without any do not count. */
function agreement(found: number[]): { count: number; records: number } {
  const records = Map.groupBy(
    found.filter((count) => count > 0),
    (count) => count,
  );
  const agreed = [...records].map(([count, { length }]) => ({ count, records: length }));
  return agreed.toSorted((a, b) => b.records - a.records || b.count - a.count)[0] ?? { count: 0, records: 0 };
}

/** How many delimiters each of the first records has, outside quotation marks. */
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
