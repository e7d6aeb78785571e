// A part of a transaction whose changes may be undone while its result is kept.
import type { Transaction } from './db.ts';

/** Thrown to undo a savepoint. */
class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('undone');
    this.result = result;
  }
}

/** Runs `work` in a savepoint and returns its result. With `undo(result)`, `work` ends with this result, and its changes are undone. */
export async function inSavepoint<T>(
  tx: Transaction,
  work: (inner: Transaction, undo: (result: T) => never) => Promise<T>,
): Promise<T> {
  const undo = (result: T): never => {
    throw new Undone(result);
  };
  try {
    return (await tx.savepoint((inner) => work(inner, undo))) as T;
  } catch (error) {
    if (error instanceof Undone) return error.result as T;
    throw error;
  }
}
