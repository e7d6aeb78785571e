// Runs long computations on a separate thread. On the main thread they would block all requests.
import { Worker } from 'node:worker_threads';

/** The limits of a thread. A missing value means no limit. */
export type ThreadLimits = { heapMb?: number; milliseconds?: number };

/**
 * Runs a module on a new thread, which receives `data` as `workerData`. Resolves when the module has finished. Rejects with the
 * error it threw, or if it runs out of memory or time.
 */
export async function runThread(module: URL, data: unknown, limits?: ThreadLimits): Promise<void> {
  await computeOnThread(module, data, limits);
}

/** Like `runThread`, and resolves to what the module has posted (`parentPort.postMessage`), or to undefined. */
export function computeOnThread<Result>(
  module: URL,
  data: unknown,
  { heapMb, milliseconds }: ThreadLimits = {},
): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    let posted: Result | undefined;
    const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
    const thread = new Worker(module, { workerData: data, resourceLimits });
    if (milliseconds !== undefined) {
      const late = setTimeout(() => void thread.terminate(), milliseconds);
      thread.once('exit', () => clearTimeout(late));
    }
    thread.once('message', (message: Result) => {
      posted = message;
    });
    thread.once('error', reject);
    thread.once('exit', (code) =>
      code === 0 ? resolve(posted) : reject(new Error(`The thread exited with code ${code}.`)),
    );
  });
}

/**
 * Returns a function that computes what a key stands for, one computation at a time, and keeps the last `mostKept` results. Callers
 * with a key that is being computed get the same result. A failure is not kept.
 */
export function keepResults<Result>(
  mostKept: number,
): (key: string, compute: () => Promise<Result>) => Promise<Result> {
  const kept = new Map<string, Promise<Result>>();
  let last: Promise<unknown> = Promise.resolve();
  return (key, compute) => {
    const known = kept.get(key);
    if (known) return known;
    const result = last.then(compute);
    last = result.catch(() => kept.delete(key));
    kept.set(key, result);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
    return result;
  };
}
