// Which figures may be shown (privacy.md): each rule by itself. disclosure.attack.test.ts searches for a combination of figures
// that breaks them.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { findFew } from '../../testing/attacks/attacker.ts';
import { randomHistory, weekData } from '../../testing/attacks/histories.ts';
import { withDone } from '../../testing/attacks/turnouts.ts';
import { chooseCells, chooseDistributions, type GroupSet } from './disclosure.ts';
import { classFigures, kpiValues, questionFigures } from '../figures.ts';
import { responseRates } from './response-rates.ts';
import { turnoutOf, type WeekData } from '../turnout.ts';

describe('the attacker', () => {
  const cells = (...sets: number[][]) =>
    sets.map((people) => people.map((one) => ({ person: String(one), question: 1 })));

  test('finds the one person that two sums reveal, and the two that three reveal', () => {
    expect(findFew(cells([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5]), 3)).toEqual(['6']);
    const [a, b] = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ] as const;
    expect(findFew(cells([...a, ...b, 9, 10], [...a], [...b]), 3)).toEqual(['9', '10']);
    expect(findFew(cells([...a, ...b, 9, 10], [...a], [...b]), 2)).toBeUndefined();
  });

  test('finds everything that adding and subtracting finds', () => {
    const someSets = fc.array(fc.subarray([0, 1, 2, 3, 4, 5, 6]), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(someSets, fc.integer({ min: 2, max: 4 }), (sets, threshold) => {
        // All sums with each set used −2 to 2 times, and the people that they reveal.
        const sums = Array.from({ length: 5 ** sets.length }, (_, code) => {
          const times = sets.map((_set, i) => (Math.floor(code / 5 ** i) % 5) - 2);
          const sumFor = (one: number) =>
            sets.reduce((sum, set, i) => sum + (set.includes(one) ? (times[i] as number) : 0), 0);
          return [0, 1, 2, 3, 4, 5, 6].filter((one) => sumFor(one) !== 0);
        });
        const isBroken = sums.some((revealed) => revealed.length > 0 && revealed.length < threshold);
        const few = findFew(cells(...sets), threshold) ?? [];
        expect(few.length).toBeLessThan(threshold);
        expect(few.length > 0 || !isBroken).toBe(true);
      }),
    );
  });
});

// Any sets of people, in any trees.

const people = Array.from({ length: 30 }, (_, i) => i);
const anySets = fc
  .array(fc.record({ tree: fc.integer({ min: 1, max: 3 }), people: fc.subarray(people, { minLength: 1 }) }), {
    minLength: 1,
    maxLength: 10,
  })
  .map((sets) => sets.map((set, i): GroupSet => ({ group: i + 1, ...set })));
const threshold = fc.integer({ min: 1, max: 7 });

/** Checks that every set consists of whole cells of at least `k` people. */
function expectCells(sets: Iterable<readonly number[]>, cellOf: ArrayLike<number>, k: number) {
  const members = new Map<number, number[]>();
  for (let person = 0; person < cellOf.length; person++) {
    const cell = cellOf[person] as number;
    members.set(cell, [...(members.get(cell) ?? []), person]);
  }
  for (const set of sets) {
    const cells = [...new Set(set.map((person) => cellOf[person] as number))];
    expect(cells).not.toContain(0);
    expect(set.toSorted((a, b) => a - b)).toEqual(
      cells.flatMap((cell) => members.get(cell) as number[]).toSorted((a, b) => a - b),
    );
    for (const cell of cells) expect(members.get(cell)?.length).toBeGreaterThanOrEqual(k);
  }
}

const asCells = (sets: Iterable<readonly number[]>) =>
  [...sets].map((set) => set.map((person) => ({ person: String(person), question: 1 })));

