// Ends a visit to a provider: checks its response, and signs in, links, confirms or reports a test, as the visit was begun for.
import { authorizationCodeGrant, type Configuration, fetchUserInfo } from 'openid-client';
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import type { Browser } from '../auth/sign-in.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { inTransaction } from '../db/db.ts';
import { type Checked, type Claims, claimsIn, isIdentifier, type Person, personIn } from './claims.ts';
import { derivedOf, endVisit, isBrowserSecret, redirectUriOf, type VisitDependencies } from './flows.ts';
import type { Flow } from './flows.sql.ts';
import { connectIdentity } from './identities.ts';
import { ProviderFault, providerFaultOf, Refused } from './provider-fault.ts';
import type { Provider } from './providers.sql.ts';
import { confirmSession, refuseIfOff, signInPerson } from './sign-in-by-provider.ts';
import { storeTest } from './test-results.ts';

export type CallbackDependencies = VisitDependencies & {
  secrets: Sealer;
  /** Whether the installation sends email. */
  canMail: boolean;
};

/** What the browser does next: it shows a page, as a user who is signed in if there is a `secret`. */
export type VisitEnd = {
  returnTo: string;
  refusal?: Refusal;
  secret?: string;
  /** For the log. */
  cause?: unknown;
};

/** A response of a provider: the query of its request to the redirect URI. */
export type ProviderResponse = { query: URLSearchParams; browserSecret: string | undefined };

/** Ends a visit with the response of the provider. Never throws because of the response. */
export async function endWithResponse(
  deps: CallbackDependencies,
  provider: Provider,
  { query, browserSecret }: ProviderResponse,
  browser: Browser,
): Promise<VisitEnd> {
  const state = query.get('state');
  if (state === null || !isBrowserSecret(browserSecret)) return { returnTo: '/sign-in', refusal: 'expired' };
  const flow = await endVisit(deps, provider, { state, browserSecret });
  if (!flow) return { returnTo: '/sign-in', refusal: 'expired' };
  const checked = await responseOf(deps, provider, flow, { query, state, browserSecret }).catch(
    (error: unknown) => refusalOf(error, query),
  );
  if (flow.purpose === 'test') return testEnd(deps, provider, flow, checked);
  const returnTo = pageAfterRefusal(flow);
  if (checked instanceof ProviderFault) return { returnTo, refusal: checked.refusal, cause: checked };
  try {
    return await purposeEnd(deps, provider, flow, { ...checked, browser });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { returnTo, refusal: error.refusal };
  }
}

/** Returns the page that says why a visit failed. It leads to the requested page afterwards. */
function pageAfterRefusal({ purpose, returnTo }: Flow): string {
  if (purpose !== 'sign in' || returnTo.startsWith('/sign-in/')) return returnTo;
  return returnTo === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(returnTo)}`;
}

/** Checks a response, and redeems its code. Throws what openid-client throws. */
async function responseOf(
  { clients, publicUrl, now }: CallbackDependencies,
  provider: Provider,
  { purpose, startedAt }: Flow,
  { query, state, browserSecret }: { query: URLSearchParams; state: string; browserSecret: string },
): Promise<Checked> {
  const client = await clients.of(provider);
  const { nonce, verifier } = derivedOf(browserSecret, state);
  const address = new URL(redirectUriOf(publicUrl, provider));
  address.search = query.toString();
  const tokens = await authorizationCodeGrant(client, address, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims || tokens.id_token === undefined || !isIdentifier(claims.sub))
    throw new ProviderFault('invalid', 'The response has no usable ID token.');
  const own = { ...claimsIn(tokens.id_token), sub: claims.sub };
  const person = personIn(await allClaims(client, provider, own, tokens.access_token), provider);
  if (purpose === 'confirm') refuseOtherSignIn(person, startedAt, now());
  return { person, idToken: tokens.id_token };
}

/** How much clocks may differ, in ms. */
const skewMs = 30_000;

/** Throws a ProviderFault unless the person has signed in between the beginning of the visit and now. */
function refuseOtherSignIn({ signedInAt }: Person, startedAt: Date, now: number): void {
  if (signedInAt === null) throw new ProviderFault('no time', 'The ID token has no auth_time.');
  if (signedInAt.getTime() < startedAt.getTime() - skewMs)
    throw new ProviderFault('no time', 'The provider did not ask for the password again.');
  if (signedInAt.getTime() > now + skewMs)
    throw new ProviderFault('no time', 'The auth_time of the ID token is in the future.');
}

/** Returns the claims of the ID token and, if something needed is not in there, those of the userinfo endpoint. */
async function allClaims(
  client: Configuration,
  { roleClaim }: Provider,
  claims: Claims & { sub: string },
  accessToken: string,
): Promise<Claims> {
  const isMissing = (name: string | null) =>
    name !== null && claims[name.split('.')[0] as string] === undefined;
  const isEnough = !isMissing('email') && !isMissing('given_name') && !isMissing(roleClaim);
  if (isEnough || client.serverMetadata().userinfo_endpoint === undefined) return claims;
  return { ...(await fetchUserInfo(client, accessToken, claims.sub)), ...claims };
}

/** Returns why a response was not accepted. */
function refusalOf(error: unknown, query: URLSearchParams): ProviderFault {
  const fault = providerFaultOf(error);
  const reported = query.get('error');
  if (reported === null || fault.refusal !== 'invalid') return fault;
  const detail = [reported, query.get('error_description')].filter(Boolean).join(': ').slice(0, 300);
  return new ProviderFault(reported === 'access_denied' ? 'cancelled' : 'provider error', detail, error);
}

async function testEnd(
  deps: CallbackDependencies,
  provider: Provider,
  flow: Flow,
  checked: Checked | ProviderFault,
): Promise<VisitEnd> {
  await inTransaction(deps.pool, (tx) => storeTest(tx, provider, flow, { checked, now: deps.now() }));
  return { returnTo: flow.returnTo };
}

async function purposeEnd(
  deps: CallbackDependencies,
  provider: Provider,
  flow: Flow,
  response: Checked & { browser: Browser },
): Promise<VisitEnd> {
  const { returnTo } = flow;
  if (flow.purpose === 'sign in') return { returnTo, secret: await signInPerson(deps, provider, response) };
  await inTransaction(deps.pool, async (tx) => {
    await refuseIfOff(tx, provider);
    return flow.purpose === 'connect'
      ? connectIdentity(tx, provider, flow, { ...response, canMail: deps.canMail })
      : confirmSession(tx, provider, flow, response);
  });
  return { returnTo };
}
