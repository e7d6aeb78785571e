// Everything that statistics, drivers and words add to published figures, computed as the service computes it, but in memory: for
// attacks with many random companies. A mutant replaces one step by one that reads more than what is published.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import { minimumDriverGroups } from '@soundings/contract/limits.ts';
import { isScaled, type QuestionType } from '@soundings/contract/question-types.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import type { Distribution } from '../../questions/types.ts';
import { kpiFeedMeasures, questionFeedMeasures } from '../../results/data/feed-measures.ts';
import { questionsIn } from '../../results/data/kpi-questions.ts';
import {
  kpiCell,
  kpiDifferenceShown,
  kpiEstimate,
  noReadings,
  questionMeasures,
  rollingFigure,
  type Statistics,
} from '../../results/data/statistics-shown.ts';
import { classFigures, type Result, type ShownComment } from '../../results/figures.ts';
import { type Rate, responseRates } from '../../results/disclosure/response-rates.ts';
import { readingsOf } from '../../results/statistics/driver-groups.ts';
import { computeDrivers } from '../../results/statistics/drivers.ts';
import { emptyHistory, variationIn, type WeekFigures } from '../../results/statistics/history.ts';
import type { Reading, Readings } from '../../results/statistics/readings.ts';
import { windowEnding } from '../../results/statistics/rolling.ts';
import { weekStatistics } from '../../results/statistics/week-statistics.ts';
import { turnoutOf, type WeekAnswer } from '../../results/turnout.ts';
import { wordsThatStandOut } from '../../results/words.ts';
import type { OpenWeek, WordingClass } from './twins.ts';

/** What is stored of a closed week. */
export type Published = {
  results: ReadonlyMap<number, readonly Result[]>;
  rates: readonly Rate[];
  comments: ReadonlyMap<number, readonly ShownComment[]>;
};

export type ClosedWeek = { week: Week; published: Published; open: OpenWeek };

export type Organization = {
  parents: ReadonlyMap<number, number | null>;
  classes: readonly WordingClass[];
  kpis: readonly { id: string; questionIds: number[] }[];
};

/** Publishes a week as closing it does. Comments are sorted, because the service shows them in a random order. */
export function publishWeek({ data, answers }: OpenWeek, classes: readonly WordingClass[]): Published {
  const turnout = turnoutOf(data);
  const [results, comments] = [new Map<number, Result[]>(), new Map<number, ShownComment[]>()];
  for (const alike of classes) {
    const asked = alike
      .filter(({ id }) => answers.has(id))
      .map((question) => ({ question, answers: [...(answers.get(question.id) as readonly WeekAnswer[])] }));
    if (asked.length === 0) continue;
    for (const [i, figures] of classFigures(asked, turnout).entries()) {
      results.set(asked[i]!.question.id, figures.results);
      const byText = (a: ShownComment, b: ShownComment) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
      comments.set(asked[i]!.question.id, figures.comments.toSorted(byText));
    }
  }
  return { results, comments, rates: responseRates(turnout) };
}

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) => (one instanceof Map ? [...one] : one));

type Figure = { groupId: number; questionId: number; reading: Reading };
type Step<T> = (one: ClosedWeek, organization: Organization) => T;

/** What is read of a closed week. The service reads only `published`. */
export type Steps = {
  figures: Step<Figure[]>;
  distributions: Step<{ groupId: number; questionId: number; distribution: Distribution }[]>;
  /** The figures of groups above, for best estimates. */
  above: Step<Figure[]>;
  /** The figures for drivers. */
  latest: Step<Figure[]>;
  comments: Step<{ questionId: number; text: string; groupIds: readonly number[] }[]>;
  /** Anything else that is computed of a company. */
  more: (weeks: readonly ClosedWeek[], organization: Organization) => unknown;
};

const figures: Steps['figures'] = ({ week, published: { results, rates } }) => {
  const rateIn = new Map(rates.map((rate) => [rate.groupId, rate]));
  return [...results].flatMap(([questionId, list]) =>
    list.map(({ groupId, value, answers, handedOut }) => {
      const rate = rateIn.get(groupId);
      const asked = rate?.asked ?? rate?.people ?? null;
      return { groupId, questionId, reading: { week, value, answers, asked, handedOut } };
    }),
  );
};

