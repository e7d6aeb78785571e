// HTTP routes with which browsers and providers take part in single sign-on: beginning a visit to a provider, its response, and its requests
// to end sessions. A page in the browser never gets an error body: it is sent to the sign-in page, which says what to do.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import { sessionOf } from '../auth/sessions.ts';
import type { Browser } from '../auth/sign-in.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Log } from '../base/log.ts';
import { networkOf } from '../base/network.ts';
import { openThrottle } from '../base/throttle.ts';
import type { Pool } from '../db/db.ts';
import { unsupported } from '../http/responses/error-responses.ts';
import type { Server } from '../http/server.ts';
import { browserSecretOf, sentBrowserSecret } from './browser-cookie.ts';
import { endWithResponse, type VisitEnd } from './callback.ts';
import { beginVisit, consolePathOf } from './flows.ts';
import { endByFrame, endByLogoutToken } from './logout/logout.ts';
import { ProviderFault } from './provider-fault.ts';
import type { ProviderClients } from './provider-client.ts';
import { type Provider, selectProviderByKey } from './providers.sql.ts';
import { entryKeyAmongOthers } from './rules.ts';

export type SsoOptions = {
  pool: Promise<Pool>;
  secrets: Promise<Sealer>;
  clients: ProviderClients;
  publicUrl: string;
  /** Whether the console is served over HTTPS only. */
  isSecure: boolean;
  canMail: boolean;
  now: () => number;
  log: Log;
  /** The session cookie of the console. Passed in because it is in a layer above. */
  session: {
    secretIn(request: FastifyRequest): string | undefined;
    setCookie(reply: FastifyReply, secret: string): void;
  };
};

type SsoDependencies = SsoOptions & { readBody(request: FastifyRequest): Promise<Buffer> };

/** How many visits and responses a network can have per minute: those of a whole office on Monday morning. */
const visitLimit = { free: 300, windowMs: 60_000 };
/** How many logout tokens and frames a network can send per minute. */
const logoutLimit = { free: 600, windowMs: 60_000 };
const maxNetworks = 10_000;

/** The largest request of a provider that ends sessions, in bytes. */
const bodyLimit = 16 * 1024;

type Context = { request: FastifyRequest; reply: FastifyReply; provider: Provider | undefined };

export function serveSso(server: Server, options: SsoOptions): void {
  const dependencies = { ...options, readBody: (request: FastifyRequest) => server.app.readBody(request) };
  const visits = openThrottle(visitLimit, maxNetworks, dependencies.now);
  const logouts = openThrottle(logoutLimit, maxNetworks, dependencies.now);
  const start = async (context: Context) => startVisit(dependencies, context);
  const callback = async (context: Context) => takeResponse(dependencies, context);
  const backChannel = async (context: Context) => takeLogoutToken(dependencies, context);
  const frontChannel = async (context: Context) => takeLogoutFrame(dependencies, context);
  const ofBrowsers: Route[] = [
    ['GET', '/sso/:key/start', start],
    ['GET', '/sso/:key/callback', callback],
  ];
  const ofProviders: Route[] = [
    ['POST', '/sso/:key/back-channel-logout', backChannel],
    ['GET', '/sso/:key/front-channel-logout', frontChannel],
  ];
  const add = ([method, url, handler]: Route, isAllowed: (network: string) => boolean, busy: Busy) =>
    server.app.route({
      method,
      url,
      bodyLimit,
      exposeHeadRoute: false,
      config: { isForm: true },
      handler: async (request, reply) => {
        reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
        if (!isAllowed(networkOf(request.address))) return busy(reply);
        const { key } = request.params as { key: string };
        const isKey = /^[\w-]{16}$/.test(key);
        const provider = isKey ? await selectProviderByKey(await dependencies.pool, key) : undefined;
        return handler({ request, reply, provider });
      },
    });
  for (const route of ofBrowsers)
    add(
      route,
      (network) => visits.attempt(network) === 0,
      (reply) => show(reply, '/sign-in', 'busy'),
    );
  for (const route of ofProviders)
    add(
      route,
      (network) => logouts.attempt(network) === 0,
      (reply) => reply.code(429).send(),
    );
}

type Route = [method: 'GET' | 'POST', url: string, handler: (context: Context) => Promise<FastifyReply>];
type Busy = (reply: FastifyReply) => FastifyReply;

