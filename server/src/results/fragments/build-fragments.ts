// Writes the figures of closed weeks into fragments, from which the data interface reads them (docs/decisions/0056). Figures of closed weeks never
// change, except that those of deleted groups are deleted, so nothing has to be compared. Until a week is complete, it is read from the tables of
// figures. The account's version stays as it is, because no response changes.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAccount } from '../../accounts/accounts.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../../db/db.ts';
import { runOneByOne } from '../../jobs/accounts-in-turn.ts';
import { type FrameEntry, frameOf, Frames, DamagedFrames, periodOf, weekIndex } from './frames.ts';
import {
  deleteAllFragments,
  deleteLeftFragments,
  type FragmentList,
  insertFragmentWeeks,
  selectAccountsToBuild,
  selectFragments,
  selectWeeksToBuild,
  upsertFragments,
} from './fragments.sql.ts';
import { type StoredEntry, storedLists } from './lists.ts';
import { buildPacks } from './build-packs.ts';
import { deleteAllPacks, selectAccountsToPack } from './packs.sql.ts';
import { selectAccountsWithDueQuarters } from './quarters.sql.ts';

/** Whether a closed week is not in fragments or packs yet, or an ended quarter not in packs of quarters. */
export async function areFragmentsDue(pool: Pool): Promise<boolean> {
  const { accountIds, failures } = await selectAccountsDue(pool);
  if (accountIds.length === 0 && failures.length > 0) throw failures[0];
  return accountIds.length > 0;
}

/** Returns the accounts that are due. A failure of one statement does not hide what the others have found. */
async function selectAccountsDue(pool: Pool): Promise<{ accountIds: AccountId[]; failures: unknown[] }> {
  const due = [selectAccountsToBuild, selectAccountsToPack, selectAccountsWithDueQuarters];
  const found = await Promise.allSettled(due.map((select) => select(pool)));
  const ids = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failures = found.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  return { accountIds: [...new Set(ids)], failures };
}

/**
 * Builds the fragments and packs of all accounts that are due. A failure does not stop the others; it is thrown at the end. An account that others have
 * locked for too long is left to the next call, which comes within minutes.
 */
export async function buildAllFragments(pool: Pool): Promise<void> {
  const { accountIds, failures } = await selectAccountsDue(pool);
  await runOneByOne(accountIds, (accountId) => buildFragments(pool, accountId), failures);
}

/**
 * Builds the fragments and packs of an account's closed weeks, in short transactions. If the process is killed, or another one does the same, what has been
 * written is right nevertheless, and the rest is written again. The pool needs two connections.
 */
export async function buildFragments(pool: Pool, accountId: AccountId): Promise<void> {
  try {
    const due = Map.groupBy(await selectWeeksToBuild(pool, accountId), (week) => periodOf(weekIndex(week)));
    for (const weeks of due.values()) await buildWeeks(pool, accountId, weeks);
    await buildPacks(pool, accountId);
  } catch (error) {
    if (!(error instanceof DamagedFrames)) throw error;
    await forgetFragments(pool, accountId);
    throw error;
  }
}

/** Deletes the fragments and packs of an account, because one of them is damaged. The next call of `buildAllFragments` writes them again. */
export const forgetFragments = (pool: Pool, accountId: AccountId): Promise<void> =>
  inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await deleteAllFragments(tx, accountId);
    await deleteAllPacks(tx, accountId);
  });

/** Builds weeks of one period. */
async function buildWeeks(pool: Pool, accountId: AccountId, weeks: Week[]): Promise<void> {
  const window = { first: weeks[0] as Week, last: weeks.at(-1) as Week };
  const period = periodOf(weekIndex(window.first));
  const chosen = new Set(weeks);
  for (const { kind, kpiId, read } of await storedLists(pool, accountId, window))
    for (const groups of ['group', 'segment'] as const) {
      const found = read(groups, ({ week }) => chosen.has(week));
      await writeRows(pool, accountId, { kind, kpiId, period }, byGroup(found));
    }
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await insertFragmentWeeks(tx, accountId, weeks);
    await deleteLeftFragments(tx, accountId);
  });
}

/** The entries of a question and a group. */
type GroupEntries = { questionId: number; groupId: number; entries: FrameEntry[] };

/** Yields entries, which are ordered by question and group, in batches of groups. */
async function* byGroup(batches: AsyncIterable<StoredEntry[]>): AsyncGenerator<GroupEntries[]> {
  let ready: GroupEntries[] = [];
  let latest: GroupEntries | undefined;
  for await (const found of batches) {
    for (const { questionId, groupId, entry } of found) {
      if (latest?.questionId !== questionId || latest.groupId !== groupId) {
        latest = { questionId, groupId, entries: [] };
        ready.push(latest);
      }
      latest.entries.push(entry);
    }
    if (ready.length <= batchSize) continue;
    // The last one may continue in the next batch of rows.
    yield ready.slice(0, -1);
    ready = ready.slice(-1);
    await nextTurn();
  }
  if (ready.length > 0) yield ready;
}

const batchSize = 500;

async function writeRows(
  pool: Pool,
  accountId: AccountId,
  list: FragmentList,
  batches: AsyncIterable<GroupEntries[]>,
): Promise<void> {
  for await (const groups of batches) {
    await inTransaction(pool, async (tx) => {
      // So that no group is deleted meanwhile, and no other process adds weeks to the same fragments.
      await lockAccount(tx, accountId);
      const known = await knownEntries(tx, accountId, list, groups);
      const rows = groups.map(({ questionId, groupId, entries }) => {
        const before = known.get(`${questionId} ${groupId}`) ?? [];
        const all = merged(before, entries);
        return { questionId, groupId, frame: frameOf({ accountId, ...list, questionId }, groupId, all) };
      });
      await upsertFragments(tx, accountId, list, rows);
    });
  }
}

/** Returns the entries that the fragments of these groups have already, by question and group. */
async function knownEntries(
  db: Db,
  accountId: AccountId,
  list: FragmentList,
  groups: GroupEntries[],
): Promise<Map<string, FrameEntry[]>> {
  const rows = await selectFragments(db, accountId, list, groups);
  return new Map(
    rows.map(({ questionId, groupId, frame }) => {
      const frames = new Frames(Buffer.from(frame), { accountId, ...list, questionId });
      frames.next();
      return [`${questionId} ${groupId}`, frames.entries()];
    }),
  );
}

/** Returns entries in the order of weeks. Those of `more` replace those of the same weeks. */
function merged(before: FrameEntry[], more: FrameEntry[]): FrameEntry[] {
  const byWeek = new Map([...before, ...more].map((entry) => [entry.week, entry]));
  return [...byWeek.values()].toSorted((a, b) => a.week - b.week);
}
