// Wires the whole service: every route, job and listener.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, LogLevel } from './base/config.ts';
import { Fault } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { version } from './base/version.ts';
import { type AccountNotice, mailAccountNotice } from './accounts/account-notices.ts';
import { callerOf, senderOf } from './accounts/callers.ts';
import { notifyExpiringTokens } from './accounts/expiring-tokens.ts';
import { mailPendingAdministrators, type PendingNotice } from './auth/pending-administrators.ts';
import { deleteExpiredSessions } from './auth/sessions.ts';
import { type MailedLink, mailSignInLink } from './auth/sign-in-links.ts';
import { deleteOldSignInFailures } from './auth/sign-in.ts';
import { meterTokens } from './accounts/usage.ts';
import { serveAnswering } from './answers/answering.routes.ts';
import { serveAccess } from './console/access/access.routes.ts';
import { openConsole } from './console/core/console.ts';
import { serveConsoleGroups } from './console/groups/groups.routes.ts';
import { serveLibrary } from './console/asking/library.routes.ts';
import { serveRounds } from './console/asking/rounds.routes.ts';
import { serveSchedules } from './console/asking/schedules.routes.ts';
import { serveDevelopment } from './console/core/dev.ts';
import { servePages } from './console/core/pages.ts';
import { servePeople } from './console/people/people.routes.ts';
import { servePrivacy } from './console/access/privacy.routes.ts';
import { serveResults } from './console/results/results.routes.ts';
import { serveFiles } from './console/runs/files.routes.ts';
import { serveRuns } from './console/runs/runs.routes.ts';
import { serveSession } from './console/session/session.routes.ts';
import { serveSystem } from './console/core/system.routes.ts';
import { compareClocks, databaseTime } from './db/clocks.ts';
import { asFault, longestTransaction, openPool, type Pool } from './db/db.ts';
import { isMigrated, migrate } from './db/migrate.ts';
import { checkSessions } from './db/own-sessions.ts';
import { watchSpace } from './db/space.ts';
import { openResponseCache } from './http/response-cache.ts';
import { serveMetrics } from './http/metrics.ts';
import { serveDocuments } from './http/pages.ts';
import { createServer, type HttpLimits, type Server, type ServerOptions } from './http/server.ts';
import { limitConcurrency } from './http/concurrency.ts';
import { type Jobs, startJobs, type Work } from './jobs/jobs.ts';
import { runThread, type ThreadLimits } from './jobs/threads.ts';
import { type Mailer } from './mail/mail.ts';
import { openMailer } from './mail/mailer.ts';
import { serveGroups } from './people/groups.routes.ts';
import { deleteEmailsBefore } from './people/users.ts';
import { serveData } from './results/data/data.routes.ts';
import { closeLostWeeks, type LostMail, mailLostWeek } from './results/lost-weeks.ts';
import { hasEndedWeeks } from './results/close-week.ts';
import { hasLiveWeeks } from './results/live-week.ts';
import { type LinkNotice, mailLinkNotice } from './rounds/link-notices.ts';
import { selectDue, insertRefusal, openSender } from './rounds/messages.ts';
import { dueSchedules } from './rounds/opening.ts';
import { countParticipation } from './rounds/participation.ts';
import { serveOrganization } from './sync/organization.routes.ts';
import { openPushes, type Pushes } from './sync/pushes.ts';
import { endLostRuns, deleteOldRunsDue } from './sync/runs.ts';
import type { WeeksWork } from './weeks.thread.ts';
import type { FilesWork } from './files.thread.ts';
import { migrationSteps } from './answers/seal-open-weeks.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { type Approve, openApprover } from './files/approval-thread.ts';
import { type MailedReport, mailReport } from './files/report-mails.ts';
import { openSftp, type SftpOptions, type SftpServer } from './sftp/server.ts';
import { serveStorage } from './files/storage.routes.ts';
import { deleteOldFilesDue, addLostProcessing, countWaiting } from './files/store.ts';
import { processInTurn } from './files/queue.ts';

/** The settings, except those of the process and its database. */
export type AppConfig = Omit<
  Config,
  'dataDir' | 'databaseUrl' | 'logLevel' | 'drainSeconds' | 'shutdownSeconds'
