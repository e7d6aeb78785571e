// Which weeks a request asks for (§4.1, decision 8). Pure.
import { defaultWindowWeeks } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { addWeeks, isDay, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';

/** The first and the last week, both included. */
export type Window = { first: Week; last: Week };

/**
 * The weeks that have a day in the range; undefined when no range is given. Throws a Fault for a range that is half
 * given, reversed, or of days that do not exist.
 */
export function windowOf({ fromDate, toDate }: { fromDate?: string; toDate?: string }): Window | undefined {
  if (fromDate === undefined && toDate === undefined) return undefined;
  const details: Detail[] = [];
  for (const [path, day] of Object.entries({ fromDate, toDate })) {
    if (day === undefined) {
      const message = `"${path}" is missing: a range has both fromDate and toDate.`;
      details.push({ type: 'missing parameter', message, path });
    } else if (!isDay(day)) {
      const message = `Invalid value ${quote(day)} for "${path}": it must be a day that exists, as YYYY-MM-DD.`;
      details.push({ type: 'invalid parameter', message, path });
    }
  }
  if (details.length === 0 && (fromDate as string) > (toDate as string)) {
    const message = `"fromDate" (${fromDate}) must not be after "toDate" (${toDate}).`;
    details.push({ type: 'invalid parameter', message, path: 'fromDate' });
  }
  if (details[0]) throw new Fault('invalid', 'invalid parameter', details[0].message, { details });
  return { first: weekOf(fromDate as string), last: weekOf(toDate as string) };
}

/** The week of a day and the four before it. */
export function lastWeeks(today: string): Window {
  const last = weekOf(today);
  return { first: addWeeks(last, 1 - defaultWindowWeeks), last };
}
