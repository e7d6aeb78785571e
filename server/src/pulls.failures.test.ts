// Pulls when the service is killed while it fetches: the list is fetched again when the claim has run out, and stored exactly once.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCompany, newPull, networks, openHr, sendJson } from './pulls/pulls.fixture.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { home, started, useDirectory } from './testing/processes/processes.ts';
import { until } from './testing/until.ts';

useDirectory();

const kills = 3;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test(`after ${kills} kills while the list is fetched, it is stored once, and nothing else is`, async () => {
  const { pool, url } = database;
  const environment = {
    DATABASE_URL: url,
    ANSWER_KEYS: 'database',
    OUTGOING_NETWORKS: networks.join(','),
    BACKUP_DIR: 'off',
  };
  const dataDir = join(home, 'data');
  const hr = await openHr(() => {}); // it does not respond yet
  let service = await started(dataDir, environment);
  const keys = new AnswerKeys(pool, { place: 'database', directory: join(dataDir, 'keys') });
  const company = await newCompany(pool);
  await newPull({ pool, keys }, company, { url: `${hr.url}/list` });
  for (let i = 0; i < kills; i++) {
    await until(async () => hr.seen.length === i + 1);
    service.child.kill('SIGKILL');
    await service.exited;
    const [claim] = await pool<
      { until: Date }[]
    >`select claimed_until as until from pulls where claimed_by is not null`;
    expect(claim!.until.getTime()).toBeGreaterThan(Date.now()); // until then, no other process fetches it
    await pool`update pulls set claimed_until = now()`;
    if (i === kills - 1)
      hr.respond = (_, response) => sendJson(response, [{ EmployeeID: '1', FirstName: 'A', LastName: 'B' }]);
    service = await started(dataDir, environment);
    await pool`select graphile_worker.add_job('fetch pulls', '{}')`;
  }
  const stateOf = async () => {
    const [row] = await pool<{ fetches: number; files: number; outcome: string | null }[]>`
      select (select count(*)::integer from pull_fetches) as fetches, (select count(*)::integer from files) as files,
             (select report ->> 'outcome' from files limit 1) as outcome`;
    return row!;
  };
  await until(async () => (await stateOf()).outcome !== null);
  expect(await stateOf()).toEqual({ fetches: 1, files: 1, outcome: 'validated' });
  expect(hr.seen.length).toBe(kills + 1);
}, 300_000);
