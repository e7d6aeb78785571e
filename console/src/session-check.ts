// Checks who is signed in, and handles a change of user while a page is open.
import type { Session } from '@soundings/contract/console/session.ts';
import { ApiError } from './api.ts';

export const isSamePerson = (one: Session, other: Session): boolean =>
  one.user.id === other.user.id && one.account.id === other.account.id;

type Place = {
  /** Requests the session. Throws an ApiError with status 401 if no one is signed in. */
  request: () => Promise<Session>;
  /** Returns the session that the page shows; null: no one is signed in; undefined: not known yet. */
  shown: () => Session | null | undefined;
  /** Waits until the user has signed in again. */
  signInAgain: () => Promise<void>;
  reload: () => void;
};

/**
 * Returns the session, or null if no one is signed in. If the session of an open page has ended, waits until the user has signed in
 * again. If another user has signed in in another tab in the meantime, reloads the page, so that no user sees another user's data.
 */
export async function checkSession(place: Place): Promise<Session | null> {
  const before = place.shown();
  try {
    const session = await place.request();
    if (before && !isSamePerson(before, session)) place.reload();
    return session;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    if (!before) return null;
    await place.signInAgain();
    return checkSession(place);
  }
}
