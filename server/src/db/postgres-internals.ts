// Everything that relies on undocumented internals of the `postgres` driver, or works around them (docs/decisions/0021). If they ever
// change, COPY fails before it sends a row.
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';

/**
 * Calls `listener` when the driver fails a statement, even if its promise has already been settled. The promise of a COPY is
 * settled when its stream opens. Throws if the driver can't report this, because a rejected COPY would then wait forever.
 */
export function onFailure(statement: PendingQuery<Row[]>, listener: (error: unknown) => void): void {
  const query = statement as unknown as { reject?: (error: unknown) => void };
  const { reject } = query;
  if (typeof reject !== 'function') {
    throw new Error(
      `This version of the "postgres" driver has no "reject" in its queries: see docs/decisions/0021-postgres-internals.md`,
    );
  }
  query.reject = (error) => {
    reject(error);
    listener(error);
  };
}

/**
 * Returns a pool whose statements return only their own rows. If a statement fails after it has returned rows, the driver puts as
 * many empty rows before the rows of the next statement on that connection (porsager/postgres#1119). Only statements outside a
 * transaction need this, because `begin` and `rollback` have no rows.
 */
export const withRepairedRows = (pool: Sql): Sql =>
  new Proxy(pool, {
    apply: (target, self, statement) => repairRows(Reflect.apply(target, self, statement) as unknown),
  });

function repairRows<T>(statement: T): T {
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
 * Returns whether the driver threw an error because a statement failed. The driver adds the statement to all such errors, but its
 * types say so only for errors that PostgreSQL sent.
 */
export const isOfStatement = (error: object): boolean => 'query' in error;

/**
 * Runs `work` in a transaction. Throws the error of `work`, or that of the driver.
 *
 * On a lost connection, anything that the driver sends, even the rollback, throws an error that can't be caught and ends the
 * process (porsager/postgres#1208). So nothing more is sent: later statements are refused. The driver reports the loss by itself,
 * and instead of rolling back it waits for a promise that never settles. `isLoss`: whether an error means a lost connection.
 */
export async function beginUntilLost<T>(
  pool: Sql,
  work: (tx: TransactionSql) => Promise<T>,
  isLoss: (error: unknown) => boolean,
): Promise<T> {
  let isLost = false;
  const begun = pool.begin((tx) =>
    work(refusingOnce(() => isLost, tx)).catch((error: unknown) =>
      isLost || isLoss(error) ? new Promise<never>(() => {}) : Promise.reject(error),
    ),
  );
  begun.catch(() => (isLost = true));
  return (await begun) as T;
}

function refusingOnce(isLost: () => boolean, tx: TransactionSql): TransactionSql {
  return new Proxy(tx, {
    apply(target, self, statement) {
      if (isLost()) throw new Error('The connection of the transaction was lost.');
      return Reflect.apply(target, self, statement) as unknown;
    },
  });
}
