// The people who answered the questions of a class, and the cells that the disclosure procedure chooses for them. Pure.
import { isDistributionOnly, isScaled, type QuestionType } from '@soundings/contract/question-types.ts';
import {
  type Cells,
  chooseCells,
  chooseDistributions,
  type GroupSet,
  setsOf,
} from './disclosure/disclosure.ts';
import type { Noise } from './disclosure/noise.ts';
import { type Valued, valuedAmong, valuedOf, withEnoughValues } from './disclosure/not-applicable.ts';
import { groupsOf, type Thresholds, type Turnout, type WeekAnswer, type WeekQuestion } from './turnout.ts';

/** A question with its answers, and the noise for its figures, if any. */
export type QuestionWithAnswers = {
  question: WeekQuestion;
  answers: WeekAnswer[];
  noise?: Noise | undefined;
};

/** Who answered the questions of a class. The key of a set of people combines a group and the index of a question. */
export type Company = {
  types: QuestionType[];
  sets: GroupSet[];
  respondents: readonly string[];
  keyOf: (group: number, number: number) => number;
  numberOf: (key: number) => number;
  groupOf: (key: number) => number;
  treeOf: (key: number) => number;
  isValued: Valued;
  /** For each question, the answer of each person; a gap if the person has not answered it. */
  given: readonly (readonly (WeekAnswer | undefined)[])[];
  /** The answers of people to a question; undefined if `people` is undefined. */
  answersOf: (people: readonly number[] | undefined, number: number) => WeekAnswer[] | undefined;
  /** The same without answers that have no value. */
  valuesOf: (people: readonly number[] | undefined, number: number) => WeekAnswer[] | undefined;
  /** The cells that were chosen for these people, by what they depend on besides them. */
  chosen: Map<string, ChosenCells>;
};

/** Returns the people whose answers count, each with one number, and for each group and question the people who answered it there. */
export function companyOf(asked: readonly QuestionWithAnswers[], turnout: Turnout): Company {
  const counted = asked.map(({ answers }) => answers.filter(({ skipped }) => !skipped));
  const { respondents, sets, given, chosen } =
    asked.length === 1
      ? peopleOfOne(asked[0] as QuestionWithAnswers, counted[0] as WeekAnswer[], turnout)
      : peopleOfSeveral(asked, counted, turnout);
  const isValued = valuedOf(respondents.length, given);
  const answersOf: Company['answersOf'] = (people, number) => {
    const answers = given[number];
    return people?.map((person) => answers?.[person] as WeekAnswer);
  };
  return {
    types: asked.map(({ question }) => question.type),
    sets,
    respondents,
    ...keysOf(asked.length, turnout),
    isValued,
    given,
    answersOf,
    valuesOf: (people, number) => answersOf(people && valuedAmong(people, isValued), number),
    chosen,
  };
}

/** Returns how a group and the index of one of `count` questions are combined to the key of a set. */
function keysOf(count: number, turnout: Turnout) {
  const groupOf = (key: number) => Math.floor(key / count);
  return {
    keyOf: (group: number, number: number) => group * count + number,
    numberOf: (key: number) => key % count,
    groupOf,
    treeOf: (key: number) => turnout.treeOf(groupOf(key)),
  };
}

type People = Pick<Company, 'respondents' | 'sets' | 'given' | 'chosen'>;

/** The people who answered the last question of a week that was in a class alone, for as long as the week's figures are computed. */
const lastOf = new WeakMap<Turnout, Omit<People, 'given'> & { roundIds: string }>();

/**
 * Returns the people of a question that is in a class alone. Each has one answer, and the answer's index is the person's number. Most people
 * answer all questions of a week, so those of the last question are used again if they are the same people, asked by the same rounds.
 */
function peopleOfOne(
  { question: { id } }: QuestionWithAnswers,
  counted: WeekAnswer[],
  turnout: Turnout,
): People {
  const given = [counted];
  const asking = turnout.data.rounds.filter(({ questionIds }) => questionIds.includes(id));
  const roundIds = asking.map((round) => round.id).join();
  const last = lastOf.get(turnout);
  const isSamePeople =
    last?.roundIds === roundIds &&
    last.respondents.length === counted.length &&
    counted.every(({ respondent }, person) => last.respondents[person] === respondent);
  if (isSamePeople) return { ...last, given };
  const respondents = counted.map(nameOf);
  const sets = setsOf(
    respondents.length,
    (person) => groupsOf(respondents[person] as string, id, turnout),
    turnout.treeOf,
  );
  const people = { respondents, sets, chosen: new Map<string, ChosenCells>() };
  lastOf.set(turnout, { ...people, roundIds });
  return { ...people, given };
}

