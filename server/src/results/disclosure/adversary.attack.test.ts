// The second adversary against the figures of closed weeks: it must find nothing in what the service publishes, and must break
// each mutant of the rules. ADVERSARIES=2000 searches more worlds.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { classesOf } from '../../questions/similar-wording.ts';
import { randomFrom } from '../../simulation/random.ts';
import { weekData } from '../../testing/attacks/histories.ts';
import {
  distributionByThreshold,
  thresholdOnly,
  treeByTree,
  withoutWithholding,
  type Procedure,
} from '../../testing/attacks/mutants.ts';
import {
  attackWorld,
  findCombination,
  findInteger,
  guessAnswers,
  guessParticipation,
  type Publish,
  type Row,
  isSameText,
  type System,
} from '../../testing/attacks/second-attacker.ts';
import { randomWorld, type World, type WorldQuestion } from '../../testing/attacks/second-worlds.ts';
import { classFigures, kpiValues, type Result, type ShownComment } from '../figures.ts';
import { responseRates } from './response-rates.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { turnoutOf } from '../turnout.ts';

const count = caseCount('ADVERSARIES', 60);

// The service's own code computes all figures. A mutant replaces disclosure.ts.
const { mutant, real } = vi.hoisted(() => ({
  mutant: { procedure: undefined as Procedure | undefined },
  real: { procedure: undefined as Procedure | undefined },
}));

vi.mock('./disclosure.ts', async (original) => {
  const actual = await original<Procedure>();
  real.procedure = actual;
  const chooseCells: Procedure['chooseCells'] = (...args) =>
    (mutant.procedure ?? actual).chooseCells(...args);
  const chooseDistributions: Procedure['chooseDistributions'] = (...args) =>
    (mutant.procedure ?? actual).chooseDistributions(...args);
  return { ...actual, chooseCells, chooseDistributions };
});

beforeEach(() => {
  mutant.procedure = undefined;
});

/** Publishes a week as the service does, with questions of the same wording together. `classes`: the class of each question. */
const publishing =
  (classes: (questions: WorldQuestion[]) => ReadonlyMap<number, number>): Publish =>
  (data, questions, answers, kpis) => {
    const turnout = turnoutOf(data);
    const results = new Map<number, Result[]>();
    const comments = new Map<number, ShownComment[]>();
    const classOf = classes(questions);
    const asked = questions.filter(({ id }) => answers.has(id));
    for (const alike of Map.groupBy(asked, ({ id }) => classOf.get(id)).values()) {
      const answered = alike.map((question) => ({ question, answers: answers.get(question.id) ?? [] }));
      for (const [i, figures] of classFigures(answered, turnout).entries()) {
        results.set(alike[i]?.id as number, figures.results);
        comments.set(alike[i]?.id as number, figures.comments);
      }
    }
    return { results, comments, kpis: kpiValues(kpis, results, []), rates: responseRates(turnout) };
  };

const publish = publishing((questions) => classesOf(questions.map((one) => ({ ...one, translations: {} }))));

/** The mutant of P17: publishes each question separately, whatever its wording. */
const publishOneByOne = publishing((questions) => new Map(questions.map(({ id }) => [id, id])));

/** The mutant of P8: computes KPIs from all answers, shown or not. */
const publishWideKpis: Publish = (data, questions, answers, kpis) => {
  const open = { ...data, thresholds: { figures: 1, distribution: 1, comments: 1 } };
  return {
    ...publish(data, questions, answers, kpis),
    kpis: publish(open, questions, answers, kpis).kpis,
  };
};

const worlds = Array.from({ length: count }, (_, i) => randomWorld(i + 1));

const withSameWording = worlds.filter(({ questions }) => questions.length > 3);

const kinds = ['figures', 'comments', 'kpis'] as const;
type Kind = (typeof kinds)[number];

/** Returns what a world publishes, as texts. If a mutant publishes the same, it can’t be broken. */
function textsOf(world: World, by: Publish): Record<Kind, string> {
  const weeks = world.weeks.map((week) =>
    by(weekData(world, week), world.questions, week.answers, world.kpis),
  );
  return {
    figures: JSON.stringify(weeks.map(({ results }) => [...results])),
    comments: JSON.stringify(weeks.map(({ comments }) => [...comments])),
    kpis: JSON.stringify(weeks.map((week) => week.kpis)),
  };
}

