// The sign-in throttle: how long to wait before the next attempt. Counts are stored in the database, so that they survive a
// restart and all processes of an installation share them. Addresses are stored only as hashes.
//
// Failures count per email address and network, so that attempts from elsewhere can never keep a person from signing in. To
// stop guessing from many networks, the total number of failures for an address limits the attempts from networks that the
// person has not signed in from before. The first attempt from a network is always allowed.
import { tokenHash } from '../base/crypto/secrets.ts';
import { networkOf } from '../base/network.ts';
import { Fault } from '../base/errors.ts';
import { countOf, tooEarly, waitOf } from '../base/throttle.ts';
import type { Pool } from '../db/db.ts';
import {
  deleteFailures,
  deleteOldFailures,
  selectFailures,
  takeBackFailure,
  upsertFailure,
  type SignInLimit,
} from './sign-in-throttle.sql.ts';

const [minuteMs, dayMs] = [60_000, 24 * 3_600_000];
/** After `free` failures, the wait is a second. Each further failure doubles it. */
const doubling = (limit: Pick<SignInLimit, 'free' | 'longestMs' | 'memoryMs'>): SignInLimit => ({
  ...limit,
  firstWaitMs: 1000,
  growth: 'doubles',
});
/** For each pair of email address and network: enough for a person to try a few passwords. */
const ofPair = doubling({ free: 5, longestMs: minuteMs, memoryMs: 30 * minuteMs });
/** Like `ofPair`, for networks that the person has not signed in from before, while there are many failures for the address. */
const ofPairUnderAttack = { ...ofPair, free: 1 };
const manyFailures = 100;
/** For each network, which a whole office may share. Doesn't apply to people who have signed in from that network before. */
const ofNetwork = doubling({ free: 50, longestMs: minuteMs, memoryMs: 30 * minuteMs });
/** For two-factor codes: three of a million are valid at a time, and anyone who tries them already knows the password. */
const ofCodes = doubling({ free: 5, longestMs: 15 * minuteMs, memoryMs: dayMs });
/** For emails with links, for each network. The limit is high, because a whole office may be invited at the same time. */
const ofMails = doubling({ free: 100, longestMs: 10 * minuteMs, memoryMs: 60 * minuteMs });
/** Only counts and never refuses. */
const counting = doubling({ free: 2 ** 31 - 1, longestMs: 0, memoryMs: 30 * minuteMs });
/** How long a network counts as known after someone has signed in from it. */
const knownMs = 90 * dayMs;

export type SignInThrottle = {
  /**
   * Counts a sign-in attempt for an email address from an IP address. If it is too early, throws a Fault that says when to try
   * again. For the pair of email address and network, the attempt counts as failed until its result is reported, so that parallel
   * attempts don't get around the limit. For the network, the attempt counts only once it has failed, because a whole office may
   * sign in within a minute.
   */
  try(email: string, address: string): Promise<Attempt>;
  /** Counts an attempt at a person's two-factor code, or at the current password of someone who is signed in. */
  tryCode(person: string): Promise<Pick<Attempt, 'succeeded' | 'undecided'>>;
  /** Counts a request for an email with a link. */
  tryMail(address: string): Promise<void>;
};

export type Attempt = {
  failed(): Promise<void>;
  /** Clears the failures. From then on, failures of other people don't delay this person on this network. */
  succeeded(): Promise<void>;
  /** Reports that the attempt has neither failed nor succeeded, because another step is required. */
  undecided(): Promise<void>;
};

/**
 * Runs the work of an attempt. If the work fails for any other reason than a wrong password or code, such as an overload, the
 * attempt doesn't count.
 */
export async function recordAttempt<T>(
  attempt: Pick<Attempt, 'undecided'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault && error.code.startsWith('wrong '))) await attempt.undecided();
    throw error;
  }
}

/** Opens the throttle. `now`: the clock, in milliseconds. */
export function openSignInThrottle(pool: Promise<Pool>, now: () => number): SignInThrottle {
  /** Counts a failure. Throws a Fault if it is too early for another attempt. */
  async function count(kind: string, key: Buffer, limit: SignInLimit): Promise<void> {
    if (await upsertFailure(await pool, kind, key, limit, new Date(now()))) return;
    const [failures] = await selectFailures(await pool, [[kind, key]]);
    throw tooManyFailures(waitOf(failures, limit, now()));
  }
  const clear = async (kind: string, key: Buffer) => deleteFailures(await pool, kind, key);
  const takeBack = async (kind: string, key: Buffer) => takeBackFailure(await pool, kind, key);

  return {
    async try(email, address) {
      const network = networkOf(address);
      const keys = {
        pair: tokenHash(`${email} ${network}`),
        email: tokenHash(email),
        network: tokenHash(network),
      };
      const found = await selectFailures(await pool, [
        ['known', keys.pair],
        ['email', keys.email],
        ['network', keys.network],
      ]);
      const [known, ofEmail, ofThisNetwork] = ['known', 'email', 'network'].map((kind) =>
        found.find((one) => one.kind === kind),
      );
      const isKnown = known !== undefined && now() - known.at <= knownMs;
      const wait = isKnown ? 0 : waitOf(ofThisNetwork, ofNetwork, now());
      if (wait > 0) throw tooManyFailures(wait);
      const isUnderAttack = countOf(ofEmail, counting, now()) >= manyFailures;
      await count('pair', keys.pair, isUnderAttack && !isKnown ? ofPairUnderAttack : ofPair);
      return {
        async failed() {
          await count('network', keys.network, counting);
          await count('email', keys.email, counting);
        },
        async succeeded() {
          await clear('pair', keys.pair);
          await count('known', keys.pair, counting);
        },
        undecided: () => takeBack('pair', keys.pair),
      };
    },
    async tryCode(person) {
      const key = tokenHash(person);
      await count('code', key, ofCodes);
      return { succeeded: () => clear('code', key), undecided: () => takeBack('code', key) };
    },
    async tryMail(address) {
      await count('mail', tokenHash(networkOf(address)), ofMails);
    },
  };
}

/** Deletes failures that no longer count. */
export const deleteOldSignInFailures = (pool: Pool, now: number): Promise<void> =>
  deleteOldFailures(pool, new Date(now - knownMs), new Date(now - dayMs));

const tooManyFailures = (waitMs: number) =>
  tooEarly('too many attempts', 'Too many failed attempts.', waitMs);
