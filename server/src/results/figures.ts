// Computes the figures of a week from who was asked and what was answered (decisions A10 to A14, rules.md P2 to P8). Pure.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import { isScaled, type QuestionType } from '@soundings/contract/question-types.ts';
import { type Distribution, scaledMean } from '../questions/types.ts';
import { commentBy, distributionAmong, type Given, sumOfValues } from './answer-columns.ts';
import {
  chooseClass,
  type ChosenCells,
  type Company,
  companyOf,
  ownLinksIn,
  type QuestionAnswered,
  withColumns,
} from './company.ts';
import { type Cells, chooseCells, chooseDistributions, tooFewOwnLinks } from './disclosure/disclosure.ts';
import { type Noise, noisyDistribution, noisySum } from './disclosure/noise.ts';
import { countIn, type NotApplicable, type Valued, valuedAmong } from './disclosure/not-applicable.ts';
import {
  recordCompleted,
  type Thresholds,
  type Turnout,
  type WeekAnswer,
  type WeekFrame,
  type WeekQuestion,
} from './turnout.ts';

/** The result of a question in a group or segment. `null` means withheld. */
export type Result = {
  groupId: number;
  value: number | null;
  answers: number | null;
  distribution: Distribution | null;
  /** How many people chose "not applicable"; left out if withheld, or if no one could choose it. */
  notApplicable?: NotApplicable;
  /** Whether the result is published although too few people in it answered through a link that was sent to them (P14). */
  handedOut: boolean;
  /** The noise added to its value and distribution. */
  noise: NoiseLevel;
};
/** `handedOutIn`: those of the groups in which too few of the comments' authors used a link sent to them, as in Result.handedOut. */
export type ShownComment = { text: string; groupIds: number[]; handedOutIn: number[] };
export type KpiValue = {
  kpiId: string;
  groupId: number;
  value: number | null;
  handedOut: boolean;
  /** Whether one of the KPI's questions was asked of the whole group. */
  askedWhole: boolean;
};

export type ComputedQuestion = { results: Result[]; comments: ShownComment[] };
export type ChosenFigures = { figures: ComputedQuestion[]; company: Company; chosen: ChosenCells };

/**
 * Returns the figures and comments of one question, with a result for every group that was asked the question and for all its
 * ancestors. Records in `turnout` who answered or skipped it, for the response rates.
 */
export function questionFigures(
  question: WeekQuestion,
  answers: WeekAnswer[],
  turnout: Turnout,
  noise?: Noise,
): ComputedQuestion {
  return classFigures([{ question, answers, noise }], turnout)[0] as ComputedQuestion;
}

/**
 * Returns the same for questions with the same text, in their order. The disclosure procedure treats them as one question: a
 * person who answered several of them counts once, so their figures never differ by only a few people (rules.md P17).
 */
export const classFigures = (asked: readonly QuestionAnswered[], turnout: Turnout): ComputedQuestion[] =>
  chosenFigures(asked, turnout).figures;

/** Returns the same with the cells that were chosen, for what is computed from them after the groups (segments/segment-figures.ts). */
export function chosenFigures(asked: readonly QuestionAnswered[], turnout: Turnout): ChosenFigures {
  const columns = withColumns(asked, turnout);
  for (const { question, column } of columns) recordCompleted(question.id, column.people, turnout);
  const company = companyOf(columns, turnout);
  const chosen = chooseClass(company, turnout.data.thresholds);
  const comments = commentsOf(company, turnout.data.thresholds);
  const figures = classResults(asked, company, chosen, turnout.data).map((results, number) => ({
    results,
    comments: comments[number] as ShownComment[],
  }));
  return { figures, company, chosen };
}

