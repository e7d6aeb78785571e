// The HTTP(S) server: everything that holds for every route stands here. Request ids, the token before the body,
// strict parameters, one error body, a log without secrets, and a shutdown that loses no request. For the data
// interface also: requests counted, answers packed and with an ETag, pages of other origins let in. Forms are not read
// here: their handler reads them as they come.
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
import { networkOf, plainAddress } from '../base/addresses.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { isLoopback } from '../base/smtp.ts';
import { asFault } from '../db/db.ts';
import { LongAnswer, sendAgain, sendLong, sendValue, withoutTraits } from './answers.ts';
import { type Bodies, bodyLimits, type BodyLimits, type BodySource, openBodies } from './bodies.ts';
import type { AnswerCache, SentAnswer } from './cache.ts';
import { connectionLimits, type ConnectionLimits, limitConnections } from './connections.ts';
import { acceptedEncoding } from './encoding.ts';
import { type Forwarding, openForwarding } from './forwarding.ts';
import { corsHeaders, preflightHeaders } from './origins.ts';
import { type Answer, defectAnswer, faultAnswer, problem, protocolAnswer, retryAfter } from './problems.ts';
import { queryReader } from './query.ts';
import { type Readers, watchReaders } from './readers.ts';
import type { Slots } from './slots.ts';

/** Who asks: a token, and the account that it is of; `version` is raised by whatever changes an answer of it. */
export type Caller = {
  accountId: number;
  tokenId: number;
  numbers: Numbers;
  timezone: string;
  version: string;
};

/**
 * What a handler is given; `params` and `query` hold texts, decoded and checked against the operation. `body` holds JSON,
 * unread; a form is still in `request.raw`.
 */
export type Ask = {
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
  /** Addresses and ranges of the proxies in front. */
  trustProxy: string[];
  /** Plain HTTP is taken from these proxies and from this machine only; the address is where clients find the service, which may not be known (http:). */
  httpsOnlyAt?: string | undefined;
  /** For tests. */
  limits?: HttpLimits | undefined;
  /** People come by HTTPS: browsers are told never to come otherwise. */
  isSecure?: boolean;
  /** Finds the caller by the Authorization header, and the address that the request comes from, or throws a Fault. */
  authenticate: (authorization: string | undefined, scope: Scope, address: string) => Promise<Caller>;
  /** Counts a request of the data interface; throws a Fault when the caller has no more. */
  count: (caller: Caller) => Promise<void>;
  /** Where answers of the data interface are kept. */
  cache: AnswerCache;
  /** Who may read long answers at once. */
  slots: Slots;
  /** How long, in ms, a client may leave an answer unread. */
  readPatience: number;
  /** The clock, in ms. */
  now: () => number;
  /** The origins whose pages may read the data interface; `*`: all. None: the service says nothing of origins. */
  corsOrigins: string[];
  /** Whether the service has started; until then every request gets 503. */
  isStarted: () => boolean;
  /** Whether requests can be served now: the database is reached, and migrated. */
  isReady: () => Promise<boolean>;
};

/** Sends the page for an address at which there is nothing; the status is set already. */
export type MissingPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** The largest body, in bytes, and the content encodings that the handler unpacks. */
export type ServeOptions = { bodyLimit?: number; encodings?: string[] };

/** Limits other than those of connections.ts, bodies.ts and here. */
export type HttpLimits = {
  connections?: Partial<ConnectionLimits>;
  bodies?: Partial<BodyLimits>;
  /** How long the headers of a request may take, in ms, or a connection without one, or a TLS handshake. */
  headersMs?: number;
};

/** How long the headers of a request may take, in ms. */
const headersMs = 15_000;