> & {
  /** Whether the console is built from its sources while the service runs. */
  isDevelopment?: boolean;
  /** How long, in ms, a client may leave a response unread. Default: a minute. */
  readTimeout?: number;
  /** Replaces the default limits of connections and bodies. */
  httpLimits?: HttpLimits;
  /** Lower limits of connections than the default ones. */
  connections?: { http: number; sftp: number } | undefined;
  /** The longest time, in ms, that reading a streamed response may take in total. Default: half an hour. */
  longestRead?: number;
};

export type App = {
  /** The address it listens on, such as http://127.0.0.1:8080. */
  address: string;
  /** Resolves when requests can be served. Rejects if the start failed. */
  started: Promise<void>;
  /**
   * Reports not ready, and serves requests for another `drainSeconds`. Then refuses new requests, and waits up to `seconds` for
   * running ones.
   */
  stop(seconds: number, drainSeconds?: number): Promise<void>;
};

/**
 * How many streamed responses may be read at a time, in total and per account. Each takes a database connection, and slow readers
 * must not take them all.
 */
const [longReads, longReadsOfAccount] = [6, 3];

/** How long, in ms, a client may leave a response unread before its connection is closed. */
const readTimeout = 60_000;

/** The longest time, in ms, that reading a streamed response may take in total. The database enforces it. */
const longestRead = 30 * 60_000;

type Connections = {
  /** Resolves when the database can be reached. */
  reached: Promise<void>;
  pool: Promise<Pool>;
  reads: Promise<Pool>;
  answers: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  pushes: Promise<Pushes>;
};

/** Opens the database connections, by purpose, and the parts that need one from the start. */
function connect(
  config: AppConfig,
  databaseUrl: Promise<string>,
  log: Log,
  isStopping: () => boolean,
): Connections {
  const pool = databaseUrl.then((url) => openPool(url, 10));
  const reached = databaseUrl.then(async (url) => {
    const ignored = await whenReachable(() => checkSessions(url), log, isStopping);
    if (ignored.length === 0) return;
    log.warn(
      { settings: ignored },
      'The connection pooler at DATABASE_URL ignores connection settings. Set them for the role instead (see docs/operations.md)',
    );
  });
  const reads = reached.then(async () => openReads(await pool, await databaseUrl, config));
  // While a week opens or closes, people who answer are asked to try again, so that they don't occupy connections.
  const answers = databaseUrl.then((url) => openPool(url, 6, { settings: { lock_timeout: '2s' } }));
  const keys = pool.then((one) => new AnswerKeys(one, config.answerKeys));
  const pushes = databaseUrl.then((url) =>
    openPushes(new URL('pushes.thread.ts', import.meta.url), url, log),
  );
  for (const opening of [pool, reached, reads, answers, keys, pushes]) opening.catch(() => {}); // Reported by start().
  return { pool, reached, reads, answers, keys, pushes };
}

/** Closes all connections. Running pushes get `seconds` to finish. start() has reported connections that failed to open. */
async function disconnect({ pool, reads, answers, pushes }: Connections, seconds: number): Promise<void> {
  await (await pushes.catch(() => undefined))?.close(seconds);
  const opened = await Promise.all([pool, reads, answers].map((one) => one.catch(() => undefined)));
  await Promise.all(opened.map((one) => one?.end({ timeout: 5 })));
}

/** Returns a function that runs work on weeks on a separate thread. */
const weeksOn =
  ({ answerKeys }: AppConfig, databaseUrl: Promise<string>, log: Log, now: () => number): OnWeeks =>
  async (work, only) => {
    const logLevel = log.level as LogLevel;
    const more = { ...(only && { only }), now: now(), logLevel };
    await onThread('weeks', { databaseUrl: await databaseUrl, answerKeys, work, ...more });
  };

/**
 * Starts the service. Listens immediately and responds with 503 until the database is available and migrated, so that early
 * clients are not refused: `databaseUrl` may still be pending. `now` returns the time in ms, and `clockOfDatabase` the database's.
 */
