import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Batching } from './batching.ts';

/** Returns a Batching whose batches end when the test ends them. */
function openBatching(limits: { most: number; atOnce: number }) {
  const batches: { key: string; items: number[]; end: PromiseWithResolvers<void> }[] = [];
  const batching = new Batching<number, string>(async (key, items) => {
    const batch = { key, items, end: Promise.withResolvers<void>() };
    batches.push(batch);
    await batch.end.promise;
    return items.map((item) => `${key}${item}`);
  }, limits);
  return { batches, batching };
}

/** Waits until all follow-up work has run. */
const settled = () => new Promise(setImmediate);

test('a single call runs immediately; calls that arrive while it runs are handled together', async () => {
  const { batches, batching } = openBatching({ most: 3, atOnce: 1 });
  const calls = [1, 2, 3, 4, 5].map((item) => batching.do('a', item));
  expect(batches.map(({ items }) => items)).toEqual([[1]]);
  for (let i = 0; i < 3; i++) {
    batches[i]!.end.resolve();
    await settled();
  }
  expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5]]);
  expect(await Promise.all(calls)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
});

test('keys do not wait for each other', () => {
  const { batches, batching } = openBatching({ most: 3, atOnce: 1 });
  void batching.do('a', 1);
  void batching.do('b', 2);
  expect(batches.map(({ key }) => key)).toEqual(['a', 'b']);
});

test('calls get the error of their batch; later calls run', async () => {
  const { batches, batching } = openBatching({ most: 3, atOnce: 1 });
  const [one, other] = [batching.do('a', 1), batching.do('a', 2)];
  batches[0]!.end.reject(new Error('lost'));
  await expect(one).rejects.toThrow('lost');
  await settled();
  batches[1]!.end.resolve();
  expect(await other).toBe('a2');
});

test('in any order of calls and endings, each call gets its own result and the limits are kept', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ key: fc.constantFrom('a', 'b') }),
      fc.record({ end: fc.nat(3), fails: fc.boolean() }),
    ),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (all, most, atOnce) => {
        const { batches, batching } = openBatching({ most, atOnce });
        const outcomes: Promise<string>[] = [];
        const expected: string[] = [];
        const failed = new Set<number>();
        const open = () => batches.filter(({ end }) => !ended.has(end));
        const ended = new Set<PromiseWithResolvers<void>>();
        const finish = (batch: (typeof batches)[number], fails: boolean) => {
          ended.add(batch.end);
          if (fails) for (const item of batch.items) failed.add(item);
          if (fails) batch.end.reject(new Error('failed'));
          else batch.end.resolve();
        };
        for (const step of all) {
          if ('key' in step) {
            expected.push(`${step.key}${expected.length}`);
            outcomes.push(batching.do(step.key, expected.length - 1).catch(() => 'failed'));
          } else {
            const batch = open()[step.end];
            if (batch) finish(batch, step.fails);
            await settled();
          }
          for (const key of ['a', 'b'])
            expect(open().filter((one) => one.key === key).length).toBeLessThanOrEqual(atOnce);
          for (const { items } of batches) expect(items.length).toBeLessThanOrEqual(most);
        }
        while (open().length > 0) {
          finish(open()[0]!, false);
          await settled();
        }
        expect(await Promise.all(outcomes)).toEqual(
          expected.map((one, i) => (failed.has(i) ? 'failed' : one)),
        );
      },
    ),
  );
});
