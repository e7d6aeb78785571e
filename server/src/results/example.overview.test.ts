// The overview of the demo company in docs/start/example.md: every number of that section is computed again from the published figures in
// docs/examples/overview.json, with its own arithmetic, and compared with the document and with what the service computes from them.
import type { Week } from '@soundings/contract/weeks.ts';
import { sixDigits } from '@soundings/contract/weeks.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listedIn } from '@soundings/contract/texts.ts';
import { findingsOf } from '../console/results/findings.ts';
import { kpiPlacesOf } from './data/kpi-places.ts';
import { questionsIn } from './data/kpi-questions.ts';
import { questionMeasures, rollingFigure, type Statistics } from './data/statistics-shown.ts';
import { pooledVariance, varianceSumsOf } from './statistics/pooled-variance.ts';
import type { Readings } from './statistics/readings.ts';
import { windowEnding } from './statistics/rolling.ts';

const docs = new URL('../../../docs/', import.meta.url);
/** The section of the document; its first table says where the numbers are from. */
const section = readFileSync(new URL('start/example.md', docs), 'utf8').split(
  /^## The overview of the demo company$/m,
)[1] as string;

/** The same without line breaks. */
const text = section.replaceAll(/\s+/g, ' ');

/** The week, the value, and how many people answered and were asked. */
type Figure = [week: Week, value: number, answers: number, asked: number];
type Pair = { question: number; now: Figure; before: Figure };
type Variation = { variance: number; steadyShare: number; presentShare: number; sharedMovement: number };
type Cutoff = { level: number; answers: number };
const company = JSON.parse(readFileSync(new URL('examples/overview.json', docs), 'utf8')) as {
  week: Week;
  window: { first: Week; last: Week };
  asked: number;
  answered: number;
  kpis: { id: string; name: string; factor: number; cutoff: Cutoff; readings: Pair[] }[];
  subgroups: { id: number; name: string; readings: Pair[] }[];
  questions: Record<string, string>;
  questionCutoff: Cutoff;
  variations: Record<string, Variation>;
  distributions: { group: number; parent: number | null; answers: number[] }[];
};
const variationAt = (question: number, week: Week) => company.variations[`${question} ${week}`] as Variation;
const workload = company.kpis.find(({ id }) => id === 'workload')!;

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

/** Returns the area under a t distribution's density from `t` on, both sides, by adding up small strips. */
function tails(t: number, freedom: number): number {
  const [step, end] = [0.001, 40];
  let [beyond, all] = [0, 0];
  for (let x = step / 2; x < end; x += step) {
    const height = (1 + (x * x) / freedom) ** (-(freedom + 1) / 2);
    all += height;
    if (x > Math.abs(t)) beyond += height;
  }
  return beyond / all;
}

/** The errors of a value and of its change. */
function errorsOf({ question, now, before }: Pair) {
  const [week, value, n, asked] = now;
  const [weekBefore, valueBefore, nBefore, askedBefore] = before;
  const { variance, steadyShare, presentShare, sharedMovement } = variationAt(question, week);
  const then = variationAt(question, weekBefore).variance;
  return {
    by: value - valueBefore,
    error: Math.sqrt(variance * (1 / n - presentShare / asked)),
    changeError: Math.sqrt(
      variance * (1 / n - steadyShare / asked + sharedMovement) +
        then * (1 / nBefore - steadyShare / askedBefore),
    ),
    freedom: 4 * Math.min(n, nBefore),
    answers: 2 / (1 / n + 1 / nBefore),
  };
}

/** Combines questions: errors of one week add up, those of different weeks are independent. */
function combined(pairs: readonly Pair[], factor: number, which: 'error' | 'changeError'): number {
  const byWeek = Object.values(Object.groupBy(pairs, ({ now }) => now[0])) as Pair[][];
  const squares = byWeek.map((same) => sum(same.map((one) => errorsOf(one)[which])) ** 2);
  return Math.sqrt((factor * sum(squares)) / pairs.length ** 2);
}

