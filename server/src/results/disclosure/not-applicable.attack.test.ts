// "Not applicable" is an answer like any other: nothing that is published reveals who chose it, neither its own figure nor the numbers of
// values nor what is withheld. And figures of values are safe although some people gave none. Each attack must break its mutants.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Random, randomFrom } from '../../simulation/random.ts';
import { weekData } from '../../testing/attacks/histories.ts';
import { attackWorld, type Publish } from '../../testing/attacks/second-attacker.ts';
import { randomWorld, type World, type WorldQuestion } from '../../testing/attacks/second-worlds.ts';
import { classesOf } from '../../questions/similar-wording.ts';
import { classFigures, type Result, type ShownComment } from '../figures.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from '../turnout.ts';
import type { withEnoughValues } from './not-applicable.ts';

const count = caseCount('ADVERSARIES', 30);

const { mutant } = vi.hoisted(() => ({
  mutant: { withEnoughValues: undefined as typeof withEnoughValues | undefined },
}));

vi.mock('./not-applicable.ts', async (original) => {
  const actual = await original<{ withEnoughValues: typeof withEnoughValues }>();
  const choose: typeof withEnoughValues = (...args) =>
    (mutant.withEnoughValues ?? actual.withEnoughValues)(...args);
  return { ...actual, withEnoughValues: choose };
});

beforeEach(() => {
  mutant.withEnoughValues = undefined;
});

/** Returns a world in which some people answer with "not applicable". People who are asked the same wording twice choose it for both. */
function withNotApplicable(world: World): World {
  const random = randomFrom(world.seed, 'not applicable');
  const share = random.oneOf([0.05, 0.2, 0.5]);
  const weeks = world.weeks.map(({ rounds, answers }) => {
    const chosen = new Map<string, boolean>();
    const isChosen = (id: number, person: string) => {
      const name = `${id === 4 ? 1 : id} ${person}`;
      if (!chosen.has(name)) chosen.set(name, random.chance(share));
      // Someone who gives two answers to the same wording.
      return random.chance(0.02) ? !chosen.get(name) : chosen.get(name);
    };
    const given = [...answers].map(([id, list]) => {
      const own = list.map((one): WeekAnswer =>
        one.skipped || !isChosen(id, one.respondent)
          ? one
          : { ...one, value: null, choices: null, notApplicable: true },
      );
      return [id, own] as const;
    });
    return { rounds, answers: new Map(given) };
  });
  return { ...world, weeks };
}

const worlds = Array.from({ length: count }, (_, i) => withNotApplicable(randomWorld(i + 1)));

/** Questions with the same wording, which are published together. */
const sameTextIn = (questions: WorldQuestion[]) => {
  const classOf = classesOf(questions.map((one) => ({ ...one, translations: {} })));
  return [...Map.groupBy(questions, ({ id }) => classOf.get(id)).values()];
};

type Figures = { results: Result[]; comments: ShownComment[] }[];
type PublishClass = (
  sameText: { question: WorldQuestion; answers: WeekAnswer[] }[],
  data: WeekData,
) => Figures;

const service: PublishClass = (sameText, data) =>
  classFigures(
    sameText.map(({ question, answers }) => ({
      question: { ...question, allowsNotApplicable: true },
      answers,
    })),
    turnoutOf(data),
  );

const publishing =
  (by: PublishClass): Publish =>
  (data, questions, answers) => {
    const results = new Map<number, Result[]>();
    const comments = new Map<number, ShownComment[]>();
    for (const sameText of sameTextIn(questions.filter(({ id }) => answers.has(id)))) {
      const asked = sameText.map((question) => ({ question, answers: answers.get(question.id)! }));
      for (const [i, figures] of by(asked, data).entries()) {
        results.set(sameText[i]!.id, figures.results);
        comments.set(sameText[i]!.id, figures.comments);
      }
    }
    return { results, comments, kpis: [], rates: [] };
  };

/** Decides by the people who gave a value alone, as if all others had skipped the question. Counts everyone in large enough groups. */
const likeSkipping: PublishClass = (sameText, data) =>
  service(
    sameText.map(({ question, answers }) => ({
      question,
      answers: answers.filter(({ notApplicable }) => !notApplicable),
    })),
    data,
  );

/** Publishes the count of each group with enough people. */
const countedByThreshold: PublishClass = (sameText, data) =>
  service(sameText, data).map((figures, number) => {
    const { question, answers } = sameText[number]!;
    const results = figures.results.map((result): Result => {
      const groups = new Map(data.assignments.map((one) => [`${one.respondent} ${one.roundId}`, one]));
      const own = answers.filter(
        ({ respondent, skipped }) =>
          !skipped &&
          data.rounds.some(
            ({ id, questionIds }) =>
              questionIds.includes(question.id) &&
              groups.get(`${respondent} ${id}`)?.groupIds.includes(result.groupId),
          ),
      );
      if (own.length < data.thresholds.distribution) return result;
      const notApplicable = { count: own.filter((one) => one.notApplicable).length, of: own.length };
      return { ...result, notApplicable };
    });
    return { ...figures, results };
  });

/** Shows the values of every cell of people who answered, however few values it has. */
const howeverFew: typeof withEnoughValues = (cells) => cells;

