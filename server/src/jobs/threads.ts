// Runs long computations on a separate thread. On the main thread they would block all requests.
import { Worker } from 'node:worker_threads';

/** The limits of a thread. A missing value means no limit. */
export type ThreadLimits = { heapMb?: number; milliseconds?: number };

/**
 * Runs a module on a new thread, which receives `data` as `workerData`. Resolves when the module has finished. Rejects with the
 * error it threw, or if it runs out of memory or time.
 */
export function runThread(
  module: URL,
  data: unknown,
  { heapMb, milliseconds }: ThreadLimits = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
    const thread = new Worker(module, { workerData: data, resourceLimits });
    if (milliseconds !== undefined) {
      const late = setTimeout(() => void thread.terminate(), milliseconds);
      thread.once('exit', () => clearTimeout(late));
    }
    thread.once('error', reject);
    thread.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The thread exited with code ${code}.`)),
    );
  });
}
