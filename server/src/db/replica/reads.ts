// Where responses that depend on nothing but the version of an account are read: from a replica, if it has exactly this version, and
// otherwise from the primary server. So no one can see from a response where it was read (docs/decisions/0059).
import { Fault } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type Db, isOfDatabase, openPool, type Pool } from '../db.ts';
import {
  type AtVersion,
  inTime,
  late,
  openCurrentSnapshot,
  openSnapshot,
  type Snapshot,
} from './snapshots.ts';
import type { ReplicaFacts } from './states.ts';
import { type Watch, watchReplica } from './watch.ts';

/** A part of a response: text, or bytes that are not changed until they are sent. Their memory may then be freed, so no one keeps them. */
export type Chunk = string | Uint8Array;

/** Reads an account. */
export type Reading = {
  /** Runs `work`, which only reads. If the replica fails, `work` runs again on the primary server. */
  once<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Yields what `chunks` yields. `rows`: a transaction that sees one state of the database, however long the response takes. `db`: for other
   * statements while `rows` is occupied; they can see a later state. If the replica fails, the rest comes from the primary server, if the account has
   * not changed.
   */
  stream(chunks: (rows: Db, db: Db) => AsyncIterable<Chunk>): AsyncIterable<Chunk>;
};

/** `served`: how often the replica was read. `left`: how often the primary server was read instead. */
export type ReadFacts = ReplicaFacts & { served: number; left: number };

export type Reads = {
  of(account: AtVersion): Reading;
  /** Always reads from the primary server: what can change without the version of the account. */
  primary: Reading;
  /** Undefined without a replica. */
  facts(): ReadFacts | undefined;
  close(): Promise<void>;
};

/**
 * `pool`: for short statements. `reads`: for streamed responses only, two for each if there is a replica; closed with the rest. `longestRead`: how
 * long a response may take, in ms.
 */
type Primary = { pool: Pool; reads: Pool; longestRead?: number };

const readingOf = (primary: Primary): Reading => ({
  once: (work) => work(primary.pool),
  stream: (chunks) => streamPrimary(primary, chunks),
});

async function* streamPrimary(
  { pool, reads, longestRead }: Primary,
  chunks: Parameters<Reading['stream']>[0],
): AsyncGenerator<Chunk> {
  const rows = await openCurrentSnapshot(reads);
  try {
    yield* within(longestRead, chunks(rows.db, pool));
  } finally {
    rows.end();
  }
}

/**
 * Yields chunks for at most `ms` milliseconds. Then it throws a Fault, because the snapshot keeps PostgreSQL from removing deleted rows. Since version
 * 17, PostgreSQL also limits transactions itself.
 */
async function* within(ms = Infinity, chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  const end = performance.now() + ms;
  for await (const chunk of chunks) {
    if (performance.now() > end)
      throw new Fault('unavailable', 'unavailable', 'Reading the response took too long.');
    yield chunk;
  }
}

/** Returns what reads everything from the primary server. */
export const readPrimary = (primary: Primary): Reads => ({
  of: () => readingOf(primary),
  primary: readingOf(primary),
  facts: () => undefined,
  close: () => primary.reads.end({ timeout: 5 }),
});

/** How long a read waits for a connection to the replica, and how long a short read may take there, in ms. */
const [longestOpening, longestWork] = [1_000, 20_000];
/** The maximum number of connections to the replica: for short reads, and for streamed responses, which take two each. */
const [shortReads, streams] = [10, 12];

/** `settings`: of the connections for streamed responses. Does not wait for the replica. */
export function openReplica(
  url: string,
  primary: Primary,
  settings: Record<string, string>,
  log: Log,
): Reads {
  // The replay of a migration locks tables.
  const lock_timeout = `${longestOpening}ms`;
  const short = openPool(url, shortReads, {
    settings: { statement_timeout: `${longestWork}ms`, lock_timeout },
  });
  const long = openPool(url, streams, { settings: { ...settings, lock_timeout } });
  const watch = watchReplica(url, primary.pool, log);
  const counted = { served: 0, left: 0 };
  const replica: Replica = {
    open: (pool, account, count) => openSnapshots(watch, pool, account, count),
    onServed: () => counted.served++,
    onLeft: () => counted.left++,
    onFailure(error) {
      if (!isOfDatabase(error)) throw error;
      counted.left++;
      log.debug({ err: error }, 'Reading from the replica failed. The primary server is read instead');
      watch.checkNow();
    },
  };
  return {
    of: (account) => ({
      once: (work) => readOnce(replica, { short, primary }, account, work),
      stream: (chunks) => stream(replica, { long, primary }, account, chunks),
    }),
    primary: readingOf(primary),
    facts: () => ({ ...watch.facts(), ...counted }),
    async close() {
      const pools = [short, long, primary.reads];
      await Promise.all([watch.close(), ...pools.map((pool) => pool.end({ timeout: 5 }))]);
    },
  };
}

