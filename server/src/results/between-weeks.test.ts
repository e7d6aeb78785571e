// Attacks between weeks, on the service's own figures: how often the best guess of a person's answer is right, without
// noise and with it (privacy.md P19, P20). BETWEEN_WEEKS=20 makes 20 times as many attacks.
import { describe, expect, test } from 'vitest';
import { type Random, randomFrom } from '../simulation/random.ts';
import {
  beliefs,
  differenceGuess,
  type Errors,
  draw,
  guessesOf,
  type Habits,
  leaverRule,
  longLeaverGuess,
  type Observation,
  repeatedAnswers,
} from '../testing/between-weeks.ts';
import { questionFigures, turnoutOf } from './figures.ts';

const times = Number(process.env['BETWEEN_WEEKS'] ?? 1);

/** On a scale of 1 to 5, as people really answer: the commonest answer is given by 40 %. */
const usual = [0.05, 0.1, 0.25, 0.4, 0.2];
const commonest = Math.max(...usual);

/** Not better than by guessing the commonest answer, and 3 points. */
const limit = 100 * commonest + 3;

type Shares = ReturnType<typeof leaving>;
type Level = 0 | 1 | 2;
const levels: Level[] = [0, 1, 2];

/** How errors are drawn at a level. */
const errorsAt = (level: Level): Errors => Array<number>(2 * level + 1).fill(1 / (2 * level + 1));

/** What is published of a group in which these people answer so, as the sum of their answers, counted from 0. */
function publishedSum(answers: ReadonlyMap<string, number>, level: Level, random: Random): number {
  const respondents = [...answers.keys()];
  const turnout = turnoutOf({
    thresholds: { figures: 5, spread: 10, comments: 10 },
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
  }));
  const [result] = questionFigures({ id: 1, type: 1, options: [] }, given, turnout).results;
  expect(result?.spread).toBeNull();
  return Math.round(4 * (result?.value as number) * given.length) + draw(random, errorsAt(level)) - level;
}

const percent = (right: number, all: number) => Math.round((1000 * right) / all) / 10;

const report = (name: string, measured: object) =>
  process.stdout.write(`Between weeks, ${name}: ${JSON.stringify(measured)}\n`);

/** Someone leaves a team of eight: the share of right guesses, by the best rule and by the difference of the sums. */
function leaving(persistence: number, level: Level, count: number) {
  const random = randomFrom(100 * persistence + level, 'leaver');
  const habits: Habits = { usual, persistence };
  const { guess: best, share } = leaverRule(habits, errorsAt(level), 7);
  const plain = differenceGuess(4);
  let [right, rightPlain] = [0, 0];
  for (let i = 0; i < count; i++) {
    const team = Array.from({ length: 8 }, () => repeatedAnswers(random, habits, 2));
    const own = team[0]?.[0] as number;
    const sumOf = (week: number, first: number) =>
      publishedSum(
        new Map(team.map((answers, p) => [`${i}-${p}`, answers[week] as number] as const).slice(first)),
        level,
        random,
      );
    const sums = [sumOf(0, 0), sumOf(1, 1)] as const;
    if (best(...sums) === own) right++;
    if (plain(...sums) === own) rightPlain++;
  }
  return {
    expected: percent(share, 1),
    best: percent(right, count),
    difference: percent(rightPlain, count),
  };
}

/** The same from six weeks before and six after. */
function leavingAfterWeeks(persistence: number, level: Level, count: number) {
  const random = randomFrom(100 * persistence + level, 'long leaver');
  const habits: Habits = { usual, persistence };
  const shape = { colleagues: 7, before: 6, after: 6 };
  const best = longLeaverGuess(habits, errorsAt(level), { ...shape, isLasting: true });
  let right = 0;
  for (let i = 0; i < count; i++) {
    const team = Array.from({ length: 8 }, () => repeatedAnswers(random, habits, 12));
    const sums = Array.from({ length: 12 }, (_, week) =>
      publishedSum(
        new Map(
          team.map((answers, p) => [`${i}-${p}`, answers[week] as number] as const).slice(week < 6 ? 0 : 1),
        ),
        level,
        random,
      ),
    );
    if (best(sums) === team[0]?.[5]) right++;
  }
  return percent(right, count);
}

/** 40 people are put into other groups of five each week, for twelve weeks: the share of right guesses. */
function shuffling(persistence: number, level: Level, count: number) {
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
        observations.push({ week, people: group, sum: publishedSum(given, level, random) });
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

/** Without noise, and at each level. By persistence. */
const measured = <T>(measure: (persistence: number, level: Level) => T) =>
  Object.fromEntries(
    [1, 0.95, 0.9].map((persistence) => [persistence, levels.map((level) => measure(persistence, level))]),
  );

describe('someone leaves a team of eight', () => {
  test('the best guess and the plain difference, from the two weeks', () => {
    const shares = measured((persistence, level) => leaving(persistence, level, 1000 * times));
    report('a leaver', shares);
    for (const one of Object.values(shares).flat()) {
      // What the service publishes is as good for guessing as the calculation says.
      expect(Math.abs(one.best - one.expected)).toBeLessThan(5);
    }
    const [without, one, two] = shares['0.95'] as [Shares, Shares, Shares];
    expect(shares['1']?.[0]?.expected).toBe(100);
    expect(without.expected).toBeGreaterThan(75);
    // ±1 is enough against the plain difference, and against the best guess ±2 is.
    expect(one.difference).toBeLessThan(limit);
    expect(one.expected).toBeLessThan(47);
    expect(two.expected).toBeLessThan(limit);
  });

  test('six weeks before and six after help little more', () => {
    const shares = measured((persistence, level) => leavingAfterWeeks(persistence, level, 200 * times));
    report('a leaver, from twelve weeks', shares);
    expect(shares['0.95']?.[1]).toBeLessThan(52);
    expect(shares['0.95']?.[2]).toBeLessThan(49);
  });
});

describe('people are put into other groups of five each week', () => {
  test('after twelve weeks noise of a step or two does not keep their answers', () => {
    const shares = levels.map((level) => shuffling(0.95, level, 3 * times));
    report('other fives each week, persistence .95', shares);
    const [without, one, two] = shares as [number, number, number];
    expect(without).toBeGreaterThan(90);
    expect(one).toBeLessThan(without - 10);
    expect(two).toBeLessThan(one);
    expect(two).toBeGreaterThan(limit);
  });
});
