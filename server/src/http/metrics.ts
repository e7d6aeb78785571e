// What a monitoring system reads: the process (memory, event loop, garbage collection) and the requests by route and
// status, in the text format of Prometheus. Of the people asked only failures. For the machine itself, or whoever has the token of METRICS_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { plainAddress } from '../base/addresses.ts';
import { Fault } from '../base/errors.ts';
import { isLoopback } from '../base/smtp.ts';

/** How many wait, and for how long the oldest of them has; 0 where none does. */
export type Waiting = { count: number; oldestSeconds: number };

/** Seconds. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * `waiting`: how many of what are waiting now, by what it is called, and for how many seconds the oldest has. `deadJobs`: how
 * many jobs have failed for good. `isProxied`: whether requests come through a proxy, which may itself be on this machine: then
 * only the token opens it.
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
    help: 'Requests that were answered, by the pattern of their address.',
    labelNames: ['method', 'route', 'status'],
    buckets: durations,
    registers: [registry],
  });
  // oxlint-disable-next-line no-new -- it lives in the registry
  new Gauge({
    name: 'soundings_waiting',
    help: 'What is waiting to be done: files to be processed, invitations (messages) that are due.',
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      for (const [what, { count }] of Object.entries(await waiting())) this.set({ what }, count);
    },
  });
  // oxlint-disable-next-line no-new -- it lives in the registry
  new Gauge({
    name: 'soundings_oldest_waiting_seconds',
    help: 'For how long the oldest file has waited to be processed, and the oldest invitation since it was due. 0: none waits.',
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      for (const [what, { oldestSeconds }] of Object.entries(await waiting()))
        this.set({ what }, oldestSeconds);
    },
  });
  // oxlint-disable-next-line no-new -- it lives in the registry
  new Gauge({
    name: 'soundings_dead_jobs',
    help: 'Jobs that have failed so often that they are not tried again. They are removed after a week.',
    registers: [registry],
    async collect() {
      this.set(await deadJobs());
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'; // the pattern: an address could hold anything
    if (isOfPeopleAsked(route) && reply.statusCode < 500) return;
    requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (request, reply) => {
    const isHere = !isProxied() && isLoopback(plainAddress(request.socket.remoteAddress ?? ''));
    if (!isHere && !isToken(request.headers.authorization, token)) {
      throw new Fault('not_found', 'not found', 'There is nothing at this address.');
    }
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });
}

/**
 * Pages of the people asked: counted, they would say how many have answered, at each moment and exactly (privacy.md P18). Only
 * what the service failed at is counted.
 */
const isOfPeopleAsked = (route: string) => /^\/[ar]\//.test(route);

function isToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined || authorization === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization.replace(/^bearer\s+/i, '')), digest(token));
}
