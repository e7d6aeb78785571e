// The promise of segments (decision 27): in every combination of published figures, of groups and of segments, one person has at
// most 1/k of the total weight. SEGMENT_ATTACKS=100000 searches more companies.
import { describe, expect, test } from 'vitest';
import { randomSegmentWorld, type SegmentWorld } from '../../testing/attacks/segment-worlds.ts';
import { heaviestPerson } from '../../testing/attacks/weights.ts';
import { chooseCells } from '../disclosure/disclosure.ts';
import { chooseSegments, type SegmentSet } from './choose-segments.ts';

const attacks = Number(process.env['SEGMENT_ATTACKS'] ?? 75);
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
  test(`finds nothing in ${attacks} companies`, { timeout: 60_000 + attacks * 200 }, () => {
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

  test.each(Object.entries(mutants))(
    'breaks a mutant: %s',
    { timeout: 120_000 },
    (name, { choose, share }) => {
      const tried = share < 0.05 ? 300 : 60;
      let broken = 0;
      for (let seed = 1; seed <= tried; seed++) if (attacked(randomSegmentWorld(seed), choose).leak) broken++;
      process.stdout.write(`${name}: broken in ${broken} of ${tried} companies\n`);
      expect(broken / tried).toBeGreaterThanOrEqual(share);
    },
  );
});
