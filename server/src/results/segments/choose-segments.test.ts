// Segments: who counts in which figure. The protection itself is attacked in segments.attack.test.ts.
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { randomSegmentWorld } from '../../testing/attacks/segment-worlds.ts';
import { cases } from '../../testing/house/cases.ts';
import { chooseCells, setsOf } from '../disclosure/disclosure.ts';
import { revealsRemainder, slowlyChosen } from '../../testing/reference/segments.ts';
import { chooseSegments, segmentsHandedOut, type SegmentSet } from './choose-segments.ts';
import { inverseVariation } from './exchanges.ts';
import { dividedBy, undivided } from './parts.ts';
import { emptyInverse } from './positive-matrix.ts';
import { hasRemainder } from './remainders.ts';

/** A company in which everyone is in a team of this size. Teams are cells, and all of them are in group 1. */
function company(teams: number, size: number) {
  const count = teams * size;
  const sets = setsOf(
    count,
    (person) => [1, 100 + Math.floor(person / size)],
    () => 1,
  );
  return { count, cells: chooseCells(sets, count, 5), people: [...Array(count).keys()] };
}

const breakdownOf = (
  people: readonly number[],
  valueOf: (person: number) => number | undefined,
): SegmentSet[] =>
  [...Map.groupBy(people, valueOf)].flatMap(([segment, list]) =>
    segment === undefined ? [] : [{ segment, people: list }],
  );

describe('a segment', () => {
  test('that crosses the teams counts everyone, though each part of a team is small', () => {
    const { cells, people } = company(30, 6);
    const breakdown = breakdownOf(people, (person) => person % 2);
    const shown = chooseSegments(cells, [breakdown], 5);
    expect([...shown.values()].map((list) => list.length)).toEqual([90, 90]);
  });

  test('that consists of whole teams and two people of another team does not count these two', () => {
    const { cells, people } = company(10, 8);
    const site = breakdownOf(people, (person) => (person < 42 ? 1 : 2));
    const shown = chooseSegments(cells, [site], 5);
    expect(shown.get(1)).toEqual(people.slice(0, 40));
    expect(shown.get(2)).toEqual(people.slice(48));
  });

  test('that consists of whole teams counts everyone', () => {
    const { cells, people } = company(10, 8);
    const site = breakdownOf(people, (person) => (person < 40 ? 1 : 2));
    expect(chooseSegments(cells, [site], 5).get(1)).toEqual(people.slice(0, 40));
  });

  test('is withheld without computing for minutes if thousands of people in one cell all differ', () => {
    const { cells, people } = company(1, 8_000);
    const breakdowns = [1, 20, 400].map((divisor) =>
      breakdownOf(people, (person) => 1_000 * divisor + (Math.floor(person / divisor) % 20)),
    );
    expect(chooseSegments(cells, breakdowns, 5)).toEqual(new Map());
  });

  test('of fewer people than the threshold is withheld', () => {
    const { cells, people } = company(10, 8);
    const breakdown = breakdownOf(people, (person) => (person % 20 === 0 ? 1 : 2));
    const shown = chooseSegments(cells, [breakdown], 5);
    expect(shown.has(1)).toBe(false);
  });

  test('does not count people who are in no figure of a group', () => {
    const sets = setsOf(
      43,
      (person) => [person < 40 ? 1 : 2],
      (group) => group,
    );
    const cells = chooseCells(sets, 43, 5);
    const people = [...Array(43).keys()];
    expect(chooseSegments(cells, [[{ segment: 7, people }]], 5).get(7)).toEqual(people.slice(0, 40));
  });

  test('counts everyone who has the value in an account that is not anonymous', () => {
    const sets = setsOf(
      3,
      () => [1],
      () => 1,
    );
    const breakdown = [
      { segment: 1, people: [0] },
      { segment: 2, people: [1, 2] },
    ];
    expect(chooseSegments(chooseCells(sets, 3, 1), [breakdown], 1)).toEqual(
      new Map([
        [1, [0]],
        [2, [1, 2]],
      ]),
    );
  });
});