/** Returns the results of each question, computed on the chosen cells. */
export function classResults(
  asked: readonly QuestionAnswered[],
  company: Company,
  chosen: ChosenCells,
  data: WeekFrame,
): Result[][] {
  const usedOwnLink = ownLinksIn(company);
  const { figures, distribution } = data.thresholds;
  const isFigureHandedOut = tooFewOwnLinks(usedOwnLink, chosen.cells, figures, company.isValued);
  // A distribution needs more people, and as many of them who used a link sent to them.
  const handedOutOf = (cells: Cells, isValued: Valued) =>
    figures === 1 ? () => false : tooFewOwnLinks(usedOwnLink, cells, distribution, isValued);
  const isDistributionHandedOut = handedOutOf(chosen.distributionCells, company.isValued);
  // With noise, the counts are withheld: the number of answers is exact, and would reveal their errors.
  const isCounted = (number: number) =>
    asked[number]?.question.allowsNotApplicable === true && !asked[number].noise;
  const countCells = asked.some((_, number) => isCounted(number))
    ? chooseDistributions(chosen.answered, company.treeOf, distribution)
    : noCells;
  const isCountHandedOut = handedOutOf(countCells, undefined);
  return asked.map(({ question, noise }, number) =>
    groupsWithResult(question.id, data).map((groupId): Result => {
      const key = company.keyOf(groupId, number);
      const people = chosen.shown.get(key);
      const distributionPeople = chosen.distributionCells.shown.get(key);
      const counted = isCounted(number) ? countCells.shown.get(key) : undefined;
      const handedOut =
        isFigureHandedOut(people) || isDistributionHandedOut(distributionPeople) || isCountHandedOut(counted);
      const valued = people && valuedAmong(people, company.isValued);
      return resultOf(question, groupId, {
        answers: namedAnswers(company, number),
        people: valued,
        distributionPeople:
          distributionPeople === people
            ? valued
            : distributionPeople && valuedAmong(distributionPeople, company.isValued),
        notApplicable: countIn(counted, company.isValued),
        handedOut,
        noise,
      });
    }),
  );
}

/** Returns the comments of each question, chosen by the disclosure procedure over everyone who answered. */
export const classComments = (asked: readonly QuestionAnswered[], turnout: Turnout): ShownComment[][] =>
  commentsOf(companyOf(asked, turnout), turnout.data.thresholds);

const noCells: Cells = { shown: new Map(), cellOf: new Int32Array(), sizes: [0] };

/** Returns the groups that have a result for a question: those that were asked it, and all their ancestors. */
function groupsWithResult(questionId: number, { asked, rounds }: WeekFrame): number[] {
  const groups = new Set<number>();
  for (const { groupId, questionIds } of asked) if (questionIds.includes(questionId)) groups.add(groupId);
  for (const { groupId, questionIds, aboveIds } of rounds) {
    if (questionIds.includes(questionId)) for (const id of [groupId, ...aboveIds]) groups.add(id);
  }
  return [...groups];
}

/** The answers to a question by person, and the name of each person. */
type NamedAnswers = { given: Given; nameOf: (person: number) => string };

export const namedAnswers = ({ given, nameOf }: Company, number: number): NamedAnswers => ({
  given: given[number] as Given,
  nameOf,
});

/**
 * `people`: those that the figure is based on. `distributionPeople`: those that the distribution is based on, if any. `notApplicable`: how many
 * people chose "not applicable", unless it is withheld.
 */
export function resultOf(
  { type, options }: WeekQuestion,
  groupId: number,
  {
    answers,
    people,
    distributionPeople,
    notApplicable,
    handedOut,
    noise,
  }: {
    answers: NamedAnswers;
    people: readonly number[] | undefined;
    distributionPeople: readonly number[] | undefined;
    notApplicable?: NotApplicable | undefined;
    handedOut: boolean;
    noise: Noise | undefined;
  },
): Result {
  const counted = notApplicable && { notApplicable };
  if (!people) {
    const isHandedOut = handedOut && counted !== undefined;
    return {
      groupId,
      value: null,
      answers: null,
      distribution: null,
      handedOut: isHandedOut,
      noise: 0,
      ...counted,
    };
  }
  return {
    groupId,
    value: isScaled(type) ? meanOf(type, answers, people, noise) : null,
    answers: people.length,
    distribution: distributionPeople
      ? publishedDistribution({ type, options }, answers, distributionPeople, noise)
      : null,
    noise: noise?.level ?? 0,
    handedOut,
    ...counted,
  };
}

