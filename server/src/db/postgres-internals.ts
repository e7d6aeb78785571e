// Everything that relies on undocumented internals of the `postgres` driver, or works around them (docs/decisions/0021). If they ever
// change, COPY fails before it sends a row.
import type { Readable } from 'node:stream';
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import { statementSpan } from './statement-spans.ts';

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
 * Lets the driver read from the connection again after the stream of a COPY has ended. While the stream is full, the driver doesn't
 * read; it goes on when the stream asks for more. If the last rows arrive just then, the stream never asks again, and the next
 * statement would wait forever. Throws nothing if the connection is closed.
 */
export function readConnectionOn(stream: Readable): void {
  try {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- that is its name in Node.js
    stream._read(0);
  } catch {
    // The driver has no connection any more.
  }
}

/**
 * Returns a pool whose statements return only their own rows. If a statement fails after it has returned rows, the driver puts as
 * many empty rows before the rows of the next statement on that connection (porsager/postgres#1119). Only statements outside a
 * transaction need this, because `begin` and `rollback` have no rows.
 */
export const withRepairedRows = (pool: Sql, types?: KnownTypes): Sql =>
  new Proxy(pool, {
    apply: function trap(target, self, parts) {
      return traced(sentDirectly(repairRows(Reflect.apply(target, self, parts) as unknown), types), trap);
    },
  });

/** The types of the parameters of statements that were sent before, by their text. */
export type KnownTypes = Map<string, number[]>;

/** What of a statement of the driver says whether it asks for the types of its parameters first. */
type Described = {
  statement: { string: string; types: number[] } | null;
  describeFirst?: unknown;
  onlyDescribe?: boolean;
};

/** The types of PostgreSQL itself have lower numbers. Others differ between databases. */
const firstOwnType = 16_384;

/** More statements than we have. Texts that are written for one use must not fill the memory. */
const mostKnown = 2_000;

/**
 * Lets the driver send a statement that is not prepared without asking for the types of its parameters first, if they are known from an
 * earlier time. Otherwise each such statement takes two round trips, and none is sent before the one before it has ended.
 */
function sentDirectly<T>(value: T, known: KnownTypes | undefined): T {
  if (!known || !isStatement(value)) return value;
  const query = value as unknown as Described;
  let { statement } = query;
  let [isFirst, isKnown]: [unknown, boolean] = [false, false];
  Object.defineProperties(query, {
    statement: {
      get: () => statement,
      set(next: Described['statement']) {
        statement = next;
        if (!next || next.types.length === 0) return;
        const text = `${next.types.join()} ${next.string}`;
        const types = known.get(text);
        isKnown = types?.every((type) => type > 0 && type < firstOwnType) ?? false;
        if (isKnown) next.types.splice(0, next.types.length, ...(types as number[]));
        // The driver adds the types to this array when it has them.
        else if (known.size < mostKnown) known.set(text, next.types);
      },
    },
    describeFirst: {
      get: () => (query.onlyDescribe === true || !isKnown) && isFirst,
      set(next: unknown) {
        isFirst = next;
      },
    },
  });
  return value;
}

/**
 * Returns a pool that sends a statement only when the one before it on the same connection has ended, except in transactions. Otherwise
 * PgBouncer, which gives the session away as soon as the first statement has ended, could do so while the driver waits for the
 * description of the next one. That would never arrive (seen with PgBouncer 1.18).
 */
export function withoutPipelining(pool: Sql): Sql {
  const alone = (value: unknown) => {
    const { handle, options } = value as { handle?: unknown; options?: { onexecute?: () => boolean } };
    // The driver asks this whether it can send more on the connection.
    if (typeof handle === 'function' && options) options.onexecute = () => false;
    return value;
  };
  return new Proxy(pool, {
    apply: (target, self, parts) => alone(Reflect.apply(target, self, parts)),
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return name === 'unsafe'
        ? (...parts: Parameters<Sql['unsafe']>) => alone(target.unsafe(...parts))
        : value;
    },
  });
}

/** Returns a connection whose statements are traced. */
export const withTracedStatements = <Db extends Sql>(db: Db): Db =>
  new Proxy(db, {
    apply: function trap(target, self, parts) {
      return traced(Reflect.apply(target, self, parts) as unknown, trap);
    },
  });

