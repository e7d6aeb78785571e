// A simulated company for the benchmark of statistics: people with steady attitudes, whose answers in some weeks depend on how they
// feel that day. The real disclosure procedure decides what is published about them.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { scaledMean } from '@soundings/server/src/questions/types.ts';
import {
  chooseCells,
  chooseDistributions,
  setsOf,
} from '@soundings/server/src/results/disclosure/disclosure.ts';
import type { Setting, WeekFigures } from '@soundings/server/src/results/statistics/history.ts';
import type { GroupDistribution } from '@soundings/server/src/results/statistics/pooled-variance.ts';
import type { Reading } from '@soundings/server/src/results/statistics/readings.ts';
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';

/**
 * The question that is asked every week, and the questions of a KPI that are each asked once in 13 weeks, with the weeks that ask
 * them.
 */
export const weekly = 1;
const rotating = new Map([
  [0, 2],
  [3, 3],
  [5, 4],
  [8, 5],
  [10, 6],
]);
export const kpiWeeks = 13;
export const kpis = [
  { id: 'weekly', questionIds: [weekly] },
  { id: 'rotating', questionIds: [...rotating.values()] },
];
const firstWeek = '2024-01-01';
export const weekNumber = (i: number): Week => addWeeks(firstWeek, i);

const [response, replaced] = [0.75, 0.02];
/** How many people are in the groups that get about 50, 100 and 300 answers. */
const exact = [67, 67, 67, 133, 133, 133, 400, 400, 400];
const [logUniform, divisions] = [31, 6];
/** The share of the steady part, and of the sentiment of a week, that all questions have in common. */
const [sharedAttitude, sharedSentiment] = [0.4, 0.3];
/** The attitudes above which a person gives the next higher answer, from 1 to 5. */
const cuts = [-1.6, -0.8, 0.1, 1.1];
const thresholds = { figures: 5, distribution: 10 };

export type SimulatedCompany = {
  setting: Setting;
  leaves: number[];
  /** Adds `by`, in standard deviations of answers, to the attitude of everyone who is in a leaf now or later. */
  shift: (leaf: number, by: number) => void;
  /** Replaces some people with new ones, asks the questions of the next week, and publishes the figures that may be shown. */
  nextWeek: (season: number) => WeekFigures;
  /** Returns the true mean of each group for a question: what its people would answer on average. */
  truths: (questionId: number) => Map<number, number>;
  /** Returns the shift of a group: the mean of the shifts of its people. */
  shiftOf: (groupId: number) => number;
};

type Person = { leaf: number; steady: Float64Array };

/** Returns the probability that a standard normal variable is below x (Abramowitz and Stegun 26.2.17). */
function below(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    ((((1.330274429 * t - 1.821255978) * t + 1.781477937) * t - 0.356563782) * t + 0.31938153) *
    t *
    0.3989422804014327 *
    Math.exp((-x * x) / 2);
  return x > 0 ? 1 - tail : tail;
}

/** Returns the mean answer (0 to 1) for an attitude with normal noise. */
const expected = (attitude: number, noise: number) =>
  cuts.reduce((sum, cut) => sum + (noise > 0 ? below((attitude - cut) / noise) : Number(attitude > cut)), 0) /
  4;

/**
 * Returns how much an attitude must shift so that answers shift by one standard deviation. It is about the same for groups of any
 * size.
 */
function shiftForOne(): number {
  const chances = [-Infinity, ...cuts, Infinity].map((cut) => below(cut));
  const shares = chances.slice(1).map((one, i) => one - (chances[i] as number));
  const mean = shares.reduce((sum, share, i) => sum + (share * i) / 4, 0);
  const variance = shares.reduce((sum, share, i) => sum + share * (i / 4 - mean) ** 2, 0);
  return (0.5 / ((expected(0.5, 1) - expected(0, 1)) / Math.sqrt(variance))) * 1;
}
const one = shiftForOne();

