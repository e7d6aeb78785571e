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
import { type Apart, fromParent, varianceBetween } from './best-estimates.ts';
import { type Measured, type Variation, testOf } from './measures.ts';
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
  windowEnding,
} from './rolling.ts';

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
const readingsIn =
  ({ readings }: History) =>
  (groupId: number | null): Readings =>
    (groupId === null ? undefined : readings.get(groupId)) ?? noReadings;

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
  const readingsOf = readingsIn(history);
  const around = new Map(measured.map(({ questionId }) => [questionId, [] as Apart[]]));
  for (const [groupId, own] of readings) {
    const [top, parent] = [topOf(groupId, parentOf), parentOf(groupId)];
    const all = history.readings.get(groupId) as Map<number, Reading[]>;
    for (const [questionId, reading] of own) {
      const variation = variations.get(questionId);
      if (!variation || !isShown(reading)) continue;
      const latest = [{ questionId, reading }];
      addTest(tests, 'change', questionChange(latest[0] as Latest, all, history.asked, variationAt));
      addTest(tests, 'halfYear', kpiSinceHalfYear(latest, latestOf(all, [questionId], then), variationAt));
      const differs = (other: number | null) => kpiDifference(latest, readingsOf(other), variationAt);
      addTest(tests, 'company', differs(top));
      addTest(tests, 'parent', differs(parent));
      const apart = fromParent(latest, readingsOf(parent), { variationOf: variationAt, factor: 1 });
      if (apart) around.get(questionId)?.push(apart);
    }
  }
  const cutoffs = cutoffsOf(tests);
  return measured.map((one) => ({
    ...one,
    groupVariance: varianceBetween(around.get(one.questionId) ?? []),
    cutoffs,
  }));
}

/** The minimum number of groups from which a week's ratio is computed. */
const enoughForRatio = 10;

function kpiStatistics(history: History, week: Week, setting: Setting): KpiStatistics[] {
  const { kpis, kpiWeeks, parentOf } = setting;
  const window = windowEnding(week, kpiWeeks);
  const then = windowEnding(addWeeks(week, -halfYear), kpiWeeks);
  const readingsOf = readingsIn(history);
  const variationAt = variationIn(history);
  const tests = noTests();
  const found = kpis.map(({ id, questionIds }) => {
    const factor = factorOf(history, id, addWeeks(week, -comparableWeeks));
    const how = { variationOf: variationAt, factor };
    const changes = new Map<number, { by: number; variance: number; isNew: boolean; shared: number }>();
    const around: Apart[] = [];
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
      const differs = (other: number | null) => kpiDifference(latest, readingsOf(other), variationAt);
      addTest(tests, 'company', differs(topOf(groupId, parentOf)));
      addTest(tests, 'parent', differs(parentOf(groupId)));
      const apart = fromParent(latest, readingsOf(parentOf(groupId)), how);
      if (apart) around.push(apart);
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
