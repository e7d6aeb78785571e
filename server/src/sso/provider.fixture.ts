// A real OpenID Connect provider for tests (oidc-provider) with a sign-in page, and a browser that keeps cookies and follows redirects.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import OidcProvider from 'oidc-provider';
import type { World } from '../testing/world.ts';

export const publicUrl = 'http://soundings.test';
export const clientId = 'soundings';
export const clientSecret = 'a-secret-of-the-client-that-is-long-enough';

export type TestProvider = {
  issuer: string;
  /** Who signs in, by subject, with the claims about them. */
  people: Map<string, Record<string, unknown>>;
  /** The subject that signs in without a page, in the test browser. Undefined: the page asks. */
  who: string | undefined;
  /** Registers the addresses of our service. */
  register(addresses: { redirect: string; afterSignOut: string; backChannel: string }): void;
  /** Sends a logout token, as the provider does when someone signs out there. */
  signOut(subject: string, session: string): Promise<void>;
  close(): Promise<void>;
};

export type ProviderOptions = {
  /** Sends logout tokens for this public address to another one, where the service listens. */
  reach?: (address: string) => string;
};

/** Starts a provider on a free port. */
export async function openTestProvider({
  reach = (one) => one,
}: ProviderOptions = {}): Promise<TestProvider> {
  let handle: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }];
  let provider: OidcProvider;
  const test: TestProvider = {
    issuer,
    people: new Map(),
    who: undefined,
    register(addresses) {
      provider = new OidcProvider(issuer, configurationOf(test, keys, addresses, reach));
      const own = provider.callback();
      handle = (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return own(request, response);
        void interact(provider, test, request, response).catch(() => void response.writeHead(500).end());
      };
    },
    async signOut(subject, session) {
      await (await provider.Client.find(clientId)).backchannelLogout(subject, session);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  test.register({ redirect: `${publicUrl}/callback`, afterSignOut: publicUrl, backChannel: publicUrl });
  return test;
}

function configurationOf(
  { people }: TestProvider,
  keys: object[],
  { redirect, afterSignOut, backChannel }: { redirect: string; afterSignOut: string; backChannel: string },
  reach: (address: string) => string,
) {
  type Context = {
    oidc: { session: { accountId: string }; client: { clientId: string }; provider: GrantSource };
  };
  type GrantSource = {
    Grant: new (of: object) => { addOIDCScope(scopes: string): void; save(): Promise<string> };
  };
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirect],
        post_logout_redirect_uris: [afterSignOut],
        backchannel_logout_uri: backChannel,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys },
    cookies: { keys: ['for tests'] },
    claims: {
      openid: ['sub', 'amr'],
      email: ['email', 'email_verified'],
      profile: ['given_name', 'family_name', 'roles'],
    },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: showLogout },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: async (_: unknown, subject: string) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...people.get(subject) }),
    }),
    // People are not asked for their consent, as in a company.
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    fetch: (address: string, { method, headers, body }: RequestInit) =>
      fetch(reach(address), { method, headers, body } as RequestInit),
  };
}

/** The page of the provider that asks whether someone wants to sign out. Its own one loads fonts from the Internet. */
const showLogout = async (context: { body: string }, form: string) => {
  const button =
    '<button type="submit" form="op.logoutForm" value="yes" name="logout">Yes, sign me out</button>';
  context.body = `<!doctype html><title>Sign out</title>${form}${button}`;
};

const page = (uid: string) =>
  `<!doctype html><title>Sign in</title><form method="post" action="/interaction/${uid}">` +
  '<label>User <input name="user"></label><button>Sign in</button></form>';

/** The sign-in page of the provider: without a page if the test has said who signs in. */
async function interact(
  provider: OidcProvider,
  test: TestProvider,
  request: Parameters<RequestListener>[0],
  response: Parameters<RequestListener>[1],
): Promise<void> {
  const uid = (request.url ?? '').split('/').at(-1) as string;
  const body = request.method === 'POST' ? (await request.toArray()).join('') : '';
  const user = test.who ?? new URLSearchParams(body).get('user');
  if (user === null)
    return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(uid));
  await provider.interactionFinished(request, response, { login: { accountId: user, amr: ['pwd', 'mfa'] } });
}

/** A browser: keeps the cookies of each host, and shows where each redirect leads. */
export type TestBrowser = {
  /** Requests an address. Follows redirects until `until`, and returns the response that ends there and its address. */
  open(
    address: string,
    until?: (address: string) => boolean,
  ): Promise<{ address: string; status: number; text: string }>;
  /** The session cookie of our service. */
  session(): string | undefined;
  cookies: Map<string, Map<string, string>>;
};

export function openTestBrowser(world: Pick<World, 'address'>): TestBrowser {
  const cookies = new Map<string, Map<string, string>>();
  const kept = (host: string) => {
    const jar = cookies.get(host) ?? new Map<string, string>();
    cookies.set(host, jar);
    return jar;
  };
  async function request(address: string) {
    const jar = kept(new URL(address).host);
    const response = await fetch(address.replace(publicUrl, world.address), {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(one)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
  return {
    cookies,
    session: () => kept(new URL(publicUrl).host).get('soundings'),
    async open(address, until = () => false) {
      let at = new URL(address, publicUrl).href;
      for (let i = 0; i < 15; i++) {
        if (until(at)) return { address: at, status: 0, text: '' };
        const response = await request(at);
        const next = response.headers.get('location');
        if (next === null) return { address: at, status: response.status, text: await response.text() };
        await response.body?.cancel();
        at = new URL(next, at).href;
      }
      throw new Error(`Too many redirects, last to ${at}`);
    },
  };
}

/** Returns why our service refused, from the address that the browser was led to; null: it did not. */
export const refusalAt = (address: string): string | null => new URL(address).searchParams.get('sso');
