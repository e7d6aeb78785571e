// Work on many accounts. Two accounts are worked on at the same time, because most of the work on a small account is waiting: this process
// computes for one of them while PostgreSQL works for the other.
import { type AccountId, inTransaction, isLostRace, type Pool, type Transaction } from '../db/db.ts';

/** An account with more people than this is worked on alone, so that two large accounts never need their memory at the same time. */
export const largeAccount = 20_000;

/**
 * Runs `work` for each item in a separate transaction. Items of one account run one after another in their order. Large accounts come last, and
 * nothing else runs meanwhile: `selectLarge` returns those with more than `people` people, and is called only if there are several accounts. If
 * an item fails, all others still run, and then the error of the first such item in the list is thrown. Items that lost a race for a lock are
 * skipped: the next call comes soon. Returns what was committed, by item.
 */
export async function runForAccounts<T extends { accountId: AccountId }, Result>(
  pool: Pool,
  items: readonly T[],
  selectLarge: (accountIds: AccountId[], people: number) => Promise<ReadonlySet<AccountId>>,
  work: (tx: Transaction, item: T) => Promise<Result>,
): Promise<Map<T, Result>> {
  const done = new Map<T, Result>();
  const failures = new Map<T, unknown>();
  const runAll = async (accounts: Iterable<readonly T[]>) => {
    for (const own of accounts)
      for (const item of own) {
        // Items of one account must not overlap.
        await inTransaction(pool, (tx) => work(tx, item)).then(
          (result) => done.set(item, result),
          (error: unknown) => isLostRace(error) || failures.set(item, error),
        );
      }
  };
  const ofAccounts = Map.groupBy(items, ({ accountId }) => accountId);
  const large = ofAccounts.size > 1 ? await selectLarge([...ofAccounts.keys()], largeAccount) : new Set();
  const accountsThat = (areLarge: boolean) =>
    [...ofAccounts].filter(([accountId]) => large.has(accountId) === areLarge).map(([, own]) => own);
  // Both take the next account from the same iterator.
  const small = accountsThat(false).values();
  await Promise.all(Array.from({ length: accountsAtATime(pool) }, () => runAll(small)));
  await runAll(accountsThat(true));
  const failed = items.find((item) => failures.has(item));
  if (failed) throw failures.get(failed);
  return done;
}

/**
 * Runs `work` for each item, one after another. If it fails for some of them, all others still run, and then the first error is thrown. Items that
 * lost a race for a lock are left to the next call, which comes soon. `failures`: errors from before.
 */
export async function runOneByOne<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  failures: unknown[] = [],
): Promise<void> {
  // One at a time, because each may need much memory.
  for (const item of items)
    await work(item).catch((error: unknown) => isLostRace(error) || failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/**
 * Two, if the pool has one more connection. A transaction can need another connection of the pool until it ends, such as to read a key
 * (EpochChain.prepare, Secrets.prepare), and two that use all connections of the pool would wait for one forever.
 */
const accountsAtATime = (pool: Pool): number => (pool.options.max > 2 ? 2 : 1);
