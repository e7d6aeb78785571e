// What can happen to a focus, and what it leads to. Pure.
import type { FocusEventKind, FocusState } from '@soundings/contract/console/focus.ts';

/** What happens to an existing focus. */
export type FocusChange = Exclude<FocusEventKind, 'created'>;

/** Returns the state after a change; undefined if the change is not possible in this state. */
export function stateAfter(state: FocusState, change: FocusChange): FocusState | undefined {
  if (state === 'open') return change === 'reopened' ? undefined : afterOpen[change];
  return change === 'reopened' ? 'open' : undefined;
}

const afterOpen: Record<Exclude<FocusChange, 'reopened'>, FocusState> = {
  changed: 'open',
  onTrack: 'open',
  needsHelp: 'open',
  done: 'done',
  stopped: 'stopped',
};

/** Whether people are informed of a change on their next answering pages. Check-ins and giving up are not news to them. */
export const isAnnounced = (change: FocusChange): boolean =>
  change === 'changed' || change === 'done' || change === 'reopened';

const day = 86_400_000;

/** Whether the monthly check-in of an open focus is due: 30 days after the last one. Times in ms since 1970. */
export const isCheckInDue = (checkedAt: number, now: number): boolean => now - checkedAt >= 30 * day;

/** How long the answering page mentions a focus after it was announced, in days. */
export const announcedDays = 35;
