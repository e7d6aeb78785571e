// What happened in a week, and what follows from it about who is asked and who counts in which group (decisions A11 to A13).
import type { PeopleSet } from './published-sets.ts';

/** `value`: a number, true or false, or the chosen options. Undefined for an answer that is only a comment. */
export type GivenAnswer = { isSkipped: boolean; value?: unknown; comment?: string | undefined };
export type Round = { groupId: number; questionIds: number[] };

/** Everything except the answers is as it was when the week opened. */
export type SurveyWeek = {
  /** The Monday. */
  week: string;
  isLive: boolean;
  threshold: number;
  /** The type of each question, by the numbers of decision A10, and its options. */
  questions: Map<number, { type: number; options: string[] }>;
  parents: Map<number, number | null>;
  memberOf: Map<string, number[]>;
  rounds: Round[];
  /** By question and person. */
  answers: Map<number, Map<string, GivenAnswer>>;
};

/** P4: distributions and comments need twice the threshold, unless the account sets it otherwise. */
export const largerThreshold = ({ threshold }: SurveyWeek): number => 2 * threshold;

/** Returns the group and the groups above it, the top-level group last. */
export function upwards(parents: SurveyWeek['parents'], groupId: number): number[] {
  const parent = parents.get(groupId) ?? null;
  return [groupId, ...(parent === null ? [] : upwards(parents, parent))];
}

/** A11: the groups in which a person counts who is asked by a round. Empty if the round doesn't ask the person. */
export const groupsOf = ({ parents, memberOf }: SurveyWeek, { groupId }: Round, person: string): number[] => [
  ...new Set(
    (memberOf.get(person) ?? [])
      .map((own) => upwards(parents, own))
      .filter((path) => path.includes(groupId))
      .flat(),
  ),
];

export const roundsWith = ({ rounds }: SurveyWeek, q: number): Round[] =>
  rounds.filter(({ questionIds }) => questionIds.includes(q));

export const questionsIn = ({ rounds }: Pick<SurveyWeek, 'rounds'>): number[] =>
  [...new Set(rounds.flatMap(({ questionIds }) => questionIds))].toSorted((a, b) => a - b);

/** A13: the questions asked of each group, itself or through a group above it. Groups without any are missing. */
export function askedOf({ parents, rounds }: SurveyWeek): Map<number, number[]> {
  const asked = [...parents.keys()].map((groupId): [number, number[]] => {
    const path = upwards(parents, groupId);
    return [groupId, questionsIn({ rounds: rounds.filter((one) => path.includes(one.groupId)) })];
  });
  return new Map(asked.filter(([, ids]) => ids.length > 0));
}

export const treeOf = ({ parents }: SurveyWeek, groupId: number): number => upwards(parents, groupId).at(-1)!;

/** Returns those of the people who are asked a question, by group in which they count. */
export function setsOf(week: SurveyWeek, q: number, people: Iterable<string>): PeopleSet[] {
  const sets = new Map<number, Set<string>>();
  for (const person of people)
    for (const groupId of roundsWith(week, q).flatMap((round) => groupsOf(week, round, person)))
      sets.set(groupId, (sets.get(groupId) ?? new Set()).add(person));
  return [...sets].map(([id, members]) => ({ id, tree: treeOf(week, id), people: members }));
}

/** The people who answered a question. A12: a skip counts only in response rates. */
export const answered = ({ answers }: SurveyWeek, q: number): string[] =>
  [...(answers.get(q) ?? [])].filter(([, { isSkipped }]) => !isSkipped).map(([person]) => person);
