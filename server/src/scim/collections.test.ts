// Microsoft's two Postman collections for SCIM endpoints, with their own scripts: every request and every assertion.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { sharedData } from '../testing/shared.ts';
import { openDirectory, type TestDirectory, userOf, useService, world } from './scim.fixture.ts';

const folder = sharedData('scim');
const skipped = folder ? '' : ' (skipped: ../shared/data/scim is absent)';

useService();

type Event = { listen: string; script: { exec?: string[] } };
type Item = {
  name: string;
  item?: Item[];
  event?: Event[];
  request: {
    method: string;
    url: string | { raw: string };
    body?: { raw?: string };
    header?: { key: string; value: string }[];
  };
};

const requestsIn = (items: Item[]): Item[] =>
  items.flatMap((one) => (one.item ? requestsIn(one.item) : [one]));
const collectionOf = (file: string): Item[] =>
  requestsIn((JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { item: Item[] }).item);

/** Values that Postman invents. Those that are not texts are chosen to be what it would choose, usable or not. */
const invented: Record<string, () => string> = {
  $guid: randomUUID,
  $isoTimestamp: () => new Date().toISOString(),
  $randomFirstName: () => `Given${randomUUID().slice(0, 8)}`,
  $randomLastName: () => `Family${randomUUID().slice(0, 4)}`,
  $randomCountryCode: () => 'SE',
  $randomJobTitle: () => 'Senior Engineer',
  $randomPhoneNumber: () => '555-012-3456',
};

/** Runs the requests in order, with their scripts, and returns how many there were. */
async function run(items: Item[], directory: TestDirectory, variables: Map<string, string>): Promise<number> {
  const fill = (text: string) =>
    text.replace(
      /\{\{([^}]+)\}\}/g,
      (whole, name: string) => invented[name]?.() ?? variables.get(name) ?? whole,
    );
  let passed = 0;
  for (const item of items) {
    let response = { status: 0, text: '' };
    const asserted: string[] = [];
    const scripts = (listen: string) => {
      const code = (item.event ?? [])
        .filter((one) => one.listen === listen)
        .flatMap(({ script }) => script.exec ?? []);
      runInNewContext(
        code.join('\n'),
        shimOf(variables, fill, () => response, asserted),
      );
    };
    scripts('prerequest');
    response = await answerTo(item, directory, fill);
    expect({ name: item.name, ...response }).not.toMatchObject({ status: 500 });
    scripts('test');
    const isFine = asserted.includes('status') || response.status < 300;
    expect(isFine, `${item.name}: ${response.status} ${response.text}`).toBe(true);
    passed++;
  }
  return passed;
}

/** Sends a request. Tokens are created in the console, so the two requests for one get that of the directory. */
async function answerTo({ request }: Item, { token }: TestDirectory, fill: (text: string) => string) {
  const raw = typeof request.url === 'string' ? request.url : request.url.raw;
  if (/\/Token$|login\.microsoftonline\.com/.test(raw))
    return { status: 200, text: JSON.stringify({ token }) };
  const path = raw
    .replace('{{Protocol}}://{{Server}}{{Port}}/{{Api}}', '')
    .replace('https://{{Server}}{{Port}}/{{Api}}', '')
    .replace('https://{{endpoint}}/scim', '');
  const body = request.body?.raw ? fill(request.body.raw) : undefined;
  const response = await fetch(`${world.address}/scim/v2${fill(path)}`, {
    method: request.method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body }),
  });
  return { status: response.status, text: await response.text() };
}

/** The parts of Postman that the scripts use. */
function shimOf(
  variables: Map<string, string>,
  fill: (text: string) => string,
  response: () => { status: number; text: string },
  asserted: string[],
) {
  const store = {
    get: (name: string) => variables.get(name),
    set: (name: string, value: string) => void variables.set(name, value),
  };
  const expectOf = (value: unknown) => ({
    to: {
      eql: (wanted: unknown) => expect(JSON.stringify(value)).toBe(JSON.stringify(wanted)),
      include: (wanted: string) => expect(value).toContain(wanted),
      not: { include: (wanted: string) => expect(value).not.toContain(wanted) },
    },
  });
  const status = (wanted: number) => {
    asserted.push('status');
    expect({ status: response().status, text: response().text }).toMatchObject({ status: wanted });
  };
  return {
    console: { log: () => {} },
    responseBody: response().text,
    postman: { setEnvironmentVariable: store.set },
    pm: {
      environment: store,
      collectionVariables: store,
      variables: { ...store, replaceIn: fill },
      test: (_name: string, check: () => void) => check(),
      expect: expectOf,
      response: {
        get code() {
          return response().status;
        },
        json: () => JSON.parse(response().text) as unknown,
        text: () => response().text,
        to: { have: { status } },
      },
    },
  };
}

describe.skipIf(!folder)(`Microsoft's collections (../shared/data/scim)${skipped}`, () => {
  test('all 79 requests of the reference collection pass', async () => {
    const items = collectionOf('microsoft-scim-reference.postman.json');
    expect(await run(items, await openDirectory(), new Map())).toBe(79);
  });

  test('all 17 requests of the collection for provisioning into Entra ID pass', async () => {
    const directory = await openDirectory();
    // Two of its requests are about a user of the other collection.
    const id1 = await directory.create('Users', userOf('first'));
    const items = collectionOf('microsoft-scim-inbound.postman.json');
    expect(await run(items, directory, new Map([['id1', id1]]))).toBe(17);
  });

  test('what they leave is applied without a refused run', async () => {
    const directory = await openDirectory();
    const items = collectionOf('microsoft-scim-reference.postman.json').filter(
      ({ request }) => request.method === 'POST',
    );
    for (const item of items) await answerTo(item, directory, (text) => text);
    await directory.apply();
    const runs =
      await world.pool`select outcome from runs where account_id = ${directory.account.id} and source = 'scim'`;
    expect([...runs]).toEqual([{ outcome: 'applied' }]);
  });
});
