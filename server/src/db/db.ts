// Connections to PostgreSQL, and the only place where its errors are converted to faults.
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { Fault } from '../base/errors.ts';
import { readJson } from '../base/json/escaped-keys.ts';
import { ofEveryClient, ofEverySession } from './connection-settings.ts';
import {
  beginUntilLost,
  isOfStatement,
  type KnownTypes,
  onFailure,
  readConnectionOn,
  withoutEmptyRows,
  withoutPipelining,
  withRepairedRows,
  withTracedStatements,
} from './postgres-internals.ts';

/** A pool of connections. */
export type Pool = postgres.Sql;
/** Anything that can run a statement: the pool or a transaction. */
export type Db = postgres.ISql;
/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;
/** A statement with its rows. */
export type PendingRows<Row> = postgres.PendingQuery<(Row & postgres.Row)[]>;
/** Only a transaction, for statements that belong together. */
export type Transaction = postgres.TransactionSql;
export type AccountId = number;

export type PoolOptions = {
  /** Whether plans of statements are cached. Default: true. */
  prepare?: boolean;
  /** PostgreSQL settings of these connections. */
  settings?: Record<string, string>;
  /** Whether they go through a pooler that gives each transaction any session. The settings then apply to transactions. */
  isPooled?: boolean;
};

/**
 * For connections that write whole lists. A plan that was made when a table was small must not be used when the table is large: a
 * push of 20,000 users took 29 s on a connection that had handled small pushes before. So our statements are planned each time, and
 * plans of foreign-key checks, which PostgreSQL caches, must not be sequential scans.
 */
export const forWholeLists = {
  prepare: false,
  settings: {
    enable_seqscan: 'off',
    client_connection_check_interval: '10s', // otherwise the lock of a killed service would be kept while it waits
    lock_timeout: '60s', // then 503, because another process is changing the account
  },
} satisfies PoolOptions;

/**
 * Returns settings that limit transactions to `ms`. They are a last resort for statements whose rows are read as fast as a client
 * takes them. Between two batches, PostgreSQL waits in the middle of a statement, where idle_in_transaction_session_timeout and
 * statement_timeout have no effect (measured on 15 and 18). Only transaction_timeout, available since 17, ends such a connection.
 * Before 17, the statement fails when the next batch is read, and the service ends responses that take too long (replica/reads.ts). Between two
 * statements, as `inFetches` has them, an idle transaction is limited.
 */
export async function longestTransaction(pool: Pool, ms: number): Promise<Record<string, string>> {
  const [row] = await pool<{ server_version_num: string }[]>`show server_version_num`;
  const name = Number(row?.server_version_num) >= 170_000 ? 'transaction_timeout' : 'statement_timeout';
  return { [name]: `${ms}ms`, idle_in_transaction_session_timeout: `${ms}ms` };
}

/**
 * Opens a pool of at most `max` connections, which are opened when first needed. Losing the server doesn't end the process: waiting
 * statements fail with a Fault, and the next statement reconnects.
 */
export function openPool(url: string, max: number, options: PoolOptions = {}): Pool {
  const { isPooled = false } = options;
  const settings = {
    max,
    prepare: !isPooled && (options.prepare ?? true), // a session that another connection gets does not know the statement
    idle_timeout: 60,
    connect_timeout: 10,
    backoff: () => 0.2, // seconds between attempts to connect
    onnotice: () => {},
    connection: {
      application_name: 'soundings',
      ...ofEveryClient,
      ...(!isPooled && { ...ofEverySession, ...options.settings }),
    },
    types: {
      // Dates stay text (YYYY-MM-DD), because a Date in local time can shift to another day. The keys of objects can have escapes.
      day: { to: 1082, from: [1082], serialize: (day: string) => day, parse: (day: string) => day },
      json: { to: 114, from: [114, 3802], serialize: JSON.stringify, parse: readJson },
    },
    socket: connectWithoutDelay,
  };
  const opened = postgres(url, settings);
  const types: KnownTypes | undefined = settings.prepare ? undefined : new Map();
  const pool = withRepairedRows(isPooled ? withoutPipelining(opened) : opened, types);
  ofTransactions.set(pool, { types, settings: isPooled ? Object.entries(options.settings ?? {}) : [] });
  return pool;
}

/** The types of the parameters of statements, of pools that prepare none, and the settings of pools whose connections can't have any. */
const ofTransactions = new WeakMap<Pool, { types: KnownTypes | undefined; settings: [string, string][] }>();

