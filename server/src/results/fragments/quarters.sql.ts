// SQL of the packs of quarters, which have the figures of 13 weeks (docs/decisions/0064). They are rows of the same table, so they are deleted with
// the packs of their weeks. Writer: build-quarters.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Fragment, Transaction } from '../../db/db.ts';
import type { Window } from '../data/window.ts';
import { quarterKinds } from './packs.ts';

/** How many days a quarter has. It begins on a Monday. */
const quarterDays = 91;

/** Returns the first week of the quarter of a week. */
export const quarterOf = (db: Db, week: Fragment): Fragment =>
  db`(${week} - (${week} - date '0001-01-01') % ${quarterDays}::integer)`;

/** The account of a statement, or a column that has it. */
type Account = AccountId | Fragment;

/** The quarters with more than one week in packs, and these weeks. */
function quartersOf(db: Db, account: Account): Fragment {
  const first = quarterOf(db, db`w.week`);
  return db`
    select first, weeks
    from   (select ${first} as first, string_agg(w.week::text, ',' order by w.week) as weeks, count(*) as count
            from   pack_weeks w where w.account_id = ${account} group by first) q
    where  count > 1`;
}

/** Whether a row of packs says that a quarter has all its weeks. */
const isComplete = (db: Db, account: Account): Fragment => db`
  p.account_id = ${account} and p.kind = ${quarterKinds} and p.kpi_id = '' and p.question_id = 0
  and p.week = q.first and p.pack = q.weeks`;

/**
 * The quarters in a window whose packs have all their weeks, in all of the blocks `b.blocks`. Packs that don't, such as those of a quarter of which
 * another week was imported, are not read.
 */
export const quartersIn = (db: Db, accountId: AccountId, { first, last }: Window): Fragment => db`
  select q.first
  from   (${quartersOf(db, accountId)}) q
  where  q.first >= ${first} and q.first + ${quarterDays - 7}::integer <= ${last}
    and  (select count(*) from pack_blocks p where p.account_id = ${accountId} and p.block = any((select blocks from b)::integer[]))
       = (select count(*) from packs p where ${isComplete(db, accountId)} and p.block = any((select blocks from b)::integer[]))`;

const dueQuarters = (db: Db, account: Account): Fragment => db`
  select b.block, q.first, q.weeks, b.removals
  from   (${quartersOf(db, account)}) q
  join   pack_blocks b on b.account_id = ${account} and b.built = b.removals
  where  q.first + ${quarterDays}::integer <= (select max(week) from pack_weeks where account_id = ${account})
    and  not exists (select 1 from packs p where ${isComplete(db, account)} and p.block = b.block)`;

/** A block whose packs of a quarter have to be created. `removals`: those of the block, whose packs of weeks are complete. */
export type DueQuarter = { block: number; first: Week; weeks: string; removals: number };

/** Returns the quarters that have ended and are not in packs yet. */
export async function selectDueQuarters(db: Db, accountId: AccountId): Promise<DueQuarter[]> {
  return db<DueQuarter[]>`
    select block as "block", first as "first", weeks as "weeks", removals as "removals"
    from   (${dueQuarters(db, accountId)}) q
    order  by first, block`;
}

/** Returns the accounts with such quarters. */
export async function selectAccountsWithDueQuarters(db: Db): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select a.account_id as id from accounts a where exists (${dueQuarters(db, db`a.account_id`)}) order by a.account_id`;
  return rows.map(({ id }) => id);
}

/** A pack and what it is about. */
export type ListedPack = { kind: number; kpiId: string; questionId: number; week: Week; pack: string };

/** Returns the packs of weeks of a block, ordered by what they are about, then by week. */
export async function selectPacksOfWeeks(
  db: Db,
  accountId: AccountId,
  { block, weeks }: DueQuarter,
): Promise<ListedPack[]> {
  return db<ListedPack[]>`
    select kind as "kind", kpi_id as "kpiId", question_id as "questionId", week as "week", pack as "pack"
    from   packs
    where  account_id = ${accountId} and block = ${block} and kind < ${quarterKinds} and week = any(${weeks.split(',')}::date[])
    order  by kind, kpi_id, question_id, week`;
}

/**
 * Writes the packs of a quarter, and that it has its weeks, unless packs of the block were deleted meanwhile. The account must be locked.
 */
export async function replaceQuarter(
  tx: Transaction,
  accountId: AccountId,
  { block, first, weeks, removals }: DueQuarter,
  packs: ListedPack[],
): Promise<void> {
  const [same] = await tx`
    select 1 from pack_blocks
    where  account_id = ${accountId} and block = ${block} and built = ${removals} and removals = ${removals}`;
  if (!same) return;
  await tx`
    delete from packs where account_id = ${accountId} and block = ${block} and kind >= ${quarterKinds} and week = ${first}`;
  const complete = { kind: quarterKinds, kpiId: '', questionId: 0, pack: weeks };
  const all = [...packs, complete];
  await tx`
    insert into packs (account_id, kind, kpi_id, question_id, block, week, pack)
    select ${accountId}, kind, kpi_id, question_id, ${block}, ${first}, pack
    from   unnest(${all.map((one) => one.kind)}::smallint[], ${all.map((one) => one.kpiId)}::text[],
                  ${all.map((one) => one.questionId)}::integer[], ${all.map((one) => one.pack)}::text[])
           as p(kind, kpi_id, question_id, pack)`;
}
