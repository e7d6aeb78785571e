// The SFTP server (§4.3, decision C7): an SSH server that only receives and lists files. Our own listener accepts the sockets,
// so that limits apply before any byte is read. Whatever a client sends can only end its own connection.
import { createServer, type Server as Listener, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { isAllowed } from '../accounts/allowlist.ts';
import type { Log } from '../base/log.ts';
import { plainAddress } from '../base/network.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import type { Pool } from '../db/db.ts';
import { algorithms, offeredHostKeys, offerFastest } from './algorithms.ts';
import { admit, checkMs, endExpired, onGreeting, refuseConnection, type ServerState } from './connections.ts';
import { readableHostKeys } from './host-keys.ts';
import { openSftpLimiter, type SftpLimits, sftpLimits } from './limits.ts';
import { readProxyHeader } from './proxy-header.ts';
import { checkTokens } from './token-checks.ts';

export type SftpOptions = {
  host: string;
  port: number;
  pool: Pool;
  /** Opens the host keys. */
  secrets: Sealer;
  log: Log;
  /** Addresses and ranges of proxies that send the client address with the PROXY protocol. */
  trustProxy?: string[];
  limits?: Partial<SftpLimits>;
  /** Returns the current time in ms. */
  now?: () => number;
};

export type SftpServer = {
  /** The address it listens on, such as sftp://127.0.0.1:2222. */
  address: string;
  /** The bytes in memory and not yet in the database, for the connection with the most. */
  unwritten(): number;
  /** Refuses new connections and ends sessions between two operations. Running uploads get `seconds` to finish. */
  close(seconds: number): Promise<void>;
};

/** Starts the server. Needs a migrated database, which stores the host keys. */
export async function openSftp(options: SftpOptions): Promise<SftpServer> {
  const { pool, secrets, log, trustProxy = [], now = Date.now } = options;
  const connections = Math.min(sftpLimits.connections, options.limits?.connections ?? Infinity);
  const limits = { ...sftpLimits, ...options.limits, connections };
  const server = new ssh2.Server({
    hostKeys: (await readableHostKeys(pool, secrets, log)).flatMap(offeredHostKeys),
    algorithms,
    ident: 'Soundings',
    keepaliveInterval: 2 ** 31 - 1, // Disables the library's keepalive, which throws when a connection has closed.
  });
  const state: ServerState = {
    pool,
    log,
    limits,
    now,
    trustProxy,
    limiter: openSftpLimiter(limits, now),
    server,
    peers: new Set(),
    isStopping: false,
    reading: undefined,
    refusals: { count: 0, loggedAt: -Infinity },
    ending: new Set(),
  };
  server.on('connection', (client, { header }) => {
    const { software } = header.versions;
    offerFastest(client, software);
    onGreeting(state, client, software.startsWith('OpenSSH_'));
  });
  const listener = createServer({ pauseOnConnect: true, noDelay: true, keepAlive: true }, (socket) =>
    receive(state, socket),
  );
  const address = await listen(listener, options);
  const checks = setInterval(() => endExpired(state), checkMs);
  const endChecks = checkTokens(state);
  return {
    address,
    unwritten: () => Math.max(0, ...[...state.peers].map(({ sessions }) => sessions?.unwritten() ?? 0)),
    async close(seconds) {
      await closeServer(state, listener, seconds);
      clearInterval(checks);
      await endChecks();
    },
  };
}

function listen(listener: Listener, { host, port }: SftpOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ host, port }, () => {
      const bound = listener.address();
      const at = bound !== null && typeof bound === 'object' ? bound : { address: host, port };
      resolve(`sftp://${at.address.includes(':') ? `[${at.address}]` : at.address}:${at.port}`);
    });
  });
}

/** Admits a new connection, once a proxy has said where it comes from. */
function receive(state: ServerState, socket: Socket): void {
  socket.on('error', () => {}); // A 'close' event follows.
  const remote = plainAddress(socket.remoteAddress ?? '');
  if (remote === '' || state.isStopping) return void socket.destroy();
  if (state.trustProxy.length === 0 || !isAllowed(state.trustProxy, remote))
    return admit(state, socket, remote);
  // Until the client address is known, the proxy's address counts.
  const { limiter, limits } = state;
  if (limiter.open >= limits.connections)
    return refuseConnection(state, socket, remote, 'too many connections');
  readProxyHeader(socket, (address) => admit(state, socket, address ?? remote));
}

/** Stops accepting connections, and waits up to `seconds` for the open ones to end. */
async function closeServer(state: ServerState, listener: Listener, seconds: number): Promise<void> {
  state.isStopping = true;
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  endExpired(state); // Runs again at each check, until all connections have closed.
  const late = new AbortController();
  const timer = sleep(seconds * 1000, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([closed, timer]);
  late.abort();
  for (const peer of state.peers) peer.socket.destroy();
  await closed;
  await Promise.all(state.ending);
}
