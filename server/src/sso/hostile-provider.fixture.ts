// A provider that misbehaves as a test requests: what a well-behaved one never does. Its addresses and keys are genuine.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import { clientId } from './provider.fixture.ts';

type Claims = Record<string, unknown>;

export type HostileProvider = {
  issuer: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  /** Replaces parts of the description, such as an endpoint. */
  description: Claims;
  /** Returns the ID token for a code. `nonce`: the right one. */
  idToken: (nonce: string) => Promise<string>;
  /** Handles requests before anything else does. Returns whether it has. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The nonce of the visit that a browser is on. Set by the test, which sees the address. */
  nonce: string;
  /** The paths of all requests. */
  requests: string[];
  /** Signs claims with the provider's key. What is undefined is left out. */
  sign(
    claims: Claims,
    options?: { key?: KeyObject; kid?: string; typ?: string; alg?: string },
  ): Promise<string>;
  close(): Promise<void>;
};

/** Returns a token without a signature, or with the given one. */
export const unsigned = (header: object, claims: object, signature = ''): string =>
  `${[header, claims].map((one) => Buffer.from(JSON.stringify(one)).toString('base64url')).join('.')}.${signature}`;

export async function openHostileProvider(): Promise<HostileProvider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: 'own' };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (response: ServerResponse, body: unknown) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    test.requests.push(request.url ?? '');
    if (test.intercept(request, response)) return;
    await request.toArray();
    if (request.url === '/jwks') return json(response, { keys: [jwk] });
    if (request.url === '/token')
      return json(response, {
        access_token: 'x',
        token_type: 'Bearer',
        id_token: await test.idToken(test.nonce),
      });
    if (request.url !== '/.well-known/openid-configuration') return void response.writeHead(404).end();
    json(response, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      // It also claims to sign in ways that prove nothing.
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      ...test.description,
    });
  }

  const test: HostileProvider = {
    issuer,
    publicKey,
    privateKey,
    description: {},
    idToken: (nonce) => test.sign({ nonce }),
    intercept: () => false,
    nonce: '',
    requests: [],
    sign(claims, { key = privateKey, kid = 'own', typ, alg = 'RS256' } = {}) {
      const seconds = Math.floor(Date.now() / 1000);
      const whole = {
        iss: issuer,
        aud: clientId,
        sub: 'victim',
        iat: seconds,
        exp: seconds + 300,
        ...claims,
      };
      const kept = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
      return new SignJWT(kept as JWTPayload)
        .setProtectedHeader({ alg, kid, ...(typ !== undefined && { typ }) })
        .sign(key);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return test;
}