/** What of a statement of the driver is needed to trace it. */
type Statement = {
  strings: readonly string[];
  /** The driver calls this whenever the statement is to be sent. Only the first call sends it. */
  handle?: () => unknown;
  executed: boolean;
  resolve: (rows: unknown) => void;
  reject: (error: unknown) => void;
};

/**
 * Returns what the driver returned. If it is a statement, and not a helper such as a list of columns, it is traced from when it is sent. It
 * may never be sent, because it may be a part of another one. `trap`: the function that called the driver.
 */
function traced<T>(value: T, trap: (...parts: never[]) => unknown): T {
  const statement = value as Statement;
  const { handle } = statement;
  const begin = typeof handle === 'function' ? statementSpan(statement.strings, trap) : undefined;
  if (!handle || !begin) return value;
  statement.handle = () => {
    const end = statement.executed ? undefined : begin();
    if (end) {
      const { resolve, reject } = statement;
      statement.resolve = (rows) => {
        end();
        resolve(rows);
      };
      statement.reject = (error) => {
        end(error);
        reject(error);
      };
    }
    return handle.call(statement);
  };
  return value;
}

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
 * process (porsager/postgres#1208). So nothing more is sent: later statements are refused, and savepoints are not rolled back. The
 * driver reports the loss by itself, and instead of ending the transaction or a savepoint it waits for a promise that never settles.
 * `isLoss`: whether an error means a lost connection. `types`: those of the parameters of earlier statements.
 */
export async function beginUntilLost<T>(
  pool: Sql,
  work: (tx: TransactionSql) => Promise<T>,
  isLoss: (error: unknown) => boolean,
  types?: KnownTypes,
): Promise<T> {
  const watch: LossWatch = { isLost: false, isLoss, types };
  const begun = pool.begin((tx) => runUntilLost(watch, tx, work));
  begun.catch(() => (watch.isLost = true));
  return (await begun) as T;
}

/** Whether the connection of a transaction is lost. */
type LossWatch = { isLost: boolean; isLoss: (error: unknown) => boolean; types: KnownTypes | undefined };

/**
 * Runs work in a transaction or savepoint and returns its result. If the connection is lost, this never settles: otherwise the driver
 * would send the end. Statements that are sent after the work has ended are refused: PostgreSQL would run them outside of it. This can happen if
 * one of several promises fails.
 */
async function runUntilLost<T>(
  watch: LossWatch,
  tx: TransactionSql,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  const scope = { isEnded: false };
  try {
    const result = await work(refusing(watch, scope, tx));
    return watch.isLost ? await never : result;
  } catch (error) {
    if (watch.isLost || watch.isLoss(error)) return await never;
    throw error;
  } finally {
    scope.isEnded = true;
  }
}

const never = new Promise<never>(() => {});

/**
 * Returns the transaction, which refuses statements once one has failed because the connection was lost, or the driver has reported it,
 * or the work has ended.
 */
function refusing(watch: LossWatch, scope: { isEnded: boolean }, tx: TransactionSql): TransactionSql {
  const watched = <T>(statement: () => T): T => {
    if (watch.isLost) throw lost();
    if (scope.isEnded) throw new Error('A statement was sent after its transaction had ended.');
    const value = statement();
    if (isStatement(value)) onFailure(value, (error) => (watch.isLost ||= watch.isLoss(error)));
    return value;
  };
  return new Proxy(tx, {
    apply: function trap(target, self, parts) {
      const statement = () => sentDirectly(Reflect.apply(target, self, parts) as unknown, watch.types);
      return traced(watched(statement), trap);
    },
    get(target, name, receiver) {
      if (name === 'unsafe')
        return (...parts: Parameters<Sql['unsafe']>) => watched(() => target.unsafe(...parts));
      if (name !== 'savepoint') return Reflect.get(target, name, receiver) as unknown;
      return (work: (inner: TransactionSql) => Promise<unknown>) =>
        target.savepoint((inner) => runUntilLost(watch, inner, work));
    },
  });
}

/** Whether the driver returned a statement, and not a helper such as a list of columns. */
const isStatement = (value: unknown): value is PendingQuery<Row[]> =>
  typeof (value as { handle?: unknown } | null)?.handle === 'function';

const lost = () =>
  Object.assign(new Error('The connection of the transaction was lost.'), { code: 'CONNECTION_CLOSED' });
