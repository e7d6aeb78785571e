// Who has to wait before trying to sign in again: after failures for one e-mail address, or from one network. In memory, so of
// one process; forgotten when it ends. Knows no sockets.
import { isIPv6 } from 'node:net';
import { Fault } from '../base/errors.ts';

/** After `free` failures each further one doubles the wait, from a second on, up to `longestMs`; forgotten after `memoryMs`. */
type Patience = { free: number; longestMs: number; memoryMs: number };

const minuteMs = 60_000;
/** Of an address: as many as somebody has passwords to try. Short waits: a stranger must not be able to lock a person out. */
const ofEmail: Patience = { free: 5, longestMs: minuteMs, memoryMs: 30 * minuteMs };
/** Of a network: an office has one. */
const ofNetwork: Patience = { free: 50, longestMs: minuteMs, memoryMs: 30 * minuteMs };
/** Of codes: a million, of which three are right. Whoever tries them knows the password. */
const ofCodes: Patience = { free: 5, longestMs: 15 * minuteMs, memoryMs: 24 * 60 * minuteMs };
/** Mails with links: few who forgot need more in an hour. Of a network many: an office where all are invited at once. */
const ofMails: Patience = { free: 100, longestMs: 10 * minuteMs, memoryMs: 60 * minuteMs };

/** So many of each are remembered: some 200 bytes each. The oldest are forgotten first. */
const mostRemembered = 20_000;

export type Gate = {
  /**
   * Counts a try for an address of mail from an address of the network. Throws a Fault, which says when to come again,
   * when it is too early. For the address of mail it counts as failed until it is said that it was not, so that many at
   * once are no way around; for the network only when it has failed: an office signs in within the same minute.
   */
  try(email: string, address: string): Attempt;
  /** The same for codes of a person, and for the present password of somebody who is signed in. */
  tryCode(person: string): { succeeded(): void; undecided(): void };
  /** The same for mails with links. */
  tryMail(address: string): void;
};

export type Attempt = {
  failed(): void;
  /** The failures for the address of mail are forgotten; from that network, strangers' failures no longer hold it up. */
  succeeded(): void;
  /** Neither failed nor succeeded: more is asked for. */
  undecided(): void;
};

/** Does what a try is for. One that ends by anything but a wrong password or code, such as too much to do, was none. */
export async function tried<T>(attempt: { undecided(): void }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault && error.code.startsWith('wrong '))) attempt.undecided();
    throw error;
  }
}

/** `now`: the clock, in ms. */
export function openSignInGate(now: () => number): Gate {
  const [emails, networks, codes, mails] = [ofEmail, ofNetwork, ofCodes, ofMails].map((patience) =>
    openCounter(patience, now),
  ) as [Counter, Counter, Counter, Counter];
  const known = new Map<string, true>();

  return {
    try(email, address) {
      const network = networkOf(address);
      const pair = `${email} ${network}`;
      const key = known.has(pair) ? pair : email;
      networks.refuse(network);
      emails.refuse(key);
      emails.add(key);
      return {
        failed: () => networks.add(network),
        succeeded() {
          emails.forget(key);
          known.delete(pair);
          known.set(pair, true);
          forgetOldest(known);
        },
        undecided: () => emails.takeBack(key),
      };
    },
    tryCode(person) {
      codes.refuse(person);
      codes.add(person);
      return { succeeded: () => codes.forget(person), undecided: () => codes.takeBack(person) };
    },
    tryMail(address) {
      const network = networkOf(address);
      mails.refuse(network);
      mails.add(network);
    },
  };
}

type Counter = {
  refuse(key: string): void;
  add(key: string): void;
  takeBack(key: string): void;
  forget(key: string): void;
};

function openCounter({ free, longestMs, memoryMs }: Patience, now: () => number): Counter {
  const failures = new Map<string, { count: number; last: number }>();
  const of = (key: string) => {
    const one = failures.get(key);
    return one && now() - one.last <= memoryMs ? one : { count: 0, last: 0 };
  };
  const put = (key: string, count: number) => {
    failures.delete(key); // to be the newest
    if (count > 0) failures.set(key, { count, last: now() });
    forgetOldest(failures);
  };
  return {
    refuse(key) {
      const { count, last } = of(key);
      if (count < free) return;
      const wait = last + Math.min(longestMs, 1000 * 2 ** (count - free)) - now();
      if (wait > 0) throw tooEarly(Math.ceil(wait / 1000));
    },
    add: (key) => put(key, of(key).count + 1),
    takeBack: (key) => put(key, Math.max(0, of(key).count - 1)),
    forget: (key) => void failures.delete(key),
  };
}

function forgetOldest(map: Map<string, unknown>): void {
  if (map.size > mostRemembered) map.delete(map.keys().next().value as string);
}

function tooEarly(seconds: number): Fault {
  const wait = seconds === 1 ? '1 second' : `${seconds} seconds`;
  return new Fault('too_many', 'too many tries', `That has failed too often. Try again in ${wait}.`, {
    retryAfter: seconds,
  });
}

/** The first half of an IPv6 address, which is what one customer has at least; all of any other. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== '')) as [
    string[],
    string[],
  ];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
