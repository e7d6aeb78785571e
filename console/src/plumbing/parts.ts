// Parts of the console that are loaded when they are needed. After an update of the service those of the page that is open are
// no longer there: then the page has to be loaded anew.
import { api, ApiError } from '../api.ts';
import { keeping } from './keeping.ts';

/** A part could not be loaded. */
export class PartMissing extends Error {}

/** Throws PartMissing. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new PartMissing('A part of the console could not be loaded.', { cause });
  }
}

const key = 'soundings.loadedAnew';
const msBetween = 60_000;

/** Loads the page anew, unless that was done just now, or the service cannot be reached. */
export async function loadAnewOnce(): Promise<void> {
  if (Date.now() - Number(keeping(() => sessionStorage.getItem(key))) < msBetween) return;
  try {
    await api('GET /session');
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) return;
  }
  // Where nothing is kept it would be done again and again.
  if (keeping(() => sessionStorage.setItem(key, String(Date.now())) ?? true)) location.reload();
}
