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
import { type Valued, valuedOf, withEnoughValues } from './disclosure/not-applicable.ts';
import {
  type AnswerColumn,
  columnOf,
  type Given,
  isGiven,
  isHandedOut,
  placesOfAnswered,
} from './answer-columns.ts';
import {
  groupsOfTeams,
  type Thresholds,
  type Turnout,
  type WeekAnswer,
  type WeekQuestion,
} from './turnout.ts';

/** A question with its answers, and the noise for its figures, if any. */
export type QuestionWithAnswers = AskedWithout & { answers: WeekAnswer[] };
type AskedWithout = { question: WeekQuestion; noise?: Noise | undefined };
/** The same, or with the column of its answers. */
export type QuestionAnswered = AskedWithout & ({ answers: readonly WeekAnswer[] } | { column: AnswerColumn });

/** Returns the column of the answers to a question. */
const columnIn = (asked: QuestionAnswered, { people }: Turnout): AnswerColumn =>
  'column' in asked ? asked.column : columnOf(asked.answers, people);

/** Returns the same questions with the columns of their answers, for what is computed from them several times. */
export const withColumns = (asked: readonly QuestionAnswered[], turnout: Turnout) =>
  asked.map((one) => ({ question: one.question, column: columnIn(one, turnout) }));

/** Who answered the questions of a class. The key of a set of people combines a group and the index of a question. */
export type Company = {
  types: QuestionType[];
  sets: GroupSet[];
  /** The number of each person among the people of the week. */
  respondents: readonly number[];
  /** The name of each person. */
  nameOf: (person: number) => string;
  keyOf: (group: number, number: number) => number;
  numberOf: (key: number) => number;
  groupOf: (key: number) => number;
  treeOf: (key: number) => number;
  isValued: Valued;
  /** For each question, the answer of each person. */
  given: readonly Given[];
  /** The cells that were chosen for these people, by what they depend on besides them. */
  chosen: Map<string, ChosenCells>;
};

/** Returns the people whose answers count, each with one number, and for each group and question the people who answered it there. */
export function companyOf(asked: readonly QuestionAnswered[], turnout: Turnout): Company {
  const counted = asked.map((one): Answered => {
    const column = columnIn(one, turnout);
    return { id: one.question.id, column, at: placesOfAnswered(column) };
  });
  const { respondents, sets, given, chosen } =
    counted.length === 1 ? peopleOfOne(counted[0] as Answered, turnout) : peopleOfSeveral(counted, turnout);
  return {
    types: asked.map(({ question }) => question.type),
    sets,
    respondents,
    nameOf: (person) => turnout.people.nameOf(respondents[person] as number),
    ...keysOf(asked.length, turnout),
    isValued: valuedOf(respondents.length, given),
    given,
    chosen,
  };
}

/** A question and the places of the answers that were not skipped. */
type Answered = Given & { id: number };

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
function peopleOfOne({ id, column, at }: Answered, turnout: Turnout): People {
  const given = [{ column, at }];
  const respondents = at.map((place) => column.people[place] as number);
  const asking = turnout.data.rounds.filter(({ questionIds }) => questionIds.includes(id));
  const roundIds = asking.map((round) => round.id).join();
  const last = lastOf.get(turnout);
  const isSamePeople =
    last?.roundIds === roundIds &&
    last.respondents.length === respondents.length &&
    respondents.every((respondent, person) => last.respondents[person] === respondent);
  if (isSamePeople) return { ...last, given };
  const groupsOf = groupsOfTeams(id, turnout);
  const sets = setsOf(
    respondents.length,
    (person) => groupsOf(turnout.people.teamOf(respondents[person] as number)),
    turnout.treeOf,
  );
  const people = { respondents, sets, chosen: new Map<string, ChosenCells>() };
  lastOf.set(turnout, { ...people, roundIds });
  return { ...people, given };
}

function peopleOfSeveral(counted: readonly Answered[], turnout: Turnout): People {
  const numbers = counted.map(({ column, at }) => at.map((place) => column.people[place] as number));
  const respondents = [...new Set(numbers.flat())];
  const places = new Map(respondents.map((respondent, person) => [respondent, person]));
  const given = counted.map(({ column, at }, number): Given => {
    const byPerson = respondents.map(() => -1);
    for (const [i, respondent] of (numbers[number] as number[]).entries())
      byPerson[places.get(respondent) as number] = at[i] as number;
    return { column, at: byPerson };
  });
  const { keyOf, treeOf } = keysOf(counted.length, turnout);
  const groupsOf = counted.map(({ id }) => groupsOfTeams(id, turnout));
  const setKeysOf = (person: number) =>
    given.flatMap((one, number) =>
      isGiven(one, person)
        ? (groupsOf[number]?.(turnout.people.teamOf(respondents[person] as number)) ?? []).map((group) =>
            keyOf(group, number),
          )
        : [],
    );
  return { respondents, sets: setsOf(respondents.length, setKeysOf, treeOf), given, chosen: new Map() };
}

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
  respondents.map((_, person) => !given.some((answers) => isHandedOut(answers, person)));