function meanOf(
  type: QuestionType,
  { given, nameOf }: NamedAnswers,
  people: readonly number[],
  noise: Noise | undefined,
): number | null {
  const sum = sumOfValues(given, people);
  const count = people.length;
  const published = noise ? noisySum(type, { sum, count }, noise, noise.keyOf(people.map(nameOf))) : sum;
  return scaledMean(type, published, count);
}

function publishedDistribution(
  { type, options }: Pick<WeekQuestion, 'type' | 'options'>,
  { given, nameOf }: NamedAnswers,
  people: readonly number[],
  noise: Noise | undefined,
): Distribution {
  const distribution = distributionAmong(type, options, given, people);
  if (!noise) return distribution;
  const set = noise.keyOf(people.map(nameOf));
  return noisyDistribution(type, { distribution, count: people.length }, noise, set);
}

/**
 * Returns the comments of each question. Each comes with the groups in which it is shown: those whose set, chosen with the
 * comment threshold, contains its author.
 */
function commentsOf(company: Company, { figures, comments: threshold }: Thresholds): ShownComment[][] {
  const { types, sets, respondents, numberOf, groupOf, given } = company;
  if (given.every(({ column }) => column.comments.size === 0)) return types.map(() => []);
  const texts = given.map((answers) => respondents.map((_, person) => commentBy(answers, person)));
  const cells = chooseCells(sets, respondents.length, threshold);
  const isHandedOut = figures === 1 ? () => false : tooFewOwnLinks(ownLinksIn(company), cells, threshold);
  const groupsOfComment = types.map(() => new Map<number, number[]>());
  const handedOutIn = types.map(() => new Set<number>());
  for (const [key, people] of cells.shown) {
    if (isHandedOut(people)) handedOutIn[numberOf(key)]?.add(groupOf(key));
    const number = numberOf(key);
    const groups = groupsOfComment[number] as Map<number, number[]>;
    for (const person of people) {
      if (texts[number]?.[person] === undefined) continue;
      groups.set(person, [...(groups.get(person) ?? []), groupOf(key)]);
    }
  }
  return groupsOfComment.map((groups, number) =>
    [...groups].map(([person, groupIds]) => ({
      text: texts[number]?.[person] as string,
      groupIds,
      handedOutIn: groupIds.filter((id) => handedOutIn[number]?.has(id)),
    })),
  );
}

/** Returns the KPI values of a week, computed from published values only (decision A14). */
export function kpiValues(
  kpis: { id: string; questionIds: number[] }[],
  results: ReadonlyMap<number, Result[]>,
  asked: WeekFrame['asked'],
): KpiValue[] {
  const askedOf = new Map(asked.map((one) => [one.groupId, one.questionIds]));
  return kpis.flatMap(({ id, questionIds }) => {
    const values = new Map<number, number[]>();
    const handedOut = new Set<number>();
    for (const questionId of questionIds.toSorted((a, b) => a - b)) {
      for (const { groupId, value, handedOut: isHandedOut } of results.get(questionId) ?? []) {
        const others = values.get(groupId) ?? [];
        values.set(groupId, value === null ? others : [...others, value]);
        if (value !== null && isHandedOut) handedOut.add(groupId);
      }
    }
    return [...values].map(([groupId, shown]) => ({
      kpiId: id,
      groupId,
      value: shown.length > 0 ? shown.reduce((sum, value) => sum + value, 0) / shown.length : null,
      handedOut: handedOut.has(groupId),
      askedWhole: askedOf.get(groupId)?.some((question) => questionIds.includes(question)) ?? false,
    }));
  });
}
