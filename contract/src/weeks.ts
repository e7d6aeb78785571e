// ISO 8601 weeks (decision E8). A week is identified by its Monday, as YYYY-MM-DD. These texts sort chronologically and mean the
// same in every time zone.

/** A week: its Monday, YYYY-MM-DD. */
export type Week = string;

const msPerDay = 86_400_000;

/** Returns the number of days from 1970-01-01 to a day (YYYY-MM-DD), or undefined if the day does not exist. */
function dayNumber(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  // Calendars disagree on years before 1: PostgreSQL has no year 0.
  if (year === undefined || year === '0000') return undefined;
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  const ms = Date.parse(`${year}-${month}-${date}T00:00:00Z`);
  return Number.isNaN(ms) || dayOf(ms / msPerDay) !== day ? undefined : ms / msPerDay;
}

const dayOf = (number: number): string => new Date(number * msPerDay).toISOString().slice(0, 10);

/** Whether a text is an existing day, YYYY-MM-DD. */
export const isDay = (text: string): boolean => dayNumber(text) !== undefined;

/** Returns the week of a day. Throws a RangeError if the day is invalid. */
export function weekOf(day: string): Week {
  const number = dayNumber(day);
  if (number === undefined) throw new RangeError(`${day} is not a valid day`);
  return dayOf(number - mondayOffset(number));
}

// 1970-01-01 was a Thursday.
const mondayOffset = (number: number) => (((number + 3) % 7) + 7) % 7;

/** Returns the week that is `count` weeks later, or earlier if `count` is negative. */
export const addWeeks = (week: Week, count: number): Week => dayOf((dayNumber(week) as number) + 7 * count);

/** Returns the Sunday of a week. */
export const lastDay = (week: Week): string => dayOf((dayNumber(week) as number) + 6);

/** Returns the ISO week year and week number. A week belongs to the year of its Thursday. */
function yearAndNumber(week: Week): { year: number; number: number } {
  const monday = dayNumber(week) as number;
  const year = Number(dayOf(monday + 3).slice(0, 4));
  const first = dayNumber(weekOf(`${String(year).padStart(4, '0')}-01-04`)) as number;
  return { year, number: (monday - first) / 7 + 1 };
}

const two = (number: number) => String(number).padStart(2, '0');

/** Returns the name of a week as files and the soundings command write it, such as 2026-W47. */
export function weekName(week: Week): string {
  const digits = sixDigits(week);
  return `${digits.slice(0, -2)}-W${digits.slice(-2)}`;
}

// Responses repeat the same few weeks thousands of times, and computing a name takes as long as the rest of its row.
const names = new Map<Week, string>();
const namesKept = 10_000;

/** Returns a week as six digits, GGGGWW, the form of KPI and response-rate values. */
export function sixDigits(week: Week): string {
  const known = names.get(week);
  if (known !== undefined) return known;
  const { year, number } = yearAndNumber(week);
  const name = `${year}${two(number)}`;
  if (names.size >= namesKept) names.clear();
  names.set(week, name);
  return name;
}

/** Returns a week as four digits, YYWW, the form of the keys of results and asked questions. */
export const fourDigits = (week: Week): string => sixDigits(week).slice(2);

/** Returns the week of a name such as 2026-W47, or undefined if it does not exist, such as 2025-W53. */
export function weekNamed(name: string): Week | undefined {
  const [, year, number] = /^(\d{4})-W(\d{2})$/.exec(name) ?? [];
  // In the first and last years, a week before or after this one would have no name.
  if (year === undefined || year === '0000' || year === '9999') return undefined;
  const week = addWeeks(weekOf(`${year}-01-04`), Number(number) - 1);
  return weekName(week) === name ? week : undefined;
}

/** Returns all weeks from `first` to `last`, including both. */
export function weeksFrom(first: Week, last: Week): Week[] {
  const weeks: Week[] = [];
  for (let week = first; week <= last; week = addWeeks(week, 1)) weeks.push(week);
  return weeks;
}

// There are about 600 zones, and creating a format is the slowest step.
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the day (YYYY-MM-DD) in a time zone at a time (milliseconds since 1970). */
export function dayIn(timezone: string, time: number): string {
  const format = formats.get(timezone) ?? dayFormat(timezone);
  formats.set(timezone, format);
  return format.format(time);
}

// en-CA writes YYYY-MM-DD. `Factory` is a zone of the tz database (at UTC) that Intl does not know.
const dayFormat = (timezone: string) =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone === 'Factory' ? 'UTC' : timezone,
    dateStyle: 'short',
  });
