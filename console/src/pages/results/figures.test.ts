// Calculations for charts and pages of results: axes, gaps, changes and colours. A line never crosses a withheld value.
import { describe, expect, test } from 'vitest';
import {
  boundsOf as axisOf,
  labelsThatFit,
  markedPoints,
  pathOf,
  fragmentsOf,
} from '../../ui/charts/scale.ts';
import { boundsOf, changeOver, changeWithin, difference, heatStep, lastShown, partsOf } from './figures.ts';

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
  test('has a gap for withheld weeks, and for more weeks without questions than usual', () => {
    expect(fragmentsOf([1, 2, null, 4])).toEqual([
      { from: 0, to: 1, isGap: false },
      { from: 1, to: 3, isGap: true },
    ]);
    const rare = [1, undefined, undefined, undefined, 2];
    expect(fragmentsOf(rare)).toEqual([{ from: 0, to: 4, isGap: false }]);
    expect(fragmentsOf([1, 2, 3, undefined, undefined, undefined, undefined, 4]).at(-1)).toMatchObject({
      isGap: true,
    });
  });

  test('marks points without a line to them, and all points if there are few', () => {
    const points = [1, 2, null, 4];
    expect(markedPoints(points, fragmentsOf(points))).toEqual([3]);
    expect(markedPoints(points, fragmentsOf(points), 3)).toEqual([0, 1, 3]);
  });

  test('continues if a segment starts at the end of the previous one', () => {
    const pieces = [
      { from: 0, to: 1, isGap: false },
      { from: 1, to: 2, isGap: false },
      { from: 3, to: 4, isGap: false },
    ];
    expect(pathOf(pieces, (i) => [i, i / 3])).toBe('M0 0L1 0.3L2 0.7M3 1L4 1.3');
  });
});

describe('a change', () => {
  test('is the difference of the scores as shown', () => {
    expect(changeOver([70.4, undefined, 71.5], 2)).toEqual({ by: 2, from: 0, to: 2 });
    expect(difference(0.704, 0.715)).toBe(-2);
    expect(difference(0.7, null)).toBeNull();
  });

  test('is measured from a shown value that is neither too recent nor too old', () => {
    expect(changeOver([60, 61, 62], 2)).toMatchObject({ from: 0 });
    expect(changeOver([60, null, 62, 63], 2)).toMatchObject({ from: 0 });
    expect(changeOver([60, null, null, null, null, null, null, 63], 2)).toBeUndefined();
    expect(changeWithin([50, 60, null, 63], 2)).toMatchObject({ from: 1, to: 3 });
    expect(changeWithin([50, null, null, 63], 2)).toBeUndefined();
    expect([changeOver([null], 1), lastShown([null, undefined])]).toEqual([undefined, -1]);
  });
});

describe('a colour', () => {
  test('is always one of nine steps', () => {
    expect([-10, 40, 65, 90, 200].map((value) => heatStep(value, 40, 90))).toEqual([1, 1, 5, 9, 9]);
    expect(heatStep(50, 50, 50)).toBe(5);
  });

  test('is not weakened by one outlier', () => {
    const scores = [...Array.from({ length: 60 }, (_, i) => 60 + (i % 20)), 3];
    expect(boundsOf(scores)).toEqual({ low: 60, high: 80 });
    expect(boundsOf([])).toEqual({ low: 40, high: 90 });
  });
});

describe('the parts of a distribution', () => {
  const labels = { detractors: 'D', passives: 'P', promoters: 'R' };
  const scale = [1, 2, 3, 4, 5].map((value) => ({ value, text: `t${value}` }));
  const distribution = (...keys: (number | string)[]) =>
    keys.map((key, i) => ({ key: String(key), count: i + 1 }));
  const partsFor = (type: number, ...keys: (number | string)[]) =>
    partsOf({ type, scale } as never, distribution(...keys) as never, labels).map(({ label, count }) => [
      label,
      count,
    ]);

  test('are the values, pairs for scales of ten, the three groups of the eNPS, and yes and no', () => {
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
