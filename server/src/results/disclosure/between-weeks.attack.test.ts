// Attacks between weeks on the service's own figures: how often the best guess of a person's answer is right, with and without
// noise (rules.md P19, P20). BETWEEN_WEEKS=20 runs 20 times as many attacks.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import {
  beliefs,
  differenceGuess,
  type Errors,
  guessesOf,
  type Habits,
  leaverRule,
  longLeaverGuess,
  type Leaving,
  type Observation,
  repeatedAnswers,
} from '../../testing/attacks/between-weeks.ts';
import { betweenWeeks } from './between-weeks.ts';
import { questionFigures } from '../figures.ts';
import { turnoutOf } from '../turnout.ts';
import { noiseOf } from './noise.ts';

const times = Number(process.env['BETWEEN_WEEKS'] ?? 1);

/** On a scale of 1 to 5, as people really answer: 40% give the most common answer. */
const usual = [0.05, 0.1, 0.25, 0.4, 0.2];
const mostCommon = Math.max(...usual);

/** At most 3 points better than always guessing the most common answer. */
const limit = 100 * mostCommon + 3;

type Shares = ReturnType<typeof leaving>;
const levels: NoiseLevel[] = [0, 1, 2];

/** The possible errors at a level, each equally likely. */
const errorsAt = (level: NoiseLevel): Errors => Array<number>(2 * level + 1).fill(1 / (2 * level + 1));

/**
 * Returns what is published for a group whose people answer like this, as the sum of their answers, counted from 0. `wording`: the
 * question's text.
 */
function publishedSum(answers: ReadonlyMap<string, number>, level: NoiseLevel, wording: string): number {
  const respondents = [...answers.keys()];
  const turnout = turnoutOf({
    thresholds: { figures: 5, distribution: 10, comments: 10 },
    rounds: [{ id: 1, groupId: 1, questionIds: [1], aboveIds: [] }],
    assignments: respondents.map((respondent) => ({ respondent, roundId: 1, groupIds: [1] })),
    asked: [{ groupId: 1, questionIds: [1] }],
  });
  const given = respondents.map((respondent) => ({
    respondent,
    value: 1 + (answers.get(respondent) as number),
    choices: null,
    comment: null,
    skipped: false,
    handedOut: false,
    counted: false,
  }));
  const noise = noiseOf(Buffer.from('key'), level, (respondent) => respondent)?.ofQuestion(wording);
  const [result] = questionFigures({ id: 1, type: 1, options: [] }, given, turnout, noise).results;
  expect(result?.distribution).toBeNull();
  return Math.round(4 * (result?.value as number) * given.length);
}

const percent = (right: number, all: number) => Math.round((1000 * right) / all) / 10;

const report = (name: string, measured: object) =>
  process.stdout.write(`Between weeks, ${name}: ${JSON.stringify(measured)}\n`);

/** A team of eight whose first member leaves after `before` weeks. Returns what is published for a question. */
function teamSums(
  team: number[][],
  name: string,
  before: number,
  level: NoiseLevel,
  wordsOf: (week: number) => string,
) {
  return (team[0] as number[]).map((_, week) => {
    const all = team.map((answers, p) => [`${name}-${p}`, answers[week] as number] as const);
    return publishedSum(new Map(week < before ? all : all.slice(1)), level, wordsOf(week));
  });
}

/**
 * Someone leaves a team of eight that is asked some questions in both weeks. Returns the share of right guesses, by the best rule
 * and by the difference of the sums. `isShared`, a mutant: all questions have the same errors.
 */
function leaving(persistence: number, level: NoiseLevel, count: number, questions = 1, isShared = false) {
  const random = randomFrom(1000 * persistence + 10 * level + questions, 'leaver');
  const habits: Habits = { usual, persistence };
  const { guessAll, share } = leaverRule(habits, errorsAt(level), 7);
  const plain = differenceGuess(4);
  let [right, rightPlain] = [0, 0];
  for (let i = 0; i < count; i++) {
    const teams = Array.from({ length: questions }, () =>
      Array.from({ length: 8 }, () => repeatedAnswers(random, habits, 2)),
    );
    const sums = teams.map(
      (team, q) => teamSums(team, `${i}`, 1, level, () => (isShared ? 'all' : `question ${q}`)) as Leaving,
    );
    const guesses = isShared ? guessAll(sums) : sums.map((one) => guessAll([one])[0] as number);
    for (const [q, team] of teams.entries()) {
      if (guesses[q] === team[0]?.[0]) right++;
      if (plain(...(sums[q] as Leaving)) === team[0]?.[0]) rightPlain++;
    }
  }
  const all = count * questions;
  return { expected: percent(share, 1), best: percent(right, all), difference: percent(rightPlain, all) };
}