export async function startApp(
  config: AppConfig,
  databaseUrl: Promise<string>,
  log: Log,
  now: () => number = Date.now,
  clockOfDatabase: (pool: Pool) => Promise<number> = databaseTime,
): Promise<App> {
  const mailer = config.smtpUrl === undefined ? undefined : openMailer(config.smtpUrl, config.mailFrom);
  let jobs: Jobs | undefined;
  let sftp: SftpServer | undefined;
  let keyTimer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isStopping = false;
  const connections = connect(config, databaseUrl, log, () => isStopping);
  const { pool, reached, reads, answers, keys, pushes } = connections;

  const server = openServer({ config, pool, log, now, isStarted: () => isStarted });
  const deadJobs = async (accountId?: number) => (await jobs?.dead(accountId)) ?? 0;
  serveAll(server, { config, pool, reads, answers, keys, pushes, now, deadJobs });
  const onWeeks = weeksOn(config, databaseUrl, log, now);
  const approve = openApprover(new URL('files.thread.ts', import.meta.url), databaseUrl);
  serveConsole(server, { config, pool, keys, mailer, approve, log, now, deadJobs });
  if (config.isDevelopment) await serveDevelopment(server);
  else servePages(server);
  const { host, port, sftpPort } = config;
  const address = await orRefused(server.app.listen({ host, port }), { host, port, setting: 'PORT' });

  async function start(): Promise<void> {
    await reached;
    const applied = await migrate(await pool, migrationSteps(await keys));
    if (applied.length > 0) log.info({ applied }, 'The database was migrated');
    const hasSecrets = await prepareKeys(await pool, await keys, log);
    keyTimer = keepKeysMoving(await keys, log);
    const url = await databaseUrl;
    const parts = { config, pool: await pool, keys: await keys, databaseUrl: url };
    const work = workOf({ ...parts, log, now, clockOfDatabase, mailer, onWeeks });
    await endLostRuns(await pool);
    jobs = await startJobs(url, work, log);
    if (sftpPort !== 0 && hasSecrets) {
      const { secrets } = parts.keys;
      sftp = await serveSftp({ ...config, port: sftpPort, pool: parts.pool, secrets, log, now });
    }
    isStarted = true;
  }

  const started = start().catch((error: unknown) => Promise.reject(ofStart(error)));
  return {
    address,
    started,
    async stop(seconds, drainSeconds = 0) {
      server.leave();
      isStopping = true;
      if (isStarted) await sleep(drainSeconds * 1000);
      clearInterval(keyTimer);
      const deadline = Date.now() + seconds * 1000;
      const closeSftp = async () => {
        await started.catch(() => {});
        await sftp?.close(Math.max(0, (deadline - Date.now()) / 1000));
      };
      await Promise.all([server.shutDown(seconds), closeSftp()]);
      mailer?.close(); // Finishes the current mail only. Otherwise the jobs would wait for all mails.
      await jobs?.stop();
      await disconnect(connections, Math.max(0, (deadline - Date.now()) / 1000));
    },
  };
}

/** Creates the server, without its routes. */
function openServer({
  config,
  pool,
  log,
  now,
  isStarted,
}: Pick<ServerOptions, 'log' | 'now' | 'isStarted'> & { config: AppConfig; pool: Promise<Pool> }): Server {
  const hasSpace = watchSpace(pool, log);
  return createServer({
    log,
    ...listenerOptions(config),
    isStarted,
    isReady: async () => isStarted() && (await isMigrated(await pool)) && hasSpace(),
    authenticate: authenticator(pool),
    count: meterTokens(pool, config.rateLimit, now, log),
    cache: openResponseCache(config.responseCacheMb * 1e6),
    concurrency: limitConcurrency(longReads, longReadsOfAccount),
    now,
  });
}

const authenticator =
  (pool: Promise<Pool>): ServerOptions['authenticate'] =>
  async (authorization, scope, address) =>
    scope === 'files'
      ? senderOf(await pool, authorization, address)
      : callerOf(await pool, authorization, scope, address);

/** Whether users connect over HTTPS. */
const isSecure = ({ publicUrl }: AppConfig): boolean => publicUrl.startsWith('https:');

