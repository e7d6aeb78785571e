// Statistics: how often intervals and verdicts are right, on simulated companies whose true attitudes are known (docs/administrators/statistics.md). The
// pure functions of the service compute them from the figures that its disclosure procedure publishes. Nothing is timed.
import { isClear, type Test } from '@soundings/server/src/results/statistics/marks.ts';
import { testOf } from '@soundings/server/src/results/statistics/measures.ts';
import { isShown, type Reading } from '@soundings/server/src/results/statistics/readings.ts';
import {
  emptyHistory,
  forget,
  type History,
  type WeekStatistics,
  variationIn,
} from '@soundings/server/src/results/statistics/history.ts';
import {
  type Compared,
  halfYear,
  kpiChange,
  latestOf,
  questionChange,
  windowEnding,
} from '@soundings/server/src/results/statistics/rolling.ts';
import { weekStatistics } from '@soundings/server/src/results/statistics/week-statistics.ts';
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import type { BenchRow } from '../measuring/measure.ts';
import type { Plans, Sized } from '../measuring/plans.ts';
import {
  addTruths,
  type Checked,
  comparedIn,
  type ComparedWith,
  intervalsIn,
  type Truths,
} from './checks.ts';
import { type SimulatedCompany, kpis, kpiWeeks, simulatedCompany, weekly, weekNumber } from './company.ts';

/**
 * How many companies of each kind are simulated for each steady share (the share of the answers' variance that is steady from week
 * to week), and for how many weeks.
 */
type Plan = {
  shares: readonly number[];
  unchanged: number;
  /** Companies whose teams don't differ. */
  even: number;
  changing: number;
  changed: number;
  seasonal: number;
  weeks: number;
};

export const statisticsPlans: Plans<Plan> = {
  whole: {
    shares: [0, 0.3, 0.6, 0.9],
    unchanged: 26,
    even: 60,
    changing: 12,
    changed: 20,
    seasonal: 3,
    weeks: 42,
  },
  smoke: { shares: [0.6], unchanged: 1, even: 1, changing: 1, changed: 1, seasonal: 1, weeks: 30 },
};

/** From this week on, the account has enough history. */
const settled = 14;
/** In companies that change once: the week of the change, the share of groups that change, and by how many standard deviations. */
const [changeWeek, changedShare, half] = [28, 0.15, 0.5];
/** In companies that change all the time: the share of groups that change in each week. */
const changingShare = 0.05;

type Count = { hits: number; all: number };
const count = (): Count => ({ hits: 0, all: 0 });
const shareOf = ({ hits, all }: Count) => hits / all;
const add = (to: Count, isHit: boolean) => {
  to.all++;
  if (isHit) to.hits++;
};

/** What is counted for one steady share. */
type Tally = {
  coverage: Record<Checked, Count>;
  compared: Record<ComparedWith, Count>;
  marked: Count;
  seasonal: Count;
  falseMarks: Count;
  power: { hundred: Count; threeHundred: Count; kpi: Count };
  weeks: number;
};

const emptyTally = (): Tally => ({
  coverage: { question: count(), kpi: count(), questionEstimate: count(), kpiEstimate: count() },
  compared: { company: count(), parent: count(), halfYear: count() },
  marked: count(),
  seasonal: count(),
  falseMarks: count(),
  power: { hundred: count(), threeHundred: count(), kpi: count() },
  weeks: 0,
});

/** A tested change. `metric`: a question or a KPI. */
type Tested = { metric: number | string; groupId: number; change: Compared; isMarked: boolean };

