// The statistics of a week: the few parameters per question and KPI from which every interval and verdict is computed when results are
// read (docs/administrators/statistics.md). Computed from published figures only. Pure.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { type Cutoffs, cutoffOf, type Test, type Tested } from './marks.ts';
import {
  addKpiRatios,
  addMoves,
  addReadings,
  addVariations,
  factorOf,
  type History,
  type KpiStatistics,
  type QuestionStatistics,
  type Setting,
  type WeekFigures,
  type WeekStatistics,
  listIn,
  movementsIn,
  variationIn,
  variationsIn,
  topOf,
} from './history.ts';
import { isSmall, type Measured, meanVariance, smallGroup, type Variation, testOf } from './measures.ts';
import { excessOf, rootOf } from './normal.ts';
import { pooledVariance, varianceSumsOf } from './pooled-variance.ts';
import { comparableWeeks, isShown, type Reading, type Readings } from './readings.ts';
import {
  halfYear,
  kpiChange,
  kpiDifference,
  kpiSinceHalfYear,
  type Latest,
  latestOf,
  questionChange,
  rollingOf,
  windowEnding,
} from './rolling.ts';

/** The minimum number of groups for estimating how much groups differ. */
const enoughGroups = 10;

/** Adds a week whose statistics were computed before. */
export function recall(
  history: History,
  figures: WeekFigures,
  statistics: WeekStatistics,
  setting: Setting,
): void {
  addVariations(history, statistics);
  addReadings(history, figures);
  addMoves(history, figures, setting, statistics.questions);
  addKpiRatios(history, statistics);
}

/** Computes the statistics of a week and adds it to the history, which contains all weeks before it. */
export function weekStatistics(history: History, figures: WeekFigures, setting: Setting): WeekStatistics {
  const { week } = figures;
  const variations = [...figures.distributions].flatMap(([questionId, groups]) => {
    const sums = varianceSumsOf(setting.typeOf(questionId), groups, setting.parentOf);
    return sums ? [{ questionId, sums }] : [];
  });
  for (const { questionId, sums } of variations) listIn(history.sums, questionId).push({ week, sums });
  const first = addWeeks(week, -comparableWeeks);
  const movementOf = movementsIn(history, first, week);
  const asked = [...new Set([...figures.readings.values()].flatMap((one) => [...one.keys()]))].toSorted(
    (a, b) => a - b,
  );
  const measured = asked.flatMap((questionId) => {
    const sums = (history.sums.get(questionId) ?? []).filter((one) => one.week >= first);
    const variance = pooledVariance(sums.map((one) => one.sums));
    if (variance === null) return [];
    return [{ questionId, variance, ...movementOf(questionId) }];
  });
  for (const { questionId, ...variation } of measured) variationsIn(history, questionId).set(week, variation);
  addReadings(history, figures);
  const questions = withCutoffs(history, figures, setting, measured);
  addMoves(history, figures, setting, measured);
  const statistics = { week, variations, questions, kpis: kpiStatistics(history, week, setting) };
  addKpiRatios(history, statistics);
  return statistics;
}

/** Tests by kind of comparison. */
type Tests = Record<Tested, Test[]>;
const noTests = (): Tests => ({ change: [], company: [], parent: [], halfYear: [] });
const cutoffsOf = (tests: Tests): Cutoffs =>
  Object.fromEntries(
    Object.entries(tests).flatMap(([kind, list]) => {
      const cutoff = cutoffOf(list);
      return cutoff ? [[kind, cutoff]] : [];
    }),
  );

function addTest(tests: Tests, kind: Tested, measured: Measured | undefined): void {
  if (measured && measured.variance > 0) tests[kind].push(testOf(measured));
}

const noReadings: Readings = new Map();

