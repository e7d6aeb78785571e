// What the statistics of a week need of the weeks before it: readings, variations, and how groups moved when nothing much happened. Pure.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { Cutoffs } from './marks.ts';
import { meanVariance, type Variation } from './measures.ts';
import { excessOf, rootOf } from './normal.ts';
import type { GroupDistribution, VarianceSums } from './pooled-variance.ts';
import { isShown, previousOf, type Reading } from './readings.ts';

/** The published figures of a week, of questions with a scale. */
export type WeekFigures = {
  week: Week;
  /** By group and question. */
  readings: ReadonlyMap<number, ReadonlyMap<number, Reading>>;
  /** By question. */
  distributions: ReadonlyMap<number, readonly GroupDistribution[]>;
};

/** The account whose figures they are. */
export type Setting = {
  parentOf: (groupId: number) => number | null;
  typeOf: (questionId: number) => QuestionType;
  kpis: readonly { id: string; questionIds: readonly number[] }[];
  /** The number of weeks of rolling values. */
  kpiWeeks: number;
};

/** `groupVariance`: how much groups differ from their parent group; null if too few can be compared. */
export type QuestionStatistics = Variation & {
  questionId: number;
  groupVariance: number | null;
  cutoffs: Cutoffs;
};
/**
 * `factor`: how much more (or less) the KPI's changes vary than its questions' do together. `ratio`: the same in this week alone, over
 * `pairs` groups; null if they are too few.
 */
export type KpiStatistics = {
  kpiId: string;
  factor: number;
  ratio: number | null;
  pairs: number;
  groupVariance: number | null;
  cutoffs: Cutoffs;
};
export type WeekStatistics = {
  week: Week;
  /** Of questions with enough cells. */
  variations: { questionId: number; sums: VarianceSums }[];
  questions: QuestionStatistics[];
  kpis: KpiStatistics[];
};

/** What the statistics of a week need from earlier weeks. */
export type History = {
  /** By group, then by question; each oldest first. */
  readings: Map<number, Map<number, Reading[]>>;
  asked: Map<number, Week[]>;
  sums: Map<number, { week: Week; sums: VarianceSums }[]>;
  /** By question and week. */
  variations: Map<number, Map<Week, Variation>>;
  moves: Map<number, Move[]>;
  kpiRatios: Map<string, { ratio: number; pairs: number; week: Week }[]>;
};

/**
 * A change in the past: of a group compared with the top of its tree, or of the top itself. `square`: divided by the variance of answers.
 * Its expected value is `all` − steady share × `known`, plus shared movements for the top.
 */
type Move = { week: Week; before: Week; isTop: boolean; square: number; all: number; known: number };

export const emptyHistory = (): History => ({
  readings: new Map(),
  asked: new Map(),
  sums: new Map(),
  variations: new Map(),
  moves: new Map(),
  kpiRatios: new Map(),
});

/** How many changes of groups are needed to know how steady attitudes are. */
const enoughMoves = 200;
/** How many changes of the whole account are needed to know shared movements. */
const enoughShared = 8;
/** How many changes of its own a question or KPI needs to count as much as all others together. */
const ownWeight = 400;
const mostSteady = 0.95;
/** About this many changes are enough to estimate the steady share. */
const mostMoves = 2_000;
/** Changes over similar numbers of weeks are grouped: attitudes are steadier over a few weeks than over months. */
const spans = [2, 6, 13, 30];

export const listIn = <K, T>(lists: Map<K, T[]>, key: K): T[] => {
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
};
export const variationsIn = ({ variations }: History, questionId: number) => {
  const known = variations.get(questionId) ?? new Map<Week, Variation>();
  variations.set(questionId, known);
  return known;
};

export function addVariations(history: History, { week, variations, questions }: WeekStatistics): void {
  for (const { questionId, sums } of variations) listIn(history.sums, questionId).push({ week, sums });
  for (const { questionId, variance, steadyShare, presentShare, sharedMovement } of questions)
    variationsIn(history, questionId).set(week, { variance, steadyShare, presentShare, sharedMovement });
}

