// Metrics for monitoring systems, in the text format of Prometheus: the process (memory, event loop, garbage collection) and requests
// by route and status. For pages of survey participants, only failures are counted. Readable from this machine or with METRICS_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { plainAddress } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import { isLoopback } from '../base/smtp.ts';

/** How many items are waiting, and how long the oldest has waited; both 0 if there are none. */
export type Waiting = { count: number; oldestSeconds: number };

/** The buckets of the histogram, in seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Serves GET /metrics. `waiting` returns the waiting items by kind. `deadJobs` returns how many jobs have failed
 * permanently. `isProxied` returns whether requests come through a proxy. If they do, the token is always required, because
 * the proxy may run on this machine.
 */
export function serveMetrics(
  app: FastifyInstance,
  {
    token,
    isProxied,
    waiting,
    deadJobs,
  }: {
    token: string | undefined;
    isProxied: () => boolean;
    waiting: () => Promise<Record<string, Waiting>>;
    deadJobs: () => Promise<number>;
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
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: 'soundings_waiting',
    help: 'Items that are waiting: files to be processed, and invitations (messages) that are due.',
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      for (const [what, { count }] of Object.entries(await waiting())) this.set({ what }, count);
    },
  });
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: 'soundings_oldest_waiting_seconds',
    help: 'How long the oldest file has been waiting to be processed, and how long the oldest invitation has been due. 0 if none is waiting.',
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      for (const [what, { oldestSeconds }] of Object.entries(await waiting()))
        this.set({ what }, oldestSeconds);
    },
  });
  // oxlint-disable-next-line no-new -- the registry keeps it
  new Gauge({
    name: 'soundings_dead_jobs',
    help: 'Jobs that have failed permanently and are not retried. They are removed after a week.',
    registers: [registry],
    async collect() {
      this.set(await deadJobs());
    },
  });
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
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });
}

/**
 * Returns whether a route serves survey participants. Counting its requests would reveal exactly how many people have answered at
 * any time (rules.md P18), so only failures of the service are counted.
 */
const isOfPeopleAsked = (route: string) => /^\/[ar]\//.test(route);

function isToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization.replace(/^bearer\s+/i, '')), digest(token));
}