/** How often the key is advanced, in ms. Until then, a process may still open weeks that another one has closed. */
const keyIntervalMs = 5_000;

/** Keeps this process's copy of the key of open weeks in step with others. Not a job, because each process has its own copy. */
function keepKeysMoving(keys: AnswerKeys, log: Log): NodeJS.Timeout {
  return setInterval(() => {
    keys.chain.advance().catch((error: unknown) => {
      log.warn(
        { cause: (error as Error).message },
        'The key of open weeks could not be advanced. It will be retried',
      );
    });
  }, keyIntervalMs).unref();
}

/** Prepares the keys at their place, and logs problems and weaker guarantees. Returns whether the secrets key is available. */
async function prepareKeys(pool: Pool, keys: AnswerKeys, log: Log): Promise<boolean> {
  await keys.chain.advance();
  const { place, state } = await keys.chain.state();
  if (place === 'database') {
    log.warn(
      'ANSWER_KEYS=database: individual answers of a closed week can still be read from the database log and backups, until these are deleted',
    );
  }
  if (state === 'missing') {
    log.error(
      'The key of the open weeks is missing in this process, so no questions can be sent or answered. Run "soundings keys import" with the key of another process, or "soundings keys reset" if it is lost',
    );
  }
  const lost = await closeLostWeeks(pool, keys);
  if (lost.length > 0) {
    log.error(
      { weeks: lost },
      'Open weeks were closed without results, because their key is lost. Send their questions again',
    );
  }
  const hasSecrets = await keys.secrets.prepare();
  if (!hasSecrets) {
    log.error(
      'The secrets key is missing in this process, so two-factor codes can’t be checked, weeks with noise can’t close, and SFTP does not start. Run "soundings keys import" with the key of another process, copy DATA_DIR/keys/secrets from another machine, or run "soundings keys reset --secrets" if it is lost. Then restart the service',
    );
  }
  return hasSecrets;
}

/** Returns the options of the listener. */
const listenerOptions = (config: AppConfig) => ({
  tls: config.tls,
  trustProxy: config.trustProxy,
  httpsOnlyAt: config.httpsOnly ? config.publicUrl : undefined,
  limits: {
    ...config.httpLimits,
    connections: {
      ...(config.connections && { total: config.connections.http }),
      ...config.httpLimits?.connections,
    },
  },
  corsOrigins: config.corsOrigins,
  isSecure: isSecure(config),
  readTimeout: config.readTimeout ?? readTimeout,
});

/**
 * Serves only the answering pages, on a free loopback port and with a given clock in ms. Runs no jobs. Used to simulate past
 * weeks.
 */
export async function startAnswering(
  { pool, keys, now }: { pool: Pool; keys: AnswerKeys; now: () => number },
  log: Log,
): Promise<{ address: string; close(): Promise<void> }> {
  const noToken = () => Promise.reject(new Error('This server has no API.'));
  const server = createServer({
    log,
    tls: undefined,
    trustProxy: [],
    isStarted: () => true,
    isReady: async () => true,
    authenticate: noToken,
    count: noToken,
    cache: openResponseCache(0),
    concurrency: limitConcurrency(1, 1),
    readTimeout,
    now,
    corsOrigins: [],
  });
  const [own, ownKeys] = [Promise.resolve(pool), Promise.resolve(keys)];
  serveAnswering(server, { pool: own, keys: ownKeys, isSecure: false, now });
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  return { address, close: () => server.shutDown(5) };
}

/** Registers every route. */
function serveAll(
  server: Server,
  {
    config,
    pool,
    reads,
    answers,
    keys,
    pushes,
    now,
    deadJobs,
  }: {
    config: AppConfig;
    pool: Promise<Pool>;
    reads: Promise<Pool>;
    answers: Promise<Pool>;
    keys: Promise<AnswerKeys>;
    pushes: Promise<Pushes>;
    now: () => number;
    deadJobs: () => Promise<number>;
  },
): void {
  serveGroups(server, pool);
  serveData(server, { pool, reads }, now);
  serveOrganization(server, pushes);
  serveStorage(server, pool);
  serveAnswering(server, { pool: answers, keys, isSecure: isSecure(config), now });
  serveMetrics(server.app, {
    token: config.metricsToken,
    isProxied: () => config.trustProxy.length > 0 || server.forgottenProxy() !== undefined,
    waiting: async () => ({
      files: await countWaiting(await pool),
      messages: await selectDue(await pool, now()),
    }),
    deadJobs,
  });
  serveDocuments(server.app, config.publicUrl);
}

