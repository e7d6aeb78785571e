// Computes the response rates of a week (decision A12). Pure.
import { chooseCells, type GroupSet, setsOf, tooFewOwnLinks } from './disclosure.ts';
import { askedInSegments, segmentRates } from '../segments/segment-rates.ts';
import type { Turnout, WeekRound } from '../turnout.ts';
import type { Assigned, WeekPeople } from '../week-people.ts';

export type Rate = {
  groupId: number;
  value: number | null;
  /** How many people were asked anything in the group; null if the rate is withheld. */
  people: number | null;
  /**
   * How many people the rate is based on, and how many of them answered or skipped anything; null if the rate is withheld. Both are sums
   * over the cells of the rate, so they can't separate the people of a cell any more than the rate does (P7).
   */
  asked: number | null;
  answered: number | null;
  /**
   * Whether the rate is published although, in one of its cells, too few of the people asked are without a handed-out link (P14).
   * This does not depend on who answered through such a link, which would reveal it about individual people.
   */
  handedOut: boolean;
};

/**
 * Returns the response rate of each group and segment that was asked (decision A12). Call it after all questions of the week have been
 * recorded in `turnout`. People in a group who were asked different questions, for example because they joined or left between
 * two rounds, form separate sets in the disclosure procedure. Otherwise rates could separate the people of one cell.
 */
export function responseRates(turnout: Turnout): Rate[] {
  const { data, done, people: everyone } = turnout;
  const teams = everyone.teams.map((assigned) => assigned.filter(({ isWithdrawn }) => !isWithdrawn));
  const respondents = respondentsOf(everyone, teams);
  const teamOf = respondents.map((respondent) => everyone.teamOf(respondent));
  const assignmentsOf = teamOf.map((team) => teams[team] as Assigned[]);
  const { combinations, sets } = setsOfRates(teams, teamOf, turnout);
  const doneBy = respondents.map((respondent) => done[respondent]);
  const peopleIn = peopleOf(turnout);
  const totals = new Map<number, Total>();
  const cells = chooseCells(sets, respondents.length, data.thresholds.figures);
  const hasOwnLink = respondents.map((respondent) => !everyone.handedOut.has(respondent));
  const isHandedOut = tooFewOwnLinks(hasOwnLink, cells, data.thresholds.figures);
  const add = (groupId: number, questionIds: readonly number[], people: readonly number[]): Total => {
    const total = totals.get(groupId) ?? { questions: 0, done: 0, people: 0, answered: 0, handedOut: false };
    totals.set(groupId, total);
    total.questions += people.length * questionIds.length;
    total.people += people.length;
    // People who did the same questions share one set.
    const counts = new Map<ReadonlySet<number>, number>();
    for (const person of people) {
      const has = doneBy[person];
      if (!has) continue;
      let count = counts.get(has);
      if (count === undefined) {
        count = questionIds.filter((id) => has.has(id)).length;
        counts.set(has, count);
      }
      total.done += count;
      if (count > 0) total.answered++;
    }
    return total;
  };
  for (const [number, people] of cells.shown) {
    const { groupId, questionIds } = combinations[number] as SameQuestions;
    add(groupId, questionIds, people).handedOut ||= isHandedOut(people);
  }
  const segments = segmentRates(turnout, assignmentsOf, cells, hasOwnLink);
  for (const { segment, questionIds, people, isHandedOut: isMarked } of segments)
    if (people) add(segment, questionIds, people).handedOut ||= isMarked;
  const rated = [
    ...data.asked.map(({ groupId }) => groupId),
    ...new Set(segments.map(({ segment }) => segment)),
  ];
  return rated.map((groupId) => {
    const total = totals.get(groupId);
    if (!total || total.questions === 0)
      return { groupId, value: null, people: null, asked: null, answered: null, handedOut: false };
    const { people: asked, answered, handedOut } = total;
    const people = peopleIn.get(groupId) ?? null;
    return { groupId, value: total.done / total.questions, people, asked, answered, handedOut };
  });
}

/** Returns the people who are asked anything. `teams`: what each team is asked. */
function respondentsOf(people: WeekPeople, teams: readonly Assigned[][]): number[] {
  const respondents: number[] = [];
  for (let person = 0; person < people.count; person++)
    if (teams[people.teamOf(person)]?.length) respondents.push(person);
  return respondents;
}

/**
 * Returns the people who were asked the same questions in a group, for each group and combination of questions. The number of a set is the
 * position in `combinations`. `teams`: what each team is asked. `teamOf`: the team of each person.
 */
function setsOfRates(
  teams: readonly Assigned[][],
  teamOf: readonly number[],
  turnout: Turnout,
): { combinations: SameQuestions[]; sets: GroupSet[] } {
  const known = new Map<string, SameQuestions>();
  const askedOf = teams.map(() => [] as string[]);
  for (const team of new Set(teamOf)) {
    askedOf[team] = askedIn(teams[team] as Assigned[], turnout).map((one) => {
      const key = `${one.groupId} ${one.questionIds.join()}`;
      if (!known.has(key)) known.set(key, one);
      return key;
    });
  }
  const keys = [...known.keys()].toSorted();
  const combinations = keys.map((key) => known.get(key) as SameQuestions);
  const numbers = new Map(keys.map((key, number) => [key, number]));
  const numbersOf = askedOf.map((list) => list.map((key) => numbers.get(key) as number));
  const sets = setsOf(
    teamOf.length,
    (person) => numbersOf[teamOf[person] as number] as number[],
    (number) => turnout.treeOf((combinations[number] as SameQuestions).groupId),
  );
  return { combinations, sets };
}

/** Returns how many people were asked anything in each group and segment, including withdrawn ones: they may have answered before. */
function peopleOf(turnout: Turnout): Map<number, number> {
  const { people } = turnout;
  const sizes = people.teamSizes();
  const counts = new Map<number, number>();
  const add = (id: number, count: number) => counts.set(id, (counts.get(id) ?? 0) + count);
  for (const [team, assignments] of people.teams.entries()) {
    const size = sizes[team] as number;
    if (size === 0) continue;
    for (const { segment } of askedInSegments(assignments, turnout)) add(segment, size);
    for (const { groupId } of askedIn(assignments, turnout)) add(groupId, size);
  }
  return counts;
}

/** The questions that the people of a rate were asked and have answered or skipped, and how many people they are. */
type Total = { questions: number; done: number; people: number; answered: number; handedOut: boolean };

/** People in a group who were asked the same questions by the rounds that asked the whole group. */
type SameQuestions = { groupId: number; questionIds: number[] };

/** Returns the questions a person was asked in each group by the rounds that asked the whole group. */
function askedIn(assignments: readonly Assigned[], { roundById }: Turnout): SameQuestions[] {
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
