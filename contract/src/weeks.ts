// ISO 8601 weeks (decision 8). A week is named by its Monday, as YYYY-MM-DD: such texts sort as the days do, and mean
// the same in every time zone.

/** A week: the day of its Monday, YYYY-MM-DD. */
export type Week = string;

const msPerDay = 86_400_000;

/** Days since 1970-01-01 of a day YYYY-MM-DD, or undefined when there is no such day. */
function dayNumber(day: string): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  // Of the years before 1 other calendars count otherwise: PostgreSQL has no year 0.
  if (year === undefined || year === '0000') return undefined;
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const ms = Date.parse(`${year}-${month}-${date}T00:00:00Z`);
  return Number.isNaN(ms) || dayOf(ms / msPerDay) !== day ? undefined : ms / msPerDay;
}

const dayOf = (number: number): string => new Date(number * msPerDay).toISOString().slice(0, 10);

/** Whether a text is a day YYYY-MM-DD that exists. */
export const isDay = (text: string): boolean => dayNumber(text) !== undefined;

/** The week that a day is in. Throws for what is no day. */
export function weekOf(day: string): Week {
  const number = dayNumber(day);
  if (number === undefined) throw new RangeError(`${day} is no day`);
  return dayOf(number - mondayOffset(number));
}

// 1970-01-01 was a Thursday.
const mondayOffset = (number: number) => (((number + 3) % 7) + 7) % 7;

/** The week that is `count` weeks later, or earlier. */
export const addWeeks = (week: Week, count: number): Week => dayOf((dayNumber(week) as number) + 7 * count);

/** The Sunday of a week. */
export const lastDay = (week: Week): string => dayOf((dayNumber(week) as number) + 6);

/** The ISO week-year and the number of the week in it: a week belongs to the year that its Thursday is in. */
function yearAndNumber(week: Week): { year: number; number: number } {
  const monday = dayNumber(week) as number;
  const year = Number(dayOf(monday + 3).slice(0, 4));
  const first = dayNumber(weekOf(`${String(year).padStart(4, '0')}-01-04`)) as number;
  return { year, number: (monday - first) / 7 + 1 };
}

const two = (number: number) => String(number).padStart(2, '0');

/** Such as 2026-W47: how files and the soundings command write a week. */
export function weekName(week: Week): string {
  const digits = sixDigits(week);
  return `${digits.slice(0, -2)}-W${digits.slice(-2)}`;
}

// Answers name the same few weeks thousands of times, and reckoning one takes as long as all else of its row.
const names = new Map<Week, string>();
const namesKept = 10_000;

/** Six digits, GGGGWW: the form of KPI and response-rate values. */
export function sixDigits(week: Week): string {
  const known = names.get(week);
  if (known !== undefined) return known;
  const { year, number } = yearAndNumber(week);
  const name = `${year}${two(number)}`;
  if (names.size >= namesKept) names.clear();
  names.set(week, name);
  return name;
}

/** Four digits, YYWW: the form of the keys of results and asked questions. */
export const fourDigits = (week: Week): string => sixDigits(week).slice(2);

/** The week of a name such as 2026-W47; undefined when there is none of that name, such as 2025-W53. */
export function weekNamed(name: string): Week | undefined {
  const [, year, number] = /^(\d{4})-W(\d{2})$/.exec(name) ?? [];
  // At both ends a neighbouring week would have no name.
  if (year === undefined || year === '0000' || year === '9999') return undefined;
  const week = addWeeks(weekOf(`${year}-01-04`), Number(number) - 1);
  return weekName(week) === name ? week : undefined;
}

/** All weeks from one to another, both included. */
export function weeksFrom(first: Week, last: Week): Week[] {
  const weeks: Week[] = [];
  for (let week = first; week <= last; week = addWeeks(week, 1)) weeks.push(week);
  return weeks;
}

// There are some 600 zones, and making a format takes longer than all else.
const formats = new Map<string, Intl.DateTimeFormat>();

/** The day, YYYY-MM-DD, that it is in a time zone of the tz database at a moment (milliseconds since 1970). */
export function dayIn(timezone: string, moment: number): string {
  const format = formats.get(timezone) ?? dayFormat(timezone);
  formats.set(timezone, format);
  return format.format(moment);
}

// en-CA writes YYYY-MM-DD. `Factory` is a zone of the tz database, at UTC, that Intl does not know.
const dayFormat = (timezone: string) =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone === 'Factory' ? 'UTC' : timezone,
    dateStyle: 'short',
  });
