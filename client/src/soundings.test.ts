// The client reads what the interfaces return, reports every refusal in the same way, and never shows the token.
import { inspect } from 'node:util';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { openLog } from '@soundings/server/src/base/log.ts';
import { certificate } from '@soundings/server/src/mail/certificate.fixture.ts';
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
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SoundingsError } from './soundings-error.ts';
import { Soundings } from './soundings.ts';

let world: World;
let account: TestAccount;
let client: Soundings;
const clientWith = (token: string, more = {}) =>
  new Soundings({ url: world.address, token, backoffMs: 1, ...more });

const people = Array.from({ length: 12 }, (_, i) => `person ${i}`);
beforeAll(async () => {
  world = await openWorld(openLog('fatal'), {}, () => later);
  account = await world.account();
  client = clientWith(account.token);
  await apply(account, { groups: [unit('top'), unit('team', { parent: 'top' })] });
  await importLines(world, account.id, [
    question('mood', 1),
    question('lunch', 5, { options: [{ id: 'in', text: 'Inside' }] }),
    kpi('energy', ['mood']),
    round('2026-W46', 'top', ['mood', 'lunch'], Object.fromEntries(people.map((one) => [one, ['team']]))),
    ...people.flatMap((one) => [
      answerLine('2026-W46', 'top', one, 'mood', 4, `Said ${one}`),
      answerLine('2026-W46', 'top', one, 'lunch', 'in'),
    ]),
  ]);
});
afterAll(() => world.close());

const get = async <T>(path: string) =>
  (await world.request<T>('GET', path, { headers: { authorization: account.token } })).body;

/** Serves requests as a service, proxy or portal might. Returns its address. */
async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const errorOf = (call: Promise<unknown>): Promise<SoundingsError> =>
  call.then(
    () => Promise.reject(new Error('There was no error.')),
    (error: SoundingsError) => error,
  );

describe('the data interface', () => {
  test('is read with one form of weeks', async () => {
    const groups = await client.groups();
    expect(groups).toEqual(await get('/v1/groups'));
    const [top, team] = groups as unknown as [{ id: number }, { id: number }];
    expect(await client.groups({ kind: 'segment' })).toEqual([]);
    expect(await client.kpis()).toEqual([{ id: 'energy', name: 'energy' }]);

    const week = { week: '2026-W46', monday: '2026-11-09' };
    const filter = { group: top.id, subgroups: true };
    const values = await client.kpiValues('energy', filter);
    expect(values).toEqual([top, team].map(({ id }) => ({ groupId: id, ...week, value: 0.75 })));
    expect(await client.kpiValues('energy', { group: team.id })).toEqual([
      { groupId: team.id, ...week, value: 0.75 },
    ]);
    expect(await client.responseRates(filter)).toEqual(
      [top, team].map(({ id }) => ({ groupId: id, ...week, value: 1 })),
    );
    const empty = { ...filter, period: { from: '2026-10-01', to: '2026-10-02' } };
    expect(await client.responseRates(empty)).toEqual([]);

    const { questions, results } = await client.results({ ...filter, individual: true });
    const [mood, lunch] = questions as unknown as [{ id: number }, { id: number }];
    const [raw] = await get<{ values: Record<string, object>[] }[]>(
      `/v1/results?groupId=${top.id}&includeSubgroups=true&granularData=true`,
    );
    expect(results).toHaveLength(4);
    for (const { questionId, groupId, week: name, ...figures } of results) {
      expect(name).toBe('2026-W46');
      expect(raw?.values[0]?.[questionId]).toMatchObject({ [groupId]: { 2646: figures } });
    }
    expect(results[0]).toMatchObject({ questionId: mood.id, value: 0.75, individual: people.map(() => 4) });
    const one = await client.results({ ...filter, questions: [lunch.id] });
    expect(one.results.map(({ questionId }) => questionId)).toEqual([lunch.id, lunch.id]);
    // An empty list is not the same as no list.
    expect(await client.results({ ...filter, questions: [] })).toEqual({ questions: [], results: [] });

    const { comments } = await client.comments({ group: top.id });
    expect(comments).toEqual([
      { questionId: mood.id, groupId: top.id, week: '2026-W46', comments: expect.any(Array) },
    ]);
    expect(comments[0]?.comments.toSorted()).toEqual(people.map((person) => `Said ${person}`).toSorted());
    const { asked } = await client.askedQuestions({ group: team.id });
    expect(asked).toEqual([{ groupId: team.id, week: '2026-W46', questionIds: [mood.id, lunch.id] }]);
  });

  test('has the same values for a token with quoted numbers', async () => {
    const { token } = await createToken(world.pool, account.id, {
      name: 'old',
      scopes: ['data'],
      numbers: 'quoted',
    });
    const [top] = await client.groups();
    const read = (one: Soundings) => one.kpiValues('energy', { group: top!.id, subgroups: true });
    expect(await read(clientWith(token))).toEqual(await read(client));
  });
});