describe('the cells', () => {
  test('every shown set is a union of cells with at least as many people as the threshold, and no combination is smaller', () => {
    fc.assert(
      fc.property(anySets, threshold, (sets, k) => {
        const { shown, cellOf, sizes } = chooseCells(sets, people.length, k);
        expectCells(shown.values(), cellOf, k);
        const counted = sizes.map((_, cell) => cellOf.filter((one) => one === cell).length);
        expect(counted.slice(1)).toEqual(sizes.slice(1));
        for (const [group, rest] of shown) {
          const own = sets.find((set) => set.group === group)?.people;
          expect(own).toEqual(expect.arrayContaining([...rest]));
        }
        expect(findFew(asCells(shown.values()), k)).toBeUndefined();
      }),
    );
  });

  test('of two nested sets in different trees that differ by fewer people than the threshold, the smaller is withheld', () => {
    fc.assert(
      fc.property(anySets, fc.integer({ min: 2, max: 7 }), fc.nat(), (sets, k, pick) => {
        const [outer] = sets as [GroupSet];
        const more = 1 + (pick % (k - 1));
        fc.pre(outer.people.length > more);
        const inner: GroupSet = { group: 99, tree: 4, people: outer.people.slice(more) };
        expect(chooseCells([...sets, inner], people.length, k).shown.has(99)).toBe(false);
      }),
    );
  });

  test('of two nested sets in different trees that differ by at least as many people as the threshold, both are shown', () => {
    const sizes = fc.record({ k: threshold, inside: fc.nat(5), more: fc.constantFrom(0, 1, 2) });
    fc.assert(
      fc.property(sizes, ({ k, inside, more }) => {
        const inner: GroupSet = { group: 1, tree: 1, people: people.slice(0, k + inside) };
        const outer: GroupSet = { group: 2, tree: 2, people: people.slice(0, 2 * k + inside + more) };
        expect(chooseCells([outer, inner], people.length, k).shown).toEqual(
          new Map([inner, outer].map((set) => [set.group, set.people])),
        );
      }),
    );
  });

  test('the order of groups and the numbering of people do not matter', () => {
    const orders = fc.tuple(
      fc.shuffledSubarray(people, { minLength: people.length }),
      fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
    );
    fc.assert(
      fc.property(anySets, threshold, orders, (sets, k, [numberOf, places]) => {
        const renumbered = sets
          .map((set) => ({ ...set, people: set.people.map((person) => numberOf[person] as number) }))
          .toSorted((a, b) => (places[a.group - 1] as number) - (places[b.group - 1] as number));
        const revealed = (shown: Map<number, readonly number[]>, name: (person: number) => number) =>
          new Map([...shown].map(([group, rest]) => [group, rest.map(name).toSorted((a, b) => a - b)]));
        expect(revealed(chooseCells(renumbered, people.length, k).shown, (person) => person)).toEqual(
          revealed(chooseCells(sets, people.length, k).shown, (person) => numberOf[person] as number),
        );
      }),
    );
  });

  test('in a single tree no group with at least as many people as the threshold is withheld', () => {
    const plain = fc.record({
      above: fc.array(fc.nat(), { maxLength: 15 }),
      homes: fc.array(fc.nat(), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(plain, threshold, ({ above, homes }, k) => {
        const sets = setsOfTree([null, ...above.map((pick, i) => pick % (i + 1))], (group) =>
          homes.flatMap((pick, person) => (pick % (above.length + 1) === group ? [person] : [])),
        );
        const { shown } = chooseCells(sets, homes.length, k);
        for (const { group, people: all } of sets) expect(shown.has(group)).toBe(all.length >= k);
      }),
    );
  });

  test('in an ordinary organization under 2% of the answers are left out of any figure', () => {
    const { sets, count } = ordinaryOrganization();
    const { shown, cellOf } = chooseCells(sets, count, 5);
    const leftOut = new Set<number>();
    for (const { group, people: all } of sets) {
      const rest = new Set(shown.get(group));
      if (rest.size > 0) for (const person of all) if (!rest.has(person)) leftOut.add(person);
    }
    const share = leftOut.size / count;
    process.stdout.write(
      `Of ${count} answers in ${sets.length} groups ${leftOut.size} (${(100 * share).toFixed(2)} %) are left out of ` +
        `some figure, and ${cellOf.filter((cell) => cell === 0).length} of all\n`,
    );
    expect(share).toBeLessThan(0.02);
  });

  test('distributions consist of whole cells of the figures: they leave out no one, or at least as many people as the threshold', () => {
    fc.assert(
      fc.property(anySets, fc.integer({ min: 1, max: 5 }), fc.nat(5), (sets, k, more) => {
        const figures = chooseCells(sets, people.length, k);
        const wide = chooseDistributions(figures, (group) => sets[group - 1]?.tree as number, k + more);
        const distribution = wide.shown;
        expectCells(distribution.values(), wide.cellOf, k + more);
        expectCells(distribution.values(), figures.cellOf, k);
        for (const [group, set] of distribution) {
          const all = figures.shown.get(group) as number[];
          expect(all).toEqual(expect.arrayContaining([...set]));
          const leftOut = all.length - set.length;
          expect(leftOut === 0 || leftOut >= k).toBe(true);
        }
        expect(findFew(asCells(distribution.values()), k + more)).toBeUndefined();
        expect(findFew(asCells([...figures.shown.values(), ...distribution.values()]), k)).toBeUndefined();
      }),
    );
  });
});

/** The sets of a tree: each group's own people and those of its descendants. `parents`: of groups 0, 1, … */
function setsOfTree(parents: (number | null)[], own: (group: number) => number[]): GroupSet[] {
  const sets = parents.map((_, group) => ({ group, tree: 0, people: own(group) }));
  for (let group = parents.length - 1; group > 0; group--) {
    // Parents come first, so the group already has all its descendants' people.
    sets[parents[group] as number]?.people.push(...(sets[group] as GroupSet).people);
  }
  return sets.filter((set) => set.people.length > 0);
}

/** Creates 2,000 groups on four levels, a manager in each inner one, and about 11,000 people who have answered. */
function ordinaryOrganization(): { sets: GroupSet[]; count: number } {
  const random = randomFrom(1, 'ordinary');
  const parents: (number | null)[] = [null];
  for (const [start, end, above] of [
    [1, 16, 0],
    [16, 220, 1],
    [220, 2000, 16],
  ] as const) {
    for (let id = start; id < end; id++) parents.push(above + Math.floor(random.next() * (start - above)));
  }
  const own: number[][] = parents.map(() => []);
  let count = 0;
  for (const group of own.keys()) {
    const size = parents.includes(group) ? 1 : 4 + Math.floor(random.next() * 9);
    for (let i = 0; i < size; i++) if (random.chance(0.75)) own[group]?.push(count++);
  }
  return { sets: setsOfTree(parents, (group) => own[group] as number[]), count };
}

// Figures.

describe('decisions', () => {
  test('other answers of the same people change only values', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const history = randomHistory(seed);
      const random = randomFrom(seed, 'answers');
      for (const week of history.weeks) {
        for (const [id, answers] of week.answers) {
          const { type } = history.questions[id - 1] as (typeof history.questions)[number];
          const decisions = () => {
            const given = answers.map((one) => ({
              ...one,
              value:
                type <= 4 ? Math.floor(random.next() * (type === 4 ? 2 : 5)) + (type === 4 ? 0 : 1) : null,
              choices: type === 5 || type === 6 ? [random.oneOf(['a', 'b'])] : null,
            }));
            const turnout = turnoutOf(weekData(history, week));
            const { results, comments } = questionFigures({ id, type, options: ['a', 'b'] }, given, turnout);
            return {
              comments,
              results: results.map(({ groupId, value, answers: count, distribution }) => ({
                groupId,
                isValueShown: value !== null,
                count,
                distribution:
                  distribution && Object.values(distribution).reduce((sum, times) => sum + times, 0),
              })),
            };
          };
          expect(decisions()).toEqual(decisions());
        }
      }
    }
  });

  test("if one person of a team is not asked a question with the same wording, no figure reveals that person's answer", () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const data: WeekData = {
      thresholds: { figures: 5, distribution: 10, comments: 10 },
      rounds: [
        { id: 1, groupId: 1, questionIds: [1], aboveIds: [] },
        { id: 2, groupId: 1, questionIds: [2], aboveIds: [] },
      ],
      assignments: names.flatMap((respondent) =>
        [1, 2]
          .filter((roundId) => roundId === 1 || respondent !== 'h')
          .map((roundId) => ({ respondent, roundId, groupIds: [1] })),
      ),
      asked: [{ groupId: 1, questionIds: [1, 2] }],
    };
    const given = (question: number, who: string[]) => ({
      question: { id: question, type: 1 as const, options: [] },
      answers: who.map((respondent) => ({
        respondent,
        value: respondent === 'h' ? 1 : 4,
        choices: null,
        comment: null,
        skipped: false,
        handedOut: false,
        counted: false,
      })),
    });
    const [all, seven] = [given(1, names), given(2, names.slice(0, 7))];
    const shown = classFigures([all, seven], turnoutOf(data)).map(({ results: [result] }) => result);
    expect(shown).toEqual(
      Array.from({ length: 2 }, () => ({
        groupId: 1,
        value: 0.75,
        answers: 7,
        distribution: null,
        handedOut: false,
        noise: 0,
      })),
    );
    // Published separately, they would reveal it: eight answers and seven.
    const alone = [all, seven].map((one) => classFigures([one], turnoutOf(data))[0]?.results[0]?.answers);
    expect(alone).toEqual([8, 7]);
  });

  test('response rates do not reveal what a person who moved between two rounds of a week has done', () => {
    // Group 2 is all of group 1. The person who moved was in group 2 in the first round, and in group 1 itself in the second:
    // asked both questions in both groups, except for the second question in group 2. Only that person is in the difference.
    const names = ['a', 'b', 'c', 'd', 'e', 'mover'];
    const data: WeekData = {
      thresholds: { figures: 5, distribution: 10, comments: 10 },
      rounds: [
        { id: 1, groupId: 2, questionIds: [1], aboveIds: [1] },
        { id: 2, groupId: 1, questionIds: [2], aboveIds: [] },
      ],
      assignments: names.flatMap((respondent) => [
        { respondent, roundId: 1, groupIds: [2, 1] },
        { respondent, roundId: 2, groupIds: respondent === 'mover' ? [1] : [2, 1] },
      ]),
      asked: [
        { groupId: 1, questionIds: [2] },
        { groupId: 2, questionIds: [1, 2] },
      ],
    };
    const rates = (done: [string, number[]][]) =>
      responseRates(withDone(turnoutOf(data), new Map(done.map(([name, ids]) => [name, new Set(ids)]))));
    const others = names.slice(0, 5).map((name): [string, number[]] => [name, [1, 2]]);
    const withMover = rates([...others, ['mover', [2]]]);
    // Group 1 includes that person, so group 2 does not: five people who were asked both.
    expect(withMover).toEqual([
      { groupId: 1, value: 1, people: 6, asked: 5, answered: 5, handedOut: false },
      { groupId: 2, value: 1, people: 6, asked: 5, answered: 5, handedOut: false },
    ]);
    expect(rates([...others, ['mover', []]])).toEqual(withMover);
  });

  test('a KPI is the mean of the values that are shown, and of nothing else', () => {
    const result = (groupId: number, value: number | null) => ({
      groupId,
      value,
      answers: value === null ? null : 5,
      distribution: null,
      handedOut: groupId === 2,
      noise: 0 as const,
    });
    const results = new Map([
      [1, [result(1, 0.25), result(2, null), result(3, null)]],
      [2, [result(1, 0.75), result(2, 0.5), result(3, null)]],
      [3, [result(1, 0.1)]],
    ]);
    expect(
      kpiValues([{ id: 'both', questionIds: [1, 2, 9] }], results, [{ groupId: 1, questionIds: [2] }]),
    ).toEqual([
      { kpiId: 'both', groupId: 1, value: 0.5, handedOut: false, askedWhole: true },
      { kpiId: 'both', groupId: 2, value: 0.5, handedOut: true, askedWhole: false },
      { kpiId: 'both', groupId: 3, value: null, handedOut: false, askedWhole: false },
    ]);
  });
});
