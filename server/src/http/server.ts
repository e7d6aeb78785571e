// The HTTP(S) server: everything that applies to all routes. It assigns request ids, checks the token before reading the body,
// checks parameters strictly, uses one error body, logs without secrets, and shuts down without losing requests. For the data
// interface it also applies rate limits, compression, ETags and CORS. Forms are read by their handlers, as streams.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { InterfaceName, Numbers, Operation, Scope } from '@soundings/contract/operation.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import fastify, {
  LogController,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { networkOf, plainAddress } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { isLoopback } from '../base/smtp.ts';
import { asFault } from '../db/db.ts';
import { StreamedResponse, sendAgain, sendLong, sendValue, withoutTraits } from './responses.ts';
import { type Bodies, bodyLimits, type BodyLimits, type BodySource, openBodies } from './bodies.ts';
import type { ResponseCache, SentResponse } from './response-cache.ts';
import { connectionLimits, type ConnectionLimits, limitConnections } from './connections.ts';
import { acceptedEncoding } from './encoding.ts';
import { type Forwarding, openForwarding } from './forwarding.ts';
import { corsHeaders, preflightHeaders } from './origins.ts';
import {
  type ErrorResponse,
  defectResponse,
  faultResponse,
  problem,
  protocolResponse,
  retryAfter,
} from './problems.ts';
import { queryReader } from './query.ts';
import { type Readers, watchReaders } from './readers.ts';
import type { Concurrency } from './concurrency.ts';

/** The caller: a token and its account. Every change that can affect a response raises `version`. */
export type Caller = {
  accountId: number;
  tokenId: number;
  numbers: Numbers;
  timezone: string;
  version: string;
};

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

export type ServerOptions = {
  log: Log;
  tls: { cert: string; key: string } | undefined;
  /** Addresses and ranges of trusted proxies. */
  trustProxy: string[];
  /** If set, plain HTTP is accepted only from trusted proxies and from this machine. The value is the public address, or an http: address if it is unknown. */
  httpsOnlyAt?: string | undefined;
  /** For tests. */
  limits?: HttpLimits | undefined;
  /** Whether people use HTTPS. Then browsers are told to use nothing else. */
  isSecure?: boolean;
  /** Returns the caller by the Authorization header and the client address, or throws a Fault. */
  authenticate: (authorization: string | undefined, scope: Scope, address: string) => Promise<Caller>;
  /** Counts a request against the caller's rate limit. Throws a Fault if it is exceeded. */
  count: (caller: Caller) => Promise<void>;
  /** The cache for responses of the data interface. */
  cache: ResponseCache;
  /** Limits how many streamed responses run at once. */
  concurrency: Concurrency;
  /** How long a client may leave a response unread, in milliseconds. */
  readTimeout: number;
  /** The clock, in milliseconds. */
  now: () => number;
  /** The origins whose pages can read the data interface; `*` for all. If empty, no CORS headers are sent. */
  corsOrigins: string[];
  /** Returns whether the service has started. Until then, every request gets 503. */
  isStarted: () => boolean;
  /** Returns whether requests can be handled now: the database is reachable and migrated. */
  isReady: () => Promise<boolean>;
};

/** Sends the page for an address that doesn't exist. The status is already set. */
export type MissingPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** The maximum body size in bytes, and the content encodings that the handler can decompress. */
export type ServeOptions = { bodyLimit?: number; encodings?: string[] };

/** Overrides for the limits in connections.ts, bodies.ts and this file. */
export type HttpLimits = {
  connections?: Partial<ConnectionLimits>;
  bodies?: Partial<BodyLimits>;
  /** How long the headers of a request, a connection without a request, or a TLS handshake may take, in milliseconds. */
  headersMs?: number;
};

/** How long the headers of a request may take, in milliseconds. */
const headersMs = 15_000;

export type Server = {
  app: FastifyInstance;
  /**
   * Registers an operation of the contract. The handler returns the response: a value, which is sent as JSON. For the data interface
   * it can also return JSON as text or bytes, or a LongAnswer.
   */
  serve(
    operation: Operation,
    handler: (ask: RequestContext) => Promise<unknown>,
    options?: ServeOptions,
  ): void;
  /** Sets the page that browsers get for an address that doesn't exist. Until then, and for other clients, it is the error body. */
  onMissingPage(show: MissingPage): void;
  /** Returns the address of a proxy that is missing in the settings, or undefined if none was detected. */
  forgottenProxy(): string | undefined;
  /** Makes the server not ready and closes each connection after its next response. Requests are still handled. */
  leave(): void;
  /** Stops accepting connections, waits up to `seconds` for running requests, then closes. */
  shutDown(seconds: number): Promise<void>;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the whole body of a request, within the limits of bodies.ts. */
    readBody(request: FastifyRequest): Promise<Buffer>;
  }
  interface FastifyContextConfig {
    face?: InterfaceName;
    isForm?: boolean;
    /** The route works even while the service is starting or stopping. */
    always?: true;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    /** The account of the request's token or session. Set before the body is read. */
    accountId: number | undefined;
    /** The client address. Use it instead of `ip`, which is undefined if the client has disconnected. */
    address: string;
  }
}

