// The database and base/throttle.ts make the same decisions, because both compute the wait.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import { type Attempts, oneMore, waitOf } from '../base/throttle.ts';
import { cases } from '../testing/house/cases.ts';
import { openWorld, type World } from '../testing/world.ts';
import { selectFailures, takeBackFailure, upsertFailure } from './sign-in-throttle.sql.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(openLog('silent'));
});
afterAll(() => world.close());

test('any limit, any attempts over time: the database allows and counts the same as base/throttle.ts', async () => {
  const limits = fc.record({
    free: fc.integer({ min: 1, max: 5 }),
    firstWaitMs: fc.constantFrom(1, 500, 1000),
    growth: fc.constant('doubles' as const),
    longestMs: fc.constantFrom(0, 999, 5000, 60_000),
    memoryMs: fc.constantFrom(4000, 20_000, 60_000),
  });
  const pause = fc.oneof(
    fc.integer({ min: -3000, max: 6000 }),
    fc.constantFrom(0, 1, 999, 1000, 1001, 5000, 20_000, 20_001),
  );
  const steps = fc.array(fc.record({ pause, isTakenBack: fc.boolean() }), { minLength: 10, maxLength: 25 });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(limits, steps, async (limit, all) => {
      const key = tokenHash(`any attempts ${++runs}`);
      let [now, attempts]: [number, Attempts | undefined] = [Date.UTC(2026, 10, 18), undefined];
      for (const step of all) {
        now += step.pause;
        const isAllowed = waitOf(attempts, limit, now) === 0;
        expect(await upsertFailure(world.pool, 'pair', key, limit, new Date(now))).toBe(isAllowed);
        if (isAllowed) attempts = oneMore(attempts, limit, now);
        if (isAllowed && step.isTakenBack && attempts) {
          attempts = { ...attempts, count: Math.max(0, attempts.count - 1) };
          await takeBackFailure(world.pool, 'pair', key);
        }
        expect(await selectFailures(world.pool, [['pair', key]])).toEqual([{ kind: 'pair', ...attempts }]);
      }
    }),
    cases(100),
  );
});
