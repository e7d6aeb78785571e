// The cells of a week are the same from the few readings that are read as from all of them.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import type { Reading, Readings } from '../statistics/readings.ts';
import { windowEnding } from '../statistics/rolling.ts';
import { kpiCell, type Statistics } from './statistics-shown.ts';
import { groupsToRead, soughtIn } from './week-readings.ts';

const week = '2026-09-28';
const ids = [1, 2, 3, 4];
const kinds: Comparison[] = ['company', 'halfYear', 'none'];

/** Weeks in which questions were asked at random, and readings of which some are missing or withheld. */
function randomWorld(seed: number) {
  const random = randomFrom(seed, 'readings of a week');
  const weeks = Array.from({ length: 70 }, (_, i): Week => addWeeks(week, i - 69));
  const rate = random.oneOf([0.05, 0.3, 1]);
  const asked = new Map(ids.map((id) => [id, weeks.filter(() => random.chance(rate))]));
  const [missing, withheld] = [random.oneOf([0, 0.2]), random.oneOf([0, 0.1, 0.5])];
  const readingsOfGroup = (): Readings =>
    new Map(
      ids.map((id) => [
        id,
        (asked.get(id) ?? [])
          .filter(() => !random.chance(missing))
          .map((one): Reading => {
            const isWithheld = random.chance(withheld);
            return {
              week: one,
              value: isWithheld ? null : random.next(),
              answers: isWithheld ? null : 5 + Math.floor(40 * random.next()),
              asked: 60,
              handedOut: random.chance(0.1),
            };
          }),
      ]),
    );
  const statistics = {
    questionsOf: () => ids,
    asked,
    variationOf: () => ({ variance: 0.06, steadyShare: 0.2, presentShare: 0.3, sharedMovement: 0.01 }),
    windowOf: (last: Week) => windowEnding(last, 1 + (seed % 13)),
    kpiAt: () => ({ factor: 1, groupVariance: 0.001, cutoffOf: () => ({ level: 0.5, answers: 40 }) }),
  } as unknown as Statistics;
  return { statistics, own: readingsOfGroup(), whole: readingsOfGroup() };
}

test('cells need only the readings that are sought, unless one of them is withheld or missing', () => {
  let few = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const { statistics, own, whole } = randomWorld(seed);
    const all = new Map([
      [1, own],
      [2, whole],
    ]);
    for (const kind of kinds) {
      const sought = soughtIn(week, statistics, kind, ids);
      const isSought = (one: Reading) => sought.some(({ weeks }) => weeks.at(-1) === one.week);
      const some = new Map(
        [...all].map(([groupId, readings]): [number, Readings] => [
          groupId,
          new Map([...readings].map(([id, list]) => [id, list.filter(isSought)])),
        ]),
      );
      const others = groupsToRead(new Map([[1, kind === 'company' ? 2 : undefined]]), some, sought);
      if (others.length === 0) few++;
      const read = new Map([...some, ...[...all].filter(([groupId]) => others.includes(groupId))]);
      const cellOf = (readings: ReadonlyMap<number, Readings>) =>
        kpiCell('pace', week, readings.get(1)!, { kind, whole: readings.get(2)! }, statistics);
      expect(cellOf(read), `seed ${seed}, ${kind}`).toEqual(cellOf(all));
    }
  }
  expect(few).toBeGreaterThan(100);
});