/** Opens, shows or closes weeks on a separate thread, because it may compute for seconds. `only` limits it to one week. */
type OnWeeks = (work: WeeksWork['work'], only?: WeeksWork['only']) => Promise<void>;

const onThread = (name: string, data: FilesWork | WeeksWork, limits?: ThreadLimits): Promise<void> =>
  runThread(new URL(`${name}.thread.ts`, import.meta.url), data, limits);

type ConsoleParts = {
  log: Log;
  config: AppConfig;
  pool: Promise<Pool>;
  keys: Promise<AnswerKeys>;
  mailer: Mailer | undefined;
  approve: Approve;
  now: () => number;
  deadJobs: (accountId: number) => Promise<number>;
};

/** Registers the routes of the console. */
function serveConsole(
  server: Server,
  { config, pool, keys, mailer, approve, log, now, deadJobs }: ConsoleParts,
): void {
  const console = openConsole(server, pool, isSecure(config));
  const secrets = keys.then((one) => one.secrets);
  const canMail = mailer !== undefined;
  serveAccess(console, { ...config, pool, secrets, mailer, log });
  serveSession(console, { pool, secrets, now, log, canMail });
  serveSystem(console, { pool, keys, now, deadJobs, canMail, forgottenProxy: server.forgottenProxy });
  servePeople(console, { pool, publicUrl: config.publicUrl, canMail, now });
  serveConsoleGroups(console, pool);
  serveRuns(console, pool, approve);
  serveFiles(console, pool);
  serveResults(console, pool);
  const askingParts = { pool, mailer, publicUrl: config.publicUrl, now };
  serveLibrary(console, pool);
  serveSchedules(console, askingParts);
  serveRounds(console, askingParts);
  servePrivacy(console, pool, async () => ({
    keys: await (await keys).chain.state(),
    version,
    fileDays: config.fileDays,
    hasMail: mailer !== undefined,
    publicUrl: config.publicUrl,
    now: now(),
  }));
}

/** The limits for processing files of an account. A list of 20,000 people takes a fifth of them. */
const filesLimits = { heapMb: 1024, milliseconds: 300_000 };

type Parts = {
  config: AppConfig;
  pool: Pool;
  keys: AnswerKeys;
  databaseUrl: string;
  log: Log;
  now: () => number;
  clockOfDatabase: (pool: Pool) => Promise<number>;
  mailer: Mailer | undefined;
  onWeeks: OnWeeks;
};

