// Writes the figures of closed weeks into fragments, from which the data interface reads them (docs/decisions/0056). Figures of closed weeks never
// change, except that those of deleted groups are deleted, so nothing has to be compared. Until a week is complete, it is read from the tables of
// figures. The account's version stays as it is, because no response changes.
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
import { entryOfAsked, entryOfResult, entryOfValue } from './entries.ts';
import { type FrameEntry, frameOf, Frames, DamagedFrames, periodOf, weekIndex } from './frames.ts';
import {
  deleteAllFragments,
  deleteLeftFragments,
  type FragmentList,
  insertFragmentWeeks,
  fragmentKinds,
  selectAccountsToBuild,
  selectFragments,
  selectWeeksToBuild,
  upsertFragments,
} from './fragments.sql.ts';
import { buildPacks } from './build-packs.ts';
import { deleteAllPacks, selectAccountsToPack } from './packs.sql.ts';

/** Whether a closed week is not in fragments or packs yet. */
export const areFragmentsDue = async (pool: Pool): Promise<boolean> =>
  (await selectAccountsToBuild(pool)).length > 0 || (await selectAccountsToPack(pool)).length > 0;

/** Builds the fragments and packs of all accounts that are due. A failure of one account does not stop the others; it is thrown at the end. */
export async function buildAllFragments(pool: Pool): Promise<void> {
  const failures: unknown[] = [];
  const due = [...(await selectAccountsToBuild(pool)), ...(await selectAccountsToPack(pool))];
  for (const accountId of new Set(due)) {
    await buildFragments(pool, accountId).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
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
  const [questions, kpis] = await Promise.all([
    selectQuestions(pool, accountId),
    selectKpis(pool, accountId),
  ]);
  const types = new Map(questions.map(({ id, type }) => [id, type]));
  const window = { first: weeks[0] as Week, last: weeks.at(-1) as Week };
  const period = periodOf(weekIndex(window.first));
  const chosen = new Set(weeks);
  const scopes: GroupScope[] = (['group', 'segment'] as const).map((kind) => ({
    groupId: undefined,
    withSubgroups: true,
    kind,
  }));
  async function write<T extends WeekRow>(
    kind: number,
    kpiId: string,
    rowsOf: (scope: GroupScope) => AsyncIterable<T[]>,
    entryOf: (row: T) => FrameEntry,
  ): Promise<void> {
    const list = { kind, kpiId, period };
    for (const scope of scopes)
      await writeRows(pool, accountId, list, entriesIn(rowsOf(scope), chosen, entryOf));
  }
  await write(
    fragmentKinds.results,
    '',
    (scope) => selectResults(pool, accountId, scope, window, undefined),
    (row) => entryOfResult(types.get(row.questionId), row),
  );
  for (const { id } of kpis)
    await write(
      fragmentKinds.kpiValues,
      id,
      (scope) => selectKpiValues(pool, accountId, scope, id, window),
      entryOfValue,
    );
  await write(fragmentKinds.rates, '', (scope) => selectRates(pool, accountId, scope, window), entryOfValue);
  await write(
    fragmentKinds.asked,
    '',
    (scope) => selectAskedOfGroups(pool, accountId, scope, window),
    entryOfAsked,
  );
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await insertFragmentWeeks(tx, accountId, weeks);
    await deleteLeftFragments(tx, accountId);
  });
}

/** The entries of a question and a group. */
type GroupEntries = { questionId: number; groupId: number; entries: FrameEntry[] };

type WeekRow = { questionId?: number; groupId: number; week: Week };

/** Yields the entries of rows, which are ordered by question and group, in batches. Other weeks than the chosen ones are left out. */
async function* entriesIn<T extends WeekRow>(
  batches: AsyncIterable<T[]>,
  chosen: ReadonlySet<Week>,
  entryOf: (row: T) => FrameEntry,
): AsyncGenerator<GroupEntries[]> {
  let ready: GroupEntries[] = [];
  let latest: GroupEntries | undefined;
  for await (const rows of batches) {
    for (const row of rows) {
      if (!chosen.has(row.week)) continue;
      const { questionId = 0, groupId } = row;
      if (latest?.questionId !== questionId || latest.groupId !== groupId) {
        latest = { questionId, groupId, entries: [] };
        ready.push(latest);
      }
      latest.entries.push(entryOf(row));
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
