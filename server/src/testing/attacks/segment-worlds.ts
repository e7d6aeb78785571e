// Random companies with breakdowns. The same seed gives the same company.
import { type Random, randomFrom } from '../../simulation/random.ts';
import { type GroupSet, setsOf } from '../../results/disclosure/disclosure.ts';
import type { SegmentSet } from '../../results/segments/choose-segments.ts';

export type SegmentWorld = {
  count: number;
  threshold: number;
  groups: GroupSet[];
  breakdowns: SegmentSet[][];
};

/**
 * Returns the people who answered a question, their groups (teams in departments, sometimes some people in a second tree),
 * and some breakdowns. Breakdowns follow the teams or an earlier breakdown more or less closely. Some differ from it for
 * only a few people, because that isolates these people.
 */
export function randomSegmentWorld(
  seed: number,
  people: readonly [number, number] = [8, 45],
  breakdownCount: readonly [number, number] = [1, 3],
): SegmentWorld {
  const random = randomFrom(seed, 'segments');
  const between = (low: number, high: number) => low + Math.floor(random.next() * (high - low + 1));
  const count = between(...people);
  const threshold = between(3, 5);
  const teamSize = between(threshold, 3 * threshold);
  const teams = Math.max(1, Math.round(count / teamSize));
  const departments = between(1, Math.max(1, Math.floor(teams / 2)));
  const teamOf = Array.from({ length: count }, () => between(0, teams - 1));
  const second = random.oneOf([0, 0, 0, 0.2]);
  const projectOf = teamOf.map(() => (random.chance(second) ? between(0, 1) : undefined));
  const groups = setsOf(
    count,
    (person) => {
      const team = teamOf[person] as number;
      const project = projectOf[person];
      const own = [1, 100 + (team % departments), 1_000 + team];
      return project === undefined ? own : [...own, 2, 200 + project];
    },
    (group) => (group === 2 || (group >= 200 && group < 1_000) ? 2 : 1),
  );
  const values = randomBreakdownValues(random, teamOf, breakdownCount);
  return { count, threshold, groups, breakdowns: values.map(setsOfBreakdown) };
}

/** Returns the value of each person in some breakdowns. `count`: how many breakdowns at least and at most. */
export function randomBreakdownValues(
  random: Random,
  teamOf: readonly number[],
  [low, high]: readonly [number, number],
): (number | undefined)[][] {
  const values: (number | undefined)[][] = [];
  for (let left = low + Math.floor(random.next() * (high - low + 1)); left > 0; left--) {
    const copied = random.chance(0.3) ? values.at(-1) : undefined;
    values.push(copied ? nearly(random, copied) : randomValues(random, teamOf));
  }
  return values;
}

/** Returns the values of another breakdown, of which those of one to three people differ. */
function nearly(random: Random, values: readonly (number | undefined)[]): (number | undefined)[] {
  const changed = [...values];
  for (let left = 1 + Math.floor(3 * random.next()); left > 0; left--) {
    changed[Math.floor(values.length * random.next())] = random.oneOf(values);
  }
  return changed;
}

function randomValues(random: Random, teamOf: readonly number[]): (number | undefined)[] {
  const count = 2 + Math.floor(random.next() * 3);
  const offset = Math.floor(random.next() * count);
  // How much the breakdown follows the teams, and how many people have no value.
  const following = random.oneOf([0, 0, 0.5, 0.8, 0.95, 1]);
  const missing = random.oneOf([0, 0, 0.1]);
  const skew = random.oneOf([1, 1, 3]);
  return teamOf.map((team) => {
    if (random.chance(missing)) return undefined;
    return random.chance(following) ? (team + offset) % count : Math.floor(count * random.next() ** skew);
  });
}

function setsOfBreakdown(values: readonly (number | undefined)[], breakdown: number): SegmentSet[] {
  const sets = Map.groupBy(values.keys(), (person) => values[person]);
  return [...sets].flatMap(([value, people]) =>
    value === undefined ? [] : [{ segment: 10_000 * (breakdown + 1) + value, people }],
  );
}
