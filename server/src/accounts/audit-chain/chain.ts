// Chains the entries of the audit log after they were committed. Actions never wait for the chain: they write their entry as before,
// and this gives it a position and a hash. An entry that is committed late is chained late, so a reader that continues after a
// position never misses one (decisions/0041).
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import {
  hasUnchained,
  lockHead,
  selectAccountsToChain,
  selectUnchained,
  updateChained,
} from './chain.sql.ts';
import { chained } from './record.ts';

/** How many entries are chained in a transaction. */
const batch = 500;

/**
 * Chains the entries of an account that are committed now, at most `most` of them. Processes that do this at the same time wait for each
 * other. Without new entries, it takes one statement and no lock.
 */
export async function chainEntries(pool: Pool, accountId: AccountId, most = 10_000): Promise<void> {
  for (let done = 0; done < most && (await hasUnchained(pool, accountId)); done += batch)
    await chainBatch(pool, accountId);
}

/** Chains the entries of all accounts. */
export async function chainAllEntries(pool: Pool): Promise<void> {
  for (const accountId of await selectAccountsToChain(pool)) await chainEntries(pool, accountId, Infinity);
}

async function chainBatch(pool: Pool, accountId: AccountId): Promise<void> {
  await inTransaction(pool, async (tx) => {
    let head = await lockHead(tx, accountId);
    // Read after the lock, so that entries chained by another process are not seen as new.
    const entries = (await selectUnchained(tx, accountId, batch)).map((entry) => {
      const one = chained(head, entry);
      head = one;
      return one;
    });
    if (entries.length > 0) await updateChained(tx, accountId, entries);
  });
}
