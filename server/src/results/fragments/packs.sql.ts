// SQL of packs (docs/decisions/0064): reading, writing and deleting them. Writers: build-packs.ts, build-quarters.ts, and published-figures.ts when
// groups are deleted.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type Db, inBatches, type Transaction } from '../../db/db.ts';
import { groupsInScope, type GroupScope } from '../data/results.sql.ts';
import type { Window } from '../data/window.ts';
import { asBytes, fragmentKinds, openOf, usableIn, type WantedFigures } from './fragments.sql.ts';
import { blockOfGroup, groupsPerBlock, ofQuarter } from './packs.ts';
import { quarterOf, quartersIn } from './quarters.sql.ts';

/** A pack as it is stored: of a week, or of a quarter that begins with this week. */
export type PackRow = { kind: number; questionId: number; block: number; week: Week; pack: Buffer };

/** The groups in order, and what they are asked in open weeks, as lines of group, week, and question ids. */
export type PackScope = { groupIds: number[]; open: string };

/** How many packs are read together: of weeks, of about 5 KB, or also of quarters, of up to 13 times as much. And how many such batches wait. */
const [packsPerBatch, quartersPerBatch, batchesAhead] = [64, 8, 1];
/** Shorter windows have no quarter. */
const weeksOfQuarter = 13;

/**
 * Yields the packs of the blocks in which the groups are, ordered by question, block and week, all as they were at one moment. Before them, the
 * groups; without these, packs can't be used. `most`: how many groups can be read for each one that is wanted.
 */
export async function* selectPacks(
  db: Db,
  accountId: AccountId,
  { scope, window, most }: { scope: GroupScope; window: Window; most: number },
  figures: WantedFigures,
): AsyncGenerator<PackScope | PackRow[]> {
  const { kind, kpiId = '', questionIds } = figures;
  const isWanted = db`
    p.account_id = ${accountId} and p.kpi_id = ${kpiId} and p.block = any((select blocks from b)::integer[])
    and ${questionIds ? db`p.question_id = any(${questionIds})` : kind === fragmentKinds.results ? true : db`p.question_id = 0`}
    and  p.week between ${window.first} and ${window.last} and exists (select 1 from usable)`;
  const statement = db`
    with ${groupsInScope(db, accountId, scope)},
    b (ids, blocks) as materialized (
      select array_agg(group_id order by group_id), array_agg(distinct group_id / ${groupsPerBlock}) from scope
    ),
    usable as materialized (
      select 1 from b
      where  cardinality(b.ids) * ${most} >= (
               select coalesce(sum(cardinality(p.group_ids)), 0)
               from   pack_blocks p where p.account_id = ${accountId} and p.block = any(b.blocks))
        and  exists (${usableIn(db, accountId, figures, window, 'pack_weeks')})
        and  not exists (
          select 1 from pack_blocks p
          where  p.account_id = ${accountId} and p.block = any(b.blocks) and p.built <> p.removals)
    ),
    quarters as materialized (${quartersIn(db, accountId, window)})
    select null, -1, null, null, array_to_string(b.ids, ','),
           ${kind === fragmentKinds.asked ? db`(${openOf(db, accountId, window)})` : null}
    from   b
    where  exists (select 1 from usable)
    union  all
    select * from (
      select p.kind, p.question_id, p.block, p.week, p.pack, null
      from   packs p
      where  ${isWanted} and p.kind = ${kind} and ${quarterOf(db, db`p.week`)} not in (select first from quarters)
      union  all
      select p.kind, p.question_id, p.block, p.week, p.pack, null
      from   packs p
      where  ${isWanted} and p.kind = ${ofQuarter(kind)} and (p.week in (select first from quarters)) is true
      order  by 2, 3, 4) p`;
  const hasQuarters = addWeeks(window.first, weeksOfQuarter - 1) <= window.last;
  const size = hasQuarters ? quartersPerBatch : packsPerBatch;
  for await (const rows of inBatches(asBytes(statement), size, batchesAhead)) {
    const isFirst = rows[0]?.[1]?.toString('latin1') === '-1';
    if (isFirst) yield scopeOf(rows[0] as Buffer[]);
    yield rows.slice(isFirst ? 1 : 0).map(([kindOfPack, questionId, block, week, pack]) => ({
      kind: Number(kindOfPack?.toString('latin1')),
      questionId: Number(questionId?.toString('latin1')),
      block: Number(block?.toString('latin1')),
      week: week?.toString('latin1') ?? '',
      pack: pack as Buffer,
    }));
  }
}

const scopeOf = ([, , , , ids, open]: (Buffer | null)[]): PackScope => ({
  groupIds: ids?.toString('latin1').split(',').map(Number) ?? [],
  open: open?.toString('latin1') ?? '',
});