export function addReadings(history: History, { week, readings }: WeekFigures): void {
  const questions = new Set<number>();
  for (const [groupId, own] of readings) {
    const known = history.readings.get(groupId) ?? new Map<number, Reading[]>();
    history.readings.set(groupId, known);
    for (const [questionId, reading] of own) {
      questions.add(questionId);
      listIn(known, questionId).push(reading);
    }
  }
  for (const questionId of questions) listIn(history.asked, questionId).push(week);
}

/** Returns the top group of a group's tree; null if it is one itself. */
export function topOf(groupId: number, parentOf: Setting['parentOf']): number | null {
  let top: number | null = null;
  for (let above = parentOf(groupId); above !== null; above = parentOf(above)) top = above;
  return top;
}

/** Adds the changes of a week: of each group compared with the top of its tree, and of the tops. */
export function addMoves(
  history: History,
  { week, readings }: WeekFigures,
  { parentOf }: Setting,
  variations: readonly { questionId: number; variance: number }[],
): void {
  const varianceOf = new Map(variations.map(({ questionId, variance }) => [questionId, variance]));
  const changeIn = (groupId: number, questionId: number, before?: Week) => {
    const own = history.readings.get(groupId)?.get(questionId);
    const now = own?.at(-1);
    if (!now || now.week !== week || !isShown(now)) return undefined;
    const earlier = previousOf(own, now, history.asked.get(questionId));
    if (!earlier || (before !== undefined && earlier.week !== before)) return undefined;
    return {
      by: now.value - earlier.value,
      before: earlier.week,
      all: meanVariance(now, 0) + meanVariance(earlier, 0),
      known:
        now.asked === null || earlier.asked === null
          ? 0
          : 1 / Math.max(now.asked, now.answers) + 1 / Math.max(earlier.asked, earlier.answers),
    };
  };
  for (const [groupId, own] of readings) {
    const top = topOf(groupId, parentOf);
    for (const questionId of own.keys()) {
      const variance = varianceOf.get(questionId);
      const change = variance === undefined ? undefined : changeIn(groupId, questionId);
      if (variance === undefined || !change) continue;
      const { before, all, known } = change;
      const moves = listIn(history.moves, questionId);
      if (top === null) {
        moves.push({ week, before, isTop: true, square: change.by ** 2 / variance, all, known });
        continue;
      }
      const whole = changeIn(top, questionId, before);
      if (!whole || known <= whole.known || all <= whole.all) continue;
      const square = (change.by - whole.by) ** 2 / variance;
      moves.push({ week, before, isTop: false, square, all: all - whole.all, known: known - whole.known });
    }
  }
}

/** What earlier changes say about a question. */
export type Movement = Pick<Variation, 'steadyShare' | 'presentShare' | 'sharedMovement'>;

/**
 * Returns what earlier changes say, of each question, counting only those between weeks since `first`. Changes over a longer time than
 * between the last two times that a question was asked say at least something; those over a shorter time do not count.
 */
export function movementsIn(history: History, first: Week, week: Week): (questionId: number) => Movement {
  const recent = new Map(
    [...history.moves].map(([id, list]) => [id, list.filter(({ before }) => before >= first)] as const),
  );
  const bySpan = [...spans, Infinity].map((): Move[] => []);
  for (const list of recent.values())
    for (const one of list) if (!one.isTop) bySpan[spanOf(one.before, one.week)]?.push(one);
  const shares = bySpan.map((own, span) =>
    own.length >= enoughMoves ? steadyIn(own) : steadyIn(bySpan.slice(span).flat()),
  );
  const present = shares[bySpan.findIndex((own) => own.length >= enoughMoves)] ?? 0;
  const tops = [...recent.values()].flat().filter(({ isTop }) => isTop);
  return (questionId) => {
    const last = history.asked.get(questionId)?.findLast((one) => one < week);
    const span = last === undefined ? spans.length : spanOf(last, week);
    const all = shares[span] as number;
    const own = (recent.get(questionId) ?? []).filter(
      (one) => !one.isTop && spanOf(one.before, one.week) >= span,
    );
    const steadyShare =
      all === 0 ? 0 : (steadyIn(own, 1) * own.length + all * ownWeight) / (own.length + ownWeight);
    return {
      steadyShare,
      presentShare: Math.max(present, steadyShare),
      sharedMovement: sharedIn(tops, steadyShare),
    };
  };
}

