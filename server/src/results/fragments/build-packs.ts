// Writes the figures of closed weeks into packs, from which the data interface reads many groups (docs/decisions/0064). A pack is written once, when
// its week has closed, and again only after packs of its block were deleted, because one of its groups was.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAccount } from '../../accounts/accounts.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../../db/db.ts';
import { selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import {
  type GroupScope,
  selectAskedOfGroups,
  selectKpiValues,
  selectRates,
  selectResults,
} from '../data/results.sql.ts';
import type { Window } from '../data/window.ts';
import { entryOfAsked, entryOfResult, entryOfValue } from './entries.ts';
import type { FrameEntry } from './frames.ts';
import { fragmentKinds } from './fragments.sql.ts';
import {
  deleteLeftPacks,
  insertPackWeeks,
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
  if (blocks.length === 0) return;
  const missing = new Set(blocks.map(({ block }) => block));
  for (const week of complete) await writeWeek(pool, accountId, week, missing);
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    for (const one of blocks) await updateBlockBuilt(tx, accountId, one, complete);
  });
}

/** What a week has of a group. */
type Found = { questionId: number } & PackEntry;

/** Writes the packs of a week. `blocks`: only those of these blocks. */
async function writeWeek(
  pool: Pool,
  accountId: AccountId,
  week: Week,
  blocks: ReadonlySet<number> | undefined,
): Promise<void> {
  for (const list of await listsOf(pool, accountId, week)) {
    const found = await inBlocks(list.read('segment'), blocks);
    const ofSegments = Map.groupBy(found, keyOf);
    const ofGroups = packsIn(list.read('group'), ofSegments, blocks);
    let ready: Found[][] = [];
    for await (const entries of ofGroups) {
      ready.push(entries);
      if (ready.length < packsPerTransaction) continue;
      await writePacks(pool, accountId, { ...list, week }, ready);
      ready = [];
      await nextTurn();
    }
    await writePacks(pool, accountId, { ...list, week }, [...ready, ...ofSegments.values()]);
  }
}

/** How many packs are compressed while the account is locked. It takes about 1 ms for each. */
const packsPerTransaction = 20;

const keyOf = ({ questionId, groupId }: Found): string => `${questionId} ${blockOfGroup(groupId)}`;

type ReadOf = (kind: 'group' | 'segment') => AsyncIterable<Found[]>;

/** Returns what is read of a week: results, KPI values, response rates, and what was asked. */
async function listsOf(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ kind: number; kpiId: string; read: ReadOf }[]> {
  const [questions, kpis] = await Promise.all([selectQuestions(db, accountId), selectKpis(db, accountId)]);
  const types = new Map(questions.map(({ id, type }) => [id, type]));
  const window: Window = { first: week, last: week };
  const list = <T extends { groupId: number; questionId?: number }>(
    kind: number,
    kpiId: string,
    rowsOf: (scope: GroupScope) => AsyncIterable<T[]>,
    entryOf: (row: T) => FrameEntry,
  ) => ({
    kind,
    kpiId,
    read: async function* (of: 'group' | 'segment'): AsyncGenerator<Found[]> {
      for await (const rows of rowsOf({ groupId: undefined, withSubgroups: true, kind: of }))
        yield rows.map((row) => {
          const { text, at } = entryOf(row);
          return { questionId: row.questionId ?? 0, groupId: row.groupId, text, at };
        });
    },
  });
  return [
    list(
      fragmentKinds.results,
      '',
      (scope) => selectResults(db, accountId, scope, window, undefined),
      (row) => entryOfResult(types.get(row.questionId), row),
    ),
    ...kpis.map(({ id }) =>
      list(
        fragmentKinds.kpiValues,
        id,
        (scope) => selectKpiValues(db, accountId, scope, id, window),
        entryOfValue,
      ),
    ),
    list(fragmentKinds.rates, '', (scope) => selectRates(db, accountId, scope, window), entryOfValue),
    list(fragmentKinds.asked, '', (scope) => selectAskedOfGroups(db, accountId, scope, window), entryOfAsked),
  ];
}

async function inBlocks(
  batches: AsyncIterable<Found[]>,
  blocks: ReadonlySet<number> | undefined,
): Promise<Found[]> {
  const all: Found[] = [];
  for await (const rows of batches)
    for (const row of rows) if (!blocks || blocks.has(blockOfGroup(row.groupId))) all.push(row);
  return all;
}

/** Yields the entries of packs, from rows that are ordered by question and group. Moves those of `more` that are in the same packs to them. */
async function* packsIn(
  batches: AsyncIterable<Found[]>,
  more: Map<string, Found[]>,
  blocks: ReadonlySet<number> | undefined,
): AsyncGenerator<Found[]> {
  let latest: Found[] = [];
  let key = '';
  const whole = () => {
    const added = more.get(key);
    if (!added) return latest;
    more.delete(key);
    return [...latest, ...added].toSorted((a, b) => a.groupId - b.groupId);
  };
  for await (const rows of batches) {
    for (const row of rows) {
      if (blocks && !blocks.has(blockOfGroup(row.groupId))) continue;
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
  found: Found[][],
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
      const { questionId, groupId } = entries[0] as Found;
      const block = blockOfGroup(groupId);
      return [{ questionId, block, pack: packOf({ accountId, ...list, questionId, block }, entries) }];
    });
    await upsertPacks(tx, accountId, list, { packs, groupIds: [...existing] });
  });
}
