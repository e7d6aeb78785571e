// The people of a week and the columns of their answers: what they share is shared, and nothing is lost.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answersInColumn, columnOf } from './answer-columns.ts';
import { responseRates } from './disclosure/response-rates.ts';
import { turnoutAmong, turnoutOf, type WeekAnswer } from './turnout.ts';
import { WeekPeople } from './week-people.ts';

const names = ['anna', 'bo', 'cem', 'dag', 'eva', 'fia'];
const groups: [number[], number[]] = [
  [2, 1],
  [3, 1],
];
/** For each assignment, in a random order: who, which round, and which list of groups. */
const assignments = fc.array(
  fc.record({
    respondent: fc.constantFrom(...names),
    roundId: fc.constantFrom(1, 2),
    place: fc.constantFrom(0, 1),
    segmentIds: fc.option(fc.constantFrom([7], [8], [7, 9]), { nil: undefined }),
  }),
  { maxLength: 20 },
);
const frame = {
  thresholds: { figures: 1, distribution: 1, comments: 1 },
  rounds: [
    { id: 1, groupId: 1, questionIds: [1, 2], aboveIds: [] },
    { id: 2, groupId: 1, questionIds: [2, 3], aboveIds: [] },
  ],
  asked: [1, 2, 3].map((groupId) => ({ groupId, questionIds: [1, 2, 3] })),
};

describe('the people of a week', () => {
  test('are asked what was added for each, and share one list with everyone who is asked the same', () => {
    fc.assert(
      fc.property(assignments, (list) => {
        const people = new WeekPeople();
        const expected = new Map<string, object[]>();
        for (const { respondent, place, segmentIds, roundId } of list) {
          const one = { roundId, groupIds: groups[place] as number[], ...(segmentIds && { segmentIds }) };
          people.assign(people.numberOf(respondent), one);
          expected.set(respondent, [...(expected.get(respondent) ?? []), one]);
        }
        const lists = new Map<string, unknown>();
        for (const [name, all] of expected) {
          const shared = people.assignmentsOf(people.find(name) as number);
          expect(shared).toEqual(all);
          const text = JSON.stringify(all);
          expect(lists.get(text) ?? shared).toBe(shared);
          lists.set(text, shared);
        }
        expect(people.count).toBe(expected.size);
        expect(people.find('no one')).toBeUndefined();
      }),
    );
  });

  test('who are withdrawn count like people whose assignments were withdrawn from the start', () => {
    fc.assert(
      fc.property(
        assignments,
        fc.subarray(names),
        fc.constantFrom<number[]>([1], [1, 2]),
        (list, withdrawn, roundIds) => {
          const people = new WeekPeople();
          const all = list.map(({ respondent, roundId, place }) => ({
            respondent,
            roundId,
            groupIds: groups[place] as number[],
          }));
          for (const { respondent, ...one } of all) people.assign(people.numberOf(respondent), one);
          for (const name of withdrawn)
            if (people.find(name) !== undefined) people.withdraw(people.numberOf(name), new Set(roundIds));
          const isGone = (name: string, roundId: number) =>
            withdrawn.includes(name) && roundIds.includes(roundId);
          const before = all.map((one) => ({
            ...one,
            ...(isGone(one.respondent, one.roundId) && { isWithdrawn: true as const }),
          }));
          expect(responseRates(turnoutAmong(people, frame))).toEqual(
            responseRates(turnoutOf({ ...frame, assignments: before })),
          );
        },
      ),
    );
  });
});

test('a column of answers has all of each answer', () => {
  const answer = fc.record({
    respondent: fc.constantFrom(...names),
    value: fc.option(fc.integer({ min: 0, max: 10 })),
    choices: fc.option(fc.array(fc.string())),
    comment: fc.option(fc.string()),
    skipped: fc.boolean(),
    handedOut: fc.boolean(),
    counted: fc.boolean(),
    isNotApplicable: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(answer), (list) => {
      const answers = list.map(({ isNotApplicable, ...one }): WeekAnswer => ({
        ...one,
        ...(isNotApplicable && { notApplicable: true as const }),
      }));
      const people = new WeekPeople();
      expect(answersInColumn(columnOf(answers, people), people)).toEqual(answers);
    }),
  );
});