describe('files and the audit log', () => {
  test('an uploaded file is listed and processed, also one with a difficult name', async () => {
    const name = 'people & “groups” 1.csv';
    const content = 'EmployeeId,FirstName,LastName\nf1,Ada,Byron\n';
    expect(await client.files.upload(name, content)).toBe(name);
    expect(await client.files.list()).toEqual([name]);
    const report = await client.files.processed(name, { signal: AbortSignal.timeout(60_000) });
    expect(report).toMatchObject({ file: name, summary: { users: { created: 1 } } });
    const refused = await errorOf(client.files.upload('a.txt', new Blob(['x'])));
    expect([refused.status, refused.type]).toEqual([400, 'file validation']);
    expect((await errorOf(client.files.report('none.csv'))).status).toBe(404);
  });

  test('the audit log is read to its end, and later from there', async () => {
    const read = async (from?: { after: number; hash: string }) => {
      const records = [];
      for await (const record of client.audit(from)) records.push(record);
      return records;
    };
    const records = await read();
    expect(records.map(({ position }) => position)).toEqual(records.map((_, i) => i + 1));
    const last = records.at(-1)!;
    const position = { after: last.position, hash: last.hash };
    expect(await read(position)).toEqual([]);
    await createToken(world.pool, account.id, { name: 'another', scopes: ['data'] });
    expect((await read(position)).map(({ action }) => action)).toEqual(['token created']);
    const forged = await errorOf(read({ ...position, hash: '0'.repeat(64) }));
    expect([forged.status, forged.type]).toEqual([409, expect.any(String)]);
  });

  test('entries that don’t follow each other are an error, because one was removed', async () => {
    const records: object[] = [];
    for await (const record of client.audit()) records.push(record);
    const url = await serve((_, response) => {
      const kept = records.filter((__, i) => i !== 1);
      response.setHeader('content-type', 'application/x-ndjson');
      response.end(kept.map((record) => `${JSON.stringify(record)}\n`).join(''));
    });
    const read = async () => {
      for await (const _ of new Soundings({ url, token: 'snd_x' }).audit()) continue;
    };
    expect((await errorOf(read())).type).toBe('response changed');
  });
});

describe('an error', () => {
  test('says what is wrong, where, and which request it was', async () => {
    const error = await errorOf(client.kpiValues('none', { group: 1 }));
    expect(error).toBeInstanceOf(SoundingsError);
    const { type, status, title, detail, errors, requestId } = error;
    expect({ type, status, requestId }).toEqual({
      type: 'kpi not found',
      status: 404,
      requestId: expect.stringMatching(/^\S{10,}$/),
    });
    expect([title, detail].every((text) => text.length > 10)).toBe(true);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'SoundingsError',
      type,
      status,
      title,
      detail,
      errors,
      requestId,
    });
  });

  test('is the same for an invalid token in every interface', async () => {
    const wrong = clientWith(`${account.token.slice(0, -1)}${account.token.endsWith('a') ? 'b' : 'a'}`);
    const read = [
      () => wrong.groups(),
      () => wrong.organization.plan({}),
      () => wrong.files.list(),
      () => wrong.audit().next(),
    ];
    for (const one of read) expect((await errorOf(one())).type).toBe('invalid token');
    const narrow = clientWith(await account.tokenOf('data'));
    expect((await errorOf(narrow.files.list())).status).toBe(403);
  });

  test('of a proxy or portal is not mistaken for a response of the service', async () => {
    const page = await serve((_, response) => response.end('<html>Sign in to the Wi-Fi</html>'));
    const portal = new Soundings({ url: page, token: 'snd_x' });
    const read = [
      () => portal.groups(),
      () => portal.organization.plan({}),
      () => portal.feed().next(),
      () => portal.audit().next(),
    ];
    for (const one of read) expect((await errorOf(one())).type).toBe('unexpected response');
    const broken = await serve((_, response) => response.writeHead(500).end('<h1>nginx</h1>'));
    const error = await errorOf(new Soundings({ url: broken, token: 'snd_x' }).groups());
    expect([error.type, error.status]).toEqual(['unexpected response', 500]);
  });

  test('says why a service can’t be reached, and doesn’t try a certificate again that isn’t trusted', async ({
    skip,
  }) => {
    const { port } = new URL(await serve(() => {}));
    const nothing = new Soundings({ url: 'http://127.0.0.1:1', token: 'snd_x', retries: 0 });
    expect((await errorOf(nothing.groups())).title).toMatch(/^The service can’t be reached \(.+\)\. Check/);
    // A service that speaks no TLS is not reached either.
    const plain = new Soundings({ url: `https://127.0.0.1:${port}`, token: 'snd_x', retries: 0 });
    expect((await errorOf(plain.groups())).type).toBe('connection lost');
    let requests = 0;
    const own = await certificate({ name: 'DNS:localhost' });
    if (!own) return skip('SKIPPED: needs openssl (Debian: openssl)');
    const server = createSecureServer(own, () => requests++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port: securePort } = server.address() as AddressInfo;
    const error = await errorOf(
      new Soundings({ url: `https://localhost:${securePort}`, token: 'snd_x' }).groups(),
    );
    expect([error.type, requests]).toEqual(['untrusted certificate', 0]);
    expect(error.title).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('names the address of a redirect, and the token isn’t sent there', async () => {
    let requests = 0;
    const other = await serve((_, response) => {
      requests++;
      response.end('[]');
    });
    const url = await serve((_, response) =>
      response.writeHead(308, { location: `${other}/v1/groups` }).end(),
    );
    const error = await errorOf(new Soundings({ url, token: 'snd_x' }).groups());
    expect([error.type, error.title.includes(other), requests]).toEqual(['redirected', true, 0]);
  });
});

