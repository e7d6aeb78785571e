// A response of the feed shows one moment, however slowly it is read: a publication, a new name or a removed group in the middle of it
// changes nothing.
import { addWeeks, type Week, weekName } from '@soundings/contract/weeks.ts';
import { feedMetrics, type FeedRow } from '@soundings/contract/feed-rows.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPrimary } from '../../db/replica/reads.ts';
import { openPool, type Pool } from '../../db/db.ts';
import { openKnownNames } from '../responses/known-names.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { computeStatistics } from '../statistics/statistics.ts';
import { feedResponse } from './feed.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const published: Week[] = Array.from({ length: 8 }, (_, i) => addWeeks('2026-11-02', i - 7));
const people = Array.from({ length: 8 }, (_, i) => `p${i}`);
/** Enough for the rows of one metric to be several chunks. */
const copies = Array.from({ length: 200 }, (_, i) => `copy-${i}`);
const tree = ['company', 'north', 'south'].map((id, i) => unit(id, i === 0 ? {} : { parent: 'company' }));

let world: World;
let reads: Pool;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
  reads = openPool(world.databaseUrl, 6);
});
afterAll(async () => {
  await reads?.end();
  await world?.close();
});

const asked = (week: Week, keys: string[]) => [
  round(
    weekName(week),
    'company',
    keys,
    Object.fromEntries(people.map((id, i) => [id, [i < 4 ? 'north' : 'south']])),
  ),
  ...people.flatMap((id, i) =>
    keys.map((key) => answerLine(weekName(week), 'company', id, key, 1 + ((i + Number(week.at(-1))) % 5))),
  ),
];

async function openCompany(): Promise<TestAccount> {
  const account = await world.account();
  await apply(account, { groups: tree });
  const lines = [
    ...['mood', 'tools'].map((key) => question(key, 1)),
    ...copies.map((id) => kpi(id, ['mood', 'tools'])),
    ...published.flatMap((week) => asked(week, ['mood', 'tools'])),
  ];
  await importLines(world, account.id, lines, now);
  await computeStatistics(world.pool, account.id);
  return account;
}

/** Publishes a week with a new KPI and a new question, changes names, and removes a group. */
async function change(account: TestAccount): Promise<void> {
  const definitions = [
    ...['mood', 'new'].map((key) => question(key, 1, { text: `${key}, renamed` })),
    kpi('copy-0', ['new']),
    kpi('new', ['new']),
  ];
  await importLines(world, account.id, [...definitions, ...asked('2026-11-09', ['mood', 'new'])], now);
  await computeStatistics(world.pool, account.id);
  await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'south') });
}

async function begin(account: TestAccount): Promise<AsyncIterator<string | Uint8Array>> {
  const [row] = await world.pool<{ version: string }[]>`
    select version::text as version from accounts where account_id = ${account.id}`;
  const accountId = account.id;
  const version = row!.version;
  const reading = readPrimary({ pool: world.pool, reads }).of({ accountId, version });
  const names = openKnownNames();
  const reader = {
    accountId,
    version,
    numbers: 'plain',
    timezone: 'UTC',
    onDamage: () => {},
    names,
  } as const;
  const query = { groupId: undefined, window: undefined, kind: undefined, now };
  const wanted = { metrics: feedMetrics, format: 'ndjson', language: undefined } as const;
  const response = feedResponse(reading, reader, query, wanted);
  return response.chunks()[Symbol.asyncIterator]();
}

/** Returns the rest of a response. */
async function restOf(chunks: AsyncIterator<string | Uint8Array>): Promise<string> {
  let text = '';
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) text += next.value as string;
  return text;
}

const wholeOf = async (account: TestAccount) => restOf(await begin(account));

test('a feed that is read slowly shows the moment of its first chunk, and not a publication in the middle of it', async () => {
  const chunksOf = async (account: TestAccount) => {
    const chunks = await begin(account);
    let count = 0;
    while (!(await chunks.next()).done) count++;
    return count;
  };
  const count = await chunksOf(await openCompany());
  expect(count).toBeGreaterThan(3);
  for (let read = 0; read < count; read++) {
    const account = await openCompany();
    const before = await wholeOf(account);
    const chunks = await begin(account);
    let text = '';
    for (let i = 0; i < read; i++) text += (await chunks.next()).value as string;
    await change(account);
    text += await restOf(chunks);
    const after = await wholeOf(account);
    expect(after).not.toBe(before);
    // Not compared as texts: they are long.
    expect([read, text === before, text === after]).toEqual([read, read > 0, read === 0]);
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as FeedRow);
    expect(rows.filter(({ metricName }) => metricName === '')).toEqual([]);
  }
});

test('a feed that is not read to its end leaves its connection to the next one', async () => {
  const account = await openCompany();
  const whole = await wholeOf(account);
  for (let i = 0; i < 10; i++) {
    const chunks = await begin(account);
    await chunks.next();
    await chunks.return?.();
  }
  await sleep(0);
  expect(await wholeOf(account)).toBe(whole);
});