/** Adds the cutoffs and the variance between groups. All questions of a week are looked at together. */
function withCutoffs(
  history: History,
  { week, readings }: WeekFigures,
  { parentOf, kpiWeeks }: Setting,
  measured: readonly (Variation & { questionId: number })[],
): QuestionStatistics[] {
  const tests = noTests();
  const variations = new Map(measured.map(({ questionId, ...variation }) => [questionId, variation]));
  const variationAt = variationIn(history);
  const then = windowEnding(addWeeks(week, -halfYear), kpiWeeks);
  const around = new Map(
    measured.map(({ questionId }) => [questionId, [] as { by: number; error: number }[]]),
  );
  for (const [groupId, own] of readings) {
    const [top, parent] = [topOf(groupId, parentOf), parentOf(groupId)];
    const all = history.readings.get(groupId) as Map<number, Reading[]>;
    for (const [questionId, reading] of own) {
      const variation = variations.get(questionId);
      if (!variation || !isShown(reading)) continue;
      const latest = [{ questionId, reading }];
      addTest(tests, 'change', questionChange(latest[0] as Latest, all, history.asked, variationAt));
      addTest(tests, 'halfYear', kpiSinceHalfYear(latest, latestOf(all, [questionId], then), variationAt));
      const differs = (other: number | null) =>
        other === null
          ? undefined
          : kpiDifference(latest, history.readings.get(other) ?? noReadings, variationAt);
      addTest(tests, 'company', differs(top));
      const above = differs(parent);
      addTest(tests, 'parent', above);
      const error = variation.variance * meanVariance(reading, variation.presentShare);
      if (above && reading.answers < smallGroup) around.get(questionId)?.push({ by: above.by, error });
    }
  }
  const cutoffs = cutoffsOf(tests);
  return measured.map((one) => ({
    ...one,
    groupVariance: varianceBetween(around.get(one.questionId) ?? []),
    cutoffs,
  }));
}

/** The largest possible variance of values from 0 to 1. */
const mostVariance = 0.25;
/** How far below its maximum the logarithm of a likelihood is still looked at. */
const farBelow = 30;

/**
 * Returns how much small groups differ from their parent group, beyond their errors: the mean of all possible variances, each weighted with
 * how likely it makes the differences that were seen (Morris and Tang 2011). The most likely variance alone is often 0 or too small, which
 * makes intervals too narrow. Null if there are too few groups.
 */
export function varianceBetween(groups: readonly { by: number; error: number }[]): number | null {
  if (groups.length < enoughGroups) return null;
  const likelihood = (variance: number) =>
    groups.reduce(
      (sum, { by, error }) => sum - Math.log(variance + error) - by ** 2 / (variance + error),
      0,
    ) / 2;
  // Steps are smaller for small variances.
  const varianceAt = (place: number) => mostVariance * place ** 4;
  let [low, high] = [0, 1];
  for (let width = Infinity; high - low < width / 2;) {
    width = high - low;
    [low, high] = likelyPlaces((place) => likelihood(varianceAt(place)), low, high);
  }
  const places = placesIn(low, high, 400);
  const logs = places.map((place) => likelihood(varianceAt(place)));
  const best = Math.max(...logs);
  let [sum, weights] = [0, 0];
  for (const [i, place] of places.entries()) {
    // Simpson's rule; the cube comes from the size of the steps.
    const step = i === 0 || i === places.length - 1 ? 1 : 2 + 2 * (i % 2);
    const weight = step * place ** 3 * Math.exp((logs[i] as number) - best);
    sum += weight * varianceAt(place);
    weights += weight;
  }
  return sum / weights;
}

const placesIn = (low: number, high: number, steps: number) =>
  Array.from({ length: steps + 1 }, (_, i) => low + ((high - low) * i) / steps);

/** Returns the part of a range outside of which a likelihood is negligible. */
function likelyPlaces(likelihood: (place: number) => number, low: number, high: number): [number, number] {
  const places = placesIn(low, high, 40);
  const logs = places.map(likelihood);
  const limit = Math.max(...logs) - farBelow;
  const first = logs.findIndex((one) => one >= limit);
  const last = logs.findLastIndex((one) => one >= limit);
  return [places[Math.max(first - 1, 0)] as number, places[Math.min(last + 1, 40)] as number];
}

