// Who has to wait before trying to sign in again. Kept in the database: a restart forgets nothing, and all processes of an
// installation count together. Of addresses only digests are kept.
//
// Failures count for an e-mail address from one network, so that no one elsewhere can keep a person from signing in, however
// often they fail. Against guessing from many networks, the count of all failures for an address decides how many tries a
// network gets that no one has signed in from; the first one is never refused.
import { tokenHash } from '../base/secrets.ts';
import { networkOf } from '../base/addresses.ts';
import { Fault } from '../base/errors.ts';
import type { Pool } from '../db/db.ts';
import {
  deleteFailures,
  deleteOldFailures,
  selectFailures,
  takeBackFailure,
  upsertFailure,
  type Failures,
  type Limit,
} from './signin-throttle.sql.ts';

const [minuteMs, dayMs] = [60_000, 24 * 3_600_000];
/** Of an e-mail address from a network: as many as a person has passwords to try. */
const ofPair: Limit = { free: 5, longestMs: minuteMs, memoryMs: 30 * minuteMs };
/** The same from a network that no one has signed in from to that address, while there are very many failures for it. */
const ofPairUnderAttack: Limit = { ...ofPair, free: 1 };
const manyFailures = 100;
/** Of a network: an office has one. Whoever has signed in from there before is not held up by others. */
const ofNetwork: Limit = { free: 50, longestMs: minuteMs, memoryMs: 30 * minuteMs };
/** Of codes: a million, of which three are right. Whoever tries them knows the password. */
const ofCodes: Limit = { free: 5, longestMs: 15 * minuteMs, memoryMs: dayMs };
/** Emails with links: few who forgot need more in an hour. Of a network many: an office where all are invited at once. */
const ofMails: Limit = { free: 100, longestMs: 10 * minuteMs, memoryMs: 60 * minuteMs };
/** What only counts, and refuses nothing. */
const counting: Limit = { free: 2 ** 31 - 1, longestMs: 0, memoryMs: 30 * minuteMs };
/** So long it is remembered that someone signed in from a network. */
const knownMs = 90 * dayMs;

export type Throttle = {
  /**
   * Counts a try for an email address from an address of the network. Throws a Fault, which says when to come again, when it
   * is too early. For the pair of both it counts as failed until it is said that it was not, so that many at once are no
   * way around; for the network only when it has failed: an office signs in within the same minute.
   */
  try(email: string, address: string): Promise<Attempt>;
  /** The same for codes of a person, and for the present password of someone who is signed in. */
  tryCode(person: string): Promise<Pick<Attempt, 'succeeded' | 'undecided'>>;
  /** The same for emails with links. */
  tryMail(address: string): Promise<void>;
};

export type Attempt = {
  failed(): Promise<void>;
  /** The failures are forgotten; from that network, the failures of others no longer hold the person up. */
  succeeded(): Promise<void>;
  /** Neither failed nor succeeded: more is asked for. */
  undecided(): Promise<void>;
};

/** Does what a try is for. One that ends by anything but a wrong password or code, such as too much to do, was none. */
export async function tried<T>(attempt: Pick<Attempt, 'undecided'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault && error.code.startsWith('wrong '))) await attempt.undecided();
    throw error;
  }
}

/** `now`: the clock, in ms. */
export function openSignInThrottle(pool: Promise<Pool>, now: () => number): Throttle {
  /** Counts a failure, or throws a Fault when it is too early for a try. */
  async function count(kind: string, key: Buffer, limit: Limit): Promise<void> {
    if (await upsertFailure(await pool, kind, key, limit, new Date(now()))) return;
    const [failures] = await selectFailures(await pool, [[kind, key]]);
    throw tooEarly(Math.max(1, waitOf(failures, limit, now())));
  }
  const forget = async (kind: string, key: Buffer) => deleteFailures(await pool, kind, key);
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
      const isKnown = known !== undefined && now() - known.lastAt.getTime() <= knownMs;
      const wait = isKnown ? 0 : waitOf(ofThisNetwork, ofNetwork, now());
      if (wait > 0) throw tooEarly(wait);
      const isUnderAttack = countOf(ofEmail, counting, now()) >= manyFailures;
      await count('pair', keys.pair, isUnderAttack && !isKnown ? ofPairUnderAttack : ofPair);
      return {
        async failed() {
          await count('network', keys.network, counting);
          await count('email', keys.email, counting);
        },
        async succeeded() {
          await forget('pair', keys.pair);
          await count('known', keys.pair, counting);
        },
        undecided: () => takeBack('pair', keys.pair),
      };
    },
    async tryCode(person) {
      const key = tokenHash(person);
      await count('code', key, ofCodes);
      return { succeeded: () => forget('code', key), undecided: () => takeBack('code', key) };
    },
    async tryMail(address) {
      await count('mail', tokenHash(networkOf(address)), ofMails);
    },
  };
}

/** Forgets failures that count no longer. */
export const forgetOldFailures = (pool: Pool, now: number): Promise<void> =>
  deleteOldFailures(pool, new Date(now - knownMs), new Date(now - dayMs));

function countOf(failures: Failures | undefined, { memoryMs }: Limit, now: number): number {
  return failures && now - failures.lastAt.getTime() <= memoryMs ? failures.count : 0;
}

/** In seconds, rounded up; 0: no wait. As upsertFailure has it. */
function waitOf(failures: Failures | undefined, limit: Limit, now: number): number {
  const count = countOf(failures, limit, now);
  if (!failures || count < limit.free) return 0;
  const last = Math.min(failures.lastAt.getTime(), now);
  const wait = last + Math.min(limit.longestMs, 1000 * 2 ** (count - limit.free)) - now;
  return Math.max(0, Math.ceil(wait / 1000));
}

function tooEarly(seconds: number): Fault {
  const wait = seconds === 1 ? '1 second' : `${seconds} seconds`;
  return new Fault('too_many', 'too many tries', `That has failed too often. Try again in ${wait}.`, {
    retryAfter: seconds,
  });
}
