// The promise of segments (decision 27): in every combination of published figures, of groups and of segments, one person has at
// most 1/k of the total weight, and no combination reveals a remainder of a whole-number answer. SEGMENT_ATTACKS=100000 searches more
// companies.
import { describe, expect, test } from 'vitest';
import { randomSegmentWorld, type SegmentWorld } from '../../testing/attacks/segment-worlds.ts';
import {
  noiseThatReveals,
  randomSegmentHistory,
  type Series,
  seriesIn,
} from '../../testing/attacks/segment-histories.ts';
import { heaviestPerson, revealedRemainder } from '../../testing/attacks/weights.ts';
import { chooseCells, setsOf } from '../disclosure/disclosure.ts';
import { chooseSegments, type SegmentSet } from './choose-segments.ts';
import { caseCount } from '../../testing/house/cases.ts';

const attacks = caseCount('SEGMENT_ATTACKS', 300);
const firstSeed = Number(process.env['SEED'] ?? 1);

type Choose = (world: SegmentWorld, cells: ReturnType<typeof chooseCells>) => Map<number, number[]>;

/** Returns a combination in which one person has more than 1/k of the total weight, if the attacker finds one. */
function attacked(world: SegmentWorld, choose: Choose) {
  const cells = chooseCells(world.groups, world.count, world.threshold);
  const shown = choose(world, cells);
  const found = heaviestPerson([...cells.shown.values(), ...shown.values()]);
  return { shown: shown.size, leak: found && found.weight < world.threshold - 1e-6 ? found : undefined };
}

const real: Choose = ({ breakdowns, threshold }, cells) => chooseSegments(cells, breakdowns, threshold);
const all = (sets: readonly SegmentSet[], threshold: number) =>
  sets
    .filter(({ people }) => people.length >= threshold)
    .map(({ segment, people }): [number, number[]] => [segment, [...people]]);

/** Plausible mistakes. `share`: of companies in which the attacker must find a leak. */
const mutants: Record<string, { choose: Choose; share: number }> = {
  'a threshold alone': {
    choose: ({ breakdowns, threshold }) => new Map(breakdowns.flatMap((sets) => all(sets, threshold))),
    share: 0.3,
  },
  'parts of cells of fewer than k people are left out, each by itself': {
    choose: ({ breakdowns, threshold }, { cellOf }) =>
      new Map(
        breakdowns.flat().flatMap(({ segment, people }): [number, number[]][] => {
          const parts = Map.groupBy(people, (person) => cellOf[person]);
          const kept = [...parts].flatMap(([cell, part]) =>
            cell !== 0 && part.length >= threshold ? part : [],
          );
          return kept.length >= threshold ? [[segment, kept]] : [];
        }),
      ),
    share: 0.1,
  },
  'each breakdown is chosen without the others': {
    choose: ({ breakdowns, threshold }, cells) =>
      new Map(breakdowns.flatMap((breakdown) => [...chooseSegments(cells, [breakdown], threshold)])),
    share: 0.01,
  },
  'half of the threshold': {
    choose: ({ breakdowns, threshold }, cells) =>
      new Map(
        [...chooseSegments(cells, breakdowns, threshold / 2)].filter(
          ([, people]) => people.length >= threshold,
        ),
      ),
    share: 0.01,
  },
};

describe('the attacker', () => {
  test(`finds nothing in ${attacks} companies`, { timeout: 300_000 + attacks * 200 }, () => {
    const leaks: object[] = [];
    let shown = 0;
    for (let seed = firstSeed; seed < firstSeed + attacks; seed++) {
      const result = attacked(randomSegmentWorld(seed), real);
      shown += result.shown;
      if (result.leak) leaks.push({ seed, ...result.leak });
    }
    expect(leaks).toEqual([]);
    // The attack is about something: figures are shown.
    expect(shown / attacks).toBeGreaterThan(1);
    process.stdout.write(`${attacks} companies, ${shown} segments shown, no leak\n`);
  });

  test.each(Object.entries(mutants))('breaks a mutant: %s', (name, { choose, share }) => {
    const companies = share < 0.05 ? 300 : 60;
    const enough = share * companies;
    let [tried, broken] = [0, 0];
    while (broken < enough && tried < companies)
      if (attacked(randomSegmentWorld(++tried), choose).leak) broken++;
    process.stdout.write(`${name}: broken in ${broken} of ${tried} companies\n`);
    expect(broken).toBeGreaterThanOrEqual(enough);
  });
});

/** Primes modulo which an attacker tries to separate people. */
const tried = [2, 3, 5, 7, 11];

