// When a schedule is due, and when people may be written to, in the time zone of each (issue of asking). Pure.
import { addWeeks, dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';

/** How often, and when. `weekday`: 1 is Monday; days YYYY-MM-DD, `untilDay` included. */
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

/** The hours of working days in which people are written to unless a schedule says otherwise: from 8 to before 20. */
export const workingHours = { first: 8, last: 19 };

/** A day so many days later. */
export const addDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * msPerDay).toISOString().slice(0, 10);

/** The day on which a repetition falls in a week, if it falls in it. */
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

/** The weeks in which a repetition falls, from one week on, at most `count`, and none later than two years on. */
export function weeksDue(repetition: Repetition, from: Week, count: number): Week[] {
  const weeks: Week[] = [];
  let week = repetition.fromDay > from ? weekOf(repetition.fromDay) : from;
  for (let i = 0; i < 105 && weeks.length < count; i++, week = addWeeks(week, 1)) {
    if (dayDue(repetition, week) !== undefined) weeks.push(week);
  }
  return weeks;
}

/** 1: Monday. */
export const weekdayOf = (day: string): number => daysBetween(weekOf(day), day) + 1;

const daysBetween = (from: string, to: string) =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / msPerDay);

/** The moment (milliseconds since 1970) of an hour of a day in a time zone; of an hour that is left out, the one after. */
export function momentOf(day: string, hour: number, timezone: string): number {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + hour * msPerHour;
  // Time zones are at most 14 hours ahead and 12 behind; a change of clocks lies between two tries at most.
  const first = asUtc - offsetAt(timezone, asUtc);
  const second = asUtc - offsetAt(timezone, first);
  return asUtc - offsetAt(timezone, second) === second ? second : Math.max(first, second);
}

/** By how many ms a time zone is ahead of UTC at a moment. */
function offsetAt(timezone: string, moment: number): number {
  const { day, hour, rest } = localTime(moment, timezone);
  return Date.parse(`${day}T00:00:00Z`) + hour * msPerHour + rest - moment;
}

/** The day and hour that it is in a time zone, and the ms since that hour began. */
export function localTime(moment: number, timezone: string): { day: string; hour: number; rest: number } {
  const parts = timeFormat(timezone).formatToParts(moment);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const rest = part('minute') * 60_000 + part('second') * 1000 + (((moment % 1000) + 1000) % 1000);
  return { day: dayIn(timezone, moment), hour: part('hour'), rest };
}

const formats = new Map<string, Intl.DateTimeFormat>();

function timeFormat(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone === 'Factory' ? 'UTC' : timezone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timezone, made);
  return made;
}

/**
 * When a message that was to go out at `planned` can go out, now that it is `now`: at once when it is late, but not at
 * night or on a weekend unless `anyHour`. Undefined when the week (by the time zone of the account) has ended by then.
 */
export function sendableAt(
  planned: number,
  now: number,
  { timezone, anyHour, weekEnd }: { timezone: string; anyHour: boolean; weekEnd: number },
): number | undefined {
  if (planned >= now) return planned < weekEnd ? planned : undefined;
  const moment = anyHour ? now : workingMoment(now, timezone);
  return moment < weekEnd ? moment : undefined;
}

/** The first moment from `now` on in the working hours of a time zone. */
function workingMoment(now: number, timezone: string): number {
  const { day, hour } = localTime(now, timezone);
  const isWorkday = weekdayOf(day) <= 5;
  if (isWorkday && hour >= workingHours.first && hour <= workingHours.last) return now;
  let next = isWorkday && hour < workingHours.first ? day : addDays(day, 1);
  while (weekdayOf(next) > 5) next = addDays(next, 1);
  return momentOf(next, workingHours.first, timezone);
}

/** The first moment after a week in a time zone. */
export const endOf = (week: Week, timezone: string): number => momentOf(addWeeks(week, 1), 0, timezone);