/** Sends the settings of a pool with the first statement of a transaction, and runs `work` in it. */
async function withSettings<T>(
  pool: Pool,
  tx: Transaction,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  poolOfTransaction.set(tx, pool);
  const settings = ofTransactions.get(pool)?.settings ?? [];
  if (settings.length === 0) return work(tx);
  const text = settings.map(([name, value]) => `set local ${name} = '${value}'`).join('; ');
  // Without waiting for the answer, which would take a round trip.
  const [, result] = await Promise.all([tx.unsafe(text).execute(), work(tx)]);
  return result;
}

/**
 * Returns a socket for the driver with Nagle's algorithm turned off. COPY ends with small writes, each of which would otherwise wait
 * 40 ms for an acknowledgement: a push of one user took 280 ms instead of 10. The socket may still be connecting; writes wait, and
 * the driver gets errors as with its own sockets.
 */
function connectWithoutDelay(to: { host: string[]; port: number[]; path?: string | false }): Socket {
  const [host = 'localhost', port = 5432] = [to.host[0], to.port[0]];
  const socket = to.path ? connect(to.path) : connect({ host, port, noDelay: true });
  return Object.assign(socket, { host, port });
}

const poolOfTransaction = new WeakMap<Db, Pool>();
/** Returns the pool of a transaction, or `db` itself if it is none. */
export const poolOf = (db: Db): Db => poolOfTransaction.get(db) ?? db;

/** Runs `work` in one transaction. Database errors that callers can act on are thrown as faults. */
export async function inTransaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    const { types } = ofTransactions.get(pool) ?? {};
    return await beginUntilLost(pool, (tx) => withSettings(pool, tx, work), isLoss, types);
  } catch (error) {
    throw asFault(error);
  }
}

/**
 * Runs one statement on a connection that nothing else uses during the statement. COPY needs this: on a pooled connection, the
 * driver would send other statements between the bytes. A transaction would take three round trips instead of one.
 */
export async function onConnection<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    const db = await pool.reserve();
    // The connection is released only if it is known to work. The driver drops lost connections by itself. If a lost connection
    // were released, the driver would send on it.
    const result = await work(withTracedStatements(db)).catch((error: unknown) => {
      if (error instanceof postgres.PostgresError && !isLoss(error)) db.release();
      throw error;
    });
    db.release();
    return result;
  } catch (error) {
    throw asFault(error);
  }
}

/** Ends a cursor when its callback returns this. A pool opens no connection until its first statement. */
const { CLOSE: endOfCursor } = postgres({ max: 1 });

/**
 * Yields the rows of a statement in batches of `size`. Each batch is read from the server only when it is requested, or, with `ahead`, while
 * that many others wait to be requested. Also throws if the connection is lost between two batches, which the driver's async iterator
 * mistakes for the end.
 */
export async function* inBatches<T extends postgres.Row>(
  statement: postgres.PendingQuery<T[]>,
  size: number,
  ahead = 0,
): AsyncGenerator<T[], void> {
  const batches: T[][] = [];
  let changed = Promise.withResolvers<void>();
  let goOn: ((signal?: object) => void) | undefined;
  let isLeft = false;
  let ended: { error?: unknown } | undefined;
  const end = (how: { error?: unknown }) => {
    ended = how;
    changed.resolve();
  };
  const onRows = (rows: T[]) => {
    batches.push(withoutEmptyRows(rows));
    changed.resolve();
    if (isLeft) return endOfCursor;
    if (batches.length <= ahead) return undefined;
    return new Promise<object | undefined>((resolve) => (goOn = resolve));
  };
  statement.cursor(size, onRows as (rows: unknown[]) => object | undefined).then(
    () => end({}),
    (error: unknown) => end({ error }),
  );
  try {
    for (;;) {
      // Batches must be read one at a time, so the loop awaits each.
      await changed.promise;
      for (let rows = batches.shift(); rows; rows = batches.shift()) {
        if (!ended && batches.length < ahead) goOn?.();
        yield rows;
      }
      if (ended && 'error' in ended) throw ended.error;
      if (ended) return;
      changed = Promise.withResolvers();
      goOn?.();
    }
  } finally {
    isLeft = true;
    // After the end, the driver would write to a connection that it may have lost, and end the process.
    if (!ended) goOn?.(endOfCursor);
  }
}

/**
 * Writes rows with COPY. `statement` is `copy … from stdin`. Values are texts, numbers, booleans, bytes or null. Rows that arrive over
 * time, such as those of a file, are passed in batches. COPY is twice as fast as inserting the same rows from arrays. Because it is
 * one statement, references between its rows are checked at the end.
 */
export async function copyInto(
  statement: postgres.PendingQuery<postgres.Row[]>,
  rows: Iterable<readonly CopyValue[]> | AsyncIterable<Iterable<readonly CopyValue[]>>,
): Promise<void> {
  await copyBytes(statement, Symbol.asyncIterator in rows ? copyBatches(rows) : copyFormat(rows));
}

