// CORS: which pages of other origins can read the data interface in a browser. They send a token like every client; cookies are
// never used.
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sets the headers that allow the requesting page to read the response, if its origin is allowed. */
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

/** What a page can send. Browsers cache it for two hours, the longest time that any browser supports. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'authorization, content-type, if-none-match',
  'access-control-max-age': '7200',
};

/** Adds a request header to Vary: the response depends on it. */
export function vary(reply: FastifyReply, header: string): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? header : `${String(before)}, ${header}`);
}