export const benchStatistics: Sized<Plan> = (plan) => async (say) => {
  const tallies = plan.shares.map((share, place) => {
    const tally = emptyTally();
    const company = (kind: number, i: number, effect?: number) =>
      simulatedCompany(1 + i + 1000 * (kind + 10 * place), share, effect);
    for (let i = 0; i < plan.unchanged; i++) runUnchanged(company(0, i), plan, tally);
    for (let i = 0; i < plan.even; i++) runEven(company(4, i, 0), tally);
    for (let i = 0; i < plan.changing; i++) runChanging(company(1, i), plan, tally, i + 100 * place);
    for (let i = 0; i < plan.changed; i++) runChanged(company(2, i), plan, tally, i + 100 * place);
    for (let i = 0; i < plan.seasonal; i++) runSeasonal(company(3, i), plan, tally, i + 100 * place);
    const { hundred, threeHundred, kpi } = tally.power;
    const parts = [
      ...Object.values(tally.coverage),
      ...Object.values(tally.compared),
      tally.marked,
      tally.falseMarks,
      hundred,
      threeHundred,
      kpi,
      tally.seasonal,
    ];
    say(`steady share ${share}: ${parts.map((one) => percent(shareOf(one))).join(', ')}`);
    return tally;
  });
  return { rows: rowsOf(tallies, plan), postgres: 'not used' };
};

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/** Adds the next week of a company to its history and returns its tested changes. */
function nextWeek(company: SimulatedCompany, history: History, i: number, season = 0) {
  const figures = company.nextWeek(season);
  const statistics = weekStatistics(history, figures, company.setting);
  forget(history, weekNumber(i - 56));
  return { figures, statistics, tested: testedIn(history, statistics) };
}

function testedIn(history: History, { week, questions, kpis: ofKpis }: WeekStatistics): Tested[] {
  const variationOf = variationIn(history);
  const tested: Tested[] = [];
  const addOne = (
    metric: Tested['metric'],
    groupId: number,
    change: Compared | undefined,
    isMarked: (test: Test) => boolean,
  ) => {
    if (change && change.variance > 0)
      tested.push({ metric, groupId, change, isMarked: isMarked(testOf(change)) });
  };
  for (const [groupId, readings] of history.readings) {
    for (const { questionId, cutoffs } of questions) {
      const reading = readings.get(questionId)?.at(-1) as Reading | undefined;
      if (!reading || reading.week !== week || !isShown(reading)) continue;
      const change = questionChange({ questionId, reading }, readings, history.asked, variationOf);
      addOne(questionId, groupId, change, (test) => isClear(test, cutoffs.change));
    }
    for (const { kpiId, factor, cutoffs } of ofKpis) {
      const { questionIds } = kpis.find(({ id }) => id === kpiId) as (typeof kpis)[number];
      const latest = latestOf(readings, questionIds, windowEnding(week, kpiWeeks));
      if (latest.length === 0) continue;
      const change = kpiChange(latest, readings, history.asked, { variationOf, factor });
      addOne(kpiId, groupId, change, (test) => isClear(test, cutoffs.change));
    }
  }
  return tested;
}

/** Runs a company in which nothing changes, so that every mark of a change is false. */
function runUnchanged(company: SimulatedCompany, { weeks }: Plan, tally: Tally): void {
  const history = emptyHistory();
  const truths: Truths = new Map();
  for (let i = 0; i < weeks; i++) {
    const { statistics, tested } = nextWeek(company, history, i);
    addTruths(truths, company, statistics);
    tally.weeks++;
    if (i > 0)
      add(
        tally.marked,
        tested.some(({ isMarked }) => isMarked),
      );
    if (i >= halfYear)
      addCompared(tally, comparedIn(history, statistics, company.setting), (kind) => kind === 'halfYear');
    if (i < settled || i % 4 !== 0) continue;
    for (const { of, isHit } of intervalsIn(history, statistics, company.setting, truths))
      add(tally.coverage[of], isHit);
  }
}

/**
 * Runs a company whose teams don't differ, so that every mark of a difference from the company or the parent group is false. It ends when
 * all questions of the KPI are asked.
 */
function runEven(company: SimulatedCompany, tally: Tally): void {
  const history = emptyHistory();
  for (let i = 0; i < kpiWeeks; i++) {
    const { statistics } = nextWeek(company, history, i);
    tally.weeks++;
    addCompared(tally, comparedIn(history, statistics, company.setting), (kind) => kind !== 'halfYear');
  }
}

