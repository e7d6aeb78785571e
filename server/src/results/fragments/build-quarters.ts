// Joins the packs of the weeks of a quarter, so that the figures of a group are copied together (docs/decisions/0064). Packs of quarters are created
// once, when the quarter has ended, and again if packs of their block were deleted or another week of the quarter was imported.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAccount } from '../../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import { checkedPack, ofQuarter, openPacks, type PackEntry, packOf } from './packs.ts';
import {
  type DueQuarter,
  type ListedPack,
  replaceQuarter,
  selectDueQuarters,
  selectPacksOfWeeks,
} from './quarters.sql.ts';

/** Builds the packs of an account's quarters that are due. Throws DamagedFrames if a pack of a week is damaged. */
export async function buildQuarters(pool: Pool, accountId: AccountId): Promise<void> {
  for (const due of await selectDueQuarters(pool, accountId)) {
    // Without the lock of the account, because compressing takes a while.
    const packs = await joinedPacks(await selectPacksOfWeeks(pool, accountId, due), accountId, due);
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, accountId);
      await replaceQuarter(tx, accountId, due, packs);
    });
  }
}

const keyOf = ({ kind, kpiId, questionId }: ListedPack): string => `${kind} ${questionId} ${kpiId}`;

async function joinedPacks(
  packs: ListedPack[],
  accountId: AccountId,
  { block, first }: DueQuarter,
): Promise<ListedPack[]> {
  const joined: ListedPack[] = [];
  for (const same of Map.groupBy(packs, keyOf).values()) {
    const stored = same.map(({ pack, ...about }) =>
      checkedPack(Buffer.from(pack), { accountId, block, ...about }),
    );
    const entries = joinedEntries((await openPacks(stored)).map((pack) => pack.entries()));
    const { kind, kpiId, questionId } = same[0] as ListedPack;
    const about = { kind: ofQuarter(kind), kpiId, questionId, week: first };
    joined.push({ ...about, pack: packOf({ accountId, block, ...about }, entries) });
    await nextTurn();
  }
  return joined;
}

/** Joins the entries of a group, as long as not more than the first one has something inserted. `weeks`: the entries of each week, in order. */
function joinedEntries(weeks: PackEntry[][]): PackEntry[] {
  const byGroup = new Map<number, PackEntry[]>();
  for (const { groupId, text, at } of weeks.flat()) {
    const before = byGroup.get(groupId) ?? [];
    byGroup.set(groupId, before);
    const latest = before.at(-1);
    if (latest && at === undefined) latest.text += `,${text}`;
    else before.push({ groupId, text, at });
  }
  return [...byGroup.values()].flat().toSorted((a, b) => a.groupId - b.groupId);
}
