// Decides when the changes of a directory are applied: soon after they arrive, but many changes together. Each run locks the account, reads
// all its groups and is listed in the console, which is too much for each request.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type AccountId, asFault } from '../../db/db.ts';
import { runOnThread } from '../../jobs/threads.ts';
import type { Progress } from './apply.ts';

export type Applier = {
  /** Has the changes of an account applied, a moment after the last one. */
  notify(accountId: AccountId): void;
  /** Applies the changes of an account now, and everything that is due. Returns when that is done. */
  apply(accountId: AccountId): Promise<void>;
  /** Applies what is due in these accounts. */
  applyAll(accountIds: readonly AccountId[]): Promise<void>;
  /** Applies nothing more, and waits up to `seconds` for what is being applied. What is not finished is not applied. */
  close(seconds: number): Promise<void>;
};

/** How long after the last change the changes are applied, and at most how long after the first one, in ms. */
const [quietMs, longestMs] = [2_000, 15_000];

/** The limits of the thread. */
const limits = { heapMb: 1024, milliseconds: 300_000 };

type Waiting = { since: number; timer: NodeJS.Timeout };

/** `thread`: the module that applies directories. `isAutomatic`: false if only `apply` applies anything. */
export function openApplier(
  thread: URL,
  databaseUrl: Promise<string>,
  log: Log,
  now: () => number,
  isAutomatic = true,
): Applier {
  const waiting = new Map<AccountId, Waiting>();
  const running = new Map<AccountId, Promise<void>>();
  const state = { isClosed: false };

  async function run(accountId: AccountId): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !state.isClosed) {
        const work = { databaseUrl: await databaseUrl, accountId, directory: { now: now() } };
        const progress = await runOnThread<Progress>(thread, work, limits);
        isMore = progress.isMore;
        if (progress.refusal !== undefined)
          log.warn(
            { accountId, cause: progress.refusal },
            'Changes of a directory were refused. They will be retried',
          );
      }
    } catch (error) {
      const fault = asFault(error);
      // The changes are stored, and the recurring job tries again.
      if (fault instanceof Fault)
        log.warn({ accountId, cause: fault.message }, 'A directory could not be applied. It will be retried');
      else log.error({ accountId, err: error }, 'Applying a directory failed. It will be retried');
    }
  }

  /** One run of an account at a time: what arrives meanwhile is applied by the next one. */
  async function apply(accountId: AccountId): Promise<void> {
    clearTimeout(waiting.get(accountId)?.timer);
    waiting.delete(accountId);
    await running.get(accountId);
    if (state.isClosed) return;
    const other = running.get(accountId);
    if (other) return other;
    const own = run(accountId).finally(() => running.delete(accountId));
    running.set(accountId, own);
    return own;
  }

  return {
    notify(accountId) {
      if (state.isClosed || !isAutomatic) return;
      const before = waiting.get(accountId);
      const since = before?.since ?? performance.now();
      clearTimeout(before?.timer);
      const wait = Math.max(0, Math.min(quietMs, since + longestMs - performance.now()));
      waiting.set(accountId, { since, timer: setTimeout(() => void apply(accountId), wait).unref() });
    },
    apply,
    async applyAll(accountIds) {
      for (const accountId of isAutomatic ? accountIds : []) await apply(accountId);
    },
    async close(seconds) {
      state.isClosed = true;
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
      const ended = Promise.allSettled(running.values());
      await Promise.race([ended, sleep(seconds * 1000, undefined, { ref: false })]);
    },
  };
}