export function createServer(options: ServerOptions): Server {
  const traffic = newTraffic();
  const readers = watchReaders(options.readTimeout);
  const bodies = openBodies({ ...bodyLimits, ...options.limits?.bodies });
  const forwarding = openForwarding(options.trustProxy, options.log);
  const app = newFastify(options, bodies);
  const methods = methodsByAddress(app);
  let showMissingPage: MissingPage = (request, reply) => send(reply, protocolResponse(404, request.id));
  const connections = { ...connectionLimits, ...options.limits?.connections };
  limitConnections(app.server, connections, forwarding.isTrusted, options.log);
  decorateRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    const address = forwarding.addressOf(request.raw);
    if (address === undefined) {
      request.raw.destroy(); // the client has disconnected
      return reply.hijack();
    }
    request.address = address;
    forwarding.notice(request.raw);
    bodies.watch(request.raw);
    reply.raw.once('close', () => bodies.release(request.raw));
    reply.headers(headersOf(request.id, options));
    traffic.begin(reply);
    readers.watch(reply.raw, request.raw.socket, () =>
      options.log.warn({ requestId: request.id }, 'A client was disconnected: it read too slowly'),
    );
    // First, so that pages of other origins can read every error.
    if (request.routeOptions.config.face === 'data' && options.corsOrigins.length > 0) {
      corsHeaders(request, reply, options.corsOrigins);
    }
    if (!request.routeOptions.config.always && (!options.isStarted() || traffic.isDraining())) {
      const what = traffic.isDraining() ? 'stopping' : 'starting';
      throw new Fault('unavailable', 'unavailable', `The service is ${what}. Try again in a moment.`);
    }
    // Here, so that errors don't wait for the body.
    if (!isWellFormed(request.raw)) throw badRequest;
    if (options.httpsOnlyAt !== undefined && !request.routeOptions.config.always)
      refusePlainHttp(request, forwarding, options.httpsOnlyAt);
    if (request.is404) return sendNotServed(request, reply, notServed(request, methods), showMissingPage);
  });
  // A client that asks before sending its body (like curl for large ones) gets "100 Continue" once everything else is checked.
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.addHook('preParsing', async (request, reply) => {
    const isTooLarge = Number(request.headers['content-length']) > request.routeOptions.bodyLimit;
    if (request.headers.expect !== undefined && !isTooLarge) reply.raw.writeContinue();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // If the connection were closed, a client that is still sending its body would not read the response.
    if (traffic.isLeaving() && request.raw.complete) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', async (request, reply) => logResponse(options.log, request, reply));
  app.setErrorHandler((error, request, reply) => send(reply, errorResponse(error, request, options.log)));
  addHealth(app, async () => !traffic.isLeaving() && options.isReady());

  return {
    app,
    serve(operation, handler, serveOptions = {}) {
      serve(app, { ...options, readers }, operation, handler, serveOptions);
      if (operation.interface === 'data' && options.corsOrigins.length > 0) servePreflight(app, operation);
    },
    onMissingPage: (show) => void (showMissingPage = show),
    forgottenProxy: forwarding.forgottenProxy,
    leave: () => traffic.leave(),
    async shutDown(seconds) {
      traffic.leave();
      const closed = app.close(); // closes idle connections immediately, and the others after their response
      await traffic.drain(seconds);
      readers.close();
      bodies.close();
      app.server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * For TLS 1.2, only ciphers with forward secrecy and authenticated encryption, as RFC 9325 recommends. Node would also offer RSA
 * key exchange and CBC.
 */
const tlsOptions = {
  minVersion: 'TLSv1.2' as const,
  honorCipherOrder: true,
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
};

function newFastify(options: ServerOptions, bodies: Bodies): FastifyInstance {
  const { tls, log } = options;
  const timeoutMs = options.limits?.headersMs ?? headersMs;
  const listening = {
    requireHostHeader: false, // we handle requests without Host ourselves, with our error body
    headersTimeout: timeoutMs,
    keepAlive: true, // so that a client that lost power or network doesn't keep its connection
    keepAliveInitialDelay: 60_000,
    connectionsCheckingInterval: Math.min(1000, timeoutMs / 4),
  };
  const app = fastify({
    ...(tls
      ? { https: { ...listening, ...tlsOptions, ...tls, handshakeTimeout: timeoutMs } }
      : { http: listening }),
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // Path parameters can be as long as the URL. The handler reports that the value doesn't exist.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: () => newId(),
    requestTimeout: 300_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (_error, request, reply) => {
      reply.headers(headersOf(request.id, options));
      void send(reply as FastifyReply, protocolResponse(400, request.id));
      logResponse(log, request as FastifyRequest, reply as FastifyReply);
    },
    clientErrorHandler: refuseBrokenRequest,
  }) as unknown as FastifyInstance;
  // Handlers receive bodies as raw bytes, because their parser is stricter than JSON.parse.
  app.removeAllContentTypeParsers();
  app.decorate('readBody', (request: FastifyRequest) =>
    bodies.read(request.raw, request.routeOptions.bodyLimit, sourceOf(request)),
  );
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(request.headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported;
    return app.readBody(request);
  });
  app.addContentTypeParser('*', (request, _body, done) =>
    done(request.routeOptions.config.isForm ? null : unsupported),
  );
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  return app;
}

/** Returns the source that a body counts against. */
const sourceOf = ({ accountId, address }: FastifyRequest): BodySource =>
  accountId === undefined
    ? { kind: 'strangers', name: networkOf(address) }
    : { kind: 'callers', name: String(accountId) };

/** Counts running requests, so that a shutdown can wait for them. */
function newTraffic() {
  let running = 0;
  let leaving = false;
  let draining = false;
  let onIdle = () => {};
  return {
    isLeaving: () => leaving,
    leave(): void {
      leaving = true;
    },
    isDraining: () => draining,
    begin(reply: FastifyReply): void {
      running++;
      // 'close' is emitted once for every response, even if the client has disconnected.
      reply.raw.once('close', () => {
        if (--running === 0) onIdle();
      });
    },
    async drain(seconds: number): Promise<void> {
      draining = true;
      if (running === 0) return;
      const timeout = new AbortController();
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await Promise.race([
        idle,
        setTimeout(seconds * 1000, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
    },
  };
}

function serve(
  app: FastifyInstance,
  { authenticate, count, log, cache, concurrency, readers, now }: ServerOptions & { readers: Readers },
  operation: Operation,
  handler: (ask: RequestContext) => Promise<unknown>,
  { bodyLimit, encodings = [] }: ServeOptions,
): void {
  const readQuery = queryReader(operation.query);
  const readParams = operation.params && queryReader(operation.params);
  const isData = operation.interface === 'data';
  app.route({
    // HEAD is registered explicitly: Fastify's automatic HEAD would read a stream to its end and give a 304 a length.
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url: addressOf(operation),
    config: { face: operation.interface, isForm: operation.bodyType !== undefined },
    ...(bodyLimit !== undefined && { bodyLimit }),
    // Before the body is read, so that callers without a token can't make us read 64 MB.
    onRequest: async (request) => {
      request.caller = await authenticate(request.headers.authorization, operation.scope, request.address);
      request.accountId = request.caller.accountId;
      await count(request.caller);
      readParams?.(request.params as Record<string, unknown>);
      readQuery(request.query as Record<string, unknown>);
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && !encodings.includes(encoding.toLowerCase())) throw unsupported;
      const type = request.headers['content-type'];
      if (operation.bodyType && !isOfType(type ?? '', operation.bodyType)) throw unsupported;
    },
    handler: async (request, reply) => {
      const handle = () =>
        handler({
          caller: request.caller as Caller,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, string>,
          body: request.body as Buffer | undefined,
          request,
          reply,
        });
      if (!isData) return handle();
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
}

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
function servePreflight(app: FastifyInstance, operation: Operation): void {
  app.options(addressOf(operation), { config: { face: operation.interface } }, async (_request, reply) =>
    reply.code(204).headers(preflightHeaders).send(),
  );
}

/** Returns the methods of each registered path. The map is filled as routes are registered. */
function methodsByAddress(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const set = methods.get(url) ?? new Set();
    methods.set(url, set);
    for (const one of [method].flat()) set.add(one);
  });
  return methods;
}

/** Returns the response for a path that doesn't exist, or not with this method. */
function notServed(request: FastifyRequest, methods: Map<string, Set<string>>): ErrorResponse {
  const address = request.url.replace(/\?.*/s, '');
  const present = methods.get(address) ?? [...methods].find(([pattern]) => isAt(pattern, address))?.[1];
  if (!present || present.has(request.method)) return protocolResponse(404, request.id);
  const allow = [...present].toSorted().join(', ');
  const message = `This address only supports ${allow}.`;
  return { status: 405, headers: { allow }, body: problem(request.id, 'method not allowed', message) };
}

function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('caller', undefined);
  app.decorateRequest('accountId', undefined);
  app.decorateRequest('address', '');
}

function sendNotServed(
  request: FastifyRequest,
  reply: FastifyReply,
  response: ErrorResponse,
  show: MissingPage,
): FastifyReply {
  const isPage = response.status === 404 && isFollowed(request);
  return isPage ? show(request, reply.code(404)) : send(reply, response);
}

/** Returns whether a browser requests a page, rather than a program or a path of an interface. */
const isFollowed = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !/^\/(v1|api)(\/|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '');

/** Returns whether a path matches a pattern such as /v1/kpis/:kpiId/values. */
function isAt(pattern: string, address: string): boolean {
  const [wanted, given] = [pattern.split('/'), address.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith(':') || part === given[i])
  );
}

/** How long the readiness check may take, in milliseconds. */
const readyPatience = 2000;

function addHealth(app: FastifyInstance, isReady: () => Promise<boolean>): void {
  app.get('/health/live', { config: { always: true } }, async () => ({ status: 'live' }));
  app.get('/health/ready', { config: { always: true } }, async (_request, reply) => {
    const ready = await Promise.race([isReady().catch(() => false), setTimeout(readyPatience, false)]);
    if (!ready) reply.code(503).header('retry-after', retryAfter);
    return { status: ready ? 'ready' : 'not ready' };
  });
}

const badRequest = Object.assign(new Error('request'), { statusCode: 400 });
const unsupported = Object.assign(new Error('content type or encoding'), { statusCode: 415 });

/**
 * Returns whether a request has exactly one Host header (RFC 9112 §3.2) and a path; `*` is not supported. With two Host headers, a
 * proxy may have used the other one.
 */
function isWellFormed({ httpVersion, rawHeaders, url = '' }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  return (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) && /^(\/|https?:\/\/)/i.test(url);
}

/** Throws a Fault if a request crossed a network as plain HTTP. */
function refusePlainHttp({ raw }: FastifyRequest, { isTrusted }: Forwarding, publicUrl: string): void {
  const peer = raw.socket.remoteAddress ?? '';
  if (isTrusted(peer) || isLoopback(plainAddress(peer))) return;
  const remedy = publicUrl.startsWith('https:')
    ? `Use ${publicUrl} instead.`
    : 'Use the HTTPS address of your proxy instead.';
  const message = `Plain HTTP is not accepted here, because others could read what you send. ${remedy}`;
  throw new Fault('forbidden', 'https required', message);
}

/** Returns the headers of every response. Strict-Transport-Security (RFC 6797) lasts a year and applies to this host only, because other hosts are not ours. */
const headersOf = (id: string, { isSecure }: ServerOptions) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
});

function send(reply: FastifyReply, { status, headers, body }: ErrorResponse): FastifyReply {
  // The response is sent before the whole body was received. The rest would be read as the next request.
  if (reply.request.routeOptions.config.isForm) closeLater(reply);
  else if ([408, 413, 415].includes(status)) reply.header('connection', 'close');
  return withoutTraits(reply)
    .code(status)
    .headers(headers)
    .header('content-type', body ? 'application/json; charset=utf-8' : 'text/plain')
    .send(body);
}

/**
 * Delays closing the connection until the whole form was received. A client may keep sending a refused form and read the response
 * only afterwards. If it asked to close the connection, Node would close it immediately and the client would never see the error.
 */
function closeLater({ raw: response, request: { raw: request } }: FastifyReply): void {
  if (request.complete || response.shouldKeepAlive) return;
  response.shouldKeepAlive = true;
  const close = () => void request.socket.end();
  response.once('finish', () => (request.complete ? close() : request.once('end', close)));
}

function errorResponse(thrown: unknown, request: FastifyRequest, log: Log): ErrorResponse {
  const error = asFault(thrown);
  if (error instanceof Fault) {
    const response = faultResponse(error, request.id, request.routeOptions.config.face ?? 'data');
    if (error.kind === 'unavailable') log.warn({ requestId: request.id, cause: error.cause }, error.message);
    else if (!response.body) log.info({ requestId: request.id }, error.message); // the response doesn't contain it
    return response;
  }
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return protocolResponse(status, request.id);
  log.error({ requestId: request.id, err: error }, 'A request failed with an unexpected error');
  return defectResponse(request.id);
}

function logResponse(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  // Health checks and metrics are requested every few seconds and would drown out other entries.
  const isProbe = request.routeOptions.config.always || request.routeOptions.url === '/metrics';
  log[isProbe ? 'debug' : 'info'](
    {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null, // the pattern, because a URL could contain anything
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      accountId: request.caller?.accountId,
      tokenId: request.caller?.tokenId,
    },
    'request completed',
  );
}

/** Responds to a request that is not valid HTTP on the socket itself, because it never reaches a route. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const { body } = protocolResponse(status, newId());
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
      `x-request-id: ${body.id}\r\nconnection: close\r\n\r\n${text}`,
  );
}
