// Long downloads in slices: what is asked meanwhile has its turn between them.
import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceRows = 500;

/** The text of rows, some hundreds of them at a time. */
export async function* inSlices<T>(
  rows: readonly T[],
  textOf: (row: T, index: number) => string,
): AsyncGenerator<string> {
  for (let from = 0; from < rows.length; from += sliceRows) {
    yield rows
      .slice(from, from + sliceRows)
      .map((row, i) => textOf(row, from + i))
      .join('');
    // oxlint-disable-next-line no-await-in-loop -- others have their turn
    await nextTurn();
  }
}
