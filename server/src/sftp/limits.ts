// Limits SFTP connections before a byte is read: in total, per address, and without a login. Delays or refuses addresses after
// earlier failures. Has no knowledge of sockets.
//
// Like OpenSSH, it uses random early drop (MaxStartups) and penalties by source (PerSourcePenalties). Unlike OpenSSH, it drops
// connections of the sources with the most connections without a login, so that a few addresses can't shut out all others.
import { networkOf } from '../base/network.ts';
import { type Attempts, type Backoff, countOf, delayAfter, oneMore, waitOf } from '../base/throttle.ts';

export type SftpLimits = {
  connections: number;
  perAddress: number;
  unauthenticated: number;
  unauthenticatedPerAddress: number;
  earlyDropFrom: number;
  greetingMs: number;
  loginMs: number;
  tries: number;
  failureMs: number;
  channels: number;
  handles: number;
  requests: number;
  queuedBytes: number;
  unwrittenBytes: number;
  idleMs: number;
};

export const sftpLimits: SftpLimits = {
  /** In total. An idle connection takes up to 40 KB, so all of them 60 MB. */
  connections: 1500,
  /** Per address. The jobs of a customer typically share one or two addresses. */
  perAddress: 300,
  /** Without a login. Each may cost a handshake of 5 to 100 ms. OpenSSH has the same number. */
  unauthenticated: 100,
  /** Without a login per address, so that one address can't take all places. Twenty simultaneous sessions must fit. */
  unauthenticatedPerAddress: 40,
  /**
   * From this number of connections without a login on, some are dropped, with rising probability. One is always dropped
   * when all places are taken.
   */
  earlyDropFrom: 50,
  /** How long a client may take to send its SSH version. Clients send it immediately. */
  greetingMs: 10_000,
  /** From the first byte to the login: enough time to find and paste a token. */
  loginMs: 60_000,
  /** Login attempts per connection, as many as clients prompt for. */
  tries: 3,
  /** The time that every refused login takes, so that its duration does not reveal the reason. */
  failureMs: 1000,
  /** Simultaneous sessions per connection. Clients use one, or a few with OpenSSH connection sharing. */
  channels: 8,
  /** Open files and folders per channel. A client with more has forgotten to close them. */
  handles: 64,
  /** Waiting requests: as many as OpenSSH, WinSCP and rclone send ahead. At this number we stop reading. */
  requests: 64,
  /** The bytes of waiting requests: four writes of 32 KB, enough never to wait for the network. */
  queuedBytes: 128 * 1024,
  /** The bytes of a connection that may be in memory and not in the database. */
  unwrittenBytes: 1024 * 1024,
  /** A session without requests ends after this time. Jobs end theirs themselves, and people can reconnect. */
  idleMs: 10 * 60_000,
};

/**
 * Each failure after the fifth delays the connections of its address by another half second, but never by more than ten seconds,
 * because others who share the address must still get in.
 */
const afterFailures: Backoff = {
  free: 6,
  firstWaitMs: 500,
  growth: 'adds',
  longestMs: 10_000,
  memoryMs: 10 * 60_000,
};
/**
 * From the third connection that times out without a login on, its address is refused: for ten seconds, and for another ten with each
 * further one. OpenSSH has similar numbers, but up to ten minutes.
 */
const afterTimeouts: Backoff = {
  free: 3,
  firstWaitMs: 10_000,
  growth: 'adds',
  longestMs: 5 * 60_000,
  memoryMs: 5 * 60_000,
};
/** An address is not refused this long after a login, so that a stranger in a customer's network can't block its jobs. */
const trustMs = 24 * 3_600_000;

/** The maximum number of addresses to remember, about 200 bytes each. OpenSSH has the same number. */
const maxOrigins = 65_536;

export type ConnectionRefusal =
  | 'too many connections'
  | 'too many from this address'
  | 'too many connections without a login'
  | 'too many login timeouts';

/** The state of an address. An IPv6 address counts by its /64, the smallest network that a customer has. */
type Origin = {
  open: number;
  waiting: Set<Waiting>;
  failures: Attempts | undefined;
  timeouts: Attempts | undefined;
  trustedUntil: number;
};

/** A connection without a login. */
type Waiting = { origin: Origin; drop: () => void };

/** An admitted connection. */
export type AdmittedConnection = {
  /** How long to wait before serving it, in ms. */
  waitMs: number;
  loggedIn(): void;
  /** A wrong token, or a handshake without a login. */
  failed(): void;
  /** It did not log in in time. */
  timedOut(): void;
  left(): void;
};

export type SftpLimiter = {
  /** Admits a connection, or returns why not. `drop` is called if it must make room for others before it logs in. */
  enter(address: string, drop: () => void): AdmittedConnection | ConnectionRefusal;
  readonly open: number;
  readonly unauthenticated: number;
};