/** Returns the place of a time in `spans`. */
function spanOf(before: Week, week: Week): number {
  const weeks = (Date.parse(week) - Date.parse(before)) / 604_800_000;
  const place = spans.findIndex((one) => weeks <= one);
  return place < 0 ? spans.length : place;
}

/** Returns the steady share that explains changes of groups; 0 if there are too few. */
function steadyIn(moves: readonly Move[], enough = enoughMoves): number {
  const all = moves.filter((one) => one.known > 0);
  if (all.length < enough) return 0;
  const step = Math.ceil(all.length / mostMoves);
  const known = step === 1 ? all : all.filter((_, i) => i % step === 0);
  const squares = function* (share: number) {
    for (const one of known) yield one.square / (one.all - share * one.known);
  };
  return rootOf((share) => excessOf(squares(share)), 0, mostSteady);
}

/** Returns the variance of changes that a whole tree has in common, beyond that of its answers; 0 if too few are known. */
function sharedIn(tops: readonly Move[], steadyShare: number): number {
  if (tops.length < enoughShared) return 0;
  const squares = function* (shared: number) {
    for (const one of tops) yield one.square / (one.all - steadyShare * one.known + shared);
  };
  return rootOf((shared) => -excessOf(squares(shared)), 0, 1);
}

export function addKpiRatios(
  { kpiRatios }: History,
  { week, kpis }: Pick<WeekStatistics, 'week' | 'kpis'>,
): void {
  for (const { kpiId, ratio, pairs } of kpis)
    if (ratio !== null) listIn(kpiRatios, kpiId).push({ ratio, pairs, week });
}

/** Returns the factor of a KPI from earlier weeks since `first`; 1 while there are few. */
export function factorOf({ kpiRatios }: History, kpiId: string, first: Week): number {
  const sumOf = (lists: readonly (readonly { ratio: number; pairs: number; week: Week }[])[]) => {
    const recent = lists.flat().filter(({ week }) => week >= first);
    const pairs = recent.reduce((sum, one) => sum + one.pairs, 0);
    return { pairs, ratio: recent.reduce((sum, one) => sum + one.ratio * one.pairs, 0) / pairs };
  };
  const all = sumOf([...kpiRatios.values()]);
  if (all.pairs < enoughMoves) return 1;
  const own = sumOf([kpiRatios.get(kpiId) ?? []]);
  const ratio =
    own.pairs === 0 ? all.ratio : (own.ratio * own.pairs + all.ratio * ownWeight) / (own.pairs + ownWeight);
  return Math.min(Math.max(ratio, 0.1), 4);
}

/** Returns the variance of a question in a week, or in the last week before it. */
export const variationIn =
  ({ variations }: Pick<History, 'variations'>) =>
  (questionId: number, week: Week): Variation | undefined => {
    const own = variations.get(questionId);
    return own?.get(week) ?? [...(own ?? [])].findLast(([one]) => one <= week)?.[1];
  };

/** Removes what no later week needs. */
export function forget(history: History, first: Week): void {
  for (const own of history.readings.values())
    for (const [questionId, list] of own)
      own.set(
        questionId,
        list.filter(({ week }) => week >= first),
      );
  for (const [questionId, list] of history.moves)
    history.moves.set(
      questionId,
      list.filter(({ before }) => before >= first),
    );
}
