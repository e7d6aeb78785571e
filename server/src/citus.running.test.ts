// A database whose tables are distributed by account with Citus: the service starts on it, and everything that people do works.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { distribute } from './db/citus/distribute.ts';
import {
  distributeTables,
  distributionFacts,
  isDistributed,
  useDistributionSettings,
} from './db/citus/distribution.ts';
import { inTransaction, openPool, type Pool } from './db/db.ts';
import { migrate } from './db/migrate.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openCitus } from './testing/processes/citus.ts';
import { runSurvey } from './testing/processes/survey.ts';
import { until } from './testing/until.ts';
import { testConfig } from './testing/world.ts';

/** Starts a server with Citus and returns its database with our tables, which are not distributed yet. */
async function openTables(context: Parameters<typeof openCitus>[0]) {
  const url = await openCitus(context);
  const pool = openPool(url, 5);
  onTestFinished(() => pool.end({ timeout: 5 }));
  await migrate(pool);
  return { url, pool };
}

/** Runs each recurring job of the service once, and returns those that fail, with the error. */
async function failedJobs(pool: Pool): Promise<string[]> {
  const added = await pool<{ id: string }[]>`
    select (graphile_worker.add_job(identifier)).id from graphile_worker._private_known_crontabs`;
  expect(added.length).toBeGreaterThan(20);
  const ids = added.map(({ id }) => id);
  const failed: string[] = [];
  await until(async () => {
    const rows = await pool<{ name: string; error: string | null }[]>`
      select task_identifier as "name", last_error as "error" from graphile_worker.jobs where id = any(${ids})`;
    failed.splice(0, failed.length, ...rows.map(({ name, error }) => `${name}: ${error}`));
    return rows.every(({ error }) => error !== null);
  });
  return failed;
}

test('from the push to the results, everything works on distributed tables', async (context) => {
  const { url, pool } = await openTables(context);
  const { tables } = await distribute(pool);
  expect(tables).toContain('users');
  const directory = await mkdtemp(join(tmpdir(), 'soundings-keys-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const keyPlace = { place: 'file' as const, directory };
  const app = await startApp({ ...testConfig, answerKeys: keyPlace }, Promise.resolve(url), openLog('error'));
  onTestFinished(() => app.stop(5));
  await app.started;
  const database = { pool, keys: new AnswerKeys(pool, keyPlace) };
  const { request, groupId, questionId } = await runSurvey(database, app.address);
  const pages = Object.keys(consoleOperations)
    .filter((one) => one.startsWith('GET '))
    .map((one) =>
      one
        .replace('{groupId}', String(groupId))
        .replace('{questionId}', String(questionId))
        .replace(/\{\w+\}/g, '1'),
    );
  const failed: string[] = [];
  for (const page of pages) if ((await request(page)).status >= 500) failed.push(page);
  expect(failed).toEqual([]);
  expect(await failedJobs(pool)).toEqual([]);
  // A second account is on another shard, and what Citus would not find without the account of each statement would be missing.
  await runSurvey(database, app.address);
});

test('distributing says what is missing, changes nothing twice, and later migrations distribute their tables', async (context) => {
  const { url, pool } = await openTables(context);
  expect(await isDistributed(pool)).toBe(false);
  const admin = openPool(url.replace('soundings@', 'postgres@'), 1);
  onTestFinished(() => admin.end({ timeout: 5 }));
  await admin`drop extension citus`;
  await expect(distribute(pool)).rejects.toThrow(/create extension citus/);
  await admin`create extension citus`;
  await distribute(pool);
  expect(await isDistributed(pool)).toBe(true);
  await expect(distribute(pool)).rejects.toThrow(/already distributed/);
  const before = await distributionFacts(pool);
  expect(before).toMatchObject({ isDistributed: true, undistributed: [] });
  // What `migrate` does after a migration that creates a table.
  await inTransaction(pool, async (tx) => {
    await useDistributionSettings(tx);
    await tx.unsafe(`
      create table later (
        account_id integer not null,
        user_id integer not null,
        word text unique,
        primary key (account_id, user_id),
        foreign key (account_id, user_id) references users on delete cascade
      )`);
    expect((await distributionFacts(tx)).undistributed).toEqual(['later']);
    expect(await distributeTables(tx)).toEqual(['later']);
    expect((await distributionFacts(tx)).undistributed).toEqual([]);
  });
  await expect(pool`insert into later values (1, 1, 'a')`).rejects.toThrow(/violates foreign key/);
});
