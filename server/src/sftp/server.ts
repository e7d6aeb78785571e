// The SFTP server (§4.3, decision C7): an SSH server that only receives and lists files. Our own listener accepts the sockets,
// so that limits apply before any byte is read. Whatever a client sends can only end its own connection.
import { createSecretKey } from 'node:crypto';
import { createServer, isIP, type Server as Listener, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2, { type Connection, type Server } from 'ssh2';
import { isAllowed } from '../accounts/allowlist.ts';
import { stillValid } from '../accounts/sftp-callers.ts';
import { plainAddress } from '../base/network.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/sealer.ts';
import { asFault, type Pool } from '../db/db.ts';
import { type Entry, type SftpLimiter, openSftpLimiter, type SftpLimits, sftpLimits } from './limits.ts';
import { type ReadableKey, readableHostKeys } from './host-keys.ts';
import { proxyHeader } from './proxy-header.ts';
import { disconnect } from './disconnect.ts';
import { handleLogins } from './login.ts';
import { openSessions, type Sessions } from './session.ts';

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

/**
 * The offered algorithms, with AES-GCM first. ChaCha20 is left out because OpenSSH would choose it, at half the speed. The last
 * MACs are for clients that know no others, such as curl in Debian 12.
 */
const algorithms = {
  kex: [
    'curve25519-sha256' as const,
    'curve25519-sha256@libssh.org' as const,
    'diffie-hellman-group16-sha512' as const,
    'diffie-hellman-group18-sha512' as const,
    'diffie-hellman-group14-sha256' as const,
  ],
  cipher: [
    'aes256-gcm@openssh.com' as const,
    'aes128-gcm@openssh.com' as const,
    'aes256-ctr' as const,
    'aes192-ctr' as const,
    'aes128-ctr' as const,
  ],
  hmac: [
    'hmac-sha2-256-etm@openssh.com' as const,
    'hmac-sha2-512-etm@openssh.com' as const,
    'hmac-sha2-256' as const,
    'hmac-sha2-512' as const,
  ],
  compress: ['none' as const], // Compressed data could be a decompression bomb.
};

/**
 * Before version 10, OpenSSH prefers AES-CTR, which needs a separate MAC and makes an upload a sixth slower than AES-GCM.
 * Versions that support AES-GCM are offered nothing else. All since 6.2, of 2013, support it.
 */
const supportsGcm = /^OpenSSH_(for_Windows_)?([7-9]|\d\d)\./;
const gcm = algorithms.cipher.filter((name) => name.includes('-gcm@'));

/** How often deadlines and tokens of open connections are checked. */
const checkMs = 500;
/** How long the client may take to close its side after we closed ours. */
const closeMs = 2000;
/** How long a proxy may take to send the client address. Proxies send it immediately. */
const proxyMs = 2000;
/** The most bytes that a client may leave unread before we stop reading from it. */
const maxUnread = 64 * 1024;
/** The longest first line of a client, in bytes (RFC 4253 §4.2). */
const maxGreetingBytes = 255;
/** The most handshakes on one connection. OpenSSH makes one per GB, and each costs as much as a new connection. */
const maxHandshakes = 20;

/** A connected client. */
type Peer = {
  socket: Socket;
  entry: Entry;
  address: string;
  log: Log;
  /** When it connected, in ms. */
  since: number;
  /** When to stop waiting for the login or for the end of the connection, in ms. Undefined once logged in. */
  deadline: number | undefined;
  /** Whether a token was refused. */
  hasFailed: boolean;
  isEnding: boolean;
  isPaused: boolean;
  handshakes: number;
  isOpenSsh: boolean;
  client: Connection | undefined;
  caller: { accountId: number; tokenId: number } | undefined;
  sessions: Sessions | undefined;
};

type ServerState = {
  pool: Pool;
  log: Log;
  limits: SftpLimits;
  now: () => number;
  trustProxy: string[];
  limiter: SftpLimiter;
  server: Server;
  peers: Set<Peer>;
  isStopping: boolean;
  /** The peer whose bytes are being read. The library does not say which socket a connection belongs to. */
  reading: Peer | undefined;
  refusals: { count: number; loggedAt: number };
  /** The work that sessions still have to finish after their connection closed. */
  ending: Set<Promise<void>>;
};

/** Starts the server. Needs a migrated database, which stores the host keys. */
export async function openSftp(options: SftpOptions): Promise<SftpServer> {
  const { pool, secrets, log, trustProxy = [], now = Date.now } = options;
  const connections = Math.min(sftpLimits.connections, options.limits?.connections ?? Infinity);
  const limits = { ...sftpLimits, ...options.limits, connections };
  const server = new ssh2.Server({
    hostKeys: (await readableHostKeys(pool, secrets, log)).flatMap(hostKeysOf),
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
    if (supportsGcm.test(software)) offerGcm(client);
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

/**
 * Returns a host key in the form the library expects, once for each name to offer. By default, the library would also offer RSA
 * keys as ssh-rsa, which uses SHA-1.
 */
function hostKeysOf({ kind, key }: ReadableKey): { key: string }[] {
  const names = kind === 'rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [key.type];
  return names.map((name) => ({ key: Object.create(key, { type: { value: name } }) as string }));
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

function receive(state: ServerState, socket: Socket): void {
  socket.on('error', () => {}); // A 'close' event follows.
  const remote = plainAddress(socket.remoteAddress ?? '');
  if (remote === '' || state.isStopping) return void socket.destroy();
  if (state.trustProxy.length === 0 || !isAllowed(state.trustProxy, remote))
    return admit(state, socket, remote);
  // Until the client address is known, the proxy's address counts.
  const { limiter, limits } = state;
  if (limiter.open >= limits.connections) return refuse(state, socket, remote, 'too many connections');
  readProxyHeader(socket, (address) => admit(state, socket, address ?? remote));
}

/** Reads the client address that a proxy sends, and leaves the following bytes on the socket. */
function readProxyHeader(socket: Socket, then: (address: string | undefined) => void): void {
  let bytes = Buffer.alloc(0);
  const late = setTimeout(() => finish(undefined, 0), proxyMs);
  function finish(address: string | undefined, length: number): void {
    clearTimeout(late);
    socket.off('data', onData).pause();
    socket.off('close', onClose);
    if (bytes.length > length) socket.unshift(bytes.subarray(length));
    then(address);
  }
  function onData(chunk: Buffer): void {
    bytes = Buffer.concat([bytes, chunk]);
    const header = proxyHeader(bytes);
    if (header === 'more') return;
    if (header === 'none') return finish(undefined, 0);
    const isAddress = header.address !== undefined && isIP(header.address) !== 0;
    finish(isAddress ? header.address : undefined, header.length);
  }
  const onClose = () => clearTimeout(late);
  socket.on('data', onData);
  socket.once('close', onClose);
  socket.resume();
}

function refuse(state: ServerState, socket: Socket, address: string, reason: string): void {
  socket.destroy();
  const { refusals, now, log } = state;
  refusals.count++;
  if (now() - refusals.loggedAt < 1000) return; // Keeps a flood of connections from flooding the log.
  log.warn({ address, reason, refused: refusals.count }, 'SFTP connections refused');
  state.refusals = { count: 0, loggedAt: now() };
}

/** Admits a connection within the limits, and passes its socket to the library, possibly after a delay. */
function admit(state: ServerState, socket: Socket, client: string): void {
  const address = plainAddress(client);
  if (state.isStopping) return void socket.destroy();
  const entry = state.limiter.enter(address, () => refuse(state, socket, address, 'too many not logged in'));
  if (typeof entry === 'string') return refuse(state, socket, address, entry);
  const log = state.log.child({ connectionId: newId(), address });
  const { greetingMs, loginMs } = state.limits;
  const deadline = state.now() + Math.min(entry.waitMs + greetingMs, loginMs);
  const peer: Peer = {
    socket,
    entry,
    since: state.now(),
    address,
    log,
    deadline,
    hasFailed: false,
    isEnding: false,
    isPaused: false,
    handshakes: 0,
    isOpenSsh: false,
    client: undefined,
    caller: undefined,
    sessions: undefined,
  };
  state.peers.add(peer);
  log.info('SFTP connection opened');
  socket.once('close', () => onClosed(state, peer));
  // We have closed our side. The client gets a short time to close its own.
  socket.once('finish', () => startClosing(state, peer));
  socket.on('drain', () => applyBackpressure(peer));
  const begin = () => {
    if (socket.destroyed) return;
    // Runs before the library's listener, so that we know whose bytes it reads.
    socket.on('data', () => {
      state.reading = peer;
      batchWrites(socket);
      applyBackpressure(peer);
    });
    state.server.injectSocket(socket);
  };
  if (entry.waitMs === 0) begin();
  else setTimeout(begin, entry.waitMs);
}

/** Sends all replies of this turn of the event loop in one write, which costs more than a reply. */
function batchWrites(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

/** Stops reading from a client that sends faster than we process, or that does not read our replies. */
function applyBackpressure(peer: Peer): void {
  const { socket, sessions } = peer;
  const isUnread = socket.writableLength > maxUnread;
  const isPaused = peer.isPaused
    ? isUnread || sessions?.isDrained() === false
    : isUnread || sessions?.isFull() === true;
  if (isPaused === peer.isPaused) return;
  peer.isPaused = isPaused;
  if (isPaused) socket.pause();
  else socket.resume();
}

type Names = { array: string[] };
type Direction = Record<'cipher' | 'mac' | 'compress' | 'lang', Names>;
type Offer = { lists: { kex: Names; serverHostKey: Names; cs: Direction; sc: Direction } };

/** Offers only AES-GCM. Changes an internal of the library. If that internal ever moves, the client gets the usual offer. */
function offerGcm(client: Connection): void {
  const { _protocol: protocol } = client as unknown as { _protocol?: Record<string, Offer> };
  const offer = protocol?.['_offer'];
  if (!protocol || !offer?.lists?.cs) return;
  const { kex, serverHostKey, cs, sc } = offer.lists;
  const withGcm = ({ mac, compress, lang }: Direction) => ({
    cipher: gcm,
    mac: mac.array,
    compress: compress.array,
    lang: lang.array,
  });
  const OfferClass = offer.constructor as new (lists: object) => Offer;
  protocol['_offer'] = new OfferClass({
    kex: kex.array,
    serverHostKey: serverHostKey.array,
    cs: withGcm(cs),
    sc: withGcm(sc),
  });
}

/** Called when the library has read the first line of a client. */
function onGreeting(state: ServerState, client: Connection, isOpenSsh: boolean): void {
  const peer = state.reading as Peer;
  peer.client = client;
  peer.isOpenSsh = isOpenSsh;
  if (!peer.isEnding) peer.deadline = peer.since + state.limits.loginMs;
  client.on('error', (error: Error & { level?: string }) => {
    if (error.level !== 'socket') peer.log.info({ reason: error.message }, 'SFTP connection aborted');
    // Closes immediately, because the library would continue reading, and throw.
    startClosing(state, peer);
    peer.socket.destroySoon();
  });
  client.on('handshake', () => {
    prepareKeys(client);
    if (++peer.handshakes > maxHandshakes) end(state, peer);
  });
  handleLogins(client, {
    pool: state.pool,
    log: peer.log,
    limits: state.limits,
    address: peer.address,
    onFailure: () => {
      peer.hasFailed = true;
      peer.entry.failed();
    },
    onGiveUp: () => end(state, peer),
    onUnavailable: (reason) => endWithReason(state, peer, reason),
    onCaller: ({ accountId, tokenId }) => onLogin(state, peer, { accountId, tokenId }),
  });
}

/**
 * Replaces the library's raw keys by key objects. Node would convert raw keys for every message, at a tenth of the total time. If
 * the internals of the library ever change, this has no effect.
 */
function prepareKeys(client: Connection): void {
  const { _protocol: protocol } = client as unknown as {
    _protocol?: Record<string, Record<string, unknown>>;
  };
  for (const side of [protocol?.['_cipher'], protocol?.['_decipher']]) {
    for (const name of ['_macKey', '_encKey', '_decipherKey']) {
      const key = side?.[name];
      if (side && Buffer.isBuffer(key)) side[name] = createSecretKey(key);
    }
  }
}

/** Called when a client has logged in. */
function onLogin(state: ServerState, peer: Peer, caller: { accountId: number; tokenId: number }): void {
  const { pool, limits, now } = state;
  peer.entry.loggedIn();
  peer.caller = caller;
  peer.deadline = undefined;
  peer.log = peer.log.child(caller);
  peer.log.info('SFTP login');
  const sessions = openSessions({
    pool,
    log: peer.log,
    caller: { ...caller, address: peer.address },
    limits,
    now,
    isStopping: () => state.isStopping,
    printsErrors: peer.isOpenSsh,
    onReply: () => batchWrites(peer.socket),
    onProgress: () => applyBackpressure(peer),
    onUnreadable: () => {
      peer.log.info({ reason: 'not SFTP' }, 'SFTP connection aborted');
      end(state, peer);
    },
  });
  peer.sessions = sessions;
  const client = peer.client as Connection;
  let channels = 0;
  client.on('session', (accept, reject) => {
    if (channels >= limits.channels || state.isStopping) return reject();
    channels++;
    const session = accept();
    session.on('close', () => channels--);
    // We don't use the library's `sftp` event, because its parser throws on malformed requests.
    session.on('subsystem', (acceptChannel, rejectChannel, { name }) => {
      if (name !== 'sftp') return rejectChannel();
      const channel = acceptChannel();
      if (channel) sessions.serve(channel);
    });
  });
}

/** Starts the time that a client has to close the connection. */
function startClosing(state: ServerState, peer: Peer): void {
  if (peer.isEnding) return;
  peer.isEnding = true;
  peer.deadline = state.now() + closeMs;
}

/** Ends a connection with a disconnect message. */
function end(state: ServerState, peer: Peer): void {
  endBy(state, peer, () => {
    if (peer.client) peer.client.end();
    else peer.socket.destroy();
  });
}

/** Ends a connection with a disconnect message that gives a reason. */
function endWithReason(state: ServerState, peer: Peer, reason: string): void {
  endBy(state, peer, () => {
    if (peer.client) disconnect(peer.client, reason);
    peer.socket.end();
  });
}

/** Ends a connection with a last message. */
function endBy(state: ServerState, peer: Peer, sendLast: () => void): void {
  startClosing(state, peer);
  try {
    sendLast();
  } catch {
    peer.socket.destroy();
  }
}

function onClosed(state: ServerState, peer: Peer): void {
  state.peers.delete(peer);
  const isLoggedIn = peer.caller !== undefined;
  peer.entry.left();
  // A client that sent more than a greeting without logging in has cost us a handshake. Health checks send less.
  const hasCost = !isLoggedIn && peer.socket.bytesRead > maxGreetingBytes;
  if (hasCost && !peer.hasFailed) peer.entry.failed();
  peer.log.info({ loggedIn: isLoggedIn }, 'SFTP connection closed');
  if (!peer.sessions) return;
  const ending = peer.sessions.end().finally(() => state.ending.delete(ending));
  state.ending.add(ending);
}

/** Ends connections that are past their deadline or idle, and while the server is stopping, all that are not busy. */
function endExpired(state: ServerState): void {
  const { limits, isStopping } = state;
  const now = state.now();
  for (const peer of state.peers) {
    const { deadline = Infinity, isEnding, sessions, log } = peer;
    const isIdle = sessions && now - sessions.lastRequest() >= limits.idleMs;
    if (now >= deadline) {
      if (!isEnding) {
        log.info({ reason: 'login timeout' }, 'Ending SFTP connection');
        peer.entry.timedOut();
      }
      peer.socket.destroy();
    } else if (!isEnding && (isIdle || (isStopping && !sessions?.isBusy()))) {
      log.info({ reason: isIdle ? 'idle' : 'stopping' }, 'Ending SFTP connection');
      if (isIdle) end(state, peer);
      else endWithReason(state, peer, 'The service is stopping. Connect again in a moment.');
    }
  }
}

/**
 * Ends open sessions within a second when their token or address is no longer valid. While the database is unavailable, none is
 * ended: tokens can't be checked, but nothing can be uploaded either. Returns a function that stops the checks.
 */
function checkTokens(state: ServerState): () => Promise<void> {
  let wasUnavailable = false;
  const stopping = new AbortController();
  async function check(): Promise<void> {
    const peers = [...state.peers].filter(({ caller }) => caller !== undefined);
    if (peers.length === 0) return;
    const verdicts = await stillValid(
      state.pool,
      peers.map(({ caller, address }) => ({ ...(caller as NonNullable<typeof caller>), address })),
    );
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict === undefined) continue;
      const peer = peers[i] as Peer;
      const reason =
        verdict === 'token' ? 'token revoked, expired or without its scope' : 'address not allowed';
      peer.log.info({ reason }, 'Ending SFTP connection');
      peer.socket.destroy();
    }
  }
  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      // oxlint-disable no-await-in-loop -- one after another
      try {
        await check();
        wasUnavailable = false;
      } catch (error) {
        if (!wasUnavailable)
          state.log.warn({ cause: asFault(error) }, "Tokens of open SFTP sessions can't be checked");
        wasUnavailable = true;
      }
      await sleep(checkMs, undefined, { signal: stopping.signal }).catch(() => {});
      // oxlint-enable no-await-in-loop
    }
  }
  const running = repeat();
  return async () => {
    stopping.abort();
    await running;
  };
}

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
