// Whether the system keeps its clock synchronized.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Returns whether the system says that its clock is synchronized, by whatever program. Undefined if it doesn't say, for example in a
 * container. No time server is contacted: the system decides which one is used.
 */
export async function isClockSynchronized(program = 'timedatectl', ms = 2000): Promise<boolean | undefined> {
  const asked = promisify(execFile)(program, ['show', '--property=NTPSynchronized', '--value'], {
    timeout: ms,
  });
  const said = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return { yes: true, no: false }[said];
}
