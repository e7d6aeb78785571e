// Sends long downloads in slices, so that other requests are handled between them.
import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceRows = 500;

/** Yields the text of rows, a few hundred rows at a time. */
export async function* inSlices<T>(
  rows: readonly T[],
  textOf: (row: T, index: number) => string,
): AsyncGenerator<string> {
  for (let from = 0; from < rows.length; from += sliceRows) {
    yield rows
      .slice(from, from + sliceRows)
      .map((row, i) => textOf(row, from + i))
      .join('');
    await nextTurn();
  }
}
