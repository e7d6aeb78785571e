// What is wrong with how a schedule chooses people by a date. Pure.
import type { ByDate } from '@soundings/contract/console/by-date.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { quote } from '../../base/text.ts';
import type { Repetition } from '../send-times.ts';
import { farthestDays, longestRange } from './due-days.ts';

/** The highest minimum number of people. */
const mostPeople = 1000;

/** `attributes`: those of the account. `threshold`: the account's threshold for figures. */
export type KnownToCheck = { attributes: { has(name: string): boolean }; threshold: number };

/** Returns everything that is wrong with the rule of a schedule that chooses people by a date. */
export function dateFaults(
  { attribute, fromDays, untilDays, minPeople }: ByDate,
  { repeat, repeatWeeks }: Pick<Repetition, 'repeat' | 'repeatWeeks'>,
  { attributes, threshold }: KnownToCheck,
): Detail[] {
  const details: Detail[] = [];
  const length = untilDays - fromDays + 1;
  const between = repeat === 'once' ? 1 : repeat === 'monthly' ? 35 : 7 * repeatWeeks;
  const inRange = (message: string) =>
    details.push({ type: 'invalid date range', message, path: 'dateRange' });
  if (!attributes.has(attribute)) {
    const message = `The attribute ${quote(attribute)} does not exist. Choose an attribute that contains dates.`;
    details.push({ type: 'date attribute not found', message, path: 'dateAttribute' });
  }
  if (untilDays > farthestDays)
    inRange(`The range must end at most ${farthestDays} days before or after the date.`);
  else if (length < 1) inRange('The second number of days must not be lower than the first.');
  else if (length > longestRange)
    inRange(
      `The range can be at most ${longestRange} days long, because a person is asked at most once a year. It is ${length} days long.`,
    );
  else if (length < between)
    inRange(
      `The range is ${length} days long, but ${between} days can pass between two rounds, so people would be left out. ` +
        `Make it at least ${between} days long, or let the schedule ask more often.`,
    );
  if (minPeople < threshold || minPeople > mostPeople) {
    const message =
      `The minimum number of people must be from ${threshold} to ${mostPeople}. ` +
      `The answers of fewer than ${threshold} people are never shown.`;
    details.push({ type: 'too few people', message, path: 'minPeople' });
  }
  return details;
}
