// The figures of a week, calculated from its answers as the rules say (P2 to P8, decisions A10 to A14).
import { publishedSets } from './published-sets.ts';
import {
  answered,
  askedOf,
  groupsOf,
  largerThreshold,
  questionsIn,
  roundsWith,
  setsOf,
  type SurveyWeek,
  treeOf,
  upwards,
} from './survey-week.ts';

/** A group and a week. */
export type Place = { g: number; week: string };
export type Counts = Record<string, number>;
/** All null: withheld. `counts`: the distribution. */
export type Figure = Place & {
  q: number;
  value: number | null;
  answers: number | null;
  counts: Counts | null;
};
export type Rate = Place & { value: number | null; asked: number | null; answered: number | null };
/** `isWhole`: whether the group was asked as a whole (decision F1). */
export type KpiFigure = Place & { kpi: string; value: number | null; isWhole: boolean };
export type ShownComments = Place & { q: number; texts: string[] };

/** A10: the ends of the scale of each type that has a mean. */
const scales: Record<number, [low: number, high: number]> = {
  1: [1, 5],
  2: [1, 10],
  3: [0, 10],
  4: [0, 1],
  8: [1, 4],
};
export const isScaled = (type: number): boolean => type in scales;
export const hasOptions = (type: number): boolean => type === 5 || type === 6;
/** A10: yes/no and choices show nothing but their distribution, so they need its threshold. */
const isOnlyDistribution = (type: number) => type === 4 || hasOptions(type);

function meanOf(type: number, values: unknown[]): number | null {
  if (!isScaled(type)) return null;
  const [low, high] = scales[type]!;
  return values.reduce((sum: number, one) => sum + (Number(one) - low) / (high - low), 0) / values.length;
}

function countsOf(type: number, options: string[], values: unknown[]): Counts {
  const [low, high] = scales[type] ?? [0, -1];
  const steps = Array.from({ length: high - low + 1 }, (_, i) => String(low + i));
  const names = type === 4 ? ['yes', 'no'] : hasOptions(type) ? options : steps;
  const given = values.flat().map((one) => (one === true ? 'yes' : one === false ? 'no' : String(one)));
  return Object.fromEntries(names.map((name) => [name, given.filter((one) => one === name).length]));
}

/** The people behind the figures and the distributions of a question, by group. */
export type Counted = Record<'figures' | 'distributions', Map<number, Set<string>>>;

/** The threshold for a question to have any figure (P4). */
export const thresholdOf = (week: SurveyWeek, q: number): number =>
  isOnlyDistribution(week.questions.get(q)!.type) ? largerThreshold(week) : week.threshold;

/** P2 and P5. `people`: those who answered. */
export function countedIn(week: SurveyWeek, q: number, people: Iterable<string>): Counted {
  const { type } = week.questions.get(q)!;
  const figures = publishedSets(setsOf(week, q, people), thresholdOf(week, q));
  if (isOnlyDistribution(type)) return { figures, distributions: figures };
  if (!isScaled(type)) return { figures, distributions: new Map() };
  const again = [...figures].map(([id, members]) => ({ id, tree: treeOf(week, id), people: members }));
  return { figures, distributions: publishedSets(again, largerThreshold(week)) };
}

/** Returns a row for each group that was asked a question or is above one that was (A4): with nulls where it is withheld. */
export function figuresOf(week: SurveyWeek, q: number, { figures, distributions }: Counted): Figure[] {
  const { type, options } = week.questions.get(q)!;
  const valuesOf = (people: Set<string>) =>
    [...people].map((person) => week.answers.get(q)!.get(person)!.value);
  const asked = [...askedOf(week)].filter(([, ids]) => ids.includes(q)).map(([g]) => g);
  const above = roundsWith(week, q).flatMap(({ groupId }) => upwards(week.parents, groupId));
  return [...new Set([...asked, ...above])].map((g) => {
    const [people, ofDistribution] = [figures.get(g), distributions.get(g)];
    return {
      q,
      g,
      week: week.week,
      value: people ? meanOf(type, valuesOf(people)) : null,
      answers: people?.size ?? null,
      counts: ofDistribution ? countsOf(type, options, valuesOf(ofDistribution)) : null,
    };
  });
}

