// Reading a long list in batches inside of a transaction that also runs other statements between them. `inBatches` can't: the driver's
// cursor occupies the connection until the last row.
import type { Db, PendingRows } from './db.ts';

/**
 * Yields the rows of a statement in batches of `size`. Each batch is read from the server when it is requested. `tx`: a transaction, which
 * reads one list at a time; between two batches, it can run other statements.
 */
export async function* inFetches<T extends object>(
  tx: Db,
  statement: PendingRows<T>,
  size: number,
): AsyncGenerator<T[], void> {
  // By default, PostgreSQL plans for the first tenth of the rows. Sent together, which saves a round trip.
  await Promise.all([
    tx.unsafe('set local cursor_tuple_fraction = 1').execute(),
    tx`declare list no scroll cursor for ${statement}`.execute(),
  ]);
  for (;;) {
    // Not prepared: the columns depend on the cursor.
    const rows = await tx.unsafe<T[]>(`fetch ${size} from list`);
    if (rows.length > 0) yield [...rows];
    if (rows.length < size) break;
  }
  // A reader that stops early ends the transaction, and with it the cursor.
  await tx.unsafe('close list');
}
