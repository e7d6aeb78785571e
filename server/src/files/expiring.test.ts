// Runs that are pending for too long end, also while a newer file or an administrator decides them.
import { expect, test } from 'vitest';
import { lockAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { lockPendingRun } from '../sync/pending-runs.sql.ts';
import { expirePendingRuns, rejectPendingRun } from '../sync/pending-runs.ts';
import { until } from '../testing/until.ts';
import { company, groupsFile, header, lines, pool, send, useDatabase } from './process.fixture.ts';

useDatabase();

const people = (count: number) =>
  lines(header, ...Array.from({ length: count }, (_, i) => `p${i};Person;${i};;north`));

/** Creates an account with a run that has been pending for 40 days. */
async function pending() {
  const acme = await company({ maxUsersDeleted: 1 });
  await send(acme, 'groups.csv', groupsFile);
  await send(acme, 'people.csv', people(5));
  const { runId } = await send(acme, 'people.csv', people(1));
  await pool`update runs set at = now() - interval '40 days' where account_id = ${acme.id}`;
  const outcome = async () => {
    const [run] = await pool<{ outcome: string; message: string; decided: boolean }[]>`
      select outcome, message, decided_at is not null as decided
      from   runs where account_id = ${acme.id} and run_id = ${runId!}`;
    return run;
  };
  return { accountId: acme.id, runId: runId!, outcome };
}

test('a run that expires locks what a decision locks in the same order, so that neither waits for the other', async () => {
  const { accountId, runId, outcome } = await pending();
  const expired = await inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await lockPendingRun(tx, accountId, runId);
    const expiring = expirePendingRuns(pool, 30).then(() => 'ended');
    await until(async () => {
      const waiting = await pool`
        select 1 from pg_stat_activity
        where  datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await tx`select 1 from pending_runs where account_id = ${accountId} and run_id = ${runId} for update nowait`;
    await rejectPendingRun(tx, accountId, runId, { userId: null, message: 'Replaced.' });
    return { expiring };
  });
  expect(await expired.expiring).toBe('ended');
  expect(await outcome()).toEqual({ outcome: 'refused', message: 'Replaced.', decided: true });
});

test('a run that was not approved in time is refused, and no one has decided it', async () => {
  const { accountId, outcome } = await pending();
  await expirePendingRuns(pool, 50);
  expect(await outcome()).toMatchObject({ outcome: 'pending' });
  await expirePendingRuns(pool, 30);
  const message = 'The changes were not approved in time. Nothing was applied.';
  expect(await outcome()).toEqual({ outcome: 'refused', message, decided: false });
  expect((await pool`select 1 from pending_runs where account_id = ${accountId}`).length).toBe(0);
});
