// After a week has closed, the statistics of PostgreSQL name no one who was asked or reminded in it, whether the tables are empty or not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { type AskedAccount, askPeople } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { closeWeekNow } from './close-week.ts';
import { deleteLeftStatistics } from './left-statistics.sql.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
  // Autovacuum would be a user of these tables, which keep their statistics then.
  for (const table of ['links', 'messages', 'participants'])
    await pool.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
});
afterAll(() => database?.close());

/** Asks many people, gives some of them a link, and lets PostgreSQL analyze the tables. */
async function asked(): Promise<AskedAccount> {
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
  const one = await askPeople(database, id, { count: 60 });
  await pool`
    insert into links (hash, account_id, user_id, week, sent_to)
    select sha256(user_id::text::bytea), account_id, user_id, week, 'someone' || user_id || '@example.org'
    from   participants where account_id = ${id} and user_id % 3 = 0`;
  await pool`vacuum analyze links, messages, participants`;
  return one;
}

/** Returns which of the people the statistics name, by user ID or address. */
async function namedOf({ userIds }: AskedAccount): Promise<number[]> {
  const rows = await pool<{ values: string }[]>`
    select concat_ws(' ', most_common_vals::text, histogram_bounds::text) as "values"
    from   pg_stats where schemaname = current_schema() and tablename in ('links', 'messages', 'participants')
      and  attname in ('user_id', 'sent_to')`;
  const all = new Set(rows.flatMap(({ values }) => values.match(/\d+/g) ?? []));
  return userIds.filter((id) => all.has(String(id)));
}

const columnsLeft = () => pool`
  select tablename, attname from pg_stats
  where  schemaname = current_schema() and tablename in ('links', 'messages', 'participants')
    and  attname in ('user_id', 'sent_to', 'state')`;

const close = ({ accountId, week }: AskedAccount) =>
  closeWeekNow(pool, database.keys, accountId, week, Date.parse('2026-11-24T12:00:00Z'));

test('statistics are those of the weeks that are still open, and there are none after the last one', async () => {
  const [first, second] = [await asked(), await asked()];
  expect((await namedOf(first)).length).toBeGreaterThan(20);
  await close(first);
  expect(await namedOf(first)).toEqual([]);
  expect((await namedOf(second)).length).toBeGreaterThan(20);
  await close(second);
  expect(await columnsLeft()).toHaveLength(0);
});

test('if someone uses a table meanwhile, the next call deletes them, and weeks close nevertheless', async () => {
  const one = await asked();
  const release = await keepOpen(pool, (tx) => tx`select from links, messages, participants`);
  await close(one);
  expect((await columnsLeft()).length).toBeGreaterThan(0);
  await release();
  await deleteLeftStatistics(pool);
  expect(await columnsLeft()).toHaveLength(0);
  // The tables work as before, with their keys and foreign keys.
  const another = await asked();
  await pool`delete from users where account_id = ${another.accountId} and user_id = ${another.userIds[0]!}`;
  const rows = await pool`select from participants where account_id = ${another.accountId}`;
  expect(rows).toHaveLength(59);
});
