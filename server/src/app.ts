// Starts and stops the service: first it listens, then it reaches the database, migrates it, prepares the keys, and starts the jobs
// and SFTP. app.routes.ts wires the routes, and app.jobs.ts lists the jobs.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { moduleAt } from './base/places.ts';
import { startTracing } from './base/tracing/start.ts';
import { serveAnswering } from './answers/answering.routes.ts';
import { deleteOldBackups, migrateWithBackup } from './backup/before-migration.ts';
import { serveDevelopment } from './console/core/dev.ts';
import { servePages } from './console/core/pages.ts';
import { databaseTime } from './db/clocks.ts';
import { openPool, type Pool } from './db/db.ts';
import { tooNew } from './db/migrate.ts';
import { openResponseCache } from './http/responses/response-cache.ts';
import { createServer, type Server } from './http/server.ts';
import { limitConcurrency } from './http/concurrency.ts';
import { installJobTables } from './jobs/job-tables.ts';
import { type Jobs, startJobs } from './jobs/jobs.ts';
import type { Mailer } from './mail/mail.ts';
import { openMailer } from './mail/mailer.ts';
import { openGateway } from './sms/gateway.ts';
import { openPersonTokens } from './rounds/messages/person-tokens.ts';
import { closeLostWeeks } from './results/lost-weeks.ts';
import { updateLostRuns } from './sync/runs.sql.ts';
import { migrationSteps } from './answers/seal-open-weeks.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';
import { openReports } from './console/reports/report-threads.ts';
import { openApprover } from './files/approval-thread.ts';
import { openSimulations } from './results/segments/simulation-thread.ts';
import { openDrivers } from './results/statistics/drivers-thread.ts';
import { openWords } from './results/data/words-thread.ts';
import { openWebhookSender, type WebhookSender } from './webhooks/sender.ts';
import { openSftp, type SftpOptions, type SftpServer } from './sftp/server.ts';
import { type AppConfig, readTimeout } from './app.config.ts';
import { connect, disconnect, ofStart } from './app.connections.ts';
import { openRules } from './scim/applying/rules-thread.ts';
import { openApplier } from './scim/applying/applier.ts';
import { openRequestLog } from './scim/request-log.ts';
import { askOn, pullerOf, weeksOn, workOf } from './app.jobs.ts';
import type { Puller } from './pulls/puller.ts';
import { openServer, serveInterfaces, serveConsole, serveOperating } from './app.routes.ts';

