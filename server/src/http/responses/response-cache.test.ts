// The cache of responses never exceeds its size, and keeps what was requested most recently.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openResponseCache } from './response-cache.ts';

const responseOf = (size: number) => ({ etag: `W/"${size}"`, headers: {}, bytes: Buffer.alloc(size) });

describe('any uses', () => {
  test('it never exceeds its size, and returns only the last response added under a key', () => {
    const use = fc.record({ key: fc.integer({ min: 0, max: 9 }), size: fc.integer({ min: 0, max: 3_000 }) });
    fc.assert(
      fc.property(fc.array(use, { maxLength: 60 }), fc.integer({ min: 0, max: 40_000 }), (uses, limit) => {
        const cache = openResponseCache(limit);
        const last = new Map<number, number>();
        for (const { key, size } of uses) {
          cache.add(String(key), responseOf(size));
          if (size <= cache.largest) last.set(key, size);
          const kept = [...last].filter(([one]) => cache.get(String(one)) !== undefined);
          for (const [one, bytes] of kept) expect(cache.get(String(one))?.bytes.length).toBe(bytes);
          expect(kept.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });
});

test('the response whose last request is oldest is removed first', () => {
  const cache = openResponseCache(32_000);
  for (let i = 0; i < 12; i++) cache.add(String(i), responseOf(2_000));
  cache.get('0');
  cache.add('12', responseOf(2_000));
  expect(cache.get('0')).toBeDefined();
  expect(cache.get('1')).toBeUndefined();
  expect(cache.get('12')).toBeDefined();
});

test('with size 0 it keeps nothing', () => {
  const cache = openResponseCache(0);
  cache.add('a', responseOf(0));
  expect(cache.get('a')).toBeUndefined();
});
