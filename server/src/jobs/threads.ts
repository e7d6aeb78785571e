// Work that computes for long, on a thread of its own: on that of the requests, none would be answered meanwhile.
import { Worker } from 'node:worker_threads';

/**
 * Runs a module on a new thread, which is given `data` as `workerData`. Fulfilled when it has run to its end; rejected
 * with what it threw, or when it ran out of memory.
 */
export function runThread(module: URL, data: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(module, { workerData: data });
    thread.once('error', reject);
    thread.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`A thread has ended with ${code}.`)),
    );
  });
}
