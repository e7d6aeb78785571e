// For tests of SFTP: a server with its own database, accounts, and clients that send arbitrary packets.
import { type EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { Client, type ClientChannel, type ConnectConfig } from 'ssh2';
import SftpClient from 'ssh2-sftp-client';
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import type { AccountSettings } from '../accounts/accounts.sql.ts';
import { createToken } from '../accounts/tokens.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { openTestDatabase } from '../testing/database.ts';
import { createFlags, type Field, packet, type Reply, replyOf, types } from './packets.fixture.ts';
import { openSftp, type SftpOptions, type SftpServer } from './server.ts';

export type Company = { id: number; username: string; token: string; tokenId: number };
export type LogLine = { msg: string; [field: string]: unknown };

export type SftpFixture = {
  pool: Pool;
  /** Opens the host keys. */
  secrets: Sealer;
  databaseUrl: string;
  server: SftpServer;
  host: string;
  port: number;
  log: LogLine[];
  company(settings?: Partial<AccountSettings>): Promise<Company>;
  /** Starts another server on the same database, which is closed with the first. */
  startServer(options?: Partial<SftpOptions>): Promise<{ server: SftpServer; port: number; log: LogLine[] }>;
  close(): Promise<void>;
};

export async function openSftpFixture(options: Partial<SftpOptions> = {}): Promise<SftpFixture> {
  const database = await openTestDatabase();
  const { pool } = database;
  const { secrets } = database.keys;
  const opened: SftpServer[] = [];

  async function startServer(some: Partial<SftpOptions> = {}) {
    const log: LogLine[] = [];
    const toMemory = pino({ base: null }, { write: (line) => void log.push(JSON.parse(line) as LogLine) });
    const server = await openSftp({ host: '127.0.0.1', port: 0, pool, secrets, log: toMemory, ...some });
    opened.push(server);
    return { server, port: Number(new URL(server.address).port), log };
  }

  const first = await startServer(options);
  return {
    ...first,
    pool,
    secrets,
    databaseUrl: database.url,
    host: '127.0.0.1',
    async company(settings = {}) {
      const account = await inTransaction(pool, async (tx) => {
        const { id } = await createAccount(tx, { name: 'Acme' });
        return changeAccount(tx, id, settings);
      });
      const { id: tokenId, token } = await createToken(pool, account.id, { name: 'job', scopes: ['files'] });
      return { id: account.id, username: account.sftpUsername, token, tokenId };
    },
    startServer,
    async close() {
      await Promise.all(opened.map((server) => server.close(0)));
      await database.close();
    },
  };
}

/** Uses our own socket, because the library's delays data sent in two writes by 40 ms. */
export const configOf = (port: number, { username, token }: Company, localAddress = '127.0.0.1') => ({
  sock: connect({ host: '127.0.0.1', port, localAddress, noDelay: true }) as Socket,
  username,
  password: token,
});

export const closed = (client: EventEmitter): Promise<void> =>
  new Promise((resolve) => client.once('close', () => resolve()));

/** Opens a session like most programs do. Clients that a test leaves open end with the server. */
export async function logIn(port: number, company: Company): Promise<SftpClient> {
  const client = new SftpClient('test', { error: () => {}, end: () => {}, close: () => {} });
  await client.connect(configOf(port, company));
  return client;
}

/** Opens a connection that is logged in but has no session. */
export async function logInBare(
  port: number,
  company: Company,
  { from, ...more }: ConnectConfig & { from?: string } = {},
): Promise<Client> {
  const client = new Client();
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', () => resolve());
    client.on('error', reject);
  });
  client.connect({
    ...(more.sock ? {} : configOf(port, company, from)),
    username: company.username,
    password: company.token,
    ...more,
  });
  await ready;
  return client;
}

/** Opens a socket that collects the received bytes. */
export async function dial(port: number, localAddress = '127.0.0.1'): Promise<Socket & { received: Buffer }> {
  const socket = Object.assign(connect({ host: '127.0.0.1', port, localAddress, noDelay: true }), {
    received: Buffer.alloc(0),
  });
  socket.on('data', (chunk: Buffer) => (socket.received = Buffer.concat([socket.received, chunk])));
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

let addresses = 0;
/** Returns an unused address of this machine, because limits of an address would carry over to the next test. */
export const unusedAddress = (): string => `127.9.${++addresses >> 8}.${addresses & 255}`;

export const disconnected = (socket: Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : once(socket, 'close');

export type RawSession = {
  client: Client;
  socket: Socket;
  stream: ClientChannel;
  /** Sends a request with a new id and waits for the next reply. */
  request(type: number, ...fields: Field[]): Promise<Reply>;
  /** Waits for the next reply. */
  next(): Promise<Reply>;
  /** Opens a file for writing and returns its handle. */
  open(name: string): Promise<Buffer>;
  end(): void;
};

/** Opens a session over which a test sends its own packets. */
export async function openRawSession(port: number, company: Company): Promise<RawSession> {
  const { sock: socket } = configOf(port, company);
  const client = await logInBare(port, company, { sock: socket });
  client.on('error', () => {});
  const stream = await new Promise<ClientChannel>((resolve, reject) =>
    client.subsys('sftp', (error, channel) => (error ? reject(error) : resolve(channel))),
  );
  let bytes = Buffer.alloc(0);
  let arrived = () => {};
  stream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    arrived();
  });
  stream.on('close', () => arrived());
  let lastId = 1000;
  const session: RawSession = {
    client,
    socket,
    stream,
    async next() {
      while (bytes.length < 4 || bytes.length < 4 + bytes.readUInt32BE(0)) {
        if (stream.destroyed || !stream.readable) throw new Error('The channel is closed.');
        await new Promise<void>((resolve) => (arrived = resolve));
      }
      const length = 4 + bytes.readUInt32BE(0);
      const reply = replyOf(bytes.subarray(4, length));
      bytes = bytes.subarray(length);
      return reply;
    },
    request(type, ...fields) {
      stream.write(packet(type, ++lastId, ...fields));
      return session.next();
    },
    async open(name) {
      const { handle, text } = await session.request(types.open, name, createFlags, 0);
      if (!handle) throw new Error(`${name} was not opened: ${text}`);
      return handle;
    },
    end: () => void client.end(),
  };
  stream.write(packet(types.init, 3));
  const version = await session.next();
  if (version.type !== 2) throw new Error('The reply to the first request is not a version.');
  return session;
}
