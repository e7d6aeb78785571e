// The connection to PostgreSQL, and the one place where its errors become faults.
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { Fault } from '../base/errors.ts';

/** A pool of connections. */
export type Pool = postgres.Sql;
/** What a statement runs on: the pool, or a transaction. */
export type Db = postgres.ISql;
/** Only a transaction: for statements that belong together. */
export type Transaction = postgres.TransactionSql;
export type AccountId = number;

export type PoolOptions = {
  /** Whether statements are planned once and kept. Default: true. */
  prepare?: boolean;
  /** Settings of PostgreSQL for these connections. */
  settings?: Record<string, string>;
};

/**
 * For connections that write whole lists. Plans made when a table was small must not be kept for the day it is large: a
 * push of 20,000 users took 29 s on a connection that had taken small ones before. Ours are made anew; those of
 * foreign-key checks, which PostgreSQL keeps, must not be sequential scans.
 */
export const forWholeLists = {
  prepare: false,
  settings: {
    enable_seqscan: 'off',
    client_connection_check_interval: '10s', // or the lock of a killed service would be kept while it waits
    lock_timeout: '60s', // then 503: the account is busy in another process
  },
} satisfies PoolOptions;

/**
 * What every connection begins with. The server tries silent connections: it ends those of a machine that has lost power or network
 * within a minute, and so their transactions and locks. By default it takes two hours to notice.
 */
export const ofEveryConnection = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
};

/**
 * Returns the settings of connections on which no transaction may last longer than `ms`. This is for statements whose rows
 * are read while a client takes them, should everything else that bounds them fail. Between two batches PostgreSQL waits in
 * the middle of a statement, where idle_in_transaction_session_timeout and statement_timeout do nothing (measured on 15 and
 * 18): only transaction_timeout, since 17, ends such a connection. Before 17 the statement fails when it is read on.
 */
export async function longestTransaction(pool: Pool, ms: number): Promise<Record<string, string>> {
  const [row] = await pool<{ server_version_num: string }[]>`show server_version_num`;
  const name = Number(row?.server_version_num) >= 170_000 ? 'transaction_timeout' : 'statement_timeout';
  return { [name]: `${ms}ms` };
}

/**
 * Opens a pool of at most `max` connections, made when first needed. A lost server ends no process: what was
 * waiting fails with a Fault, and the next statement connects anew.
 */
export function openPool(url: string, max: number, options: PoolOptions = {}): Pool {
  const settings = {
    max,
    prepare: options.prepare ?? true,
    idle_timeout: 60,
    connect_timeout: 10,
    backoff: () => 0.2, // seconds between attempts to connect
    onnotice: () => {},
    connection: {
      application_name: 'soundings',
      TimeZone: 'UTC',
      ...ofEveryConnection,
      ...options.settings,
    },
    // Days stay the text they are (YYYY-MM-DD): a Date in local time has moved many a Monday.
    types: { day: { to: 1082, from: [1082], serialize: (day: string) => day, parse: (day: string) => day } },
    socket: connectWithoutDelay,
  };
  return postgres(url, settings);
}

/**
 * The driver's socket, with Nagle's algorithm off: COPY ends with small writes, each of which would otherwise wait 40 ms
 * for the server's acknowledgement. A push of one user took 280 ms, and takes 10. It need not be connected yet: what is
 * written waits, and the driver hears of a failure as with a socket of its own.
 */
function connectWithoutDelay(to: { host: string[]; port: number[]; path?: string | false }): Socket {
  const [host = 'localhost', port = 5432] = [to.host[0], to.port[0]];
  const socket = to.path ? connect(to.path) : connect({ host, port, noDelay: true });
  return Object.assign(socket, { host, port });
}

/**
 * Runs `work` in one transaction. Errors of the database come out as faults where somebody can act on them.
 *
 * What the driver would send on a connection that is lost, be it only the rollback, throws where nobody catches it and
 * ends the process (porsager/postgres#1208). So nothing is: the driver tells of the loss by itself.
 */
export async function inTransaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let isLost = false;
  const begun = pool.begin((tx) =>
    work(refusingOnce(() => isLost, tx)).catch((error: unknown) =>
      isLost || isLoss(error) ? new Promise<never>(() => {}) : Promise.reject(error),
    ),
  );
  begun.catch(() => (isLost = true));
  try {
    return (await begun) as T;
  } catch (error) {
    throw asFault(error);
  }
}

/**
 * Runs one statement on a connection that nothing else uses meanwhile, as COPY needs it: on one of the pool the driver would
 * send other statements between the bytes. In a transaction it would take three turns instead of one.
 */
export async function onConnection<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    const db = await pool.reserve();
    // Given back when it is known to live. The driver lets go of a lost one by itself, and would send on it otherwise.
    const release = () => db.release();
    return await work(db).then(
      (result) => {
        release();
        return result;
      },
      (error: unknown) => {
        if (error instanceof postgres.PostgresError && !isLoss(error)) release();
        throw error;
      },
    );
  } catch (error) {
    throw asFault(error);
  }
}

