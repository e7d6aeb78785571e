// Simulates breakdowns on a thread, because seconds of computing would block other requests. One simulation at a time.
import { Fault } from '../../base/errors.ts';
import { runOnThread, ThreadTimeout } from '../../jobs/threads.ts';
import type { SimulatedAccount, SimulatedBreakdown } from './simulate.ts';

/** Computes what a breakdown would show; see simulateBreakdown. */
export type SimulateBreakdown = (account: SimulatedAccount) => Promise<SimulatedBreakdown>;

/** The limits of the thread. */
const limits = { heapMb: 1_024, milliseconds: 120_000 };

/** `thread` is the module that computes. */
export function openSimulations(thread: URL): SimulateBreakdown {
  let last: Promise<unknown> = Promise.resolve();
  return (account) => {
    const result = last.then(async () => {
      const found = await runOnThread<SimulatedBreakdown>(thread, account, limits).catch((error: unknown) => {
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