function addCompared(
  tally: Tally,
  compared: ReturnType<typeof comparedIn>,
  isWanted: (kind: ComparedWith) => boolean,
): void {
  for (const { kind, isMarked } of compared) if (isWanted(kind)) add(tally.compared[kind], isMarked);
}

/** Runs a company in which all groups share the movements of a season and nothing else changes. */
function runSeasonal(company: SimulatedCompany, { weeks }: Plan, tally: Tally, seed: number): void {
  const history = emptyHistory();
  const random = mulberry32(seed);
  for (let i = 0; i < weeks; i++) {
    const { tested } = nextWeek(company, history, i, 0.4 * (random() - 0.5));
    tally.weeks++;
    if (i >= settled)
      add(
        tally.seasonal,
        tested.some(({ isMarked }) => isMarked),
      );
  }
}

/**
 * Runs a company in which some groups change in each week. A mark is false if the group did not move in the direction of the mark.
 */
function runChanging(company: SimulatedCompany, { weeks }: Plan, tally: Tally, seed: number): void {
  const history = emptyHistory();
  const random = mulberry32(seed + 77);
  const shifted = new Set<number>();
  /** The shifts of each group by week. */
  const shifts: Map<number, number>[] = [];
  for (let i = 0; i < weeks; i++) {
    for (const leaf of company.leaves) {
      if (i === 0 || random() >= changingShare) continue;
      company.shift(leaf, shifted.has(leaf) ? -half : half);
      if (!shifted.delete(leaf)) shifted.add(leaf);
    }
    const { tested } = nextWeek(company, history, i);
    shifts.push(new Map([...history.readings.keys()].map((id) => [id, company.shiftOf(id)])));
    tally.weeks++;
    for (const one of tested) {
      if (one.isMarked) add(tally.falseMarks, !isTrue(one, history, shifts));
    }
  }
}

/** Returns whether a group really moved in the direction of its change, on average over the questions compared. */
function isTrue(
  { metric, groupId, change }: Tested,
  history: History,
  shifts: Map<number, number>[],
): boolean {
  const weeks = new Map(shifts.map((_, i) => [weekNumber(i), i]));
  const at = (week: string) =>
    (shifts[weeks.get(week) as number] as Map<number, number>).get(groupId) as number;
  const ids =
    typeof metric === 'number'
      ? [metric]
      : (kpis.find(({ id }) => id === metric) as (typeof kpis)[number]).questionIds;
  const last = weekNumber(shifts.length - 1);
  const latest = latestOf(
    history.readings.get(groupId) as Map<number, Reading[]>,
    ids,
    windowEnding(last, kpiWeeks),
  );
  const moved = latest.reduce((sum, { questionId, reading }) => {
    const own = history.readings.get(groupId)?.get(questionId) as Reading[];
    const before = own.findLast((one) => one.week < reading.week && isShown(one));
    return before ? sum + at(reading.week) - at(before.week) : sum;
  }, 0);
  return moved * change.by > 0;
}

/** Runs a company in which some groups change once. Counts how often the change is found. */
function runChanged(company: SimulatedCompany, { weeks }: Plan, tally: Tally, seed: number): void {
  const history = emptyHistory();
  const random = mulberry32(seed + 177);
  // The first nine have the sizes for which power is measured: two of each always change.
  const changed = new Set(
    company.leaves.filter((_, place) => (place < 9 ? place % 3 > 0 : random() < changedShare)),
  );
  const at = Math.min(changeWeek, weeks - kpiWeeks);
  for (let i = 0; i < weeks; i++) {
    if (i === at) for (const leaf of changed) company.shift(leaf, half);
    const { tested, figures } = nextWeek(company, history, i);
    tally.weeks++;
    for (const { metric, groupId, isMarked, change } of tested) {
      if (!changed.has(groupId)) continue;
      const people = figures.readings.get(groupId)?.get(weekly)?.asked;
      const isFound = isMarked && change.by > 0;
      if (i === at && metric === weekly && people === 133) add(tally.power.hundred, isFound);
      if (i === at && metric === weekly && people === 400) add(tally.power.threeHundred, isFound);
      if (i === at + kpiWeeks - 1 && metric === 'rotating' && people === 67) add(tally.power.kpi, isFound);
    }
  }
}

