// Intervals, changes and marks: what they guarantee, for known numbers and for random ones.
import { addWeeks } from '@soundings/contract/weeks.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutoffOf, isClear, type Test } from './marks.ts';
import { changeOf, differenceOf, marginOf, meanOf, meanOfSteady, testOf } from './measures.ts';
import { excessOf, quantile95, rootOf, twoSidedT } from './normal.ts';
import { minimumAnswers, pooledVariance, varianceSumsOf } from './pooled-variance.ts';
import { previousOf, type Reading, type ShownReading } from './readings.ts';
import {
  isBetweenWeeks,
  kpiChange,
  kpiDifference,
  kpiSinceHalfYear,
  latestOf,
  valueOf,
  windowEnding,
} from './rolling.ts';
import { rotationWeeks } from './rotation.ts';
import { cases } from '../../testing/house/cases.ts';

const reading = (
  week: string,
  value: number,
  answers: number,
  asked: number | null = null,
): ShownReading => ({
  week,
  value,
  answers,
  asked,
  handedOut: false,
});
const variation = { variance: 0.0625, steadyShare: 0.6, presentShare: 0.6, sharedMovement: 0 };
const shares = fc.double({ min: 0, max: 0.95, noNaN: true });
const answers = fc.integer({ min: 5, max: 500 });

describe('the t distribution', () => {
  test.each([
    // From published tables.
    [2.228138852, 10, 0.05],
    [2.085963447, 20, 0.05],
    [2.84533971, 20, 0.01],
    [1.983971519, 100, 0.05],
    [3.290526731, 1e7, 0.001],
  ])('%d with %d degrees of freedom has the probability %d', (t, freedom, probability) => {
    expect(twoSidedT(t, freedom)).toBeCloseTo(probability, 7);
    expect(twoSidedT(-t, freedom)).toBe(twoSidedT(t, freedom));
  });

  test('its 95% quantiles are those of the tables', () => {
    expect(quantile95(10)).toBeCloseTo(2.2281, 3);
    expect(quantile95(20)).toBeCloseTo(2.086, 3);
    expect(quantile95(1e9)).toBeCloseTo(1.96, 4);
  });

  test('its limited squares have the mean that is subtracted, so that a normal sample has no excess', () => {
    const quantiles = Array.from({ length: 20_000 }, (_, i) => (i + 0.5) / 20_000);
    const squares = quantiles.map((one) => rootOf((x) => 1 - one - twoSidedT(x, 1e7), 0, 10) ** 2);
    expect(Math.abs(excessOf(squares))).toBeLessThan(0.001);
  });
});

describe('the pooled variance of answers', () => {
  const parents: Record<number, number | null> = { 1: null, 2: 1, 3: 1 };
  const parentOf = (id: number) => parents[id] ?? null;
  const of = (...counts: number[]) =>
    Object.fromEntries(counts.map((count, i) => [String(i + 1), count])) as Record<string, number>;

  test('is within groups: groups that differ but agree internally have none', () => {
    const groups = [
      { groupId: 2, distribution: of(30, 0, 0, 0, 0) },
      { groupId: 3, distribution: of(0, 0, 0, 0, 30) },
    ];
    expect(varianceSumsOf(1, groups, parentOf)).toEqual({ squares: 0, freedom: 58, answers: 60, cells: 2 });
  });

  test('counts no answer twice: of a parent only what its subgroups do not contain', () => {
    const groups = [
      { groupId: 1, distribution: of(10, 0, 0, 0, 20) },
      { groupId: 2, distribution: of(5, 0, 0, 0, 5) },
    ];
    const sums = varianceSumsOf(1, groups, parentOf);
    expect(sums).toMatchObject({ answers: 30, cells: 2, freedom: 28 });
    expect(sums?.squares).toBeCloseTo(10 * 0.25 + 5 * 0.75 ** 2 + 15 * 0.25 ** 2);
  });

  test('is never that of a single group, and never of fewer than 50 answers', () => {
    expect(varianceSumsOf(1, [{ groupId: 1, distribution: of(50, 0, 0, 0, 50) }], parentOf)).toBeNull();
    const few = { squares: 2, freedom: 28, answers: minimumAnswers - 20, cells: 2 };
    expect(pooledVariance([few])).toBeNull();
    expect(pooledVariance([few, few])).toBeCloseTo(4 / 56);
    expect(pooledVariance([{ ...few, squares: 5, answers: 80, freedom: 78 }, few])).toBeCloseTo(5 / 78);
  });
});

describe('intervals', () => {
  test('are those of a mean of independent answers if nothing is steady', () => {
    const margin = marginOf(reading('2026-01-05', 0.5, 400, 500), { ...variation, presentShare: 0 });
    expect(margin).toBeCloseTo(1.96 * (0.25 / 20), 3);
  });

  test('are narrower the more of the people asked have answered, and never narrower with fewer answers', () => {
    fc.assert(
      fc.property(answers, answers, shares, (n, more, presentShare) => {
        const own = { ...variation, presentShare };
        const of = (asked: number | null, count = n) =>
          marginOf(reading('2026-01-05', 0.5, count, asked), own);
        expect(of(n)).toBeLessThanOrEqual(of(n + more));
        expect(of(n + more)).toBeLessThanOrEqual(of(null));
        expect(of(n + more, n + more)).toBeLessThanOrEqual(of(n + more));
      }),
    );
  });
});

