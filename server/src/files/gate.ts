// Who may connect by SFTP, before a byte of theirs is read: how many in all, from one address, and without a log-in; and
// who has to wait because log-ins from its address have failed. Knows no sockets.
import { isIPv6 } from 'node:net';

export type SftpLimits = {
  connections: number;
  perAddress: number;
  unauthenticated: number;
  unauthenticatedPerAddress: number;
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
  /** In all: with up to 40 KB for an idle one, 60 MB. */
  connections: 1500,
  /** From one address: the jobs of a customer leave its network by one or two. */
  perAddress: 300,
  /** Without a log-in: each may make us compute a handshake, at 5 to 100 ms. OpenSSH has the same number. */
  unauthenticated: 100,
  /** Of these from one address: nobody alone takes all places. Twenty sessions at once must get in. */
  unauthenticatedPerAddress: 40,
  /** From the first byte to the log-in: enough to find a token and to paste it. */
  loginMs: 60_000,
  /** Tokens that may be tried on a connection, as many as clients ask their users for. */
  tries: 3,
  /** A refused log-in is answered after so long, whatever the reason: no reason can be told by its time. */
  failureMs: 1000,
  /** Sessions at once on a connection. Clients use one; OpenSSH's sharing of connections a few. */
  channels: 8,
  /** Files and folders that may be open at once on a channel: a client that keeps more has lost them. */
  handles: 64,
  /** Requests that wait for their turn: as many as OpenSSH, WinSCP and rclone send ahead. Then we stop reading. */
  requests: 64,
  /** What those requests may hold. Four writes of 32 KiB: enough never to wait for the network. */
  queuedBytes: 128 * 1024,
  /** What of a connection may be in memory without being in the database, all in all. */
  unwrittenBytes: 1024 * 1024,
  /** Without a request for so long, a session ends: nightly jobs end theirs, people come back. */
  idleMs: 10 * 60_000,
};

/** After so many failures from an address, each further connection waits half a second more for each failure … */
const patience = 5;
const waitMs = 500;
/** … but never longer than this: whoever shares the address with a job gone wrong must still get in. */
const longestWaitMs = 10_000;
/** Failures are forgotten so long after the last one. */
const memoryMs = 10 * 60_000;
/** So many addresses are remembered: some 200 bytes each. */
const mostOrigins = 10_000;

export type Refusal = 'too many connections' | 'too many from this address' | 'too many not logged in';

/** What is known of an address, as far as it matters: its /64 for IPv6, which is what one customer has at least. */
type Origin = { open: number; unauthenticated: number; failures: number; lastFailure: number };

export type Gate = {
  /** Lets one in, not logged in yet, and says for how many ms it is not to be served; or why it may not. */
  enter(address: string): { waitMs: number } | Refusal;
  loggedIn(address: string): void;
  /** A wrong token, or a handshake that came to nothing. */
  failed(address: string): void;
  left(address: string, wasLoggedIn: boolean): void;
  readonly open: number;
  readonly unauthenticated: number;
};

/** `now`: the clock, in ms. */
export function openGate(limits: SftpLimits, now: () => number): Gate {
  const origins = new Map<string, Origin>();
  let open = 0;
  let unauthenticated = 0;

  function originOf(address: string): Origin {
    const key = networkOf(address);
    const known = origins.get(key);
    if (known && known.failures > 0 && now() - known.lastFailure > memoryMs) known.failures = 0;
    const origin = known ?? { open: 0, unauthenticated: 0, failures: 0, lastFailure: 0 };
    origins.set(key, origin);
    return origin;
  }

  /** Whoever has so many addresses is not slowed down by what is held against one. */
  function forgetAbsent(): void {
    for (const [key, origin] of origins) if (origin.open === 0) origins.delete(key);
  }

  return {
    enter(address) {
      if (open >= limits.connections) return 'too many connections';
      if (unauthenticated >= limits.unauthenticated) return 'too many not logged in';
      if (origins.size > mostOrigins) forgetAbsent();
      const origin = originOf(address);
      if (origin.open >= limits.perAddress || origin.unauthenticated >= limits.unauthenticatedPerAddress) {
        return 'too many from this address';
      }
      open++;
      unauthenticated++;
      origin.open++;
      origin.unauthenticated++;
      return { waitMs: Math.min(longestWaitMs, Math.max(0, origin.failures - patience) * waitMs) };
    },
    loggedIn(address) {
      unauthenticated--;
      originOf(address).unauthenticated--;
    },
    failed(address) {
      const origin = originOf(address);
      origin.failures++;
      origin.lastFailure = now();
    },
    left(address, wasLoggedIn) {
      const origin = originOf(address);
      open--;
      origin.open--;
      if (!wasLoggedIn) {
        unauthenticated--;
        origin.unauthenticated--;
      }
      if (origin.open === 0 && origin.failures === 0) origins.delete(networkOf(address));
    },
    get open() {
      return open;
    },
    get unauthenticated() {
      return unauthenticated;
    },
  };
}

/** The first half of an IPv6 address, all of any other. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.replace(/%.*/, '').split('::');
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [
    ...(first as string[]),
    ...Array.from({ length: Math.max(0, 8 - first!.length - last!.length) }, () => '0'),
    ...(last as string[]),
  ];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

/** An IPv4 address as such, also where it came as an IPv6 one (::ffff:192.0.2.1). */
export const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
