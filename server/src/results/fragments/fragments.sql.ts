// SQL of fragments (docs/decisions/0056): reading, writing and deleting them. Writers: build-fragments.ts, and published-figures.ts when groups
// are deleted.
import type { Kind } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import {
  type AccountId,
  type Db,
  type Fragment,
  inBatches,
  type PendingRows,
  type Transaction,
} from '../../db/db.ts';
import { groupsInScope, type GroupScope, groupWithId } from '../data/results.sql.ts';
import type { Window } from '../data/window.ts';
import { periodOf, weekIndex } from './frames.ts';

/** What fragments are about: the values of the column `kind`. */
export const fragmentKinds = { results: 1, kpiValues: 2, rates: 3, asked: 4 } as const;

/** `kpiId`: of KPI values. `questionIds`: of results; undefined: all. */
export type WantedFigures = {
  kind: (typeof fragmentKinds)[keyof typeof fragmentKinds];
  kpiId?: string | undefined;
  questionIds?: number[] | undefined;
};

/**
 * The frames of up to 16 groups, one after another. `open`: what these groups are asked in open weeks, as lines of group, week, and question
 * ids; empty except for asked questions. The first block has only `questionId` -1; without it, the fragments can't be used.
 */
export type FrameBlock = { questionId: number; frames: Buffer; open: string };

/**
 * The number of blocks that are read together, and how many such batches wait for the reader. A block has about 100 KB. Larger ones take up to ten
 * times as long per byte, because PostgreSQL gets new memory from the system for each copy of them.
 */
const [blocksPerBatch, batchesAhead] = [16, 1];

/** Yields the frames of the groups, ordered by question, group and period, all as they were at one moment. */
export async function* selectFrames(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  figures: WantedFigures,
  window: Window,
): AsyncGenerator<FrameBlock> {
  const { kind, kpiId = '' } = figures;
  const [first, last] = periodsOf(window);
  const statement = db`
    with ${groupsInScope(db, accountId, scope)},
    blocks as (
      select group_id / 16 as block, array_agg(group_id) as ids from scope group by group_id / 16
    ),
    usable as materialized (${usableIn(db, accountId, figures, window)}),
    items (question_id) as (${itemsOf(db, accountId, figures)})
    select -1 as "questionId", null as "frames", null as "open" from usable
    union  all
    select b.question_id, f.frames, o.open
    from   (select question_id, block, ids
            from   items, blocks
            where  exists (select 1 from usable)
            order  by question_id, block offset 0) b
    cross  join lateral (
      select string_agg(f.frame, '' order by f.group_id, f.period) as frames
      from   fragments f
      where  f.account_id = ${accountId} and f.kind = ${kind} and f.kpi_id = ${kpiId}
        and  f.question_id = b.question_id and f.group_id = any(b.ids)
        and  f.period between ${first} and ${last}
    ) f
    cross  join lateral (${kind === fragmentKinds.asked ? openOf(db, accountId, window) : db`values (null)`}) o (open)
    where  f.frames is not null or o.open is not null`;
  for await (const rows of inBatches(asBytes(statement), blocksPerBatch, batchesAhead))
    yield* rows.map(blockOf);
}

/** The columns of a block: the id of the question, the frames, and what is asked in open weeks. */
type RawBlock = (Buffer | null)[];

/** Returns a statement that reads its columns as bytes, because it takes longer to create strings than to read the rows. */
export const asBytes = (statement: Fragment) => statement.raw() as unknown as PendingRows<RawBlock>;

const blockOf = ([questionId, frames, open]: RawBlock): FrameBlock => ({
  questionId: Number(questionId?.toString('latin1')),
  frames: frames ?? Buffer.alloc(0),
  open: open?.toString('latin1') ?? '',
});

