// The cookie that binds a visit to a provider to one browser.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieOf } from '../http/cookies.ts';
import { isBrowserSecret, newBrowserSecret, visitMs } from './flows.ts';

const cookieName = (isSecure: boolean) => (isSecure ? '__Host-soundings-sso' : 'soundings-sso');

/** Returns the secret that binds visits to a browser, and sets its cookie again. The cookie is sent with the response of the provider (Lax). */
export function browserSecretOf(request: FastifyRequest, reply: FastifyReply, isSecure: boolean): string {
  const found = cookieOf(request, cookieName(isSecure));
  const secret = isBrowserSecret(found) ? found : newBrowserSecret();
  const age = visitMs / 1000;
  reply.header(
    'set-cookie',
    `${cookieName(isSecure)}=${secret}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  );
  return secret;
}

/** Returns the secret that a browser sent. */
export const sentBrowserSecret = (request: FastifyRequest, isSecure: boolean): string | undefined =>
  cookieOf(request, cookieName(isSecure));
