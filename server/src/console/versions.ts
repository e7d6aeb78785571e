// Versions: what somebody saw who changes a thing as a whole, so that nobody overwrites what another has changed meanwhile.
import { createHash } from 'node:crypto';
import { Fault } from '../base/errors.ts';

/** Another text whenever what can be changed of a thing is other. */
export const versionOf = (state: unknown): string =>
  createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22);

/** Throws a Fault when a thing is no longer what was seen of it. The caller holds the lock of whoever changes it. */
export function refuseChanged(seen: string, state: unknown): void {
  if (versionOf(state) === seen) return;
  throw new Fault(
    'conflict',
    'changed since',
    'Somebody has changed it since it was shown: look at it again.',
  );
}
