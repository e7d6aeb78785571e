// The connections of the SFTP server, from the first byte to the end: limits, the SSH handshake, the login, the sessions. Whatever
// a client sends can only end its own connection.
import type { Socket } from 'node:net';
import type { Connection, Server } from 'ssh2';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { plainAddress } from '../base/network.ts';
import type { Pool } from '../db/db.ts';
import type { AdmittedConnection, SftpLimiter, SftpLimits } from './limits.ts';
import { handleLogins } from './login.ts';
import { openSessions, type Sessions } from './request-queue.ts';
import { disconnectClient, useKeyObjects } from './ssh2-internals.ts';

/** How often deadlines and tokens of open connections are checked. */
export const checkMs = 500;
/** How long the client may take to close its side after we closed ours. */
const closeMs = 2000;
/** The maximum number of bytes that a client may leave unread before we stop reading from it. */
const maxUnread = 64 * 1024;
/** The longest first line of a client, in bytes (RFC 4253 §4.2). */
const maxGreetingBytes = 255;
/** The maximum number of handshakes on one connection. OpenSSH makes one per GB, and each costs as much as a new connection. */
const maxHandshakes = 20;

/** A connected client. */
export type Peer = {
  socket: Socket;
  entry: AdmittedConnection;
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

/** What the connections of a server share. */
export type ServerState = {
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

/** Refuses a connection before any byte is read. */
export function refuseConnection(state: ServerState, socket: Socket, address: string, reason: string): void {
  socket.destroy();
  const { refusals, now, log } = state;
  refusals.count++;
  if (now() - refusals.loggedAt < 1000) return; // Keeps a flood of connections from flooding the log.
  log.warn({ address, reason, refused: refusals.count }, 'SFTP connections refused');
  state.refusals = { count: 0, loggedAt: now() };
}

/** Admits a connection within the limits, and passes its socket to the library, possibly after a delay. */
export function admit(state: ServerState, socket: Socket, client: string): void {
  const address = plainAddress(client);
  if (state.isStopping) return void socket.destroy();
  const entry = state.limiter.enter(address, () =>
    refuseConnection(state, socket, address, 'too many connections without a login'),
  );
  if (typeof entry === 'string') return refuseConnection(state, socket, address, entry);
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

/** Sends all replies of this turn of the event loop in one write, because a write costs more than a reply. */
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

/** Called when the library has read the first line of a client. */
export function onGreeting(state: ServerState, client: Connection, isOpenSsh: boolean): void {
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
    useKeyObjects(client);
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
    if (peer.client) disconnectClient(peer.client, reason);
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

/** Called when the socket of a connection has closed. */
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
export function endExpired(state: ServerState): void {
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