/** Sends the browser to a page of the console, which says why someone was not signed in. */
function show(reply: FastifyReply, path: string, refusal?: Refusal): FastifyReply {
  const [page = '', hash] = path.split('#');
  const query =
    refusal === undefined ? '' : `${page.includes('?') ? '&' : '?'}sso=${encodeURIComponent(refusal)}`;
  return reply.redirect(`${page}${query}${hash === undefined ? '' : `#${hash}`}`, 303);
}

async function startVisit(
  deps: SsoDependencies,
  { request, reply, provider }: Context,
): Promise<FastifyReply> {
  if (!provider?.enabled) return show(reply, '/sign-in', 'off');
  const { to } = request.query as { to?: unknown };
  const returnTo = consolePathOf(typeof to === 'string' ? to : undefined);
  const step = await nextStepOf(deps, request, provider);
  if (step === 'signed in') return reply.redirect(returnTo, 303);
  if (step !== 'visit') {
    const query = new URLSearchParams({ company: step.entryKey, to: returnTo });
    return show(reply, `/sign-in?${query}`, 'other company');
  }
  try {
    const address = await beginVisit({ ...deps, pool: await deps.pool }, provider, {
      purpose: 'sign in',
      by: null,
      returnTo,
      browserSecret: browserSecretOf(request, reply, deps.isSecure),
    });
    return reply.redirect(address, 303);
  } catch (error) {
    noteFailure(deps.log, provider, error);
    return show(reply, '/sign-in', error instanceof ProviderFault ? error.refusal : 'failed');
  }
}

/**
 * Returns what a link to a provider does. From the sign-in page, it begins a visit. From outside, such as in an email, it must not put
 * anyone into a session of an account of someone else: a person who is signed in to the account already stays so, and others confirm on its sign-in
 * page, which has this key, that they want to sign in to this account. Browsers without Sec-Fetch-Site, and those that use plain HTTP, are
 * asked only if they have a session of another account, which has to be ended first.
 */
async function nextStepOf(
  { pool, session }: SsoDependencies,
  request: FastifyRequest,
  { accountId }: Provider,
): Promise<'visit' | 'signed in' | { entryKey: string }> {
  const site = request.headers['sec-fetch-site'];
  if (site === 'same-origin') return 'visit';
  const entryKey = await entryKeyAmongOthers(await pool, accountId);
  if (entryKey === undefined) return 'visit';
  const secret = session.secretIn(request);
  const current = secret === undefined ? undefined : await sessionOf(await pool, secret);
  if (current?.accountId === accountId) return site === undefined ? 'visit' : 'signed in';
  return site === undefined && current === undefined ? 'visit' : { entryKey };
}

async function takeResponse(
  deps: SsoDependencies,
  { request, reply, provider }: Context,
): Promise<FastifyReply> {
  if (!provider) return show(reply, '/sign-in', 'off');
  const query = new URL(request.raw.url ?? '', 'http://localhost').searchParams;
  const browserSecret = sentBrowserSecret(request, deps.isSecure);
  const browser: Browser = {
    address: request.address,
    agent: request.headers['user-agent'] ?? '',
    secret: deps.session.secretIn(request),
  };
  const open = { ...deps, pool: await deps.pool, secrets: await deps.secrets };
  const end = await endWithResponse(open, provider, { query, browserSecret }, browser).catch(
    (cause: unknown): VisitEnd => ({ returnTo: '/sign-in', refusal: 'failed', cause }),
  );
  if (end.cause !== undefined) noteFailure(deps.log, provider, end.cause);
  if (end.secret !== undefined) deps.session.setCookie(reply, end.secret);
  return show(reply, end.returnTo, end.refusal);
}

function noteFailure(log: Log, { accountId, providerId }: Provider, error: unknown): void {
  const about = { accountId, providerId };
  if (error instanceof ProviderFault)
    log.warn({ ...about, cause: error.message }, 'Signing in with a provider failed');
  else log.error({ ...about, err: error }, 'Signing in with a provider failed');
}

async function takeLogoutToken(
  deps: SsoDependencies,
  { request, reply, provider }: Context,
): Promise<FastifyReply> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') throw unsupported;
  const form = new URLSearchParams((await deps.readBody(request)).toString('utf8'));
  const refuse = (code: number, error: string) => reply.code(code).send({ error });
  const tokens = form.getAll('logout_token');
  if (!provider || tokens.length !== 1) return refuse(400, 'invalid_request');
  try {
    await endByLogoutToken({ ...deps, pool: await deps.pool }, provider, tokens[0] as string);
    return reply.code(200).send();
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    noteFailure(deps.log, provider, error);
    return error.refusal === 'unavailable'
      ? refuse(503, 'temporarily_unavailable')
      : refuse(400, 'invalid_request');
  }
}

async function takeLogoutFrame(
  deps: SsoDependencies,
  { request, reply, provider }: Context,
): Promise<FastifyReply> {
  const { iss, sid } = request.query as { iss?: unknown; sid?: unknown };
  if (provider && typeof iss === 'string' && typeof sid === 'string')
    await endByFrame(await deps.pool, provider, iss, sid);
  const ancestors = provider ? new URL(provider.issuer).origin : "'none'";
  return reply
    .header('content-security-policy', `default-src 'none'; frame-ancestors ${ancestors}`)
    .header('content-type', 'text/html; charset=utf-8')
    .send('<!doctype html><title>Signed out</title>');
}
