// Threads: their results, how each way to fail is reported, and which threads are used again. Kept results: one computation at a time, each key once, failures
// again, and never more than the given number.
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { keepResults, runOnThread, ThreadTimeout } from './threads.ts';

const threads = new URL('threads.ts', import.meta.url).href;

/** Returns a module that handles its work with this code. A different `name` is a different module. */
const moduleOf = (code: string, name = '') =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`/* ${name} */ import { threadId } from 'node:worker_threads'; import { serveThread } from '${threads}'; serveThread(async (work) => { ${code} });`)}`,
  );

const nextThread = async () => ((await once(process, 'worker')) as [Worker])[0];

test('a computation that takes too long is reported as such, and its thread has ended', async () => {
  const endless = moduleOf('for (;;);');
  const started = nextThread();
  await expect(runOnThread(endless, {}, { milliseconds: 300 })).rejects.toThrow(ThreadTimeout);
  expect((await started).threadId).toBe(-1); // what Node reports for a thread that has ended
  // A thread that is ended before it has started ends with code 0.
  await expect(runOnThread(endless, {}, { milliseconds: 1 })).rejects.toThrow(/ took longer than 1 ms/);
});

test('a computation resolves to its result; errors with their fields and exits are reported', async () => {
  expect(await runOnThread(moduleOf('return work + 1;'), 41)).toBe(42);
  await expect(runOnThread(moduleOf(''), {})).resolves.toBeUndefined();
  const failing = moduleOf('throw Object.assign(new Error("no figures"), { code: "empty" });');
  await expect(runOnThread(failing, {})).rejects.toMatchObject({ message: 'no figures', code: 'empty' });
  await expect(runOnThread(moduleOf('process.exit(3);'), {})).rejects.toThrow(/ exited with code 3/);
});

test('an idle thread is used again, but not by another module, with another limit, or after a failure', async () => {
  const module = moduleOf('if (work === "fail") throw new Error("failed"); return threadId;', 'used again');
  const first = await runOnThread<number>(module, 0);
  expect(await runOnThread(module, 0)).toBe(first);
  expect(await runOnThread(module, 0, { heapMb: 64 })).not.toBe(first);
  expect(await runOnThread(moduleOf('return threadId;', 'other'), 0)).not.toBe(first);
  await expect(runOnThread(module, 'fail')).rejects.toThrow('failed');
  expect(await runOnThread(module, 0)).not.toBe(first);
});

test('work at the same time runs on several threads, of which one is kept', async () => {
  const module = moduleOf('return threadId;', 'several');
  const started: Worker[] = [];
  const note = (thread: Worker) => started.push(thread);
  process.on('worker', note);
  const ids = await Promise.all([1, 2, 3].map(() => runOnThread<number>(module, 0)));
  process.off('worker', note);
  expect(new Set(ids).size).toBe(3);
  await expect.poll(() => started.filter(({ threadId }) => threadId !== -1).length).toBe(1);
  expect(ids).toContain(await runOnThread(module, 0));
});

test('a thread that must not be kept ends after its work', async () => {
  const started = nextThread();
  await runOnThread(moduleOf('', 'not kept'), 0, { isKept: false });
  const thread = await started;
  await expect.poll(() => thread.threadId).toBe(-1);
});

test('an idle thread that fails later is forgotten, and the process continues', async () => {
  const module = moduleOf('setTimeout(() => { throw new Error("late"); }, 50); return threadId;', 'late');
  const started = nextThread();
  const id = await runOnThread<number>(module, 0);
  const thread = await started;
  await expect.poll(() => thread.threadId).toBe(-1);
  expect(await runOnThread(module, 0)).not.toBe(id);
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