describe('changes', () => {
  test('have the variance of both readings, and that of shared movements', () => {
    const [now, before] = [reading('2026-02-02', 0.6, 50, 100), reading('2026-01-05', 0.5, 25, 50)];
    const change = changeOf(now, before, { ...variation, sharedMovement: 0.001 });
    expect(change.by).toBeCloseTo(0.1);
    expect(change.variance).toBeCloseTo(0.0625 * (1 / 50 - 0.6 / 100 + 1 / 25 - 0.6 / 50 + 0.001));
  });

  test('the mean of several questions: independent between weeks, correlated within one', () => {
    const one = { by: 0.1, variance: 0.01, freedom: 40, answers: 10 };
    expect(meanOf(['a', 'b'].map((week) => ({ ...one, week }))).variance).toBeCloseTo(0.005);
    expect(meanOf(['a', 'a'].map((week) => ({ ...one, week }))).variance).toBeCloseTo(0.01);
    expect(meanOfSteady([one, one]).variance).toBeCloseTo(0.01);
  });

  test('the difference of a group from the whole is that of a random group of the same size', () => {
    const { variance } = differenceOf(reading('w', 0.6, 20), reading('w', 0.5, 100), variation);
    expect(variance).toBeCloseTo(0.0625 * (1 / 20 - 1 / 100));
  });

  test('a reading is compared with the last shown one before it, not with a withheld or too early one', () => {
    const hidden: Reading = { week: '2026-01-19', value: null, answers: null, asked: 9, handedOut: false };
    const [first, second] = [reading('2026-01-05', 0.5, 9), reading('2026-01-12', 0.5, 9)];
    const now = reading('2026-01-26', 0.5, 9);
    const asked = [first, second, hidden, now].map(({ week }) => week);
    expect(previousOf([first, second, hidden, now], now, asked)).toBe(second);
    expect(previousOf([first, now], now, ['2025-12-01', ...asked])).toBe(first);
    expect(previousOf([reading('2024-01-01', 0.5, 9), now], now, ['2024-01-01', now.week])).toBeUndefined();
  });
});

