// Simulates kinds of segments on a thread, because seconds of computing would block other requests. One simulation at a time.
import { Fault } from '../../base/errors.ts';
import { runOnThread, ThreadTimeout } from '../../jobs/threads.ts';
import type { SimulatedAccount, SimulatedKind } from './simulate.ts';

/** Computes what a kind of segments would show; see simulateKind. */
export type SimulateKind = (account: SimulatedAccount) => Promise<SimulatedKind>;

/** The limits of the thread. */
const limits = { heapMb: 1_024, milliseconds: 120_000 };

/** `thread` is the module that computes. */
export function openSimulations(thread: URL): SimulateKind {
  let last: Promise<unknown> = Promise.resolve();
  return (account) => {
    const result = last.then(async () => {
      const found = await runOnThread<SimulatedKind>(thread, account, limits).catch((error: unknown) => {
        if (error instanceof ThreadTimeout) return undefined;
        throw error;
      });
      if (found) return found;
      throw new Fault('unavailable', 'unavailable', 'The simulation took too long. Try again later.', {
        retryAfter: 60,
      });
    });
    last = result.catch(() => {});
    return result;
  };
}
