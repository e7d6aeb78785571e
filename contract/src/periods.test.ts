import { expect, test } from 'vitest';
import { periodNamed, quarterOfWeek } from './periods.ts';
import { addWeeks, weekName, weeksFrom } from './weeks.ts';

test('a week and a quarter have their first and last week', () => {
  expect(periodNamed('2026-W38')).toEqual({
    kind: 'week',
    name: '2026-W38',
    first: '2026-09-14',
    last: '2026-09-14',
  });
  const { first, last } = periodNamed('2026-Q3')!;
  expect([weekName(first), weekName(last)]).toEqual(['2026-W27', '2026-W39']);
});

test('the last quarter includes week 53 of years that have one', () => {
  expect(weekName(periodNamed('2026-Q4')!.last)).toBe('2026-W53');
  expect(weekName(periodNamed('2025-Q4')!.last)).toBe('2025-W52');
});

test('a name of a week or quarter that does not exist has no period', () => {
  for (const name of ['2025-W53', '2026-Q5', '2026-Q0', '0000-Q1', '2026', '', '2026-w38', '2026-Q3 '])
    expect([name, periodNamed(name)]).toEqual([name, undefined]);
});

test('the quarters of a year follow each other without a gap, and contain the weeks that name them', () => {
  for (const week of weeksFrom('2019-12-30', '2031-01-06')) {
    const quarter = quarterOfWeek(week);
    expect(quarter.first <= week && week <= quarter.last).toBe(true);
    expect(quarterOfWeek(addWeeks(quarter.last, 1)).first).toBe(addWeeks(quarter.last, 1));
  }
});
