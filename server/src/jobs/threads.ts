// Work that computes for long, on a thread of its own: on that of the requests, none would be answered meanwhile.
import { Worker } from 'node:worker_threads';

/** What a thread may take; any amount unless said otherwise. */
export type ThreadLimits = { heapMb?: number; milliseconds?: number };

/**
 * Runs a module on a new thread, which is given `data` as `workerData`. Fulfilled when it has run to its end; rejected
 * with what it threw, or when it ran out of memory or time.
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
      code === 0 ? resolve() : reject(new Error(`A thread has ended with ${code}.`)),
    );
  });
}