type Measured = { different: number; broken: number; ways: Record<string, number> };

/** Returns the number of worlds in which a mutant publishes something else, and how many of these the adversary breaks. */
function breaking(procedure: Procedure | undefined, by = publish, among = worlds.slice(0, 60)) {
  const nothing = (): Measured => ({ different: 0, broken: 0, ways: {} });
  const measured = { figures: nothing(), comments: nothing(), kpis: nothing() };
  for (const world of among) {
    mutant.procedure = undefined;
    const before = textsOf(world, publish);
    mutant.procedure = procedure;
    const after = textsOf(world, by);
    const different = kinds.filter((kind) => before[kind] !== after[kind]);
    if (different.length === 0) continue;
    const { claims } = attackWorld(world, by);
    expect(claims.filter(({ isRight }) => !isRight)).toEqual([]);
    for (const kind of different) {
      const found = claims.filter((claim) => (claim.by === 'comments') === (kind === 'comments'));
      const { ways } = measured[kind];
      measured[kind].different++;
      if (found.length > 0) measured[kind].broken++;
      for (const way of new Set(found.map((claim) => claim.by))) ways[way] = (ways[way] ?? 0) + 1;
    }
  }
  mutant.procedure = undefined;
  return measured;
}

/** Returns the share of worlds broken, or none if there were too few to say. */
const shareOf = ({ different, broken }: Measured): number => (different > 5 ? broken / different : 0);

const report = (name: string, measured: object) =>
  process.stdout.write(`Second adversary, ${name}: ${JSON.stringify(measured)}\n`);

const mutants: [name: string, procedure: () => Procedure][] = [
  ['only a threshold', () => thresholdOnly],
  ['each tree separately', () => treeByTree(real.procedure as Procedure)],
  ['no one left out', () => withoutWithholding(real.procedure as Procedure)],
];

describe('the second adversary', () => {
  test('finds nothing in what the service publishes', () => {
    const found: object[] = [];
    let [figures, undecided] = [0, 0];
    for (const world of worlds) {
      const outcome = attackWorld(world, publish);
      found.push(...outcome.claims.map((claim) => ({ seed: world.seed, ...claim })));
      figures += outcome.figures;
      undecided += outcome.undecided;
    }
    report('the service', { worlds: count, figures, claims: found.length, undecided });
    expect(found).toEqual([]);
    expect(undecided).toBe(0);
    expect(figures).toBeGreaterThan(50 * count);
  });

  test.each(mutants)('breaks the mutant: %s', (name, procedure) => {
    const { figures, comments } = breaking(procedure());
    report(name, { figures, comments });
    expect(shareOf(figures)).toBeGreaterThan(0.3);
    expect(shareOf(comments)).toBeGreaterThan(0.3);
  });

  test('breaks the mutant: distributions with only their own threshold', () => {
    const { figures } = breaking(distributionByThreshold(real.procedure as Procedure));
    report('distributions with only their own threshold', figures);
    expect(shareOf(figures)).toBeGreaterThan(0.3);
  });

  test('breaks the mutant: questions with the same wording published separately', () => {
    const { figures, comments } = breaking(undefined, publishOneByOne, withSameWording);
    report('questions with the same wording published separately', { figures, comments });
    expect(shareOf(figures)).toBeGreaterThan(0.3);
  });

  test('breaks the mutant: KPIs of values that are not shown', () => {
    const { kpis } = breaking(undefined, publishWideKpis);
    report('KPIs of values that are not shown', kpis);
    expect(shareOf(kpis)).toBeGreaterThan(0.3);
  });

  test('finds nothing in figures that are not marked, even knowing the answers given through handed-out links', () => {
    const unmarked: Publish = (...args) => {
      const published = publish(...args);
      const results = [...published.results].map(
        ([id, list]) => [id, list.filter(({ handedOut }) => !handedOut)] as const,
      );
      return { ...published, results: new Map(results), kpis: [] };
    };
    let [shown, broken] = [0, 0];
    for (const { weeks, ...rest } of worlds.slice(0, 40)) {
      const random = randomFrom(rest.seed, 'handed-out links');
      const known = new Set(
        Array.from({ length: 60 }, (_, i) => `person-${i}`).filter(() => random.chance(0.1)),
      );
      const marked = weeks.map(({ rounds, answers }) => {
        const given = [...answers].map(([id, list]) => {
          const own = list.map((one) => ({ ...one, handedOut: known.has(one.respondent) }));
          return [id, own] as const;
        });
        return { rounds, answers: new Map(given) };
      });
      const world = { ...rest, weeks: marked };
      const few = ({ claims }: ReturnType<typeof attackWorld>) =>
        claims.filter(({ by, people }) => by !== 'comments' && people.length < rest.thresholds.figures);
      const outcome = attackWorld(world, unmarked, known);
      shown += outcome.figures;
      expect({ seed: rest.seed, claims: few(outcome) }).toEqual({ seed: rest.seed, claims: [] });
      if (few(attackWorld(world, publish, known)).length > 0) broken++;
    }
    const tried = Math.min(count, 40);
    report('handed-out links', { worlds: tried, shown, 'broken with marked figures': broken });
    expect(shown).toBeGreaterThan(25 * tried);
    expect(broken).toBeGreaterThan(0.3 * tried);
  });

  test('knowing only who was asked, infers answers if there is only a threshold, and none from the service', () => {
    const guesses = (guess: typeof guessAnswers, among: World[]) => {
      const all = among.flatMap((world) => world.weeks.flatMap((week) => guess(world, week, publish)));
      return { guesses: all.length, right: all.filter(({ isRight }) => isRight).length };
    };
    const service = guesses(guessAnswers, worlds);
    const rates = guesses(guessParticipation, worlds);
    mutant.procedure = thresholdOnly;
    const broken = guesses(guessAnswers, worlds);
    report('who was asked alone', { service, broken, 'participation by rates, of the service': rates });
    expect(broken.right).toBe(broken.guesses);
    expect(broken.right).toBeGreaterThan(count / 4);
    expect(service.right).toBe(0);
  });
});

