// The feed through broken connections: each row once and in order, or an error, and never rows of two states.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { cases } from '@soundings/server/src/testing/house/cases.ts';
import { apply, unit } from '@soundings/server/src/testing/organizations.ts';
import {
  answerLine,
  importLines,
  kpi,
  later,
  question,
  round,
} from '@soundings/server/src/testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '@soundings/server/src/testing/world.ts';
import { openLog } from '@soundings/server/src/base/log.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cut, cuttingProxy, type CuttingProxy } from './cutting-proxy.fixture.ts';
import { SoundingsError } from './soundings-error.ts';
import { Soundings } from './soundings.ts';
import type { FeedRow } from './survey-data.ts';

let world: World;
let account: TestAccount;
let proxy: CuttingProxy;
let whole: FeedRow[];

const groups = Array.from({ length: 40 }, (_, i) => `team ${i}`);
const weeks = ['2026-W41', '2026-W42', '2026-W43', '2026-W44', '2026-W45', '2026-W46'];
// Long random names, which compression can't shorten, so that a response has many packets.
const named = (id: string, more = {}) => unit(id, { name: randomBytes(150).toString('base64'), ...more });

beforeAll(async () => {
  world = await openWorld(openLog('fatal'), {}, () => later);
  account = await world.account();
  await apply(account, { groups: [named('top'), ...groups.map((id) => named(id, { parent: 'top' }))] });
  const people = Object.fromEntries(groups.map((id, i) => [`person ${i}`, [id]]));
  await importLines(world, account.id, [
    question('mood', 1),
    question('tens', 2),
    kpi('energy', ['mood', 'tens']),
    ...weeks.map((week) => round(week, 'top', ['mood', 'tens'], people)),
    ...weeks.flatMap((week) => Object.keys(people).map((one) => answerLine(week, 'top', one, 'mood', 4))),
  ]);
  const response = await fetch(`${world.address}/v1/feed?format=ndjson`, {
    headers: { authorization: account.token },
  });
  whole = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FeedRow);
  proxy = await cuttingProxy(() => world.address);
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

const ofRows = { 'content-type': 'application/x-ndjson', etag: '"1"' };

/** A client whose connections go through the proxy. Each request has its own. `encoding`: how responses are compressed. */
const clientOf = (retries: number, encoding = 'identity') =>
  new Soundings({
    url: proxy.address,
    token: account.token,
    retries,
    backoffMs: 1,
    fetch: (input, init) =>
      fetch(input, {
        ...init,
        headers: { ...(init?.headers as object), connection: 'close', 'accept-encoding': encoding },
      }),
  });

async function collected<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const anyCut = fc.oneof(
  fc.record({ bytes: fc.integer({ min: 1, max: 900_000 }), how: fc.constantFrom('reset', 'close') }),
  fc.record({ bytes: fc.integer({ min: 1, max: 3000 }), how: fc.constantFrom('reset', 'close') }),
) as fc.Arbitrary<NonNullable<Cut>>;

describe('the feed', () => {
  test('has each row once and in order, wherever its connections break', async () => {
    expect(whole.length).toBeGreaterThan(900);
    const lost = { cuts: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCut, { maxLength: 8 }),
        fc.constantFrom('identity', 'gzip'),
        async (cuts, encoding) => {
          proxy.cuts.splice(0, Infinity, ...cuts);
          const before = proxy.connections();
          expect(await collected(clientOf(8, encoding).feed())).toEqual(whole);
          lost.cuts += proxy.connections() - before - 1;
        },
      ),
      cases(100),
    );
    expect(lost.cuts).toBeGreaterThan(10);
  });

  test('counts the attempts from the beginning when there are new rows, and otherwise gives up', async () => {
    const rows = whole.slice(0, 12);
    let attempts = 0;
    /** Each response ends after some rows, by an error. */
    const breaking = (rowsOf: (attempt: number) => number) =>
      new Soundings({
        url: 'http://localhost',
        token: 'snd_x',
        retries: 1,
        backoffMs: 1,
        fetch: async () => {
          const lines = rows.slice(0, rowsOf(++attempts)).map((row) => `${JSON.stringify(row)}\n`);
          const body = new ReadableStream({
            pull(controller) {
              const line = lines.shift();
              if (line !== undefined) controller.enqueue(new TextEncoder().encode(line));
              else if (attempts > rows.length) controller.close();
              else controller.error(new TypeError('terminated'));
            },
          });
          return new Response(body, { headers: ofRows });
        },
      });
    expect(await collected(breaking((attempt) => attempt).feed())).toEqual(rows);
    expect(attempts).toBe(rows.length + 1);

    attempts = 0;
    const seen: FeedRow[] = [];
    const reading = (async () => {
      for await (const row of breaking(() => 5).feed()) seen.push(row);
    })();
    await expect(reading).rejects.toMatchObject({ type: 'connection lost', status: undefined });
    expect([attempts, seen]).toEqual([2, rows.slice(0, 5)]);
  });

  test('ends with an error if the data changes before it can go on, so that it never mixes two states', async () => {
    proxy.cuts.splice(0, Infinity, { bytes: 100_000, how: 'reset' });
    const seen: FeedRow[] = [];
    const reading = (async () => {
      for await (const row of clientOf(3).feed()) {
        if (seen.length === 0)
          await importLines(world, account.id, [question(`later ${proxy.connections()}`, 1)]);
        seen.push(row);
      }
    })();
    await expect(reading).rejects.toMatchObject({ type: 'response changed' });
    expect(seen).toEqual(whole.slice(0, seen.length));
  });

  test('streams: the first row is there long before the last, and leaving early ends the connection', async () => {
    const chunks: number[] = [];
    let isCancelled = false;
    const slow = new Soundings({
      url: 'http://localhost',
      token: 'snd_x',
      fetch: async () => {
        const line = `${JSON.stringify(whole[0])}\n`;
        const body = new ReadableStream({
          pull(controller) {
            chunks.push(line.length);
            controller.enqueue(new TextEncoder().encode(line));
          },
          cancel: () => void (isCancelled = true),
        });
        return new Response(body, { headers: ofRows });
      },
    });
    let count = 0;
    for await (const row of slow.feed()) {
      expect(row).toEqual(whole[0]);
      if (++count === 1000) break;
    }
    // Without an end, and never more than a few rows ahead of the reader.
    expect([chunks.length <= 1005, isCancelled]).toEqual([true, true]);
  });

  test('ends with the reason of a signal, in the middle of its rows', async () => {
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _ of clientOf(3).feed({}, { signal: controller.signal }))
        controller.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
  });

  test('has only what the filter names', async () => {
    const client = clientOf(0);
    const filtered = await collected(
      client.feed({
        metrics: ['kpi'],
        group: whole[0]!.groupId,
        period: { from: '2026-11-02', to: '2026-11-08' },
      }),
    );
    expect(filtered).toEqual(whole.filter(({ metric, week }) => metric === 'kpi' && week === '2026-W45'));
    expect(filtered.length).toBeGreaterThan(10);
    expect(await collected(client.feed({ metrics: [] }))).toEqual([]);
    await expect(collected(client.feed({ group: 999_999 }))).rejects.toThrow(SoundingsError);
  });
});
