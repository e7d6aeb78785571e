// People that a schedule chooses by a date: who is due on a day, and that a range without gaps reaches everyone, once.
import type { ByDate } from '@soundings/contract/console/by-date.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../testing/house/cases.ts';
import { addDays } from '../send-times.ts';
import { dateFaults } from './date-faults.ts';
import { datesDue, expectedRounds, longestRange, type PeopleByDate, usualMinimum } from './due-days.ts';

const rule = (more: Partial<ByDate> = {}): ByDate => ({
  attribute: 'start date',
  side: 'after',
  fromDays: 30,
  untilDays: 59,
  minPeople: 8,
  ...more,
});
const weekly = { repeat: 'weeks', repeatWeeks: 1 } as const;
const known = { attributes: new Set(['start date']), threshold: 5 };
const faultsOf = (more: Partial<ByDate>, repetition: Parameters<typeof dateFaults>[1] = weekly) =>
  dateFaults(rule(more), repetition, known).map(({ type, path }) => [type, path]);

describe('the dates that are due', () => {
  test('are that many days before the day of the round, or after it', () => {
    expect(datesDue(rule(), '2026-11-16')).toEqual({ first: '2026-09-18', last: '2026-10-17' });
    expect(datesDue(rule({ side: 'before', fromDays: 0, untilDays: 13 }), '2026-11-16')).toEqual({
      first: '2026-11-16',
      last: '2026-11-29',
    });
  });
});

describe('a rule', () => {
  test('is accepted up to its limits', () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ minPeople: 5 })).toEqual([]);
    expect(faultsOf({ fromDays: 0, untilDays: longestRange - 1 })).toEqual([]);
    expect(faultsOf({ fromDays: 30, untilDays: 36 })).toEqual([]);
    expect(faultsOf({ fromDays: 30, untilDays: 30 }, { repeat: 'once', repeatWeeks: 1 })).toEqual([]);
  });

  test.each<[string, Partial<ByDate>, [string, string]]>([
    [
      'an attribute that does not exist',
      { attribute: 'none' },
      ['date attribute not found', 'dateAttribute'],
    ],
    ['a range that ends before it begins', { untilDays: 29 }, ['invalid date range', 'dateRange']],
    ['a range longer than a year', { fromDays: 0, untilDays: 365 }, ['invalid date range', 'dateRange']],
    [
      'a range that ends too far away',
      { fromDays: 1090, untilDays: 1096 },
      ['invalid date range', 'dateRange'],
    ],
    ['a range shorter than a week', { untilDays: 35 }, ['invalid date range', 'dateRange']],
    ['fewer people than the threshold', { minPeople: 4 }, ['too few people', 'minPeople']],
    ['more people than any round has', { minPeople: 1001 }, ['too few people', 'minPeople']],
  ])('is refused with %s', (_, more, fault) => {
    expect(faultsOf(more)).toEqual([fault]);
  });

  test('must reach from one round to the next, so that no one is left out', () => {
    expect(faultsOf({ untilDays: 63 }, { repeat: 'monthly', repeatWeeks: 1 })).toEqual([
      ['invalid date range', 'dateRange'],
    ]);
    expect(faultsOf({ untilDays: 64 }, { repeat: 'monthly', repeatWeeks: 1 })).toEqual([]);
    expect(faultsOf({ untilDays: 42 }, { repeat: 'weeks', repeatWeeks: 2 })).toHaveLength(1);
    expect(faultsOf({ untilDays: 43 }, { repeat: 'weeks', repeatWeeks: 2 })).toEqual([]);
  });

  test('suggests a minimum with which two thirds of answers reach the threshold', () => {
    for (let threshold = 3; threshold <= 50; threshold++) {
      expect((usualMinimum(threshold) * 2) / 3).toBeGreaterThanOrEqual(threshold);
    }
  });
});

describe('the rounds that can be expected', () => {
  const person = (date: string, ...groupIds: number[]): PeopleByDate => ({ date, groupIds, people: 1 });
  const days = ['2026-11-16', '2026-11-23', '2026-11-30'];

  test('wait until a group has enough people, and ask each only once', () => {
    const all = [
      ...Array.from({ length: 3 }, () => person('2026-10-10', 1)),
      ...Array.from({ length: 5 }, () => person('2026-10-20', 1)),
    ];
    expect(expectedRounds(rule(), all, days, 8)).toEqual([
      { day: '2026-11-16', people: 0, waiting: 3 },
      { day: '2026-11-23', people: 8, waiting: 0 },
      { day: '2026-11-30', people: 0, waiting: 0 },
    ]);
  });

  test('count each asked group separately', () => {
    const all = [
      ...Array.from({ length: 5 }, () => person('2026-10-10', 1)),
      ...Array.from({ length: 4 }, () => person('2026-10-10', 2)),
    ];
    expect(expectedRounds(rule(), all, days.slice(0, 1), 5)).toEqual([
      { day: '2026-11-16', people: 5, waiting: 4 },
    ]);
  });

  test('never have fewer people than the minimum, and lose only people whose range ends while they wait', () => {
    const anyone = fc.record({
      date: fc.integer({ min: -90, max: 30 }).map((count) => addDays('2026-11-16', count)),
      groupIds: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1 }),
      people: fc.integer({ min: 1, max: 4 }),
    });
    const weeks = Array.from({ length: 12 }, (_, i) => addDays('2026-11-16', 7 * i));
    const length = fc.integer({ min: 7, max: 40 });
    fc.assert(
      fc.property(
        fc.array(anyone, { maxLength: 40 }),
        length,
        fc.integer({ min: 1, max: 9 }),
        (all, range, minimum) => {
          const byDate = rule({ fromDays: 10, untilDays: 9 + range });
          const rounds = expectedRounds(byDate, all, weeks, minimum);
          for (const { people } of rounds) expect(people === 0 || people >= minimum).toBe(true);
          const asked = rounds.reduce((sum, { people }) => sum + people, 0);
          const dueOn = (day: string) => datesDue(byDate, day);
          const everDue = all.filter(({ date }) =>
            weeks.some((day) => date >= dueOn(day).first && date <= dueOn(day).last),
          );
          expect(asked).toBeLessThanOrEqual(everDue.reduce((sum, { people }) => sum + people, 0));
          // With a minimum of one person, everyone who is ever due is asked.
          const withoutMinimum = expectedRounds(byDate, all, weeks, 1).reduce(
            (sum, { people }) => sum + people,
            0,
          );
          expect(withoutMinimum).toBe(everDue.reduce((sum, { people }) => sum + people, 0));
        },
      ),
      cases(150),
    );
  });
});
