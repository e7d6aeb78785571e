// Runs a check so that it always ends in time with findings, whatever goes wrong in it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { asFault } from '../db/db.ts';
import { type CheckName, type Finding, reportOn } from './findings.ts';

/** Returns the findings of a check, or a problem that says that the check failed or did not end within `ms`. */
export async function endInTime(
  check: CheckName,
  ms: number,
  work: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const { problem } = reportOn(check);
  const ended = new AbortController();
  const late = sleep(ms, undefined, { signal: ended.signal }).then(() => [
    problem('late', `This check did not end within ${ms / 1000} seconds. Try again, and check the network.`),
  ]);
  late.catch(() => {}); // It is aborted when the check ends in time.
  try {
    return await Promise.race([work(), late]);
  } catch (thrown) {
    const error = asFault(thrown);
    if (error instanceof Fault) return [problem('failed', error.message)];
    const { code, message } = error as NodeJS.ErrnoException;
    return [problem('failed', `This check failed: ${message || code || String(error)}.`)];
  } finally {
    ended.abort();
  }
}
