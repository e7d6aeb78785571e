// Who was asked what in a week, in which groups their answers count, and which questions each person has answered. Figures and response rates are
// computed from it. Pure.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { KeptAnswer } from '../questions/types.ts';

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
/**
 * Records that a round asks a person, and in which groups the person's answers count. The assignments of people who are no longer
 * active are withdrawn: these people count as never asked, but answers they have already given still count (decision B13).
 */
export type Assignment = {
  respondent: string;
  roundId: number;
  groupIds: number[];
  /** The segments in which the person's answers count, as they were when the round was opened. None if left out. */
  segmentIds?: readonly number[];
  isWithdrawn?: true;
};
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

/** Everything but the answers that the figures of a week are computed from. */
export type WeekData = {
  thresholds: Thresholds;
  rounds: WeekRound[];
  assignments: Assignment[];
  /** The questions asked of each group, by a round of the group itself or of one of its ancestors. */
  asked: { groupId: number; questionIds: number[] }[];
  /** The people whose link was handed out by the employer. No one if left out. */
  handedOut?: ReadonlySet<string>;
  /** The segments of each breakdown, in the order in which the breakdowns were opened. None if left out. */
  breakdowns?: readonly (readonly number[])[];
};

/** Who is asked what in a week, and who has answered which questions so far. */
export type Turnout = {
  data: WeekData;
  roundById: Map<number, WeekRound>;
  assignmentsOf: Map<string, Assignment[]>;
  treeOf: (group: number) => number;
  /** The segments of the people that each round asks. */
  segmentsOfRound: Map<number, Set<number>>;
  /** For each person, the questions that they answered or skipped. People who did the same questions share one set. */
  done: Map<string, ReadonlySet<number>>;
  /** Whether `done` is complete. Otherwise each question is recorded when its figures are computed. */
  isRecorded?: true;
};

export function turnoutOf(data: WeekData): Turnout {
  const assignmentsOf = new Map<string, Assignment[]>();
  for (const assignment of data.assignments) {
    const others = assignmentsOf.get(assignment.respondent);
    if (others) others.push(assignment);
    else assignmentsOf.set(assignment.respondent, [assignment]);
  }
  const roundById = new Map(data.rounds.map((round) => [round.id, round]));
  const trees = new Map<number, number>();
  for (const { groupId, aboveIds } of data.rounds) {
    for (const id of [groupId, ...aboveIds]) trees.set(id, aboveIds.at(-1) ?? groupId);
  }
  // Most people share their list of groups with their team.
  const known = new Map<readonly number[], number>();
  for (const { roundId, groupIds } of data.assignments) {
    if (known.get(groupIds) === roundId) continue;
    known.set(groupIds, roundId);
    const { groupId } = roundById.get(roundId) as WeekRound;
    for (const id of groupIds) if (!trees.has(id)) trees.set(id, trees.get(groupId) as number);
  }
  const segmentsOfRound = new Map(data.rounds.map(({ id }) => [id, new Set<number>()]));
  for (const { roundId, segmentIds } of data.assignments) {
    if (segmentIds) for (const id of segmentIds) segmentsOfRound.get(roundId)?.add(id);
  }
  const treeOf = (group: number) => trees.get(group) ?? group;
  return { data, roundById, assignmentsOf, treeOf, segmentsOfRound, done: new Map() };
}

/** Returns the groups in which a person's answer to a question counts, each once even if several rounds asked the question. */
export function groupsOf(
  respondent: string,
  questionId: number,
  { assignmentsOf, roundById }: Turnout,
): number[] {
  const assignments = assignmentsOf.get(respondent) ?? [];
  const [only] = assignments;
  // Most people are asked by one round.
  if (only && assignments.length === 1)
    return roundById.get(only.roundId)?.questionIds.includes(questionId) ? only.groupIds : [];
  const groups = assignments
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ groupIds }) => groupIds);
  return groups.length === 1 ? (groups[0] as number[]) : [...new Set(groups.flat())];
}

/**
 * Records who answered or skipped a question. A set of its own for each of a million people would take more memory than all their answers.
 */
export function recordCompleted(
  questionId: number,
  answers: readonly WeekAnswer[],
  { done, isRecorded }: Turnout,
): void {
  if (isRecorded) return;
  const withQuestion = sharedSets();
  for (const { respondent } of answers)
    done.set(respondent, withQuestion(done.get(respondent) ?? noQuestions, questionId));
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
