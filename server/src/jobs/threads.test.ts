// Threads: what they post, and how each way to fail is reported. Kept results: one computation at a time, each key once, failures
// again, and never more than the given number.
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { computeOnThread, keepResults, runThread } from './threads.ts';

/** Returns a module with this code. */
const moduleOf = (code: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads'; ${code}`)}`,
  );

test('a computation that takes too long is reported as such, and its thread has ended', async () => {
  const endless = moduleOf('parentPort.postMessage(1); for (;;);');
  const started = once(process, 'worker') as Promise<[Worker]>;
  await expect(computeOnThread(endless, {}, { milliseconds: 50 })).rejects.toThrow(/ took longer than 50 ms/);
  const [thread] = await started;
  expect(thread.threadId).toBe(-1); // what Node reports for a thread that has ended
  // Before it has started, it ends with code 0.
  await expect(runThread(endless, {}, { milliseconds: 1 })).rejects.toThrow(/ took longer than 1 ms/);
});

test('a computation resolves to what it posted; errors, exits and missing results are reported', async () => {
  expect(await computeOnThread(moduleOf('parentPort.postMessage(workerData + 1);'), 41)).toBe(42);
  await expect(computeOnThread(moduleOf('throw new Error("no figures");'), {})).rejects.toThrow('no figures');
  await expect(computeOnThread(moduleOf('process.exit(3);'), {})).rejects.toThrow(/ exited with code 3/);
  await expect(computeOnThread(moduleOf(''), {})).rejects.toThrow(/ ended without a result/);
  await expect(runThread(moduleOf(''), {})).resolves.toBeUndefined();
});

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