/** The minimum number of groups from which a week's ratio is computed. */
const enoughForRatio = 10;

function kpiStatistics(history: History, week: Week, setting: Setting): KpiStatistics[] {
  const { kpis, kpiWeeks, parentOf } = setting;
  const window = windowEnding(week, kpiWeeks);
  const then = windowEnding(addWeeks(week, -halfYear), kpiWeeks);
  const variationAt = variationIn(history);
  const tests = noTests();
  const found = kpis.map(({ id, questionIds }) => {
    const factor = factorOf(history, id, addWeeks(week, -comparableWeeks));
    const how = { variationOf: variationAt, factor };
    const changes = new Map<number, { by: number; variance: number; isNew: boolean; shared: number }>();
    const around: { by: number; error: number }[] = [];
    for (const [groupId, readings] of history.readings) {
      const latest = latestOf(readings, questionIds, window);
      if (latest.length === 0) continue;
      const change = kpiChange(latest, readings, history.asked, how);
      addTest(tests, 'change', change);
      if (change && change.variance > 0) {
        const plain = kpiChange(latest, readings, history.asked, {
          variationOf: withoutShared(variationAt),
          factor: 1,
        });
        // Before attitudes are known to be steady, changes vary less than predicted, but not because of the KPI.
        const isNew =
          latest.some(({ reading }) => reading.week === week) &&
          latest.every(
            ({ questionId, reading }) => (variationAt(questionId, reading.week)?.steadyShare ?? 0) > 0,
          );
        changes.set(groupId, {
          by: change.by,
          variance: plain?.variance ?? 0,
          isNew,
          shared: change.questions,
        });
      }
      addTest(
        tests,
        'halfYear',
        kpiSinceHalfYear(latest, latestOf(readings, questionIds, then), variationAt),
      );
      const differs = (other: number | null) =>
        other === null
          ? undefined
          : kpiDifference(latest, history.readings.get(other) ?? noReadings, variationAt);
      addTest(tests, 'company', differs(topOf(groupId, parentOf)));
      const parent = differs(parentOf(groupId));
      addTest(tests, 'parent', parent);
      const error = rollingOf(latest, variationAt, factor).variance;
      if (parent && error > 0 && isSmall(latest)) around.push({ by: parent.by, error });
    }
    return { kpiId: id, factor, ...ratioOf(changes, parentOf), groupVariance: varianceBetween(around) };
  });
  const cutoffs = cutoffsOf(tests);
  return found.map((one) => ({ ...one, cutoffs }));
}

const withoutShared =
  (variationAt: ReturnType<typeof variationIn>) =>
  (questionId: number, week: Week): Variation | undefined => {
    const variation = variationAt(questionId, week);
    return variation && { ...variation, sharedMovement: 0 };
  };

/** Returns how the changes of groups, compared with the top of their tree, vary in relation to what their questions' variances say. */
function ratioOf(
  changes: ReadonlyMap<number, { by: number; variance: number; isNew: boolean; shared: number }>,
  parentOf: Setting['parentOf'],
): { ratio: number | null; pairs: number } {
  const ratios = [...changes].flatMap(([groupId, { by, variance, isNew, shared }]) => {
    const top = topOf(groupId, parentOf);
    const whole = top === null ? undefined : changes.get(top);
    const rest = variance - (whole?.variance ?? 0);
    if (!isNew || !whole || whole.shared !== shared || rest <= 0) return [];
    return [(by - whole.by) ** 2 / rest];
  });
  const isEnough = ratios.length >= enoughForRatio;
  const scale = (by: number) => -excessOf(ratios.values().map((one) => one / by));
  return { ratio: isEnough ? rootOf(scale, 0.01, 100) : null, pairs: ratios.length };
}