export type App = {
  /** The address it listens on, such as http://127.0.0.1:8080. */
  address: string;
  /** Resolves when requests can be served. Rejects if the start failed. */
  started: Promise<void>;
  /** Resolves with the reason when a newer version has migrated the database so that this one can't use it any more: stop then. */
  superseded: Promise<Fault>;
  /**
   * Reports not ready, and serves requests for another `drainSeconds`. Then refuses new requests, and waits up to `seconds` for
   * running ones.
   */
  stop(seconds: number, drainSeconds?: number): Promise<void>;
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
  let jobs: Jobs | undefined;
  let sftp: SftpServer | undefined;
  let outgoing: Outgoing | undefined;
  const timers: NodeJS.Timeout[] = [];
  const superseded = Promise.withResolvers<Fault>();
  let isStarted = false;
  let isStopping = false;
  const tracing = await startTracing(config.tracing, log);
  const connections = connect(config, databaseUrl, log, () => isStopping);
  const { pool, reached, keys } = connections;
  const { mailer, gateway, closeSenders } = sendersOf(config, pool);

  const server = openServer({ config, pool, log, now, isStarted: () => isStarted });
  const onWeeks = weeksOn(config, databaseUrl, log, now);
  const computing = computingOf(config, pool, databaseUrl, { log, now });
  await serveRoutes(server, { ...connections, config, mailer, ...computing, now, log });
  const { host, port, sftpPort } = config;
  const address = await orRefused(server.app.listen({ host, port }), { host, port, setting: 'PORT' });

  async function start(): Promise<void> {
    await reached;
    await update(await databaseUrl, await keys, config.backupDir, log);
    const hasSecrets = await prepareKeys(await pool, await keys, log);
    timers.push(keepKeysMoving(await keys, log), watchSchema(await pool, superseded.resolve));
    if (config.backupDir !== undefined) timers.push(keepNoOldBackups(config.backupDir, log));
    const reachable = { config, pool: await pool, keys: await keys, databaseUrl: await databaseUrl };
    const dependencies = { ...computing, ...reachable, mailer, log, now };
    await updateLostRuns(await pool);
    if (config.role === 'web') await installJobTables(dependencies.databaseUrl);
    else {
      outgoing = { webhooks: webhooksOf(dependencies), puller: pullerOf(dependencies) };
      const work = workOf({ ...dependencies, ...outgoing, clockOfDatabase, gateway, onWeeks });
      jobs = await startJobs(dependencies.databaseUrl, work, log);
    }
    if (config.role !== 'worker' && sftpPort !== 0 && hasSecrets) {
      const { secrets } = dependencies.keys;
      sftp = await serveSftp({ ...config, port: sftpPort, pool: dependencies.pool, secrets, log, now });
    }
    isStarted = true;
  }

  const started = start().catch((error: unknown) => Promise.reject(ofStart(error)));
  return {
    address,
    started,
    superseded: superseded.promise,
    async stop(seconds, drainSeconds = 0) {
      server.leave();
      isStopping = true;
      if (isStarted) await sleep(drainSeconds * 1000);
      for (const timer of timers) clearInterval(timer);
      const deadline = Date.now() + seconds * 1000;
      const secondsLeft = () => Math.max(0, (deadline - Date.now()) / 1000);
      const sftpClosed = started.catch(() => {}).then(() => sftp?.close(secondsLeft()));
      await Promise.all([server.shutDown(seconds), sftpClosed]);
      closeSenders(); // They finish the current messages only. Otherwise the jobs would wait for all messages.
      await Promise.all([jobs?.stop(), endOutgoing({ ...outgoing, ...computing }, secondsLeft())]);
      await disconnect(connections, secondsLeft());
      await tracing.close(secondsLeft());
    },
  };
}

/** Registers the routes that a process with this role has. */
async function serveRoutes(
  server: Server,
  dependencies: Parameters<typeof serveInterfaces>[1] & Parameters<typeof serveConsole>[1],
): Promise<void> {
  const { config } = dependencies;
  serveOperating(server, dependencies);
  if (config.role === 'worker') return;
  serveInterfaces(server, dependencies);
  serveConsole(server, dependencies);
  await (config.isDevelopment ? serveDevelopment(server) : servePages(server));
}

/** Opens what computes for the console and for SCIM in threads and child processes, and what notes the requests of directories. */
function computingOf(
  config: AppConfig,
  pool: Promise<Pool>,
  databaseUrl: Promise<string>,
  { log, now }: { log: Log; now: () => number },
) {
  const scimThread = moduleAt('scim.thread');
  const applier = openApplier(scimThread, databaseUrl, log, now, config.appliesDirectories);
  const requests = openRequestLog(pool, log);
  return {
    applier,
    requests,
    async closeScim(seconds: number) {
      await applier.close(seconds);
      await requests.flush();
    },
    approve: openApprover(moduleAt('files.thread'), databaseUrl),
    ask: askOn(config, databaseUrl, log, now),
    createReports: openReports(moduleAt('reports.thread'), databaseUrl),
    drivers: openDrivers(moduleAt('drivers.thread')),
    simulateBreakdown: openSimulations(moduleAt('segments.thread')),
    words: openWords(moduleAt('words.thread')),
    rules: openRules(scimThread, databaseUrl),
  };
}

