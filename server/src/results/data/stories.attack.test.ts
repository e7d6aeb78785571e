// Every response of the data interface is that of one state of the account, also while the account changes, and each of its figures is the
// one that an independent oracle computes (testing/oracle). STORIES=50 tries more random stories, from the one that is named by SEED.
import { setTimeout as delay } from 'node:timers/promises';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type App, startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import { randomFrom } from '../../simulation/random.ts';
import { caseCount } from '../../testing/house/cases.ts';
import type { AccountState, DataRequest } from '../../testing/oracle/account-state.ts';
import { linesOfFeed, tenDigits } from '../../testing/oracle/feed.ts';
import { type Expected, expectedResponse } from '../../testing/oracle/responses.ts';
import { passThrough } from '../../testing/processes/pass-through.ts';
import { beginStory, nextChange } from '../../testing/stories/changes.ts';
import { addressOf, anyRequest } from '../../testing/stories/requests.ts';
import { newStory, stateOf } from '../../testing/stories/story.ts';
import { later } from '../../testing/surveys.ts';
import { openWorld, testConfig, type TestAccount, type World } from '../../testing/world.ts';

const today = '2026-11-21';
const changes = 20;
const [stories, firstSeed] = [caseCount('STORIES', 4), Number(process.env['SEED'] ?? 1)];

let world: World;
/** Another process of the service, whose database responds slowly: changes are made in the middle of its responses. */
let slow: App;
let connection: Awaited<ReturnType<typeof passThrough>>;
beforeAll(async () => {
  world = await openWorld(openLog('error'), { role: 'web' }, () => later);
  connection = await passThrough(world.databaseUrl, (client, upstream) => {
    passSlowly(client, upstream);
    passSlowly(upstream, client);
  });
  const config = { ...testConfig, answerKeys: world.keyPlace, role: 'web' as const };
  const url = Promise.resolve(connection.url);
  slow = await startApp(
    config,
    url,
    openLog('error'),
    () => later,
    async () => later,
  );
  await slow.started;
});
afterAll(async () => {
  await slow?.stop(5);
  connection?.close();
  await world?.close();
});

/** Delays messages by up to 15 ms. */
function passSlowly(from: Socket, to: Socket): void {
  let last: Promise<unknown> = Promise.resolve();
  from.on('data', (bytes) => {
    const delayed = delay(Math.random() * 15);
    last = last.then(() => delayed).then(() => to.write(bytes));
  });
}

/** `from` and `to`: the states in which the account was between request and response. */
type Received = { request: DataRequest; response: Expected; from: number; to: number };

async function receive({ token }: TestAccount, address: string, request: DataRequest): Promise<Expected> {
  const response = await fetch(address + addressOf(request), { headers: { authorization: token } });
  const [{ status }, text] = [response, await response.text()];
  if (status === 404) return { status };
  if (status !== 200) throw new Error(`${status} of ${addressOf(request)}: ${text}`);
  const isFeed = request.endpoint === 'feed';
  return { status, body: isFeed ? linesOfFeed(text, request.format) : (JSON.parse(text) as unknown) };
}

/** Returns the same response if only the order of comments, lines and keys or the last digits of numbers differ. */
const canonical = (response: Expected): string =>
  JSON.stringify(response, (_, one: unknown) => {
    if (typeof one === 'number') return tenDigits(one);
    if (Array.isArray(one)) return one.every((item) => typeof item === 'string') ? one.toSorted() : one;
    if (one === null || typeof one !== 'object') return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

function expectOneState(
  states: AccountState[],
  { request, response, from, to }: Received,
  number: number,
): void {
  const possible = states.slice(from, to + 1);
  const wanted = possible.map((state) => canonical(expectedResponse(state, request, today)));
  if (wanted.includes(canonical(response))) return;
  const labels = possible.map(({ label }) => label).join(' → ');
  const parsed = [canonical(response), ...wanted].map((one) => JSON.parse(one) as unknown);
  expect(parsed[0], `Response ${number}, ${addressOf(request)}, in ${labels}`).toEqual(parsed.at(-1));
}

test.each(Array.from({ length: stories }, (_, i) => firstSeed + i))(
  'story %i',
  async (seed) => {
    const story = newStory(world, await world.account(), randomFrom(seed, 'story'));
    await beginStory(story);
    const states = [stateOf(story, 'the beginning')];
    let [isChanging, isOver] = [false, false];
    const all: Received[] = [];
    const random = randomFrom(seed, 'requests');
    const read = async () => {
      const request = anyRequest(random, random.oneOf(states.slice(-4)));
      const from = states.length - 1;
      const response = await receive(story.account, random.oneOf([world, slow, slow, slow]).address, request);
      all.push({ request, response, from, to: isChanging ? states.length : states.length - 1 });
    };
    const reading = Array.from({ length: 6 }, async () => {
      while (!isOver) await read();
    });
    try {
      for (let i = 0; i < changes; i++) {
        const { label, run } = nextChange(story);
        isChanging = true;
        await run();
        states.push(stateOf(story, label));
        isChanging = false;
        for (let responses = random.oneOf([0, 1, 4]); responses > 0; responses--) await read();
      }
    } finally {
      isOver = true;
      await Promise.all(reading);
    }
    for (const [i, one] of all.entries()) expectOneState(states, one, i + 1);
    expect(all.filter(({ from, to }) => from < to).length).toBeGreaterThan(changes / 2);
  },
  60_000,
);
