// Counts the bodies of organization requests in memory, with limits for all of them and for those of one account. A body counts as it was sent,
// and from its decompression on also with its decompressed bytes.
import type { AccountId } from '../db/db.ts';
import { tooManyLarge } from './bodies.ts';

/** The maximum total size of all request bodies in memory, and of those of one account, in bytes. */
export type AdmissionLimits = { bytes: number; bytesOfAccount: number };

/** A request whose body is counted. */
export type Admitted = {
  /**
   * Counts this many bytes in addition to those that were sent, instead of those of an earlier call. Returns false if there is no memory
   * for them: then the request must end. It never waits for other requests, which could wait for this one.
   */
  grow(bytes: number): boolean;
  leave(): void;
};

export function openAdmission({ bytes, bytesOfAccount }: AdmissionLimits) {
  const here = new Set<{ accountId: AccountId; sent: number; grown: number }>();
  let onIdle = () => {};

  /** Whether there is memory for `more` bytes of an account. */
  function hasRoom(accountId: AccountId, more: number): boolean {
    let [all, own] = [more, more];
    for (const one of here) {
      all += one.sent + one.grown;
      if (one.accountId === accountId) own += one.sent + one.grown;
    }
    return all <= bytes && own <= bytesOfAccount;
  }

  return {
    /** Admits a request with the body that was sent. Throws a Fault (unavailable) if there is no memory for it. */
    admit(accountId: AccountId, sent: number): Admitted {
      if (!hasRoom(accountId, sent)) throw tooManyLarge();
      const one = { accountId, sent, grown: 0 };
      here.add(one);
      return {
        grow(grown) {
          if (!hasRoom(accountId, grown - one.grown)) {
            // The request ends now. What it has decompressed must not keep others from growing.
            one.grown = 0;
            return false;
          }
          one.grown = grown;
          return true;
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