function peopleOfSeveral(
  asked: readonly QuestionWithAnswers[],
  counted: readonly (readonly WeekAnswer[])[],
  turnout: Turnout,
): People {
  const respondents = [...new Set(counted.flat().map(nameOf))];
  const places = new Map(respondents.map((respondent, person) => [respondent, person]));
  const given = counted.map((answers) => {
    const byPerson: WeekAnswer[] = [];
    for (const one of answers) byPerson[places.get(one.respondent) as number] = one;
    return byPerson;
  });
  const { keyOf, treeOf } = keysOf(asked.length, turnout);
  const setKeysOf = (person: number) =>
    asked.flatMap(({ question }, number) =>
      given[number]?.[person]
        ? groupsOf(respondents[person] as string, question.id, turnout).map((group) => keyOf(group, number))
        : [],
    );
  return { respondents, sets: setsOf(respondents.length, setKeysOf, treeOf), given, chosen: new Map() };
}

export const nameOf = ({ respondent }: WeekAnswer) => respondent;

/**
 * The cells that were chosen for a class of questions. `shown`: the people that each figure is based on, by the key of their set.
 * `distributionCells`: the same for distributions. Both include people who chose "not applicable", whose answers the figures leave out.
 * `answered`: the cells of everyone who answered.
 */
export type ChosenCells = {
  shown: Map<number, readonly number[]>;
  cells: Cells;
  distributionCells: Cells;
  answered: Cells;
};

/**
 * Chooses the cells for the figures and distributions of a class. For types whose only figure is the distribution, the
 * distribution threshold applies throughout.
 */
export function chooseClass(company: Company, thresholds: Thresholds): ChosenCells {
  const { types, isValued, chosen } = company;
  if (isValued) return newlyChosen(company, thresholds);
  const { figures, distribution } = thresholds;
  const kinds = types.map((type) =>
    isDistributionOnly(type) ? 'distribution' : isScaled(type) ? 'scale' : 'other',
  );
  const name = [figures, distribution, ...kinds].join();
  const known = chosen.get(name);
  if (known) return known;
  const cells = newlyChosen(company, thresholds);
  chosen.set(name, cells);
  return cells;
}

function newlyChosen(
  { types, sets, respondents, numberOf, treeOf, isValued }: Company,
  thresholds: Thresholds,
): ChosenCells {
  if (types.every(isDistributionOnly)) {
    const answered = chooseCells(sets, respondents.length, thresholds.distribution);
    const cells = withEnoughValues(answered, treeOf, isValued, thresholds.distribution);
    return { shown: cells.shown, cells, distributionCells: cells, answered };
  }
  const answered = chooseCells(sets, respondents.length, thresholds.figures);
  const cells = withEnoughValues(answered, treeOf, isValued, thresholds.figures);
  const typeOf = (key: number) => types[numberOf(key)] as QuestionType;
  const withDistribution = [...cells.shown].filter(
    ([key]) => isScaled(typeOf(key)) || isDistributionOnly(typeOf(key)),
  );
  const distributionCells = chooseDistributions(
    { ...cells, shown: new Map(withDistribution) },
    treeOf,
    thresholds.distribution,
  );
  const shown = [...cells.shown].flatMap(([key, people]): [number, readonly number[]][] => {
    const distributionPeople = distributionCells.shown.get(key);
    if (!isDistributionOnly(typeOf(key))) return [[key, people]];
    return distributionPeople ? [[key, distributionPeople]] : [];
  });
  return { shown: new Map(shown), cells, distributionCells, answered };
}

/** Returns for each person whether they answered none of these questions through a handed-out link. */
export const ownLinksIn = ({ respondents, given }: Pick<Company, 'respondents' | 'given'>): boolean[] =>
  respondents.map((_, person) => !given.some((answers) => answers[person]?.handedOut === true));
