// Computes when a schedule is due, and when people can get messages, in each person's time zone. Pure.
import { workingHours } from '@soundings/contract/limits.ts';
import { addWeeks, dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';

/** How often and when a schedule asks. `weekday`: 1 is Monday. Days are YYYY-MM-DD; `untilDay` is included. */
export type Repetition = {
  repeat: 'once' | 'weeks' | 'monthly';
  repeatWeeks: number;
  weekday: number;
  hour: number;
  fromDay: string;
  untilDay: string | null;
};

const msPerDay = 86_400_000;
const msPerHour = 3_600_000;

/** Returns the day `count` days later. */
export const addDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * msPerDay).toISOString().slice(0, 10);

/** Returns the day on which a repetition is due in a week; undefined if it is not due in that week. */
export function dayDue(repetition: Repetition, week: Week): string | undefined {
  const { repeat, repeatWeeks, weekday, fromDay, untilDay } = repetition;
  const day = addDays(week, weekday - 1);
  if (day < fromDay || (untilDay !== null && day > untilDay)) return undefined;
  const first = addDays(fromDay, (weekday - weekdayOf(fromDay) + 7) % 7);
  switch (repeat) {
    case 'once':
      return day === first ? day : undefined;
    case 'weeks':
      return daysBetween(first, day) % (7 * repeatWeeks) === 0 ? day : undefined;
    case 'monthly':
      return Number(day.slice(8)) <= 7 ? day : undefined;
  }
}

/** Returns the weeks in which a repetition is due, starting with `from`: at most `count`, and at most two years ahead. */
export function weeksDue(repetition: Repetition, from: Week, count: number): Week[] {
  const weeks: Week[] = [];
  let week = repetition.fromDay > from ? weekOf(repetition.fromDay) : from;
  for (let i = 0; i < 105 && weeks.length < count; i++, week = addWeeks(week, 1)) {
    if (dayDue(repetition, week) !== undefined) weeks.push(week);
  }
  return weeks;
}

/** Returns the weekday of a day; 1 is Monday. */
export const weekdayOf = (day: string): number => daysBetween(weekOf(day), day) + 1;

const daysBetween = (from: string, to: string) =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / msPerDay);

/** Returns the time (ms since 1970) of an hour of a day in a time zone. If the clock change skips the hour, returns the following one. */
export function sendTimeOf(day: string, hour: number, timezone: string): number {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + hour * msPerHour;
  // Time zones are at most 14 hours ahead and 12 hours behind, so at most one clock change lies between the two attempts.
  const first = asUtc - offsetAt(timezone, asUtc);
  const second = asUtc - offsetAt(timezone, first);
  return asUtc - offsetAt(timezone, second) === second ? second : Math.max(first, second);
}

/** Returns how many ms a time zone is ahead of UTC at a time. */
function offsetAt(timezone: string, time: number): number {
  const { day, hour, rest } = localTime(time, timezone);
  return Date.parse(`${day}T00:00:00Z`) + hour * msPerHour + rest - time;
}

/** Returns the day and hour in a time zone, and the ms since the hour began. */
export function localTime(time: number, timezone: string): { day: string; hour: number; rest: number } {
  const parts = timeFormat(timezone).formatToParts(time);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const rest = part('minute') * 60_000 + part('second') * 1000 + (((time % 1000) + 1000) % 1000);
  return { day: dayIn(timezone, time), hour: part('hour'), rest };
}

const formats = new Map<string, Intl.DateTimeFormat>();

function timeFormat(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone === 'Factory' ? 'UTC' : timezone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timezone, format);
  return format;
}

/**
 * Returns when a message planned for `planned` can be sent. A late message is sent immediately, but not at night or on a weekend
 * unless `anyHour`. Undefined if the week (in the account's time zone) will have ended by then.
 */
export function sendableAt(
  planned: number,
  now: number,
  { timezone, anyHour, weekEnd }: { timezone: string; anyHour: boolean; weekEnd: number },
): number | undefined {
  if (planned >= now) return planned < weekEnd ? planned : undefined;
  const time = anyHour ? now : nextWorkingTime(now, timezone);
  return time < weekEnd ? time : undefined;
}

/** Returns the first time from `now` on that is within working hours in a time zone. */
export function nextWorkingTime(now: number, timezone: string): number {
  const { day, hour } = localTime(now, timezone);
  const isWorkday = weekdayOf(day) <= 5;
  if (isWorkday && hour >= workingHours.first && hour <= workingHours.last) return now;
  let next = isWorkday && hour < workingHours.first ? day : addDays(day, 1);
  while (weekdayOf(next) > 5) next = addDays(next, 1);
  return sendTimeOf(next, workingHours.first, timezone);
}

/** Returns the time at which a week ends in a time zone. */
export const endOf = (week: Week, timezone: string): number => sendTimeOf(addWeeks(week, 1), 0, timezone);
