// The whole service on one screen: every route, job and listener.
import type { Config } from './base/config.ts';
import { Fault } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { callerOf } from './accounts/callers.ts';
import { meterTokens } from './accounts/usage.ts';
import { asFault, openPool, type Pool } from './db/db.ts';
import { isMigrated, migrate } from './db/migrate.ts';
import { openAnswerCache } from './http/cache.ts';
import { serveDocuments } from './http/pages.ts';
import { createServer, type Server } from './http/server.ts';
import { type Jobs, startJobs } from './jobs/jobs.ts';
import { runThread } from './jobs/threads.ts';
import { serveGroups } from './people/groups.routes.ts';
import { serveData } from './results/data.routes.ts';
import { dueWeeks } from './results/publish.ts';
import { serveOrganization } from './sync/organization.routes.ts';
import { openPushes } from './sync/pushes.ts';
import { forgetOldRuns } from './sync/runs.ts';
import type { WeeksWork } from './weeks.thread.ts';

export type App = {
  /** Where it listens, such as http://127.0.0.1:8080. */
  address: string;
  /** Fulfilled when requests can be served; rejected when they never will be. */
  started: Promise<void>;
  /** Ends what is running and refuses what is new; after `seconds` it stops all the same. */
  stop(seconds: number): Promise<void>;
};

/**
 * Listens at once, answering 503 until the database is there and migrated: `databaseUrl` may still be under way,
 * so that nobody who asks early is refused the connection. `now` is the clock, in ms.
 */
export async function startApp(
  config: Omit<Config, 'dataDir' | 'databaseUrl' | 'logLevel' | 'shutdownSeconds'>,
  databaseUrl: Promise<string>,
  log: Log,
  now: () => number = Date.now,
): Promise<App> {
  const pool = databaseUrl.then((url) => openPool(url, 10));
  const pushes = databaseUrl.then((url) =>
    openPushes(new URL('pushes.thread.ts', import.meta.url), url, log),
  );
  for (const opening of [pool, pushes]) opening.catch(() => {}); // start() tells why
  let jobs: Jobs | undefined;
  let isStarted = false;
  let isStopping = false;

  const server = createServer({
    log,
    tls: config.tls,
    trustProxy: config.trustProxy,
    isStarted: () => isStarted,
    isReady: async () => isStarted && isMigrated(await pool),
    authenticate: async (authorization, scope) => callerOf(await pool, authorization, scope),
    count: meterTokens(pool, config.rateLimit, now, log),
    cache: openAnswerCache(config.answerCacheMb * 1e6),
    now,
    corsOrigins: config.corsOrigins,
  });
  serveGroups(server, pool);
  serveData(server, pool, now);
  serveOrganization(server, pushes);
  serveDocuments(server.app, config.publicUrl);
  const address = await listen(server, config);

  async function start(): Promise<void> {
    await whenReachable(await pool, log, () => isStopping);
    const applied = await migrate(await pool);
    if (applied.length > 0) log.info({ applied }, 'The database was migrated');
    const recurring = [
      { name: 'forget old runs', cron: '17 3 * * *', work: async () => forgetOldRuns(await pool) },
      { name: 'show live weeks', cron: '* * * * *', work: () => onWeeks('show') },
      { name: 'close weeks', cron: '*/5 * * * *', work: () => onWeeks('close') },
    ];
    jobs = await startJobs(await databaseUrl, recurring, log);
    isStarted = true;
  }

  async function onWeeks(work: WeeksWork['work']): Promise<void> {
    const due = await dueWeeks(await pool, now());
    const data: WeeksWork = { databaseUrl: await databaseUrl, work, now: now() };
    if (due[work]) await runThread(new URL('weeks.thread.ts', import.meta.url), data);
  }

  const started = start();
  return {
    address,
    started,
    async stop(seconds) {
      isStopping = true;
      const deadline = Date.now() + seconds * 1000;
      await server.shutDown(seconds);
      await started.catch(() => {});
      await jobs?.stop();
      // Either may never have been opened: start() has told why.
      await (await pushes.catch(() => undefined))?.close(Math.max(0, (deadline - Date.now()) / 1000));
      await (await pool.catch(() => undefined))?.end({ timeout: 5 });
    },
  };
}

async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<string> {
  try {
    return await server.app.listen({ host, port });
  } catch (error) {
    const reasons: Record<string, string> = {
      EADDRINUSE: 'it is in use. Stop what listens there, or set PORT',
      EACCES: 'the port is reserved. Set PORT to one from 1024 on',
      EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one that it has',
      ENOTFOUND: 'there is no such name. Set HOST to an address of this machine',
    };
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    const message = `The service cannot listen on port ${port} of ${host}: ${reason}.`;
    throw new Fault('invalid', 'invalid configuration', message, { cause: error });
  }
}

/** Waits for a database that comes up later than the service does. */
async function whenReachable(pool: Pool, log: Log, isStopping: () => boolean): Promise<void> {
  try {
    await pool`select 1`;
  } catch (error) {
    if (isStopping() || !(asFault(error) instanceof Fault)) throw error;
    log.warn({ cause: (error as { code?: string }).code }, 'Waiting for the database');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await whenReachable(pool, log, isStopping);
  }
}
