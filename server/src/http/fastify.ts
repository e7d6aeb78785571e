// The Fastify instance of the server: how it listens, what it reads as a body, and what every response contains and logs.
import type { Socket } from 'node:net';
import type { InterfaceName, Numbers } from '@soundings/contract/operation.ts';
import fastify, {
  LogController,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { networkOf } from '../base/network.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Bodies, BodySource } from './bodies.ts';
import { sendError, unsupported } from './responses/error-responses.ts';
import { protocolResponse } from './responses/problems.ts';

/** The caller: a token and its account. Every change that can affect a response raises `version`. */
export type Caller = {
  accountId: number;
  tokenId: number;
  numbers: Numbers;
  timezone: string;
  version: string;
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
    /** The trace of the request, if it is traced. */
    traceId: string | undefined;
    /** The client address. Use it instead of `ip`, which is undefined if the client has disconnected. */
    address: string;
  }
}

export type ListenOptions = {
  log: Log;
  tls: { cert: string; key: string } | undefined;
  /** Whether people use HTTPS. Then browsers are instructed to use nothing else. */
  isSecure?: boolean;
  /** How long the headers of a request, a connection without a request, or a TLS handshake may take, in milliseconds. */
  headersMs?: number | undefined;
};

/** How long the headers of a request may take, in milliseconds. */
const headersMs = 15_000;

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

/** Creates the instance, without hooks and routes. */
export function newFastify(options: ListenOptions, bodies: Bodies): FastifyInstance {
  const { tls, log } = options;
  const timeoutMs = options.headersMs ?? headersMs;
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
    // A log for each request would take time, and isn't needed: we name the request where we log.
    childLoggerFactory: (one) => one,
    // Path parameters can be as long as the URL. The handler reports that the value doesn't exist.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: () => newId(),
    requestTimeout: 300_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (_error, request, reply) => {
      reply.headers(responseHeadersOf(request.id, options));
      void sendError(reply as FastifyReply, protocolResponse(400, request.id));
      logResponse(log, request as FastifyRequest, reply as FastifyReply);
    },
    clientErrorHandler: refuseBrokenRequest,
  }) as unknown as FastifyInstance;
  app.decorateRequest('caller', undefined);
  app.decorateRequest('accountId', undefined);
  app.decorateRequest('address', '');
  app.decorateRequest('traceId', undefined);
  // Handlers receive bodies as raw bytes, because their parser is stricter than JSON.parse.
  app.removeAllContentTypeParsers();
  app.decorate('readBody', (request: FastifyRequest) =>
    bodies.read(request.raw, request.routeOptions.bodyLimit, sourceOf(request)),
  );
  const jsonTypes = ['application/json', 'application/scim+json'];
  app.addContentTypeParser(jsonTypes, async (request: FastifyRequest) => {
    const isScim = request.routeOptions.config.face === 'scim';
    if (!isScim && /^application\/scim/i.test(request.headers['content-type'] ?? '')) throw unsupported;
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

/** Returns the headers of every response. Strict-Transport-Security (RFC 6797) lasts a year and applies to this host only, because other hosts are not ours. */
export const responseHeadersOf = (id: string, { isSecure }: Pick<ListenOptions, 'isSecure'>) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
});

/** Logs a request once its response has been sent. */
export function logResponse(log: Log, request: FastifyRequest, reply: FastifyReply): void {
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
      traceId: request.traceId,
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
