// Sends errors: those that handlers throw, those of the HTTP layer, and those for addresses that don't exist.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { asFault } from '../../db/db.ts';
import { defectResponse, type ErrorResponse, faultResponse, problem, protocolResponse } from './problems.ts';
import { withoutTraits } from './responses.ts';
import { scimErrorOf } from './scim-errors.ts';

/** Sends the page for an address that doesn't exist. The status is already set. */
export type MissingPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Thrown for requests that are not valid HTTP. */
export const badRequest = Object.assign(new Error('request'), { statusCode: 400 });
/** Thrown for bodies of another type or encoding. */
export const unsupported = Object.assign(new Error('content type or encoding'), { statusCode: 415 });

/** Sends an error. */
export function sendError(reply: FastifyReply, { status, headers, body }: ErrorResponse): FastifyReply {
  // The response is sent before the whole body was received. The rest would be read as the next request.
  if (reply.request.routeOptions.config.isForm) closeLater(reply);
  else if ([408, 413, 415].includes(status)) reply.header('connection', 'close');
  const isScim = /^\/scim(\/|$)/.test(reply.request.url);
  const type = `application/${isScim ? 'scim+json' : 'json'}; charset=utf-8`;
  return withoutTraits(reply)
    .code(status)
    .headers(headers)
    .header('content-type', body ? type : 'text/plain')
    .send(isScim && body ? JSON.stringify(scimErrorOf(status, body)) : body);
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

/** Returns the response to what a handler has thrown. Logs what it does not contain. */
export function errorResponse(thrown: unknown, request: FastifyRequest, log: Log): ErrorResponse {
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

/** Returns the methods of each registered path. The map is filled as routes are registered. */
export function methodsByAddress(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const set = methods.get(url) ?? new Set();
    methods.set(url, set);
    for (const one of [method].flat()) set.add(one);
  });
  return methods;
}

/** Returns the response for a path that doesn't exist or doesn't support this method. */
export function notServed(request: FastifyRequest, methods: Map<string, Set<string>>): ErrorResponse {
  const address = request.url.replace(/\?.*/s, '');
  const present = methods.get(address) ?? [...methods].find(([pattern]) => isAt(pattern, address))?.[1];
  if (!present || present.has(request.method)) return protocolResponse(404, request.id);
  const allow = [...present].toSorted().join(', ');
  const message = `This address only supports ${allow}.`;
  return { status: 405, headers: { allow }, body: problem(request.id, 'method not allowed', message) };
}

/** Sends the response for an address that is not served. A person who follows a link gets a page, everyone else the error body. */
export function sendNotServed(
  request: FastifyRequest,
  reply: FastifyReply,
  response: ErrorResponse,
  show: MissingPage,
): FastifyReply {
  const isPage = response.status === 404 && isFollowed(request);
  return isPage ? show(request, reply.code(404)) : sendError(reply, response);
}

/** Returns whether a browser requests a page, rather than a program or a path of an interface. */
const isFollowed = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !/^\/(v1|api|scim)(\/|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '');

/** Returns whether a path matches a pattern such as /v1/kpis/:kpiId/values. */
function isAt(pattern: string, address: string): boolean {
  const [wanted, given] = [pattern.split('/'), address.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith(':') || part === given[i])
  );
}
