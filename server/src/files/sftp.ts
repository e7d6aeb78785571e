// SFTP (§4.3, decision C7): an SSH server that does nothing but take and list files. Our own listener stands before it, so
// that its limits hold before a byte is read. Nothing that a client sends ends more than its own connection.
import { createSecretKey } from 'node:crypto';
import { createServer, isIP, type Server as Listener, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2, { type Connection, type Server } from 'ssh2';
import { isAllowed } from '../accounts/allowlist.ts';
import { stillValid } from '../accounts/doors.ts';
import { plainAddress } from '../base/addresses.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/sealer.ts';
import { asFault, type Pool } from '../db/db.ts';
import { type Entry, type Gate, openGate, type SftpLimits, sftpLimits } from './gate.ts';
import { type ReadableKey, readableHostKeys } from './hostkeys.ts';
import { proxyHeader } from './proxy.ts';
import { disconnect } from './sftp.disconnect.ts';
import { takeLogins } from './sftp.login.ts';
import { openSessions, type Sessions } from './sftp.session.ts';

export type SftpOptions = {
  host: string;
  port: number;
  pool: Pool;
  /** Opens the host keys. */
  secrets: Sealer;
  log: Log;
  /** Addresses and ranges of proxies that tell by the PROXY protocol for whom they ask. */
  trustProxy?: string[];
  limits?: Partial<SftpLimits>;
  /** The clock, in ms. */
  now?: () => number;
};

export type SftpServer = {
  /** Where it listens, such as sftp://127.0.0.1:2222. */
  address: string;
  /** What of the connection that has most is in memory and not yet in the database, in bytes. */
  unwritten(): number;
  /** Takes nothing new and ends sessions, each between two operations; running uploads get so many seconds. */
  close(seconds: number): Promise<void>;
};

/**
 * What is offered. AES-GCM first; ChaCha20 is not, at which OpenSSH would take it, and half the speed. Last of the MACs
 * those of clients that know no others: curl of Debian 12 is one.
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
  compress: ['none' as const], // what is packed may be a bomb
};

/**
 * OpenSSH takes AES-CTR where it can, before version 10, and then needs a MAC as well: an upload takes a sixth longer than
 * by AES-GCM. To versions that have AES-GCM nothing else is offered; all since 6.2 have it, of 2013.
 */
const takesGcm = /^OpenSSH_(for_Windows_)?([7-9]|\d\d)\./;
const gcm = algorithms.cipher.filter((name) => name.includes('-gcm@'));

/** How often the time of those who are here is looked at, and whether they still may be. */
const roundMs = 500;
/** When our side of a connection is closed, theirs gets so long. */
const lingerMs = 2000;
/** How long a proxy may take to say for whom it asks. It says so at once. */
const proxyMs = 2000;
/** What a connection may have been sent without reading it, in bytes; then we read no more of it. */
const maxUnread = 64 * 1024;
/** The longest first line of a client, in bytes (RFC 4253 §4.2). */
const maxGreetingBytes = 255;
/** Handshakes on one connection: OpenSSH makes one each GB. Each costs us as much as a new connection. */
const maxHandshakes = 20;

/** Somebody who is connected. */
type Guest = {
  socket: Socket;
  entry: Entry;
  address: string;
  log: Log;
  /** When it connected, in ms. */
  since: number;
  /** When to give up waiting for a log-in, or for the end, in ms. Undefined: logged in. */
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

type House = {
  pool: Pool;
  log: Log;
  limits: SftpLimits;
  now: () => number;
  trustProxy: string[];
  gate: Gate;
  server: Server;
  guests: Set<Guest>;
  isStopping: boolean;
  /** Whose bytes are being read: the library does not tell on which socket a connection is. */
  reading: Guest | undefined;
  refusals: { count: number; toldAt: number };
  /** What sessions still have to do when their connection is gone. */
  ending: Set<Promise<void>>;
};

/** Listens once the keys are there: the database must be migrated. */
export async function openSftp(options: SftpOptions): Promise<SftpServer> {
  const { pool, secrets, log, trustProxy = [], now = Date.now } = options;
  const connections = Math.min(sftpLimits.connections, options.limits?.connections ?? Infinity);
  const limits = { ...sftpLimits, ...options.limits, connections };
  const server = new ssh2.Server({
    hostKeys: (await readableHostKeys(pool, secrets, log)).flatMap(hostKeysOf),
    algorithms,
    ident: 'Soundings',
    keepaliveInterval: 2 ** 31 - 1, // the library's own would write to connections that are gone, and throw
  });
  const house: House = {
    pool,
    log,
    limits,
    now,
    trustProxy,
    gate: openGate(limits, now),
    server,
    guests: new Set(),
    isStopping: false,
    reading: undefined,
    refusals: { count: 0, toldAt: -Infinity },
    ending: new Set(),
  };
  server.on('connection', (client, { header }) => {
    const { software } = header.versions;
    if (takesGcm.test(software)) offerGcm(client);
    meet(house, client, software.startsWith('OpenSSH_'));
  });
  const listener = createServer({ pauseOnConnect: true, noDelay: true, keepAlive: true }, (socket) =>
    receive(house, socket),
  );
  const address = await listen(listener, options);
  const rounds = setInterval(() => makeRound(house), roundMs);
  const endChecks = checkTokens(house);
  return {
    address,
    unwritten: () => Math.max(0, ...[...house.guests].map(({ sessions }) => sessions?.unwritten() ?? 0)),
    async close(seconds) {
      await closeHouse(house, listener, seconds);
      clearInterval(rounds);
      await endChecks();
    },
  };
}

/**
 * A key as the library takes it: read, under each name that is to be offered. Of its own accord it offers an RSA key by
 * the name ssh-rsa too, which stands for SHA-1.
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

function receive(house: House, socket: Socket): void {
  socket.on('error', () => {}); // 'close' follows
  const remote = plainAddress(socket.remoteAddress ?? '');
  if (remote === '' || house.isStopping) return void socket.destroy();
  if (house.trustProxy.length === 0 || !isAllowed(house.trustProxy, remote))
    return admit(house, socket, remote);
  // Until it is known who asks, it is the proxy.
  const { gate, limits } = house;
  if (gate.open >= limits.connections) return refuse(house, socket, remote, 'too many connections');
  readProxyHeader(socket, (told) => admit(house, socket, told ?? remote));
}

/** Reads for whom a proxy asks, and leaves what follows on the socket. */
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

function refuse(house: House, socket: Socket, address: string, reason: string): void {
  socket.destroy();
  const { refusals, now, log } = house;
  refusals.count++;
  if (now() - refusals.toldAt < 1000) return; // a flood of connections is not to become one of the log
  log.warn({ address, reason, refused: refusals.count }, 'Connections by SFTP were refused');
  house.refusals = { count: 0, toldAt: now() };
}

/** Lets somebody in, as far as there is room, and hands the socket to the library when its turn has come. */
function admit(house: House, socket: Socket, told: string): void {
  const address = plainAddress(told);
  if (house.isStopping) return void socket.destroy();
  const entry = house.gate.enter(address, () => refuse(house, socket, address, 'too many not logged in'));
  if (typeof entry === 'string') return refuse(house, socket, address, entry);
  const log = house.log.child({ connectionId: newId(), address });
  const { greetingMs, loginMs } = house.limits;
  const deadline = house.now() + Math.min(entry.waitMs + greetingMs, loginMs);
  const guest: Guest = {
    socket,
    entry,
    since: house.now(),
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
  house.guests.add(guest);
  log.info('Connected by SFTP');
  socket.once('close', () => leave(house, guest));
  // Half closed by us, in whatever way: it is not waited for long.
  socket.once('finish', () => linger(house, guest));
  socket.on('drain', () => balance(guest));
  const begin = () => {
    if (socket.destroyed) return;
    // Before the library's own listener, so that it is known whose bytes it reads.
    socket.on('data', () => {
      house.reading = guest;
      gather(socket);
      balance(guest);
    });
    house.server.injectSocket(socket);
  };
  if (entry.waitMs === 0) begin();
  else setTimeout(begin, entry.waitMs);
}

/** Sends what is answered to all that has come at once together: a write costs more than the answer to a request. */
function gather(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}

/** Reads no more of a client than can be worked at, or than it reads of us. */
function balance(guest: Guest): void {
  const { socket, sessions } = guest;
  const isUnread = socket.writableLength > maxUnread;
  const isPaused = guest.isPaused
    ? isUnread || sessions?.isDrained() === false
    : isUnread || sessions?.isFull() === true;
  if (isPaused === guest.isPaused) return;
  guest.isPaused = isPaused;
  if (isPaused) socket.pause();
  else socket.resume();
}

type Names = { array: string[] };
type Direction = Record<'cipher' | 'mac' | 'compress' | 'lang', Names>;
type Offer = { lists: { kex: Names; serverHostKey: Names; cs: Direction; sc: Direction } };

/** The library is about to send its offer. Where it keeps that otherwise one day, a client gets what all get. */
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
  const Made = offer.constructor as new (lists: object) => Offer;
  protocol['_offer'] = new Made({
    kex: kex.array,
    serverHostKey: serverHostKey.array,
    cs: withGcm(cs),
    sc: withGcm(sc),
  });
}

/** The library has read the first line of a client. */
function meet(house: House, client: Connection, isOpenSsh: boolean): void {
  const guest = house.reading as Guest;
  guest.client = client;
  guest.isOpenSsh = isOpenSsh;
  if (!guest.isEnding) guest.deadline = guest.since + house.limits.loginMs;
  client.on('error', (error: Error & { level?: string }) => {
    if (error.level !== 'socket')
      guest.log.info({ reason: error.message }, 'A connection by SFTP was broken off');
    // At once: the library would go on reading, and throw.
    linger(house, guest);
    guest.socket.destroySoon();
  });
  client.on('handshake', () => {
    prepareKeys(client);
    if (++guest.handshakes > maxHandshakes) end(house, guest);
  });
  takeLogins(client, {
    pool: house.pool,
    log: guest.log,
    limits: house.limits,
    address: guest.address,
    onFailure: () => {
      guest.hasFailed = true;
      guest.entry.failed();
    },
    onGiveUp: () => end(house, guest),
    onAway: (words) => endWithWords(house, guest, words),
    onCaller: ({ accountId, tokenId }) => welcome(house, guest, { accountId, tokenId }),
  });
}

/**
 * Keys that are bytes are made ready by Node for each message anew, by way of an error with its stack: a tenth of all time.
 * So the library is given keys that are ready. Where it keeps them otherwise one day, nothing is won or lost.
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

/** Somebody has logged in. */
function welcome(house: House, guest: Guest, caller: { accountId: number; tokenId: number }): void {
  const { pool, limits, now } = house;
  guest.entry.loggedIn();
  guest.caller = caller;
  guest.deadline = undefined;
  guest.log = guest.log.child(caller);
  guest.log.info('Logged in by SFTP');
  const sessions = openSessions({
    pool,
    log: guest.log,
    caller: { ...caller, address: guest.address },
    limits,
    now,
    isStopping: () => house.isStopping,
    printsErrors: guest.isOpenSsh,
    onAnswer: () => gather(guest.socket),
    onLess: () => balance(guest),
    onUnreadable: () => {
      guest.log.info({ reason: 'not SFTP' }, 'A connection by SFTP was broken off');
      end(house, guest);
    },
  });
  guest.sessions = sessions;
  const client = guest.client as Connection;
  let channels = 0;
  client.on('session', (accept, reject) => {
    if (channels >= limits.channels || house.isStopping) return reject();
    channels++;
    const session = accept();
    session.on('close', () => channels--);
    // Nothing listens for the library's `sftp`: it has its own reader, which throws at what is malformed.
    session.on('subsystem', (acceptChannel, rejectChannel, { name }) => {
      if (name !== 'sftp') return rejectChannel();
      const channel = acceptChannel();
      if (channel) sessions.serve(channel);
    });
  });
}

/** From now on a connection has a moment to go. */
function linger(house: House, guest: Guest): void {
  if (guest.isEnding) return;
  guest.isEnding = true;
  guest.deadline = house.now() + lingerMs;
}

/** Ends a connection in good order: it is told. */
function end(house: House, guest: Guest): void {
  endBy(house, guest, () => {
    if (guest.client) guest.client.end();
    else guest.socket.destroy();
  });
}

/** The same, and says why. */
function endWithWords(house: House, guest: Guest, words: string): void {
  endBy(house, guest, () => {
    if (guest.client) disconnect(guest.client, words);
    guest.socket.end();
  });
}

/** Ends a connection by a last message. */
function endBy(house: House, guest: Guest, say: () => void): void {
  linger(house, guest);
  try {
    say();
  } catch {
    guest.socket.destroy();
  }
}

function leave(house: House, guest: Guest): void {
  house.guests.delete(guest);
  const isLoggedIn = guest.caller !== undefined;
  guest.entry.left();
  // Whoever has sent more than a greeting, and not come in, has cost us a handshake. Health checks send less.
  const hasCost = !isLoggedIn && guest.socket.bytesRead > maxGreetingBytes;
  if (hasCost && !guest.hasFailed) guest.entry.failed();
  guest.log.info({ loggedIn: isLoggedIn }, 'A connection by SFTP has ended');
  if (!guest.sessions) return;
  const ending = guest.sessions.end().finally(() => house.ending.delete(ending));
  house.ending.add(ending);
}

/** Ends what has taken too long. */
function makeRound(house: House): void {
  const { limits, isStopping } = house;
  const now = house.now();
  for (const guest of house.guests) {
    const { deadline = Infinity, isEnding, sessions, log } = guest;
    const isIdle = sessions && now - sessions.lastRequest() >= limits.idleMs;
    if (now >= deadline) {
      if (!isEnding) {
        log.info({ reason: 'no log-in in time' }, 'A connection by SFTP was ended');
        guest.entry.ranOut();
      }
      guest.socket.destroy();
    } else if (!isEnding && (isIdle || (isStopping && !sessions?.isBusy()))) {
      log.info({ reason: isIdle ? 'idle' : 'stopping' }, 'A connection by SFTP was ended');
      if (isIdle) end(house, guest);
      else endWithWords(house, guest, 'The service is stopping. Connect again in a moment.');
    }
  }
}

/**
 * Ends open sessions whose token or address is no longer good, within a second. Without the database none is ended: it
 * cannot be known, and nothing can be uploaded. Returns how to stop.
 */
function checkTokens(house: House): () => Promise<void> {
  let wasAway = false;
  const patience = new AbortController();
  async function check(): Promise<void> {
    const guests = [...house.guests].filter(({ caller }) => caller !== undefined);
    if (guests.length === 0) return;
    const verdicts = await stillValid(
      house.pool,
      guests.map(({ caller, address }) => ({ ...(caller as NonNullable<typeof caller>), address })),
    );
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict === undefined) continue;
      const guest = guests[i] as Guest;
      const reason =
        verdict === 'token' ? 'token revoked, expired or without its scope' : 'address not allowed';
      guest.log.info({ reason }, 'A connection by SFTP was ended');
      guest.socket.destroy();
    }
  }
  async function repeat(): Promise<void> {
    while (!patience.signal.aborted) {
      // oxlint-disable no-await-in-loop -- one after another
      try {
        await check();
        wasAway = false;
      } catch (error) {
        if (!wasAway) house.log.warn({ cause: asFault(error) }, 'Open SFTP sessions cannot be checked');
        wasAway = true;
      }
      await sleep(roundMs, undefined, { signal: patience.signal }).catch(() => {});
      // oxlint-enable no-await-in-loop
    }
  }
  const running = repeat();
  return async () => {
    patience.abort();
    await running;
  };
}

async function closeHouse(house: House, listener: Listener, seconds: number): Promise<void> {
  house.isStopping = true;
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  makeRound(house); // and again in each round, until all have gone
  const late = new AbortController();
  const timer = sleep(seconds * 1000, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([closed, timer]);
  late.abort();
  for (const guest of house.guests) guest.socket.destroy();
  await closed;
  await Promise.all(house.ending);
}