/** Applies the missing migrations, after a backup in `folder` if the database has data. */
async function update(url: string, keys: AnswerKeys, folder: string | undefined, log: Log): Promise<void> {
  const pool = openPool(url, 4); // past the pooler: these transactions are long, and need several sessions
  try {
    const { applied, backup } = await migrateWithBackup(pool, migrationSteps(keys), folder);
    if (applied.length > 0) log.info({ applied, backup }, 'The database was migrated');
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/** Opens what sends messages over each channel that is configured. */
function sendersOf(config: AppConfig, pool: Promise<Pool>) {
  const mailer = mailerOf(config, pool);
  const gateway = config.sms && openGateway(config.sms);
  const closeSenders = () => {
    mailer?.close();
    gateway?.close();
  };
  return { mailer, gateway, closeSenders };
}

/** What sends requests to other systems, in addition to emails and text messages. */
type Outgoing = { webhooks: WebhookSender; puller: Puller };

type Ending = Partial<Outgoing> & { closeScim: (seconds: number) => Promise<void> };

/** Lets the current webhooks end, and waits up to `seconds` for lists that are being fetched and for directories that are being applied. */
async function endOutgoing({ webhooks, puller, closeScim }: Ending, seconds: number): Promise<void> {
  await Promise.all([webhooks?.close(), puller?.close(seconds), closeScim(seconds)]);
}

type WebhookDependencies = {
  config: AppConfig;
  pool: Pool;
  keys: AnswerKeys;
  mailer: Mailer | undefined;
  log: Log;
  now: () => number;
};

const webhooksOf = ({
  config,
  pool,
  keys: { secrets },
  mailer,
  log,
  now,
}: WebhookDependencies): WebhookSender =>
  openWebhookSender({
    pool,
    secrets,
    networks: config.outgoingNetworks,
    canMail: mailer !== undefined,
    log,
    now,
  });

function mailerOf(config: AppConfig, pool: Promise<Pool>): Mailer | undefined {
  const { smtpUrl, mailFrom, dkim, smtpConnections: connections } = config;
  if (smtpUrl === undefined) return undefined;
  const bounces = config.bounces && {
    address: config.bounces.address,
    tokenOf: openPersonTokens('bounces', pool),
  };
  return openMailer(smtpUrl, mailFrom, { dkim, connections, bounces });
}

/** How often the key is advanced, in ms. Until then, a process may still open weeks that another one has closed. */
const keyIntervalMs = 5_000;

/**
 * Keeps this process's copy of the key of open weeks in step with those of other processes. This is not a job, because each
 * process has its own copy.
 */
function keepKeysMoving(keys: AnswerKeys, log: Log): NodeJS.Timeout {
  return setInterval(() => {
    keys.chain.advance().catch((error: unknown) => {
      log.warn(
        { cause: (error as Error).message },
        'Advancing the key of open weeks failed. It will be retried',
      );
    });
  }, keyIntervalMs).unref();
}

/**
 * Deletes old backups before updates now and each day. They are on this machine, and a recurring job would run on any one of several.
 */
function keepNoOldBackups(folder: string, log: Log): NodeJS.Timeout {
  const work = () => {
    deleteOldBackups(folder).catch((error: unknown) => {
      log.warn({ cause: (error as Error).message }, 'Old backups could not be deleted. It will be retried');
    });
  };
  work();
  return setInterval(work, 86_400_000).unref();
}

/** How often a process checks whether a newer version has migrated the database, in ms. */
const schemaIntervalMs = 5_000;

/** Reports a migration of a newer version with which this one can't run. Its requests and jobs would damage data. */
function watchSchema(pool: Pool, report: (fault: Fault) => void): NodeJS.Timeout {
  return setInterval(() => {
    tooNew(pool).then(
      (fault) => fault && report(fault),
      () => {}, // no connection: requests and jobs report this
    );
  }, schemaIntervalMs).unref();
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
      'The answer key is missing on this server, so no questions can be sent or answered. If another server has the key, run "soundings keys export" there and "soundings keys import" here. If it is lost, run "soundings keys reset"',
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
      'The secrets key is missing on this server, so two-factor codes can’t be checked, weeks with noise can’t close, and SFTP does not start. If another server has the key, run "soundings keys export" there and "soundings keys import" here, or copy DATA_DIR/keys/secrets. If it is lost, run "soundings keys reset --secrets". Then restart the service',
    );
  }
  return hasSecrets;
}

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
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = reasons[code];
    if (reason === undefined) throw error;
    const message = `The service can't listen on port ${port} of ${host}: ${reason}.`;
    // Another program may end, and an address may appear while the machine starts, but no one allows a port later.
    if (code !== 'EACCES') throw new Fault('unavailable', 'unavailable', message, { cause: error });
    throw new Fault('invalid', 'invalid configuration', message, { cause: error });
  }
}
