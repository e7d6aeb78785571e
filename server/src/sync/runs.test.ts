// Changes of runs that applied nothing are bounded in number, and what was applied or rejected stays.
import { expect, test } from 'vitest';
import { apply, person } from '../testing/organizations.ts';
import type { TestAccount } from '../testing/world.ts';
import { useService, world } from './organization.fixture.ts';
import { deleteUnappliedChanges } from './runs.sql.ts';

useService();

const people = (count: number) => Array.from({ length: count }, (_, i) => person(`p${i}`));

async function dryRun(account: TestAccount, count: number): Promise<string> {
  const { status, body } = await account.push({ data: { users: people(count) } });
  expect(status).toBe(200);
  return body.id;
}

/** Returns how many changes each of these runs has. */
async function changesOf(account: TestAccount, runs: string[]): Promise<number[]> {
  const rows = await world.pool<{ id: string; count: number }[]>`
    select run_id::text as id, count(*)::integer as count from run_changes
    where  account_id = ${account.id} group by run_id`;
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  return runs.map((id) => counts.get(id) ?? 0);
}

test('the newest runs that applied nothing keep their changes, up to a number, and at least the last one does', async () => {
  const [account, other] = [await world.account(), await world.account()];
  const dry = [await dryRun(account, 4), await dryRun(account, 3), await dryRun(account, 5)];
  const others = [await dryRun(other, 9), await dryRun(other, 9)];
  await deleteUnappliedChanges(world.pool, account.id, 8);
  expect(await changesOf(account, dry)).toEqual([0, 3, 5]);
  await deleteUnappliedChanges(world.pool, account.id, 7);
  expect(await changesOf(account, dry)).toEqual([0, 0, 5]);
  expect(await changesOf(other, others)).toEqual([9, 9]);
  await deleteUnappliedChanges(world.pool, null, 1);
  expect(await changesOf(account, dry)).toEqual([0, 0, 5]);
  expect(await changesOf(other, others)).toEqual([0, 9]);
  // The runs themselves stay, with their numbers.
  const rows = await world.pool<{ created: number }[]>`
    select (summary -> 'users' ->> 'created')::integer as created from runs where account_id = ${account.id} order by run_id`;
  expect(rows.map(({ created }) => created)).toEqual([4, 3, 5]);
});

test('runs that were applied or that a person rejected keep their changes, and so does that of an open push', async () => {
  const account = await world.account();
  const { id: applied } = await apply(account, { users: people(2) });
  const over = await account.push({ settings: { maxUsersCreated: 0 }, data: { users: people(6) } });
  const refused = over.body.id;
  const [rejected, ofPush] = [await dryRun(account, 8), await dryRun(account, 9)];
  const last = await dryRun(account, 10);
  await world.pool`update runs set outcome = 'refused', decided_at = now() where account_id = ${account.id} and run_id = ${rejected}`;
  await world.pool`insert into pushes (account_id, push_id, run_id) values (${account.id}, gen_random_uuid(), ${ofPush})`;
  const runs = [applied, refused, rejected, ofPush, last];
  expect(await changesOf(account, runs)).toEqual([2, 4, 6, 7, 8]);
  await deleteUnappliedChanges(world.pool, account.id, 0);
  expect(await changesOf(account, runs)).toEqual([2, 0, 6, 7, 8]);
});
