// Waiting for what another process does: checked again and again, less and less often, for a limited time.
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns what the condition returns once that is true; throws when `ms` have passed without. */
export async function until<T>(condition: () => Promise<T | undefined | false>, ms = 25_000): Promise<T> {
  let pause = 10;
  for (const deadline = Date.now() + ms; ;) {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    const met = await condition();
    if (met) return met;
    // oxlint-disable-next-line no-await-in-loop -- likewise
    await sleep(pause);
    // Each check takes time that what is waited for needs as well.
    pause = Math.min(1.3 * pause, 60);
    if (Date.now() > deadline) throw new Error(`It has not come true in ${ms} ms: ${condition.toString()}`);
  }
}
