// Which requests are sent again, and how long the client waits before.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRepeatable, retryAfterIn, waitBefore, waitFor } from './retries.ts';

const now = Date.parse('2026-11-26T20:00:00Z');

test('Retry-After is read in seconds and as an HTTP date, and nothing else is', () => {
  expect(retryAfterIn('0', now)).toBe(0);
  expect(retryAfterIn(' 7 ', now)).toBe(7000);
  expect(retryAfterIn('Thu, 26 Nov 2026 20:00:30 GMT', now)).toBe(30_000);
  expect(retryAfterIn('Thu, 26 Nov 2026 19:00:00 GMT', now)).toBe(0);
  for (const other of [null, '', '-1', '1.5', '1e3', 'soon', 'Thu, yesterday', '9999999999'])
    expect([other, retryAfterIn(other, now)]).toEqual([other, undefined]);
});

test('a wait is never shorter than the service asked for, and otherwise at most 30 s', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.nat(100), fc.option(fc.nat(200_000)), unit, (repeats, asked, random) => {
      const wait = waitBefore(500, repeats, asked ?? undefined, random);
      expect(wait).toBeGreaterThanOrEqual(asked ?? 250);
      expect(wait).toBeLessThanOrEqual(asked === null ? 30_000 : asked + 1000);
    }),
  );
});

test('after a response, a request is sent again only if it was not processed, or if it changes nothing', () => {
  const again = (repeat: 'safe' | 'once') =>
    [400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 504].filter((status) => isRepeatable(status, repeat));
  expect(again('safe')).toEqual([429, 502, 503, 504]);
  expect(again('once')).toEqual([429]);
});

describe('a wait', () => {
  test('ends with the reason of its signal, also if that has aborted before', async () => {
    const controller = new AbortController();
    const wait = waitFor(60_000, controller.signal);
    controller.abort(new Error('stop'));
    await expect(wait).rejects.toThrow('stop');
    await expect(waitFor(60_000, controller.signal)).rejects.toThrow('stop');
  });
});
