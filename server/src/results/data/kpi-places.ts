// Where a KPI has changed: in which subgroups of a group clearly, and whether in one of them clearly more than in all others. Pure.
import type { KpiPlaces, ResultGroup } from '@soundings/contract/console/results/results.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { marginOfMeasured, type Measured } from '../statistics/measures.ts';
import type { Readings } from '../statistics/readings.ts';
import { kpiChange, latestOf, newestOf } from '../statistics/rolling.ts';
import { type Statistics, verdictOf } from './statistics-shown.ts';

type Place = { group: ResultGroup; change: Measured; isClear: boolean };

/** Returns the subgroups in which a KPI has clearly changed in a direction, the clearest first. */
export function kpiPlacesOf(
  kpiId: string,
  week: Week,
  verdict: 'up' | 'down',
  subgroups: readonly { group: ResultGroup; readings: Readings }[],
  statistics: Statistics,
): KpiPlaces {
  const { variationOf, asked } = statistics;
  const all = subgroups.flatMap(({ group, readings }): Place[] => {
    const latest = latestOf(readings, statistics.questionsOf(kpiId, week), statistics.windowOf(week));
    const { factor, cutoffOf } = statistics.kpiAt(kpiId, newestOf(latest));
    const change = kpiChange(latest, readings, asked, { variationOf, factor });
    if (!change) return [];
    return [{ group, change, isClear: verdictOf(change, cutoffOf('change')) === verdict }];
  });
  const clear = all.filter(({ isClear }) => isClear);
  return {
    clearIn: clear
      .toSorted((a, b) => certaintyOf(b.change) - certaintyOf(a.change))
      .map(({ group }) => group),
    mostIn: mostIn(clear, all, verdict === 'up' ? 1 : -1),
  };
}

const certaintyOf = ({ by, variance }: Measured) => Math.abs(by) / Math.sqrt(variance);

/**
 * Returns the place with the largest change if it exceeds that of every other subgroup by more than the margin of their difference.
 * Otherwise which one is the largest could be chance.
 */
function mostIn(clear: readonly Place[], all: readonly Place[], sign: 1 | -1): ResultGroup | null {
  const [largest] = clear.toSorted((a, b) => sign * (b.change.by - a.change.by));
  if (!largest) return null;
  const exceeds = ({ change }: Place) => {
    const [own, other] = [largest.change, change];
    const difference = {
      by: sign * (own.by - other.by),
      variance: own.variance + other.variance,
      freedom: Math.min(own.freedom, other.freedom),
      answers: Math.min(own.answers, other.answers),
    };
    return difference.variance > 0 && difference.by > marginOfMeasured(difference);
  };
  return all.every((one) => one === largest || exceeds(one)) ? largest.group : null;
}