/** `now` returns the time in ms, and `random` a number from 0 up to 1. */
export function openSftpLimiter(
  limits: SftpLimits,
  now: () => number,
  random: () => number = Math.random,
): SftpLimiter {
  const origins = openOrigins(now);
  const waiting = openWaiting(limits, random);
  let open = 0;

  function admit(network: string, origin: Origin, drop: () => void): AdmittedConnection {
    const one: Waiting = { origin, drop };
    open++;
    origin.open++;
    waiting.add(one);
    return {
      waitMs: delayAfter(countOf(origin.failures, afterFailures, now()), afterFailures),
      loggedIn() {
        waiting.remove(one);
        origin.trustedUntil = now() + trustMs;
      },
      failed() {
        origin.failures = oneMore(origin.failures, afterFailures, now());
      },
      timedOut() {
        origin.timeouts = oneMore(origin.timeouts, afterTimeouts, now());
      },
      left() {
        open--;
        origin.open--;
        waiting.remove(one);
        origins.forgetClean(network, origin);
      },
    };
  }

  return {
    enter(address, drop) {
      if (open >= limits.connections) return 'too many connections';
      const network = networkOf(address);
      const origin = origins.of(network);
      if (origin.trustedUntil <= now() && waitOf(origin.timeouts, afterTimeouts, now()) > 0)
        return 'too many login timeouts';
      if (origin.open >= limits.perAddress || origin.waiting.size >= limits.unauthenticatedPerAddress)
        return 'too many from this address';
      if (!waiting.makePlace(origin)) return 'too many connections without a login';
      return admit(network, origin, drop);
    },
    get open() {
      return open;
    },
    get unauthenticated() {
      return waiting.size();
    },
  };
}

/** Keeps the states of addresses. */
function openOrigins(now: () => number) {
  const origins = new Map<string, Origin>();

  const badOf = ({ failures, timeouts }: Origin) =>
    countOf(failures, afterFailures, now()) + countOf(timeouts, afterTimeouts, now());

  /** Forgets a quarter of the addresses, those with the fewest failures first, so that new addresses can't displace bad ones. */
  function forgetSome(): void {
    const lastOf = ({ failures, timeouts }: Origin) => Math.max(failures?.at ?? 0, timeouts?.at ?? 0);
    const absent = [...origins].filter(([, origin]) => origin.open === 0);
    absent.sort(([, a], [, b]) => badOf(a) - badOf(b) || lastOf(a) - lastOf(b));
    for (const [network] of absent.slice(0, Math.ceil(maxOrigins / 4))) origins.delete(network);
  }

  return {
    of(network: string): Origin {
      const known = origins.get(network);
      if (known) return known;
      if (origins.size >= maxOrigins) forgetSome();
      const none = { open: 0, failures: undefined, timeouts: undefined, trustedUntil: 0 };
      const origin = { ...none, waiting: new Set<Waiting>() };
      origins.set(network, origin);
      return origin;
    },
    forgetClean(network: string, origin: Origin): void {
      if (origin.open === 0 && badOf(origin) === 0 && origin.trustedUntil <= now()) origins.delete(network);
    },
  };
}

/** Keeps the connections without a login. */
function openWaiting({ unauthenticated: places, earlyDropFrom }: SftpLimits, random: () => number) {
  const waiting = new Set<Waiting>();
  const from = Math.min(earlyDropFrom, places);

  function remove(one: Waiting): void {
    waiting.delete(one);
    one.origin.waiting.delete(one);
  }

  /** Whether to drop a connection: never below `from`, then with rising probability, and always when all places are taken. */
  const isTimeToDrop = () =>
    waiting.size >= places || (waiting.size >= from && random() < (waiting.size - from) / (places - from));

  return {
    remove,
    add(one: Waiting): void {
      waiting.add(one);
      one.origin.waiting.add(one);
    },
    size: () => waiting.size,
    /**
     * Drops a connection if needed, at random among those of the sources with the most connections, including the new one. Returns
     * whether the new connection has a place.
     */
    makePlace(newcomer: Origin): boolean {
      if (!isTimeToDrop()) return true;
      const sizeOf = (origin: Origin) => origin.waiting.size + (origin === newcomer ? 1 : 0);
      const most = Math.max(sizeOf(newcomer), ...[...waiting].map(({ origin }) => sizeOf(origin)));
      const candidates: (Waiting | undefined)[] = [...waiting].filter(
        ({ origin }) => sizeOf(origin) === most,
      );
      if (sizeOf(newcomer) === most) candidates.push(undefined);
      const chosen = candidates[Math.floor(random() * candidates.length)];
      if (!chosen) return false;
      remove(chosen);
      chosen.drop();
      return true;
    },
  };
}
