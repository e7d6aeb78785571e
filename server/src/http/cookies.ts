// Reads the cookies of a request.
import type { FastifyRequest } from 'fastify';

/** Returns the value of the cookie with this name, or undefined if the request has none. */
export function cookieOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((one) => one.trim());
  return cookies.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}
