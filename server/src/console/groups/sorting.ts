// Sorts long lists, and runs long computations, in slices, so that other requests are handled between them: comparing 60,000 names in a language takes a second.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many entries are sorted before other requests are handled. */
export const sortSlice = 2_000;

/** Returns a list in order, by sorting slices and then merging pairs of them. Equal entries keep their order. */
export async function sortedInSlices<T>(list: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < list.length; from += sortSlice) {
    runs.push(list.slice(from, from + sortSlice).toSorted(compare));
    await nextTurn();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await mergedInSlices(runs[i] as T[], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergedInSlices<T>(one: T[], other: T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    merged.push(compare(one[i] as T, other[j] as T) <= 0 ? (one[i++] as T) : (other[j++] as T));
    if (merged.length % sortSlice === 0) await nextTurn();
  }
  return merged.concat(one.slice(i), other.slice(j));
}

/** Runs a computation that yields now and then, and lets other requests be handled there. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