/** P1: the figures of a week that is not live, once it has closed. */
export const resultsOf = (week: SurveyWeek): Figure[] =>
  questionsIn(week).flatMap((q) => figuresOf(week, q, countedIn(week, q, answered(week, q))));

/** P6: the comments of everyone who answered the question, with their own threshold. In the order of their texts. */
export const commentsOf = (week: SurveyWeek): ShownComments[] =>
  questionsIn(week).flatMap((q) =>
    [...publishedSets(setsOf(week, q, answered(week, q)), largerThreshold(week))].flatMap(([g, people]) => {
      const texts = [...people].flatMap((person) => week.answers.get(q)!.get(person)!.comment ?? []);
      return texts.length > 0 ? [{ q, g, week: week.week, texts: texts.toSorted() }] : [];
    }),
  );

type SameQuestions = { g: number; questionIds: number[]; people: Set<string> };

/**
 * P7 and A12: the answers and skips of a group, divided by what it was asked. Rounds of a group below don't count. The people of a group
 * who were asked the same questions are a set of their own.
 */
export function ratesOf(week: SurveyWeek): Rate[] {
  const found = new Map<string, SameQuestions>();
  for (const person of week.memberOf.keys())
    for (const g of new Set(week.rounds.flatMap((round) => groupsOf(week, round, person)))) {
      const path = upwards(week.parents, g);
      const rounds = week.rounds.filter((round) => groupsOf(week, round, person).includes(g));
      const questionIds = questionsIn({ rounds: rounds.filter(({ groupId }) => path.includes(groupId)) });
      if (questionIds.length === 0) continue;
      const key = `${g} ${questionIds.join()}`;
      found
        .set(key, found.get(key) ?? { g, questionIds, people: new Set() })
        .get(key)!
        .people.add(person);
    }
  const sets = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  const shown = publishedSets(
    sets.map(({ g, people }, id) => ({ id, tree: treeOf(week, g), people })),
    week.threshold,
  );
  return [...askedOf(week).keys()].map((g) => {
    const people = [...shown].flatMap(([id, counted]) =>
      sets[id]!.g === g ? [...counted].map((person) => doneBy(week, person, sets[id]!.questionIds)) : [],
    );
    if (people.length === 0) return { g, week: week.week, value: null, asked: null, answered: null };
    const sum = (name: 'asked' | 'done') => people.reduce((all, one) => all + one[name], 0);
    const some = people.filter(({ done }) => done > 0).length;
    return { g, week: week.week, value: sum('done') / sum('asked'), asked: people.length, answered: some };
  });
}

const doneBy = ({ answers }: SurveyWeek, person: string, questionIds: number[]) => ({
  asked: questionIds.length,
  done: questionIds.filter((q) => answers.get(q)?.has(person)).length,
});

/** P8 and A14: the mean of the published values of a KPI's questions. */
export function kpiFiguresOf(
  week: SurveyWeek,
  results: Figure[],
  kpis: { id: string; questionIds: number[] }[],
): KpiFigure[] {
  const asked = askedOf(week);
  return kpis.flatMap(({ id, questionIds }) => {
    const own = results.filter(({ q }) => questionIds.includes(q));
    return [...Map.groupBy(own, ({ g }) => g)].map(([g, rows]) => {
      const values = rows.flatMap(({ value }) => value ?? []);
      const value = values.length > 0 ? values.reduce((a, b) => a + b, 0) / values.length : null;
      const isWhole = asked.get(g)?.some((q) => questionIds.includes(q)) ?? false;
      return { kpi: id, g, week: week.week, value, isWhole };
    });
  });
}
