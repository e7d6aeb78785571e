// The service's own jobs, on its threads: weeks close on time, and live figures are published while a week is open.
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { changeAccount } from './accounts/accounts.ts';
import { openLog } from './base/log.ts';
import { databaseTime } from './db/clocks.ts';
import { inTransaction } from './db/db.ts';
import { openTestDatabase } from './testing/database.ts';
import { until } from './testing/until.ts';
import { openWorld, type TestAccount, type World } from './testing/world.ts';
import { noLimits, person, unit } from './testing/organizations.ts';
import { answerLine, importLines, question, round } from './testing/surveys.ts';

const W = '2024-W47';
const meanwhile = Date.parse('2024-11-20T12:00:00Z');
const people = ['a', 'b', 'c', 'd', 'e'];

/** Opens a service with an adjustable clock, and a company with one question that week. */
async function openSurvey(
  publication: 'weekly' | 'live' = 'weekly',
  log = openLog('error'),
  databaseClock?: () => Promise<number>,
) {
  let now = meanwhile;
  const world = await openWorld(log, {}, () => now, undefined, databaseClock);
  onTestFinished(() => world.close());
  const acme = await world.account({ timezone: 'UTC' });
  await inTransaction(world.pool, (tx) => changeAccount(tx, acme.id, { publication }));
  const users = people.map((name) => person(name, { accessInfo: { memberOf: ['top'] } }));
  await acme.push({ settings: { ...noLimits, validateOnly: false }, data: { groups: [unit('top')], users } });
  await importLines(
    world,
    acme.id,
    [
      question('mood', 1),
      round(W, 'top', ['mood'], Object.fromEntries(people.map((name) => [name, ['top']]))),
      ...people.map((name) => answerLine(W, 'top', name, 'mood', 4)),
    ],
    meanwhile,
  );
  return { world, acme, move: (to: string) => void (now = Date.parse(to)) };
}

async function publishedAnswers(
  { request }: World,
  { token, groups }: TestAccount,
): Promise<number | undefined> {
  const [group] = await groups();
  const range = 'fromDate=2024-11-18&toDate=2024-11-24';
  const path = `/v1/results?groupId=${group?.id}&${range}`;
  type Values = Record<string, Record<string, Record<string, { answers: number }>>>;
  const { body } = await request<{ values: Values[] }[]>('GET', path, { headers: { authorization: token } });
  const [byGroup = {}] = Object.values(body[0]?.values[0] ?? {});
  return byGroup[String(group?.id)]?.['2447']?.answers;
}

const run = ({ pool }: World, job: string) => pool`select graphile_worker.add_job(${job})`;

test('a week is closed after it has ended, not before', async () => {
  const { world, acme, move } = await openSurvey();
  const isClosed = async () => (await world.pool`select from weeks where closed_at is not null`).length === 1;
  move('2024-11-24T23:59:59Z');
  await run(world, 'close weeks');
  await until(async () => (await world.pool`select from graphile_worker.jobs`).length === 0);
  expect([await isClosed(), await publishedAnswers(world, acme)]).toEqual([false, undefined]);
  move('2024-11-25T00:00:00Z');
  await run(world, 'close weeks');
  await until(isClosed);
  expect(await publishedAnswers(world, acme)).toBe(5);
});

test('no week is closed while the clock differs from that of the database by more than 5 minutes, and the log has a warning', async () => {
  const logged: { msg: string; secondsAhead?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const end = Date.parse('2024-11-25T00:00:00Z');
  let databaseNow = end - 20 * 60_000;
  const { world, move } = await openSurvey('weekly', log, async () => databaseNow);
  const isClosed = async () => (await world.pool`select from weeks where closed_at is not null`).length === 1;
  const warnings = () => logged.filter(({ msg }) => msg.startsWith('Weeks are not opened or closed'));
  move('2024-11-25T00:01:00Z'); // 21 minutes ahead
  await run(world, 'close weeks');
  await until(async () => (await world.pool`select from graphile_worker.jobs`).length === 0);
  expect([await isClosed(), warnings().map(({ secondsAhead }) => secondsAhead)]).toEqual([false, [1260]]);
  databaseNow = end + 5 * 60_000;
  await run(world, 'close weeks');
  await until(isClosed);
  expect(warnings()).toHaveLength(1);
});

test('the clock of the database is read', async () => {
  const { pool, close } = await openTestDatabase();
  onTestFinished(close);
  expect(Math.abs((await databaseTime(pool)) - Date.now())).toBeLessThan(60_000);
});

test('figures of a live week are published while it is open, even if publication has been changed meanwhile', async () => {
  const { world, acme } = await openSurvey('live');
  await inTransaction(world.pool, (tx) => changeAccount(tx, acme.id, { publication: 'weekly' }));
  await run(world, 'show live weeks');
  expect(await until(() => publishedAnswers(world, acme))).toBe(5);
});