/** Returns what an attacker finds out about fewer people than the threshold: by one combination, or by remainders of whole numbers. */
const separatedIn = ({ name, threshold, sets }: Series): object[] => {
  const found = heaviestPerson(sets);
  return [
    ...(found && found.weight < threshold - 1e-6 ? [{ name, ...found }] : []),
    ...tried.flatMap((prime) => {
      const people = revealedRemainder(sets, threshold, prime);
      return people ? [{ name, prime, people }] : [];
    }),
  ];
};

describe('many breakdowns at the same time', () => {
  const many = Math.ceil(attacks / 6);

  test(
    `reveal no one in ${many} companies with four to eight breakdowns`,
    { timeout: 300_000 + many * 400 },
    () => {
      const found: object[] = [];
      let shown = 0;
      for (let seed = firstSeed; seed < firstSeed + many; seed++) {
        const { groups, count, threshold, breakdowns } = randomSegmentWorld(seed, [8, 60], [4, 8]);
        const cells = chooseCells(groups, count, threshold);
        const segments = chooseSegments(cells, breakdowns, threshold);
        shown += segments.size;
        const sets = [...cells.shown.values(), ...segments.values()];
        found.push(...separatedIn({ name: `company ${seed}`, threshold, sets, segments: segments.size }));
      }
      expect(found).toEqual([]);
      expect(shown / many).toBeGreaterThan(4);
      process.stdout.write(`${many} companies, ${shown} segments of many breakdowns shown, no leak\n`);
    },
  );

  /** Breakdowns built so that everyone but one person is in `prime` of them, or in none, and the last person in one. */
  function built(prime: number) {
    const blocks = Array.from({ length: prime + 1 }, (_, block) =>
      Array.from({ length: 10 }, (__, i) => 10 * block + i),
    );
    const last = 10 * blocks.length;
    const groups = setsOf(
      last + 61,
      (person) => [1, 10 + (person % 8)],
      () => 1,
    );
    const breakdowns = blocks.map((block, segment) => [
      {
        segment,
        people: [...blocks.filter((one) => one !== block).flat(), ...(segment === 0 ? [last] : [])],
      },
    ]);
    return { cells: chooseCells(groups, last + 61, 5), breakdowns, last };
  }

  test.each([2, 3, 5])(
    'built to reveal the remainder of an answer divided by %i are not all shown',
    (prime) => {
      const { cells, breakdowns, last } = built(prime);
      const everything = [...cells.shown.values(), ...breakdowns.map((one) => one[0]!.people)];
      // No combination depends on few people. But the sum of all of them does, divided by the prime.
      expect(heaviestPerson(everything)!.weight).toBeGreaterThan(5);
      expect(revealedRemainder(everything, 5, prime)).toEqual([last]);
      const shown = chooseSegments(cells, breakdowns, 5);
      expect(
        separatedIn({
          name: 'built',
          threshold: 5,
          sets: [...cells.shown.values(), ...shown.values()],
          segments: 0,
        }),
      ).toEqual([]);
      // The last one is withheld. Those before stay.
      expect([...shown.keys()]).toEqual(breakdowns.slice(0, prime).map((_, segment) => segment));
    },
  );
});

describe('weeks of histories with questions that count as one, noise, several rounds, handed-out links and response rates', () => {
  const histories = Math.ceil(attacks / 5);

  test(
    `reveal no one in ${histories} weeks with up to eight breakdowns`,
    { timeout: 300_000 + histories * 1_000 },
    () => {
      const found: unknown[] = [];
      const shown = { questions: 0, rates: 0, classes: 0, noise: 0 };
      for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
        const world = randomSegmentHistory(seed, [1, 8]);
        for (const series of seriesIn(world)) {
          found.push(...separatedIn(series));
          shown[series.name === 'response rates' ? 'rates' : 'questions'] += series.segments;
        }
        if (world.noise > 0) {
          found.push(...noiseThatReveals(world));
          shown.noise++;
        }
        if (new Set(world.history.classes.values()).size < 3) shown.classes++;
      }
      expect(found).toEqual([]);
      for (const count of Object.values(shown)) expect(count).toBeGreaterThan(histories / 5);
      process.stdout.write(`${histories} weeks, ${JSON.stringify(shown)}, no leak\n`);
    },
  );

  test('are broken with half of the thresholds', () => {
    let broken = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const world = randomSegmentHistory(seed, [3, 8]);
      const { figures, distribution, comments } = world.data.thresholds;
      const half = { figures: Math.ceil(figures / 2), distribution: Math.ceil(distribution / 2), comments };
      const series = seriesIn({ ...world, data: { ...world.data, thresholds: half } });
      if (series.some((one) => separatedIn(one).length > 0)) broken++;
    }
    expect(broken).toBeGreaterThan(2);
  });
});