describe('rolling values', () => {
  test('compare only the same questions: a KPI whose questions take turns does not change if no question does', () => {
    const readings = new Map([
      [1, [reading('2026-01-05', 0.9, 50), reading('2026-01-19', 0.9, 50)]],
      [2, [reading('2026-01-12', 0.1, 50), reading('2026-01-26', 0.1, 50)]],
    ]);
    const asked = new Map([...readings].map(([id, list]) => [id, list.map(({ week }) => week)]));
    for (const week of ['2026-01-19', '2026-01-26']) {
      const latest = latestOf(readings, [1, 2], windowEnding(week, 2));
      expect(valueOf(latest)).toBeCloseTo(0.5);
      const change = kpiChange(latest, readings, asked, { variationOf: () => variation, factor: 1 });
      expect(change?.by).toBe(0);
    }
    const first = latestOf(readings, [1, 2], windowEnding('2026-01-12', 2));
    expect(kpiChange(first, readings, asked, { variationOf: () => variation, factor: 1 })).toBeUndefined();
  });

  /** Questions with readings in random weeks, some withheld, seen from a week. */
  const histories = fc.record({
    weeks: fc.integer({ min: 1, max: 13 }),
    questions: fc.array(
      fc.array(fc.record({ at: fc.nat(40), value: fc.nat(100), isShown: fc.boolean() }), { maxLength: 8 }),
      { minLength: 1, maxLength: 5 },
    ),
  });
  const changeIn = (readings: ReadonlyMap<number, Reading[]>, week: string, weeks: number) => {
    const asked = new Map([...readings].map(([id, own]) => [id, own.map((one) => one.week)]));
    const questionIds = [...readings.keys()];
    const latest = latestOf(readings, questionIds, windowEnding(week, weeks));
    const change = kpiChange(latest, readings, asked, { variationOf: () => variation, factor: 1 });
    if (!change) return undefined;
    const window = windowEnding(change.since, weeks);
    const then = latestOf(readings, questionIds, window);
    return {
      change,
      rolling: valueOf(latest) - valueOf(then),
      isBetween: isBetweenWeeks(latest, readings, asked, { questionIds, window }),
    };
  };

  test('a change is named after one week only if it is the rolling value minus that of this week', () => {
    fc.assert(
      fc.property(histories, ({ weeks, questions }) => {
        const readings = new Map(
          questions.map((own, id) => [
            id,
            [...new Map(own.map((one) => [one.at, one])).values()]
              .toSorted((a, b) => a.at - b.at)
              .map(({ at, value, isShown }): Reading => ({
                ...reading(addWeeks('2026-01-05', at), value / 100, 20),
                ...(!isShown && { value: null, answers: null }),
              })),
          ]),
        );
        const found = changeIn(readings, addWeeks('2026-01-05', 40), weeks);
        const between = found?.isBetween ? found.rolling - found.change.by : 0;
        expect(between).toBeCloseTo(0, 9);
      }),
      cases(500),
    );
  });

  test('where questions take turns, it is always one week: the one in which the last of them was asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 13 }).chain((weeks) =>
          fc.record({
            weeks: fc.constant(weeks),
            turns: fc.array(fc.nat(weeks - 1), { minLength: 1, maxLength: 6 }),
            values: fc.array(fc.nat(100), { minLength: 12, maxLength: 12 }),
          }),
        ),
        ({ weeks, turns, values }) => {
          const at = (round: number, turn: number) => addWeeks('2026-01-05', round * weeks + turn);
          const readings = new Map(
            turns.map((turn, id) => [
              id,
              [0, 1].map((round) => reading(at(round, turn), (values[2 * id + round] as number) / 100, 20)),
            ]),
          );
          const found = changeIn(readings, at(1, weeks - 1), weeks)!;
          expect([found.isBetween, found.change.since]).toEqual([true, at(0, Math.max(...turns))]);
          expect(found.rolling).toBeCloseTo(found.change.by, 9);
        },
      ),
      cases(300),
    );
  });

  test('and what they are compared with: one marked figure on either side marks the comparison (P14)', () => {
    const marked = (one: ShownReading): ShownReading => ({ ...one, handedOut: true });
    const [before, now, whole] = ['2026-01-05', '2026-01-19', '2026-01-19'].map((week) =>
      reading(week, 0.5, 50),
    ) as [ShownReading, ShownReading, ShownReading];
    const marksOf = (earlier: ShownReading, own: ShownReading, other: ShownReading) => {
      const latest = [{ questionId: 1, reading: own }];
      const how = { variationOf: () => variation, factor: 1 };
      return [
        kpiChange(latest, new Map([[1, [earlier, own]]]), new Map([[1, [earlier.week, own.week]]]), how),
        kpiDifference(latest, new Map([[1, [other]]]), () => variation),
        kpiSinceHalfYear(latest, [{ questionId: 1, reading: earlier }], () => variation),
      ].map((compared) => compared?.handedOut);
    };
    expect(marksOf(before, now, whole)).toEqual([false, false, false]);
    expect(marksOf(marked(before), now, whole)).toEqual([true, false, true]);
    expect(marksOf(before, now, marked(whole))).toEqual([false, true, false]);
    expect(marksOf(before, marked(now), whole)).toEqual([true, true, true]);
  });

  test('cover as many weeks as the schedules need, at most 13', () => {
    const pulse = { repeat: 'weeks' as const, repeatWeeks: 1, perWeek: 3, everyWeeks: 4, pool: 20 };
    expect(rotationWeeks([pulse])).toBe(7);
    expect(rotationWeeks([pulse, { ...pulse, perWeek: null, everyWeeks: null, repeatWeeks: 2 }])).toBe(7);
    expect(rotationWeeks([{ ...pulse, pool: 100 }])).toBe(13);
    expect(rotationWeeks([{ ...pulse, perWeek: null, everyWeeks: null, repeat: 'monthly' }])).toBe(5);
    expect(rotationWeeks([])).toBe(13);
  });
});

describe('marks', () => {
  const tests = fc.array(fc.record({ probability: fc.double({ min: 0, max: 1, noNaN: true }), answers }), {
    minLength: 1,
    maxLength: 60,
  });

  test('with equal sizes are those of Benjamini and Hochberg at 4 %', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.2, noNaN: true }), { minLength: 1 }), (all) => {
        const equal = all.map((probability): Test => ({ probability, answers: 20 }));
        const sorted = all.toSorted((a, b) => a - b);
        const last = sorted.findLastIndex((one, i) => one <= (0.04 * (i + 1)) / all.length);
        const cutoff = cutoffOf(equal);
        expect(equal.filter((one) => isClear(one, cutoff))).toHaveLength(last + 1);
      }),
    );
  });

  test('do not depend on the order, and a more extreme test among them is clear too', () => {
    fc.assert(
      fc.property(tests, (all) => {
        const cutoff = cutoffOf(all);
        expect(cutoffOf(all.toReversed())?.level).toBe(cutoff?.level);
        for (const one of all.filter((each) => isClear(each, cutoff)))
          expect(isClear({ ...one, probability: one.probability / 2 }, cutoff)).toBe(true);
      }),
    );
  });

  test('without a cutoff, nothing is clear; a change that is smaller than its standard error is not clear either', () => {
    expect(isClear({ probability: 0, answers: 9 }, undefined)).toBe(false);
    expect(testOf({ by: 0.09, variance: 0.01, freedom: 40, answers: 10 }).probability).toBe(1);
    expect(testOf({ by: 0.09, variance: Number.NaN, freedom: 40, answers: 10 }).probability).toBe(1);
  });
});
