// Weeks as the console's results pages name them. Pure.
import type { ResultWeek } from '@soundings/contract/console/results/results.ts';
import { addWeeks, sixDigits, type Week, weeksFrom } from '@soundings/contract/weeks.ts';
import type { WeekOfResults } from './results.sql.ts';

/** The weeks of an account, and which of them have results to show. */
export type Weeks = {
  /** Weeks with results to show, newest first. */
  shown: ResultWeek[];
  /** The last week, if it shows nothing yet. */
  running: ResultWeek | null;
  /** Returns a week, whatever its state. */
  named(week: Week): ResultWeek;
  /**
   * Returns the `count` weeks up to `last` (by default the last shown), oldest first, starting no earlier than the first week
   * shown. Empty if no week is shown.
   */
  span(count: number, last?: Week): ResultWeek[];
};

/** Builds the weeks from rows, oldest first. */
export function weeksOf(rows: readonly WeekOfResults[]): Weeks {
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

/** Returns the first and the last of consecutive weeks; undefined if there are none. */
export const windowOfWeeks = (weeks: readonly ResultWeek[]): { first: Week; last: Week } | undefined =>
  weeks[0] && { first: weeks[0].week, last: weeks.at(-1)!.week };