/** Like `copyInto`, for data that is already in the format of `statement`, in chunks. */
export async function copyBytes(
  statement: postgres.PendingQuery<postgres.Row[]>,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  // If the server rejects the rows after the last one was sent, or if the connection is lost, the driver leaves the stream waiting
  // forever.
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  onFailure(statement, failed.reject);
  await Promise.race([pipeline(chunks, await statement.writable()), failed.promise]);
}

/**
 * Yields what `statement`, a `copy … to stdout`, writes, as fast as it is read. If the reader stops early, the statement is cancelled,
 * so that the connection can be used again.
 */
export async function* copyOut(
  statement: postgres.PendingQuery<postgres.Row[]>,
): AsyncGenerator<Buffer, void> {
  let lost: ((error: unknown) => void) | undefined;
  onFailure(statement, (error) => lost?.(error));
  const stream = await statement.readable();
  lost = (error) => stream.destroy(error as Error);
  const closed = new Promise<void>((resolve) => void stream.once('close', resolve));
  try {
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  } finally {
    if (!stream.readableEnded && !stream.destroyed) {
      statement.cancel();
      stream.on('error', () => {}).resume();
    }
    await closed;
    readConnectionOn(stream);
  }
}

export type CopyValue = string | number | boolean | Uint8Array | null;

const chunkLength = 256 * 1024;

async function* copyBatches(
  batches: AsyncIterable<Iterable<readonly CopyValue[]>>,
): AsyncGenerator<Buffer, void> {
  for await (const rows of batches) yield* copyFormat(rows);
}

/** Yields rows in the format of `copy … from stdin`. */
export function* copyFormat(rows: Iterable<readonly CopyValue[]>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) {
      if (i > 0) text += '\t';
      text += copyText(row[i] as CopyValue);
    }
    text += '\n';
    if (text.length > chunkLength) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return value.replace(/[\\\t\n\r]/g, (found) => copyEscapes[found] as string);
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  return String(value);
}

/**
 * Keeps the process running if a connection is lost while it is being opened. In that case the promise of an internal query of the
 * driver is rejected without a handler. `onLost` can log it. Any other unhandled rejection still ends the process.
 */
export function retryLostConnections(onLost: (error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    if (!(asFault(error) instanceof Fault)) throw error;
    onLost(error);
  });
}

const unreachable = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);
// The codes of temporary errors: connection exceptions, operator intervention (shutdown, starting up, time limits), insufficient
// resources.
const passing = /^(08|53|57P|57014|25P0[34])/;

// Shortages of the database are reported as such, so that operators don't look for a network problem.
const shortages = new Map([
  ['53100', 'The database is out of disk space'],
  ['53200', 'The database is out of memory'],
  ['53300', 'All connections to the database are in use'],
]);

// A lock timeout, a deadlock and a serialization failure.
const lostRaces = new Set(['55P03', '40P01', '40001']);

// A foreign key refers to a row that does not exist.
const missingReference = '23503';

/** Returns whether a row could not be written because its account or token was deleted at the same time, as those of a sandbox. */
const isOfAccount = (error: unknown): boolean =>
  /_account_id(_token_id)?_fkey$/.test(String((error as { constraint_name?: string }).constraint_name));

/** Returns whether a transaction failed because of the locks of others, so that it may succeed when it is repeated. */
export const isLostRace = (error: unknown): boolean =>
  error instanceof Fault &&
  typeof error.cause === 'object' &&
  error.cause !== null &&
  'code' in error.cause &&
  lostRaces.has(String(error.cause.code));

/** Returns whether a statement failed because its connection was lost. */
const isLoss = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  isOfStatement(error) && // `work` may have lost another connection
  'code' in error &&
  (unreachable.has(String(error.code)) || /^(57P|25P0[34])/.test(String(error.code)));

/** Returns whether an error is about the database or its connection, and not about what was asked of it. */
export const isOfDatabase = (error: unknown): boolean =>
  error instanceof Fault
    ? error.kind === 'unavailable' && error.cause !== undefined
    : typeof (error as { code?: unknown } | undefined)?.code === 'string';

/** Converts a database error that callers can act on to a fault. Returns any other error unchanged. */
export function asFault(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (lostRaces.has(code)) {
    return new Fault(
      'unavailable',
      'unavailable',
      'The account is being changed by another request. Try again in a moment.',
      { cause: error },
    );
  }
  if (code === missingReference && isOfAccount(error)) {
    return new Fault('not_found', 'account deleted', 'The account was deleted in the meantime.', {
      cause: error,
    });
  }
  if (unreachable.has(code) || passing.test(code)) {
    const message = `${shortages.get(code) ?? 'The database cannot be reached'}. Try again.`;
    return new Fault('unavailable', 'unavailable', message, { cause: error });
  }
  return error;
}