describe("the adversary's tools", () => {
  const row = (people: number[], values: number[]): Row => ({
    name: people.join(),
    weights: new Map(people.map((person) => [`q|${person}`, 1])),
    total: people.reduce((sum, person) => sum + (values[person] as number), 0),
  });
  const everyone = [0, 1, 2, 3, 4, 5, 6];

  test('find a combination exactly if adding and subtracting finds one', () => {
    const random = randomFrom(1, 'sets');
    let found = 0;
    for (let i = 0; i < 400; i++) {
      const rows = Array.from({ length: 1 + (i % 4) }, () =>
        row(
          everyone.filter(() => random.chance(0.6)),
          everyone,
        ),
      );
      const threshold = 2 + (i % 3);
      // All sums with each row used −2 to 2 times.
      const sizes = Array.from({ length: 5 ** rows.length }, (_, code) => {
        const times = rows.map((_row, place) => (Math.floor(code / 5 ** place) % 5) - 2);
        const left = everyone.filter(
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

  test('find an answer by bounds that no sum gives', () => {
    // Twice the first two and once the third is 3 above its minimum. Of 3 to 6, only their existence is known.
    const values = [1, 1, 1, 5, 5, 5, 4];
    const rows = [row([0, 1, 2, 3], values), row([2, 3, 4, 5, 6], values), row([4, 5, 6], values)];
    expect(findInteger(system(rows, values), 3).every(({ isRight }) => isRight)).toBe(true);
    // Four people with 5 + 5 + 5 + 1. Three of them are in another figure with 5 + 5 + 5, so the fourth has 1 by subtraction.
    const few = [5, 5, 5, 1];
    expect(findInteger(system([row([0, 1, 2, 3], few), row([0, 1, 2], few)], few), 3)).toEqual([
      { by: 'integer', system: 'q', people: ['3'], isRight: true },
    ]);
    // Everyone in a figure agrees: the answers are unanimous.
    const same = [5, 5, 5, 5];
    expect(findInteger(system([row([0, 1, 2, 3], same)], same), 3)).toEqual([]);
  });

  test('treat wordings as the same regardless of case, spaces and punctuation', () => {
    expect(isSameText('  Question 1 ')).toBe(isSameText('question 1?'));
    expect(isSameText('Question 1')).not.toBe(isSameText('Question 2'));
  });
});