/** Returns the accounts with closed weeks that are not in packs, or with blocks whose packs were deleted. */
export async function selectAccountsToPack(db: Db): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select w.account_id as id
    from   weeks w
    where  w.closed_at is not null
      and  not exists (select 1 from pack_weeks p where p.account_id = w.account_id and p.week = w.week)
    union
    select account_id from pack_blocks where built <> removals
    order  by id`;
  return rows.map(({ id }) => id);
}

/** `removals`: how often groups were deleted, in all blocks together. */
export type PackState = {
  due: Week[];
  complete: Week[];
  blocks: { block: number; removals: number }[];
  removals: number;
};

/** Returns the closed weeks that are and that are not in packs, and the blocks whose packs were deleted. */
export async function selectPackState(db: Db, accountId: AccountId): Promise<PackState> {
  const weeks = await db<{ week: Week; isComplete: boolean }[]>`
    select w.week as "week", p.week is not null as "isComplete"
    from   weeks w
    left   join pack_weeks p on p.account_id = w.account_id and p.week = w.week
    where  w.account_id = ${accountId} and w.closed_at is not null
    order  by w.week`;
  const blocks = await db<{ block: number; removals: number; isBuilt: boolean }[]>`
    select block as "block", removals as "removals", built = removals as "isBuilt"
    from   pack_blocks where account_id = ${accountId} order by block`;
  const namesOf = (isComplete: boolean) =>
    weeks.filter((one) => one.isComplete === isComplete).map(({ week }) => week);
  return {
    due: namesOf(false),
    complete: namesOf(true),
    blocks: blocks.filter(({ isBuilt }) => !isBuilt),
    removals: blocks.reduce((sum, { removals }) => sum + removals, 0),
  };
}

/** Returns which of these ids are those of groups or segments. */
export async function selectExisting(db: Db, accountId: AccountId, ids: number[]): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and group_id = any(${ids})
    union  all
    select segment_id from segments where account_id = ${accountId} and segment_id = any(${ids})`;
  return new Set(rows.map(({ id }) => id));
}

export type NewPack = { questionId: number; block: number; pack: string };

/** Writes packs of a week, and adds their groups to what is known of their blocks. */
export async function upsertPacks(
  tx: Transaction,
  accountId: AccountId,
  { kind, kpiId, week }: { kind: number; kpiId: string; week: Week },
  { packs, groupIds }: { packs: NewPack[]; groupIds: number[] },
): Promise<void> {
  await tx`
    insert into pack_blocks (account_id, block, group_ids)
    select ${accountId}, block, array_agg(id)
    from   (select id, id / ${groupsPerBlock} as block from unnest(${groupIds}::integer[]) as id) g
    group  by block
    on     conflict (account_id, block) do update
    set    group_ids = array(select distinct unnest(pack_blocks.group_ids || excluded.group_ids) order by 1)
    where  not pack_blocks.group_ids @> excluded.group_ids`;
  await tx`
    insert into packs (account_id, kind, kpi_id, question_id, block, week, pack)
    select ${accountId}, ${kind}, ${kpiId}, question_id, block, ${week}, pack
    from   unnest(${packs.map((one) => one.questionId)}::integer[], ${packs.map((one) => one.block)}::integer[],
                  ${packs.map((one) => one.pack)}::text[]) as p(question_id, block, pack)
    on     conflict (account_id, kind, kpi_id, question_id, block, week) do update set pack = excluded.pack`;
}

/** Records that these weeks are complete in all blocks, if the packs of none were deleted since `removals` was read. */
export async function insertPackWeeks(
  tx: Transaction,
  accountId: AccountId,
  weeks: Week[],
  removals: number,
): Promise<void> {
  await tx`
    insert into pack_weeks (account_id, week)
    select ${accountId}, week
    from   unnest(${weeks}::date[]) as week
    where  ${removals} = (select coalesce(sum(removals), 0) from pack_blocks where account_id = ${accountId})
    on     conflict do nothing`;
}

/** Records that a block is complete in these weeks, if they are all that are in packs, and its packs were not deleted since `removals` was read. */
export async function updateBlockBuilt(
  tx: Transaction,
  accountId: AccountId,
  { block, removals }: { block: number; removals: number },
  weeks: Week[],
): Promise<void> {
  await tx`
    update pack_blocks
    set    built = removals
    where  account_id = ${accountId} and block = ${block} and removals = ${removals}
      and  not exists (select 1 from pack_weeks where account_id = ${accountId} and week <> all(${weeks}::date[]))`;
}

/** Deletes the packs of the blocks of groups or segments, when these are deleted. They are created again without them. */
export async function deletePacksOf(
  tx: Transaction,
  accountId: AccountId,
  groupIds: number[],
): Promise<void> {
  await deleteBlocks(tx, accountId, [...new Set(groupIds.map(blockOfGroup))]);
}

async function deleteBlocks(tx: Transaction, accountId: AccountId, blocks: number[]): Promise<void> {
  // First, because it waits for others that write packs of them.
  await tx`
    update pack_blocks set removals = removals + 1, group_ids = '{}'
    where  account_id = ${accountId} and block = any(${blocks})`;
  await tx`delete from packs where account_id = ${accountId} and block = any(${blocks})`;
}

/** Deletes the packs with groups or segments that no longer exist. An older version of the program leaves them when it deletes a group. */
export async function deleteLeftPacks(tx: Transaction, accountId: AccountId): Promise<void> {
  const rows = await tx<{ block: number }[]>`
    select b.block as "block"
    from   pack_blocks b
    where  b.account_id = ${accountId} and exists (
      select 1 from unnest(b.group_ids) as p(group_id)
      where  not exists (select 1 from groups g where g.account_id = ${accountId} and g.group_id = p.group_id)
        and  not exists (select 1 from segments s where s.account_id = ${accountId} and s.segment_id = p.group_id))`;
  await deleteBlocks(
    tx,
    accountId,
    rows.map(({ block }) => block),
  );
}

/** Deletes all packs of an account. They are created again. */
export async function deleteAllPacks(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`delete from pack_weeks where account_id = ${accountId}`;
  await tx`update pack_blocks set removals = removals + 1, group_ids = '{}' where account_id = ${accountId}`;
  await tx`delete from packs where account_id = ${accountId}`;
}