function measured(pairs: readonly Pair[], factor: number, { level, answers }: Cutoff) {
  const parts = pairs.map(errorsOf);
  const [by, changeError] = [mean(parts.map((one) => one.by)), combined(pairs, factor, 'changeError')];
  const t = by / changeError;
  const probability = Math.abs(t) < 1 ? 1 : tails(t, sum(parts.map(({ freedom }) => freedom)));
  const weight = 0.2 + (0.8 * Math.min(mean(parts.map((one) => one.answers)), 300)) / answers;
  const limit = level * weight;
  const verdict = probability > limit ? 'unclear' : by > 0 ? 'up' : 'down';
  const freedom = 4 * sum(pairs.map(({ now }) => now[2]));
  // The first two terms of the expansion of the 95% value.
  const margin = (1.96 + 2.372 / freedom) * combined(pairs, factor, 'error');
  return {
    value: mean(pairs.map(({ now }) => now[1])),
    margin,
    by,
    changeError,
    t,
    probability,
    weight,
    limit,
    verdict,
  };
}

const signed = (value: number, digits: number) => {
  const shown = value.toFixed(digits);
  return Number(shown) === 0 ? (0).toFixed(digits) : `${value < 0 ? '−' : '+'}${shown.replace('-', '')}`;
};
/** Points from 0 to 100. */
const points = (value: number) => (value * 100).toFixed(2);
const signedPoints = (value: number) => signed(value * 100, 2);
const probabilityText = (value: number) =>
  value === 1 ? '1' : value < 0.00001 ? '< 0.00001' : value.toFixed(5);
const words: Record<string, string> = { up: 'up', down: 'down', unclear: 'no clear change' };
const shownBy = ({ by, verdict }: { by: number; verdict: string }) =>
  verdict === 'unclear' ? 'no clear change' : `${by < 0 ? '↓ −' : '↑ +'}${Math.abs(Math.round(by * 100))}`;
const shownValue = ({ value, margin }: { value: number; margin: number }) =>
  `${Math.round(value * 100)} ± ${Math.round(margin * 100)}`;
const weekNumber = (week: Week) => sixDigits(week).slice(-2);
const testColumns = ({ by, changeError, t, probability, limit }: ReturnType<typeof measured>) => [
  signedPoints(by),
  points(changeError),
  signed(t, 2),
  probabilityText(probability),
  limit.toFixed(5),
];

/** Returns the distributions of cells without common people: of each group without its subgroups. */
function cells(): number[][] {
  const known = new Set(company.distributions.map(({ group }) => group));
  return company.distributions
    .map(({ group, answers }) =>
      company.distributions
        .filter(({ parent }) => parent === group && known.has(group))
        .reduce((rest, child) => rest.map((count, i) => count - (child.answers[i] as number)), answers),
    )
    .filter((cell) => cell.every((count) => count >= 0) && sum(cell) >= 2);
}
const squaresIn = (cell: readonly number[]) => {
  const center = sum(cell.map((count, i) => (count * i) / 4)) / sum(cell);
  return sum(cell.map((count, i) => count * (i / 4 - center) ** 2));
};

/** What the tables of the section contain, in their order. */
function expectedTables(): string[][][] {
  const figures = workload.readings.map(({ question, now, before }) => [
    String(question),
    ...[now, before].flatMap(([week, value, answers, asked]) => [
      weekNumber(week),
      points(value),
      String(answers),
      String(asked),
    ]),
    signedPoints(now[1] - before[1]),
  ]);
  const parameters = workload.readings.map((pair) => {
    const { question, now, before } = pair;
    const { variance, presentShare, steadyShare, sharedMovement } = variationAt(question, now[0]);
    const { error, changeError } = errorsOf(pair);
    return [
      String(question),
      variance.toFixed(5),
      presentShare.toFixed(3),
      points(error),
      variationAt(question, before[0]).variance.toFixed(5),
      steadyShare.toFixed(3),
      sharedMovement.toFixed(5),
      points(changeError),
    ];
  });
  const kpis = company.kpis.map(({ name, factor, cutoff, readings }) => {
    const all = measured(readings, factor, cutoff);
    return [
      name,
      points(all.value),
      points(all.margin),
      factor.toFixed(3),
      ...testColumns(all),
      shownValue(all),
      shownBy(all),
    ];
  });
  const questions = lastQuestions().map(([id, pair]) => {
    const all = measured([pair], 1, company.questionCutoff);
    return [
      String(id),
      points(all.value),
      points(all.margin),
      ...testColumns(all),
      shownValue(all),
      shownBy(all),
    ];
  });
  const subgroups = company.subgroups.map(({ name, readings }) => {
    const all = measured(readings, workload.factor, workload.cutoff);
    return [name, ...testColumns(all), words[all.verdict] as string];
  });
  return [figures, parameters, kpis, questions, subgroups];
}

