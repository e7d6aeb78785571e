// The figures of a live week change by whole batches (privacy.md P16): the answers that are not counted yet go through the
// procedure by themselves, and what it lets through is added to the figures that are shown. What was counted is never
// counted again, and nothing is recomputed; so whatever is read at whatever times, no two figures differ by a few people.
// Pure.
import {
  type Distribution,
  isSpreadOnly,
  type QuestionType,
  scaledMean,
  sumBehind,
} from '../questions/types.ts';
import {
  type Answered,
  chooseClass,
  type Chosen,
  classComments,
  classResults,
  type Company,
  companyOf,
  noteDone,
  type Result,
  type ShownComment,
  type Turnout,
  type WeekRound,
} from './figures.ts';

export type Batch = {
  /** The results of each question with the batch, in the order of the questions. */
  results: Result[][];
  /** The comments of each question: none before the week closes. */
  comments: ShownComment[][];
  /** Who became counted, for all questions of the class. */
  counted: string[];
};

/**
 * Adds a batch to the figures of questions that have the same words. `answers` are all that there are, counted or not. A
 * person who is counted for one of the questions is counted for all: later answers of theirs to the others change nothing.
 * `previous`: by question the results so far. `isLast`: the week closes, and nobody waits any more.
 */
export function addBatch(
  asked: readonly Answered[],
  previous: ReadonlyMap<number, readonly Result[]>,
  turnout: Turnout,
  { isLast }: { isLast: boolean },
): Batch {
  for (const { question, answers } of asked) noteDone(question.id, answers, turnout);
  const counted = new Set<string>();
  for (const { answers } of asked) {
    for (const one of answers) if (one.counted) counted.add(one.respondent);
  }
  const fresh = asked.map(({ answers, ...one }) => ({
    ...one,
    answers: answers.filter(({ respondent, skipped }) => !skipped && !counted.has(respondent)),
  }));
  const { batch, company, chosen } = isLast ? chosenOf(fresh, turnout) : wholeBatch(fresh, turnout);
  const results = classResults(batch, company, chosen, turnout.data).map((list, number) => {
    const { id, type } = (asked[number] as Answered).question;
    const before = new Map(previous.get(id)?.map((one) => [one.groupId, one]));
    return list.map((one) => sumOf(type, before.get(one.groupId), one));
  });
  return {
    results,
    comments: isLast ? classComments(asked, turnout) : asked.map(() => []),
    counted: company.respondents.filter((_, person) => chosen.pieces.pieceOf[person] !== 0),
  };
}

type Choice = { batch: readonly Answered[]; company: Company; chosen: Chosen };

function chosenOf(batch: readonly Answered[], turnout: Turnout): Choice {
  const company = companyOf(batch, turnout);
  return { batch, company, chosen: chooseClass(company, turnout.data.thresholds) };
}

/**
 * The largest part of the answers of which nobody is left out of any figure, but those of groups in which fewer people
 * than the threshold are asked. Others wait: who was counted in the company while their team still had too few answers
 * would be missing from the team's figure for good.
 */
function wholeBatch(fresh: readonly Answered[], turnout: Turnout): Choice {
  const reach = reachOf(fresh, turnout);
  const { thresholds } = turnout.data;
  let choice = chosenOf(fresh, turnout);
  for (;;) {
    const { company, chosen, batch } = choice;
    const least = company.types.every(isSpreadOnly) ? thresholds.spread : thresholds.figures;
    const waiting = new Set<string>();
    for (const { group: key, people } of company.sets) {
      if ((reach(key) ?? 0) < least) continue;
      const shown = new Set(chosen.shown.get(key));
      for (const person of people) if (!shown.has(person)) waiting.add(company.respondents[person] as string);
    }
    if (waiting.size === 0) return choice;
    const rest = batch.map(({ answers, ...one }) => ({
      ...one,
      answers: answers.filter(({ respondent }) => !waiting.has(respondent)),
    }));
    choice = chosenOf(rest, turnout);
  }
}

/** How many people are asked a question in a group, by the name of the set (Company). */
function reachOf(
  asked: readonly Answered[],
  { data, roundById }: Turnout,
): (key: number) => number | undefined {
  const counts = new Map<number, Set<string>>();
  for (const { respondent, roundId, groupIds } of data.assignments) {
    const { questionIds } = roundById.get(roundId) as WeekRound;
    for (const [number, { question }] of asked.entries()) {
      if (!questionIds.includes(question.id)) continue;
      for (const group of groupIds) {
        const key = group * asked.length + number;
        counts.set(key, (counts.get(key) ?? new Set()).add(respondent));
      }
    }
  }
  return (key) => counts.get(key)?.size;
}

/** A result and what a batch adds to it. */
function sumOf(type: QuestionType, before: Result | undefined, batch: Result): Result {
  if (!before || before.answers === null) return batch;
  if (batch.answers === null) return before;
  const answers = before.answers + batch.answers;
  const sum = (one: Result) => (one.value === null ? 0 : sumBehind(type, one.value, one.answers as number));
  return {
    groupId: batch.groupId,
    value: batch.value === null ? null : scaledMean(type, sum(before) + sum(batch), answers),
    answers,
    spread: addedUp(before.spread, batch.spread),
    // One cell with too few answers through links that were sent is enough.
    handedOut: before.handedOut || batch.handedOut,
    noise: batch.noise,
  };
}

function addedUp(one: Distribution | null, other: Distribution | null): Distribution | null {
  if (!one || !other) return one ?? other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
