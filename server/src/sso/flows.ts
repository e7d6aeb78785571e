// A visit to a provider: it begins here, and ends when the browser returns with a response (callback.ts). The response is accepted once,
// within ten minutes, and only from the browser in which the visit began. The state, nonce and code verifier bind it to this visit.
import { createHmac, randomBytes } from 'node:crypto';
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import { tokenHash } from '../base/crypto/secrets.ts';
import type { Pool } from '../db/db.ts';
import { deleteOldFlows, type Flow, insertFlow, type Purpose, takeFlow } from './flows.sql.ts';
import { deleteExpiredLogoutTokens } from './logout/logout.sql.ts';
import { providerFaultOf } from './provider-fault.ts';
import type { ProviderClients } from './provider-client.ts';
import type { Provider } from './providers.sql.ts';

/** How long a visit to a provider may take, in ms. */
export const visitMs = 10 * 60_000;

/** Returns the secret of a browser's cookie: 192 random bits. */
export const newBrowserSecret = (): string => randomBytes(24).toString('base64url');

export const isBrowserSecret = (text: string | undefined): text is string =>
  text !== undefined && /^[\w-]{32}$/.test(text);

/** Returns the redirect URI of a provider. Each has another one, so a response can't be taken for that of another provider. */
export const redirectUriOf = (publicUrl: string, { publicKey }: Pick<Provider, 'publicKey'>): string =>
  `${publicUrl}/sso/${publicKey}/callback`;

export type VisitDependencies = {
  pool: Pool;
  clients: ProviderClients;
  publicUrl: string;
  now: () => number;
};

export type Visit = {
  purpose: Purpose;
  /** Who begins it, unless the purpose is to sign in. */
  by: { userId: number; sessionId: number } | null;
  returnTo: string;
  browserSecret: string;
};

/** Begins a visit, and returns the address at the provider that the browser has to open. Throws a ProviderFault. */
export async function beginVisit(
  { pool, clients, publicUrl, now }: VisitDependencies,
  provider: Provider,
  { purpose, by, returnTo, browserSecret }: Visit,
): Promise<string> {
  const client = await clients.of(provider);
  const state = randomBytes(24).toString('base64url');
  const { nonce, verifier } = derivedOf(browserSecret, state);
  const address = await addressAt();
  await insertFlow(pool, {
    accountId: provider.accountId,
    providerId: provider.providerId,
    purpose,
    userId: by?.userId ?? null,
    sessionId: by?.sessionId ?? null,
    returnTo: consolePathOf(returnTo),
    startedAt: new Date(now()),
    stateHash: tokenHash(state),
    browserHash: tokenHash(browserSecret),
  });
  return address;

  async function addressAt(): Promise<string> {
    try {
      return buildAuthorizationUrl(client, {
        redirect_uri: redirectUriOf(publicUrl, provider),
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // The provider asks for the password again, and has to report when it was entered.
        ...(purpose === 'confirm' && { prompt: 'login', max_age: '0' }),
      }).href;
    } catch (error) {
      throw providerFaultOf(error);
    }
  }
}

/** Ends a visit: returns it, or undefined if there is none with this state in this browser, or not any more. */
export function endVisit(
  { pool, now }: Pick<VisitDependencies, 'pool' | 'now'>,
  provider: Provider,
  { state, browserSecret }: { state: string; browserSecret: string },
): Promise<Flow | undefined> {
  const since = new Date(now() - visitMs);
  return takeFlow(pool, provider, {
    stateHash: tokenHash(state),
    browserHash: tokenHash(browserSecret),
    since,
  });
}

/** Returns the nonce and code verifier of a visit. They are derived, so that the database has nothing with which to end it. */
export function derivedOf(browserSecret: string, state: string): { nonce: string; verifier: string } {
  const derived = (purpose: string) =>
    createHmac('sha256', browserSecret).update(`${purpose} ${state}`).digest('base64url');
  return { nonce: derived('nonce'), verifier: derived('verifier') };
}

/** Returns a path of the console, or the start page for anything else, so that a link to sign in never leads to another website. */
export function consolePathOf(to: string | undefined): string {
  const origin = 'http://soundings.invalid';
  const isPath = to !== undefined && to.length <= 1000 && /^\/(?![/\\])[^\\\p{C}]*$/u.test(to);
  const url = isPath ? URL.parse(to, origin) : null;
  return url?.origin === origin && !url.pathname.startsWith('//')
    ? `${url.pathname}${url.search}${url.hash}`
    : '/';
}

/** Deletes visits that were not ended in time, and logout tokens that have expired. */
export async function deleteOldVisits(pool: Pool, now: number): Promise<void> {
  await deleteOldFlows(pool, new Date(now - visitMs));
  await deleteExpiredLogoutTokens(pool, new Date(now));
}
