// A real gateway for tests: it receives requests over HTTP, verifies their signatures, and misbehaves as requested.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { signingKeyOf, type SmsGateway, smsGatewayOf } from '../base/messages/sms.ts';
import { until } from '../testing/until.ts';

/** What the gateway does with a request. */
export type Manner =
  /** Accepts it, or responds with a status, headers and a body. */
  | 'takes'
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Reads it, and closes the connection without a response, or never responds. */
  | 'hangs up'
  | 'silent'
  /** Closes the connection before anything is read. */
  | 'hangs up early'
  /** Responds with a status, and then with a body that never ends, as fast as it can or a byte now and then. */
  | 'endless'
  | 'dripping';

export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The body of our own template. */
  json: {
    id: string;
    kind: string;
    phone: string;
    externalId: string | null;
    email: string | null;
    text: string;
  };
};

export type TestGateway = {
  port: number;
  url: string;
  /** The requests that were read to their end, in their order. */
  got: ReceivedRequest[];
  /** The bytes that were written to endless responses. */
  written(): number;
  connections(): number;
  arrived(count: number): Promise<ReceivedRequest[]>;
  close(): Promise<void>;
};

export const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Opens a gateway. `manner` says what it does with each request, by what it has read, or by the connection if it reads nothing. */
export async function openTestGateway(
  manner: (request: ReceivedRequest | undefined) => Manner | Promise<Manner> = () => 'takes',
  { port = 0, tls }: { port?: number; tls?: { cert: string; key: string } } = {},
): Promise<TestGateway> {
  const got: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let [written, connections] = [0, 0];
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const body = (await request.toArray()).join('');
      const one = readRequest(request, body);
      got.push(one);
      await respond(await manner(one), response, (bytes) => (written += bytes));
    })().catch(() => response.destroy());
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    if (manner(undefined) === 'hangs up early') socket.destroy();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    port: bound,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${bound}/messages`,
    got,
    written: () => written,
    connections: () => connections,
    arrived: (count) => until(async () => (got.length >= count ? got : undefined)),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close').catch(() => {});
    },
  };
}

function readRequest({ method = '', url = '', headers }: IncomingMessage, body: string): ReceivedRequest {
  const isJson = headers['content-type'] === 'application/json';
  const json = (isJson ? JSON.parse(body) : {}) as ReceivedRequest['json'];
  return { method, path: url, headers, body, json };
}

async function respond(
  manner: Manner,
  response: ServerResponse,
  count: (bytes: number) => void,
): Promise<void> {
  if (manner === 'silent' || manner === 'hangs up early') return;
  if (manner === 'hangs up') return void response.destroy();
  if (manner === 'takes')
    return void response.writeHead(202, { 'content-type': 'application/json' }).end('{}');
  if (typeof manner === 'object')
    return void response.writeHead(manner.status, manner.headers).end(manner.body ?? '');
  response.writeHead(400).flushHeaders();
  const chunk = Buffer.alloc(manner === 'endless' ? 64 * 1024 : 1, 'x');
  while (!response.destroyed) {
    count(chunk.length);
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    await new Promise((resolve) => setTimeout(resolve, manner === 'endless' ? 0 : 20));
  }
}

/** Returns the settings for a gateway of our own at an address, with these changes. */
export function gatewaySettings(url: string, changes: Record<string, string> = {}): SmsGateway {
  const none = { SMS_USER: '', SMS_PASSWORD: '', SMS_FROM: '', SMS_REQUEST: '', SMS_IDEMPOTENT: '0' };
  const own = { SMS_PROVIDER: 'webhook', SMS_URL: url, SMS_SIGNING_SECRET: signingSecret };
  const faults: string[] = [];
  const gateway = smsGatewayOf({ ...none, ...own, ...changes }, faults);
  if (!gateway) throw new Error(faults.join());
  return gateway;
}

/** Whether a request is signed with a secret, as a receiver checks it: by what was received, not by how it was written. */
export function isSigned({ headers, body }: ReceivedRequest, secret: string, now: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } = headers;
  if (Math.abs(now / 1000 - Number(seconds)) > 300) return false;
  const expected = createHmac('sha256', signingKeyOf(secret) as Buffer)
    .update(`${String(id)}.${String(seconds)}.${body}`)
    .digest();
  return String(signatures)
    .split(' ')
    .some((one) => {
      const [scheme, text = ''] = one.split(',');
      const given = Buffer.from(text, 'base64');
      return scheme === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    });
}
