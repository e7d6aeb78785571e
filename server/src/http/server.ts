// The HTTP(S) server: everything that applies to all routes. It assigns request ids, checks the token before reading the body,
// checks parameters strictly, uses one error body, logs without secrets, and shuts down without losing requests. For the data
// interface it also applies rate limits, compression, ETags and CORS. Forms are read by their handlers, as streams.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Operation } from '@soundings/contract/operation.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import { isLoopback } from '../base/messages/smtp.ts';
import { bodyLimits, type BodyLimits, openBodies } from './bodies.ts';
import type { Concurrency } from './concurrency.ts';
import { connectionLimits, type ConnectionLimits, limitConnections } from './connections.ts';
import {
  badRequest,
  errorResponse,
  methodsByAddress,
  type MissingPage,
  notServed,
  sendError,
  sendNotServed,
} from './responses/error-responses.ts';
import { responseHeadersOf, type ListenOptions, logResponse, newFastify } from './fastify.ts';
import { type Forwarding, openForwarding } from './forwarding.ts';
import {
  type OperationDependencies,
  type RequestContext,
  servePreflight,
  serveOperation,
  type ServeOptions,
} from './operations.ts';
import { corsHeaders } from './origins.ts';
import { protocolResponse, retryAfter } from './responses/problems.ts';
import { streamInTurn } from './responses/responses.ts';
import { type Readers, watchReaders } from './readers.ts';
import { traceRequests } from './request-spans.ts';
import { openTraffic, type Traffic } from './traffic.ts';

export type ServerOptions = OperationDependencies &
  Omit<ListenOptions, 'headersMs'> & {
    /** Addresses and ranges of trusted proxies. */
    trustProxy: string[];
    /**
     * If set, plain HTTP is accepted only from trusted proxies and from this machine. The value is the public address, or an http: address
     * if it is unknown.
     */
    httpsOnlyAt?: string | undefined;
    /** For tests. */
    limits?: HttpLimits | undefined;
    /** How long a client may leave a response unread, in milliseconds. */
    readTimeout: number;
    /** The origins whose pages can read the data interface; `*` for all. If empty, no CORS headers are sent. */
    corsOrigins: string[];
    /** Returns whether the service has started. Until then, every request gets 503. */
    isStarted: () => boolean;
    /** Returns whether requests can be handled now: the database is reachable and migrated. */
    isReady: () => Promise<boolean>;
  };

/** Overrides for the limits in connections.ts, bodies.ts and fastify.ts. */
export type HttpLimits = {
  connections?: Partial<ConnectionLimits>;
  bodies?: Partial<BodyLimits>;
  /** How long the headers of a request, a connection without a request, or a TLS handshake may take, in milliseconds. */
  headersMs?: number;
};

export type Server = {
  app: FastifyInstance;
  /**
   * Registers an operation of the contract. The handler returns the response: a value, which is sent as JSON. For the data interface
   * it can also return JSON as text or bytes, or a StreamedResponse.
   */
  serve(
    operation: Operation,
    handler: (context: RequestContext) => Promise<unknown>,
    options?: ServeOptions,
  ): void;
  /**
   * Returns what reads a database for as long as its client takes, as a stream for a response of the account. It waits for its turn, as large
   * responses of the data interface do, and the client has to read it fast enough.
   */
  inTurn(
    request: FastifyRequest,
    reply: FastifyReply,
    accountId: number,
    chunks: () => AsyncIterable<string | Uint8Array>,
  ): Readable;
  /** Sets the page that browsers get for an address that doesn't exist. Until then, and for other clients, it is the error body. */
  onMissingPage(show: MissingPage): void;
  /** Returns the address of a proxy that is missing in the settings, or undefined if none was detected. */
  forgottenProxy(): string | undefined;
  /** Makes the server not ready and closes each connection after its next response. Requests are still handled. */
  leave(): void;
  /** Stops accepting connections, waits up to `seconds` for running requests, then closes. */
  shutDown(seconds: number): Promise<void>;
};

