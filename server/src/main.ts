// npm start: the service, until a signal says stop. With --demo (npm run demo): and a company to try it with. With --dev (npm
// run dev): the console from its sources.
import { describeFirstLink, makeFirstLink } from './accounts/first-links.ts';
import { startAnswering, startApp } from './app.ts';
import { type Config, readConfig } from './base/config.ts';
import { Fault } from './base/errors.ts';
import { connectionsWithin, mostOpenFiles } from './base/open-files.ts';
import { type Log, openLog } from './base/log.ts';
import { openPool, surviveLostConnections } from './db/db.ts';
import { openEmbedded } from './db/embedded.ts';
import { describeDemo, makeDemo } from './demo/demo.ts';
import { connectionLimits } from './http/connections.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openSimulationPool } from './simulation/simulation.ts';

try {
  const config = readConfig(process.env);
  await serve(config, openLog(config.logLevel));
} catch (error) {
  fail(error);
}

async function serve(config: Config, log: Log): Promise<void> {
  if (process.getuid?.() === 0) {
    log.warn(
      'Soundings runs as root. Run it as a user of its own that owns DATA_DIR: a fault in it then reaches nothing else on this machine',
    );
  }
  const connections = limitedConnections(log);
  surviveLostConnections(() => log.warn('A connection to the database was lost'));
  const database = openDatabase(config, log);
  const url = database.then((opened) => opened.url);
  url.catch(() => {}); // told by whoever waits for it
  const closeDatabase = () =>
    database.then(
      (opened) => opened.stop(),
      () => {},
    );
  let stopping: Promise<void> | undefined;
  try {
    const isDevelopment = process.argv.includes('--dev');
    const app = await startApp({ ...config, isDevelopment, connections }, url, log);
    onSignal((drains) => {
      const drainSeconds = drains ? config.drainSeconds : 0;
      log.info({ drainSeconds }, 'Stopping: no longer ready, then no new connections; running requests end');
      stopping = app.stop(config.shutdownSeconds, drainSeconds).then(closeDatabase);
      stopping.then(() => {
        log.info('Stopped');
        process.exit(0);
      }, fail);
    });
    await app.started;
    log.info({ address: app.address, publicUrl: config.publicUrl }, 'Ready');
    if (process.argv.includes('--demo')) await showDemo(await url, config, log);
    else await showFirstLink(await url, config);
  } catch (error) {
    if (stopping) return; // asked to stop before it had started
    await closeDatabase();
    throw error;
  }
}

/** Returns how many connections there may be when the system allows few files. Says so, as it is easily raised. */
function limitedConnections(log: Log): { http: number; sftp: number } | undefined {
  const openFiles = mostOpenFiles();
  if (openFiles === undefined) return undefined;
  const connections = connectionsWithin(openFiles);
  if (connections.http >= connectionLimits.total) return undefined;
  log.warn(
    { openFiles, connections },
    'The system lets the service open few files, so it takes fewer connections than usual. Raise the limit (ulimit -n, LimitNOFILE) to 16,000',
  );
  return connections;
}

async function showDemo(databaseUrl: string, config: Config, log: Log): Promise<void> {
  const pool = openSimulationPool(databaseUrl);
  const pagesLog = openLog('warn');
  try {
    log.info('The demo company is made, unless it is there: half a year of answers takes a minute or less');
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

/** Whoever starts the service makes the first account: the link is printed, not logged. */
async function showFirstLink(databaseUrl: string, { publicUrl }: Config): Promise<void> {
  const pool = openPool(databaseUrl, 1);
  try {
    const address = await makeFirstLink(pool, publicUrl);
    if (address !== undefined) process.stdout.write(describeFirstLink(address));
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/**
 * Calls `stop` at the first signal; a second one ends the process at once. `drains`: for a load
 * balancer that has yet to notice. Ctrl-C comes from a person at a terminal, who waits.
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
  const text = error instanceof Fault ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