describe('requests are sent again', () => {
  test('after the throttle of the service has refused them, as late as it asks', async () => {
    // A minute of the service's clock ends soon, and with it the wait.
    const ahead = 58_000 - (Date.now() % 60_000);
    const throttled = await openWorld(openLog('fatal'), { rateLimit: 10 }, () => Date.now() + ahead);
    onTestFinished(() => throttled.close());
    const { token } = await throttled.account();
    const refused: { at: number; seconds: number }[] = [];
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const seconds = Number(response.headers.get('retry-after'));
      if (response.status === 429) refused.push({ at: performance.now(), seconds });
      return response;
    };
    const many = new Soundings({ url: throttled.address, token, fetch: noting, backoffMs: 1 });
    for (let i = 0; refused.length === 0 && i < 1000; i++) expect(await many.groups()).toEqual([]);
    const [{ at, seconds }] = refused as [{ at: number; seconds: number }];
    expect(seconds).toBeGreaterThan(0);
    expect(performance.now() - at).toBeGreaterThanOrEqual(1000 * seconds - 50);
    // A caller who wants to decide gets the error, with the time.
    const impatient = new Soundings({ url: throttled.address, token, retries: 0 });
    const error = await errorOf(Promise.all(Array.from({ length: 30 }, () => impatient.groups())));
    expect([error.status, error.type, error.retryAfterMs! >= 1000]).toEqual([429, 'too many requests', true]);
  });

  test.each([
    ['in seconds', () => '1'],
    ['as a date', () => new Date(Date.now() + 2000).toUTCString()],
  ])('after 503, when Retry-After asks for it %s', async (_, header) => {
    const at: number[] = [];
    const url = await serve((__, response) => {
      at.push(performance.now());
      if (at.length === 1) response.writeHead(503, { 'retry-after': header() }).end();
      else response.end('[]');
    });
    expect(await new Soundings({ url, token: 'snd_x', backoffMs: 1 }).groups()).toEqual([]);
    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThan(900);
  });

  test('only as often as `retries` says, and not if the service asks for a wait of hours', async () => {
    let requests = 0;
    const url = await serve((request, response) => {
      requests++;
      const headers =
        request.headers.authorization === 'hours' ? { 'retry-after': '7200' } : { 'retry-after': '0' };
      response.writeHead(503, headers).end();
    });
    await errorOf(new Soundings({ url, token: 'x', retries: 2, backoffMs: 1 }).groups());
    expect(requests).toBe(3);
    const error = await errorOf(new Soundings({ url, token: 'hours' }).groups());
    expect([requests, error.retryAfterMs]).toEqual([4, 7_200_000]);
  });

  test('after a lost connection, except for an upload: the service may be processing it', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(request.method ?? '');
      request.resume().once('end', () => response.destroy());
    });
    const lost = new Soundings({ url, token: 'snd_x', retries: 3, backoffMs: 1 });
    expect((await errorOf(lost.groups())).type).toBe('connection lost');
    expect(seen.splice(0)).toEqual(['GET', 'GET', 'GET', 'GET']);
    expect((await errorOf(lost.organization.plan({}))).type).toBe('connection lost');
    expect(seen.splice(0)).toEqual(['POST', 'POST', 'POST', 'POST']);
    expect((await errorOf(lost.files.upload('a.csv', 'a'))).type).toBe('connection lost');
    expect(seen).toEqual(['POST']);
  });

  test('after 503, except for an upload: the service may have stored it before it lost its database', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(request.method ?? '');
      request.resume().once('end', () => response.writeHead(503, { 'retry-after': '0' }).end());
    });
    const lost = new Soundings({ url, token: 'snd_x', retries: 1, backoffMs: 1 });
    expect((await errorOf(lost.organization.plan({}))).status).toBe(503);
    expect(seen.splice(0)).toEqual(['POST', 'POST']);
    expect(await errorOf(lost.files.upload('a.csv', 'a'))).toMatchObject({ status: 503, retryAfterMs: 0 });
    expect(seen).toEqual(['POST']);
  });

  test('not after the caller has aborted, also while it waits', async () => {
    let requests = 0;
    const controller = new AbortController();
    const url = await serve((_, response) => {
      requests++;
      response.writeHead(503, { 'retry-after': '60' }).end();
      controller.abort(new Error('enough'));
    });
    const waiting = new Soundings({ url, token: 'snd_x' });
    await expect(waiting.groups({ signal: controller.signal })).rejects.toThrow('enough');
    await expect(waiting.groups({ signal: controller.signal })).rejects.toThrow('enough');
    expect(requests).toBe(1);
  });

  test('after the service has sent nothing for the time limit, in the middle of a response as well', async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      if (++requests === 1) return; // never responds
      response.write('[');
      if (requests > 2) response.end(']');
    });
    const limited = new Soundings({ url, token: 'snd_x', timeoutMs: 300, backoffMs: 1 });
    expect(await limited.groups()).toEqual([]);
    expect(requests).toBe(3);
    const error = await errorOf(
      new Soundings({ url: await serve(() => {}), token: 'x', timeoutMs: 50, retries: 0 }).groups(),
    );
    expect([error.type, error.title]).toEqual(['timed out', 'The service sent nothing for 0.05 s.']);
  });
});