export const serviceSteps: Steps = {
  figures,
  above: figures,
  latest: figures,
  distributions: ({ published: { results } }) =>
    [...results].flatMap(([questionId, list]) =>
      list.flatMap(({ groupId, distribution }) =>
        distribution ? [{ groupId, questionId, distribution }] : [],
      ),
    ),
  comments: ({ published: { comments } }) =>
    [...comments].flatMap(([questionId, list]) => list.map((one) => ({ ...one, questionId }))),
  more: () => null,
};

/** The number of weeks of rolling values. */
const kpiWeeks = 2;

function readingsBy(figuresOf: readonly Figure[][]): Map<number, Map<number, Reading[]>> {
  const groups = new Map<number, Map<number, Reading[]>>();
  for (const { groupId, questionId, reading } of figuresOf.flat()) {
    const own = groups.get(groupId) ?? new Map<number, Reading[]>();
    groups.set(groupId, own);
    own.set(questionId, [...(own.get(questionId) ?? []), reading]);
  }
  return groups;
}

export type Met = { margins: number; estimates: number; drivers: number; words: number; changes: number };

/**
 * Returns everything that is added to the published figures of these weeks, oldest first. `met` counts how often each kind
 * occurred, so that a test can check that it did.
 */
export function addedTo(
  organization: Organization,
  weeks: readonly ClosedWeek[],
  steps: Steps = serviceSteps,
  met?: Met,
): unknown {
  const { parents, classes, kpis } = organization;
  const types = new Map(classes.flat().map(({ id, type }) => [id, type]));
  const scaled = [...types].filter(([, type]) => isScaled(type)).map(([id]) => id);
  const ofScale = ({ questionId }: { questionId: number }) => scaled.includes(questionId);
  const read = (step: 'figures' | 'above' | 'latest') =>
    weeks.map((one) => steps[step](one, organization).filter(ofScale));
  const parentOf = (groupId: number) => parents.get(groupId) ?? null;
  const setting = {
    parentOf,
    typeOf: (id: number) => types.get(id) as QuestionType,
    kpis,
    kpiWeeks,
  };
  const shown = read('figures');
  const history = emptyHistory();
  const statistics = weeks.map((one, i) => {
    const distributions = steps.distributions(one, organization).filter(ofScale);
    const own = [...readingsBy([shown[i]!])].map(
      ([groupId, byQuestion]) =>
        [groupId, new Map([...byQuestion].map(([id, list]) => [id, list[0] as Reading]))] as const,
    );
    const weekFigures: WeekFigures = {
      week: one.week,
      readings: new Map(own),
      distributions: Map.groupBy(distributions, ({ questionId }) => questionId),
    };
    return weekStatistics(history, weekFigures, setting);
  });
  const known: Statistics = {
    questionsOf: questionsIn([], kpis),
    asked: history.asked,
    variationOf: variationIn(history),
    windowOf: (week) => windowEnding(week, kpiWeeks),
    isComputed: () => true,
    questionCutoff: (id, week, kind) =>
      statistics.find((one) => one.week === week)?.questions.find(({ questionId }) => questionId === id)
        ?.cutoffs[kind],
    groupVarianceOf: (id, week) =>
      statistics.find((one) => one.week === week)?.questions.find(({ questionId }) => questionId === id)
        ?.groupVariance ?? null,
    kpiAt(kpiId, week) {
      const row = statistics.find((one) => one.week === week)?.kpis.find((one) => one.kpiId === kpiId);
      return {
        factor: row?.factor ?? 1,
        groupVariance: row?.groupVariance ?? null,
        cutoffOf: (kind) => row?.cutoffs[kind],
      };
    },
  };
  const [readings, above] = [readingsBy(shown), readingsBy(read('above'))];
  const last = weeks.at(-1)!.week;
  const topOf = (groupId: number): number => {
    const up = parentOf(groupId);
    return up === null ? groupId : topOf(up);
  };
  const readingsIn = (from: ReadonlyMap<number, Readings>, id: number | null) =>
    from.get(id ?? 0) ?? noReadings;
  const groups = [...readings].map(([groupId, own]) => {
    const comparedWith = (kind: Comparison) => ({
      kind,
      whole: readingsIn(readings, kind === 'company' ? topOf(groupId) : parentOf(groupId)),
    });
    const parent = parentOf(groupId) === null ? undefined : readingsIn(above, parentOf(groupId));
    const kinds = (['company', 'parent', 'halfYear'] as const).map(comparedWith);
    const ofQuestions = [...own].flatMap(([id, list]) =>
      list.map(({ week }) => [
        kinds.map((compared) => questionMeasures(id, week, own, { compared, parent }, known)),
        questionFeedMeasures(id, week, own, known),
      ]),
    );
    const ofKpis = kpis.map(({ id }) => [
      rollingFigure(id, last, own, known),
      kinds.map((compared) => kpiDifferenceShown(id, last, own, compared, known)),
      kinds.map((compared) => kpiCell(id, last, own, compared, known)),
      parent && kpiEstimate(id, last, own, parent, known),
      kpiFeedMeasures(id, last, own, known),
    ]);
    if (met) {
      const texts = JSON.stringify([ofQuestions, ofKpis]);
      if (/"margin":0\.\d/.test(texts)) met.margins++;
      if (/"bestEstimate":\{/.test(texts)) met.estimates++;
      if (/"change":\{/.test(texts)) met.changes++;
    }
    return [groupId, ofQuestions, ofKpis];
  });
  const drivers = driversOf(organization, read('latest'), met);
  const words = [...parents.keys()].map((groupId) => {
    if (parentOf(groupId) === null) return null;
    const found = wordsOf(organization, weeks, steps, { groupId, companyId: topOf(groupId) });
    if (met && found !== undefined && found.length > 0) met.words++;
    return found;
  });
  const response = weeks.map(({ published: { rates } }) => rates);
  return { statistics, groups, drivers, words, response, more: steps.more(weeks, organization) };
}

/** Returns the readings and drivers of each question as the outcome. */
function driversOf({ parents, kpis }: Organization, latest: readonly Figure[][], met: Met | undefined) {
  const figuresOf = [...readingsBy(latest as Figure[][])].flatMap(([groupId, own]) => {
    const shown = [...own].flatMap(([id, list]) => {
      const one = list.findLast(({ value, answers }) => value !== null && answers !== null);
      return one ? [[id, one.value as number, one.answers as number] as const] : [];
    });
    return shown.length > 0 ? [{ groupId, figures: shown }] : [];
  });
  return [1, 2].map((outcome) => {
    const input = { parents: [...parents], figures: figuresOf, kpis, outcome: [outcome] };
    const readings = readingsOf(input);
    if (met && readings.groupIds.length > 0) met.drivers++;
    if (readings.groupIds.length < minimumDriverGroups || readings.kpiIds.length === 0)
      return [readings.groupIds, [...readings.values], [...readings.weights]];
    return computeDrivers(input);
  });
}

function wordsOf(
  organization: Organization,
  weeks: readonly ClosedWeek[],
  steps: Steps,
  { groupId, companyId }: { groupId: number; companyId: number },
) {
  const all = weeks.flatMap((one) =>
    steps
      .comments(one, organization)
      .filter(({ groupIds }) => groupIds.includes(groupId) || groupIds.includes(companyId))
      .map(({ questionId, text, groupIds }) => ({ questionId, text, isHere: groupIds.includes(groupId) })),
  );
  const on = (isHere: boolean) =>
    new Set(all.filter((one) => one.isHere === isHere).map(({ questionId }) => questionId));
  const both = on(true).intersection(on(false));
  return wordsThatStandOut(
    all
      .filter(({ questionId }) => both.has(questionId))
      .map(({ text, isHere }) => ({ text, isHere, language: 'en' })),
  );
}

/** Returns the Monday of a numbered week. */
export const weekNumbered = (number: number): Week => addWeeks('2026-01-05', number);
