// The demo has an open week with an answering page at any time of the week.
import { expect, onTestFinished, test } from 'vitest';
import { openLink } from '../answers/answering.ts';
import { startAnswering } from '../app.ts';
import { openLog } from '../base/log.ts';
import { openSimulationPool } from '../simulation/simulation.ts';
import { openTestDatabase } from '../testing/database.ts';
import { makeDemo } from './demo.ts';

test('on Monday at half past one in the morning, before the pulse is due, there is a page to try', async () => {
  const database = await openTestDatabase();
  const pool = openSimulationPool(database.url);
  onTestFinished(async () => {
    await pool.end({ timeout: 5 });
    await database.close();
  });
  const now = Date.parse('2026-11-16T00:30:00Z');
  const { link } = await makeDemo(
    pool,
    database.keys,
    now,
    (pages, keys, clock) => startAnswering({ pool: pages, keys, now: clock }, openLog('error')),
    1,
  );
  const asked = await openLink(pool, database.keys, { link: link as string, visit: 'a browser' });
  expect(asked?.questions).toHaveLength(5);
});
