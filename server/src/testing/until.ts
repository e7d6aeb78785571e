// Waits for another process by checking a condition repeatedly, less and less often, for a limited time.
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the result of the condition once it is truthy. Throws after `ms`. */
export async function until<T>(condition: () => Promise<T | undefined | false>, ms = 150_000): Promise<T> {
  let pause = 10;
  for (const deadline = Date.now() + ms; ;) {
    const met = await condition();
    if (met) return met;
    await sleep(pause);
    // Each check takes time from the process that is waited for.
    pause = Math.min(1.3 * pause, 60);
    if (Date.now() > deadline)
      throw new Error(`The condition is still false after ${ms} ms: ${condition.toString()}`);
  }
}
