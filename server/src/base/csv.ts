// CSV that spreadsheet programs neither damage nor execute. Pure.

/** Names of months in English, Swedish, Norwegian, Danish, German and Dutch, and each of their beginnings: mar, marc, … */
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
  /^(?=\D*\d)[\d.,:/%e+\-\s()$€£¥]*$/i, // a number, date or time: 00123 would become 123, 1-2 the first of February
  /^\d{1,2}(:\d{2}){0,2}(\s?[ap]m|\s[ap])$/i, // a time: so would 3 A
  new RegExp(`^\\d{1,4}${gap}${month}${gap}\\d{0,4}$|^${month}${gap}\\d{1,4}(${gap}\\d{1,4})?$`, 'i'),
  /^(true|false|sant|falskt|wahr|falsch)$/i,
  /^'/, // so that one apostrophe in front can always be taken away again
];

/** Where a program that splits at semicolons or tabs would see a formula begin: quotes would not keep it from that. */
const formulaWithin = /([;\t|]\s*)(?=[=+\-@＝＋－＠])/g;

/**
 * A cell of text. One that a spreadsheet program would take for a formula, a number, a date or a truth value gets an
 * apostrophe in front: it stays what it is. Whoever takes one apostrophe in front away has the very text. Inside a text, an
 * apostrophe before a formula sign after a semicolon, tab or bar stays.
 */
export function textCell(text: string): string {
  const inert = text.replace(formulaWithin, "$1'");
  const safe = changed.some((pattern) => pattern.test(text)) ? `'${inert}` : inert;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A text of anyone's; a number or a day (YYYY-MM-DD) of our own; or nothing. */
export type Cell = string | number | { day: string } | null;

/** Our own numbers and days stay as they are: a spreadsheet program may take them for what they are. */
function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return textCell(cell);
  return typeof cell === 'number' ? String(cell) : cell.day;
}

/** A line of cells. */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cellText).join()}\r\n`;

/** What spreadsheet programs know UTF-8 by. */
export const byteOrderMark = '\uFEFF';
