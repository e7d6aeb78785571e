// The figures of a week, from who was asked and what was answered (decisions A10 to A14, privacy.md P2 to P8). Pure.
import {
  type Distribution,
  distributionOf,
  isScaled,
  isSpreadOnly,
  type KeptAnswer,
  type QuestionType,
  scaledMean,
} from '../questions/types.ts';
import { choosePieces, chooseSpread, type GroupSet, type Pieces } from './anonymity.ts';

export type Thresholds = { figures: number; spread: number; comments: number };

export type WeekQuestion = { id: number; type: QuestionType; options: string[] };
export type WeekRound = { id: number; groupId: number; questionIds: number[]; aboveIds: number[] };
/**
 * That a person is asked by a round, and in which groups the person's answers count. It is withdrawn from who is not
 * active any more: such a one counts as never asked, though answers already given stay counted (decision B13).
 */
export type Assignment = { respondent: string; roundId: number; groupIds: number[]; isWithdrawn?: true };
export type WeekAnswer = KeptAnswer & { respondent: string; comment: string | null; skipped: boolean };

/** All that a week's figures are made of. */
export type WeekData = {
  thresholds: Thresholds;
  rounds: WeekRound[];
  assignments: Assignment[];
  /** Which questions were asked of a group: of itself, or of a group above it. */
  asked: { groupId: number; questionIds: number[] }[];
};

/** A figure of a question in a group; nulls: withheld. */
export type Result = {
  groupId: number;
  value: number | null;
  answers: number | null;
  spread: Distribution | null;
};
export type ShownComment = { text: string; groupIds: number[] };
export type Rate = { groupId: number; value: number | null };
export type KpiValue = { kpiId: string; groupId: number; value: number | null };

/** Who is asked what in a week, and what has been answered so far. */
export type Turnout = {
  data: WeekData;
  roundById: Map<number, WeekRound>;
  assignmentsOf: Map<string, Assignment[]>;
  treeOf: (group: number) => number;
  /** For each person the questions that were answered or skipped. */
  done: Map<string, Set<number>>;
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
  for (const { roundId, groupIds } of data.assignments) {
    const { groupId } = roundById.get(roundId) as WeekRound;
    for (const id of groupIds) if (!trees.has(id)) trees.set(id, trees.get(groupId) as number);
  }
  return { data, roundById, assignmentsOf, treeOf: (group) => trees.get(group) ?? group, done: new Map() };
}

/** The groups in which a person's answer to a question counts: once each, whichever rounds asked it. */
function groupsOf(respondent: string, questionId: number, { assignmentsOf, roundById }: Turnout): number[] {
  const groups = (assignmentsOf.get(respondent) ?? [])
    .filter(({ roundId }) => roundById.get(roundId)?.questionIds.includes(questionId))
    .map(({ groupIds }) => groupIds);
  return groups.length === 1 ? (groups[0] as number[]) : [...new Set(groups.flat())];
}

/**
 * The figures and comments of one question. Notes in `turnout` who has done it, for the response rates. Every group
 * that the question was asked of, and every one above, has a result.
 */
export function questionFigures(
  question: WeekQuestion,
  answers: WeekAnswer[],
  turnout: Turnout,
): { results: Result[]; comments: ShownComment[] } {
  const { thresholds, rounds, asked } = turnout.data;
  for (const { respondent } of answers) {
    const done = turnout.done.get(respondent);
    if (done) done.add(question.id);
    else turnout.done.set(respondent, new Set([question.id]));
  }
  const counted = answers.filter(({ skipped }) => !skipped);
  const sets = setsOf(
    counted.length,
    (i) => groupsOf((counted[i] as WeekAnswer).respondent, question.id, turnout),
    turnout.treeOf,
  );
  const { type, options } = question;
  const threshold = isSpreadOnly(type) ? thresholds.spread : thresholds.figures;
  const pieces = choosePieces(sets, counted.length, threshold);
  const spread = spreadOf(type, pieces, turnout);
  const concerned = new Set<number>();
  for (const { groupId, questionIds } of asked) if (questionIds.includes(question.id)) concerned.add(groupId);
  for (const { groupId, questionIds, aboveIds } of rounds) {
    if (questionIds.includes(question.id)) for (const id of [groupId, ...aboveIds]) concerned.add(id);
  }
  const answersOf = (people: number[]) => people.map((person) => counted[person] as WeekAnswer);
  const results = [...concerned].map((groupId): Result => {
    const people = pieces.shown.get(groupId);
    if (!people) return { groupId, value: null, answers: null, spread: null };
    const wide = spread.get(groupId);
    return {
      groupId,
      value: isScaled(type) ? meanOf(type, answersOf(people)) : null,
      answers: people.length,
      spread: wide ? distributionOf(type, options, answersOf(wide)) : null,
    };
  });
  return { results, comments: commentsOf(counted, sets, thresholds.comments) };
}

function meanOf(type: QuestionType, answers: WeekAnswer[]): number | null {
  const sum = answers.reduce((total, { value }) => total + (value ?? 0), 0);
  return scaledMean(type, sum, answers.length);
}

function spreadOf(type: QuestionType, pieces: Pieces, { data, treeOf }: Turnout): Map<number, number[]> {
  if (isSpreadOnly(type)) return pieces.shown;
  return isScaled(type) ? chooseSpread(pieces, treeOf, data.thresholds.spread) : new Map();
}

