// Who may do at once what takes long: read a long answer, which needs a connection to the database for as long as its
// client takes, or have a push applied. One account or some slow clients would keep all others waiting.
import { Fault } from '../base/errors.ts';

export type Slots = {
  /**
   * Waits for a slot, and returns what gives it back. Throws a Fault (unavailable) when none has become free in time, and
   * the signal's reason when that is aborted.
   */
  take(accountId: number, gone?: AbortSignal): Promise<() => void>;
};

export type SlotOptions = {
  /** How long one waits, in ms. */
  patience?: number;
  /** How many may wait of one account; one more is refused at once. */
  queue?: number;
  /** What is said to the one who has waited too long, or may not wait. */
  late?: string;
  full?: string;
};

const tooMany = 'Too many long answers are being read at once. Try again in a moment.';

/** Returns `total` slots, of which an account has `each` at most. Who came first goes first. */
export function openSlots(
  total: number,
  each: number,
  { patience = 30_000, queue = Infinity, late: lateMessage = tooMany, full = tooMany }: SlotOptions = {},
): Slots {
  const taken = new Map<number, number>();
  const waiting = new Set<{ accountId: number; go: () => void }>();
  let all = 0;
  const isFree = (accountId: number) => all < total && (taken.get(accountId) ?? 0) < each;

  function occupy(accountId: number): () => void {
    all++;
    taken.set(accountId, (taken.get(accountId) ?? 0) + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      all--;
      const rest = (taken.get(accountId) as number) - 1;
      if (rest > 0) taken.set(accountId, rest);
      else taken.delete(accountId);
      const next = [...waiting].find((one) => isFree(one.accountId));
      next?.go();
    };
  }

  return {
    async take(accountId, gone) {
      gone?.throwIfAborted();
      if (isFree(accountId)) return occupy(accountId);
      if ([...waiting].filter((one) => one.accountId === accountId).length >= queue) throw unavailable(full);
      return new Promise((resolve, reject) => {
        const leave = () => {
          clearTimeout(late);
          gone?.removeEventListener('abort', abort);
          waiting.delete(one);
        };
        const abort = () => {
          leave();
          reject(gone?.reason as Error);
        };
        const late = setTimeout(() => {
          leave();
          reject(unavailable(lateMessage));
        }, patience);
        const one = {
          accountId,
          go() {
            leave();
            resolve(occupy(accountId));
          },
        };
        gone?.addEventListener('abort', abort);
        waiting.add(one);
      });
    },
  };
}

const unavailable = (message: string) => new Fault('unavailable', 'unavailable', message);