export type Server = {
  app: FastifyInstance;
  /**
   * Registers an operation of the contract. What its handler returns is the answer: a value, sent as JSON; for the data
   * interface also text or bytes of JSON, or a LongAnswer.
   */
  serve(operation: Operation, handler: (ask: Ask) => Promise<unknown>, options?: ServeOptions): void;
  /** Says what a person who follows or types an address gets where there is nothing. Until then, and for programs, it is the error body. */
  onMissingPage(show: MissingPage): void;
  /** The address of a proxy of which the settings know nothing; undefined: there is no sign of any. */
  forgottenProxy(): string | undefined;
  /** From now on it is not ready, and each connection is closed after its next response. Requests are still served. */
  leave(): void;
  /** Takes no new connections, waits for running requests, then closes; after `seconds` it closes all the same. */
  shutDown(seconds: number): Promise<void>;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the body of a request whole, within the limits of bodies.ts. */
    readBody(request: FastifyRequest): Promise<Buffer>;
  }
  interface FastifyContextConfig {
    face?: InterfaceName;
    isForm?: boolean;
    /** Answers even while starting or stopping. */
    always?: true;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    /** The account of the token or session with which it comes. Set before the body is read. */
    accountId: number | undefined;
    /** Where it comes from. Use it in place of `ip`, which is undefined when the client has gone. */
    address: string;
  }
}

