// A database whose tables are distributed by account with Citus: the service starts on it, and everything that people do works.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { distribute } from './db/citus/distribute.ts';
import { isDistributed } from './db/citus/distribution.ts';
import { openPool } from './db/db.ts';
import { migrate } from './db/migrate.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openCitus } from './testing/processes/citus.ts';
import { runSurvey } from './testing/survey.ts';
import { testConfig } from './testing/world.ts';

/** Starts a server with Citus and returns its database with our tables, which are not distributed yet. */
async function openTables(context: Parameters<typeof openCitus>[0]) {
  const url = await openCitus(context);
  const pool = openPool(url, 5);
  onTestFinished(() => pool.end({ timeout: 5 }));
  await migrate(pool);
  return { url, pool };
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
});
