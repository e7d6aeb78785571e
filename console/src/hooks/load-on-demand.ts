// Loads code and texts on demand. After an update of the service, the files of an open page no longer exist, so the page must be
// reloaded.
import { api, ApiError } from '../api.ts';
import { withStorage } from './browser-storage.ts';

/** Thrown if a file could not be loaded. */
export class NotLoaded extends Error {}

/** Loads a file. Throws NotLoaded. */
export async function loadOnDemand<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new NotLoaded('A part of the console could not be loaded.', { cause });
  }
}

const key = 'soundings.reloaded';
const msBetween = 60_000;

/** Reloads the page, unless it has just been reloaded or the service can't be reached. */
export async function reloadOnce(): Promise<void> {
  if (Date.now() - Number(withStorage(() => sessionStorage.getItem(key))) < msBetween) return;
  try {
    await api('GET /session');
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) return;
  }
  // Without storage, the page would reload again and again.
  if (withStorage(() => sessionStorage.setItem(key, String(Date.now())) ?? true)) location.reload();
}
