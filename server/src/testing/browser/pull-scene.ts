// Two pulls for the pages of the console: one that works every day, and one whose credentials have expired.
import { inTransaction, type Pool } from '../../db/db.ts';
import { insertPull, nextPullId } from '../../pulls/pulls.sql.ts';

/** Creates the pulls with their attempts, and `userId` as their creator. Nothing is due, so nothing is fetched. Returns the first one. */
export async function makePulls(pool: Pool, accountId: number, userId: number): Promise<number> {
  const times = {
    repeat: 'daily' as const,
    hour: 5,
    weekday: 1,
    secret: Buffer.alloc(60),
    createdBy: userId,
  };
  const workday = await nextPullId(pool);
  const bamboohr = await nextPullId(pool);
  await inTransaction(pool, async (tx) => {
    await insertPull(tx, accountId, {
      ...times,
      id: workday,
      name: 'Workday people',
      source: 'workday',
      url: 'https://wd3.lavmark.example/ccx/service/customreport2/lavmark/ISU_Soundings/Soundings_People?format=json',
      list: '',
      access: { kind: 'basic', user: 'ISU_Soundings' },
    });
    await insertPull(tx, accountId, {
      ...times,
      id: bamboohr,
      name: 'Departments',
      source: 'bamboohr',
      url: 'https://lavmark.bamboohr.example/api/v1/reports/104?format=JSON&onlyCurrent=true',
      list: 'departments',
      access: { kind: 'key' },
    });
  });
  await pool`
    update pulls set is_on = true, changed_at = now() - interval '3 days', next_at = date_trunc('day', now()) + interval '1 day 4 hours'
    where  account_id = ${accountId}`;
  await pool`
    update pulls set failures = 1, failing_since = now() - interval '14 hours'
    where  account_id = ${accountId} and pull_id = ${bamboohr}`;
  const file = pool`
    select file_id from files
    where  account_id = ${accountId} and report ->> 'outcome' = 'applied' order by arrival limit 1`;
  await pool`
    insert into pull_fetches (account_id, pull_id, at, reason, outcome, error, detail, file_id, requests, bytes, rows, user_id)
    values (${accountId}, ${workday}, now() - interval '2 days 15 hours', 'dryRun', 'failed', 'refused',
            'wd3.lavmark.example: HTTP 401', null, 1, 210, null, ${userId}),
           (${accountId}, ${workday}, now() - interval '2 days 14 hours', 'fetch', 'stored', null, null, (${file}), 1, 412000, 1204, ${userId}),
           (${accountId}, ${workday}, now() - interval '1 day 14 hours', 'schedule', 'unchanged', null, null, null, 1, 412000, null, null),
           (${accountId}, ${workday}, now() - interval '14 hours', 'schedule', 'stored', null, null, (${file}), 1, 412600, 1206, null),
           (${accountId}, ${bamboohr}, now() - interval '14 hours', 'schedule', 'failed', 'refused',
            'lavmark.bamboohr.example: HTTP 401', null, 1, 35, null, null)`;
  return workday;
}
