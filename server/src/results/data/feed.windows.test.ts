// A row of the feed is the same in whatever window of weeks it is read, and wherever the rows are divided into batches: also if a question was
// last asked a year before, and if the number of weeks of rolling values has changed.
import { addWeeks, lastDay, type Week, weekName } from '@soundings/contract/weeks.ts';
import type { FeedRow } from '@soundings/contract/feed-rows.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { batch } from './results.sql.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const last = '2026-11-09';
const weeks = Array.from({ length: 19 }, (_, i) => addWeeks(last, i - 18));
const yearBefore = addWeeks(last, -52);
const people = Array.from({ length: 10 }, (_, i) => `p${i}`);
const copies = Array.from({ length: 110 }, (_, i) => `copy-${i}`);

let world: World;
let account: TestAccount;
beforeAll(async () => {
  // Without recurring jobs, which compute statistics that are missing.
  world = await openWorld(undefined, { role: 'web' }, () => now);
  account = await world.account();
  await apply(account, { groups: [unit('company')] });
  const random = randomFrom(1, 'answers');
  const asked = (week: Week, keys: string[]) => [
    round(weekName(week), 'company', keys, Object.fromEntries(people.map((id) => [id, ['company']]))),
    ...people.flatMap((id) =>
      keys.map((key) => answerLine(weekName(week), 'company', id, key, 1 + Math.floor(random.next() * 5))),
    ),
  ];
  const definitions = [
    ...['weekly', 'yearly', 'once'].map((key) => question(key, 1)),
    kpi('yearly', ['yearly']),
    kpi('once', ['weekly', 'once']),
    ...copies.map((id) => kpi(id, ['weekly', 'yearly'])),
  ];
  const kpiWeeks = (count: number) =>
    world.pool`update accounts set kpi_weeks = ${count} where account_id = ${account.id}`;
  await kpiWeeks(1);
  await importLines(
    world,
    account.id,
    [
      ...definitions,
      ...asked(yearBefore, ['yearly']),
      ...weeks.slice(0, -1).flatMap((week, i) => asked(week, i === 6 ? ['weekly', 'once'] : ['weekly'])),
    ],
    now,
  );
  await kpiWeeks(13);
  await importLines(world, account.id, [...definitions, ...asked(last, ['weekly', 'yearly'])], now);
});
afterAll(() => world?.close());

async function rowsOf(query: string): Promise<FeedRow[]> {
  const { status, body } = await world.request<string>('GET', `/v1/feed?format=ndjson&${query}`, {
    headers: { authorization: account.token },
  });
  expect(status).toBe(200);
  return body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FeedRow);
}

test('each row of the feed is the same in every window of weeks, whatever other rows are read with it', async () => {
  const whole = await rowsOf('');
  // The rows of KPIs are read in several batches.
  expect(whole.filter(({ metric }) => metric === 'kpi').length).toBeGreaterThan(batch);
  for (const [i, first] of weeks.entries()) {
    const end = i % 3 === 0 ? lastDay(first) : lastDay(last);
    const some = await rowsOf(`fromDate=${first}&toDate=${end}`);
    expect(some).toEqual(whole.filter(({ monday }) => monday >= first && monday <= end));
  }
  const ofLastWeek = whole.filter(({ monday }) => monday === last);
  const changeOf = (metric: string, id: string) =>
    ofLastWeek.find((row) => row.metric === metric && row.metricId === id)?.change;
  const questions = ofLastWeek.filter(({ metric }) => metric === 'question').map(({ change }) => change);
  expect(questions.every((change) => change !== null)).toBe(true);
  const mean = questions.reduce((sum: number, change) => sum + (change as number), 0) / questions.length;
  for (const id of copies) expect(changeOf('kpi', id)).toBeCloseTo(mean, 9);
  expect(ofLastWeek.find(({ metricId }) => metricId === 'once')?.rolling).not.toBeNull();
});

test('until the statistics of a week are computed, it is not known whether its changes are clear', async () => {
  const clear = async () =>
    (await rowsOf(`fromDate=${last}&toDate=${last}`))
      .filter(({ change }) => change !== null)
      .map(({ isClear }) => isClear);
  const before = await clear();
  expect(new Set(before.map((one) => typeof one))).toEqual(new Set(['boolean']));
  await world.pool`update weeks set statistics_at = null where account_id = ${account.id} and week = ${last}`;
  await world.pool`update accounts set version = version + 1 where account_id = ${account.id}`;
  expect(await clear()).toEqual(before.map(() => null));
});
