// The attacker on combinations of figures finds the heaviest person: an independent program in Python finds the same weights by linear
// programming, and none below the threshold in what is published.
import { describe, expect, test } from 'vitest';
import { recomputed } from '../../testing/reference/python.ts';
import { randomSegmentWorld } from '../../testing/attacks/segment-worlds.ts';
import { heaviestPerson } from '../../testing/attacks/weights.ts';
import { chooseCells } from '../disclosure/disclosure.ts';
import { chooseSegments } from './choose-segments.ts';

const worlds = Array.from({ length: 20 }, (_, i) => randomSegmentWorld(50_000 + i, [8, 30]));
const groupsOf = (world: (typeof worlds)[number]) => chooseCells(world.groups, world.count, world.threshold);
/** Of each company, what is published, and what a threshold alone would publish. */
const published = worlds.map((world) => {
  const cells = groupsOf(world);
  return [...cells.shown.values(), ...chooseSegments(cells, world.breakdowns, world.threshold).values()];
});
const unprotected = worlds.map((world) => [
  ...groupsOf(world).shown.values(),
  ...world.breakdowns.flat().flatMap(({ people }) => (people.length >= world.threshold ? [people] : [])),
]);

describe('linear programming in Python', () => {
  test('finds the weights that the attacker finds, and none below the threshold', async (context) => {
    const companies = [...published, ...unprotected].map((sets) => sets.map((people) => [...people]));
    const weights = await recomputed<number[]>('weights.py', [JSON.stringify(companies)]);
    if (!weights) return context.skip('SKIPPED: python3 with numpy and scipy is not installed.');
    const found = companies.map((sets) => heaviestPerson(sets)?.weight ?? 1e300);
    const differing = weights.filter((weight, i) => Math.abs(weight - (found[i] as number)) > 1e-3);
    expect(differing).toEqual([]);
    const isBelow = (weight: number, i: number) =>
      weight < (worlds[i % worlds.length] as (typeof worlds)[number]).threshold - 1e-6;
    expect(weights.slice(0, worlds.length).filter(isBelow)).toEqual([]);
    // A threshold alone is broken, so the comparison is about something.
    expect(weights.slice(worlds.length).filter(isBelow).length).toBeGreaterThan(5);
  });
});
