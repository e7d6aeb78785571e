// The second adversary against the figures of closed weeks: it must find nothing in what the service publishes, and must
// break each mutant of the rules. ADVERSARIES=2000 makes it look in more worlds.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { randomFrom } from '../simulation/random.ts';
import { weekData } from '../testing/histories.ts';
import {
  spreadByThreshold,
  thresholdOnly,
  treeByTree,
  withoutLeavingOut,
  type Procedure,
} from '../testing/mutants.ts';
import {
  attackWorld,
  findCombination,
  findInteger,
  guessAnswers,
  guessParticipation,
  type Publish,
  type Row,
  sameWords,
  type System,
} from '../testing/second-attacker.ts';
import { randomWorld, type World } from '../testing/second-worlds.ts';
import {
  kpiValues,
  questionFigures,
  responseRates,
  type Result,
  type ShownComment,
  turnoutOf,
} from './figures.ts';

const count = Number(process.env['ADVERSARIES'] ?? 150);

// The figures are made by the service's own code throughout; a mutant takes the place of anonymity.ts.
const { mutant, real } = vi.hoisted(() => ({
  mutant: { procedure: undefined as Procedure | undefined },
  real: { procedure: undefined as Procedure | undefined },
}));

vi.mock('./anonymity.ts', async (original) => {
  const actual = await original<Procedure>();
  real.procedure = actual;
  const choosePieces: Procedure['choosePieces'] = (...args) =>
    (mutant.procedure ?? actual).choosePieces(...args);
  const chooseSpread: Procedure['chooseSpread'] = (...args) =>
    (mutant.procedure ?? actual).chooseSpread(...args);
  return { ...actual, choosePieces, chooseSpread };
});

beforeEach(() => {
  mutant.procedure = undefined;
});

const publish: Publish = (data, questions, answers, kpis) => {
  const turnout = turnoutOf(data);
  const results = new Map<number, Result[]>();
  const comments = new Map<number, ShownComment[]>();
  for (const question of questions) {
    const list = answers.get(question.id);
    if (!list) continue;
    const figures = questionFigures(question, list, turnout);
    results.set(question.id, figures.results);
    comments.set(question.id, figures.comments);
  }
  return { results, comments, kpis: kpiValues(kpis, results), rates: responseRates(turnout) };
};

/** The mutant of P8: KPIs of all answers, shown or not. */
const publishWideKpis: Publish = (data, questions, answers, kpis) => {
  const open = { ...data, thresholds: { figures: 1, spread: 1, comments: 1 } };
  return {
    ...publish(data, questions, answers, kpis),
    kpis: publish(open, questions, answers, kpis).kpis,
  };
};

const worlds = Array.from({ length: count }, (_, i) => randomWorld(i + 1));

const plain = worlds.filter(({ questions }) => questions.length < 4);

type Figures = 'figures' | 'comments' | 'kpis';

/** What a world publishes, as a text: what a mutant publishes alike can’t be broken. */
const textOf = (world: World, by: Publish, kind: Figures) =>
  JSON.stringify(
    world.weeks.map((week) => {
      const data = weekData(world, week);
      const { results, comments, kpis } = by(data, world.questions, week.answers, world.kpis);
      return { figures: [...results], comments: [...comments], kpis }[kind];
    }),
  );

