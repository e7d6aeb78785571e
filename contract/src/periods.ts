// The periods that a report covers: a week such as 2026-W38, or a quarter of weeks such as 2026-Q3. Pure.
import { addWeeks, sixDigits, type Week, weekName, weekNamed } from './weeks.ts';

/** `first` and `last`: its first and last week, which are the same for a week. */
export type Period = { kind: 'week' | 'quarter'; name: string; first: Week; last: Week };

/** A quarter has 13 weeks. Week 53, if there is one, belongs to the last quarter. */
const weeksOfQuarter = 13;

/** Returns the period of a name, or undefined if there is no such week or quarter. */
export function periodNamed(name: string): Period | undefined {
  const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(name) ?? [];
  if (year === undefined) {
    const week = weekNamed(name);
    return week === undefined ? undefined : periodOfWeek(week);
  }
  const number = Number(quarter);
  const numbered = (week: number) => weekNamed(`${year}-W${String(week).padStart(2, '0')}`);
  const first = numbered((number - 1) * weeksOfQuarter + 1);
  if (first === undefined) return undefined;
  const end = addWeeks(first, weeksOfQuarter - 1);
  return { kind: 'quarter', name, first, last: number === 4 ? (numbered(53) ?? end) : end };
}

export const periodOfWeek = (week: Week): Period => ({
  kind: 'week',
  name: weekName(week),
  first: week,
  last: week,
});

/** Returns the quarter that contains a week. */
export function quarterOfWeek(week: Week): Period {
  const digits = sixDigits(week);
  const quarter = Math.min(4, Math.ceil(Number(digits.slice(-2)) / weeksOfQuarter));
  return periodNamed(`${digits.slice(0, -2)}-Q${quarter}`) as Period;
}
