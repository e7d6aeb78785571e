// Everything that relies on undocumented internals of the driver `postgres` (docs/decisions/0021). If they ever change, COPY fails
// before it sends a row.
import type { PendingQuery, Row } from 'postgres';

/**
 * Calls `listener` when the driver fails a statement, even if its promise has already been settled. The promise of a COPY is
 * settled when its stream opens. Throws if the driver can't report this, because a rejected COPY would then wait forever.
 */
export function onFailure(statement: PendingQuery<Row[]>, listener: (error: unknown) => void): void {
  const query = statement as unknown as { reject?: (error: unknown) => void };
  const { reject } = query;
  if (typeof reject !== 'function') {
    throw new Error(
      `This version of the driver "postgres" has no "reject" in its queries: see docs/decisions/0021-postgres-internals.md`,
    );
  }
  query.reject = (error) => {
    reject(error);
    listener(error);
  };
}

/**
 * Removes the empty rows that the driver puts before those of a statement, if the previous statement of its connection failed after it
 * had returned rows: one for each of them (porsager/postgres#1119). Only statements outside a transaction need this, because `begin`
 * and `rollback` have no rows.
 */
export function repairRows<T>(statement: T): T {
  const query = statement as { resolve?: (rows: unknown) => void };
  const { resolve } = query;
  if (typeof resolve === 'function') query.resolve = (rows) => resolve(withoutEmptyRows(rows));
  return statement;
}

/** Removes empty elements from the beginning of a list, in place. Returns the list. */
export function withoutEmptyRows<T>(rows: T): T {
  if (!Array.isArray(rows)) return rows;
  let empty = 0;
  while (empty < rows.length && !(empty in rows)) empty++;
  if (empty > 0) rows.splice(0, empty);
  return rows;
}

/**
 * Returns whether the driver threw an error because a statement failed. It adds the statement to such errors, but the types of the
 * driver say so only for those that PostgreSQL sent.
 */
export const isOfStatement = (error: object): boolean => 'query' in error;
