// Weeks as the console's pages of results name them. Pure.
import type { ResultWeek } from '@soundings/contract/console.results.ts';
import { addWeeks, sixDigits, type Week, weeksFrom } from '@soundings/contract/weeks.ts';
import type { WeekRow } from './results.sql.ts';

/** The weeks of an account, and what of them is shown. */
export type Weeks = {
  /** Of which something is shown, newest first. */
  shown: ResultWeek[];
  /** The last week, where it shows nothing yet. */
  running: ResultWeek | null;
  /** A week, whatever its state. */
  named(week: Week): ResultWeek;
  /**
   * All weeks of a span that ends with one (without: the last shown), oldest first, from the first that is shown on; none when
   * nothing is.
   */
  span(count: number, last?: Week): ResultWeek[];
};

/** Reads rows that come oldest first. */
export function weeksOf(rows: readonly WeekRow[]): Weeks {
  const states = new Map(rows.map((row) => [row.week, row]));
  const named = (week: Week): ResultWeek => {
    const row = states.get(week);
    const digits = sixDigits(week);
    return {
      week,
      year: Number(digits.slice(0, -2)),
      number: Number(digits.slice(-2)),
      state: row?.state ?? 'none',
      thresholds: row?.thresholds ?? null,
    };
  };
  const shown = rows
    .filter(({ state }) => state !== 'open')
    .map(({ week }) => named(week))
    .toReversed();
  const newest = rows.at(-1);
  return {
    shown,
    running: newest?.state === 'open' ? named(newest.week) : null,
    named,
    span(count, last = shown[0]?.week) {
      const oldest = shown.at(-1)?.week;
      if (last === undefined || oldest === undefined) return [];
      const first = addWeeks(last, 1 - count);
      return weeksFrom(first < oldest ? oldest : first, last).map(named);
    },
  };
}

/** The first and the last of weeks in a row; undefined when there are none. */
export const windowOfWeeks = (weeks: readonly ResultWeek[]): { first: Week; last: Week } | undefined =>
  weeks[0] && { first: weeks[0].week, last: weeks.at(-1)!.week };