type Replica = {
  /** Opens `count` snapshots, or none. */
  open: (pool: Pool, account: AtVersion, count: number) => Promise<Snapshot[]>;
  onServed: () => void;
  onLeft: () => void;
  /** Throws the error again unless it is about the replica. */
  onFailure: (error: unknown) => void;
};

async function openSnapshots(
  watch: Watch,
  pool: Pool,
  account: AtVersion,
  count: number,
): Promise<Snapshot[]> {
  if (watch.facts().state !== 'ok') return [];
  const opening = Array.from({ length: count }, () => openSnapshot(pool, account, 'replica'));
  const opened = await Promise.all(opening.map((one) => inTime(one, longestOpening).catch(() => late)));
  const ready = opened.filter((one) => one !== late && one !== undefined) as Snapshot[];
  if (ready.length === count) return ready;
  if (opened.includes(late)) watch.checkNow();
  for (const one of opening) one.then((snapshot) => snapshot?.end()).catch(() => {});
  return [];
}

async function readOnce<T>(
  replica: Replica,
  { short, primary }: { short: Pool; primary: Primary },
  account: AtVersion,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const [snapshot] = await replica.open(short, account, 1);
  if (!snapshot) {
    replica.onLeft();
    return work(primary.pool);
  }
  try {
    const result = await inTime(work(snapshot.db), longestWork);
    if (result !== late) {
      replica.onServed();
      return result as T;
    }
    replica.onLeft();
  } catch (error) {
    replica.onFailure(error);
  } finally {
    snapshot.end();
  }
  return work(primary.pool);
}

async function* stream(
  replica: Replica,
  { long, primary }: { long: Pool; primary: Primary },
  account: AtVersion,
  chunks: Parameters<Reading['stream']>[0],
): AsyncGenerator<Chunk> {
  const [rows, db] = await replica.open(long, account, 2);
  if (!rows || !db) {
    replica.onLeft();
    return yield* streamPrimary(primary, chunks);
  }
  let sent = 0;
  let failure: unknown;
  try {
    for await (const chunk of within(primary.longestRead, chunks(rows.db, db.db))) {
      sent += Buffer.byteLength(chunk);
      yield chunk;
    }
    replica.onServed();
    return;
  } catch (error) {
    replica.onFailure(error);
    failure = error;
  } finally {
    rows.end();
    db.end();
  }
  if (sent === 0) yield* streamPrimary(primary, chunks);
  else yield* restOf(primary, account, chunks, { sent, failure });
}

/** Yields what follows the first `sent` bytes of a response. Throws `failure` if the account has changed, so that they may differ. */
async function* restOf(
  { reads, longestRead }: Primary,
  account: AtVersion,
  chunks: Parameters<Reading['stream']>[0],
  { sent, failure }: { sent: number; failure: unknown },
): AsyncGenerator<Chunk> {
  const rows = await openSnapshot(reads, account, 'primary');
  // Not from `pool`: a client can read for half an hour, and everything else would wait for the connections.
  const db = rows && (await openSnapshot(reads, account, 'primary').catch(() => undefined));
  try {
    if (!rows || !db) throw failure;
    yield* within(longestRead, chunksAfter(sent, chunks(rows.db, db.db)));
  } finally {
    rows?.end();
    db?.end();
  }
}

/** Yields what follows the first `bytes` bytes of chunks. The chunks don't have to be divided as those that were sent were. */
export async function* chunksAfter(bytes: number, chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  let before = bytes;
  for await (const chunk of chunks) {
    const length = before === 0 ? 0 : Buffer.byteLength(chunk);
    if (before === 0) yield chunk;
    else if (length > before) yield Buffer.from(chunk as Uint8Array).subarray(before);
    before = Math.max(0, before - length);
  }
}