/** The people 0 to `count` − 1 by the groups in which they count. */
function setsOf(
  count: number,
  groupsOfPerson: (person: number) => number[],
  treeOf: (group: number) => number,
): GroupSet[] {
  const people = new Map<number, number[]>();
  for (let person = 0; person < count; person++) {
    for (const group of groupsOfPerson(person)) {
      const others = people.get(group);
      if (others) others.push(person);
      else people.set(group, [person]);
    }
  }
  return [...people].map(([group, members]) => ({ group, tree: treeOf(group), people: members }));
}

/** Each comment with the groups in which it is shown: those whose set, by the threshold for comments, has its author. */
function commentsOf(counted: WeekAnswer[], sets: GroupSet[], threshold: number): ShownComment[] {
  if (counted.every(({ comment }) => comment === null)) return [];
  const { shown } = choosePieces(sets, counted.length, threshold);
  const groupsOfComment = new Map<number, number[]>();
  for (const [group, people] of shown) {
    for (const person of people) {
      if (counted[person]?.comment === null) continue;
      groupsOfComment.set(person, [...(groupsOfComment.get(person) ?? []), group]);
    }
  }
  return [...groupsOfComment].map(([person, groupIds]) => ({
    text: counted[person]?.comment as string,
    groupIds,
  }));
}

/**
 * The response rate of each group that was asked (decision A12), once all questions of the week have been gone through.
 * People of a group who were asked different things in it, such as those who came or went between two rounds, go through
 * the procedure apart: only among people who were asked the same is a rate constant on each piece, question by question.
 */
export function responseRates(turnout: Turnout): Rate[] {
  const { data, treeOf, done } = turnout;
  const assignmentsOf = standing(turnout.assignmentsOf);
  const respondents = [...assignmentsOf.keys()];
  const known = new Map<string, AskedAlike>();
  const askedBy = (assignments: Assignment[]) =>
    askedIn(assignments, turnout).map((one) => {
      const key = `${one.groupId} ${one.questionIds.join()}`;
      const same = known.get(key) ?? one;
      known.set(key, same);
      return same;
    });
  // Most people are asked by one round, and share their list of groups with their team.
  const teams = new Map<number[], Map<number, AskedAlike[]>>();
  const askedOf = [...assignmentsOf.values()].map((assignments) => {
    const [{ roundId, groupIds }, ...others] = assignments as [Assignment];
    if (others.length > 0) return askedBy(assignments);
    const rounds = teams.get(groupIds) ?? new Map<number, AskedAlike[]>();
    const asked = rounds.get(roundId) ?? askedBy(assignments);
    teams.set(groupIds, rounds.set(roundId, asked));
    return asked;
  });
  const alike = [...known.keys()].toSorted().map((key) => known.get(key) as AskedAlike);
  const numbers = new Map(alike.map((one, number) => [one, number]));
  const sets = setsOf(
    respondents.length,
    (person) => (askedOf[person] as AskedAlike[]).map((one) => numbers.get(one) as number),
    (number) => treeOf((alike[number] as AskedAlike).groupId),
  );
  const doneBy = respondents.map((respondent) => done.get(respondent));
  const totals = new Map<number, { asked: number; answered: number }>();
  for (const [number, people] of choosePieces(sets, respondents.length, data.thresholds.figures).shown) {
    const { groupId, questionIds } = alike[number] as AskedAlike;
    const total = totals.get(groupId) ?? { asked: 0, answered: 0 };
    totals.set(groupId, total);
    total.asked += people.length * questionIds.length;
    for (const person of people) {
      const has = doneBy[person];
      if (has) for (const id of questionIds) if (has.has(id)) total.answered++;
    }
  }
  return data.asked.map(({ groupId }) => {
    const { asked, answered } = totals.get(groupId) ?? { asked: 0, answered: 0 };
    return { groupId, value: asked > 0 ? answered / asked : null };
  });
}

/** Those that are not withdrawn. */
function standing(all: Map<string, Assignment[]>): Map<string, Assignment[]> {
  const left = [...all].map(
    ([person, assignments]) => [person, assignments.filter(({ isWithdrawn }) => !isWithdrawn)] as const,
  );
  return new Map(left.filter(([, assignments]) => assignments.length > 0));
}

/** People of a group of whom the rounds that asked everyone in it asked the same. */
type AskedAlike = { groupId: number; questionIds: number[] };

/** What a person was asked in each group by the rounds that asked everyone in it. */
function askedIn(assignments: Assignment[], { roundById }: Turnout): AskedAlike[] {
  const asked = new Map<number, number[]>();
  for (const { roundId, groupIds } of assignments) {
    const { questionIds, aboveIds } = roundById.get(roundId) as WeekRound;
    for (const group of groupIds) {
      if (aboveIds.includes(group)) continue;
      const others = asked.get(group);
      const all = () => [...new Set([...(others ?? []), ...questionIds])].toSorted((a, b) => a - b);
      asked.set(group, others ? all() : questionIds);
    }
  }
  return [...asked].map(([groupId, questionIds]) => ({ groupId, questionIds }));
}

/** The KPI values of a week: made of the values that are shown, and of nothing else (decision A14). */
export function kpiValues(
  kpis: { id: string; questionIds: number[] }[],
  results: ReadonlyMap<number, Result[]>,
): KpiValue[] {
  return kpis.flatMap(({ id, questionIds }) => {
    const values = new Map<number, number[]>();
    for (const questionId of questionIds.toSorted((a, b) => a - b)) {
      for (const { groupId, value } of results.get(questionId) ?? []) {
        const others = values.get(groupId) ?? [];
        values.set(groupId, value === null ? others : [...others, value]);
      }
    }
    return [...values].map(([groupId, shown]) => ({
      kpiId: id,
      groupId,
      value: shown.length > 0 ? shown.reduce((sum, value) => sum + value, 0) / shown.length : null,
    }));
  });
}
