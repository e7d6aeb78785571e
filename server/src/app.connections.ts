// The database connections of the service, by purpose: opening them as soon as the database can be reached, and closing them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { moduleAt } from './base/places.ts';
import { asFault, longestTransaction, openPool, type Pool } from './db/db.ts';
import { checkSessions } from './db/own-sessions.ts';
import { openReplica, readPrimary, type Reads } from './db/replica/reads.ts';
import { openPushes, type Pushes } from './sync/pushes.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { type AppConfig, longReads } from './app.config.ts';

/** The longest time, in ms, that reading a streamed response may take in total. The database enforces it. */
const longestRead = 30 * 60_000;

export type Connections = {
  /** Resolves when the database can be reached. */
  reached: Promise<void>;
  pool: Promise<Pool>;
  reads: Promise<Reads>;
  answers: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  pushes: Promise<Pushes>;
};

/** Opens the database connections, by purpose, and the parts that need one from the start. */
export function connect(
  config: AppConfig,
  databaseUrl: Promise<string>,
  log: Log,
  isStopping: () => boolean,
): Connections {
  const { pooledUrl: pooled } = config;
  const isPooled = pooled !== undefined;
  // What waits for an account that a large push locks for minutes gets 503, so that it doesn't occupy the connections of others.
  const pool = databaseUrl.then((url) =>
    openPool(pooled ?? url, 10, { isPooled, settings: { lock_timeout: '5s' } }),
  );
  const reached = databaseUrl.then(async (url) => {
    const ignored = await whenReachable(() => checkSessions({ url, pooled }), log, isStopping);
    if (ignored.length === 0) return;
    log.warn(
      { settings: ignored },
      'The connection pooler ignores connection settings. Set them for the role instead (see docs/operators/postgres.md)',
    );
  });
  const reads = reached.then(async () => openReads(await pool, await databaseUrl, config, log));
  // While a week opens or closes, people who answer are asked to try again, so that they don't occupy connections.
  const answers = databaseUrl.then((url) =>
    openPool(pooled ?? url, 6, { isPooled, settings: { lock_timeout: '2s' } }),
  );
  const keys = pool.then((one) => new AnswerKeys(one, config.answerKeys));
  const pushes = databaseUrl.then((url) => openPushes(moduleAt('pushes.thread'), url, log));
  for (const opening of [pool, reached, reads, answers, keys, pushes]) opening.catch(() => {}); // Reported by start().
  return { pool, reached, reads, answers, keys, pushes };
}

/** Closes all connections. Running pushes get `seconds` to finish. start() has reported connections that failed to open. */
export async function disconnect(
  { pool, reads, answers, pushes }: Connections,
  seconds: number,
): Promise<void> {
  await (await pushes.catch(() => undefined))?.close(seconds);
  await (await reads.catch(() => undefined))?.close();
  const opened = await Promise.all([pool, answers].map((one) => one.catch(() => undefined)));
  await Promise.all(opened.map((one) => one?.end({ timeout: 5 })));
}

/** Opens the connections for streamed responses, and those to the replica if there is one. */
async function openReads(pool: Pool, url: string, config: AppConfig, log: Log): Promise<Reads> {
  const longest = config.longestRead ?? longestRead;
  const settings = await longestTransaction(pool, longest);
  const replicaUrl = config.role === 'worker' ? undefined : config.replicaUrl; // a worker serves no such responses
  // What a replica has begun goes on in two transactions on the primary server.
  const perResponse = replicaUrl === undefined ? 1 : 2;
  const primary = {
    pool,
    reads: openPool(url, perResponse * longReads, { settings }),
    longestRead: longest,
  };
  return replicaUrl === undefined ? readPrimary(primary) : openReplica(replicaUrl, primary, settings, log);
}

/** Calls `query` until the database is reachable, because it may start later than the service. Returns the result. */
async function whenReachable<T>(query: () => Promise<T>, log: Log, isStopping: () => boolean): Promise<T> {
  try {
    return await query();
  } catch (error) {
    const fault = asFault(error);
    if (isStopping() || error instanceof Fault || !(fault instanceof Fault)) throw error;
    const { code } = error as { code?: string };
    log.warn(
      { cause: code },
      `Waiting for the database${code === tooManyConnections ? `. ${manyConnections}` : ''}`,
    );
    await sleep(1000);
    return whenReachable(query, log, isStopping);
  }
}

const tooManyConnections = '53300';
const manyConnections =
  'All its connections are in use. Close some, or raise max_connections. A Soundings process uses up to 60';

/** Returns an error of the start, as a Fault if an administrator can do something about it. */
export function ofStart(error: unknown): unknown {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  if (code !== tooManyConnections && cause?.code !== tooManyConnections) return error;
  return new Fault(
    'unavailable',
    'unavailable',
    `The service can't connect to the database. ${manyConnections}.`,
    {
      cause: error,
    },
  );
}
