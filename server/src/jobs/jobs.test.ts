// Jobs of a process that has ended are taken over while other processes run.
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { until } from '../testing/until.ts';
import { countDeadJobs, freeLostJobs, insertWorker } from './jobs.sql.ts';
import { startJobs } from './jobs.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = new Pool({ connectionString: database.url, max: 2 });
  // The database may be dropped before all connections have closed. If a connection is idle, the pool emits its error; if
  // it is in use, the connection itself does.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

test('jobs that failed permanently are counted, and deleted after a week; other jobs stay', async () => {
  const none = { recurring: [], tasks: {} };
  const first = await startJobs(database.url, none, openLog('error'));
  await pool.query(`select graphile_worker.add_job('dead', job_key := key, max_attempts := 1)
                    from unnest(array['old', 'recent', 'running']) key`);
  await pool.query("select graphile_worker.add_job('dead', job_key := 'alive')");
  await pool.query(`
    update graphile_worker._private_jobs
    set    attempts = max_attempts, updated_at = now() - case key when 'recent' then interval '6 days' else interval '8 days' end,
           locked_at = case key when 'running' then now() end
    where  key <> 'alive'`);
  expect(await countDeadJobs(database.pool)).toBe(2);
  await pool.query(`update graphile_worker._private_jobs set payload = '{"accountId": 7}' where key = 'old'`);
  expect(await countDeadJobs(database.pool, 7)).toBe(2);
  expect(await countDeadJobs(database.pool, 8)).toBe(1);
  await first.stop();
  const second = await startJobs(database.url, none, openLog('error'));
  const { rows } = await pool.query<{ key: string }>(
    'select key from graphile_worker._private_jobs order by 1',
  );
  expect(rows.map(({ key }) => key)).toEqual(['alive', 'recent', 'running']);
  expect(await countDeadJobs(database.pool)).toBe(1);
  await second.stop();
  await pool.query('delete from graphile_worker._private_jobs');
});

test('jobs of a killed process are released; jobs of running processes are not', async () => {
  let [started, release] = [0, () => {}];
  const hold = new Promise<void>((resolve) => (release = resolve));
  const work = {
    recurring: [],
    tasks: {
      hold: async () => {
        started++;
        await hold;
      },
    },
  };
  const jobs = await startJobs(database.url, work, openLog('error'));
  await pool.query("select graphile_worker.add_job('hold'), graphile_worker.add_job('unknown to us')");
  await until(async () => started === 1);
  // The state after a process was killed: a worker whose connections no longer exist.
  await insertWorker(pool, 'worker-of-the-dead', 'soundings jobs dead');
  await pool.query(
    `update graphile_worker._private_jobs set locked_by = 'worker-of-the-dead', locked_at = now() where locked_by is null`,
  );
  const owners = async () => {
    const { rows } = await pool.query<{ by: string | null }>(
      'select locked_by as by from graphile_worker._private_jobs order by 1',
    );
    return rows.map(({ by }) => by);
  };
  expect(await owners()).toContain('worker-of-the-dead');
  await freeLostJobs(pool);
  const after = await owners();
  expect(after).not.toContain('worker-of-the-dead');
  expect(after.filter((by) => by !== null)).toHaveLength(1);
  const { rows } = await pool.query<{ worker: string }>('select worker from job_workers');
  expect(rows.map(({ worker }) => worker)).not.toContain('worker-of-the-dead');
  release();
  await jobs.stop();
});