/** Returns all work that does not run in a request: recurring work, and tasks by job. */
function workOf({
  config,
  pool,
  keys,
  databaseUrl,
  log,
  now,
  clockOfDatabase,
  mailer,
  onWeeks,
}: Parts): Work {
  const areClocksRight = compareClocks(now, () => clockOfDatabase(pool), log);
  const whenDue = (work: WeeksWork['work'], isDue: () => Promise<boolean>) => async () => {
    if ((await isDue()) && (await areClocksRight())) await onWeeks(work);
  };
  const sendDue = openSender({ pool, keys, mailer, publicUrl: config.publicUrl, log });
  const toOpen = whenDue('open', async () => (await dueSchedules(pool, now())).length > 0);
  const toShow = whenDue('show', () => hasLiveWeeks(pool));
  const toClose = whenDue('close', () => hasEndedWeeks(pool, now()));
  return {
    recurring: [
      {
        name: 'tell ending tokens',
        cron: '7 7 * * *',
        work: () => notifyExpiringTokens(pool, mailer, config.publicUrl, log),
      },
      { name: 'end lost runs', cron: '* * * * *', work: () => endLostRuns(pool) },
      { name: 'forget old runs', cron: '17 3 * * *', work: () => deleteOldRunsDue(pool) },
      { name: 'forget ended sessions', cron: '37 * * * *', work: () => deleteExpiredSessions(pool) },
      { name: 'forget previous addresses', cron: '57 3 * * *', work: () => deleteEmailsBefore(pool) },
      {
        name: 'forget failed sign-ins',
        cron: '47 * * * *',
        work: () => deleteOldSignInFailures(pool, now()),
      },
      { name: 'forget old files', cron: '27 * * * *', work: () => deleteOldFilesDue(pool, config.fileDays) },
      { name: 'resume files', cron: '* * * * *', work: () => addLostProcessing(pool) },
      { name: 'open rounds', cron: '* * * * *', work: toOpen },
      { name: 'send messages', cron: '* * * * *', work: () => sendDue(now()) },
      { name: 'show live weeks', cron: '*/15 * * * *', work: toShow },
      { name: 'count participation', cron: '23 * * * *', work: () => countParticipation(pool, keys, now()) },
      { name: 'close weeks', cron: '*/5 * * * *', work: toClose },
    ],
    tasks: {
      'process files': async (payload) => {
        const { accountId } = payload as { accountId: number };
        const logLevel = log.level as LogLevel;
        const work = (turnId: string) =>
          onThread('files', { databaseUrl, accountId, turnId, logLevel }, filesLimits);
        await processInTurn(pool, accountId, work, log);
      },
      'mail sign-in link': (payload) =>
        mailSignInLink(
          { pool, mailer, publicUrl: config.publicUrl, log, noteRefusal: insertRefusal },
          payload as MailedLink,
        ),
      'close week': (payload) => onWeeks('close', payload as NonNullable<WeeksWork['only']>),
      'mail lost week': (payload) =>
        mailLostWeek({ pool, mailer, publicUrl: config.publicUrl, log }, payload as LostMail),
      'mail pending administrators': (payload) =>
        mailPendingAdministrators(
          { pool, mailer, publicUrl: config.publicUrl, log },
          payload as PendingNotice,
        ),
      'mail file report': (payload) => mailReport(pool, mailer, payload as MailedReport, log),
      'mail account notice': (payload) => mailAccountNotice(mailer, payload as AccountNotice, log),
      'mail link notice': (payload) => mailLinkNotice(pool, mailer, payload as LinkNotice, log),
    },
  };
}

async function serveSftp(options: SftpOptions & Pick<AppConfig, 'connections'>): Promise<SftpServer> {
  const { host, port, pool, secrets, log, trustProxy = [], now = Date.now, connections } = options;
  const limits = connections ? { connections: connections.sftp } : {};
  const opening = openSftp({ host, port, pool, secrets, log, trustProxy, now, limits });
  const sftp = await orRefused(opening, { host, port, setting: 'SFTP_PORT' });
  log.info({ address: sftp.address }, 'SFTP is ready');
  return sftp;
}

/** Waits until a server listens. Throws a Fault that explains why it can't. `setting` is the setting of the port. */
async function orRefused<T>(
  listening: Promise<T>,
  { host, port, setting }: { host: string; port: number; setting: string },
): Promise<T> {
  try {
    return await listening;
  } catch (error) {
    const reasons: Record<string, string> = {
      EADDRINUSE: `the port is in use. Stop the other program, or set ${setting} to another port`,
      EACCES: `the port is reserved. Set ${setting} to 1024 or higher`,
      EADDRNOTAVAIL: 'this machine does not have this address. Set HOST to an address of this machine',
      ENOTFOUND: 'the host name does not exist. Set HOST to an address of this machine',
    };
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    const message = `The service can't listen on port ${port} of ${host}: ${reason}.`;
    throw new Fault('invalid', 'invalid configuration', message, { cause: error });
  }
}

/** Opens the connections for streamed responses. */
async function openReads(pool: Pool, url: string, config: AppConfig): Promise<Pool> {
  const settings = await longestTransaction(pool, config.longestRead ?? longestRead);
  return openPool(url, longReads, { settings });
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
function ofStart(error: unknown): unknown {
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