export function createServer(options: ServerOptions): Server {
  const traffic = newTraffic();
  const readers = watchReaders(options.readPatience);
  const bodies = openBodies({ ...bodyLimits, ...options.limits?.bodies });
  const forwarding = openForwarding(options.trustProxy, options.log);
  const app = newFastify(options, bodies);
  const methods = methodsByAddress(app);
  let showMissingPage: MissingPage = (request, reply) => send(reply, protocolAnswer(404, request.id));
  const connections = { ...connectionLimits, ...options.limits?.connections };
  limitConnections(app.server, connections, forwarding.isTrusted, options.log);
  decorateRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    const address = forwarding.addressOf(request.raw);
    if (address === undefined) {
      request.raw.destroy(); // the client has gone
      return reply.hijack();
    }
    request.address = address;
    forwarding.notice(request.raw);
    bodies.watch(request.raw);
    reply.raw.once('close', () => bodies.release(request.raw));
    reply.headers(headersOf(request.id, options));
    traffic.begin(reply);
    readers.watch(reply.raw, request.raw.socket, () =>
      options.log.warn({ requestId: request.id }, 'A client read too slowly, and was cut off'),
    );
    // First, so that a page can read every refusal.
    if (request.routeOptions.config.face === 'data' && options.corsOrigins.length > 0) {
      corsHeaders(request, reply, options.corsOrigins);
    }
    if (!request.routeOptions.config.always && (!options.isStarted() || traffic.isDraining())) {
      const what = traffic.isDraining() ? 'stopping' : 'starting';
      throw new Fault('unavailable', 'unavailable', `The service is ${what}. Try again in a moment.`);
    }
    // Here, so that a refusal does not wait for a body.
    if (!isWellFormed(request.raw)) throw badRequest;
    if (options.httpsOnlyAt !== undefined && !request.routeOptions.config.always)
      refusePlainHttp(request, forwarding, options.httpsOnlyAt);
    if (request.is404) return sendNotServed(request, reply, notServed(request, methods), showMissingPage);
  });
  // Whoever asks whether to send a body (curl does, for large ones) is told when nothing but the body can be wrong.
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.addHook('preParsing', async (request, reply) => {
    const isTooLarge = Number(request.headers['content-length']) > request.routeOptions.bodyLimit;
    if (request.headers.expect !== undefined && !isTooLarge) reply.raw.writeContinue();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A client that still sends its body would not read the response of a connection that is closed.
    if (traffic.isLeaving() && request.raw.complete) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', async (request, reply) => logAnswer(options.log, request, reply));
  app.setErrorHandler((error, request, reply) => send(reply, answerTo(error, request, options.log)));
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
      const closed = app.close(); // connections without a request are closed at once, the others after their response
      await traffic.drain(seconds);
      readers.close();
      bodies.close();
      app.server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * TLS 1.2 with forward secrecy and authenticated encryption only, as RFC 9325 recommends: Node would also offer RSA key exchange
 * and CBC.
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
  const patience = options.limits?.headersMs ?? headersMs;
  const listening = {
    requireHostHeader: false, // a request without Host is answered by us, with the error body
    headersTimeout: patience,
    keepAlive: true, // so that a client that lost power or network does not keep its connection
    keepAliveInitialDelay: 60_000,
    connectionsCheckingInterval: Math.min(1000, patience / 4),
  };
  const app = fastify({
    ...(tls
      ? { https: { ...listening, ...tlsOptions, ...tls, handshakeTimeout: patience } }
      : { http: listening }),
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    // A part of an address is as long as the address may be: whoever answers for it says that there is no such thing.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: () => newId(),
    requestTimeout: 300_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (_error, request, reply) => {
      reply.headers(headersOf(request.id, options));
      void send(reply as FastifyReply, protocolAnswer(400, request.id));
      logAnswer(log, request as FastifyRequest, reply as FastifyReply);
    },
    clientErrorHandler: refuseBrokenRequest,
  }) as unknown as FastifyInstance;
  // Bodies reach their handler as the bytes that were sent: the handler's own parser is stricter than JSON.parse.
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

/** Against whom a body counts. */
const sourceOf = ({ accountId, address }: FastifyRequest): BodySource =>
  accountId === undefined
    ? { kind: 'strangers', name: networkOf(address) }
    : { kind: 'callers', name: String(accountId) };

/** Counts the requests that run, so that a stop can wait for them. */
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
      // 'close' comes once for every answer, also when the client has gone away.
      reply.raw.once('close', () => {
        if (--running === 0) onIdle();
      });
    },
    async drain(seconds: number): Promise<void> {
      draining = true;
      if (running === 0) return;
      const patience = new AbortController();
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await Promise.race([
        idle,
        setTimeout(seconds * 1000, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
    },
  };
}

function serve(
  app: FastifyInstance,
  { authenticate, count, log, cache, slots, readers, now }: ServerOptions & { readers: Readers },
  operation: Operation,
  handler: (ask: Ask) => Promise<unknown>,
  { bodyLimit, encodings = [] }: ServeOptions,
): void {
  const readQuery = queryReader(operation.query);
  const readParams = operation.params && queryReader(operation.params);
  const isData = operation.interface === 'data';
  app.route({
    // HEAD by name: what Fastify makes of GET for it would read a stream to its end, and give a 304 a length.
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url: addressOf(operation),
    config: { face: operation.interface, isForm: operation.bodyType !== undefined },
    ...(bodyLimit !== undefined && { bodyLimit }),
    // Before the body is read: nobody without a token can make us hold 64 MB.
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
      const answer = () =>
        handler({
          caller: request.caller as Caller,
          params: request.params as Record<string, string>,
          query: request.query as Record<string, string>,
          body: request.body as Buffer | undefined,
          request,
          reply,
        });
      if (!isData) return answer();
      const key = keyOf(request, now());
      const sent = cache.get(key);
      if (sent) return sendAgain(request, reply, sent);
      const keep = { add: (one: SentAnswer) => cache.add(key, one), largest: cache.largest };
      const fresh = await answer();
      return fresh instanceof LongAnswer
        ? sendLong(request, reply, { log, keep, slots, readers }, fresh)
        : sendValue(request, reply, keep, fresh);
    },
  });
}

/** All that an answer of the data interface depends on: what is asked, by whom, of which version, and on which day. */
function keyOf({ caller, headers, url }: FastifyRequest, now: number): string {
  const { accountId, version, timezone, numbers } = caller as Caller;
  const encoding = acceptedEncoding(headers['accept-encoding']);
  return `${accountId} ${version} ${dayIn(timezone, now)} ${numbers} ${encoding} ${url}`;
}

/** Whether a Content-Type header names a type, whatever its parameters. */
const isOfType = (header: string, type: string) => header.replace(/;.*/s, '').trim().toLowerCase() === type;

/** The address of an operation as Fastify writes it: `/v1/kpis/:kpiId/values`. */
const addressOf = ({ path }: Operation) => path.replace(/\{(\w+)\}/g, ':$1');

/** What a browser asks before it lets a page of another origin ask: no token, no body. */
function servePreflight(app: FastifyInstance, operation: Operation): void {
  app.options(addressOf(operation), { config: { face: operation.interface } }, async (_request, reply) =>
    reply.code(204).headers(preflightHeaders).send(),
  );
}

/** Which methods each registered address has; filled as routes are registered. */
function methodsByAddress(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const set = methods.get(url) ?? new Set();
    methods.set(url, set);
    for (const one of [method].flat()) set.add(one);
  });
  return methods;
}

