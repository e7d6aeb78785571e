// Pages of other origins (CORS): which may read the data interface in a browser. They send a token like everybody else;
// cookies and the like are never asked for.
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Says on an answer whether the page that asks may read it. */
export function corsHeaders(request: FastifyRequest, reply: FastifyReply, origins: string[]): void {
  const { origin } = request.headers;
  const isOpen = origins.includes('*');
  if (!isOpen) vary(reply, 'Origin');
  if (origin === undefined || !(isOpen || origins.includes(origin))) return;
  reply.headers({
    'access-control-allow-origin': isOpen ? '*' : origin,
    'access-control-expose-headers': 'etag, x-request-id, retry-after',
  });
}

/** What a page may send. A browser keeps it for two hours, which is the longest that any does. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'authorization, content-type, if-none-match',
  'access-control-max-age': '7200',
};

/** Says that the answer depends on a header of the request. */
export function vary(reply: FastifyReply, header: string): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? header : `${String(before)}, ${header}`);
}
