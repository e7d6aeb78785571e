// What is shown of a rolling value depends on the figures behind it, not on the week in which it is read.
import type { Week } from '@soundings/contract/weeks.ts';
import { expect, test } from 'vitest';
import type { Reading } from '../statistics/readings.ts';
import { windowEnding } from '../statistics/rolling.ts';
import { kpiFeedMeasures } from './feed-measures.ts';
import { kpiPlacesOf } from './kpi-places.ts';
import { questionsIn } from './kpi-questions.ts';
import {
  kpiCell,
  kpiDifferenceShown,
  kpiEstimate,
  rollingFigure,
  type Statistics,
} from './statistics-shown.ts';

const [before, asked, after] = ['2026-08-17', '2026-09-21', '2026-09-28'];

test('a rolling value that stays the same keeps its interval, verdicts and best estimate in later weeks', () => {
  const variation = { variance: 0.06, steadyShare: 0, presentShare: 0, sharedMovement: 0 };
  // In the week after, the level is stricter, the factor is larger, and more is known about groups.
  const strict = { factor: 2, groupVariance: 0.02, level: 1e-9 };
  const parametersAt = (week: Week) =>
    week === asked ? { factor: 1, groupVariance: 0.001, level: 0.05 } : strict;
  const statistics = {
    questionsOf: questionsIn([], [{ id: 'pace', questionIds: [1] }]),
    asked: new Map([[1, [before, asked]]]),
    variationOf: () => variation,
    windowOf: (week: Week) => windowEnding(week, 4),
    isComputed: () => true,
    kpiAt(_: string, week: Week) {
      const { level, ...more } = parametersAt(week);
      return { ...more, cutoffOf: () => ({ level, answers: 40 }) };
    },
  } as unknown as Statistics;
  const readings = (earlier: number, now: number, answers: number) =>
    new Map([
      [
        1,
        [
          [before, earlier],
          [asked, now],
        ].map(([week, value]) => ({ week, value, answers, asked: null, handedOut: false }) as Reading),
      ],
    ]);
  const [own, parent] = [readings(0.7, 0.5, 40), readings(0.7, 0.65, 400)];
  const compared = { kind: 'parent' as const, whole: parent };
  const shownIn = (week: Week) => {
    const { week: _, ...figure } = rollingFigure('pace', week, own, statistics)!;
    return {
      figure,
      difference: kpiDifferenceShown('pace', week, own, compared, statistics),
      estimate: kpiEstimate('pace', week, own, parent, statistics),
      cell: kpiCell('pace', week, own, compared, statistics),
      feed: kpiFeedMeasures('pace', week, own, statistics),
      places: kpiPlacesOf(
        'pace',
        week,
        'down',
        [{ group: { id: 2, name: 'North' }, readings: own }],
        statistics,
      ),
    };
  };
  expect(shownIn(asked)).toMatchObject({
    figure: { change: { verdict: 'down' } },
    difference: { verdict: 'down' },
    cell: { clearChange: expect.closeTo(-0.2, 9) as number },
    feed: { isClear: true },
    places: { clearIn: [{ id: 2 }] },
  });
  expect(shownIn(after)).toEqual(shownIn(asked));
});
