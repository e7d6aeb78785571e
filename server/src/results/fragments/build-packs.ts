// Writes the figures of closed weeks into packs, from which the data interface reads many groups (docs/decisions/0064). A pack is written once, when
// its week has closed, and again only after packs of its block were deleted, because one of its groups was.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAccount } from '../../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import { buildQuarters } from './build-quarters.ts';
import { type StoredEntry, storedLists } from './lists.ts';
import {
  deleteLeftPacks,
  insertPackWeeks,
  type PackState,
  selectExisting,
  selectPackState,
  updateBlockBuilt,
  upsertPacks,
} from './packs.sql.ts';
import { blockOfGroup, type PackEntry, packOf } from './packs.ts';

/**
 * Builds the packs of an account's closed weeks, and those that were deleted. If the process is killed, or another one does the same, what has been
 * written is right nevertheless, and the rest is written again.
 */
export async function buildPacks(pool: Pool, accountId: AccountId): Promise<void> {
  const { due, removals } = await selectPackState(pool, accountId);
  for (const week of due) {
    await writeWeek(pool, accountId, week, undefined);
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, accountId);
      await insertPackWeeks(tx, accountId, [week], removals);
    });
  }
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await deleteLeftPacks(tx, accountId);
  });
  const { complete, blocks } = await selectPackState(pool, accountId);
  if (blocks.length > 0) await buildBlocks(pool, accountId, { complete, blocks });
  await buildQuarters(pool, accountId);
}

/** Builds the packs of blocks that were deleted. */
async function buildBlocks(
  pool: Pool,
  accountId: AccountId,
  { complete, blocks }: Pick<PackState, 'complete' | 'blocks'>,
): Promise<void> {
  const missing = new Set(blocks.map(({ block }) => block));
  for (const week of complete) await writeWeek(pool, accountId, week, missing);
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    for (const one of blocks) await updateBlockBuilt(tx, accountId, one, complete);
  });
}

/** Writes the packs of a week. `blocks`: only those of these blocks. */
async function writeWeek(
  pool: Pool,
  accountId: AccountId,
  week: Week,
  blocks: ReadonlySet<number> | undefined,
): Promise<void> {
  const isWanted = ({ groupId }: { groupId: number }) => !blocks || blocks.has(blockOfGroup(groupId));
  for (const { kind, kpiId, read } of await storedLists(pool, accountId, { first: week, last: week })) {
    const list = { kind, kpiId, week };
    const segments: StoredEntry[] = [];
    for await (const found of read('segment', isWanted)) segments.push(...found);
    const ofSegments = Map.groupBy(segments, keyOf);
    let ready: StoredEntry[][] = [];
    for await (const entries of packsIn(read('group', isWanted), ofSegments)) {
      ready.push(entries);
      if (ready.length < packsPerTransaction) continue;
      await writePacks(pool, accountId, list, ready);
      ready = [];
      await nextTurn();
    }
    await writePacks(pool, accountId, list, [...ready, ...ofSegments.values()]);
  }
}

/** How many packs are compressed while the account is locked. It takes about 1 ms for each. */
const packsPerTransaction = 20;

const keyOf = ({ questionId, groupId }: StoredEntry): string => `${questionId} ${blockOfGroup(groupId)}`;

/** Yields the entries of packs, from rows that are ordered by question and group. Moves those of `more` that are in the same packs to them. */
async function* packsIn(
  batches: AsyncIterable<StoredEntry[]>,
  more: Map<string, StoredEntry[]>,
): AsyncGenerator<StoredEntry[]> {
  let latest: StoredEntry[] = [];
  let key = '';
  const whole = () => {
    const added = more.get(key);
    if (!added) return latest;
    more.delete(key);
    return [...latest, ...added].toSorted((a, b) => a.groupId - b.groupId);
  };
  for await (const rows of batches) {
    for (const row of rows) {
      if (keyOf(row) !== key) {
        if (latest.length > 0) yield whole();
        latest = [];
        key = keyOf(row);
      }
      latest.push(row);
    }
  }
  if (latest.length > 0) yield whole();
}

async function writePacks(
  pool: Pool,
  accountId: AccountId,
  list: { kind: number; kpiId: string; week: Week },
  found: StoredEntry[][],
): Promise<void> {
  if (found.length === 0) return;
  await inTransaction(pool, async (tx) => {
    // So that no group is deleted meanwhile. Those that were deleted since the figures were read are left out.
    await lockAccount(tx, accountId);
    const ids = [...new Set(found.flatMap((entries) => entries.map(({ groupId }) => groupId)))];
    const existing = await selectExisting(tx, accountId, ids);
    const packs = found.flatMap((all) => {
      const entries = all.filter(({ groupId }) => existing.has(groupId));
      if (entries.length === 0) return [];
      const { questionId, groupId } = entries[0] as StoredEntry;
      const block = blockOfGroup(groupId);
      return [
        {
          questionId,
          block,
          pack: packOf({ accountId, ...list, questionId, block }, entries.map(packEntry)),
        },
      ];
    });
    await upsertPacks(tx, accountId, list, { packs, groupIds: [...existing] });
  });
}

const packEntry = ({ groupId, entry: { text, at } }: StoredEntry): PackEntry => ({ groupId, text, at });
