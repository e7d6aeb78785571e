// For tests of responses: a server with one operation of the tests' own, and requests to it.
import type { Operation } from '@soundings/contract/operation.ts';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { callerOf } from '../../accounts/callers.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { openResponseCache } from './response-cache.ts';
import type { RequestContext } from '../operations.ts';
import { createServer, type Server } from '../server.ts';
import { limitConcurrency } from '../concurrency.ts';

export let world: World;
export let account: TestAccount;

/** Starts a service for a test file, and stops it at its end. */
export function useService(): void {
  beforeAll(async () => {
    world = await openWorld();
    account = await world.account();
  });
  afterAll(() => world.close());
}

const operation = {
  interface: 'data',
  method: 'GET',
  path: '/v1/things/{thingId}/values',
  operationId: 'getThing',
  summary: 'A thing',
  description: '',
  scope: 'data',
  params: Type.Object({ thingId: Type.String({ pattern: '^[^!]*$' }) }),
  query: Type.Object({ size: Type.Optional(Type.String()) }),
  response: Type.Any(),
  errors: {},
} satisfies Operation;
export const path = '/v1/things/x/values';

export type Handler = (context: RequestContext) => Promise<unknown>;
export type Received = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

/** Returns a server with the one operation, and functions to send it requests. */
export async function open(
  handler: Handler,
  corsOrigins: string[] = [],
  cache = openResponseCache(0),
  concurrency = limitConcurrency(9, 9),
  beforeListening: (server: Server) => void = () => {},
) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace', base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const server = createServer({
    log,
    tls: undefined,
    trustProxy: [],
    authenticate: (authorization, scope) => callerOf(world.pool, authorization, scope),
    count: async () => {},
    cache,
    concurrency,
    readTimeout: 60_000,
    now: Date.now,
    corsOrigins,
    isStarted: () => true,
    isReady: async () => true,
  });
  server.serve(operation, handler);
  beforeListening(server);
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.shutDown(5));

  const begin = async (headers: Record<string, string> = {}, method = 'GET', at = path) => {
    const all = { authorization: account.token, ...headers };
    const { hostname, port } = new URL(address);
    const sending = httpRequest({ hostname, port, path: at, method, headers: all, agent: false }).end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return response;
  };
  const send = async (...args: Parameters<typeof begin>): Promise<Received> => {
    const response = await begin(...args);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) };
  };
  return { address, lines, begin, send };
}

export const problemOf = ({ bytes }: Received) =>
  JSON.parse(bytes.toString()) as { message: string; details: object[] };

const decompress: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  undefined: (bytes) => bytes,
};
export const uncompressed = ({ headers, bytes }: Received) =>
  decompress[String(headers['content-encoding'])]!(bytes).toString();
