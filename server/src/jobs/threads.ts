// Runs long computations on a separate thread. On the main thread they would block all requests.
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Fault } from '../base/errors.ts';

/** The limits of a thread. A missing value means no limit. */
export type ThreadLimits = { heapMb?: number; milliseconds?: number };

/** The limits of a computation whose result a request waits for. */
const computationLimits = { heapMb: 512, milliseconds: 60_000 };

/**
 * Runs a module on a new thread, which receives `data` as `workerData`. Resolves when the module has finished. Rejects with the
 * error it threw, or if it runs out of memory or time. The thread has ended then.
 */
export async function runThread(module: URL, data: unknown, limits: ThreadLimits = {}): Promise<void> {
  await postedBy(module, data, limits);
}

/** Like `runThread`, and resolves to what the module has posted (`parentPort.postMessage`). */
export async function computeOnThread<Result>(
  module: URL,
  data: unknown,
  limits: ThreadLimits = computationLimits,
): Promise<Result> {
  const posted = await postedBy(module, data, limits);
  if (!posted) throw new Error(`${nameOf(module)} ended without a result.`);
  return posted.message as Result;
}

function postedBy(
  module: URL,
  data: unknown,
  { heapMb, milliseconds }: ThreadLimits,
): Promise<{ message: unknown } | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<{ message: unknown } | undefined>();
  let posted: { message: unknown } | undefined;
  let failure: Error | undefined;
  const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
  const thread = new Worker(module, { workerData: data, resourceLimits });
  const stop = () => {
    failure = new Error(`${nameOf(module)} took longer than ${milliseconds} ms.`);
    void thread.terminate();
  };
  const late = milliseconds === undefined ? undefined : setTimeout(stop, milliseconds);
  thread.once('message', (message: unknown) => (posted = { message }));
  thread.once('error', (error: Error) => (failure ??= error));
  thread.once('exit', (code) => {
    clearTimeout(late);
    if (code === 0 && failure === undefined) resolve(posted);
    else reject(failure ?? new Error(`${nameOf(module)} exited with code ${code}.`));
  });
  return promise;
}

/** Returns an error of a thread as it was thrown there: between threads, a Fault loses its class. */
export function errorOfThread(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'Fault') return error;
  const { kind, code, message, details } = error as Fault;
  return new Fault(kind, code, message, { details });
}

/** Returns the name of a thread for error messages: its file, without the folder. */
const nameOf = (module: URL) => `Thread ${basename(module.pathname)}`;

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
