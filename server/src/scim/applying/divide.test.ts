// A batch that is refused because of some users: everyone else is applied, in a bounded number of runs.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '../../base/errors.ts';
import { applyDivided } from './divide.ts';

const none = { blocked: new Set<string>(), waiting: new Set<string>() };
const refusal = new Fault('invalid', 'invalid value', 'One of them is bad.');

/** Divides a batch with bad users, minute after minute, until only these are left. */
async function divideAll(count: number, bad: ReadonlySet<number>) {
  let users = Array.from({ length: count }, (_, i) => ({ id: String(i) }));
  const refused = new Set<string>();
  const applied: string[] = [];
  const runs: number[] = [];
  while (users.length > 0) {
    let tried = 0;
    const end = await applyDivided([users], (part) => {
      tried++;
      const isBad = part.some(({ id }) => bad.has(Number(id)));
      if (!isBad) applied.push(...part.map(({ id }) => id));
      return Promise.resolve({ ...none, refusal: isBad ? refusal : undefined });
    });
    runs.push(tried);
    for (const id of end.refused) refused.add(id);
    users = users.filter(({ id }) => end.left.has(id));
  }
  return { applied, refused, runs };
}

test('everyone but the bad ones is applied exactly once, in at most 30 runs a minute', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5_000 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 4_999 }), { maxLength: 8 }),
      async (count, drawn) => {
        const bad = new Set(drawn.filter((one) => one < count));
        const { applied, refused, runs } = await divideAll(count, bad);
        expect([...refused].map(Number).toSorted((a, b) => a - b)).toEqual(
          [...bad].toSorted((a, b) => a - b),
        );
        expect(new Set(applied).size).toBe(applied.length);
        expect(applied).toHaveLength(count - bad.size);
        expect(Math.max(...runs)).toBeLessThanOrEqual(30);
        expect(runs.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1 + 4 * bad.size * 14);
      },
    ),
  );
});

/** Applies a batch minute after minute, as a directory does: who was refused waits longer each time, and comes after the others. */
async function divideWithBackoff(count: number, isBad: (id: number) => boolean) {
  type User = { id: string; failures: number; retryAt: number };
  let users: User[] = Array.from({ length: count }, (_, i) => ({ id: String(i), failures: 0, retryAt: 0 }));
  const isWaiting = () => users.some(({ id }) => !isBad(Number(id)));
  let minute = 0;
  let runs = 0;
  for (; isWaiting() && minute < 10_000; minute++) {
    const due = users.filter(({ retryAt }) => retryAt <= minute);
    const batch = due.toSorted((a, b) => Number(a.failures > 0) - Number(b.failures > 0));
    const end = await applyDivided([batch], (part) => {
      runs++;
      const refused = part.some(({ id }) => isBad(Number(id)));
      return Promise.resolve({ ...none, refusal: refused ? refusal : undefined });
    });
    const tried = new Set(batch.map(({ id }) => id));
    users = users.filter(({ id }) => !tried.has(id) || end.refused.has(id) || end.left.has(id));
    for (const user of users.filter(({ id }) => end.refused.has(id)))
      user.retryAt = minute + Math.min(2 ** user.failures++, 60);
  }
  return { minutes: minute, runs };
}

test('with many bad users, all others are applied after a bounded time, although the bad ones are tried again and again', async () => {
  const every = await divideWithBackoff(5_000, (id) => id % 100 === 99);
  expect(every.minutes).toBeLessThanOrEqual(50);
  expect(every.runs).toBeLessThanOrEqual(30 * 50);
  // Three quarters of them are bad, and the good ones are the last.
  const last = await divideWithBackoff(400, (id) => id < 300);
  expect(last.minutes).toBeLessThanOrEqual(60);
});

test('each batch makes progress: someone is applied, or found to be bad', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 5_000 }),
      fc.integer({ min: 1, max: 200 }),
      async (count, gap) => {
        const users = Array.from({ length: count }, (_, i) => ({ id: String(i) }));
        const end = await applyDivided([users], (part) =>
          Promise.resolve({
            ...none,
            refusal: part.some(({ id }) => Number(id) % gap === 0) ? refusal : undefined,
          }),
        );
        expect(end.left.size).toBeLessThan(count);
      },
    ),
  );
});

test('one bad user among 5,000 takes 27 runs at most', async () => {
  const { runs } = await divideAll(5_000, new Set([4_321]));
  expect(runs).toHaveLength(1);
  expect(runs[0]).toBeLessThanOrEqual(27);
});