describe('breakdowns', () => {
  test('leave those before them as they are', () => {
    for (let seed = 1; seed <= cases(60).numRuns; seed++) {
      const { groups, count, threshold, breakdowns } = randomSegmentWorld(seed);
      const cells = chooseCells(groups, count, threshold);
      const all = chooseSegments(cells, breakdowns, threshold);
      for (let some = 1; some < breakdowns.length; some++) {
        for (const [segment, people] of chooseSegments(cells, breakdowns.slice(0, some), threshold)) {
          expect(all.get(segment)).toEqual(people);
        }
      }
    }
  });

  test('have the same people in whatever order people are numbered', () => {
    for (let seed = 1; seed <= cases(30).numRuns; seed++) {
      const { groups, count, threshold, breakdowns } = randomSegmentWorld(seed);
      const random = randomFrom(seed, 'order');
      const order = [...Array(count).keys()].toSorted(() => random.next() - 0.5);
      const moved = <T extends { people: readonly number[] }>(set: T): T => ({
        ...set,
        people: set.people.map((person) => order[person] as number),
      });
      const [cells, others] = [groups, groups.map(moved)].map((sets) => chooseCells(sets, count, threshold));
      const shown = chooseSegments(cells!, breakdowns, threshold);
      const again = chooseSegments(
        others!,
        breakdowns.map((breakdown) => breakdown.map(moved)),
        threshold,
      );
      const sorted = (sets: Map<number, number[]>, number: (person: number) => number) =>
        [...sets].map(([segment, people]) => [segment, people.map(number).toSorted((a, b) => a - b)]);
      expect(sorted(again, (person) => person)).toEqual(sorted(shown, (person) => order[person] as number));
    }
  });

  test('of one question each count a person of both once', () => {
    // A class of two questions: a segment has a set for each of them, and some people answered both.
    const { cells, people } = company(20, 8);
    const breakdown = [
      { segment: 10, people: people.filter((person) => person % 3 === 0) },
      { segment: 11, people: people.filter((person) => person % 3 < 2) },
    ];
    expect([...chooseSegments(cells, [breakdown], 5).keys()]).toEqual([10, 11]);
  });
});

describe('a plain and slow implementation of the same rules', () => {
  test('chooses the same people', () => {
    const shown = { all: 0, some: 0 };
    for (let seed = 1; seed <= cases(120).numRuns; seed++) {
      const { groups, count, threshold, breakdowns } = randomSegmentWorld(seed, [8, 60], [1, 6]);
      const { cellOf } = chooseCells(groups, count, threshold);
      const chosen = chooseSegments({ cellOf }, breakdowns, threshold);
      expect([...chosen], `seed ${seed}`).toEqual([...slowlyChosen({ cellOf, breakdowns, threshold })]);
      const people = [...chosen.values()].flat().length;
      if (people === breakdowns.flat().flatMap((set) => set.people).length) shown.all++;
      else if (people > 0) shown.some++;
    }
    expect(shown.all).toBeGreaterThan(0);
    expect(shown.some).toBeGreaterThan(10);
  });

  test('finds remainders in the same sets', () => {
    let found = 0;
    const tried = cases(120).numRuns;
    for (let seed = 1; seed <= tried; seed++) {
      // Without protection, remainders of few people are frequent. In sets that overlap at random, some differences are independent for
      // some of the primes only.
      const { groups, count, threshold, breakdowns } = randomSegmentWorld(seed, [20, 90], [3, 8]);
      const random = randomFrom(seed, 'sets that overlap');
      const sets = breakdowns
        .flat()
        .map(({ segment, people }): [number, number[]] => [
          segment,
          seed % 2 === 0 ? [...people] : [...Array(count).keys()].filter(() => random.chance(0.5)),
        ]);
      const { cellOf } = chooseCells(groups, count, threshold);
      const division = dividedBy(
        undivided(cellOf),
        sets.map(([, people]) => people),
      );
      const { rank } = inverseVariation(division, emptyInverse);
      const isRevealing = revealsRemainder({ cellOf, threshold }, sets);
      expect(hasRemainder(division, rank, threshold), `seed ${seed}`).toBe(isRevealing);
      if (isRevealing) found++;
    }
    expect(found).toBeGreaterThan(tried / 10);
    expect(found).toBeLessThan((9 * tried) / 10);
  });
});

test('all figures together determine at most 1.5/k of the variance of any answer, with many breakdowns of many values', () => {
  const { count, cells, people } = company(40, 7);
  const random = randomFrom(1, 'many breakdowns');
  const breakdowns = Array.from({ length: 8 }, (_, breakdown) => {
    const values = people.map(() => 100 * breakdown + Math.floor(25 * random.next()));
    return breakdownOf(people, (person) => values[person]);
  });
  const shown = chooseSegments(cells, breakdowns, 5);
  const largest = Math.max(...determined([...cells.shown.values(), ...shown.values()], count));
  expect(shown.size).toBeGreaterThan(5);
  expect(largest).toBeLessThan(1.5 / 5 + 1e-6);
  // A limit for single combinations only would show more.
  const everything = breakdowns.flat().map((set) => set.people);
  expect(Math.max(...determined([...cells.shown.values(), ...everything], count))).toBeGreaterThan(0.5);
});

