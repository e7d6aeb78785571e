// A real receiver of webhooks for tests, which verifies every signature with the library of Standard Webhooks, and an account that sends to it.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EventType, eventTypes } from '@soundings/contract/webhooks/events.ts';
import { Webhook } from 'standardwebhooks';
import { createAccount } from '../accounts/accounts.ts';
import { openLog } from '../base/log.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { createUser } from '../people/users.ts';
import type { TestData } from '../testing/database.ts';
import { createEndpoint } from './endpoints.ts';
import { openWebhookSender, type SenderOptions } from './sender.ts';

export type Received = {
  id: string;
  path: string;
  type: string;
  data: Record<string, unknown>;
  /** Which of the secrets of the endpoint have signed it. */
  signedBy: string[];
  status: number;
};

/** What the receiver does with a request: a status and headers, or nothing. */
export type Manner = { status: number; headers?: Record<string, string> } | 'silent' | 'hangs up';

export type Receiver = {
  url: string;
  port: number;
  /** The requests in their order of arrival, including those that were not taken. */
  got: Received[];
  /** The secrets by the path of the endpoint. */
  secrets: Map<string, string[]>;
  manner: (request: Omit<Received, 'status'>) => Manner;
  connections: number;
  close(): void;
};

/** Opens a receiver that takes everything. */
export async function openReceiver(port = 0): Promise<Receiver> {
  const receiver: Receiver = {
    url: '',
    port,
    got: [],
    secrets: new Map(),
    manner: () => ({ status: 204 }),
    connections: 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await request.toArray()).join('');
      const path = request.url ?? '';
      const id = String(request.headers['webhook-id']);
      const time = new Date(Number(request.headers['webhook-timestamp']) * 1000);
      const signatures = String(request.headers['webhook-signature']).split(' ');
      const signedBy = (receiver.secrets.get(path) ?? []).filter((secret) =>
        signatures.includes(new Webhook(secret).sign(id, time, body)),
      );
      const { type, data } = JSON.parse(body) as Pick<Received, 'type' | 'data'>;
      const one = { id, path, type, data, signedBy };
      const manner = receiver.manner(one);
      receiver.got.push({ ...one, status: typeof manner === 'object' ? manner.status : 0 });
      respond(response, manner);
    })().catch(() => response.destroy());
  }).on('connection', () => receiver.connections++);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  receiver.port = (server.address() as AddressInfo).port;
  receiver.url = `http://127.0.0.1:${receiver.port}`;
  return receiver;
}

function respond(response: ServerResponse, manner: Manner): void {
  if (manner === 'hangs up') response.destroy();
  else if (manner !== 'silent') response.writeHead(manner.status, manner.headers).end('ignored');
}

/** The ids of the requests that the receiver has taken. */
export const taken = ({ got }: Receiver, path?: string): string[] =>
  got
    .filter((one) => one.status >= 200 && one.status < 300 && (path === undefined || one.path === path))
    .map(({ id }) => id);

export const networks = ['127.0.0.0/8'];
export const allEvents = Object.keys(eventTypes) as EventType[];

/** Creates an account with an administrator. */
export async function newAccount(pool: Pool): Promise<{ accountId: number; userId: number }> {
  return inTransaction(pool, async (tx) => {
    const { id: accountId } = await createAccount(tx, { name: 'Nordwind' });
    const ada = { firstName: 'Ada', lastName: 'Admin', email: 'ada@example.org', role: 'Administrator' };
    return { accountId, userId: await createUser(tx, accountId, ada) };
  });
}

export const actorOf = (userId: number) => ({ origin: 'console' as const, userId, address: '127.0.0.1' });

/** Creates an endpoint at a path of the receiver. */
export async function newEndpoint(
  { pool, keys }: TestData,
  { accountId, userId }: { accountId: number; userId: number },
  receiver: Receiver,
  path: string,
  events: EventType[] = allEvents,
): Promise<number> {
  const changing = { actor: actorOf(userId), secrets: keys.secrets, networks };
  const { id, secret } = await inTransaction(pool, (tx) =>
    createEndpoint(tx, accountId, { url: receiver.url + path, description: path, events }, changing),
  );
  receiver.secrets.set(path, [secret]);
  return id;
}

/** Records an event about a week, and returns its id. */
export async function happen(
  pool: Pool,
  accountId: number,
  week: string,
  type: EventType = 'week.opened',
): Promise<string> {
  await inTransaction(pool, (tx) => recordEvent(tx, accountId, type, week, { week }));
  const [row] = await pool<{ id: string }[]>`
    select message_id as id from webhook_events where account_id = ${accountId} and data ->> 'week' = ${week} order by event_id desc limit 1`;
  return row!.id;
}

/** Opens a sender with short time limits, whose clock is `time.now`. */
export const senderOf = (
  { pool, keys }: TestData,
  time: { now: number },
  options: Partial<SenderOptions> = {},
) =>
  openWebhookSender({
    pool,
    secrets: keys.secrets,
    networks,
    canMail: false,
    log: openLog('silent'),
    now: () => time.now,
    times: { connect: 500, response: 250, body: 100 },
    random: () => 0,
    ...options,
  });

/** Sends what is due, and waits until nothing is being sent. */
export async function sendDue(sender: ReturnType<typeof senderOf>): Promise<void> {
  await sender.wake();
  await sender.settled();
}
