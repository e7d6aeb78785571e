// Serves the operations of the contract: checks the token, the rate limit and the parameters before the body is read, compresses and
// streams long responses, and caches those of the data interface.
import type { Operation, Scope } from '@soundings/contract/operation.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../base/log.ts';
import type { Concurrency } from './concurrency.ts';
import { acceptedEncoding } from './responses/encoding.ts';
import { unsupported } from './responses/error-responses.ts';
import type { Caller } from './fastify.ts';
import { preflightHeaders } from './origins.ts';
import { queryReader } from './query.ts';
import type { Readers } from './readers.ts';
import type { ResponseCache, SentResponse } from './responses/response-cache.ts';
import { StreamedResponse, sendAgain, sendLong, sendValue } from './responses/responses.ts';

/**
 * What a handler receives. `params` and `query` contain decoded texts, checked against the operation. `body` contains unparsed
 * JSON; a form is still in `request.raw`.
 */
export type RequestContext = {
  caller: Caller;
  params: Record<string, string>;
  query: Record<string, string>;
  body: Buffer | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** What all operations need. */
export type OperationDependencies = {
  log: Log;
  /** Returns the caller by the Authorization header and the client address, or throws a Fault. */
  authenticate: (authorization: string | undefined, scope: Scope, address: string) => Promise<Caller>;
  /** Counts a request against the caller's rate limit. Throws a Fault if it is exceeded. */
  count: (caller: Caller) => Promise<void>;
  /** The cache for responses of the data interface. */
  cache: ResponseCache;
  /** Limits how many streamed responses run at the same time. */
  concurrency: Concurrency;
  /** The clock, in milliseconds. */
  now: () => number;
};

/** The maximum body size in bytes, the content encodings that the handler can decompress, and further paths of the operation. */
export type ServeOptions = { bodyLimit?: number; encodings?: string[]; aliases?: readonly string[] };

/** Registers an operation. */
export function serveOperation(
  app: FastifyInstance,
  {
    authenticate,
    count,
    log,
    cache,
    concurrency,
    readers,
    now,
  }: OperationDependencies & { readers: Readers },
  operation: Operation,
  handler: (context: RequestContext) => Promise<unknown>,
  { bodyLimit, encodings = [], aliases = [] }: ServeOptions,
): void {
  const readQuery = queryReader(operation.query);
  const readParams = operation.params && queryReader(operation.params);
  const isData = operation.interface === 'data';
  const route = (url: string) => ({
    // HEAD is registered explicitly: Fastify's automatic HEAD would read a stream to its end and give a 304 a length.
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url,
    config: { face: operation.interface, isForm: operation.bodyType !== undefined },
    ...(bodyLimit !== undefined && { bodyLimit }),
    // Before the body is read, so that callers without a token can't make us read 64 MB.
    onRequest: async (request: FastifyRequest) => {
      request.caller = await authenticate(request.headers.authorization, operation.scope, request.address);
      request.accountId = request.caller.accountId;
      await count(request.caller);
      readParams?.(request.params as Record<string, unknown>);
      if (!operation.readsQuery) readQuery(request.query as Record<string, unknown>);
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && !encodings.includes(encoding.toLowerCase())) throw unsupported;
      const type = request.headers['content-type'];
      if (operation.bodyType && !isOfType(type ?? '', operation.bodyType)) throw unsupported;
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const handle = () =>
        handler({
          caller: request.caller as Caller,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, string>,
          body: request.body as Buffer | undefined,
          request,
          reply,
        });
      if (!isData) {
        const whole = await handle();
        return whole instanceof StreamedResponse
          ? sendLong(request, reply, { log, keep: keepNothing, concurrency, readers }, whole)
          : whole;
      }
      const key = keyOf(request, now());
      const sent = cache.get(key);
      if (sent) return sendAgain(request, reply, sent);
      const keep = { add: (one: SentResponse) => cache.add(key, one), largest: cache.largest };
      const fresh = await handle();
      return fresh instanceof StreamedResponse
        ? sendLong(request, reply, { log, keep, concurrency, readers }, fresh)
        : sendValue(request, reply, keep, fresh);
    },
  });
  for (const url of [addressOf(operation), ...aliases]) app.route(route(url));
}

/** For the interfaces whose responses are not cached. */
const keepNothing = { add: () => {}, largest: 0 };

/** Returns the cache key: everything that a response of the data interface depends on (URL, caller, version, day, encoding). */
function keyOf({ caller, headers, url }: FastifyRequest, now: number): string {
  const { accountId, version, timezone, numbers } = caller as Caller;
  const encoding = acceptedEncoding(headers['accept-encoding']);
  return `${accountId} ${version} ${dayIn(timezone, now)} ${numbers} ${encoding} ${url}`;
}

/** Returns whether a Content-Type header has this type, with any parameters. */
const isOfType = (header: string, type: string) => header.replace(/;.*/s, '').trim().toLowerCase() === type;

/** Returns the path of an operation in Fastify's format: `/v1/kpis/:kpiId/values`. */
const addressOf = ({ path }: Operation) => path.replace(/\{(\w+)\}/g, ':$1');

/** Serves the preflight request that browsers send before a request of another origin, without token and body. */
export function servePreflight(app: FastifyInstance, operation: Operation): void {
  app.options(addressOf(operation), { config: { face: operation.interface } }, async (_request, reply) =>
    reply.code(204).headers(preflightHeaders).send(),
  );
}