function refusingOnce(isLost: () => boolean, tx: Transaction): Transaction {
  return new Proxy(tx, {
    apply(target, self, statement) {
      if (isLost()) throw new Error('The connection of the transaction is lost.');
      return Reflect.apply(target, self, statement) as unknown;
    },
  });
}

/**
 * The rows of a statement in batches of `size`, each read when it is wanted: the next waits on the server until then.
 * Throws also when the connection is lost between two batches, which the driver's own cursor takes for the end.
 */
export async function* inBatches<T extends postgres.Row>(
  statement: postgres.PendingQuery<T[]>,
  size: number,
): AsyncGenerator<T[], void> {
  const query = statement as unknown as { reject: (error: unknown) => void };
  const cursor = statement.cursor(size)[Symbol.asyncIterator]();
  let [isOpen, failure] = [true, undefined as { error: unknown } | undefined];
  try {
    for (;;) {
      const coming = cursor.next(); // makes a new `reject`
      const reject = query.reject;
      query.reject = (error) => {
        isOpen = false;
        failure = { error };
        reject(error);
      };
      // oxlint-disable-next-line no-await-in-loop -- one batch at a time is the point
      const { done, value } = await coming;
      if (done) {
        isOpen = false;
        return;
      }
      yield value;
      if (failure) throw failure.error;
    }
  } finally {
    if (isOpen) await cursor.return?.();
  }
}

/**
 * Writes rows by COPY: `statement` is `copy … from stdin`. Values are texts, numbers, booleans, bytes or null. Rows that
 * come over time, such as those of a file, come in batches.
 * Twice as fast as inserting the same rows from arrays, and as COPY is one statement, references between its rows are
 * checked when all are there.
 */
export async function copyInto(
  statement: postgres.PendingQuery<postgres.Row[]>,
  rows: Iterable<readonly CopyValue[]> | AsyncIterable<Iterable<readonly CopyValue[]>>,
): Promise<void> {
  await copyBytes(statement, Symbol.asyncIterator in rows ? copyBatches(rows) : copyChunks(rows));
}

/** The same of what is already in the form of `statement`, in pieces. */
export async function copyBytes(
  statement: postgres.PendingQuery<postgres.Row[]>,
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  // When the server refuses the rows after the last one was sent, or is lost, the driver tells the query, which was
  // fulfilled when the stream was there; the stream waits for ever. So we listen at the query.
  const query = statement as unknown as { reject: (error: unknown) => void };
  const rejectQuery = query.reject;
  const refused = new Promise<never>((_, reject) => {
    query.reject = (error) => {
      rejectQuery(error);
      reject(error);
    };
  });
  refused.catch(() => {});
  await Promise.race([pipeline(chunks, await statement.writable()), refused]);
}

export type CopyValue = string | number | boolean | Uint8Array | null;

const chunkLength = 256 * 1024;

async function* copyBatches(
  batches: AsyncIterable<Iterable<readonly CopyValue[]>>,
): AsyncGenerator<Buffer, void> {
  for await (const rows of batches) yield* copyChunks(rows);
}

function* copyChunks(rows: Iterable<readonly CopyValue[]>): Generator<Buffer> {
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
 * A connection that is lost while it is being made fails a look-up of the driver's own, which nobody waits for. That is
 * no reason to end the process; `onLost` may log it. Any other rejection that nobody handles still ends it.
 */
export function surviveLostConnections(onLost: (error: unknown) => void): void {
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
// Connection exceptions, operator intervention (shutdown, starting up, time limits), insufficient resources.
const passing = /^(08|53|57P|57014|25P04)/;

// What the database is short of: whoever runs it is to look there, and not for a network.
const shortages = new Map([
  ['53100', 'The database is out of disk space'],
  ['53200', 'The database is out of memory'],
  ['53300', 'All connections to the database are in use'],
]);

// A lock that was not to be had in time, a deadlock, a serialization failure.
const lostRaces = new Set(['55P03', '40P01', '40001']);

/** Whether a statement has failed because its connection is lost. */
const isLoss = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'query' in error && // the driver's own: `work` may have lost another connection
  'code' in error &&
  (unreachable.has(String(error.code)) || /^(57P|25P04)/.test(String(error.code)));

/** What a database error means to a caller; anything else is a defect and comes back as it is. */
export function asFault(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (lostRaces.has(code)) {
    return new Fault('unavailable', 'unavailable', 'The account is being changed at the moment. Try again.', {
      cause: error,
    });
  }
  if (unreachable.has(code) || passing.test(code)) {
    const message = `${shortages.get(code) ?? 'The database cannot be reached'}. Try again.`;
    return new Fault('unavailable', 'unavailable', message, { cause: error });
  }
  return error;
}
