// Computes the figures of segments of a week from the cells that were chosen for its groups (choose-segments.ts). Pure. Groups come
// first, so segments never change what a group shows.
import { freeText, isDistributionOnly, type QuestionType } from '@soundings/contract/question-types.ts';
import { valuedAmong } from '../disclosure/not-applicable.ts';
import { type ChosenCells, type Company, ownLinksIn, type QuestionAnswered } from '../company.ts';
import { isGiven } from '../answer-columns.ts';
import { namedAnswers, type ChosenFigures, type Result, resultOf } from '../figures.ts';
import type { Cells } from '../disclosure/disclosure.ts';
import type { Turnout, WeekFrame } from '../turnout.ts';
import { chooseSegments, segmentsHandedOut, type SegmentSet } from './choose-segments.ts';

/**
 * Returns the results of each question in all segments that its people are in. Scales and recommendations have a mean without a
 * distribution. For questions whose only figure is the distribution, the distribution threshold applies throughout. Free texts have no
 * results, and those of questions of different types with the same text are withheld (decisions/0027).
 */
export function segmentResults(
  asked: readonly QuestionAnswered[],
  { company, chosen: cellsOfGroups }: Pick<ChosenFigures, 'company' | 'chosen'>,
  turnout: Turnout,
): Result[][] {
  const { breakdowns, thresholds } = turnout.data;
  if (!breakdowns || breakdowns.length === 0) return asked.map(() => []);
  const [type] = company.types as [QuestionType];
  const isDistribution = isDistributionOnly(type);
  const threshold = isDistribution ? thresholds.distribution : thresholds.figures;
  const sets = company.types.every((one) => one === type) ? setsOfBreakdowns(asked, company, turnout) : [];
  const { shown, handedOut } = shownSegments(company, cellsOfGroups, sets, { turnout, threshold });
  return asked.map(({ question, noise }, number) => {
    if (type === freeText) return [];
    return segmentsAsked(question.id, turnout).map((segmentId): Result => {
      const key = company.keyOf(segmentId, number);
      const people = shown.get(key);
      const valued = people && valuedAmong(people, company.isValued);
      return resultOf(question, segmentId, {
        answers: namedAnswers(company, number),
        people: valued,
        distributionPeople: isDistribution ? valued : undefined,
        handedOut: handedOut.has(key),
        noise,
      });
    });
  });
}

type ShownSegments = { shown: Map<number, number[]>; handedOut: Set<number> };

/**
 * Returns the people that the figure of each segment is based on, and the segments whose figure is based on handed-out links.
 *
 * If someone chose "not applicable", the segments are chosen twice: with everyone who answered, so that the numbers of values don't reveal
 * who chose it, and among these with the people who gave a value. A segment is shown only if both choices leave it as it is. It is marked if
 * anyone in one of its cells used a handed-out link, because a closer look would reveal what that person chose.
 */
function shownSegments(
  company: Company,
  { cells, answered }: Pick<ChosenCells, 'cells' | 'answered'>,
  sets: SegmentSet[][],
  { turnout, threshold }: { turnout: Turnout; threshold: number },
): ShownSegments {
  const usedOwnLink = ownLinksIn(company);
  const { isValued } = company;
  if (!isValued) {
    const shown = chosenOnce(turnout, { cells, sets, threshold });
    return { shown, handedOut: segmentsHandedOut(cells, shown, usedOwnLink, threshold) };
  }
  // People whose values are in no figure of a group count in no segment.
  const all = answered.cellOf.map((cell, person) => (cells.cellOf[person] === 0 ? 0 : cell));
  const valued = cells.cellOf.map((cell, person) => (isValued[person] ? cell : 0));
  const ofAll = chosenOnce(turnout, { cells: { cellOf: all }, sets, threshold });
  const setsOfValues = sets.map((list) =>
    list.flatMap(({ segment }): SegmentSet[] => {
      const people = ofAll.get(segment);
      return people ? [{ segment, people: valuedAmong(people, isValued) }] : [];
    }),
  );
  const ofValues = chosenOnce(turnout, { cells: { cellOf: valued }, sets: setsOfValues, threshold });
  const wanted = new Map(setsOfValues.flat().map(({ segment, people }) => [segment, people.length]));
  const shown = new Map(
    [...ofAll].filter(([segment]) => ofValues.get(segment)?.length === wanted.get(segment)),
  );
  if (threshold === 1) return { shown, handedOut: new Set() };
  const marked = new Set(cells.cellOf.filter((_, person) => !usedOwnLink[person]));
  const isMarked = (person: number) => marked.has(cells.cellOf[person] as number);
  const handedOut = [...shown].filter(([, people]) => people.some(isMarked)).map(([segment]) => segment);
  return { shown, handedOut: new Set(handedOut) };
}

/** Returns what chooseSegments returns, without computing it again for another question that the same people answered. */
function chosenOnce(turnout: Turnout, wanted: Omit<Chosen, 'shown'>): Map<number, number[]> {
  const like = chosenLike(turnout, wanted);
  const before = chosenBefore(like, wanted);
  if (before) return before;
  const shown = chooseSegments(wanted.cells, wanted.sets, wanted.threshold);
  like.push({ ...wanted, shown });
  return shown;
}

/** What was chosen for a question. */
type Chosen = {
  cells: Pick<Cells, 'cellOf'>;
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
  asked: readonly QuestionAnswered[],
  company: Company,
  turnout: Turnout,
): SegmentSet[][] {
  const { respondents, keyOf } = company;
  const everyone = respondents.map((_, person) => person);
  const people = new Map<number, number[]>();
  for (const [number, { question }] of asked.entries()) {
    const given = company.given[number];
    for (const person of everyone) {
      if (!given || !isGiven(given, person)) continue;
      for (const segment of segmentsOf(respondents[person] as number, question.id, turnout)) {
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
  respondent: number,
  questionId: number,
  { people, roundById }: Turnout,
): readonly number[] {
  const lists = people
    .assignmentsOf(respondent)
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ segmentIds }) => segmentIds ?? []);
  return lists.length === 1 ? (lists[0] as number[]) : [...new Set(lists.flat())];
}

/** Returns for each segment the questions that a whole tree of groups was asked, so that a KPI value stands for the whole segment. */
export function askedOfSegments({ breakdowns = [], rounds }: Pick<WeekFrame, 'breakdowns' | 'rounds'>) {
  const whole = rounds.filter(({ aboveIds }) => aboveIds.length === 0);
  const questionIds = [...new Set(whole.flatMap((round) => round.questionIds))];
  return breakdowns.flat().map((groupId) => ({ groupId, questionIds }));
}
