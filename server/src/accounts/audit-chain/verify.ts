// Checks the chain of the audit log in the database: every entry from the first to the last, one page in memory at a time.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import { type AccountId, type Pool } from '../../db/db.ts';
import { chainEntries } from './chain.ts';
import { selectChained, selectHashAt, selectHead } from './chain.sql.ts';
import { type Head, hashOf, start } from './record.ts';

const page = 1000;

/** The last entry of the account, and what is wrong with the first one that is; undefined if the chain is intact. */
export type Verified = { accountId: AccountId; entries: number; last: Head; fault: string | undefined };

/** Checks the chain of an account. `kept`: an entry that was read earlier and must still be there. */
export async function verifyChain(
  pool: Pool,
  accountId: AccountId,
  kept: Head | undefined,
): Promise<Verified> {
  await chainEntries(pool, accountId, Infinity);
  const head = (await selectHead(pool, accountId)) ?? start;
  let last: Head = start;
  let count = 0;
  const verified = (fault?: string): Verified => {
    const { position, hash } = last;
    return { accountId, entries: count, last: { position, hash }, fault };
  };
  for (;;) {
    const entries = await selectChained(pool, accountId, last, page);
    for (const entry of entries) {
      const fault = chainFault(last, entry);
      if (fault !== undefined) return verified(fault);
      last = entry;
      count += 1;
    }
    if (entries.length < page) break;
  }
  // Entries can be added meanwhile, so the last one may be later than the head was.
  if (last.position < head.position)
    return verified(
      `The log ends at position ${last.position}, but position ${head.position} was written. The last entries were removed.`,
    );
  if ((await hashAt(pool, accountId, head.position)) !== head.hash)
    return verified(`Position ${head.position} is not the entry that was written last.`);
  return verified(kept && (await keptFault(pool, accountId, kept)));
}

/** Returns what is wrong with an entry that should follow `last`; undefined if it does. */
export function chainFault(last: Head, entry: AuditRecord): string | undefined {
  if (entry.position !== last.position + 1)
    return `Position ${last.position + 1} is missing. The next entry has position ${entry.position}.`;
  if (hashOf(entry) === entry.hash) return undefined;
  return `Position ${entry.position} (entry ${entry.id}) or its place in the log was changed: its hash does not match.`;
}

const hashAt = async (pool: Pool, accountId: AccountId, position: number) =>
  position === 0 ? start.hash : selectHashAt(pool, accountId, position);

/** Returns what is wrong with an entry that was read earlier; undefined if the log still contains it. */
export async function keptFault(pool: Pool, accountId: AccountId, kept: Head): Promise<string | undefined> {
  const hash = await hashAt(pool, accountId, kept.position);
  if (hash === kept.hash) return undefined;
  return hash === undefined
    ? `The log has no entry at position ${kept.position}, although it was read earlier. The last entries were removed, or an older backup was restored.`
    : `Position ${kept.position} has a different hash than when it was read. Entries were changed, or an older backup was restored.`;
}
