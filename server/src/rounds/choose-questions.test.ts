// Which questions a schedule asks in a week: each gets its turn, and none is repeated too soon.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseQuestions } from './choose-questions.ts';

/** KPIs with their own and shared questions, and how many are asked how often. */
const anyOptions = fc
  .record({
    pools: fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }), {
      minLength: 1,
      maxLength: 6,
    }),
    perWeek: fc.integer({ min: 1, max: 8 }),
    everyWeeks: fc.integer({ min: 1, max: 12 }),
    /** The schedule asks every `step` weeks. */
    step: fc.integer({ min: 1, max: 3 }),
  })
  .map((one) => ({ ...one, questions: new Set(one.pools.flat()) }));
type AskingOptions = typeof anyOptions extends fc.Arbitrary<infer T> ? T : never;

/** Returns what is asked in `count` weeks, which are `step` weeks apart. */
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

test('a week has at most perWeek questions, only from the KPIs, without duplicates, and repeats none too soon', () => {
  fc.assert(
    fc.property(anyOptions, (options) => {
      const weeks = weeksOf(options, 30);
      const last = new Map<number, number>();
      for (const [i, chosen] of weeks.entries()) {
        expect(chosen.length).toBeLessThanOrEqual(options.perWeek);
        expect(new Set(chosen).size).toBe(chosen.length);
        for (const id of chosen) {
          expect(options.questions.has(id)).toBe(true);
          expect((i - (last.get(id) ?? -Infinity)) * options.step).toBeGreaterThanOrEqual(options.everyWeeks);
          last.set(id, i);
        }
      }
    }),
  );
});

test('each question gets its turn as soon as its weeks have passed or all others have been asked', () => {
  fc.assert(
    fc.property(anyOptions, (options) => {
      const { questions, perWeek, everyWeeks, step } = options;
      const turns = Math.max(Math.ceil(questions.size / perWeek), Math.ceil(everyWeeks / step));
      const weeks = weeksOf(options, 4 * turns);
      for (const id of questions) {
        const at = weeks.flatMap((chosen, i) => (chosen.includes(id) ? [i] : []));
        expect(at.length).toBeGreaterThanOrEqual(4);
        for (const [i, one] of at.entries()) expect(one - (at[i - 1] ?? -1)).toBeLessThanOrEqual(turns);
      }
    }),
  );
});

test('as many questions as possible are asked, so a week has fewer only when no other question is available', () => {
  fc.assert(
    fc.property(
      anyOptions,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 }))),
      (options, history) => {
        const since = new Map(history);
        const may = [...options.questions].filter((id) => (since.get(id) ?? Infinity) >= options.everyWeeks);
        const chosen = chooseQuestions(options, since);
        expect(chosen).toHaveLength(Math.min(options.perWeek, may.length));
        // No question waits longer than one that is asked.
        const weeksSince = (id: number) => since.get(id) ?? Infinity;
        const left = may.filter((id) => !chosen.includes(id)).map(weeksSince);
        expect(Math.max(0, ...left)).toBeLessThanOrEqual(Math.min(Infinity, ...chosen.map(weeksSince)));
      },
    ),
  );
});

test('the same history gives the same questions, in whatever order it is given', () => {
  fc.assert(
    fc.property(
      anyOptions,
      fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20 })), {
        selector: ([id]) => id,
      }),
      (options, history) => {
        expect(chooseQuestions(options, new Map(history.toReversed()))).toEqual(
          chooseQuestions(options, new Map(history)),
        );
      },
    ),
  );
});

test('a week covers as many KPIs as there are places, in the order of the schedule', () => {
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

test('only one of several questions with the same wording is asked at a time, and the other gets its turn later', () => {
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
