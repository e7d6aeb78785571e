// CSV that spreadsheet programs neither damage nor execute. Pure.

const months = 'jan|feb|mar|m[aä]r|apr|ma[ijy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]';
const changed = [
  /^[=+\-@\t\r]/, // a formula
  /^[\d.,:/%e+\-\s]*\d[\d.,:/%e+\-\s]*$/i, // a number, date or time: 00123 would become 123, 1-2 the first of February
  new RegExp(`^\\d{1,4}[ .-]*(${months})[a-z]*[ .-]*\\d{0,4}$|^(${months})[a-z]*[ .-]*\\d{1,4}$`, 'i'),
  /^(true|false|sant|falskt|wahr|falsch)$/i,
];

/**
 * A cell of text. One that a spreadsheet program would take for a formula, a number, a date or a truth value gets an
 * apostrophe in front: it stays what it is, and whoever wants the very text takes NDJSON.
 */
export function textCell(text: string): string {
  const safe = changed.some((pattern) => pattern.test(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What spreadsheet programs know UTF-8 by. */
export const byteOrderMark = '\uFEFF';