const totalOf = (tallies: readonly Tally[], of: (tally: Tally) => Count): Count => {
  const all = tallies.map(of);
  return {
    hits: all.reduce((sum, { hits }) => sum + hits, 0),
    all: all.reduce((sum, one) => sum + one.all, 0),
  };
};

type Target = { text: string; isMet: (share: number) => boolean };
const atMost = (share: number): Target => ({ text: `≤ ${100 * share}%`, isMet: (one) => one <= share });
const atLeast = (share: number): Target => ({ text: `≥ ${100 * share}%`, isMet: (one) => one >= share });
const about95: Target = { text: '95 ± 1%', isMet: (share) => Math.abs(share - 0.95) <= 0.01 };

/** A share that is measured for each steady share. */
type Measure = { what: string; of: (tally: Tally) => Count; target?: Target };

const covers = (what: string, of: Checked): Measure => ({
  what: `95% intervals that contain the truth: ${what}`,
  of: ({ coverage }) => coverage[of],
  target: about95,
});
const differsFrom = (what: string, kind: ComparedWith): Measure => ({
  what: `Weeks with anything marked as clearly different from ${what}`,
  of: ({ compared }) => compared[kind],
  target: atMost(0.08),
});
const finds = (answers: number, size: 'hundred' | 'threeHundred', target: Target): Measure => ({
  what: `Half a standard deviation found, one question, ${answers} answers`,
  of: ({ power }) => power[size],
  target,
});

const measures: readonly Measure[] = [
  covers('question', 'question'),
  covers('KPI', 'kpi'),
  covers('best estimate of a question', 'questionEstimate'),
  covers('best estimate of a KPI', 'kpiEstimate'),
  {
    what: 'Weeks with anything marked as clear although nothing changed',
    of: ({ marked }) => marked,
    target: atMost(0.08),
  },
  differsFrom('the company although no team differs', 'company'),
  differsFrom('the parent group although no team differs', 'parent'),
  differsFrom('half a year ago although nothing changed', 'halfYear'),
  { what: 'False marks among all marks', of: ({ falseMarks }) => falseMarks, target: atMost(0.06) },
  finds(100, 'hundred', atLeast(0.5)),
  finds(300, 'threeHundred', atLeast(0.95)),
];
const ofSeasons: Measure = {
  what: 'Weeks with anything marked as clear when only a season moves all groups',
  of: ({ seasonal }) => seasonal,
};

function rowsOf(tallies: readonly Tally[], { shares }: Plan): BenchRow[] {
  const row = ({ what, of, target }: Measure): BenchRow[] => {
    const share = shareOf(totalOf(tallies, of));
    return [
      { what, measured: percent(share), ...(target && { target: target.text, met: target.isMet(share) }) },
      ...tallies.map((tally, i) => ({
        what: `– steady share ${shares[i]}`,
        measured: percent(shareOf(of(tally))),
      })),
    ];
  };
  const kpiPower = tallies[shares.indexOf(0.6)]?.power.kpi ?? count();
  return [
    {
      what: 'Simulated weeks',
      measured: tallies.reduce((sum, { weeks }) => sum + weeks, 0).toLocaleString('en'),
    },
    ...measures.flatMap(row),
    {
      what: 'Half a standard deviation found, KPI of five questions over 13 weeks, 50 answers, steady share 0.6',
      measured: percent(shareOf(kpiPower)),
      target: '≥ 80%',
      met: shareOf(kpiPower) >= 0.8,
    },
    ...row(ofSeasons),
  ];
}
