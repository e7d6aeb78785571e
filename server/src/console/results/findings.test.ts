// Which findings stand first on an overview, and which subgroups they name: never one that is the largest only by chance.
import type { FigureChange, GroupResults, Verdict } from '@soundings/contract/console/results/results.ts';
import { describe, expect, test } from 'vitest';
import { questionsIn } from '../../results/data/kpi-questions.ts';
import { kpiPlacesOf } from '../../results/data/kpi-places.ts';
import type { Statistics } from '../../results/data/statistics-shown.ts';
import { windowEnding } from '../../results/statistics/rolling.ts';
import { findingsOf } from './findings.ts';

const [before, week] = ['2026-10-05', '2026-11-16'];
const nowhere = { clearIn: [], mostIn: null };

const changeOf = (by: number, verdict: Verdict = by > 0 ? 'up' : 'down'): FigureChange => ({
  by,
  since: before,
  questions: 1,
  verdict,
  handedOut: false,
});

describe('the findings of a group', () => {
  const kpisWith = (...changes: FigureChange[]) =>
    changes.map((change, i) => ({
      id: `kpi${i}`,
      name: `KPI ${i}`,
      difference: null,
      rolling: [{ week, change } as GroupResults['kpis'][number]['rolling'][number]],
    }));
  const found = (
    kpis: Parameters<typeof findingsOf>[0]['kpis'],
    more: Partial<Parameters<typeof findingsOf>[0]> = {},
  ) => findingsOf({ kpis, places: nowhere, questionIdsOf: () => [], last: null, rates: [], ...more });
  const withResponse = {
    last: { week: { week }, questions: [] } as unknown as GroupResults['last'],
    rates: [{ week, value: 0.8, asked: 10, answered: 8, handedOut: false }],
  };
  const brief = (findings: ReturnType<typeof found>) =>
    findings.map((one) =>
      one.kind === 'kpi'
        ? one.kpi.id
        : one.kind === 'kpis'
          ? [one.rose, one.fell].map((kpis) => kpis.map(({ id }) => id))
          : one.kind,
    );

  test('use all places for clear changes of KPIs, the largest first, and the last for all that remain', () => {
    const unclear = changeOf(0.5, 'unclear');
    const two = kpisWith(changeOf(0.1), unclear, changeOf(-0.2));
    expect(brief(found(two, withResponse))).toEqual(['kpi2', 'kpi0', 'response']);
    const seven = kpisWith(...[0.15, 0.2, 0.25, 0.16, 0.17, -0.18, 0.19].map((by) => changeOf(by)));
    const rest = [['kpi1', 'kpi6', 'kpi4', 'kpi3', 'kpi0'], ['kpi5']];
    expect(brief(found(seven, withResponse))).toEqual(['kpi2', rest, 'response']);
    expect(brief(found(seven))).toEqual(['kpi2', 'kpi1', [rest[0]!.slice(1), rest[1]]]);
    expect(brief(found(kpisWith(unclear), withResponse))).toEqual(['response']);
  });

  test('have a difference and a question before further KPIs', () => {
    const difference = { value: 0.5, by: 0.3, verdict: 'up' as const, handedOut: false };
    const kpis = kpisWith(changeOf(0.1), changeOf(0.2)).map((one, i) =>
      i === 0 ? { ...one, difference } : one,
    );
    expect(brief(found(kpis, withResponse))).toEqual(['kpi1', 'difference', 'response']);
  });
});

describe('where a KPI has changed', () => {
  const variation = { variance: 0.06, steadyShare: 0, presentShare: 0, sharedMovement: 0 };
  const statistics = {
    questionsOf: questionsIn([], [{ id: 'pace', questionIds: [1] }]),
    asked: new Map([[1, [before, week]]]),
    variationOf: () => variation,
    windowOf: (at: string) => windowEnding(at, 2),
    kpiAt: () => ({ factor: 1, groupVariance: null, cutoffOf: () => ({ level: 0.01, answers: 30 }) }),
  } as unknown as Statistics;
  const places = (...changes: [by: number, answers: number][]) => {
    const subgroups = changes.map(([by, answers], id) => {
      const reading = { answers, asked: null, handedOut: false };
      const readings = new Map([
        [
          1,
          [
            { ...reading, week: before, value: 0.6 },
            { ...reading, week, value: 0.6 + by },
          ],
        ],
      ]);
      return { group: { id, name: String(id) }, readings };
    });
    const { clearIn, mostIn } = kpiPlacesOf('pace', week, 'down', subgroups, statistics);
    return [clearIn.map(({ id }) => id), mostIn?.id ?? null];
  };

  test('one subgroup is named only if its change clearly exceeds every other, also one that is not clear', () => {
    expect(places([-0.3, 100], [-0.1, 100])).toEqual([[0, 1], 0]);
    expect(places([-0.13, 40], [-0.129, 100])).toEqual([[1], null]);
    expect(places([-0.2, 100], [-0.199, 100], [-0.1, 300])).toEqual([[0, 1, 2], null]);
    // A small group that fell by more is not clear, but neither is that the large one fell most.
    expect(places([-0.3, 100], [-0.35, 5])).toEqual([[0], null]);
    expect(places([-0.3, 100])).toEqual([[0], 0]);
  });

  test('only changes in the same direction count, and nothing is named if none is clear', () => {
    expect(places([-0.3, 100], [0.4, 100])).toEqual([[0], 0]);
    expect(places([0.3, 100], [-0.01, 100])).toEqual([[], null]);
    expect(places()).toEqual([[], null]);
  });
});
