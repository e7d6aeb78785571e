// Who may connect by SFTP, before a byte of theirs is read: how many in all, from one address, and without a log-in; and
// who has to wait or is refused because of what came from its address before. Knows no sockets.
//
// As in OpenSSH: random early drop (MaxStartups) and penalties by source (PerSourcePenalties). Unlike there, the drop falls on
// the sources with most connections that are not logged in, so that a few addresses can't shut everyone else out.
import { networkOf } from '../base/addresses.ts';

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
  /** In all: with up to 40 KB for an idle one, 60 MB. */
  connections: 1500,
  /** From one address: the jobs of a customer leave its network by one or two. */
  perAddress: 300,
  /** Without a log-in: each may make us compute a handshake, at 5 to 100 ms. OpenSSH has the same number. */
  unauthenticated: 100,
  /** Of these from one address: nobody alone takes all places. Twenty sessions at once must get in. */
  unauthenticatedPerAddress: 40,
  /** From so many without a log-in on, some are dropped early: ever more, and each time one when there is no place left. */
  earlyDropFrom: 50,
  /** How long a client may take to say that it speaks SSH. It says so at once. */
  greetingMs: 10_000,
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
/** For each connection that ran out of time without a log-in, its address is refused so long, in ms … */
const penaltyMs = 10_000;
/** … once that adds up to so much, and never for longer. OpenSSH has the same numbers, but refuses for up to ten minutes. */
const [leastPenaltyMs, longestPenaltyMs] = [15_000, 5 * 60_000];
/** An address is not refused so long after a log-in from it: a stranger in the network of a customer must not stop its jobs. */
const trustMs = 24 * 3_600_000;

/** So many addresses are remembered, some 200 bytes each. OpenSSH has the same number. */
const mostOrigins = 65_536;

export type Refusal =
  | 'too many connections'
  | 'too many from this address'
  | 'too many not logged in'
  | 'too many ran out of time';

/** What is known of an address, as far as it matters: its /64 for IPv6, which is what one customer has at least. */
type Origin = {
  open: number;
  waiting: Set<Waiting>;
  failures: number;
  lastFailure: number;
  /** Until when connections that ran out of time are held against it, in ms. */
  penaltyUntil: number;
  trustedUntil: number;
};

/** One who is not logged in. */
type Waiting = { origin: Origin; drop: () => void };

/** One who was let in. */
export type Entry = {
  /** For so many ms it is not to be served. */
  waitMs: number;
  loggedIn(): void;
  /** A wrong token, or a handshake that came to nothing. */
  failed(): void;
  /** It has not logged in in time. */
  ranOut(): void;
  left(): void;
};

export type Gate = {
  /** Lets one in, not logged in yet, or says why it may not. `drop` is called when it has to go for others before it logs in. */
  enter(address: string, drop: () => void): Entry | Refusal;
  readonly open: number;
  readonly unauthenticated: number;
};

/** `now`: the clock, in ms. `random`: a number from 0 up to 1. */
export function openGate(limits: SftpLimits, now: () => number, random: () => number = Math.random): Gate {
  const origins = openOrigins(now);
  const waiting = openWaiting(limits, random);
  let open = 0;

  function admit(network: string, origin: Origin, drop: () => void): Entry {
    const one: Waiting = { origin, drop };
    open++;
    origin.open++;
    waiting.add(one);
    return {
      waitMs: Math.min(longestWaitMs, Math.max(0, origin.failures - patience) * waitMs),
      loggedIn() {
        waiting.remove(one);
        origin.trustedUntil = now() + trustMs;
      },
      failed() {
        origin.failures++;
        origin.lastFailure = now();
      },
      ranOut() {
        const until = Math.max(origin.penaltyUntil, now()) + penaltyMs;
        origin.penaltyUntil = Math.min(until, now() + longestPenaltyMs);
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
      if (isPenalized(origin, now())) return 'too many ran out of time';
      if (origin.open >= limits.perAddress || origin.waiting.size >= limits.unauthenticatedPerAddress)
        return 'too many from this address';
      if (!waiting.makePlace(origin)) return 'too many not logged in';
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

const isPenalized = ({ trustedUntil, penaltyUntil }: Origin, now: number) =>
  trustedUntil <= now && penaltyUntil - now >= leastPenaltyMs;

/** What is known of addresses. */
function openOrigins(now: () => number) {
  const origins = new Map<string, Origin>();

  /** Forgets a quarter, those with least against them first: no one can make us forget many failures by a few of many others. */
  function forgetSome(): void {
    const weigh = ({ failures, penaltyUntil }: Origin) =>
      failures + Math.max(0, penaltyUntil - now()) / penaltyMs;
    const absent = [...origins].filter(([, origin]) => origin.open === 0);
    absent.sort(([, a], [, b]) => weigh(a) - weigh(b) || a.lastFailure - b.lastFailure);
    for (const [network] of absent.slice(0, Math.ceil(mostOrigins / 4))) origins.delete(network);
  }

  return {
    of(network: string): Origin {
      const known = origins.get(network);
      if (known && now() - known.lastFailure > memoryMs) known.failures = 0;
      if (known) return known;
      if (origins.size >= mostOrigins) forgetSome();
      const none = { open: 0, failures: 0, lastFailure: 0, penaltyUntil: 0, trustedUntil: 0 };
      const origin = { ...none, waiting: new Set<Waiting>() };
      origins.set(network, origin);
      return origin;
    },
    forgetClean(network: string, { open, failures, penaltyUntil, trustedUntil }: Origin): void {
      if (open === 0 && failures === 0 && Math.max(penaltyUntil, trustedUntil) <= now())
        origins.delete(network);
    },
  };
}

/** Those who are not logged in. */
function openWaiting({ unauthenticated: places, earlyDropFrom }: SftpLimits, random: () => number) {
  const waiting = new Set<Waiting>();
  const from = Math.min(earlyDropFrom, places);

  function remove(one: Waiting): void {
    waiting.delete(one);
    one.origin.waiting.delete(one);
  }

  /** Whether it is time to drop one: never before `from`, ever more likely from then on, and surely when all places are taken. */
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
     * Drops one when it is time, at random among the connections of the sources that have most; the one that comes counts as
     * one of its source. Returns whether there is a place for it.
     */
    makePlace(comer: Origin): boolean {
      if (!isTimeToDrop()) return true;
      const sizeOf = (origin: Origin) => origin.waiting.size + (origin === comer ? 1 : 0);
      const most = Math.max(sizeOf(comer), ...[...waiting].map(({ origin }) => sizeOf(origin)));
      const candidates: (Waiting | undefined)[] = [...waiting].filter(
        ({ origin }) => sizeOf(origin) === most,
      );
      if (sizeOf(comer) === most) candidates.push(undefined);
      const chosen = candidates[Math.floor(random() * candidates.length)];
      if (!chosen) return false;
      remove(chosen);
      chosen.drop();
      return true;
    },
  };
}
