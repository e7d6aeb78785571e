// People that a schedule chooses by a date: which dates are due on a day, and which rounds can be expected. Pure.
import type { ByDate } from '@soundings/contract/console/by-date.ts';
import { addDays } from '../send-times.ts';

/** The first and the last date that are due on a day (YYYY-MM-DD). */
export type DateRange = { first: string; last: string };

/** The longest range of dates in days. Together with `askedFor` it makes sure that no one is asked twice for the same date. */
export const longestRange = 365;

/** The earliest and the latest day, seen from a date, on which a person can be asked. */
export const farthestDays = 1095;

/** The number of days in which a person who was asked is not asked again, counted from the Monday of the week: the longest range and a week. */
export const askedFor = longestRange + 6;

/**
 * Returns the minimum number of people that is suggested for a threshold: half as many again. When two of three people answer, as is usual,
 * the threshold is then reached.
 */
export const usualMinimum = (threshold: number): number => Math.ceil(1.5 * threshold);

/** Returns the dates of the people who are due on a day. */
export const datesDue = ({ side, fromDays, untilDays }: ByDate, day: string): DateRange =>
  side === 'after'
    ? { first: addDays(day, -untilDays), last: addDays(day, -fromDays) }
    : { first: addDays(day, fromDays), last: addDays(day, untilDays) };

/** People with the same date in the same asked groups. */
export type PeopleByDate = { date: string; groupIds: number[]; people: number };

export type ExpectedRound = { day: string; people: number; waiting: number };

/**
 * Returns the rounds that can be expected on these days, in their order. A group that is asked has a round if at least `minimum` of its people
 * are due who were not asked before. `people`: how many are asked in all. `waiting`: how many are due and not asked.
 */
export function expectedRounds(
  rule: ByDate,
  all: readonly PeopleByDate[],
  days: readonly string[],
  minimum: number,
): ExpectedRound[] {
  let left = [...all];
  return days.map((day) => {
    const { first, last } = datesDue(rule, day);
    const due = left.filter(({ date }) => date >= first && date <= last);
    const sizes = new Map<number, number>();
    for (const { groupIds, people } of due)
      for (const id of groupIds) sizes.set(id, (sizes.get(id) ?? 0) + people);
    const isAsked = ({ groupIds }: PeopleByDate) => groupIds.some((id) => (sizes.get(id) ?? 0) >= minimum);
    const asked = new Set(due.filter(isAsked));
    left = left.filter((one) => !asked.has(one));
    const people = countOf([...asked]);
    return { day, people, waiting: countOf(due) - people };
  });
}

const countOf = (list: readonly PeopleByDate[]) => list.reduce((sum, { people }) => sum + people, 0);
