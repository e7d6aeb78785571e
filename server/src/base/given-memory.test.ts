// Memory that is freed early: only what was given away, and only once.
import { expect, test } from 'vitest';
import { freeGiven, giveAway } from './given-memory.ts';

test('only memory that was given away is freed', () => {
  const [given, kept] = [giveAway(Buffer.alloc(300_000, 1)), Buffer.alloc(300_000, 2)];
  const part = kept.subarray(0, 100_000);
  for (const chunk of [given, given, kept, part, Buffer.from('pooled'), 'text']) freeGiven(chunk);
  expect(given).toHaveLength(0);
  expect(kept.every((byte) => byte === 2)).toBe(true);
  expect(part).toHaveLength(100_000);
});
