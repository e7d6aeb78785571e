// Writes CSV that spreadsheet programs neither change nor execute. Pure.

/** Month names in English, Swedish, Norwegian, Danish, German and Dutch, and their abbreviations (mar, marc, …). */
const months =
  'january januari januar february februari februar march mars marts märz maart april may maj mai mei june juni july ' +
  'juli august augusti augustus september october oktober november december desember dezember';
const beginnings = months
  .split(' ')
  .flatMap((month) => Array.from({ length: month.length - 2 }, (_, i) => month.slice(0, i + 3)));
const month = `(${[...new Set(beginnings)].join('|')})`;
const gap = '[ .,/-]*';

const changed = [
  /^[=+\-@\t\r\n＝＋－＠]/, // a formula
  /^(?=\D*\d)[\d.,:/%e+\-\s()$€£¥]*$/i, // a number, date or time: 00123 would become 123, and 1-2 the first of February
  /^\d{1,2}(:\d{2}){0,2}(\s?[ap]m|\s[ap])$/i, // a time, such as 3 A
  new RegExp(`^\\d{1,4}${gap}${month}${gap}\\d{0,4}$|^${month}${gap}\\d{1,4}(${gap}\\d{1,4})?$`, 'i'),
  /^(true|false|sant|falskt|wahr|falsch)$/i,
  /^'/, // a leading apostrophe, so that removing one always restores the text
];

/** Where a program that splits cells at semicolons or tabs would see a formula. Quotes don't prevent this. */
const formulaWithin = /([;\t|]\s*)(?=[=+\-@＝＋－＠])/g;

/**
 * Returns a text as a CSV cell. A text that a spreadsheet program would read as a formula, number, date or boolean gets a leading
 * apostrophe; removing it restores the text. A formula sign after a semicolon, tab or bar inside the text also gets an
 * apostrophe, which can't be removed again.
 */
export function textCell(text: string): string {
  const inert = text.replace(formulaWithin, "$1'");
  const safe = changed.some((pattern) => pattern.test(text)) ? `'${inert}` : inert;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A text from outside, a number or date (YYYY-MM-DD) that the service itself writes, or an empty cell. */
export type CsvCell = string | number | { day: string } | null;

/**
 * Returns the text of a cell. Numbers and dates that the service itself writes are unchanged, because spreadsheet programs should
 * recognize them.
 */
function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return textCell(cell);
  return typeof cell === 'number' ? String(cell) : cell.day;
}

/** Returns one line of CSV. */
export const csvRow = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join()}\r\n`;

/** The mark by which spreadsheet programs recognize UTF-8. */
export const byteOrderMark = '\uFEFF';
