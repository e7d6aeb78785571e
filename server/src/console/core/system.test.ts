// Warnings about the installation: jobs that have failed permanently, and files and messages that wait too long.
import type { SystemWarning } from '@soundings/contract/console/system.ts';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { openEmptyWeek } from '../../testing/asking.ts';
import { lockSurvey } from '../../rounds/rounds.sql.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openWorld, type TestAccount, testConfig, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
let ada: SendRequest;
let clock: number | undefined;

beforeAll(async () => {
  world = await openWorld(openLog('fatal'), { smtpUrl: 'smtp://127.0.0.1:1' }, () => clock ?? Date.now());
  account = await world.account();
  ({ request: ada } = await signInNew(world, account.id, 'Administrator'));
});
afterAll(() => world.close());

const warnings = async (by = ada) => (await by<SystemWarning[]>('GET /warnings')).body;
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test('there are no warnings without a problem, and none for anyone but administrators', async () => {
  expect(await warnings()).toEqual([]);
  const { request } = await signInNew(world, account.id, 'Manager');
  expect((await request('GET /warnings')).status).toBe(403);
});

test('counts permanently failed jobs of the account and those without an account', async () => {
  const other = await world.account();
  const payloads = [{}, { accountId: account.id }, { accountId: other.id }];
  await world.pool`
    select graphile_worker.add_job('unheard of', payload, max_attempts := 1)
    from   (select element::json as payload from jsonb_array_elements(${world.pool.json(payloads)}) as element) each`;
  expect(await warnings()).toEqual([]);
  await world.pool`
    update graphile_worker._private_jobs set attempts = 1
    where  task_id in (select id from graphile_worker._private_tasks where identifier = 'unheard of')`;
  expect(await warnings()).toEqual([{ code: 'deadJobs', count: 2 }]);
  await world.pool`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker._private_jobs`;
  expect(await warnings()).toEqual([]);
});

test('warns about a week that ended an hour ago and is not closed, by its name', async () => {
  const { pool } = world;
  const at = (hour: string) => Date.parse(`2026-11-16T${hour}:00Z`);
  const zoned = await world.account();
  const { request } = await signInNew(world, zoned.id, 'Administrator');
  await pool`update accounts set timezone = 'UTC' where account_id = ${zoned.id}`;
  await inTransaction(pool, (tx) => openEmptyWeek(tx, world.keys, zoned.id, '2026-11-09'));
  // While its survey is locked, the service doesn't close the week.
  await inTransaction(pool, async (tx) => {
    await lockSurvey(tx, zoned.id);
    clock = at('00:59');
    expect(await warnings(request)).toEqual([]);
    clock = at('01:01');
    expect(await warnings(request)).toEqual([{ code: 'lateWeek', name: '2026-W46' }]);
    expect(await warnings()).toEqual([]);
    clock = undefined;
  });
});

test('warns about missing keys until the process has them', async () => {
  const { directory } = world.keyPlace;
  const elsewhere = await mkdtemp(join(tmpdir(), 'soundings-keys-'));
  const answerKeys = { place: 'file' as const, directory: elsewhere };
  const url = Promise.resolve(world.databaseUrl);
  const second = await startApp({ ...testConfig, answerKeys }, url, openLog('silent'));
  await second.started;
  const { request } = await signInNew({ ...world, address: second.address }, account.id, 'Administrator');
  expect(await warnings(request)).toEqual([{ code: 'answerKeyMissing' }, { code: 'secretsKeyMissing' }]);
  expect(await warnings()).toEqual([]);
  for (const name of ['answers', 'secrets']) await copyFile(join(directory, name), join(elsewhere, name));
  expect(await warnings(request)).toEqual([]);
  await second.stop(0);
  await rm(elsewhere, { recursive: true });
});

test('warns about files and messages that wait too long, with the time since when they wait', async () => {
  const { pool } = world;
  const [file, message] = [before(16), before(61)];
  // The file is paused and the message is postponed, so that the service processes neither during the test.
  await inTransaction(pool, async (tx) => {
    await tx`
      insert into files (account_id, name, size, via, user_id, address, arrival, arrived_at, turn, begun_at, interruptions)
      select account_id, 'users.csv', 1, 'console', user_id, '192.0.2.1', nextval('file_arrivals'), ${before(14)},
             gen_random_uuid(), now(), 8
      from   users where account_id = ${account.id} limit 1`;
    await tx`
      insert into participants (account_id, user_id, week)
      select account_id, user_id, '2026-11-16' from users where account_id = ${account.id} limit 1`;
    await tx`
      insert into messages (account_id, user_id, week, schedule_id, kind, due_at, late_since, any_hour)
      select account_id, user_id, '2026-11-16', 1, 'invitation', now() + interval '1 hour', ${before(59)}, true
      from   users where account_id = ${account.id} limit 1`;
  });
  expect(await warnings()).toEqual([]);
  await pool`update files set arrived_at = ${file} where account_id = ${account.id}`;
  await pool`update messages set late_since = ${message} where account_id = ${account.id}`;
  expect(await warnings()).toEqual([
    { code: 'oldFile', since: file.toISOString() },
    { code: 'oldMessage', since: message.toISOString() },
  ]);
  await pool`update files set processed_at = now() where account_id = ${account.id}`;
  // A waiting reminder would reveal that someone has not answered.
  await pool`update messages set kind = 'reminder' where account_id = ${account.id}`;
  expect(await warnings()).toEqual([]);
  await pool`delete from messages where account_id = ${account.id}`;
  expect(await warnings()).toEqual([]);
});
