// Converts the numbers of workbooks to what their formats show: dates, times, numbers with leading zeros, plain numbers. Pure.
import type { Cell } from './sheet.ts';

/** How a format shows a number. `zeros` is the width of a number with leading zeros. */
export type Shape = 'number' | 'date' | 'duration' | { zeros: number };

/** The built-in formats, by id. All others show plain numbers. */
export const builtInShapes: ReadonlyMap<number, Shape> = new Map([
  ...[14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 47].map((id): [number, Shape] => [id, 'date']),
  [46, 'duration'],
  // Formats of East Asia and Thailand.
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36].map((id): [number, Shape] => [id, 'date']),
  ...[50, 51, 52, 53, 54, 55, 56, 57, 58].map((id): [number, Shape] => [id, 'date']),
  ...[71, 72, 73, 74, 75, 76, 77, 78, 79, 81].map((id): [number, Shape] => [id, 'date']),
  [80, 'duration'],
]);

/** Returns how a format code such as yyyy-mm-dd shows numbers. */
export function shapeOf(code: string): Shape {
  // A format that consists only of zeros, such as 00000, shows leading zeros.
  if (/^0{2,}$/.test(code)) return { zeros: code.length };
  // Text in quotation marks, and the character after \, _ or *, is literal.
  const signs = code.replace(/"[^"]*"?|[\\_*]./gs, '');
  if (/\[(?:h+|m+|s+)\]/i.test(signs)) return 'duration';
  const letters = signs.replace(/\[[^\]]*\]/g, '').replace(/general|standard/gi, '');
  return /[ymdhs]|b1|b2|e(?![+-])/i.test(letters) ? 'date' : 'number';
}

/** Returns a number as its format shows it. Numbers that aren't finite are empty. */
export function shownNumber(value: number, shape: Shape, is1904: boolean): Cell {
  if (!Number.isFinite(value)) return null;
  if (shape === 'number') return value;
  if (shape === 'date' || shape === 'duration') return dateOf(value, shape === 'duration', is1904);
  return Number.isSafeInteger(value) && value >= 0 ? String(value).padStart(shape.zeros, '0') : value;
}

const daySeconds = 86_400;
const dayMs = daySeconds * 1000;
/** The day after 9999-12-31, in days since 1899-12-30. */
const endOfDays = 2_958_466;

/**
 * Returns the text of a date or time, which workbooks store as a number of days. The text has a time if there is one, and only
 * the time if the number is less than a day. Numbers outside the calendar stay numbers. Time zones play no role.
 */
function dateOf(count: number, isDuration: boolean, is1904: boolean): Cell {
  if (count < 0 || count >= endOfDays) return count;
  const seconds = Math.round(count * daySeconds);
  const days = Math.floor(seconds / daySeconds);
  const clock = clockOf(seconds - days * daySeconds);
  if (isDuration) return clockOf(seconds);
  if (days === 0 && (!is1904 || seconds > 0)) return clock;
  if (days === 60 && !is1904) return '1900-02-29'; // Exists in Excel, but in no calendar.
  // Because of that extra day, earlier days count from one day later.
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(first + days * dayMs).toISOString().slice(0, 10);
  return seconds === days * daySeconds ? date : `${date} ${clock}`;
}

function clockOf(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Converts a date or time in ISO 8601 to the text form of `shownNumber`. Returns any other text unchanged. */
export function isoDateOf(text: string): string {
  const [found, date = '1970-01-01', clock = '00:00:00'] =
    /^(\d{4}-\d\d-\d\d)?(?:(?:T|^)(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?Z?$/.exec(text) ?? [];
  const milliseconds = found ? Date.parse(`${date}T${clock}Z`) : Number.NaN;
  if (Number.isNaN(milliseconds)) return text;
  const rounded = new Date(Math.round(milliseconds / 1000) * 1000).toISOString().slice(0, 19);
  return text.startsWith(date) ? rounded.replace('T', ' ').replace(' 00:00:00', '') : rounded.slice(11);
}