export function createServer(options: ServerOptions): Server {
  const traffic = openTraffic();
  const readers = watchReaders(options.readTimeout);
  const bodies = openBodies({ ...bodyLimits, ...options.limits?.bodies });
  const forwarding = openForwarding(options.trustProxy, options.log);
  const app = newFastify({ ...options, headersMs: options.limits?.headersMs }, bodies);
  const methods = methodsByAddress(app);
  let showMissingPage: MissingPage = (request, reply) => sendError(reply, protocolResponse(404, request.id));
  const connections = { ...connectionLimits, ...options.limits?.connections };
  limitConnections(app.server, connections, forwarding.isTrusted, options.log);
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
    reply.headers(responseHeadersOf(request.id, options));
    traffic.begin(reply);
    readers.watch(reply.raw, request.raw.socket, () =>
      options.log.warn({ requestId: request.id }, 'A client was disconnected: it read too slowly'),
    );
    // First, so that pages of other origins can read every error.
    if (request.routeOptions.config.face === 'data' && options.corsOrigins.length > 0) {
      corsHeaders(request, reply, options.corsOrigins);
    }
    // Here, so that errors don't wait for the body.
    refuseUnserved(request, options, { traffic, forwarding });
    if (request.is404) return sendNotServed(request, reply, notServed(request, methods), showMissingPage);
  });
  traceRequests(app, forwarding.isTrusted);
  addContinue(app);
  app.addHook('onSend', (request, reply, payload, done) => {
    // If the connection were closed, a client that is still sending its body would not read the response.
    if (traffic.isLeaving() && request.raw.complete) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(options.log, request, reply);
    done();
  });
  app.setErrorHandler((error, request, reply) =>
    sendError(reply, errorResponse(error, request, options.log)),
  );
  addHealth(app, async () => !traffic.isLeaving() && options.isReady());

  return {
    app,
    serve(operation, handler, serveOptions = {}) {
      serveOperation(app, { ...options, readers }, operation, handler, serveOptions);
      if (operation.interface === 'data' && options.corsOrigins.length > 0) servePreflight(app, operation);
    },
    inTurn: inTurnWith({ ...options, readers }),
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

const inTurnWith =
  (dependencies: { concurrency: Concurrency; readers: Readers }): Server['inTurn'] =>
  (request, reply, accountId, chunks) =>
    streamInTurn(request, reply, { ...dependencies, accountId }, chunks).source;

/** Throws a Fault for requests that are never served: while the service starts or stops, malformed ones, and plain HTTP. */
function refuseUnserved(
  request: FastifyRequest,
  { isStarted, httpsOnlyAt }: ServerOptions,
  { traffic, forwarding }: { traffic: Traffic; forwarding: Forwarding },
): void {
  const isAlways = request.routeOptions.config.always;
  if (!isAlways && (!isStarted() || traffic.isDraining())) {
    const what = traffic.isDraining() ? 'stopping' : 'starting';
    throw new Fault('unavailable', 'unavailable', `The service is ${what}. Try again in a moment.`);
  }
  if (!isWellFormed(request.raw)) throw badRequest;
  if (httpsOnlyAt !== undefined && !isAlways) refusePlainHttp(request, forwarding, httpsOnlyAt);
}

/**
 * Sends "100 Continue" to a client that waits for permission before it sends its body (like curl for large ones), once everything else is
 * checked.
 */
function addContinue(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.addHook('preParsing', (request, reply, payload, done) => {
    const isTooLarge = Number(request.headers['content-length']) > request.routeOptions.bodyLimit;
    if (request.headers.expect !== undefined && !isTooLarge) reply.raw.writeContinue();
    done(null, payload);
  });
}

/** How long the readiness check may take, in milliseconds. */
const readyTimeoutMs = 2000;

function addHealth(app: FastifyInstance, isReady: () => Promise<boolean>): void {
  app.get('/health/live', { config: { always: true } }, async () => ({ status: 'live' }));
  app.get('/health/ready', { config: { always: true } }, async (_request, reply) => {
    const ready = await Promise.race([isReady().catch(() => false), setTimeout(readyTimeoutMs, false)]);
    if (!ready) reply.code(503).header('retry-after', retryAfter);
    return { status: ready ? 'ready' : 'not ready' };
  });
}

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
