// npm start: runs the service until a signal stops it. --demo (npm run demo) adds a company to try it with. --dev (npm run dev)
// serves the console from its sources.
import { describeFirstStartLink, createFirstStartLink } from './auth/first-start.ts';
import { startAnswering, startApp } from './app.ts';
import { type Config, readConfig, settingWarnings } from './base/config.ts';
import { exitStatusOf, Fault } from './base/errors.ts';
import { connectionsWithin, maxOpenFiles } from './base/open-files.ts';
import { type Log, openLog } from './base/log.ts';
import { openPool, retryLostConnections } from './db/db.ts';
import { openEmbedded } from './db/embedded.ts';
import { describeDemo, makeDemo } from './demo/demo.ts';
import { connectionLimits } from './http/connections.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openSimulationPool } from './simulation/simulation.ts';

try {
  const config = readConfig(process.env);
  const log = openLog(config.logLevel);
  for (const warning of settingWarnings(process.env)) log.warn(warning);
  await serve(config, log);
} catch (error) {
  fail(error);
}

async function serve(config: Config, log: Log): Promise<void> {
  if (process.getuid?.() === 0) {
    log.warn(
      "Soundings is running as root. Run it as a separate user that owns DATA_DIR, so that a security hole can't affect the rest of this machine",
    );
  }
  const connections = limitedConnections(log);
  retryLostConnections(() => log.warn('A connection to the database was lost'));
  const database = openDatabase(config, log);
  const url = database.then((opened) => opened.url);
  url.catch(() => {}); // Reported by the code that awaits it.
  const closeDatabase = () =>
    database.then(
      (opened) => opened.stop(),
      () => {},
    );
  let stopping: Promise<void> | undefined;
  try {
    const isDevelopment = process.argv.includes('--dev');
    const app = await startApp({ ...config, isDevelopment, connections }, url, log);
    const stop = (drainSeconds: number, status: number) => {
      stopping ??= app.stop(config.shutdownSeconds, drainSeconds).then(closeDatabase);
      stopping.then(() => {
        log.info('Stopped');
        process.exit(status);
      }, fail);
    };
    onSignal((drains) => {
      const drainSeconds = drains ? config.drainSeconds : 0;
      log.info(
        { drainSeconds },
        'Stopping: no longer ready. Refusing new connections after drainSeconds, then finishing requests',
      );
      stop(drainSeconds, 0);
    });
    app.superseded.then((fault) => {
      log.fatal(fault.message);
      stop(0, exitStatusOf(fault));
    }, fail);
    await app.started;
    log.info({ address: app.address, publicUrl: config.publicUrl }, 'Ready');
    if (process.argv.includes('--demo')) await showDemo(await url, config, log);
    else await showFirstLink(await url, config);
  } catch (error) {
    if (stopping) return; // The signal came before the service had started.
    report(error);
    // Connections that are still being opened lose the database now. What the driver throws because of it must not keep the database
    // from being stopped.
    process.on('uncaughtException', () => {});
    await closeDatabase().catch(report);
    process.exit(exitStatusOf(error));
  }
}

/** Returns reduced connection limits if the system allows few open files. Warns about it, because the limit is easy to raise. */
function limitedConnections(log: Log): { http: number; sftp: number } | undefined {
  const openFiles = maxOpenFiles();
  if (openFiles === undefined) return undefined;
  const connections = connectionsWithin(openFiles);
  if (connections.http >= connectionLimits.total) return undefined;
  log.warn(
    { openFiles, connections },
    "The system's open-file limit is low, so the service accepts fewer connections. Raise the limit (ulimit -n, LimitNOFILE) to 16,000",
  );
  return connections;
}

async function showDemo(databaseUrl: string, config: Config, log: Log): Promise<void> {
  const pool = openSimulationPool(databaseUrl);
  const pagesLog = openLog('warn');
  try {
    log.info(
      'Creating the demo company, if it does not exist yet. Half a year of answers takes up to a minute',
    );
    const demo = await makeDemo(
      pool,
      new AnswerKeys(pool, config.answerKeys),
      Date.now(),
      (pages, keys, now) => startAnswering({ pool: pages, keys, now }, pagesLog),
    );
    process.stdout.write(describeDemo(demo, config));
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/** Prints the link for creating the first account. It is not logged, because it is meant only for the person at the terminal. */
async function showFirstLink(databaseUrl: string, { publicUrl }: Config): Promise<void> {
  const pool = openPool(databaseUrl, 1);
  try {
    const address = await createFirstStartLink(pool, publicUrl);
    if (address !== undefined) process.stdout.write(describeFirstStartLink(address));
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/**
 * Calls `stop` at the first signal. A second one ends the process immediately. `drains` says whether to wait for load balancers
 * to notice: not after Ctrl-C, where a person is waiting at a terminal.
 */
function onSignal(stop: (drains: boolean) => void): void {
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => (++signals > 1 ? process.exit(1) : stop(signal === 'SIGTERM')));
  }
}

async function openDatabase(config: Config, log: Log): Promise<{ url: string; stop(): Promise<void> }> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, stop: async () => {} };
  return openEmbedded(config.dataDir, { role: 'service', log: (message) => log.info(message) });
}

function fail(error: unknown): never {
  report(error);
  process.exit(exitStatusOf(error));
}

function report(error: unknown): void {
  const text = error instanceof Fault ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
}
