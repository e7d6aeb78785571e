// Requests to providers, with the checks of openid-client: signatures are always verified, and time, size and address are bounded.
// An administrator chooses the address of a provider, so it must not lead to the private network of the service.
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from 'openid-client';
import type { Sealer } from '../base/crypto/sealer.ts';
import { readJson } from '../base/json/escaped-keys.ts';
import { exchange } from '../base/outgoing/exchange.ts';
import { version } from '../base/version.ts';
import { openClientSecret } from './client-secrets.ts';
import { ProviderFault, providerFaultOf } from './provider-fault.ts';
import type { Provider } from './providers.sql.ts';

/** How long to wait, in ms, until the connection is ready, until the response begins, and until it has been read. */
const times = { connect: 4_000, response: 8_000, body: 4_000 };
/** The largest response that is read, in bytes. A provider for many tenants has a few dozen keys. */
const maxBytes = 512 * 1024;
/** How long the description of a provider is used, in ms. Its keys are requested again when a new one appears. */
const freshMs = 10 * 60_000;
/** How long no request is sent to a provider that could not be reached, in ms. */
const brokenMs = 5_000;
/** How many descriptions are kept. */
const maxKept = 500;

export type ProviderClients = {
  /** Returns the client for a provider. Throws a ProviderFault. */
  of(provider: Provider): Promise<Configuration>;
  /** Requests the description of a provider that is being added. Throws a ProviderFault. Returns its exact issuer. */
  describe(address: string, clientId: string): Promise<string>;
  fetch: CustomFetch;
};

/** `networks`: private ranges that the operator allows. */
export function openProviderClients(
  secrets: Promise<Sealer>,
  networks: readonly string[],
  now: () => number,
): ProviderClients {
  const fetch = boundedFetch(networks);
  const kept = new Map<string, { until: number; changedAt: number; client: Promise<Configuration> }>();

  async function create(provider: Provider): Promise<Configuration> {
    const secret = await openClientSecret(await secrets, provider);
    const client = await discovered(provider.issuer, provider.clientId, secret, fetch);
    if (client.serverMetadata().issuer !== provider.issuer)
      throw new ProviderFault('invalid', `The provider now calls itself ${client.serverMetadata().issuer}.`);
    return client;
  }

  return {
    fetch,
    of(provider) {
      const key = `${provider.accountId}/${provider.providerId}`;
      const changedAt = provider.changedAt.getTime();
      const found = kept.get(key);
      if (found && found.changedAt === changedAt && found.until > now()) return found.client;
      const one = { until: now() + freshMs, changedAt, client: create(provider) };
      one.client.catch(() => (one.until = now() + brokenMs));
      kept.delete(key);
      kept.set(key, one);
      if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
      return one.client;
    },
    async describe(address, clientId) {
      const client = await discovered(issuerIn(address), clientId, undefined, fetch);
      const metadata = client.serverMetadata();
      if (metadata.authorization_endpoint === undefined || metadata.token_endpoint === undefined)
        throw new ProviderFault('invalid', 'Its description has no authorization or token endpoint.');
      if (metadata.jwks_uri === undefined)
        throw new ProviderFault('invalid', 'Its description has no keys (jwks_uri).');
      return metadata.issuer;
    },
  };
}

/** Returns an issuer as an administrator may have pasted it: without the well-known path. Throws a ProviderFault if it isn't an address. */
export function issuerIn(address: string): string {
  const text = address.trim().replace(/\/\.well-known\/openid-configuration\/?$/, '');
  const url = URL.parse(text);
  const isPlain =
    url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isPlain)
    throw new ProviderFault(
      'invalid',
      'This is not the address of an issuer, such as https://login.example.com.',
    );
  if (
    /^\/(common|organizations|consumers)(\/|$)/.test(url.pathname) &&
    /(^|\.)microsoftonline\./.test(url.hostname)
  )
    throw new ProviderFault(
      'invalid',
      'This address lets people of every company in. Use the address with the ID of your directory (tenant) instead.',
    );
  return text;
}

async function discovered(
  issuer: string,
  clientId: string,
  secret: string | undefined,
  fetch: CustomFetch,
): Promise<Configuration> {
  try {
    const client = await discovery(
      new URL(issuer),
      clientId,
      undefined,
      // Which one is used is decided when the description is known.
      (as, ...request) => {
        const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const isPost = methods.includes('client_secret_post');
        (isPost ? ClientSecretPost(secret ?? '') : ClientSecretBasic(secret ?? ''))(as, ...request);
      },
      {
        [customFetch]: fetch,
        timeout: 15,
        // Plain HTTP reaches only the networks that the operator allows (exchange).
        execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
      },
    );
    const { issuer: own } = client.serverMetadata();
    // openid-client accepts other issuers for some hosts, whose tokens can be of any company.
    if (new URL(own).href !== new URL(issuer).href)
      throw new ProviderFault('invalid', `The provider at ${issuer} calls itself ${own}. Use that address.`);
    return client;
  } catch (error) {
    throw providerFaultOf(error);
  }
}

/**
 * Returns JSON without escapes in the names of claims that need none, such as `https:\/\/acme.example\/role`. openid-client reads it with JSON.parse,
 * which can confuse such names (decision 75). Anything else, such as a signed token, is returned as it is.
 */
function withoutEscapes(text: string): string {
  try {
    return text.includes('\\') ? JSON.stringify(readJson(text)) : text;
  } catch {
    return text;
  }
}

/** Returns a fetch that reaches only public addresses and `networks`, and follows no redirects. */
function boundedFetch(networks: readonly string[]): CustomFetch {
  return async (address, { method, headers, body }) => {
    const response = await exchange(
      {
        url: new URL(address),
        method,
        headers: { ...headers, 'user-agent': `Soundings/${version}` },
        body: body === undefined || body === null ? '' : String(body as string | URLSearchParams),
      },
      { reach: { networks }, times, maxBytes },
    );
    const { status, text } = response;
    const got = Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    if (status < 200 || status > 599) throw new Error(`The provider responded with HTTP ${status}.`);
    return new Response([204, 205, 304].includes(status) ? null : withoutEscapes(text), {
      status,
      headers: got,
    });
  };
}
