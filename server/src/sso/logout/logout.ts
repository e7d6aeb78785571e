// Signing out together with a provider: a provider ends sessions here with a signed logout token (OpenID Connect Back-Channel Logout) or with
// the identifier of its session (Front-Channel Logout), and users who sign out here are sent there (RP-Initiated Logout).
import { setTimeout } from 'node:timers/promises';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { buildEndSessionUrl } from 'openid-client';
import { audit } from '../../accounts/audit.ts';
import { deleteSessionsOfProvider } from '../../auth/sessions.sql.ts';
import { tokenHash } from '../../base/crypto/secrets.ts';
import type { Sealer } from '../../base/crypto/sealer.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import { type Claims, claimsIn, isIdentifier, jsonInToken } from '../claims.ts';
import { idTokenContext } from './id-tokens.ts';
import { insertLogoutToken, selectProviderSession } from './logout.sql.ts';
import { ProviderFault, providerFaultOf } from '../provider-fault.ts';
import type { ProviderClients } from '../provider-client.ts';
import { type Provider, selectProvider } from '../providers.sql.ts';

type Dependencies = { pool: Pool; clients: ProviderClients; now: () => number };

/** The algorithms of signatures: only with a public key, so a client secret or no key at all can't sign a token. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** The oldest logout token that is accepted, in seconds, and how much clocks may differ. */
const [maxAge, skew] = [300, 30];

/** Ends the sessions that a logout token names. Throws a ProviderFault unless the token is genuine, current and new. */
export async function endByLogoutToken(
  { pool, clients, now }: Dependencies,
  provider: Provider,
  token: string,
): Promise<void> {
  const { subject, session, jti, issuedAt } = await logoutIn(clients, provider, token, now());
  const { accountId, providerId } = provider;
  const expiresAt = new Date((issuedAt + maxAge + 2 * skew) * 1000);
  await inTransaction(pool, async (tx) => {
    if (!(await insertLogoutToken(tx, accountId, { providerId, jtiHash: tokenHash(jti), expiresAt })))
      throw new ProviderFault('invalid', 'This logout token was already used.');
    await endSessions(tx, provider, { subject, session, how: 'back-channel' });
  });
}

/** Returns what a logout token says, after all checks of OpenID Connect Back-Channel Logout, section 2.6. */
async function logoutIn(clients: ProviderClients, provider: Provider, token: string, now: number) {
  const payload = await verified(clients, provider, token, now);
  const { sub, sid, jti, iat, events, nonce } = payload;
  const event = isObject(events) && Object.hasOwn(events, logoutEvent) ? events[logoutEvent] : undefined;
  const fault = (detail: string) => new ProviderFault('invalid', detail);
  if (!isObject(event)) throw fault('The token is not about signing out.');
  if (nonce !== undefined) throw fault('A logout token must not have a nonce.');
  if (typeof jti !== 'string' || jti === '' || jti.length > 500) throw fault('The token has no jti.');
  const [subject, session] = [sub, sid].map((one) => (typeof one === 'string' && one !== '' ? one : null));
  if (!subject && !session) throw fault('The token has neither sub nor sid.');
  if ([subject, session].some((one) => one && !isIdentifier(one)))
    throw fault('The sub or sid of the token is too long or contains U+0000.');
  return { subject: subject ?? null, session: session ?? null, jti, issuedAt: iat as number };
}

async function verified(
  clients: ProviderClients,
  provider: Provider,
  token: string,
  now: number,
): Promise<Claims> {
  const client = await clients.of(provider);
  const { jwks_uri: address } = client.serverMetadata();
  try {
    await jwtVerify(token, keysAt(clients, address as string), {
      algorithms,
      issuer: provider.issuer,
      audience: provider.clientId,
      requiredClaims: ['iat'],
      maxTokenAge: maxAge,
      clockTolerance: skew,
      currentDate: new Date(now),
      ...(typeIn(token) !== undefined && { typ: 'logout+jwt' }),
    });
    return claimsIn(token);
  } catch (error) {
    throw providerFaultOf(error);
  }
}

/** Returns the type in the header of a token, unless it is the general JWT, with which older providers sign. */
function typeIn(token: string): string | undefined {
  try {
    const header = jsonInToken(token, 0) as { typ?: unknown };
    return header.typ === undefined || header.typ === 'JWT' ? undefined : String(header.typ);
  } catch {
    return undefined;
  }
}

/** The keys of each client. jose requests them again at most once in 30 seconds, however many unknown keys tokens name. */
const keySets = new WeakMap<ProviderClients, Map<string, ReturnType<typeof createRemoteJWKSet>>>();
const maxKeySets = 500;

function keysAt(clients: ProviderClients, address: string) {
  const kept = keySets.get(clients) ?? new Map<string, ReturnType<typeof createRemoteJWKSet>>();
  keySets.set(clients, kept);
  const found = kept.get(address);
  if (found) return found;
  const keys = createRemoteJWKSet(new URL(address), {
    [customFetch]: (url, { headers }) =>
      clients.fetch(url, {
        method: 'GET',
        headers: Object.fromEntries(headers),
        body: null,
        redirect: 'manual',
      }),
  });
  kept.set(address, keys);
  if (kept.size > maxKeySets) kept.delete(kept.keys().next().value as string);
  return keys;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Ends the sessions of a session at the provider, which its page names in a frame. Anyone could load such a frame, so the unguessable
 * identifier of the session is required, and the cookie of the browser counts for nothing.
 */
export async function endByFrame(
  pool: Pool,
  provider: Provider,
  issuer: string,
  session: string,
): Promise<void> {
  if (issuer !== provider.issuer || !isIdentifier(session)) return;
  await inTransaction(pool, (tx) =>
    endSessions(tx, provider, { subject: null, session, how: 'front-channel' }),
  );
}

async function endSessions(
  tx: Parameters<typeof deleteSessionsOfProvider>[0],
  { accountId, providerId, name }: Provider,
  { subject, session, how }: { subject: string | null; session: string | null; how: string },
): Promise<void> {
  const userIds = await deleteSessionsOfProvider(tx, accountId, {
    providerId,
    providerSession: session,
    subject,
  });
  for (const userId of userIds) {
    const details = { provider: name, how };
    await audit(tx, accountId, { origin: 'service' }, 'signed out by provider', { subject: userId, details });
  }
}

/** How long signing out waits for the description of the provider, in ms. A provider that is down must not keep anyone signed in. */
const longestWaitMs = 3_000;

/** Returns the address at which a user who signs out here signs out at the provider as well; null if there is none. Never throws. */
export async function signOutAddress(
  {
    pool,
    clients,
    secrets,
    publicUrl,
  }: { pool: Pool; clients: ProviderClients; secrets: Sealer; publicUrl: string },
  accountId: AccountId,
  sessionId: number,
): Promise<string | null> {
  try {
    const session = await selectProviderSession(pool, accountId, sessionId);
    const provider = session && (await selectProvider(pool, accountId, session.providerId));
    if (!session || !provider) return null;
    const client = await Promise.race([
      clients.of(provider),
      setTimeout(longestWaitMs, null, { ref: false }),
    ]);
    if (!client || client.serverMetadata().end_session_endpoint === undefined) return null;
    const opened = session.idToken && (await secrets.open(idTokenContext(provider), session.idToken));
    return buildEndSessionUrl(client, {
      post_logout_redirect_uri: `${publicUrl}/sign-in`,
      ...(opened && { id_token_hint: opened.toString('utf8') }),
    }).href;
  } catch {
    return null;
  }
}