/** Returns the blocks of a single group or segment, as `selectFrames` yields them. The first one is missing if it does not exist. */
export async function selectFramesOfOne(
  db: Db,
  accountId: AccountId,
  { groupId, kind: kindOfGroup }: { groupId: number; kind?: Kind | undefined },
  figures: WantedFigures,
  window: Window,
): Promise<FrameBlock[]> {
  const { kind, kpiId = '', questionIds } = figures;
  const [first, last] = periodsOf(window);
  const ofQuestions =
    kind !== fragmentKinds.results
      ? db`f.question_id = 0`
      : questionIds
        ? db`f.question_id = any(${questionIds})`
        : db`true`;
  const rows = await asBytes(db`
    with usable as materialized (
      select array[g.group_id] as ids
      from   ${groupWithId(db, accountId, groupId, kindOfGroup)} g
      where  exists (${usableIn(db, accountId, figures, window)})
    )
    select -1 as "questionId", null as "frames", null as "open" from usable
    union  all
    select * from (
      select f.question_id, string_agg(f.frame, '' order by f.period), null
      from   usable, fragments f
      where  f.account_id = ${accountId} and f.group_id = ${groupId} and f.kind = ${kind} and f.kpi_id = ${kpiId}
        and  ${ofQuestions} and f.period between ${first} and ${last}
      group  by f.question_id
      order  by f.question_id) f
    union  all
    select 0, null, o.open
    from   usable b
    cross  join lateral (${kind === fragmentKinds.asked ? openOf(db, accountId, window) : db`values (null)`}) o (open)
    where  o.open is not null`);
  return rows.map(blockOf);
}

const periodsOf = ({ first, last }: Window): [first: number, last: number] => [
  periodOf(weekIndex(first)),
  periodOf(weekIndex(last)),
];

/**
 * A row if the figures of all weeks can be read from fragments, or from packs: those of closed weeks are complete, and open weeks have none yet.
 * Questions that open weeks ask are added, but only after those of closed weeks.
 */
export function usableIn(
  db: Db,
  accountId: AccountId,
  { kind }: WantedFigures,
  { first, last }: Window,
  complete: 'fragment_weeks' | 'pack_weeks' = 'fragment_weeks',
): Fragment {
  const isInTheWay =
    kind === fragmentKinds.asked
      ? db`exists (select 1 from weeks c
                   where  c.account_id = ${accountId} and c.week > w.week and c.week <= ${last} and c.closed_at is not null)`
      : db`w.shown_at is not null`;
  return db`
    select 1
    where  not exists (
      select 1 from weeks w
      left   join ${db(complete)} f on f.account_id = w.account_id and f.week = w.week
      where  w.account_id = ${accountId} and w.week between ${first} and ${last} and f.week is null
        and  (w.closed_at is not null or ${isInTheWay})
    )`;
}

/** The ids of the questions that have fragments, each looked up in the index after the one before. 0 if it is not about results. */
function itemsOf(db: Db, accountId: AccountId, { kind, questionIds }: WantedFigures): Fragment {
  if (kind !== fragmentKinds.results) return db`values (0)`;
  if (questionIds) return db`(select distinct unnest(${questionIds}::integer[]))`;
  const next = db`
    select min(question_id) from fragments
    where  account_id = ${accountId} and kind = ${kind} and kpi_id = ''`;
  return db`
    (${next})
    union  all
    select (${next} and question_id > i.question_id)
    from   items i
    where  i.question_id is not null`;
}

export const openOf = (db: Db, accountId: AccountId, { first, last }: Window): Fragment => db`
  select string_agg(a.group_id || ' ' || a.week || ' ' || array_to_string(a.question_ids, ','), ${'\n'}
                    order by a.group_id, a.week) as open
  from   asked a
  where  a.account_id = ${accountId} and a.group_id = any(b.ids)
    and  a.week = any(array(select w.week from weeks w
                            where  w.account_id = ${accountId} and w.week between ${first} and ${last}
                              and  w.closed_at is null))`;

/** Returns whether an account still has a version. */
export async function hasVersion(db: Db, accountId: AccountId, version: string): Promise<boolean> {
  const [row] = await db<{ isSame: boolean }[]>`
    select version = ${version}::bigint as "isSame" from accounts where account_id = ${accountId}`;
  return row?.isSame === true;
}

