// Determines the weeks that a request asks for (§4.1, decision E8). Pure.
import { defaultWindowWeeks } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { addWeeks, isDay, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { Fault } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';

/** The first and the last week, both included. */
export type Window = { first: Week; last: Week };

/**
 * Returns the weeks with at least one day in the range; undefined if no range is given. Throws a Fault if one end is missing, a
 * date is invalid or the range is reversed.
 */
export function windowOf({ fromDate, toDate }: { fromDate?: string; toDate?: string }): Window | undefined {
  if (fromDate === undefined && toDate === undefined) return undefined;
  const details: Detail[] = [];
  for (const [path, day] of Object.entries({ fromDate, toDate })) {
    if (day === undefined) {
      const message = `Missing "${path}". A range needs both fromDate and toDate.`;
      details.push({ type: 'missing parameter', message, path });
    } else if (!isDay(day)) {
      const message = `Invalid value ${quote(day)} for "${path}": it must be an existing date in the format YYYY-MM-DD.`;
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

/** Returns the week of a day and the four weeks before it. */
export function lastWeeks(today: string): Window {
  const last = weekOf(today);
  return { first: addWeeks(last, 1 - defaultWindowWeeks), last };
}
