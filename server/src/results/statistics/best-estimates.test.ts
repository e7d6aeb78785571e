import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestEstimate, fromParent, shrunk, varianceBetween } from './best-estimates.ts';
import { quantile95 } from './normal.ts';
import type { Reading, ShownReading } from './readings.ts';

describe('best estimates', () => {
  test('are between the group and the one above it, and their intervals are narrower', () => {
    const figure = fc.double({ min: 0, max: 1, noNaN: true });
    const variance = fc.double({ min: 1e-6, max: 0.1, noNaN: true });
    const share = fc.double({ min: 0, max: 0.98, noNaN: true });
    fc.assert(
      fc.property(figure, figure, variance, variance, share, (value, parent, between, own, part) => {
        const from = (above: number) => ({
          value,
          by: value - parent,
          above,
          error: own - above,
          freedom: 40,
        });
        const best = shrunk(from(part * own), between);
        expect(best.value).toBeGreaterThanOrEqual(Math.min(value, parent) - 1e-12);
        expect(best.value).toBeLessThanOrEqual(Math.max(value, parent) + 1e-12);
        expect(best.margin).toBeLessThanOrEqual(quantile95(40) * Math.sqrt(own) + 1e-12);
        expect(best.weight).toBeCloseTo(between / (between + (1 - part) * own));
        // The less is known about the parent group, the less the figure is moved, and the wider the interval is.
        const exact = shrunk(from(0), between);
        expect(best.margin).toBeGreaterThanOrEqual(exact.margin - 1e-12);
        expect(best.weight).toBeGreaterThanOrEqual(exact.weight - 1e-12);
      }),
    );
  });

  test('use the error of the parent group, which contains the group, and need a parent group with a figure', () => {
    const week = '2026-11-02';
    const reading = (value: number | null, answers: number): Reading =>
      ({ week, value, answers, asked: null, handedOut: false }) as Reading;
    const how = {
      variationOf: () => ({ variance: 0.0625, steadyShare: 0, presentShare: 0, sharedMovement: 0 }),
      factor: 1,
    };
    const own = (answers: number) => [{ questionId: 1, reading: reading(0.8, answers) as ShownReading }];
    const parent = (value: number | null, answers: number) => new Map([[1, [reading(value, answers)]]]);
    expect(fromParent(own(10), parent(0.6, 40), how)).toEqual({
      by: expect.closeTo(0.2, 12),
      above: 0.0625 / 40,
      error: expect.closeTo(0.0625 * (1 / 10 - 1 / 40), 12),
      freedom: 40,
    });
    // A parent group with the same answers: the difference has no error, but it counts as 2% of the variance.
    expect(fromParent(own(40), parent(0.8, 40), how)?.error).toBeCloseTo((0.02 * 0.0625) / 40, 12);
    expect(fromParent(own(50), parent(0.6, 400), how)).toBeUndefined();
    expect(fromParent(own(10), parent(null, 40), how)).toBeUndefined();
    expect(bestEstimate(own(10), parent(0.6, 40), how, null)).toBeNull();
    expect(bestEstimate(own(10), parent(0.6, 40), how, 0.0046875)?.value).toBeCloseTo(0.7, 12);
  });

  test('the variance between groups is what their errors do not explain, never 0, and unknown for fewer than ten', () => {
    const groups = (count: number, error: number) =>
      Array.from({ length: count }, (_, i) => ({ by: i % 2 === 0 ? 0.1 : -0.1, error }));
    // With many groups it is nearly the difference; with few it is larger, because it could be much larger.
    expect(varianceBetween(groups(20_000, 0.004))).toBeCloseTo(0.006003667678, 9);
    expect(varianceBetween(groups(20, 0.004))).toBeCloseTo(0.011126025582, 9);
    expect(varianceBetween(groups(20, 0.02))).toBeCloseTo(0.009888960344, 9);
    expect(varianceBetween(groups(9, 0.004))).toBeNull();
  });
});
