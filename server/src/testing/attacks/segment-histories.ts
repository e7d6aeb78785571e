// Weeks of random histories with many breakdowns, published by the service's own code, and what an attacker finds out about who is in which
// published figure: the answers of one person after another are changed, and the figures that differ are those that count the person.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import {
  freeText,
  isChoice,
  isDistributionOnly,
  scaleOf,
  type QuestionType,
} from '@soundings/contract/question-types.ts';
import { type Random, randomFrom } from '../../simulation/random.ts';
import { responseRates } from '../../results/disclosure/response-rates.ts';
import { noiseOf } from '../../results/disclosure/noise.ts';
import { chosenFigures } from '../../results/figures.ts';
import { segmentResults } from '../../results/segments/segment-figures.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from '../../results/turnout.ts';
import { randomHistory, type RandomHistory, weekData } from './histories.ts';
import { randomBreakdownValues } from './segment-worlds.ts';

export type SegmentHistory = {
  history: RandomHistory;
  data: WeekData;
  answers: Map<number, WeekAnswer[]>;
  people: string[];
  noise: NoiseLevel;
};
/** The figures that use the answers of the same questions, and the people that each of them counts. */
export type Series = { name: string; threshold: number; sets: (readonly number[])[]; segments: number };

const options = ['a', 'b', 'c'];
const firstSegment = 10_000;

/** Returns the first week of a random history. `count`: how many breakdowns at least and at most. */
export function randomSegmentHistory(seed: number, count: readonly [number, number]): SegmentHistory {
  const history = randomHistory(seed, { people: [25, 60], groups: 14, weeks: 1 });
  const random = randomFrom(seed, 'segments of a history');
  const week = history.weeks[0]!;
  const data = weekData(history, week);
  const people = [...new Set(data.assignments.map(({ respondent }) => respondent))];
  const homes = people.map(
    (person) => data.assignments.find(({ respondent }) => respondent === person)?.groupIds[0] ?? 0,
  );
  const breakdowns = randomBreakdownValues(random, homes, count);
  // Someone's attributes may change between the openings of two rounds.
  const moving = random.oneOf([0, 0, 0.1]);
  const segmentsOf = (person: number) =>
    breakdowns.flatMap((values, breakdown) => {
      const value = values[random.chance(moving) ? Math.floor(values.length * random.next()) : person];
      return value === undefined ? [] : [firstSegment * (breakdown + 1) + value];
    });
  const fixed = people.map((_, person) => segmentsOf(person));
  const assignments = data.assignments.map((assignment) => {
    const person = people.indexOf(assignment.respondent);
    return {
      ...assignment,
      segmentIds: random.chance(0.5) ? segmentsOf(person) : (fixed[person] as number[]),
    };
  });
  const asked = Map.groupBy(
    assignments.flatMap(({ segmentIds }) => segmentIds),
    (id) => id,
  );
  const large = new Set(
    [...asked].filter(([, all]) => all.length >= history.thresholds.figures).map(([id]) => id),
  );
  const handedOut = new Set(people.filter(() => random.chance(0.1)));
  return {
    history,
    people,
    noise: random.oneOf([0, 1, 2]),
    data: {
      ...data,
      handedOut,
      assignments: assignments.map((one) => ({
        ...one,
        segmentIds: one.segmentIds.filter((id) => large.has(id)),
      })),
      breakdowns: breakdowns.map((_, breakdown) =>
        [...large].filter((id) => Math.floor(id / firstSegment) === breakdown + 1).toSorted((a, b) => a - b),
      ),
    },
    answers: new Map(
      history.questions.map(({ id, type }) => [
        id,
        (week.answers.get(id) ?? []).map((answer) => ({
          ...answer,
          ...randomAnswer(random, type),
          handedOut: handedOut.has(answer.respondent),
        })),
      ]),
    ),
  };
}

/** A whole number that is not at an end of the scale, if there is one, or an option. */
function randomAnswer(random: Random, type: QuestionType): Pick<WeekAnswer, 'value' | 'choices'> {
  if (isChoice(type)) return { value: null, choices: [random.oneOf(options)] };
  if (type === freeText) return { value: null, choices: null };
  const { low, high } = scaleOf(type)!;
  const inner = high - low > 1 ? 1 : 0;
  const value = low + inner + Math.floor(random.next() * (high - low + 1 - 2 * inner));
  return { value, choices: null };
}

/** Returns another answer to the same question. */
function changed(answer: WeekAnswer, type: QuestionType): WeekAnswer {
  if (isChoice(type))
    return {
      ...answer,
      choices: [options[(options.indexOf(answer.choices?.[0] ?? '') + 1) % options.length]!],
    };
  if (answer.value === null) return answer;
  const { low, high } = scaleOf(type)!;
  return { ...answer, value: answer.value > low ? answer.value - 1 : Math.min(high, answer.value + 1) };
}

/**
 * Returns everything that is published about questions, by class and name. `person`: someone whose answers are all changed. `level`: of the
 * noise.
 */