/** The same with six weeks before and six after. Without `isLasting`, a mutant: errors are drawn again each week. */
function leavingAfterWeeks(persistence: number, level: NoiseLevel, count: number, isLasting: boolean) {
  const random = randomFrom(1000 * persistence + 10 * level, 'long leaver');
  const habits: Habits = { usual, persistence };
  const best = longLeaverGuess(habits, errorsAt(level), { colleagues: 7, before: 6, after: 6, isLasting });
  let right = 0;
  for (let i = 0; i < count; i++) {
    const team = Array.from({ length: 8 }, () => repeatedAnswers(random, habits, 12));
    const sums = teamSums(team, `${i}`, 6, level, (week) => (isLasting ? 'question' : `question of ${week}`));
    if (best(sums) === team[0]?.[5]) right++;
  }
  return percent(right, count);
}

/** Moves 40 people into other groups of five each week for twelve weeks. Returns the share of right guesses. */
function shuffling(persistence: number, level: NoiseLevel, count: number) {
  const random = randomFrom(100 * persistence + level, 'shuffled');
  const habits: Habits = { usual, persistence };
  const [people, weeks] = [40, 12];
  let right = 0;
  for (let i = 0; i < count; i++) {
    const answers = Array.from({ length: people }, () => repeatedAnswers(random, habits, weeks));
    const observations: Observation[] = [];
    for (let week = 0; week < weeks; week++) {
      const order = random.shuffled(answers.map((_, person) => person));
      for (let start = 0; start < people; start += 5) {
        const group = order.slice(start, start + 5);
        const given = new Map(
          group.map((person) => [`${i}-${person}`, answers[person]?.[week] as number] as const),
        );
        observations.push({ week, people: group, sum: publishedSum(given, level, 'question') });
      }
    }
    const found = beliefs(observations, people, weeks, habits, errorsAt(level));
    for (let week = 0; week < weeks; week++) {
      for (const [person, guess] of guessesOf(found, week).entries()) {
        if (guess === answers[person]?.[week]) right++;
      }
    }
  }
  return percent(right, count * people * weeks);
}

/** Measures without noise and at each level, by persistence. */
const measured = <T>(measure: (persistence: number, level: NoiseLevel) => T) =>
  Object.fromEntries(
    [1, 0.95, 0.9].map((persistence) => [persistence, levels.map((level) => measure(persistence, level))]),
  );

describe('someone leaves a team of eight', () => {
  test('the best guess and the plain difference from the two weeks', () => {
    const shares = measured((persistence, level) => leaving(persistence, level, 400 * times));
    report('a leaver', shares);
    for (const one of Object.values(shares).flat()) {
      // The published figures help to guess as much as the calculation says, and no more.
      expect(Math.abs(one.best - one.expected)).toBeLessThan(8);
    }
    const [without, one, two] = shares['0.95'] as [Shares, Shares, Shares];
    expect(shares['1']?.[0]?.expected).toBe(100);
    expect([without, one, two].map(({ expected }) => Math.round(expected))).toEqual(
      levels.map((level) => betweenWeeks.leaver[level]),
    );
    expect(betweenWeeks.commonest).toBe(100 * mostCommon);
    // ±1 is enough against the plain difference, ±2 against the best guess.
    expect(one.difference).toBeLessThan(limit);
    expect(one.expected).toBeLessThan(47);
    expect(two.expected).toBeLessThan(limit);
  });

  test('six weeks before and six after: constant errors do not average out', () => {
    const [lasting, drawnAgain] = [true, false].map((isLasting) =>
      [1, 0.95].map((persistence) => leavingAfterWeeks(persistence, 1, 100 * times, isLasting)),
    ) as [number[], number[]];
    report('a leaver, from twelve weeks, ±1, persistence 1 and .95', { lasting, drawnAgain });
    expect(lasting[0]).toBeLessThan(60);
    expect(lasting[1]).toBeLessThan(55);
    // The mutant, with people who always answer the same.
    expect(drawnAgain[0]).toBeGreaterThan((lasting[0] as number) + 15);
  });

  test('ten questions reveal no more about each answer than one, because each has its own errors', () => {
    const [own, shared] = [false, true].map((isShared) =>
      levels.map((level) => leaving(0.95, level, 40 * times, 10, isShared).best),
    ) as [number[], number[]];
    report('a leaver, ten questions, persistence .95', { own, shared });
    expect(own[1]).toBeLessThan(51);
    expect(own[2]).toBeLessThan(limit + 4);
    // The mutant: the other questions reveal the error.
    expect(shared[1]).toBeGreaterThan(65);
    expect(shared[2]).toBeGreaterThan(60);
  });
});

describe('people move to other groups of five each week', () => {
  test('after twelve weeks, noise of one or two steps does not protect their answers', () => {
    const shares = levels.map((level) => shuffling(0.95, level, 3 * times));
    report('other fives each week, persistence .95', shares);
    const [without, one, two] = shares as [number, number, number];
    for (const level of levels)
      expect(Math.abs((shares[level] as number) - betweenWeeks.shuffled[level])).toBeLessThan(4);
    expect(one).toBeLessThan(without - 10);
    expect(two).toBeLessThan(one);
    expect(two).toBeGreaterThan(limit);
  });
});
