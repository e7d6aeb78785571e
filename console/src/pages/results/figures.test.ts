// Calculations for charts and pages of results: axes, gaps, changes and colours. A line never crosses a withheld value.
import { clearPoints, pointsOf } from '@soundings/contract/console/results/points.ts';
import type {
  FigureChange,
  HeatRow,
  RollingFigure,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import { describe, expect, test } from 'vitest';
import {
  bandPathOf,
  axisOf,
  labelsThatFit,
  markedPoints,
  pathOf,
  lineSegmentsOf,
} from '../../ui/charts/scale.ts';
import {
  colourBoundsOf,
  differenceBounds,
  directionOf,
  extremesOf,
  heatFigure,
  heatStep,
  intervalOf,
  lastComments,
  lastRolling,
  barPartsOf,
  rollingOn,
} from './figures.ts';

const limits = { low: 0, high: 100 };

describe('an axis', () => {
  test.each([
    [[71, 74], { low: 65, high: 80 }],
    [[0, 100], { low: 0, high: 100 }],
    [[99, 100], { low: 85, high: 100 }],
    [[], { low: 0, high: 100 }],
  ])('for %j has round bounds around all values, within the limits', (values, bounds) => {
    const axis = axisOf(values, limits);
    expect(axis).toMatchObject(bounds);
    expect(axis.ticks[0]).toBe(axis.low);
    expect(axis.ticks.length).toBeGreaterThan(2);
    for (const value of values) expect(axis.low <= value && value <= axis.high).toBe(true);
  });

  test('always has its last label, and not more labels than fit', () => {
    expect(labelsThatFit(10, 100, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(labelsThatFit(10, 50, 10)).toEqual([1, 3, 5, 7, 9]);
    expect(labelsThatFit(3, 1, 10)).toEqual([2]);
    expect(labelsThatFit(0, 100, 10)).toEqual([]);
  });
});

describe('a line', () => {
  test('has a gap where weeks are withheld, and where more weeks than usual asked nothing', () => {
    expect(lineSegmentsOf([1, 2, null, 4])).toEqual([
      { from: 0, to: 1, isGap: false },
      { from: 1, to: 3, isGap: true },
    ]);
    const rare = [1, undefined, undefined, undefined, 2];
    expect(lineSegmentsOf(rare)).toEqual([{ from: 0, to: 4, isGap: false }]);
    expect(lineSegmentsOf([1, 2, 3, undefined, undefined, undefined, undefined, 4]).at(-1)).toMatchObject({
      isGap: true,
    });
  });

  test('marks points that no line leads to, and all points if there are only a few', () => {
    const points = [1, 2, null, 4];
    expect(markedPoints(points, lineSegmentsOf(points))).toEqual([3]);
    expect(markedPoints(points, lineSegmentsOf(points), 3)).toEqual([0, 1, 3]);
  });

  test('continues if a segment starts at the end of the previous one', () => {
    const lineSegments = [
      { from: 0, to: 1, isGap: false },
      { from: 1, to: 2, isGap: false },
      { from: 3, to: 4, isGap: false },
    ];
    expect(pathOf(lineSegments, (i) => [i, i / 3])).toBe('M0 0L1 0.3L2 0.7M3 1L4 1.3');
  });
});

const change = (by: number, verdict: Verdict = by > 0 ? 'up' : 'down'): FigureChange => ({
  by,
  since: '2026-09-14',
  questions: 4,
  verdict,
  handedOut: false,
});
const rollingAt = (week: string, value: number | null, margin: number | null = 0.03): RollingFigure => ({
  week,
  value,
  margin,
  handedOut: false,
  questions: 5,
  firstWeek: '2026-08-17',
  lastWeek: week,
  change: null,
});

describe('a change', () => {
  test('has a direction, and therefore an arrow and a colour, only if it is clear', () => {
    expect(directionOf(change(0.05))).toBe('up');
    expect(directionOf(change(-0.05))).toBe('down');
    expect(directionOf(change(0.4, 'unclear'))).toBeUndefined();
    expect([directionOf(null), directionOf(undefined)]).toEqual([undefined, undefined]);
  });

  test('is in whole points; a clear change below one point is in tenths', () => {
    expect([0.114, -0.114, 0.005, 0.004, -0.004].map((by) => pointsOf(by))).toEqual([11, -11, 1, 0, 0]);
    expect([0.114, 0.004, -0.004].map((by) => clearPoints(change(by)))).toEqual([11, 0.4, -0.4]);
    expect(clearPoints(change(0.004, 'unclear'))).toBe(0);
    expect(Object.is(pointsOf(-0.0001, true), 0)).toBe(true);
  });
});

describe('an interval', () => {
  test('stays within 0 and 100, and is unknown for withheld figures', () => {
    expect(intervalOf({ value: 0.99, margin: 0.05 })).toEqual({ low: 94, high: 100 });
    expect(intervalOf({ value: 0.01, margin: 0.05 })?.low).toBe(0);
    expect([
      intervalOf({ value: null, margin: 0.05 }),
      intervalOf({ value: 0.5, margin: null }),
      intervalOf(undefined),
    ]).toEqual([undefined, undefined, undefined]);
  });

  test('is drawn in the week of its value', () => {
    const weeks = ['2026-11-02', '2026-11-09', '2026-11-16'].map((week) => ({ week }));
    const { points, band } = rollingOn(weeks as never, [
      rollingAt('2026-11-02', 0.5, 0.25),
      rollingAt('2026-11-16', null),
    ]);
    expect(points).toEqual([50, undefined, null]);
    expect(band).toEqual([{ low: 25, high: 75 }, undefined, undefined]);
    expect(lastRolling([rollingAt('2026-11-02', 0.5), rollingAt('2026-11-16', null)])?.week).toBe(
      '2026-11-02',
    );
  });

  test('is drawn as an area along its line, with a new area after each gap', () => {
    const range = { low: 1, high: 2 };
    const lineSegments = [
      { from: 0, to: 1, isGap: false },
      { from: 1, to: 2, isGap: false },
      { from: 3, to: 4, isGap: false },
      { from: 4, to: 5, isGap: false },
    ];
    const path = bandPathOf(
      lineSegments,
      [range, range, range, range, range, undefined],
      (i) => i,
      (value) => value,
    );
    expect(path).toBe('M0 2L1 2L2 2L2 1L1 1L0 1ZM3 2L4 2L4 1L3 1Z');
  });
});

describe('the highest and lowest KPIs', () => {
  const kpi = (id: string, value: number | null, by?: number) => ({
    id,
    name: id,
    values: [],
    rolling: [rollingAt('2026-11-16', value)],
    difference: by === undefined ? null : { value: 0.5, by, verdict: 'unclear' as const, handedOut: false },
    bestEstimate: null,
  });
  const idsOf = (kpis: { id: string }[]) => kpis.map(({ id }) => id);

  test('are chosen by their difference from the comparison, and no KPI is in both lists', () => {
    const kpis = [kpi('a', 0.9, -0.2), kpi('b', 0.1, 0.3), kpi('c', 0.5, 0), kpi('d', null)];
    const { highest, lowest } = extremesOf(kpis);
    expect([idsOf(highest), idsOf(lowest)]).toEqual([['b'], ['a']]);
  });

  test('without a comparison are chosen by their values, at most three in each list', () => {
    const { highest, lowest } = extremesOf([1, 2, 3, 4, 5, 6, 7, 8].map((n) => kpi(String(n), n / 10)));
    expect([idsOf(highest), idsOf(lowest)]).toEqual([
      ['8', '7', '6'],
      ['1', '2', '3'],
    ]);
    expect(extremesOf([kpi('a', 0.4)])).toEqual({ highest: [], lowest: [] });
  });
});

test('the comments shown are those of the last week, or else the newest', () => {
  const of = (week: string, ...weeks: string[]) =>
    lastComments({
      last: { week: { week } },
      comments: { total: weeks.length, newest: weeks.map((one) => ({ week: one })) },
    } as never);
  expect(of('b', 'b', 'b', 'a')).toEqual({ week: 'b', rows: [{ week: 'b' }, { week: 'b' }] });
  expect(of('c', 'b', 'a')).toEqual({ week: undefined, rows: [{ week: 'b' }, { week: 'a' }] });
});

describe('a cell of the heat map', () => {
  const row = {
    values: [0.7, 0.6, null, 'none', 0.5],
    changes: [-0.05, null, null, null, null],
    differences: [0.1, 0.1, null, null, null],
    clear: [0],
    handedOut: [1],
    changesHandedOut: [],
    differencesHandedOut: [],
  } as unknown as HeatRow;
  const cells = (isDifference: boolean, bounds: { low: number; high: number } | undefined) =>
    row.values.map((_, kpi) => heatFigure(row, kpi, { bounds, isDifference }));

  test('is marked if the figure that the shown change or difference compares with is marked', () => {
    const bounds = { low: 0, high: 100 };
    const marksOf = (more: Partial<HeatRow>) =>
      [false, true].map((isDifference) => {
        const cell = heatFigure({ ...row, ...more }, 0, { bounds, isDifference });
        return cell.kind === 'shown' && cell.isHandedOut;
      });
    expect(marksOf({})).toEqual([false, false]);
    expect(marksOf({ changesHandedOut: [0] })).toEqual([true, false]);
    expect(marksOf({ differencesHandedOut: [0] })).toEqual([false, true]);
  });

  test('shows a score with its colour, and a change only if it is clear', () => {
    expect(cells(false, { low: 50, high: 70 })).toEqual([
      { kind: 'shown', value: 70, isDifference: false, step: 9, change: -0.05, isHandedOut: false },
      { kind: 'shown', value: 60, isDifference: false, step: 5, change: null, isHandedOut: true },
      { kind: 'withheld' },
      { kind: 'none' },
      { kind: 'shown', value: 50, isDifference: false, step: 1, change: null, isHandedOut: false },
    ]);
    expect(cells(false, undefined)[0]).toMatchObject({ value: 70, step: null });
  });

  test('shows a difference in colour only if it is clear, and never with the arrow of a change over time', () => {
    expect(cells(true, differenceBounds)).toEqual([
      { kind: 'shown', value: 10, isDifference: true, step: 7, change: null, isHandedOut: false },
      { kind: 'shown', value: 10, isDifference: true, step: null, change: null, isHandedOut: true },
      { kind: 'withheld' },
      { kind: 'none' },
      { kind: 'incomparable' },
    ]);
  });
});

describe('a colour', () => {
  test('is always one of nine steps', () => {
    expect([-10, 40, 65, 90, 200].map((value) => heatStep(value, 40, 90))).toEqual([1, 1, 5, 9, 9]);
    expect(heatStep(50, 50, 50)).toBe(5);
  });

  test('is not weakened by one outlier', () => {
    const scores = [...Array.from({ length: 60 }, (_, i) => 60 + (i % 20)), 3];
    expect(colourBoundsOf(scores)).toEqual({ low: 60, high: 80 });
    expect(colourBoundsOf([])).toEqual({ low: 40, high: 90 });
  });
});

describe('the parts of a distribution', () => {
  const labels = { detractors: 'D', passives: 'P', promoters: 'R' };
  const scale = [1, 2, 3, 4, 5].map((value) => ({ value, text: `t${value}` }));
  const distribution = (...keys: (number | string)[]) =>
    keys.map((key, i) => ({ key: String(key), count: i + 1 }));
  const partsFor = (type: 1 | 2 | 3 | 4, ...keys: (number | string)[]) =>
    barPartsOf(type, scale, distribution(...keys), labels).map(({ label, count }) => [label, count]);

  test('are the values, pairs of values for scales of ten, the three groups of the eNPS, or yes and no', () => {
    expect(partsFor(1, 5, 1)).toEqual([
      ['t1', 2],
      ['t2', 0],
      ['t3', 0],
      ['t4', 0],
      ['t5', 1],
    ]);
    expect(partsFor(2, 1, 2, 10)).toEqual([
      ['1–2', 3],
      ['3–4', 0],
      ['5–6', 0],
      ['7–8', 0],
      ['9–10', 3],
    ]);
    expect(partsFor(3, 0, 6, 7, 9, 10)).toEqual([
      ['D', 3],
      ['P', 3],
      ['R', 9],
    ]);
    expect(partsFor(4, 'yes', 'no')).toEqual([
      ['0', 2],
      ['t1', 1],
    ]);
  });
});
