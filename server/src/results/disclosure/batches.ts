// Updates the figures of a live week in whole batches (rules.md P16). The answers that are not counted yet go through the
// disclosure procedure on their own, and those in the resulting cells are added to the published figures. Counted answers are
// never counted again, and published figures are never recomputed. So figures read at different times never differ by only a few
// people. Pure.
import { isDistributionOnly, type QuestionType } from '@soundings/contract/question-types.ts';
import { type Distribution, scaledMean, sumBehind } from '../../questions/types.ts';
import {
  chooseClass,
  type ChosenCells,
  type Company,
  companyOf,
  type QuestionWithAnswers,
  withColumns,
} from '../company.ts';
import { classComments, classResults, type Result, type ShownComment } from '../figures.ts';
import { sumOfCounts } from './not-applicable.ts';
import { recordCompleted, type Turnout, type WeekRound } from '../turnout.ts';

export type Batch = {
  /** The results of each question including the batch, in the order of the questions. */
  results: Result[][];
  /** The comments of each question. Empty until the week closes. */
  comments: ShownComment[][];
  /** The people whose answers the batch has counted, for all questions of the class. */
  counted: string[];
};

/**
 * Adds a batch to the figures of questions with the same text. `answers` in `asked` are all answers so far, counted or not. A
 * person counted for one of the questions is counted for all of them; their later answers to the others change nothing.
 * `previous`: the results so far, by question. `isLast`: the week closes, so no answers are kept back for a later batch.
 */
export function addBatch(
  asked: readonly QuestionWithAnswers[],
  previous: ReadonlyMap<number, readonly Result[]>,
  turnout: Turnout,
  { isLast }: { isLast: boolean },
): Batch {
  const columns = withColumns(asked, turnout);
  for (const { question, column } of columns) recordCompleted(question.id, column.people, turnout);
  const counted = new Set<string>();
  for (const { answers } of asked) {
    for (const one of answers) if (one.counted) counted.add(one.respondent);
  }
  const fresh = asked.map(({ answers, ...one }) => ({
    ...one,
    answers: answers.filter(({ respondent, skipped }) => !skipped && !counted.has(respondent)),
  }));
  const { batch, company, chosen } = isLast ? chosenOf(fresh, turnout) : largestBatch(fresh, turnout);
  const results = classResults(batch, company, chosen, turnout.data).map((list, number) => {
    const { id, type } = (asked[number] as QuestionWithAnswers).question;
    const before = new Map(previous.get(id)?.map((one) => [one.groupId, one]));
    return list.map((one) => sumOf(type, before.get(one.groupId), one));
  });
  return {
    results,
    comments: isLast ? classComments(columns, turnout) : asked.map(() => []),
    counted: [...company.respondents.keys()]
      .filter((person) => chosen.cells.cellOf[person] !== 0)
      .map((person) => company.nameOf(person)),
  };
}

type Choice = { batch: readonly QuestionWithAnswers[]; company: Company; chosen: ChosenCells };

function chosenOf(batch: readonly QuestionWithAnswers[], turnout: Turnout): Choice {
  const company = companyOf(batch, turnout);
  return { batch, company, chosen: chooseClass(company, turnout.data.thresholds) };
}

/**
 * Returns the largest batch in which no one is left out of any group's figure, not counting groups in which fewer people than the
 * threshold are asked. All other answers wait for a later batch. Otherwise a person could be counted in a large group while their
 * team still has too few answers, and would then be missing from the team's figure permanently.
 */
function largestBatch(fresh: readonly QuestionWithAnswers[], turnout: Turnout): Choice {
  const askedCount = askedCountOf(fresh, turnout);
  const { thresholds } = turnout.data;
  let choice = chosenOf(fresh, turnout);
  for (;;) {
    const { company, chosen, batch } = choice;
    const threshold = company.types.every(isDistributionOnly) ? thresholds.distribution : thresholds.figures;
    const waiting = new Set<string>();
    for (const { group: key, people } of company.sets) {
      if ((askedCount(key) ?? 0) < threshold) continue;
      const shown = new Set(chosen.shown.get(key));
      for (const person of people) if (!shown.has(person)) waiting.add(company.nameOf(person));
    }
    if (waiting.size === 0) return choice;
    const smaller = batch.map(({ answers, ...one }) => ({
      ...one,
      answers: answers.filter(({ respondent }) => !waiting.has(respondent)),
    }));
    choice = chosenOf(smaller, turnout);
  }
}

/** Returns how many people are asked a question in a group, by the key of the set (Company). */
function askedCountOf(
  asked: readonly QuestionWithAnswers[],
  { people, roundById }: Turnout,
): (key: number) => number | undefined {
  const counts = new Map<number, number>();
  for (const [team, size] of people.teamSizes().entries()) {
    if (size === 0) continue;
    // Each once, even if several rounds ask the team the same question.
    const keys = new Set<number>();
    for (const { roundId, groupIds } of people.teams[team] ?? []) {
      const { questionIds } = roundById.get(roundId) as WeekRound;
      for (const [number, { question }] of asked.entries()) {
        if (!questionIds.includes(question.id)) continue;
        for (const group of groupIds) keys.add(group * asked.length + number);
      }
    }
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + size);
  }
  return (key) => counts.get(key);
}

/** Returns a result with the batch added to it. */
function sumOf(type: QuestionType, before: Result | undefined, batch: Result): Result {
  if (!before) return batch;
  const notApplicable = sumOfCounts(before.notApplicable, batch.notApplicable);
  const counted = notApplicable && { notApplicable };
  // One cell in which too few used their own links is enough.
  const handedOut = before.handedOut || batch.handedOut;
  if (before.answers === null) return { ...batch, handedOut, ...counted };
  if (batch.answers === null) return { ...before, handedOut, ...counted };
  const answers = before.answers + batch.answers;
  const sum = (one: Result) => (one.value === null ? 0 : sumBehind(type, one.value, one.answers as number));
  return {
    groupId: batch.groupId,
    value: batch.value === null ? null : scaledMean(type, sum(before) + sum(batch), answers),
    answers,
    distribution: sumOfDistributions(before.distribution, batch.distribution),
    handedOut,
    noise: batch.noise,
    ...counted,
  };
}

function sumOfDistributions(one: Distribution | null, other: Distribution | null): Distribution | null {
  if (!one || !other) return one ?? other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
