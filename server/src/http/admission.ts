// Counts the bodies of organization requests in memory, with limits for all of them and for those of one account. A body counts as it was sent,
// and from its decompression on also with its decompressed bytes. If there is no memory for those of a running request, requests that have not
// begun end.
import type { Fault } from '../base/errors.ts';
import type { AccountId } from '../db/db.ts';
import { tooManyLarge } from './bodies.ts';

/** The maximum total size of all request bodies in memory, and of those of one account, in bytes. */
export type AdmissionLimits = { bytes: number; bytesOfAccount: number };

/** A request whose body is counted. */
export type Admitted = {
  /** Notes that the request is running. From now on it doesn't end because of others. */
  begin(): void;
  /**
   * Counts this many bytes in addition to those that were sent, instead of those of an earlier call. Returns false if there is no memory
   * for them: then the request must end. It never waits for other requests, which could wait for this one.
   */
  grow(bytes: number): boolean;
  leave(): void;
};

/** `end`: ends a request that has not begun. Undefined if it has, or if it can't be ended. */
type Counted = { accountId: AccountId; bytes: number; end: ((fault: Fault) => void) | undefined };

export function openAdmission({ bytes, bytesOfAccount }: AdmissionLimits) {
  const here = new Set<Counted>();
  let onIdle = () => {};

  const hasRoom = ({ all, own }: Sums, more: number): boolean =>
    all + more <= bytes && own + more <= bytesOfAccount;

  /** Returns whether there is memory for `more` bytes of a running request. Ends requests that have not begun if they are in the way. */
  function makeRoom(accountId: AccountId, more: number): boolean {
    const sums = sumsOf(here, accountId);
    if (hasRoom(sums, more)) return true;
    const [waiting, running] = [[...here].filter(({ end }) => end), [...here].filter(({ end }) => !end)];
    if (!hasRoom(sumsOf(running, accountId), more)) return false;
    const next = inOrderOfEnding(waiting);
    while (!hasRoom(sums, more)) {
      const last = next(sums.own + more > bytesOfAccount ? accountId : undefined);
      sums.all -= last.bytes;
      if (last.accountId === accountId) sums.own -= last.bytes;
      here.delete(last);
      last.end?.(tooManyLarge());
    }
    return true;
  }

  return {
    /**
     * Admits a request with the body that was sent. Throws a Fault (unavailable) if there is no memory for it. `end`: ends the request before
     * it has begun, for others that are running.
     */
    admit(accountId: AccountId, sent: number, end?: (fault: Fault) => void): Admitted {
      if (!hasRoom(sumsOf(here, accountId), sent)) throw tooManyLarge();
      const one: Counted = { accountId, bytes: sent, end };
      here.add(one);
      return {
        begin: () => void (one.end = undefined),
        grow(grown) {
          const isGranted = makeRoom(accountId, sent + grown - one.bytes);
          // Otherwise the request ends now. What it has decompressed must not keep others from growing.
          one.bytes = isGranted ? sent + grown : sent;
          return isGranted;
        },
        leave() {
          here.delete(one);
          if (here.size === 0) onIdle();
        },
      };
    },
    /** Resolves when no request is left. */
    async idle(): Promise<void> {
      if (here.size > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}

/** How many bytes requests have in memory, and how many of them those of an account. */
type Sums = { all: number; own: number };

function sumsOf(requests: Iterable<Counted>, accountId: AccountId): Sums {
  let [all, own] = [0, 0];
  for (const one of requests) {
    all += one.bytes;
    if (one.accountId === accountId) own += one.bytes;
  }
  return { all, own };
}

/**
 * Returns a function that takes one request after the other from a list: the last one of an account, or else of the account that has most
 * bytes in the list. There must be one.
 */
function inOrderOfEnding(requests: Counted[]): (accountId: AccountId | undefined) => Counted {
  const accounts = new Map(
    [...Map.groupBy(requests, (one) => one.accountId)].map(([id, own]) => [
      id,
      { own, bytes: own.reduce((sum, one) => sum + one.bytes, 0) },
    ]),
  );
  const largest = () => [...accounts.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a));
  return (accountId) => {
    const account = accountId === undefined ? largest() : accounts.get(accountId)!;
    const last = account.own.pop()!;
    account.bytes -= last.bytes;
    return last;
  };
}
