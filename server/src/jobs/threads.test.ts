// Kept results: one computation at a time, each key once, failures again, and never more than the given number.
import { expect, test } from 'vitest';
import { keepResults } from './threads.ts';

test('one computation runs at a time, and a key that is being computed is not computed again', async () => {
  const keep = keepResults<string>(10);
  const started: string[] = [];
  const first = Promise.withResolvers<string>();
  const compute = (key: string, result: Promise<string>) =>
    keep(key, () => {
      started.push(key);
      return result;
    });
  const all = [compute('a', first.promise), compute('a', first.promise), compute('b', Promise.resolve('2'))];
  await new Promise(setImmediate);
  expect(started).toEqual(['a']);
  first.resolve('1');
  expect(await Promise.all(all)).toEqual(['1', '1', '2']);
  expect(started).toEqual(['a', 'b']);
});

test('a failure is not kept and does not stop later computations; the oldest results are dropped', async () => {
  const keep = keepResults<number>(2);
  let computed = 0;
  const next = async () => ++computed;
  await expect(keep('a', () => Promise.reject(new Error('out of memory')))).rejects.toThrow('out of memory');
  expect([await keep('a', next), await keep('b', next), await keep('a', next)]).toEqual([1, 2, 1]);
  expect([await keep('c', next), await keep('b', next), await keep('a', next)]).toEqual([3, 2, 4]);
});
