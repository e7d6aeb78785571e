// Sandboxes when the service is killed: what was begun is not continued but begun again, and nothing half done can be used.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { inTransaction } from './db/db.ts';
import { sandboxSeen } from './sandboxes/sandboxes.fixture.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { home, started, useDirectory } from './testing/processes/processes.ts';
import { signInNew } from './testing/signed-in.ts';
import { until } from './testing/until.ts';

useDirectory();

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('after a kill while the demo company is created, it is created again, and the token works only then', async () => {
  const { pool, url } = database;
  const environment = { DATABASE_URL: url, ANSWER_KEYS: 'database', BACKUP_DIR: 'off' };
  const start = () => started(join(home, 'data'), environment);
  let service = await start();
  const { id: accountId } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
  const who = await signInNew({ pool, address: service.address }, accountId, 'Administrator');
  const { body } = await who.request<{ token: string }>('POST /sandbox', { scopes: ['data'] });
  const status = async () =>
    (await fetch(`${service.address}/v1/groups`, { headers: { authorization: body.token } })).status;
  const template = async () => {
    const [row] = await pool<{ id: number; done: number; isReady: boolean }[]>`
      select account_id as id, weeks_done as done, ready_at is not null as "isReady" from sandbox_templates
      order  by account_id desc limit 1`;
    return row;
  };
  const before = await until(async () => {
    const present = await template();
    return present && present.done >= 1 && present;
  });
  expect(await status()).toBe(401);
  service.child.kill('SIGKILL');
  await service.exited;
  service = await start();
  await pool`select graphile_worker.add_job('tend sandboxes')`;
  await until(async () => (await template())?.id !== before.id);
  await pool`update accounts set ended_at = ended_at - interval '1 hour' where ended_at is not null`;
  expect(await status()).toBe(401);
  const { request } = await signInNew({ pool, address: service.address }, accountId, 'Administrator');
  expect(await sandboxSeen({ accountId, userId: who.userId, request })).toBeNull();
  await until(async () => (await template())?.isReady, 280_000);
  await until(async () => (await status()) === 200);
  const weeks = await pool`
    select count(*)::integer as "weeks", count(w.statistics_at)::integer as "computed"
    from   weeks w join sandboxes s on s.sandbox_id = w.account_id`;
  expect([...weeks]).toEqual([{ weeks: 26, computed: 26 }]);
  await pool`select graphile_worker.add_job('tend sandboxes')`;
  await until(async () => {
    const rows = await pool`select 1 from accounts where account_id = ${before.id}`;
    return rows.length === 0;
  });
  service.child.kill('SIGKILL');
  await service.exited;
}, 420_000);