/** The questions of the last week with their figures. */
const lastQuestions = (): [number, Pair][] =>
  Object.keys(company.questions).map((id) => {
    const pair = company.kpis
      .flatMap(({ readings }) => readings)
      .find(({ question }) => question === Number(id));
    return [Number(id), pair as Pair];
  });

const tables = [...section.matchAll(/(?:^\|.*\|\n)+/gm)].slice(1).map(([table]) =>
  table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((field) => field.trim()),
    ),
);

const readingsFrom = (pairs: readonly Pair[]): Readings =>
  new Map(
    pairs.map(({ question, now, before }) => [
      question,
      [before, now].map(([week, value, answers, asked]) => ({
        week,
        value,
        answers,
        asked,
        handedOut: false,
      })),
    ]),
  );
const partsOf = ({ id, readings }: { id: string; readings: Pair[] }) => ({
  id,
  questionIds: readings.map(({ question }) => question),
});
const allPairs = company.kpis.flatMap(({ readings }) => readings);
/** What the service would read from its tables. */
const statistics: Statistics = {
  questionsOf: questionsIn(
    [],
    company.kpis.map((kpi) => partsOf(kpi)),
  ),
  asked: new Map(allPairs.map(({ question, now, before }) => [question, [before[0], now[0]]])),
  variationOf: variationAt,
  isComputed: () => true,
  windowOf: (week) => windowEnding(week, 8),
  questionCutoff: () => company.questionCutoff,
  groupVarianceOf: () => null,
  kpiAt: (id) => ({
    factor: company.kpis.find((one) => one.id === id)?.factor as number,
    groupVariance: null,
    cutoffOf: () => company.kpis.find((one) => one.id === id)?.cutoff,
  }),
};
const rollingIn = (kpi: { id: string; readings: Pair[] }, pairs = kpi.readings, week: Week = company.week) =>
  rollingFigure(kpi.id, week, readingsFrom(pairs), statistics);

