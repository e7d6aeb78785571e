// Determines the weeks that a request covers (§4.1, decision E8). Pure.
import { defaultWindowWeeks } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { addWeeks, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { refuseParameters } from '../../base/errors.ts';
import { dayFault } from '../../base/field-faults.ts';

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
    } else {
      const fault = dayFault(day);
      if (fault) details.push({ ...fault, type: 'invalid parameter', path });
    }
  }
  if (details.length === 0 && (fromDate as string) > (toDate as string)) {
    const message = `"fromDate" (${fromDate}) must not be after "toDate" (${toDate}).`;
    details.push({ type: 'invalid parameter', message, path: 'fromDate' });
  }
  refuseParameters(details);
  return { first: weekOf(fromDate as string), last: weekOf(toDate as string) };
}

/** Returns the week of a day and the four weeks before it. */
export function lastWeeks(today: string): Window {
  const last = weekOf(today);
  return { first: addWeeks(last, 1 - defaultWindowWeeks), last };
}
