// Simulates which figures a breakdown would show before it is opened. Pure. It draws who answers, several times, and decides on
// counts only, like closing a week does. No answers are involved.
import { valuesToUse } from '../../rounds/segments/segment-values.ts';
import { chooseCells, setsOf } from '../disclosure/disclosure.ts';
import { chooseSegments, type SegmentSet } from './choose-segments.ts';

/** An account's active people as a week would ask them now. */
export type SimulatedAccount = {
  /** For each person, the groups in which their answers would count, and how likely they are to answer. */
  people: { groupIds: number[]; likelihood: number }[];
  /** The top-level group of each group. */
  trees: ReadonlyMap<number, number>;
  /** Each person's value in each breakdown: those that are open, in their order, and then the new one. */
  breakdowns: readonly (readonly (string | undefined)[])[];
  /** How many answers means need, and how many people a value needs to become a segment. */
  threshold: number;
  /** How many answers yes/no and choice questions need, because their only figure is a distribution. */
  distributionThreshold: number;
  /** How many questions of both kinds the last weeks asked; none: no week has closed yet. */
  asked: AskedQuestions;
  /** How many segments a breakdown can have. */
  limit: number;
};

export type AskedQuestions = { withMean: number; distributions: number };

/** What a simulation finds about the new breakdown. Shares are from 0 to 1; null if there is nothing to take a share of. */
export type SimulatedBreakdown = {
  /** Active people, and those who have a value in the breakdown. */
  people: number;
  withValue: number;
  /** Values, and those of enough people to become segments. */
  values: number;
  segments: number;
  /** Segments of at least 15 people, and which share of their figures would be shown. */
  large: number;
  largeShown: number | null;
  /** The share of figures of all segments that would be shown. */
  shown: number | null;
  /** The share of the answers of people in segments that the shown figures would be based on. */
  answers: number | null;
  draws: number;
  /** The questions for which it was computed: a figure is one of a question in a segment. If both are 0: of a scale. */
  asked: AskedQuestions;
  distributionFrom: number;
};

/** The number of people from which a segment counts as large. */
export const largeSegment = 15;
const draws = 20;

/** Returns what the last of the account's breakdowns would show. The same account gives the same result. */
export function simulateBreakdown(account: SimulatedAccount): SimulatedBreakdown {
  const { people, breakdowns, threshold, limit } = account;
  const used = breakdowns.map((values) => valuesToUse(values, new Set(), threshold, limit));
  const own = breakdowns.at(-1) ?? [];
  const segments = used.at(-1) ?? [];
  const large = new Set(segments.filter((one) => one.people >= largeSegment).map(({ value }) => value));
  const random = randomFrom(1);
  const thresholds = thresholdsOf(account);
  const questions = thresholds.reduce((sum, one) => sum + one.questions, 0);
  const total = { shown: 0, large: 0, counted: 0, answers: 0 };
  for (let draw = 0; draw < draws; draw++) {
    const answering = [...people.keys()].filter((person) => random() < (people[person]?.likelihood ?? 0));
    for (const { threshold: needed, questions: weight } of thresholds) {
      const { shown, asked } = drawn({ ...account, threshold: needed }, used, answering);
      for (const [value, counted] of shown) {
        total.shown += weight;
        if (large.has(value)) total.large += weight;
        total.counted += weight * counted;
      }
      total.answers += weight * asked;
    }
  }
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  return {
    people: people.length,
    withValue: own.filter((value) => value !== undefined).length,
    values: new Set(own.filter((value) => value !== undefined)).size,
    segments: segments.length,
    large: large.size,
    largeShown: share(total.large, large.size * draws * questions),
    shown: share(total.shown, segments.length * draws * questions),
    answers: share(total.counted, total.answers),
    draws,
    asked: account.asked,
    distributionFrom: account.distributionThreshold,
  };
}

/** Returns the thresholds that apply to the questions asked, each once. */
function thresholdsOf({
  asked: { withMean, distributions },
  threshold,
  distributionThreshold,
}: SimulatedAccount) {
  if (withMean + distributions === 0 || threshold === distributionThreshold)
    return [{ threshold, questions: 1 }];
  return [
    { threshold, questions: withMean },
    { threshold: distributionThreshold, questions: distributions },
  ].filter(({ questions }) => questions > 0);
}

/**
 * Returns the segments of the last breakdown that would be shown if these people answered, with the number of answers they are based on,
 * and how many of these people are in a segment of it.
 */
function drawn(
  { people, trees, breakdowns, threshold }: SimulatedAccount,
  used: readonly { value: string }[][],
  answering: readonly number[],
): { shown: Map<string, number>; asked: number } {
  const sets = setsOf(
    answering.length,
    (one) => people[answering[one] as number]?.groupIds ?? [],
    (group) => trees.get(group) ?? group,
  );
  const cells = chooseCells(sets, answering.length, threshold);
  const values: string[] = [];
  const setsOfBreakdowns = breakdowns.map((valueOf, breakdown) =>
    (used[breakdown] ?? []).flatMap(({ value }): SegmentSet[] => {
      const members = [...answering.keys()].filter((one) => valueOf[answering[one] as number] === value);
      const segment = values.push(value) - 1;
      return members.length === 0 ? [] : [{ segment, people: members }];
    }),
  );
  const figures = chooseSegments(cells, setsOfBreakdowns, threshold);
  const own = setsOfBreakdowns.at(-1) ?? [];
  const shown = own.flatMap(({ segment }): [string, number][] => {
    const counted = figures.get(segment);
    return counted ? [[values[segment] as string, counted.length]] : [];
  });
  return { shown: new Map(shown), asked: own.reduce((sum, set) => sum + set.people.length, 0) };
}

/** Returns a function that returns numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
