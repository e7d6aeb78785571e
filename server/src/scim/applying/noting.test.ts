// What a run has applied is noted after it is committed: no request waits for a run, and a process that is killed in between changes nothing
// twice.
import { expect, test } from 'vitest';
import { openPool } from '../../db/db.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { until } from '../../testing/until.ts';
import {
  directoryRuns,
  openDirectory,
  patchOf,
  peopleOf,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { applyDirectory } from './apply.ts';

useService();

test('if a process is killed after a run and before it is noted, the run is not repeated, and later changes are applied', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const id = await directory.create('Users', userOf('a'));
  const pool = openPool(world.databaseUrl, 1);
  await world.pool.begin(async (tx) => {
    // Until this ends, the user can't be noted. The run does not need its row.
    await tx`select from scim_users where account_id = ${accountId} and scim_id = ${id} for no key update`;
    const applying = applyDirectory(pool, accountId, Date.now(), deleteGroupResults);
    const ended = applying.then(
      () => 'done',
      () => 'failed',
    );
    await until(async () => Object.keys(await peopleOf(accountId)).length === 1);
    const [waiting] = await until(async () => {
      const rows = await world.pool<{ pid: number }[]>`
        select pid from pg_stat_activity
        where  wait_event_type = 'Lock' and query like '%update scim_users s%' and datname = current_database()`;
      return rows.length > 0 ? rows : undefined;
    });
    await world.pool`select pg_terminate_backend(${waiting!.pid}, 5000)`;
    expect(await ended).toBe('failed');
  });
  await pool.end({ timeout: 1 });
  const notApplied = () =>
    world.pool`select from scim_users where account_id = ${accountId} and changes <> applied`;
  expect(await notApplied()).toHaveLength(1);
  await directory.apply();
  expect([await notApplied(), await directoryRuns(accountId)]).toEqual([[], [expect.anything()]]);
  const renamed = patchOf({ op: 'replace', path: 'name.givenName', value: 'b' });
  await directory.send('PATCH', `/Users/${id}`, renamed);
  await directory.apply();
  expect(Object.keys(await peopleOf(accountId))).toEqual(['b']);
});

test('a change that arrives between a run and its note stays to be applied', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const id = await directory.create('Users', userOf('a'));
  await applyDirectory(world.pool, accountId, Date.now(), async () => {
    // The run has read the user and is not committed. The request is answered nevertheless.
    const renamed = patchOf({ op: 'replace', path: 'name.givenName', value: 'b' });
    expect((await directory.send('PATCH', `/Users/${id}`, renamed)).status).toBe(204);
  });
  expect(Object.keys(await peopleOf(accountId))).toEqual(['a']);
  await directory.apply();
  expect(Object.keys(await peopleOf(accountId))).toEqual(['b']);
});
