// Metrics for monitoring systems, in the text format of Prometheus: the process (memory, event loop, garbage collection) and requests
// by route and status. For pages of survey participants, only failures are counted. Readable from this machine or with METRICS_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { plainAddress } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import { isLoopback } from '../base/messages/smtp.ts';
import { version } from '../base/version.ts';

/** How many items are waiting, and how long the oldest has waited; both 0 if there are none. */
type Waiting = { count: number; oldestSeconds: number };

/** Facts about the installation, for all accounts together. Sizes in bytes. What is undefined or null has no metric. */
export type MeasuredFacts = {
  waiting: Record<string, Waiting>;
  deadJobs: number;
  overdueWeeks: number;
  disk: { free: number; total: number } | undefined;
  database: { bytes: number };
  lastBackup: Date | null;
  missingKeys: Record<string, boolean>;
  /** The replica to read from; undefined: there is none. */
  replica?: Replica | undefined;
};

/** `behind`: in bytes. `served`: how often it was read. `left`: how often the primary server was read instead. */
type Replica = { state: string; behind: number | undefined; served: number; left: number };

/** The buckets of the histogram, in seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Serves GET /metrics. `facts` are read once for each response. `isProxied` returns whether requests come through a proxy. If they
 * do, the token is always required, because the proxy may run on this machine.
 */
export function serveMetrics(
  app: FastifyInstance,
  {
    token,
    isProxied,
    facts,
  }: {
    token: string | undefined;
    isProxied: () => boolean;
    facts: () => Promise<MeasuredFacts>;
  },
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'soundings_' });
  const requests = new Histogram({
    name: 'soundings_http_request_duration_seconds',
    help: 'Duration of requests by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: durations,
    registers: [registry],
  });
  const measure = gaugesIn(registry);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'; // the pattern, because a URL could contain anything
    if (isOfPeopleAsked(route) && reply.statusCode < 500) return;
    requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (request, reply) => {
    const isHere = !isProxied() && isLoopback(plainAddress(request.socket.remoteAddress ?? ''));
    if (!isHere && !isToken(request.headers.authorization, token)) {
      throw new Fault('not_found', 'not found', 'This address does not exist. Check the URL.');
    }
    measure(await facts());
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });
}

/** Creates the gauges of the installation. Returns a function that sets them. */
function gaugesIn(registry: Registry): (facts: MeasuredFacts) => void {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `soundings_${name}`, help, labelNames, registers: [registry] });
  const info = gauge('build_info', 'The version of Soundings. Always 1.', ['version']);
  const waiting = gauge(
    'waiting',
    'Items that are waiting: files to be processed, invitations (messages, text messages) and jobs that are due, runs that await approval (pending runs), and audit entries that the syslog server has not received.',
    ['what'],
  );
  const oldest = gauge('oldest_waiting_seconds', 'How long the oldest of these has waited. 0: none.', [
    'what',
  ]);
  const dead = gauge(
    'dead_jobs',
    'Jobs that have failed permanently and are not retried. They are removed after a week.',
  );
  const weeks = gauge('late_closings', 'Weeks that ended more than an hour ago and are not closed.');
  const free = gauge('disk_free_bytes', 'The free space of DATA_DIR.');
  const total = gauge('disk_size_bytes', 'The size of the file system of DATA_DIR.');
  const database = gauge('database_size_bytes', 'The size of the database.');
  const backup = gauge('last_backup_timestamp_seconds', 'When Soundings created the last backup. 0: never.');
  const measureReplica = replicaGaugesIn(gauge);
  const keys = gauge('key_missing', 'Whether a key is missing on this server: 1 or 0.', ['key']);
  return (facts) => {
    info.set({ version }, 1);
    for (const [what, { count, oldestSeconds }] of Object.entries(facts.waiting)) {
      waiting.set({ what }, count);
      oldest.set({ what }, oldestSeconds);
    }
    dead.set(facts.deadJobs);
    weeks.set(facts.overdueWeeks);
    if (facts.disk) free.set(facts.disk.free);
    if (facts.disk) total.set(facts.disk.total);
    database.set(facts.database.bytes);
    if (facts.replica) measureReplica(facts.replica);
    backup.set((facts.lastBackup?.getTime() ?? 0) / 1000);
    for (const [key, isMissing] of Object.entries(facts.missingKeys)) keys.set({ key }, isMissing ? 1 : 0);
  };
}

/** Creates the gauges of the replica, of which there are none without one. */
function replicaGaugesIn(gauge: (name: string, help: string, labels?: string[]) => Gauge) {
  let gauges: Record<'up' | 'behind' | 'reads', Gauge> | undefined;
  return ({ state, behind, served, left }: Replica) => {
    gauges ??= {
      up: gauge('replica_up', 'Whether the replica at DATABASE_URL_READ can be used: 1 or 0.'),
      behind: gauge('replica_behind_bytes', 'How much of the primary’s log the replica has not replayed.'),
      reads: gauge(
        'replica_reads',
        'Reads since the start that the replica has served (replica), or the primary instead of it (primary).',
        ['from'],
      ),
    };
    gauges.up.set(state === 'ok' ? 1 : 0);
    if (behind === undefined) gauges.behind.reset();
    else gauges.behind.set(behind);
    gauges.reads.set({ from: 'replica' }, served);
    gauges.reads.set({ from: 'primary' }, left);
  };
}

/**
 * Returns whether a route serves survey participants: answering pages, reminder links, and the ways in by code and by card. Counting
 * its requests would reveal exactly how many people have answered at any time (rules.md P18), so only failures of the service are
 * counted.
 */
const isOfPeopleAsked = (route: string) => /^\/(a|r|k|go)(\/|$)/.test(route);

function isToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization.replace(/^bearer\s+/i, '')), digest(token));
}