/** In how many worlds a mutant publishes other figures, and in how many of these the adversary breaks it by them. */
function breaking(procedure: Procedure | undefined, kind: Figures, by = publish, among = plain) {
  let [different, broken, undecided] = [0, 0, 0];
  const ways = new Map<string, number>();
  for (const world of among) {
    mutant.procedure = undefined;
    const before = textOf(world, publish, kind);
    mutant.procedure = procedure;
    if (textOf(world, by, kind) === before) continue;
    different++;
    const outcome = attackWorld(world, by);
    const found = outcome.claims.filter((claim) => (claim.by === 'comments') === (kind === 'comments'));
    expect(found.filter(({ isRight }) => !isRight)).toEqual([]);
    if (outcome.undecided > 0) undecided++;
    if (found.length > 0) broken++;
    for (const way of new Set(found.map((claim) => claim.by))) ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  mutant.procedure = undefined;
  return { different, broken, share: broken / different, undecided, ...Object.fromEntries(ways) };
}

const report = (name: string, measured: object) =>
  process.stdout.write(`Second adversary, ${name}: ${JSON.stringify(measured)}\n`);

const mutants: [name: string, procedure: () => Procedure][] = [
  ['a threshold alone', () => thresholdOnly],
  ['each tree by itself', () => treeByTree(real.procedure as Procedure)],
  ['nobody left out', () => withoutLeavingOut(real.procedure as Procedure)],
];

describe('the second adversary', () => {
  test('finds nothing in what the service publishes', () => {
    const found: object[] = [];
    let [figures, undecided] = [0, 0];
    for (const world of plain) {
      const outcome = attackWorld(world, publish);
      found.push(...outcome.claims.map((claim) => ({ seed: world.seed, ...claim })));
      figures += outcome.figures;
      undecided += outcome.undecided;
    }
    report('the service', { worlds: plain.length, figures, claims: found.length, undecided });
    expect(found).toEqual([]);
    expect(undecided).toBe(0);
    expect(figures).toBeGreaterThan(50 * plain.length);
  });

  test.each(mutants)('breaks the mutant by figures: %s', (name, procedure) => {
    const measured = breaking(procedure(), 'figures');
    report(`${name}, figures`, measured);
    expect(measured.different).toBeGreaterThan(count / 10);
    expect(measured.share).toBeGreaterThan(0.3);
  });

  test.each(mutants)('breaks the mutant by comments: %s', (name, procedure) => {
    const measured = breaking(procedure(), 'comments');
    report(`${name}, comments`, measured);
    expect(measured.different).toBeGreaterThan(count / 10);
    expect(measured.share).toBeGreaterThan(0.3);
  });

  test('breaks the mutant: distributions by their threshold alone', () => {
    const measured = breaking(spreadByThreshold(real.procedure as Procedure), 'figures');
    report('distributions by their threshold alone', measured);
    expect(measured.share).toBeGreaterThan(0.3);
  });

  test('breaks the mutant: KPIs of values that are not shown', () => {
    const measured = breaking(undefined, 'kpis', publishWideKpis);
    report('KPIs of values that are not shown', measured);
    expect(measured.share).toBeGreaterThan(0.3);
  });

  test('knowing only who was asked, reads answers from a threshold alone and none from the service', () => {
    const guesses = (guess: typeof guessAnswers, among: World[]) => {
      const all = among.flatMap((world) => world.weeks.flatMap((week) => guess(world, week, publish)));
      return { guesses: all.length, right: all.filter(({ isRight }) => isRight).length };
    };
    const service = guesses(guessAnswers, plain);
    const rates = guesses(guessParticipation, plain);
    mutant.procedure = thresholdOnly;
    const broken = guesses(guessAnswers, plain);
    report('who was asked alone', { service, broken, 'participation by rates, of the service': rates });
    expect(broken.right).toBe(broken.guesses);
    expect(broken.right).toBeGreaterThan(count / 4);
    expect(service.right).toBe(0);
  });
});

describe('its tools', () => {
  const row = (people: number[], values: number[]): Row => ({
    name: people.join(),
    weights: new Map(people.map((person) => [`q|${person}`, 1])),
    total: people.reduce((sum, person) => sum + (values[person] as number), 0),
  });
  const everybody = [0, 1, 2, 3, 4, 5, 6];

  test('a combination is found exactly when adding and subtracting finds one', () => {
    const random = randomFrom(1, 'sets');
    let found = 0;
    for (let i = 0; i < 400; i++) {
      const rows = Array.from({ length: 1 + (i % 4) }, () =>
        row(
          everybody.filter(() => random.chance(0.6)),
          everybody,
        ),
      );
      const threshold = 2 + (i % 3);
      // All sums with each row taken −2 to 2 times.
      const sizes = Array.from({ length: 5 ** rows.length }, (_, code) => {
        const times = rows.map((_row, place) => (Math.floor(code / 5 ** place) % 5) - 2);
        const left = everybody.filter(
          (person) =>
            rows.reduce(
              (sum, { weights }, place) => sum + (times[place] as number) * (weights.get(`q|${person}`) ?? 0),
              0,
            ) !== 0,
        );
        return left.length;
      });
      const isThere = sizes.some((size) => size > 0 && size < threshold);
      const combination = findCombination(rows, threshold);
      expect(combination).not.toBe('undecided');
      expect(combination !== undefined || !isThere).toBe(true);
      if (combination) found++;
    }
    expect(found).toBeGreaterThan(100);
  });

  const system = (rows: Row[], values: number[]): System => ({
    name: 'q',
    rows,
    low: 1,
    high: 5,
    truth: new Map(values.map((value, person) => [`q|${person}`, value])),
  });

  test('bounds fix an answer that no sum gives', () => {
    // Twice the first two and once the third is 3 above its lowest; nothing is known of 3 to 6 but that they are there.
    const values = [1, 1, 1, 5, 5, 5, 4];
    const rows = [row([0, 1, 2, 3], values), row([2, 3, 4, 5, 6], values), row([4, 5, 6], values)];
    expect(findInteger(system(rows, values), 3).every(({ isRight }) => isRight)).toBe(true);
    // Four people with 5 + 5 + 5 + 1, three of them in another figure with 5 + 5 + 5: the fourth has 1, by subtraction.
    const few = [5, 5, 5, 1];
    expect(findInteger(system([row([0, 1, 2, 3], few), row([0, 1, 2], few)], few), 3)).toEqual([
      { by: 'integer', system: 'q', people: ['3'], isRight: true },
    ]);
    // All of a figure agree: that is unanimity.
    const same = [5, 5, 5, 5];
    expect(findInteger(system([row([0, 1, 2, 3], same)], same), 3)).toEqual([]);
  });

  test('words are the same whatever their case, spaces and marks', () => {
    expect(sameWords('  Question 1 ')).toBe(sameWords('question 1?'));
    expect(sameWords('Question 1')).not.toBe(sameWords('Question 2'));
  });
});