describe('the second adversary, where people choose "not applicable"', () => {
  const breaking = (publish: Publish, among = worlds) => {
    let [figures, broken, undecided] = [0, 0, 0];
    for (const world of among) {
      const outcome = attackWorld(world, publish);
      figures += outcome.figures;
      undecided += outcome.undecided;
      if (outcome.claims.length > 0) broken++;
    }
    return { worlds: among.length, figures, broken, undecided };
  };

  test('finds nothing about the values of fewer people than the threshold', () => {
    const measured = breaking(publishing(service));
    report('values', measured);
    expect(measured).toMatchObject({ broken: 0, undecided: 0 });
    expect(measured.figures).toBeGreaterThan(30 * count);
  });

  test('breaks the mutant: values of every cell, however few', () => {
    mutant.withEnoughValues = howeverFew;
    const measured = breaking(publishing(service));
    report('however few', measured);
    expect(measured.broken / measured.worlds).toBeGreaterThan(0.3);
  });
});

const report = (name: string, measured: object) =>
  process.stdout.write(`Not applicable, ${name}: ${JSON.stringify(measured)}\n`);

/** How often people were looked for, and who was found. */
type Search = { people: number; found: string[] };

/**
 * Looks for people whose answer can be recognized in what is published. Someone can’t be if everything stays the same when they exchange
 * answers with any of k − 1 others, or when they answer something else.
 */
function searchIn(world: World, by: PublishClass, perClass: number): Search {
  const search: Search = { people: 0, found: [] };
  for (const [place, week] of world.weeks.entries()) {
    const data = weekData(world, week);
    for (const sameText of sameTextIn(world.questions.filter(({ id }) => week.answers.has(id)))) {
      const asked = sameText.map((question) => ({ question, answers: week.answers.get(question.id)! }));
      const random = randomFrom(world.seed, `${place} ${sameText[0]!.id}`);
      for (const person of recognized(asked, data, by, { random, perClass, search }))
        search.found.push(`week ${place}, question ${sameText[0]!.id}, ${person}`);
    }
  }
  return search;
}

type Opinion = Pick<WeekAnswer, 'value' | 'choices' | 'notApplicable'>;
const none: Opinion = { value: null, choices: null, notApplicable: true };

function* recognized(
  asked: Parameters<PublishClass>[0],
  data: WeekData,
  by: PublishClass,
  { random, perClass, search }: { random: Random; perClass: number; search: Search },
) {
  // A person has one opinion about one wording. If one answer is "not applicable", it is.
  const opinions = new Map<string, Opinion>();
  for (const { respondent, skipped, ...one } of asked.flatMap(({ answers }) => answers)) {
    if (skipped || opinions.get(respondent)?.notApplicable) continue;
    const { value, choices } = one;
    opinions.set(respondent, one.notApplicable ? none : { value, choices });
  }
  const published = (change: (respondent: string) => Opinion | undefined) => {
    const changed = asked.map(({ question, answers }) => ({
      question,
      answers: answers.map((one): WeekAnswer => {
        const opinion = one.skipped ? undefined : change(one.respondent);
        if (!opinion) return one;
        const { notApplicable: _, ...rest } = one;
        return { ...rest, ...opinion };
      }),
    }));
    return JSON.stringify(by(changed, data).map(({ results }) => results));
  };
  const truth = published(() => undefined);
  const groupsOf = (person: string) =>
    data.assignments.flatMap(({ respondent, groupIds }) => (respondent === person ? groupIds : [])).join();
  const people = [...opinions.keys()];
  const isNone = (person: string) => opinions.get(person)?.notApplicable === true;
  const targets = random.shuffled(people).toSorted((a, b) => Number(isNone(b)) - Number(isNone(a)));
  for (const target of targets.slice(0, perClass)) {
    search.people++;
    const own = groupsOf(target);
    const others = people
      .filter((one) => one !== target)
      .toSorted((a, b) => Number(groupsOf(b) === own) - Number(groupsOf(a) === own));
    let like = 1;
    for (const other of others) {
      if (like >= data.thresholds.figures) break;
      const exchanged = new Map([
        [target, opinions.get(other)],
        [other, opinions.get(target)],
      ]);
      if (published((person) => exchanged.get(person)) === truth) like++;
    }
    if (like >= data.thresholds.figures) continue;
    const isSeen = [none, { value: 1, choices: null }].some(
      (opinion) => published((person) => (person === target ? opinion : undefined)) !== truth,
    );
    if (isSeen) yield target;
  }
}

describe('someone who looks for the people who chose it', () => {
  const searchAll = (by: PublishClass, among: World[]) => {
    const all = among.map((world) => ({ seed: world.seed, ...searchIn(world, by, 5) }));
    return {
      people: all.reduce((sum, { people }) => sum + people, 0),
      found: all.flatMap(({ seed, found }) => found.map((one) => `world ${seed}, ${one}`)),
      broken: all.filter(({ found }) => found.length > 0).length / among.length,
    };
  };

  test('can’t distinguish anyone from k − 1 others', () => {
    const { people, found } = searchAll(service, worlds);
    report('searched', { people, found: found.length });
    expect(found).toEqual([]);
    expect(people).toBeGreaterThan(10 * count);
  });

  test.each<[string, PublishClass]>([
    ['decides by the people who gave a value alone', likeSkipping],
    ['counts everyone in large enough groups', countedByThreshold],
  ])('finds someone if the service %s', (name, by) => {
    const { people, broken } = searchAll(by, worlds.slice(0, 20));
    report(name, { people, broken });
    expect(broken).toBeGreaterThan(0.1);
  });
});
