// The people that response rates of segments are based on. Pure.
import type { Cells } from '../disclosure/disclosure.ts';
import type { Turnout, WeekRound } from '../turnout.ts';
import type { Assigned } from '../week-people.ts';
import { chooseSegments, segmentsHandedOut } from './choose-segments.ts';

/** People of a segment who were asked the same questions. `people`: those that the rate is based on; undefined if withheld. */
export type SegmentRate = {
  segment: number;
  questionIds: readonly number[];
  people: readonly number[] | undefined;
  isHandedOut: boolean;
};

/**
 * Returns the people that the response rates of segments are based on, after the cells of the groups' rates have been chosen. The people
 * of a segment are divided by the questions they were asked, like those of groups. `assignmentsOf`: of each person.
 */
export function segmentRates(
  turnout: Turnout,
  assignmentsOf: readonly (readonly Assigned[])[],
  cells: Pick<Cells, 'cellOf' | 'sizes'>,
  hasOwnLink: readonly boolean[],
): SegmentRate[] {
  const { breakdowns = [], thresholds } = turnout.data;
  if (breakdowns.length === 0) return [];
  const known = new Map<string, { segment: number; questionIds: readonly number[]; people: number[] }>();
  // Most people are asked by one round and share its list of questions.
  const names = new Map<readonly number[], string>();
  for (const [person, assignments] of assignmentsOf.entries()) {
    for (const { segment, questionIds } of askedInSegments(assignments, turnout)) {
      const questions = names.get(questionIds) ?? questionIds.join();
      names.set(questionIds, questions);
      const name = `${segment} ${questions}`;
      const set = known.get(name);
      if (set) set.people.push(person);
      else known.set(name, { segment, questionIds, people: [person] });
    }
  }
  const sets = [...known.keys()].toSorted().map((name) => known.get(name)!);
  const numbered = Map.groupBy(sets.keys(), (number) => sets[number]!.segment);
  const setsOfBreakdowns = breakdowns.map((segments) =>
    segments.flatMap((segment) =>
      (numbered.get(segment) ?? []).map((number) => ({ segment: number, people: sets[number]!.people })),
    ),
  );
  const shown = chooseSegments(cells, setsOfBreakdowns, thresholds.figures);
  const handedOut = segmentsHandedOut(cells, shown, hasOwnLink, thresholds.figures);
  return sets.map(({ segment, questionIds }, number) => ({
    segment,
    questionIds,
    people: shown.get(number),
    isHandedOut: handedOut.has(number),
  }));
}

/** Returns the questions that a person was asked in each of their segments. */
export function askedInSegments(
  assignments: readonly Assigned[],
  { roundById }: Turnout,
): { segment: number; questionIds: readonly number[] }[] {
  if (!assignments.some(({ segmentIds }) => segmentIds)) return [];
  const asked = new Map<number, readonly number[]>();
  for (const { roundId, segmentIds = [] } of assignments) {
    const { questionIds } = roundById.get(roundId) as WeekRound;
    for (const segment of segmentIds) {
      const others = asked.get(segment);
      const all = () => [...new Set([...(others ?? []), ...questionIds])].toSorted((a, b) => a - b);
      asked.set(segment, others ? all() : questionIds);
    }
  }
  return [...asked].map(([segment, questionIds]) => ({ segment, questionIds }));
}