function publishedOf(
  { history, data, answers }: SegmentHistory,
  person?: string,
  level: NoiseLevel = 0,
): Map<string, Map<string, string>> {
  const turnout = turnoutOf(data);
  const errors = noiseOf(Buffer.from('a key of the account'), level, (one) => one);
  const asked = history.questions.filter(({ id }) => data.rounds.some((one) => one.questionIds.includes(id)));
  const series = [...Map.groupBy(asked, ({ id }) => history.classes.get(id))].map(([first, questions]) => {
    const all = questions.map(({ id, type }) => ({
      question: { id, type, options },
      answers: (answers.get(id) ?? []).map((one) => (one.respondent === person ? changed(one, type) : one)),
      noise: errors?.ofQuestion(`text ${id}`),
    }));
    const whole = chosenFigures(all, turnout);
    const ofSegments = segmentResults(all, whole, turnout);
    const figures = all.flatMap(({ question: { id } }, i) =>
      [...(whole.figures[i]?.results ?? []), ...(ofSegments[i] ?? [])].flatMap(
        ({ groupId, value, answers: count, distribution, handedOut }): [string, string][] =>
          count === null
            ? []
            : [
                [`${groupId} ${id} mean`, `${value} ${count} ${handedOut}`],
                [`${groupId} ${id} distribution`, JSON.stringify(distribution)],
              ],
      ),
    );
    return [`questions like ${first}`, new Map(figures)] as const;
  });
  return new Map(series);
}

/** Returns the response rates by name. `person`: someone who answered instead of skipping the week, or the other way round. */
function ratesOf({ data, answers }: SegmentHistory, person?: string): Map<string, string> {
  const turnout = turnoutOf(data);
  for (const { respondent, roundId } of data.assignments) {
    const has = [...answers.values()].some((all) => all.some((one) => one.respondent === respondent));
    if (has === (respondent === person)) continue;
    const questionIds = turnout.roundById.get(roundId)?.questionIds ?? [];
    const number = turnout.people.numberOf(respondent);
    turnout.done[number] = new Set([...(turnout.done[number] ?? []), ...questionIds]);
  }
  const shown = responseRates(turnout).filter(({ value }) => value !== null);
  return new Map(
    shown.map(({ groupId, value, asked, answered }) => [`${groupId}`, `${value} ${asked} ${answered}`]),
  );
}

/**
 * Returns which people each published figure counts. Throws if a change of a single answer changes which figures are shown, because what is
 * shown must not depend on answers.
 */
export function seriesIn(world: SegmentHistory): Series[] {
  const { thresholds, questions, classes } = world.history;
  const compared = (before: Map<string, string>, after: readonly Map<string, string>[]) =>
    [...before].flatMap(([name, value]) => {
      const people = after.flatMap((one, person) => {
        if (!one.has(name) || one.size !== before.size)
          throw new Error(`An answer decides whether ${name} is shown.`);
        return one.get(name) === value ? [] : [person];
      });
      return people.length === 0 ? [] : [{ name, people }];
    });
  const toSeries = (
    name: string,
    threshold: number,
    found: { name: string; people: number[] }[],
  ): Series => ({
    name,
    threshold,
    sets: found.map(({ people }) => people),
    segments: found.filter((one) => Number(one.name.split(' ')[0]) >= firstSegment).length,
  });
  const after = world.people.map((person) => publishedOf(world, person));
  const ofQuestions = [...publishedOf(world)].map(([name, before]) => {
    const isOnly = questions
      .filter(({ id }) => name.endsWith(` ${classes.get(id)}`))
      .every(({ type }) => isDistributionOnly(type));
    return toSeries(
      name,
      isOnly ? thresholds.distribution : thresholds.figures,
      compared(
        before,
        after.map((one) => one.get(name)!),
      ),
    );
  });
  const rates = compared(
    ratesOf(world),
    world.people.map((person) => ratesOf(world, person)),
  );
  return [...ofQuestions, toSeries('response rates', thresholds.figures, rates)];
}

/**
 * Returns the means whose noise changes when someone's answers change, and the figures that noise shows or withholds.
 * Someone who knows the noise of a set from another week could compare the two. Means of yes/no questions are left out,
 * because their noise is cut off at 0 and 1.
 */
export function noiseThatReveals(world: SegmentHistory): string[] {
  const scales = new Set(
    world.history.questions.filter(({ type }) => !isDistributionOnly(type)).map(({ id }) => String(id)),
  );
  const namesAndErrors = (person?: string): Map<string, string> => {
    const [plain, noisy] = ([0, world.noise] as const).map(
      (level) => new Map([...publishedOf(world, person, level).values()].flatMap((one) => [...one])),
    ) as [Map<string, string>, Map<string, string>];
    return new Map(
      [...plain].map(([name, figure]) => {
        const other = noisy.get(name);
        if (other === undefined) return [name, 'not shown'];
        const [, id, what] = name.split(' ');
        if (what !== 'mean' || !scales.has(id as string)) return [name, 'shown'];
        const [before, count] = figure.split(' ').map(Number) as [number, number];
        return [name, String(Math.round((Number(other.split(' ')[0]) - before) * count * 1e6))];
      }),
    );
  };
  const before = namesAndErrors();
  return world.people.flatMap((person) =>
    [...namesAndErrors(person)].flatMap(([name, error]) =>
      error === 'not shown' || before.get(name) !== error ? [`${name}: ${before.get(name)}, ${error}`] : [],
    ),
  );
}
