// What the tests of the storage interface share: a server with only its routes, accounts, and requests with forms or raw bytes.
import { Problem } from '@soundings/contract/problem.ts';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { runMigrations } from 'graphile-worker';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import { callerOf, senderOf } from '../accounts/callers.ts';
import { createToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { openResponseCache } from '../http/responses/response-cache.ts';
import { createServer, type ServerOptions } from '../http/server.ts';
import { limitConcurrency } from '../http/concurrency.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { until } from '../testing/until.ts';
import { serveStorage } from './storage.routes.ts';
import { contentOf } from './store.ts';
import { selectFiles } from './store.sql.ts';

export const uploadPath = '/v1/storage/uploadFile';
export const listPath = '/v1/storage/files';
const isProblem = Compile(Problem);
export let database: TestDatabase;
export let storage: Awaited<ReturnType<typeof openStorage>>;

/** Starts a server for a test file, and stops it at its end. */
export function useStorage(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
    // There are tables for jobs but no worker, so no file is processed.
    await runMigrations({ connectionString: database.url });
    storage = await openStorage();
  });
  afterAll(async () => {
    await storage.server.shutDown(0);
    await database.close();
  });
}

/** Starts a server with only the routes of the interface. */
export async function openStorage(options: Partial<ServerOptions> = {}) {
  const server = createServer({
    log: openLog('error'),
    tls: undefined,
    trustProxy: [],
    authenticate: (authorization, scope, address) =>
      scope === 'files'
        ? senderOf(database.pool, authorization, address)
        : callerOf(database.pool, authorization, scope),
    count: async () => {},
    cache: openResponseCache(0),
    concurrency: limitConcurrency(1, 1),
    readTimeout: 60_000,
    now: Date.now,
    corsOrigins: [],
    isStarted: () => true,
    isReady: async () => true,
    ...options,
  });
  serveStorage(server, Promise.resolve(database.pool));
  return { server, address: await server.app.listen({ host: '127.0.0.1', port: 0 }) };
}

export async function newAccount(pool = database.pool) {
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Test' }));
  const { id: tokenId, token } = await createToken(pool, id, { name: 'test', scopes: ['files'] });
  const list = async () => {
    const listed = await request('GET', listPath, token);
    expect([listed.status, listed.type]).toEqual([200, 'application/json; charset=utf-8']);
    return listed.body as string[];
  };
  /** Returns the number of uploads, including unfinished ones. */
  const rows = async () => (await pool`select from files where account_id = ${id} and not is_refused`).length;
  const contents = async () => {
    const files = await selectFiles(pool, id);
    const bytes = await Promise.all(files.map((file) => contentOf(pool, id, file.id)));
    return Object.fromEntries(files.map(({ name }, i) => [name, bytes[i]!.toString('latin1')]));
  };
  return { id, token, tokenId, list, rows, contents };
}

export const allowOnly = (accountId: number, ...ranges: string[]) =>
  inTransaction(database.pool, (tx) => changeAccount(tx, accountId, { allow: ranges }));

export type Received = { status: number; type: string | null; headers: Headers; text: string; body: unknown };

export async function request(
  method: string,
  path: string,
  token?: string,
  init: RequestInit = {},
  at = storage.address,
) {
  const headers = { ...(token !== undefined && { authorization: token }), ...init.headers };
  return received(await fetch(at + path, { ...init, method, headers }));
}

async function received(response: Response): Promise<Received> {
  const { status, headers } = response;
  const text = await response.text();
  const type = headers.get('content-type');
  const body =
    type?.startsWith('application/json') && text !== '' ? (JSON.parse(text) as unknown) : undefined;
  return { status, type, headers, text, body };
}

/** Uploads a file as a browser does. */
export function upload(
  token: string,
  name: string,
  content: string | Buffer = 'a,b\n',
  at = storage.address,
) {
  const form = new FormData();
  form.append('file', new File([content as string], name));
  return request('POST', uploadPath, token, { body: form }, at);
}

export const formHeaders = { 'content-type': 'multipart/form-data; boundary=limit' };
export const part = (headers: string, content: string) => `--limit\r\n${headers}\r\n\r\n${content}\r\n`;
export const filePart = (name: string, content = 'a,b\n') =>
  part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content);
export const end = '--limit--\r\n';
export const field = part('Content-Disposition: form-data; name="other"', 'x');

/** Sends exactly these bytes as a form. */
export const post = (token: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  request('POST', uploadPath, token, { body: body as string, headers: { ...formHeaders, ...headers } });

/** Returns the message of a valid error body, or otherwise what is wrong with the response. */
export function refusal({ status, type, headers, body, text }: Received): string {
  if (type !== 'application/json; charset=utf-8' || !isProblem.Check(body))
    return `${status} ${type} ${text}`;
  if (headers.get('x-request-id') !== body.id) return `${status} without its id`;
  return `${status} ${body.details[0]?.type}: ${body.details[0]?.message}`;
}

/** Opens a connection and sends bytes. `text` returns what was received. */
export async function raw(...parts: (string | Buffer)[]) {
  const socket = connect(Number(new URL(storage.address).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => (text += chunk))
    .on('error', () => {});
  for (const one of parts) socket.write(one);
  return { socket, text: () => text, has: (wanted: string) => until(async () => text.includes(wanted)) };
}

export const requestHead = (token: string, more: string) =>
  `POST ${uploadPath} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n` +
  `content-type: multipart/form-data; boundary=limit\r\n${more}\r\n\r\n`;

/** Sends a whole body, even if the response comes before its end. */
export async function sendWhole(
  token: string,
  headers: Record<string, string>,
  body: Buffer,
  at = storage.address,
): Promise<Received> {
  const sending = openRequest(token, headers, at);
  sending.end(body);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  await once(sending, 'close');
  return received(
    new Response(text, { status: response.statusCode!, headers: response.headers as Record<string, string> }),
  );
}

export function openRequest(
  token: string,
  headers: Record<string, string> = {},
  at = storage.address,
): ClientRequest {
  const sending = httpRequest(at + uploadPath, {
    method: 'POST',
    agent: false,
    headers: { authorization: token, ...formHeaders, ...headers },
  });
  onTestFinished(() => void sending.destroy());
  return sending.on('error', () => {});
}
