// The throttle never allows more attempts than its limit, whatever their times and keys, and needs little memory.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Attempts,
  type Backoff,
  delayAfter,
  oneMore,
  openThrottle,
  retryAfterOf,
  tooEarly,
  waitOf,
} from './throttle.ts';

const backoffs = fc.record<Backoff>({
  free: fc.integer({ min: 1, max: 4 }),
  firstWaitMs: fc.integer({ min: 1, max: 2000 }),
  growth: fc.constantFrom('doubles' as const, 'adds' as const),
  longestMs: fc.integer({ min: 1, max: 20_000 }),
  memoryMs: fc.integer({ min: 20_000, max: 60_000 }),
});

describe('a quota', () => {
  const limit = { free: 30, windowMs: 60_000 };

  test('30 attempts a minute are allowed; the next waits until the minute is over', () => {
    let now = 1_000_000;
    const throttle = openThrottle(limit, 10_000, () => now);
    for (let i = 0; i < 30; i++) expect(throttle.attempt('192.0.2.1')).toBe(0);
    expect(throttle.attempt('192.0.2.1')).toBe(60_000);
    now += 59_001;
    expect(retryAfterOf(throttle.attempt('192.0.2.1'))).toBe(1);
    expect(throttle.attempt('192.0.2.2')).toBe(0);
    now += 1000;
    expect(throttle.attempt('192.0.2.1')).toBe(0);
  });

  test('setting the clock back does not block anyone for long', () => {
    let now = 1_000_000_000;
    const throttle = openThrottle(limit, 10_000, () => now);
    for (let i = 0; i < 31; i++) throttle.attempt('192.0.2.1');
    now -= 86_400_000;
    expect(throttle.attempt('192.0.2.1')).toBe(0);
  });

  test('memory is limited: the key whose last attempt is oldest is forgotten', () => {
    const throttle = openThrottle(limit, 10_000, () => 0);
    for (let i = 0; i < 31; i++) {
      throttle.attempt('192.0.2.1');
      throttle.attempt('192.0.2.2');
    }
    for (let i = 0; i < 9_999; i++) throttle.attempt(`10.0.${i >> 8}.${i & 255}`);
    expect(throttle.size).toBe(10_000);
    expect(throttle.attempt('192.0.2.2')).toBe(60_000);
    expect(throttle.attempt('192.0.2.1')).toBe(0);
  });

  const step = fc.record({ key: fc.integer({ min: 0, max: 5 }), afterMs: fc.integer({ min: 0, max: 400 }) });
  const steps = fc.array(step, { maxLength: 80 });

  test('any attempts: a window never has more attempts than allowed, and a wait ends exactly when its window ends', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (all, free) => {
        let now = 0;
        const throttle = openThrottle({ free, windowMs: 1000 }, 6, () => now);
        const windows = new Map<number, { start: number; passed: number }>();
        for (const { key, afterMs } of all) {
          now += afterMs;
          const before = windows.get(key);
          const current = before && now < before.start + 1000 ? before : { start: now, passed: 0 };
          windows.set(key, current);
          const wait = throttle.attempt(String(key));
          expect(wait).toBe(current.passed < free ? 0 : current.start + 1000 - now);
          if (wait === 0) current.passed++;
        }
      }),
    );
  });

  test('any attempts: no more keys than allowed are remembered', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (all, maxKeys) => {
        const throttle = openThrottle(limit, maxKeys, () => 0);
        for (const { key } of all) throttle.attempt(String(key));
        expect(throttle.size).toBe(Math.min(maxKeys, new Set(all.map(({ key }) => key)).size));
      }),
    );
  });
});

describe('a backoff', () => {
  const doubling: Backoff = {
    free: 2,
    firstWaitMs: 1000,
    growth: 'doubles',
    longestMs: 5000,
    memoryMs: 60_000,
  };

  test('waits double or grow evenly, up to the maximum', () => {
    const delays = (limit: Backoff) => [0, 1, 2, 3, 4, 5, 5000].map((count) => delayAfter(count, limit));
    expect(delays(doubling)).toEqual([0, 0, 1000, 2000, 4000, 5000, 5000]);
    expect(delays({ ...doubling, growth: 'adds' })).toEqual([0, 0, 1000, 2000, 3000, 4000, 5000]);
  });

  test('attempts are forgotten some time after the last one, and setting the clock back makes no one wait longer', () => {
    const attempts = { count: 3, at: 100_000 };
    expect(waitOf(attempts, doubling, 100_500)).toBe(1500);
    expect(waitOf(attempts, doubling, 0)).toBe(2000);
    expect(oneMore(attempts, doubling, 160_000)).toEqual({ count: 4, at: 160_000 });
    expect(oneMore(attempts, doubling, 160_001)).toEqual({ count: 1, at: 160_001 });
    expect(waitOf(undefined, doubling, 0)).toBe(0);
  });

  test('any attempts: the free attempts do not wait, and each further one waits exactly as long as necessary', () => {
    fc.assert(
      fc.property(
        backoffs,
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }),
        (limit, pauses) => {
          let [now, attempts, waitless]: [number, Attempts | undefined, number] = [0, undefined, 0];
          for (const pause of pauses) {
            now += pause;
            const wait = waitOf(attempts, limit, now);
            expect(wait).toBeLessThanOrEqual(limit.longestMs);
            expect(waitOf(attempts, limit, now + wait)).toBe(0);
            expect(waitOf(attempts, limit, now + Math.max(0, wait - 1))).toBe(Math.min(1, wait));
            if (wait === 0) {
              waitless = attempts && now === attempts.at ? waitless + 1 : 1;
              attempts = oneMore(attempts, limit, now);
            }
            expect(waitless).toBeLessThanOrEqual(limit.free);
          }
        },
      ),
    );
  });
});

test('the Fault says when to try again, in whole seconds and at least one', () => {
  const faultOf = (ms: number) => {
    const { kind, code, message, retryAfter } = tooEarly(
      'too many attempts',
      'Too many failed attempts.',
      ms,
    );
    return [kind, code, message, retryAfter];
  };
  expect(faultOf(1001)).toEqual([
    'too_many',
    'too many attempts',
    'Too many failed attempts. Try again in 2 seconds.',
    2,
  ]);
  expect(faultOf(0).slice(2)).toEqual(['Too many failed attempts. Try again in 1 second.', 1]);
});