describe('the overview of the demo company', () => {
  test('every table of the document follows from the published figures', () => {
    expect(tables).toEqual(expectedTables());
  });

  test('the service computes the same values, intervals, changes and verdicts', () => {
    expect(statistics.windowOf(company.week)).toEqual(company.window);
    for (const kpi of company.kpis) {
      const all = measured(kpi.readings, kpi.factor, kpi.cutoff);
      const { value, margin, change } = rollingIn(kpi)!;
      expect([value, margin, change?.by]).toEqual(
        [all.value, all.margin, all.by].map((one) => expect.closeTo(one, 6)),
      );
      expect([kpi.id, change?.verdict]).toEqual([kpi.id, all.verdict]);
      // The week that the overview names is the one whose rolling value is subtracted.
      const then = rollingIn(kpi, kpi.readings, change!.since)!;
      expect([value! - then.value!, change!.firstSince]).toEqual([expect.closeTo(change!.by, 9), undefined]);
    }
    for (const [id, pair] of lastQuestions()) {
      const compared = { kind: 'none', whole: new Map() } as const;
      const { margin, change } = questionMeasures(
        id,
        company.week,
        readingsFrom([pair]),
        { compared, parent: undefined },
        statistics,
      );
      const all = measured([pair], 1, company.questionCutoff);
      expect([margin, change?.by]).toEqual([expect.closeTo(all.margin, 6), expect.closeTo(all.by, 6)]);
      expect([id, change?.verdict]).toEqual([id, all.verdict]);
    }
  });

  test('the first sentence follows from the largest clear changes, and the response is the last', () => {
    const kpis = company.kpis.map((kpi) => ({ ...kpi, rolling: [rollingIn(kpi)!], difference: null }));
    const subgroups = company.subgroups.map(({ id, name, readings }) => ({
      group: { id, name },
      readings: readingsFrom(readings),
    }));
    const places = kpiPlacesOf('workload', company.week, 'down', subgroups, statistics);
    const found = company.subgroups.map(({ id, name, readings }) => ({
      group: { id, name },
      ...measured(readings, workload.factor, workload.cutoff),
    }));
    const clear = found.filter(({ verdict }) => verdict === 'down').toSorted((a, b) => a.t - b.t);
    expect(places).toEqual({ clearIn: clear.map(({ group }) => group), mostIn: null });
    const [largest, next] = clear.toSorted((a, b) => a.by - b.by);
    const margin = 1.96 * Math.sqrt(largest!.changeError ** 2 + next!.changeError ** 2);
    expect(text).toContain(
      `1.96 · √(${points(largest!.changeError)}² + ${points(next!.changeError)}²) = ${points(margin)}`,
    );
    expect(text).toContain(`${points(next!.by - largest!.by)} points more`);
    const questions = lastQuestions().map(([id, pair]) => ({
      id,
      text: company.questions[id],
      week: company.week,
      change: questionMeasures(
        id,
        company.week,
        readingsFrom([pair]),
        { compared: { kind: 'none', whole: new Map() }, parent: undefined },
        statistics,
      ).change,
    }));
    const { asked, answered } = company;
    const [first, ...others] = findingsOf({
      kpis,
      places,
      questionIdsOf: (id) => statistics.questionsOf(id),
      last: { week: { week: company.week }, questions } as never,
      rates: [{ week: company.week, asked, answered, value: answered / asked, handedOut: false }],
    });
    if (first?.kind !== 'kpi') throw new Error('The first finding is not a KPI.');
    const { by, since } = first.change;
    expect(text).toContain(
      `**${first.kpi.name} ${by < 0 ? 'fell' : 'rose'} ${Math.abs(Math.round(by * 100))} points since week ${weekNumber(since)}, clearly in ${listedIn(
        'en',
        clear.map(({ group }) => group.name),
        String,
      )}.**`,
    );
    expect(others).toEqual([{ kind: 'response', week: company.week, asked, answered }]);
    expect(text).toContain(
      `**${Math.round((answered / asked) * 100)}% answered (${answered} of ${asked}).**`,
    );
  });

  test('the pooled variance follows from the published distributions, as the document says and the service computes', () => {
    const all = cells();
    const [squares, answers] = [sum(all.map(squaresIn)), sum(all.map(sum))];
    const { variance } = variationAt(1, company.week);
    expect(squares / (answers - all.length)).toBeCloseTo(variance, 9);
    expect(text).toContain(`${squares.toFixed(4)} / (${answers} − ${all.length}) = ${variance.toFixed(5)}`);
    const example = company.distributions.find(({ group }) => group === 4)!.answers;
    expect(text).toContain(`${example.join(', ')}`);
    expect(text).toContain(`squared deviations of ${squaresIn(example).toFixed(4)}`);
    const parents = new Map(company.distributions.map(({ group, parent }) => [group, parent]));
    const distributions = company.distributions.map(({ group, answers: counts }) => ({
      groupId: group,
      distribution: Object.fromEntries(counts.map((count, i) => [i + 1, count])),
    }));
    expect(pooledVariance([varianceSumsOf(1, distributions, (id) => parents.get(id) ?? null)!])).toBeCloseTo(
      variance,
      9,
    );
  });

  test('the steps of the document have the numbers of its example', () => {
    const { value, margin, by, changeError, t, probability, weight, limit } = measured(
      workload.readings,
      workload.factor,
      workload.cutoff,
    );
    const then = rollingIn(workload, workload.readings, rollingIn(workload)!.change!.since)!.value!;
    const squares = (which: 'error' | 'changeError') =>
      sum(workload.readings.map((one) => (errorsOf(one)[which] * 100) ** 2)).toFixed(2);
    for (const step of [
      `/ 5 = ${points(value)}`,
      `/ 5 = ${signedPoints(by)}`,
      `/ 5 = ${points(then)}`,
      `${points(value)} − ${points(then)} = ${signedPoints(by)}`,
      `√(${workload.factor.toFixed(3)} · ${squares('error')} / 25) = ${points(margin / 1.96)}`,
      `1.96 · ${points(margin / 1.96)} = ${points(margin)}`,
      `√(${workload.factor.toFixed(3)} · ${squares('changeError')} / 25) = ${points(changeError)}`,
      `t = ${signed(by * 100, 2)} / ${points(changeError)} = ${signed(t, 2)}`,
      `p ${probability < 0.00001 ? '' : '= '}${probabilityText(probability)}`,
      `0.2 + 0.8 · 300 / ${workload.cutoff.answers.toFixed(2)} = ${weight.toFixed(2)}`,
      `${workload.cutoff.level.toFixed(5)} · ${weight.toFixed(2)} = ${limit.toFixed(5)}`,
    ])
      expect(text).toContain(step);
  });
});