/** An address that is not served: not at all, or not by this method. */
function notServed(request: FastifyRequest, methods: Map<string, Set<string>>): Answer {
  const address = request.url.replace(/\?.*/s, '');
  const present = methods.get(address) ?? [...methods].find(([pattern]) => isAt(pattern, address))?.[1];
  if (!present || present.has(request.method)) return protocolAnswer(404, request.id);
  const allow = [...present].toSorted().join(', ');
  const message = `This address takes ${allow} only.`;
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
  answer: Answer,
  show: MissingPage,
): FastifyReply {
  const isPage = answer.status === 404 && isFollowed(request);
  return isPage ? show(request, reply.code(404)) : send(reply, answer);
}

/** Whether a browser asks for a page to show: not a program, nor anyone at the address of an interface. */
const isFollowed = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !/^\/(v1|api)(\/|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '');

/** Whether an address is one of those that a pattern such as /v1/kpis/:kpiId/values stands for. */
function isAt(pattern: string, address: string): boolean {
  const [wanted, given] = [pattern.split('/'), address.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith(':') || part === given[i])
  );
}

/** How long, in ms, the database may take to say that it is there. */
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
 * Whether a request names one host (RFC 9112 §3.2), and something at it: of `*` there is nothing here. With two, a proxy in
 * front may have decided by the other one.
 */
function isWellFormed({ httpVersion, rawHeaders, url = '' }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  return (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) && /^(\/|https?:\/\/)/i.test(url);
}

/** Throws a Fault for a request in plain HTTP that has crossed a network. */
function refusePlainHttp({ raw }: FastifyRequest, { isTrusted }: Forwarding, publicUrl: string): void {
  const peer = raw.socket.remoteAddress ?? '';
  if (isTrusted(peer) || isLoopback(plainAddress(peer))) return;
  const remedy = publicUrl.startsWith('https:') ? `Use ${publicUrl}.` : 'Use the address of the proxy.';
  const message = `This address takes no plain HTTP: what is sent here can be read on the way. ${remedy}`;
  throw new Fault('forbidden', 'https required', message);
}

/** What every answer carries. Strict-Transport-Security (RFC 6797) is for a year, and of this host alone: others are not ours. */
const headersOf = (id: string, { isSecure }: ServerOptions) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
});

function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  // An answer before the whole body has come: the rest would be read as the next request.
  if (reply.request.routeOptions.config.isForm) closeLater(reply);
  else if ([408, 413, 415].includes(status)) reply.header('connection', 'close');
  return withoutTraits(reply)
    .code(status)
    .headers(headers)
    .header('content-type', body ? 'application/json; charset=utf-8' : 'text/plain')
    .send(body);
}

/**
 * A client may go on sending a form that was refused, and read the answer when it has sent all. If it wants the connection
 * closed after the answer, Node would close it at once, and the client would never read why.
 */
function closeLater({ raw: response, request: { raw: request } }: FastifyReply): void {
  if (request.complete || response.shouldKeepAlive) return;
  response.shouldKeepAlive = true;
  const close = () => void request.socket.end();
  response.once('finish', () => (request.complete ? close() : request.once('end', close)));
}

function answerTo(thrown: unknown, request: FastifyRequest, log: Log): Answer {
  const error = asFault(thrown);
  if (error instanceof Fault) {
    const answer = faultAnswer(error, request.id, request.routeOptions.config.face ?? 'data');
    if (error.kind === 'unavailable') log.warn({ requestId: request.id, cause: error.cause }, error.message);
    else if (!answer.body) log.info({ requestId: request.id }, error.message); // the answer does not say
    return answer;
  }
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) return protocolAnswer(status, request.id);
  log.error({ requestId: request.id, err: error }, 'A request failed by a defect');
  return defectAnswer(request.id);
}

function logAnswer(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  // Probes and the collector of metrics ask each few seconds: they would bury the rest.
  const isProbe = request.routeOptions.config.always || request.routeOptions.url === '/metrics';
  log[isProbe ? 'debug' : 'info'](
    {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null, // the pattern: an address could hold anything
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      accountId: request.caller?.accountId,
      tokenId: request.caller?.tokenId,
    },
    'answered',
  );
}

/** What is not HTTP at all never reaches a route: it is answered on the bare socket. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const { body } = protocolAnswer(status, newId());
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
      `x-request-id: ${body.id}\r\nconnection: close\r\n\r\n${text}`,
  );
}
