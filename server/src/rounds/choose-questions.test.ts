// Which questions a schedule asks in a week: each comes round, and none too soon.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseQuestions } from './choose-questions.ts';

/** KPIs with questions of their own and some in common, and how many are asked how often. */
const wishes = fc
  .record({
    pools: fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }), {
      minLength: 1,
      maxLength: 6,
    }),
    perWeek: fc.integer({ min: 1, max: 8 }),
    everyWeeks: fc.integer({ min: 1, max: 12 }),
    /** Each how many weeks it asks. */
    step: fc.integer({ min: 1, max: 3 }),
  })
  .map((one) => ({ ...one, questions: new Set(one.pools.flat()) }));
type AskingOptions = typeof wishes extends fc.Arbitrary<infer T> ? T : never;

/** What is asked in each of so many weeks, each `step` weeks after the one before. */
function weeksOf(
  { step, ...choice }: Omit<AskingOptions, 'questions'>,
  count: number,
  asked = new Map<number, number>(),
) {
  return Array.from({ length: count }, (_, i) => {
    const week = i * step;
    const since = new Map([...asked].map(([id, last]) => [id, week - last]));
    const chosen = chooseQuestions(choice, since);
    for (const id of chosen) asked.set(id, week);
    return chosen;
  });
}

test('at most so many a week, each once, only of the KPIs, and none before its weeks have passed', () => {
  fc.assert(
    fc.property(wishes, (wished) => {
      const weeks = weeksOf(wished, 30);
      const last = new Map<number, number>();
      for (const [i, chosen] of weeks.entries()) {
        expect(chosen.length).toBeLessThanOrEqual(wished.perWeek);
        expect(new Set(chosen).size).toBe(chosen.length);
        for (const id of chosen) {
          expect(wished.questions.has(id)).toBe(true);
          expect((i - (last.get(id) ?? -Infinity)) * wished.step).toBeGreaterThanOrEqual(wished.everyWeeks);
          last.set(id, i);
        }
      }
    }),
  );
});

test('each question comes round: as soon as its weeks have passed, or all others have had their turn', () => {
  fc.assert(
    fc.property(wishes, (wished) => {
      const { questions, perWeek, everyWeeks, step } = wished;
      const turns = Math.max(Math.ceil(questions.size / perWeek), Math.ceil(everyWeeks / step));
      const weeks = weeksOf(wished, 4 * turns);
      for (const id of questions) {
        const at = weeks.flatMap((chosen, i) => (chosen.includes(id) ? [i] : []));
        expect(at.length).toBeGreaterThanOrEqual(4);
        for (const [i, one] of at.entries()) expect(one - (at[i - 1] ?? -1)).toBeLessThanOrEqual(turns);
      }
    }),
  );
});

test('as many are asked as may be: a place stays empty only when no other question may come', () => {
  fc.assert(
    fc.property(
      wishes,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 }))),
      (wished, history) => {
        const since = new Map(history);
        const may = [...wished.questions].filter((id) => (since.get(id) ?? Infinity) >= wished.everyWeeks);
        const chosen = chooseQuestions(wished, since);
        expect(chosen).toHaveLength(Math.min(wished.perWeek, may.length));
        // Nobody waits longer than one who is asked.
        const waited = (id: number) => since.get(id) ?? Infinity;
        const left = may.filter((id) => !chosen.includes(id)).map(waited);
        expect(Math.max(0, ...left)).toBeLessThanOrEqual(Math.min(Infinity, ...chosen.map(waited)));
      },
    ),
  );
});

test('the same history gives the same questions, in whatever order it is told', () => {
  fc.assert(
    fc.property(
      wishes,
      fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 })), {
        selector: ([id]) => id,
      }),
      (wished, history) => {
        expect(chooseQuestions(wished, new Map(history.toReversed()))).toEqual(
          chooseQuestions(wished, new Map(history)),
        );
      },
    ),
  );
});

test('a week is about several KPIs: as many as there are places, in the order in which the schedule has them', () => {
  const upTo = (max: number) => fc.integer({ min: 1, max });
  fc.assert(
    fc.property(upTo(6), upTo(8), upTo(8), (kpis, size, perWeek) => {
      const pools = Array.from({ length: kpis }, (_, kpi) =>
        Array.from({ length: size }, (__, i) => kpi * 100 + i),
      );
      const fullWeeks = Math.floor((kpis * size) / perWeek);
      for (const chosen of weeksOf({ pools, perWeek, everyWeeks: 100, step: 1 }, fullWeeks)) {
        const about = new Set(chosen.map((id) => Math.floor(id / 100)));
        expect(about.size).toBe(Math.min(perWeek, kpis));
      }
    }),
  );
});

test('a fixed list is asked as it is, whatever was asked before', () => {
  expect(chooseQuestions({ questionIds: [3, 1, 2] }, new Map([[1, 1]]))).toEqual([3, 1, 2]);
});

test('of questions with the same words one is asked at a time, and the other has its turn', () => {
  const classes = new Map([
    [1, 1],
    [2, 2],
    [3, 1],
  ]);
  expect(chooseQuestions({ classes, questionIds: [3, 2, 1] }, new Map())).toEqual([3, 2]);
  const pools = { classes, pools: [[1, 2, 3]], perWeek: 2, everyWeeks: 1 };
  expect(chooseQuestions(pools, new Map())).toEqual([1, 2]);
  expect(
    chooseQuestions(
      pools,
      new Map([
        [1, 1],
        [2, 1],
      ]),
    ),
  ).toEqual([2, 3]);
});