/** Returns for each person the share of the variance of their answer that the sums over these sets determine (Gram–Schmidt). */
function determined(sets: readonly (readonly number[])[], count: number): number[] {
  const shares = Array.from({ length: count }, () => 0);
  const rows: number[][] = [];
  for (const people of sets) {
    const included = new Set(people);
    let row = shares.map((_, person): number => (included.has(person) ? 1 : 0));
    for (const other of [...rows, ...rows]) {
      const product = other.reduce((sum, value, i) => sum + value * (row[i] as number), 0);
      row = row.map((value, i) => value - product * (other[i] as number));
    }
    const norm = Math.hypot(...row);
    if (norm < 1e-6) continue;
    rows.push(row.map((value) => value / norm));
    for (const [i, value] of row.entries()) shares[i] = (shares[i] as number) + (value / norm) ** 2;
  }
  return shares;
}

test('90% of segments of 15 or more people are shown, with five breakdowns in companies of 150 to 600 people', () => {
  let [large, shown, people, counted] = [0, 0, 0, 0];
  for (let seed = 1; seed <= cases(40).numRuns; seed++) {
    const { cells, breakdowns } = ordinaryCompany(seed);
    const sets = chooseSegments(cells, breakdowns, 5);
    for (const one of breakdowns.flat().filter((set) => set.people.length >= 15)) {
      large++;
      people += one.people.length;
      const own = sets.get(one.segment);
      if (own) shown++;
      counted += own?.length ?? 0;
    }
  }
  process.stdout.write(
    `Shown: ${shown} of ${large} segments, with ${((100 * counted) / people).toFixed(1)} % of their people\n`,
  );
  expect(shown / large).toBeGreaterThanOrEqual(0.9);
  expect(counted / people).toBeGreaterThan(0.75);
});

/** Teams of about eight in departments, of which 75% answer; sites, age, tenure, job families that follow teams, and gender. */
function ordinaryCompany(seed: number) {
  const random = randomFrom(seed, 'ordinary company');
  const below = (count: number) => Math.floor(count * random.next());
  const total = 200 + below(600);
  const teams = Math.round(total / 8);
  const departments = Math.max(1, Math.round(teams / 6));
  const sites = Math.max(2, Math.round(departments / 3));
  const siteOf = Array.from({ length: departments }, () => below(sites));
  const jobOf = Array.from({ length: teams }, () => below(6));
  const answering = Array.from({ length: total }, () => below(teams)).filter(() => random.chance(0.75));
  const breakdowns = [
    (team: number) => (random.chance(0.95) ? (siteOf[team % departments] as number) : below(sites)),
    () => Math.floor(5 * random.next() ** 1.5),
    () => Math.floor(4 * random.next() ** 1.5),
    (team: number) => (random.chance(0.8) ? (jobOf[team] as number) : below(6)),
    () => (random.chance(0.03) ? 2 : below(2)),
  ].map((valueOf, breakdown) => {
    const values = answering.map((team) => 1_000 * (breakdown + 1) + valueOf(team));
    return breakdownOf([...answering.keys()], (person) => values[person]);
  });
  const groups = setsOf(
    answering.length,
    (person) => {
      const team = answering[person] as number;
      return [1, 10 + (team % departments), 10_000 + team];
    },
    () => 1,
  );
  return { cells: chooseCells(groups, answering.length, 5), breakdowns };
}

describe('a segment is marked', () => {
  const { cells, people } = company(30, 8);
  const breakdown = breakdownOf(people, (person) => person % 2);
  const shown = chooseSegments(cells, [breakdown], 5);

  test('when someone who knows the answers through handed-out links could separate others', () => {
    // Seven of eight answers of the first team.
    const usedOwnLink = people.map((person) => person === 0 || person > 7);
    expect(segmentsHandedOut(cells, shown, usedOwnLink, 5)).toEqual(new Set([0, 1]));
  });

  test('never when everyone used a link sent to them, or the others are enough in each cell', () => {
    for (const usedOwnLink of [people.map(() => true), people.map((person) => person % 8 !== 3)]) {
      expect(segmentsHandedOut(cells, shown, usedOwnLink, 5)).toEqual(new Set());
    }
  });

  test('never in an account that is not anonymous', () => {
    expect(
      segmentsHandedOut(
        cells,
        shown,
        people.map(() => false),
        1,
      ),
    ).toEqual(new Set());
  });
});