/** Returns the accounts with closed weeks that are not in fragments yet. */
export async function selectAccountsToBuild(db: Db): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select distinct w.account_id as id
    from   weeks w
    where  w.closed_at is not null
      and  not exists (select 1 from fragment_weeks f where f.account_id = w.account_id and f.week = w.week)
    order  by w.account_id`;
  return rows.map(({ id }) => id);
}

/** Returns the closed weeks of an account that are not in fragments yet, in order. */
export async function selectWeeksToBuild(db: Db, accountId: AccountId): Promise<Week[]> {
  const rows = await db<{ week: Week }[]>`
    select w.week as "week"
    from   weeks w
    where  w.account_id = ${accountId} and w.closed_at is not null
      and  not exists (select 1 from fragment_weeks f where f.account_id = ${accountId} and f.week = w.week)
    order  by w.week`;
  return rows.map(({ week }) => week);
}

/** What fragments of several groups, and of results of several questions, have in common. */
export type FragmentList = { kind: number; kpiId: string; period: number };
export type FragmentRow = { questionId: number; groupId: number; frame: string };

/** Returns the fragments of these questions and groups that exist. */
export async function selectFragments(
  db: Db,
  accountId: AccountId,
  { kind, kpiId, period }: FragmentList,
  wanted: Omit<FragmentRow, 'frame'>[],
): Promise<FragmentRow[]> {
  return db<FragmentRow[]>`
    select f.question_id as "questionId", f.group_id as "groupId", f.frame as "frame"
    from   unnest(${wanted.map((one) => one.questionId)}::integer[], ${wanted.map((one) => one.groupId)}::integer[])
           as w(question_id, group_id)
    join   fragments f on f.account_id = ${accountId} and f.kind = ${kind} and f.kpi_id = ${kpiId}
                      and f.question_id = w.question_id and f.group_id = w.group_id and f.period = ${period}`;
}

/** Writes fragments of the groups and segments that still exist. */
export async function upsertFragments(
  tx: Transaction,
  accountId: AccountId,
  { kind, kpiId, period }: FragmentList,
  rows: FragmentRow[],
): Promise<void> {
  await tx`
    insert into fragments (account_id, kind, kpi_id, question_id, group_id, period, frame)
    select ${accountId}, ${kind}, ${kpiId}, r.question_id, r.group_id, ${period}, r.frame
    from   unnest(${rows.map((one) => one.questionId)}::integer[], ${rows.map((one) => one.groupId)}::integer[],
                  ${rows.map((one) => one.frame)}::text[]) as r(question_id, group_id, frame)
    where  exists (select 1 from groups g where g.account_id = ${accountId} and g.group_id = r.group_id)
      or   exists (select 1 from segments s where s.account_id = ${accountId} and s.segment_id = r.group_id)
    on     conflict (account_id, kind, kpi_id, question_id, group_id, period) do update set frame = excluded.frame`;
}

/** Records that these weeks are complete. */
export async function insertFragmentWeeks(
  tx: Transaction,
  accountId: AccountId,
  weeks: Week[],
): Promise<void> {
  await tx`
    insert into fragment_weeks (account_id, week)
    select ${accountId}, week from unnest(${weeks}::date[]) as week
    on     conflict do nothing`;
}

/** Deletes the fragments of groups or segments, when these are deleted. */
export async function deleteFragments(
  tx: Transaction,
  accountId: AccountId,
  groupIds: number[],
): Promise<void> {
  await tx`delete from fragments where account_id = ${accountId} and group_id = any(${groupIds})`;
}

/** Deletes the fragments of groups and segments that no longer exist. An older version of the program leaves them when it deletes a group. */
export async function deleteLeftFragments(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    delete from fragments
    where  account_id = ${accountId} and group_id = any(array(
      select d.group_id
      from   (select distinct group_id from fragments where account_id = ${accountId}) d
      where  not exists (select 1 from groups g where g.account_id = ${accountId} and g.group_id = d.group_id)
        and  not exists (select 1 from segments s where s.account_id = ${accountId} and s.segment_id = d.group_id)))`;
}

/** Deletes all fragments of an account. They are created again. */
export async function deleteAllFragments(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`delete from fragment_weeks where account_id = ${accountId}`;
  await tx`delete from fragments where account_id = ${accountId}`;
}
