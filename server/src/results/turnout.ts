// Who was asked what in a week, in which groups their answers count, and which questions each person has answered. Figures and response rates are
// computed from it. Pure.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { KeptAnswer } from '../questions/types.ts';
import { type Assigned, WeekPeople } from './week-people.ts';

export type Thresholds = { figures: number; distribution: number; comments: number };

/** `allowsNotApplicable`: whether a round of the week lets people answer it with "not applicable". */
export type WeekQuestion = {
  id: number;
  type: QuestionType;
  options: string[];
  allowsNotApplicable?: boolean;
};
/** `notApplicableIds`: those of its questions that people can answer with "not applicable". */
export type WeekRound = {
  id: number;
  groupId: number;
  questionIds: number[];
  notApplicableIds?: number[];
  aboveIds: number[];
};
/** Records that a round asks a person. */
export type Assignment = Assigned & { respondent: string };
/**
 * `handedOut`: the answer was given through a link that the employer handed out, not one that was sent to the person. `counted`:
 * the published figures of a live week already include it (batches.ts).
 */
export type WeekAnswer = KeptAnswer & {
  respondent: string;
  comment: string | null;
  skipped: boolean;
  /** The answer is "not applicable", and has neither value nor choices. */
  notApplicable?: true;
  handedOut: boolean;
  counted: boolean;
};

/** What a week asks each group, and how many people each kind of figure needs to be shown. */
export type WeekFrame = {
  thresholds: Thresholds;
  rounds: WeekRound[];
  /** The questions asked of each group, by a round of the group itself or of one of its ancestors. */
  asked: { groupId: number; questionIds: number[] }[];
  /** The segments of each breakdown, in the order in which the breakdowns were opened. None if left out. */
  breakdowns?: readonly (readonly number[])[];
};

/** Everything but the answers that the figures of a week are computed from. */
export type WeekData = WeekFrame & {
  assignments: Assignment[];
  /** The people whose link was handed out by the employer. No one if left out. */
  handedOut?: ReadonlySet<string>;
};

/** Who is asked what in a week, and who has answered which questions so far. */
export type Turnout = {
  data: WeekFrame;
  people: WeekPeople;
  roundById: Map<number, WeekRound>;
  treeOf: (group: number) => number;
  /** The segments of the people that each round asks. */
  segmentsOfRound: Map<number, Set<number>>;
  /** For each person, by number, the questions that they answered or skipped. People who did the same questions share one set. */
  done: (ReadonlySet<number> | undefined)[];
  /** Whether `done` is complete. Otherwise each question is recorded when its figures are computed. */
  isRecorded?: true;
};

export function turnoutOf(data: WeekData): Turnout {
  const people = new WeekPeople();
  for (const { respondent, ...assigned } of data.assignments)
    people.assign(people.numberOf(respondent), assigned);
  for (const respondent of data.handedOut ?? []) people.handedOut.add(people.numberOf(respondent));
  return turnoutAmong(people, data);
}

/** Returns the same for people who have been added already. */
export function turnoutAmong(people: WeekPeople, data: WeekFrame): Turnout {
  const roundById = new Map(data.rounds.map((round) => [round.id, round]));
  const trees = new Map<number, number>();
  for (const { groupId, aboveIds } of data.rounds) {
    for (const id of [groupId, ...aboveIds]) trees.set(id, aboveIds.at(-1) ?? groupId);
  }
  const segmentsOfRound = new Map(data.rounds.map(({ id }) => [id, new Set<number>()]));
  for (const { roundId, groupIds, segmentIds = [] } of people.teams.flat()) {
    const { groupId } = roundById.get(roundId) as WeekRound;
    for (const id of groupIds) if (!trees.has(id)) trees.set(id, trees.get(groupId) as number);
    for (const id of segmentIds) segmentsOfRound.get(roundId)?.add(id);
  }
  const treeOf = (group: number) => trees.get(group) ?? group;
  return { data, people, roundById, treeOf, segmentsOfRound, done: [] };
}

/** Returns the groups in which the answers to a question count, each once even if several rounds asked the question, by team. */
export function groupsOfTeams(
  questionId: number,
  { people: { teams }, roundById }: Turnout,
): (team: number) => readonly number[] {
  const asking = new Set(
    [...roundById.values()].filter(({ questionIds }) => questionIds.includes(questionId)).map(({ id }) => id),
  );
  const known: (readonly number[])[] = [];
  return (team) => {
    const before = known[team];
    if (before) return before;
    const lists = (teams[team] ?? [])
      .filter(({ roundId }) => asking.has(roundId))
      .map(({ groupIds }) => groupIds);
    // Most people are asked by one round.
    const groups = lists.length === 1 ? (lists[0] as readonly number[]) : [...new Set(lists.flat())];
    known[team] = groups;
    return groups;
  };
}

/** Returns the groups in which a person's answer to a question counts. */
export const groupsOf = (respondent: string, questionId: number, turnout: Turnout): readonly number[] =>
  groupsOfTeams(questionId, turnout)(turnout.people.teamOf(turnout.people.numberOf(respondent)));

/**
 * Records who answered or skipped a question. A set of its own for each of a million people would take more memory than all their answers.
 */
export function recordCompleted(
  questionId: number,
  respondents: readonly number[],
  { done, isRecorded }: Turnout,
): void {
  if (isRecorded) return;
  const withQuestion = sharedSets();
  for (const person of respondents) done[person] = withQuestion(done[person] ?? noQuestions, questionId);
}

export const noQuestions: ReadonlySet<number> = new Set();

/** Returns a function that adds an element to a set. It returns the same set for the same set and element. */
export function sharedSets() {
  const larger = new Map<ReadonlySet<number>, Map<number, ReadonlySet<number>>>();
  return (set: ReadonlySet<number>, added: number): ReadonlySet<number> => {
    let known = larger.get(set);
    if (!known) larger.set(set, (known = new Map()));
    let after = known.get(added);
    if (!after) known.set(added, (after = set.has(added) ? set : new Set([...set, added])));
    return after;
  };
}
