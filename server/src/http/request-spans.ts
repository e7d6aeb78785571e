// Traces requests (docs/decisions/0046). What identifies a person, such as the path, the query, the address and the headers, is never
// recorded, and requests of people who answer are not traced at all.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginTrace, type Span, asPartOf } from '../base/tracing/spans.ts';
import { isTracedRoute } from '../base/tracing/what-is-traced.ts';

/**
 * Registers a hook that traces each request from here on. `isTrusted` returns whether an address belongs to a trusted proxy, whose trace a
 * request continues. Anyone else could have every request traced, and decide which traces it belongs to.
 */
export function traceRequests(app: FastifyInstance, isTrusted: (address: string) => boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url;
    const span = isTracedRoute(route) ? begin(request, route as string, isTrusted) : undefined;
    if (!span) return done();
    request.traceId = span.traceId;
    // 'close' is emitted once for every response, even if the client has disconnected.
    reply.raw.once('close', () => span.end({ attributes: outcomeOf(reply) }));
    asPartOf(span, done);
  });
}

function begin(
  { method, protocol, headers, raw }: FastifyRequest,
  route: string,
  isTrusted: (address: string) => boolean,
): Span | undefined {
  const parent = headers['traceparent'];
  const start = {
    name: `${method} ${route}`,
    kind: 'server' as const,
    attributes: { 'http.request.method': method, 'http.route': route, 'url.scheme': protocol },
  };
  return beginTrace(
    start,
    typeof parent === 'string' && isTrusted(raw.socket.remoteAddress ?? '') ? parent : undefined,
  );
}

/** Returns the status, and what failed: the status if it is the fault of the service, or that the client has disconnected. */
function outcomeOf({ raw, statusCode }: FastifyReply) {
  const error = raw.writableFinished ? String(statusCode) : 'disconnected';
  const isFailed = statusCode >= 500 || !raw.writableFinished;
  return { 'http.response.status_code': statusCode, ...(isFailed && { 'error.type': error }) };
}
