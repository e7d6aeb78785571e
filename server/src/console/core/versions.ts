// Versions of objects that are saved as a whole, so that no one overwrites a change that someone else has made in the meantime.
import { createHash } from 'node:crypto';
import { changedSince } from '../../base/errors.ts';

/** Returns a text that differs whenever the changeable state differs. */
export const versionOf = (state: unknown): string =>
  createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22);

/** Throws a Fault if the state has changed since it was shown. The caller must have locked it against other changes. */
export function rejectChanged(seen: string, state: unknown): void {
  if (versionOf(state) === seen) return;
  throw changedSince();
}
