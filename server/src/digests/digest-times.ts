// When digests are sent: on working days, at an hour in each person's time zone, and at most one in a calendar week. Pure.
import { dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { addDays, localTime, sendTimeOf, weekdayOf } from '../rounds/send-times.ts';

/** `days`: how many days after the day on which the week closes; `hour`: in the person's time zone. */
export type DigestTimes = { days: number; hour: number; timezone: string };

/** Returns when the digest of a week that closed at `closedAt` is sent: not before, and on a working day. In ms since 1970. */
export function digestTime(closedAt: number, { days, hour, timezone }: DigestTimes): number {
  let day = addDays(localTime(closedAt, timezone).day, days);
  while (weekdayOf(day) > 5 || sendTimeOf(day, hour, timezone) < closedAt) day = addDays(day, 1);
  return sendTimeOf(day, hour, timezone);
}

/** Returns the Monday of the calendar week in a time zone. */
export const mondayOf = (time: number, timezone: string): string => weekOf(dayIn(timezone, time));

/** Returns when a digest can be sent to someone who already got one this week: at the usual hour, next week. */
export const nextWeek = (now: number, times: DigestTimes): number =>
  digestTime(sendTimeOf(addDays(mondayOf(now, times.timezone), 7), 0, times.timezone), { ...times, days: 0 });
