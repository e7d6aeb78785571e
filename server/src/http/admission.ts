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

/** `end`: ends a request that has not begun. */
type Counted = { accountId: AccountId; bytes: number; end: ((fault: Fault) => void) | undefined };

export function openAdmission({ bytes, bytesOfAccount }: AdmissionLimits) {
  const here = new Set<Counted>();
  let onIdle = () => {};

  const hasRoom = (requests: Counted[], accountId: AccountId, more: number): boolean =>
    sumOf(requests) + more <= bytes && sumOf(requests, accountId) + more <= bytesOfAccount;

  /** Returns whether there is memory for `more` bytes of a running request. Ends requests that have not begun if they are in the way. */
  function makeRoom(accountId: AccountId, more: number): boolean {
    const running = [...here].filter(({ end }) => !end);
    if (!hasRoom(running, accountId, more)) return false;
    while (!hasRoom([...here], accountId, more)) {
      const isOwn = sumOf([...here], accountId) + more > bytesOfAccount;
      const last = nextToEnd([...here], isOwn ? accountId : undefined) as Counted;
      here.delete(last);
      last.end?.(tooManyLarge());
    }
    return true;
  }

  return {
    /** Admits a request with the body that was sent. Throws a Fault (unavailable) if there is no memory for it. */
    admit(accountId: AccountId, sent: number, end: (fault: Fault) => void): Admitted {
      if (!hasRoom([...here], accountId, sent)) throw tooManyLarge();
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

/** Returns how many bytes these requests have in memory, or those of them that an account has sent. */
const sumOf = (requests: Counted[], accountId?: AccountId): number =>
  requests
    .filter((one) => accountId === undefined || one.accountId === accountId)
    .reduce((sum, one) => sum + one.bytes, 0);

/** Returns the last request that has not begun: of an account, or else of the account with the most bytes. */
function nextToEnd(requests: Counted[], accountId: AccountId | undefined): Counted | undefined {
  const [first] = requests
    .filter((one) => one.end && (accountId === undefined || one.accountId === accountId))
    .toReversed()
    .toSorted((a, b) => sumOf(requests, b.accountId) - sumOf(requests, a.accountId));
  return first;
}
