// Computes the figures of segments of a week from the cells that were chosen for its groups (choose-segments.ts). Pure. Groups come
// first, so segments never change what a group shows.
import { freeText, isDistributionOnly, type QuestionType } from '@soundings/contract/question-types.ts';
import {
  type Company,
  type ChosenFigures,
  type QuestionWithAnswers,
  ownLinksIn,
  type Result,
  resultOf,
} from '../figures.ts';
import type { Cells } from '../disclosure/disclosure.ts';
import type { Turnout, WeekData } from '../turnout.ts';
import { chooseSegments, segmentsHandedOut, type SegmentSet } from './choose-segments.ts';

/**
 * Returns the results of each question in all segments that its people are in. Scales and recommendations have a mean without a
 * distribution. For questions whose only figure is the distribution, the distribution threshold applies throughout. Free texts have no
 * results, and those of questions of different types with the same text are withheld (decisions/0027).
 */
export function segmentResults(
  asked: readonly QuestionWithAnswers[],
  { company, chosen: { cells } }: Pick<ChosenFigures, 'company' | 'chosen'>,
  turnout: Turnout,
): Result[][] {
  const { breakdowns, thresholds } = turnout.data;
  if (!breakdowns || breakdowns.length === 0) return asked.map(() => []);
  const [type] = company.types as [QuestionType];
  const isDistribution = isDistributionOnly(type);
  const threshold = isDistribution ? thresholds.distribution : thresholds.figures;
  const sets = company.types.every((one) => one === type) ? setsOfBreakdowns(asked, company, turnout) : [];
  const wanted = { cells, sets, threshold };
  const like = chosenLike(turnout, wanted);
  const before = chosenBefore(like, wanted);
  const shown = before ?? chooseSegments(cells, sets, threshold);
  if (!before) like.push({ ...wanted, shown });
  const handedOut = segmentsHandedOut(cells, shown, ownLinksIn(company), threshold);
  return asked.map(({ question, noise }, number) => {
    if (type === freeText) return [];
    return segmentsAsked(question.id, turnout).map((segmentId): Result => {
      const key = company.keyOf(segmentId, number);
      const answers = company.answersOf(shown.get(key), number);
      return resultOf(question, segmentId, {
        answers,
        distributionAnswers: isDistribution ? answers : undefined,
        handedOut: handedOut.has(key),
        noise,
      });
    });
  });
}

/** What was chosen for a question. */
type Chosen = {
  cells: Pick<Cells, 'cellOf' | 'sizes'>;
  sets: readonly (readonly SegmentSet[])[];
  threshold: number;
  shown: Map<number, number[]>;
};

/** What was chosen for the questions of a week so far, by the sizes of its sets, for as long as the week's figures are computed. */
const chosen = new WeakMap<Turnout, Map<string, Chosen[]>>();

/** Returns what was chosen for questions with as many people in each set. What is added to it is kept. */
function chosenLike(
  turnout: Turnout,
  { cells: { cellOf }, sets, threshold }: Omit<Chosen, 'shown'>,
): Chosen[] {
  const bySize = chosen.get(turnout) ?? new Map<string, Chosen[]>();
  chosen.set(turnout, bySize);
  const sizes = sets.map((list) => list.map(({ people }) => people.length).join());
  const size = [threshold, cellOf.length, ...sizes].join(';');
  const known = bySize.get(size) ?? [];
  bySize.set(size, known);
  return known;
}

/**
 * Returns what was chosen for a question that the same people answered. Most people answer all questions of a week, and choosing is by far
 * the longest part of closing a week with many breakdowns.
 */
function chosenBefore(
  like: readonly Chosen[],
  wanted: Omit<Chosen, 'shown'>,
): Map<number, number[]> | undefined {
  return like.find(
    (one) =>
      isSame(one.cells.cellOf, wanted.cells.cellOf) &&
      one.sets.every((list, i) =>
        list.every(({ segment, people }, j) => {
          const other = wanted.sets[i]?.[j];
          return other !== undefined && segment === other.segment && isSame(people, other.people);
        }),
      ),
  )?.shown;
}

const isSame = (one: ArrayLike<number>, other: ArrayLike<number>): boolean => {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
};

/** Returns the segments of everyone who was asked a question. They have a result even if no one answered, which is withheld then. */
function segmentsAsked(questionId: number, { data, segmentsOfRound }: Turnout): number[] {
  const present = new Set<number>();
  for (const { id, questionIds } of data.rounds) {
    if (questionIds.includes(questionId))
      for (const segment of segmentsOfRound.get(id) ?? []) present.add(segment);
  }
  return (data.breakdowns ?? []).flat().filter((segment) => present.has(segment));
}

/**
 * Returns the people who answered each question in each segment, by breakdown. The key of a set combines a segment and the index of a
 * question, like those of groups.
 */
function setsOfBreakdowns(
  asked: readonly QuestionWithAnswers[],
  company: Company,
  turnout: Turnout,
): SegmentSet[][] {
  const { respondents, keyOf, answersOf } = company;
  const everyone = respondents.map((_, person) => person);
  const people = new Map<number, number[]>();
  for (const [number, { question }] of asked.entries()) {
    const given = answersOf(everyone, number) ?? [];
    for (const person of everyone) {
      if (!given[person]) continue;
      for (const segment of segmentsOf(respondents[person] as string, question.id, turnout)) {
        const key = keyOf(segment, number);
        const others = people.get(key);
        if (others) others.push(person);
        else people.set(key, [person]);
      }
    }
  }
  return (turnout.data.breakdowns ?? []).map((segments) =>
    segments.flatMap((segment) =>
      asked.flatMap((_, number) => {
        const key = keyOf(segment, number);
        const set = people.get(key);
        return set ? [{ segment: key, people: set }] : [];
      }),
    ),
  );
}

/** Returns the segments in which a person's answer to a question counts, each once even if several rounds asked the question. */
function segmentsOf(
  respondent: string,
  questionId: number,
  { assignmentsOf, roundById }: Turnout,
): readonly number[] {
  const lists = (assignmentsOf.get(respondent) ?? [])
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ segmentIds }) => segmentIds ?? []);
  return lists.length === 1 ? (lists[0] as number[]) : [...new Set(lists.flat())];
}

/** Returns for each segment the questions that a whole tree of groups was asked, so that a KPI value stands for the whole segment. */
export function askedOfSegments({ breakdowns = [], rounds }: Pick<WeekData, 'breakdowns' | 'rounds'>) {
  const whole = rounds.filter(({ aboveIds }) => aboveIds.length === 0);
  const questionIds = [...new Set(whole.flatMap((round) => round.questionIds))];
  return breakdowns.flat().map((groupId) => ({ groupId, questionIds }));
}
