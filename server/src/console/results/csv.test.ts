// The table of a group's overview.
import type { GroupResults, RollingFigure } from '@soundings/contract/console/results/results.ts';
import { expect, test } from 'vitest';
import { readCsv } from '../../testing/csv.ts';
import { groupTable, tableTexts } from './csv.ts';

test('the difference from the comparison is in the row of the last rolling value, also if later weeks have none; marks name each column', () => {
  const weeks = ['2026-09-07', '2026-09-14', '2026-09-21'];
  const change = { by: 0.1, since: weeks[0], questions: 1, verdict: 'unclear', handedOut: true };
  const rolling = ([0.6, 0.7, null] as const).map(
    (value, i) =>
      ({
        week: weeks[i],
        value,
        handedOut: false,
        margin: null,
        change: i === 1 ? change : null,
      }) as RollingFigure,
  );
  const difference = { value: 0.62, by: 0.08, verdict: 'up', handedOut: true };
  const results = {
    weeks: weeks.map((week) => ({ week })),
    rates: [],
    comparison: { kind: 'halfYear', group: null, available: ['halfYear', 'none'] },
    kpis: [{ id: 'pace', name: 'Pace', values: [], rolling, difference }],
  } as unknown as GroupResults;
  const cellsIn = (language: string) =>
    readCsv(groupTable(results, tableTexts.in(language)).replace('\uFEFF', '')).map((row) => row.slice(-3));
  expect(cellsIn('en')).toEqual([
    [
      'Pace, difference from half a year ago',
      'Pace, difference from half a year ago, clear',
      'Based partly on handed-out links',
    ],
    ['', '', ''],
    ['8', 'up', 'Pace, change; Pace, difference from half a year ago'],
    ['', '', ''],
  ]);
  expect(cellsIn('sv')[0]?.[0]).toBe('Pace, skillnad mot ett halvår tidigare');
});