/** `effect`: how much teams really differ, in standard deviations of attitudes. */
export function simulatedCompany(seed: number, steadyShare: number, effect = 0.25): SimulatedCompany {
  const random = mulberry32(seed);
  const normal = normalFrom(random);
  const sizes = [...exact, ...Array.from({ length: logUniform }, () => Math.round(5 * 100 ** random()))];
  const { leaves, parentOf, groupsOf } = groupsFor(sizes.length);
  const questionCount = 1 + rotating.size;
  const effects = new Map(
    leaves.map((leaf) => [leaf, Float64Array.from({ length: questionCount + 1 }, () => effect * normal())]),
  );
  const shifts = new Map(leaves.map((leaf) => [leaf, 0]));
  const newPerson = (leaf: number): Person => {
    const general = normal();
    const own = () => Math.sqrt(sharedAttitude) * general + Math.sqrt(1 - sharedAttitude) * normal();
    return {
      leaf,
      steady: Float64Array.from({ length: questionCount + 1 }, () => Math.sqrt(steadyShare) * own()),
    };
  };
  const people = sizes.flatMap((size, i) =>
    Array.from({ length: size }, () => newPerson(leaves[i] as number)),
  );
  const members = membersOf(people, groupsOf);
  const noise = Math.sqrt(1 - steadyShare);
  let season = 0;
  const attitudeOf = ({ leaf, steady }: Person, question: number) =>
    (steady[question] as number) +
    ((effects.get(leaf) as Float64Array)[question] as number) +
    one * (shifts.get(leaf) as number) +
    season;
  let week = -1;
  return {
    setting: { parentOf, typeOf: () => 1, kpis, kpiWeeks },
    leaves,
    shift: (leaf, by) => void shifts.set(leaf, (shifts.get(leaf) as number) + by),
    nextWeek(wanted) {
      week++;
      season = wanted;
      for (const [i, person] of people.entries()) if (random() < replaced) people[i] = newPerson(person.leaf);
      const answering = people.filter(() => random() < response);
      const sentiments = answering.map(() => normal());
      const asked = [weekly, rotating.get(week % kpiWeeks)].filter((id) => id !== undefined);
      const answers = asked.map((question) => {
        const values = answering.map((person, i) => {
          const sentiment =
            Math.sqrt(sharedSentiment) * (sentiments[i] as number) +
            Math.sqrt(1 - sharedSentiment) * normal();
          const attitude = attitudeOf(person, question) + noise * sentiment;
          return 1 + cuts.filter((cut) => attitude > cut).length;
        });
        return { question, values };
      });
      const groups = answering.map(({ leaf }) => groupsOf.get(leaf) as number[]);
      return published(weekNumber(week), { groups, answers, members });
    },
    truths(questionId) {
      const sums = new Map<number, number>();
      for (const person of people) {
        const answer = expected(attitudeOf(person, questionId), noise);
        for (const id of groupsOf.get(person.leaf) as number[]) sums.set(id, (sums.get(id) ?? 0) + answer);
      }
      return new Map([...sums].map(([id, sum]) => [id, sum / (members.get(id) as number)]));
    },
    shiftOf(groupId) {
      const own = leaves.filter((leaf) => (groupsOf.get(leaf) as number[]).includes(groupId));
      const size = (leaf: number) => members.get(leaf) as number;
      const all = own.reduce((sum, leaf) => sum + size(leaf), 0);
      return own.reduce((sum, leaf) => sum + size(leaf) * (shifts.get(leaf) as number), 0) / all;
    },
  };
}

/** Returns a generator of normally distributed numbers (Box and Muller), which come in pairs. */
function normalFrom(random: () => number): () => number {
  let spare: number | undefined;
  return () => {
    if (spare !== undefined) {
      const known = spare;
      spare = undefined;
      return known;
    }
    const [length, angle] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
    spare = length * Math.sin(angle);
    return length * Math.cos(angle);
  };
}

/** Returns a tree of `count` leaves in divisions of one company. `groupsOf`: a leaf and the groups above it. */
function groupsFor(count: number) {
  const leaves = Array.from({ length: count }, (_, i) => 100 + i);
  const parents = new Map<number, number | null>([[1, null]]);
  for (let i = 0; i < divisions; i++) parents.set(10 + i, 1);
  for (const [i, leaf] of leaves.entries()) parents.set(leaf, 10 + (i % divisions));
  const parentOf = (groupId: number) => parents.get(groupId) ?? null;
  const groupsOf = new Map(leaves.map((leaf) => [leaf, [leaf, parentOf(leaf) as number, 1]]));
  return { leaves, parentOf, groupsOf };
}

/** Returns how many people each group has. */
function membersOf(people: Person[], groupsOf: Map<number, number[]>): Map<number, number> {
  const members = new Map<number, number>();
  for (const { leaf } of people)
    for (const id of groupsOf.get(leaf) as number[]) members.set(id, (members.get(id) ?? 0) + 1);
  return members;
}

/** What people answer in a week. `groups` and `values`: by person. `members`: how many people each group has. */
type Answered = {
  groups: number[][];
  answers: { question: number; values: number[] }[];
  members: Map<number, number>;
};

/** Returns what the disclosure procedure publishes of a week. */
function published(week: Week, { groups, answers, members }: Answered): WeekFigures {
  const readings = new Map<number, Map<number, Reading>>();
  const distributions = new Map<number, GroupDistribution[]>();
  const sets = setsOf(
    groups.length,
    (person) => groups[person] as number[],
    () => 1,
  );
  const cells = chooseCells(sets, groups.length, thresholds.figures);
  const chosen = chooseDistributions(cells, () => 1, thresholds.distribution);
  for (const { question, values } of answers) {
    for (const { group } of sets) {
      const shown = cells.shown.get(group);
      const sum = (shown ?? []).reduce((total, person) => total + (values[person] as number), 0);
      const own = readings.get(group) ?? new Map<number, Reading>();
      readings.set(
        group,
        own.set(question, {
          week,
          value: shown ? scaledMean(1, sum, shown.length) : null,
          answers: shown?.length ?? null,
          asked: members.get(group) as number,
          handedOut: false,
        }),
      );
    }
    const list = [...chosen.shown].map(([groupId, included]) => {
      const distribution: Record<string, number> = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
      for (const person of included) {
        const name = String(values[person]);
        distribution[name] = (distribution[name] as number) + 1;
      }
      return { groupId, distribution };
    });
    distributions.set(question, list);
  }
  return { week, readings, distributions };
}