describe('the token', () => {
  test('is in nothing that is logged, serialized or thrown', async () => {
    const token = `${'snd_'}secret`;
    const url = await serve((request, response) => request.socket.destroy(response as never));
    const secret = new Soundings({ url, token, retries: 0 });
    const lost = await errorOf(secret.groups());
    const feed = secret.feed();
    const shown = [secret, secret.organization, secret.files, feed, lost].flatMap((one) => [
      inspect(one, { depth: 20, showHidden: true }),
      JSON.stringify(one),
      String(one),
      ...Object.keys(one),
    ]);
    expect(shown.filter((text) => text.includes('secret'))).toEqual([]);
    expect(inspect(secret)).toBe(`Soundings { url: '${url}' }`);
    expect(structuredClone({ ...secret.toJSON() })).toEqual({ url });
  });

  test('with characters that no header can have is refused without being repeated', () => {
    for (const token of ['', 'snd_geheim\n', 'snd_geheim é', 'snd geheim'])
      expect(() => new Soundings({ url: 'https://example.com', token })).toThrow(/^(?!.*geheim).*The token/s);
  });

  test('is sent only over HTTPS, or to this machine, unless that is allowed', () => {
    const open = (url: string, more = {}) => new Soundings({ url, token: 'snd_x', ...more });
    for (const url of [
      'https://s.example.com',
      'http://localhost:8080/',
      'http://127.0.0.1',
      'http://[::1]:1',
    ])
      expect(open(url)).toBeInstanceOf(Soundings);
    expect(() => open('http://s.example.com')).toThrow('must begin with https:');
    expect(() => open('http://127.0.0.1.example.com')).toThrow('must begin with https:');
    expect(() => open('ftp://localhost')).toThrow('must begin with https:');
    expect(() => open('https://user:pass@s.example.com')).toThrow(/^(?!.*pass@).*user name or password/s);
    expect(() => open('s.example.com')).toThrow('must be an address');
    expect(open('http://s.example.com', { allowHttp: true })).toBeInstanceOf(Soundings);
  });
});
