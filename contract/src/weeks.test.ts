// ISO weeks, including all edge cases.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  addWeeks,
  dayIn,
  fourDigits,
  isDay,
  lastDay,
  sixDigits,
  weekName,
  weekNamed,
  weekOf,
  weeksFrom,
} from './weeks.ts';

const lists = new URL('../../../shared/data/lists/', import.meta.url);
const hasLists = existsSync(new URL('iso-weeks-mondays-1970-2100.csv', lists));
const rowsOf = (file: string) =>
  readFileSync(new URL(file, lists), 'utf8')
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(',') as [string, string, string, string, string]);

describe.skipIf(!hasLists)('compared with the list of weeks (skipped if the list is absent)', () => {
  test('every Monday from 1970 to 2100 has the name in the list', () => {
    const rows = rowsOf('iso-weeks-mondays-1970-2100.csv');
    expect(rows.length).toBe(6836);
    for (const [monday, year, number, six, four] of rows) {
      const name = `${year}-W${number}`;
      expect([weekOf(monday), weekName(monday), sixDigits(monday), fourDigits(monday)]).toEqual([
        monday,
        name,
        six,
        four,
      ]);
      expect(weekNamed(name)).toBe(monday);
    }
  });

  test('every day around New Year is in the week that the list gives', () => {
    for (const [day, year, number] of rowsOf('iso-weeks-year-edges.csv')) {
      expect(weekName(weekOf(day))).toBe(`${year}-W${number}`);
    }
  });
});

test('2026 has 53 weeks, 2025 has 52', () => {
  expect(weekNamed('2026-W53')).toBe('2026-12-28');
  expect(weekNamed('2025-W53')).toBeUndefined();
  expect(weekOf('2027-01-03')).toBe('2026-12-28');
});

test.each([
  '2026-W00',
  '0000-W01',
  '9999-W52',
  '2026-W54',
  '2026-W7',
  '2026W07',
  '2026-w07',
  '',
  '2026-W07 ',
])('"%s" is not a week', (name) => {
  expect(weekNamed(name)).toBeUndefined();
});

test.each([
  '2024-02-30',
  '2023-02-29',
  '2024-13-01',
  '2024-00-10',
  '2024-1-1',
  '20240101',
  '',
  ' 2024-01-01',
  '2024-01-01T00:00',
])('"%s" is not a day', (text) => {
  expect(isDay(text)).toBe(false);
});

test('29 February is a day in leap years', () => {
  expect(isDay('2024-02-29')).toBe(true);
  expect(isDay('2000-02-29')).toBe(true);
  expect(isDay('1900-02-29')).toBe(false);
});

test('a week is seven days from Monday to Sunday, and weeks follow one another', () => {
  expect(lastDay('2026-12-28')).toBe('2027-01-03');
  expect(addWeeks('2026-12-28', 1)).toBe('2027-01-04');
  expect(addWeeks('2027-01-04', -1)).toBe('2026-12-28');
  expect(weeksFrom('2026-12-21', '2027-01-04')).toEqual(['2026-12-21', '2026-12-28', '2027-01-04']);
  expect(weeksFrom('2027-01-04', '2026-12-28')).toEqual([]);
});

test('the day is the one in the time zone, also when clocks change', () => {
  const time = Date.parse('2026-03-29T23:30:00Z');
  expect(dayIn('UTC', time)).toBe('2026-03-29');
  expect(dayIn('Factory', time)).toBe('2026-03-29');
  expect(dayIn('Europe/Stockholm', time)).toBe('2026-03-30');
  expect(dayIn('Pacific/Kiritimati', time)).toBe('2026-03-30');
  expect(dayIn('Pacific/Pago_Pago', time)).toBe('2026-03-29');
});
