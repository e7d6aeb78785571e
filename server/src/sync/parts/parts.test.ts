// Pushes in parts over HTTP: what each step guarantees, and what attackers and interrupted clients can't do. That the result is that of one
// request is in parts.properties.test.ts.
import { maxPartEntries, maxPartNumber, runRetentionDays } from '@soundings/contract/limits.ts';
import { Push, PushChanges } from '@soundings/contract/people/push-parts.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { gzipSync } from 'node:zlib';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { rowsOf } from '../../testing/organizations.ts';
import { until } from '../../testing/until.ts';
import type { JsonResponse, TestAccount } from '../../testing/world.ts';
import { list, refused, runOf, settings, useService, userIds, world } from '../organization.fixture.ts';
import { deleteAbandonedPushes, readPush } from './parts.ts';
import { deletePushRow } from './parts.sql.ts';
import { deleteOldRuns, showProcessing, updateLostRuns } from '../runs.sql.ts';

useService();

const pushCheck = Compile(Push);
const changesCheck = Compile(PushChanges);

type Body = Push & PushChanges & Problem & { part: number };

/** Sends a request about pushes. `path`: after /v1/organization/pushes. */
async function send(
  { token }: Pick<TestAccount, 'token'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<JsonResponse<Body>> {
  const bytes = body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
  return world.request<Body>(method, `/v1/organization/pushes${path}`, {
    headers: {
      authorization: token,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: bytes as string }),
  });
}

async function open(account: TestAccount): Promise<string> {
  const { status, body } = await send(account, 'POST', '');
  expect([status, body.state]).toEqual([201, 'open']);
  expect([...pushCheck.Errors(body)]).toEqual([]);
  return body.id;
}

const put = (account: TestAccount, id: string, part: number, data: object) =>
  send(account, 'PUT', `/${id}/parts/${part}`, { data });

/** Commits a push and returns its state when the run has ended. */
async function commit(
  account: TestAccount,
  id: string,
  parts: number,
  more: object = settings,
): Promise<Push> {
  const { status, body } = await send(account, 'POST', `/${id}/commit`, { parts, settings: more });
  expect([status, body.message]).toEqual([202, undefined]);
  return until(async () => {
    const { body: push } = await send(account, 'GET', `/${id}`);
    expect([...pushCheck.Errors(push)]).toEqual([]);
    return push.state !== 'processing' && push;
  });
}

/** Returns the last id that was reserved for a user, in any account. */
async function lastUserId(): Promise<number> {
  const [row] = await world.pool<{ id: number }[]>`
    select last_value::integer as "id" from users_user_id_seq`;
  return row!.id;
}

const person = (externalId: string, more: object = {}) => ({
  externalId,
  firstName: 'Eva',
  lastName: 'Ek',
  ...more,
});
const people = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => person(`p${from + i}`));
const group = (externalId: string, parent: string | null = null) => ({
  externalId,
  name: externalId,
  parent,
});
const nothing = { validateOnly: true };
const typesOf = ({ body }: JsonResponse<Body>) => body.details.map(({ type }) => type);

/** Sends three parts: two groups, and two times two people. */
async function openThree(account: TestAccount): Promise<string> {
  const id = await open(account);
  // In another order than their numbers, and one of them twice.
  await put(account, id, 3, { users: [person('c', { accessInfo: { memberOf: ['north'] } }), person('d')] });
  await put(account, id, 1, { groups: [group('all'), group('north', 'all')] });
  for (let i = 0; i < 2; i++) {
    const { status, body } = await put(account, id, 2, { users: [person('a'), person('b')] });
    expect([status, body]).toEqual([200, { part: 2, users: 2, groups: null, warnings: [] }]);
  }
  return id;
}

describe('a push in parts', () => {
  test('is a dry run first, and then makes exactly the changes that the dry run has shown', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const before = await rowsOf(world.pool, account.id);
    const dry = await commit(account, id, 3, {});
    expect(dry).toMatchObject({ state: 'open', parts: [1, 2, 3], users: 4, groups: 2 });
    expect(dry.run).toMatchObject({ outcome: 'validated', validateOnly: true, warnings: [] });
    expect(dry.run?.summary).toEqual({
      users: { created: 4, updated: 0, deleted: 0, unchanged: 0 },
      groups: { created: 2, updated: 0, deleted: 0, unchanged: 0 },
    });
    expect((await rowsOf(world.pool, account.id)).slice(0, 1)).toEqual(before.slice(0, 1));
    expect(await userIds(account)).toEqual([]);

    const expectedPlan = dry.run?.plan;
    const applied = await commit(account, id, 3, { ...settings, expectedPlan });
    expect(applied).toMatchObject({
      state: 'applied',
      parts: [],
      run: { outcome: 'applied', plan: expectedPlan },
    });
    expect(await userIds(account)).toEqual(['a', 'b', 'c', 'd']);
    const { body } = await send(account, 'GET', `/${id}/changes`);
    expect([...changesCheck.Errors(body)]).toEqual([]);
    expect(body.changes.map(({ externalId }) => externalId)).toEqual(['all', 'north', 'a', 'b', 'c', 'd']);
    expect(body.next).toBeNull();
    expect(await runOf(account, applied.run?.id as string)).toMatchObject({
      source: 'api',
      outcome: 'applied',
    });
    const audit =
      await world.pool`select action from audit_entries where account_id = ${account.id} and action like 'run %'`;
    expect(audit.map(({ action }) => action as string)).toEqual(['run applied']);
  });

  test('is the master: people that no part lists are removed, and without a list of users people stay', async () => {
    const account = await world.account();
    await commit(account, await openThree(account), 3);
    const only = await open(account);
    await put(account, only, 1, { groups: [group('all')] });
    expect((await commit(account, only, 1)).run?.summary?.users.deleted).toBe(0);
    const fewer = await open(account);
    await put(account, fewer, 1, { users: [person('d')] });
    await put(account, fewer, 2, { users: [person('a')] });
    expect((await commit(account, fewer, 2)).run?.summary?.users).toMatchObject({ deleted: 2, unchanged: 2 });
    expect(await userIds(account)).toEqual(['a', 'd']);
  });

  test('is limited as a whole, by the settings and by what the operator allows', async () => {
    const account = await world.account();
    const id = await open(account);
    for (const part of [1, 2, 3]) await put(account, id, part, { users: people(part * 100, 100) });
    const before = await lastUserId();
    await commit(account, id, 3, { validateOnly: true, maxUsersCreated: 300 });
    const tooMany = await commit(account, id, 3);
    expect(tooMany).toMatchObject({ state: 'open', run: { outcome: 'refused' } });
    expect(tooMany.run?.details).toMatchObject([
      { type: 'limit exceeded', setting: 'maxUsersCreated', limit: 200, count: 300 },
    ]);
    expect(await userIds(account)).toEqual([]);
    // A push that is refused every hour must not use up the ids, and neither must a dry run.
    const other = { ...settings, maxUsersCreated: 300, expectedPlan: 'f'.repeat(64) };
    expect((await commit(account, id, 3, other)).run).toMatchObject({ outcome: 'refused' });
    expect(await lastUserId()).toBe(before);
    const tooHigh = { parts: 3, settings: { ...settings, maxUsersCreated: 20_001 } };
    const { status, body } = await send(account, 'POST', `/${id}/commit`, tooHigh);
    expect([status, body.details[0]]).toMatchObject([
      400,
      { type: 'limit too high', path: '/settings/maxUsersCreated' },
    ]);
    await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { largestPush: 30_000 }));
    expect((await commit(account, id, 3, { ...settings, maxUsersCreated: 20_001 })).state).toBe('applied');
    expect((await userIds(account)).length).toBe(300);
  });

  test('finds faults that concern several parts, and applies nothing', async () => {
    const account = await world.account();
    const id = await open(account);
    const mail = 'same@example.org';
    await put(account, id, 1, { users: [person('a', { email: mail }), person('b')] });
    await put(account, id, 2, { users: [person('b'), person('c', { email: mail.toUpperCase() })] });
    await put(account, id, 3, { users: [person('e', { accessInfo: { memberOf: ['nowhere'] } })] });
    const { run } = await commit(account, id, 3);
    expect(run?.details?.map(({ type, path }) => [type, path]).toSorted()).toEqual([
      ['duplicate email', '/data/users/3/email'],
      ['duplicate externalId', '/data/users/2/externalId'],
      ['unknown group', '/data/users/4/accessInfo/memberOf/0'],
    ]);
    expect(await userIds(account)).toEqual([]);
    // A corrected part replaces the wrong one.
    await put(account, id, 2, { users: [person('c')] });
    await put(account, id, 3, { users: [person('e')] });
    expect((await commit(account, id, 3)).state).toBe('applied');
  });

  test('keeps an address that was normalized in another way when it was stored', async () => {
    const account = await world.account();
    const sendEva = async () => {
      const id = await open(account);
      await put(account, id, 1, { users: [person('a', { email: 'Eva@example.org' })] });
      return commit(account, id, 1);
    };
    await sendEva();
    await world.pool`
      update users set email_key = 'other@example.org', fingerprint = null where account_id = ${account.id} and external_id = 'a'`;
    await sendEva();
    expect(
      await world.pool`
        select email, email_key as key from users where account_id = ${account.id} and external_id = 'a'`,
    ).toMatchObject([{ email: 'Eva@example.org', key: 'eva@example.org' }]);
  });

  test('that repeats the last one has the same result, until someone changes the data', async () => {
    const account = await world.account();
    const { run: first } = await commit(account, await openThree(account), 3);
    const again = async () => (await commit(account, await openThree(account), 3)).run;
    const [second, third] = [await again(), await again()];
    expect(second?.summary?.users).toEqual({ created: 0, updated: 0, deleted: 0, unchanged: 4 });
    expect(third).toEqual({ ...second, id: third?.id });
    // Only the first one was planned.
    const remembered = await world.pool`select run_id from repeated_pushes where account_id = ${account.id}`;
    expect(remembered.map((one) => one['run_id'] as string)).toEqual([first?.id]);
    await world.pool`
      update users set last_name = 'Changed', fingerprint = null where account_id = ${account.id} and external_id = 'b'`;
    expect((await again())?.summary?.users).toMatchObject({ updated: 1, unchanged: 3 });
  });

  test('parses only people who may have changed', async () => {
    const account = await world.account();
    await commit(account, await openThree(account), 3);
    const id = await openThree(account);
    await put(account, id, 2, { users: [person('a'), person('b', { lastName: 'New' })] });
    await world.pool`update push_parts set content = 'unreadable' where account_id = ${account.id} and part = 3`;
    const { run } = await commit(account, id, 3);
    expect(run?.summary?.users).toEqual({ created: 0, updated: 1, deleted: 0, unchanged: 3 });
    const changes = (await send(account, 'GET', `/${id}/changes`)).body;
    expect(changes.changes).toEqual([
      { entity: 'user', externalId: 'b', action: 'update', fields: { lastName: { from: 'Ek', to: 'New' } } },
    ]);
  });

  test.for([
    [
      'parts that an older version has stored',
      ({ id }: TestAccount) => world.pool`update push_parts set people = null where account_id = ${id}`,
    ],
    [
      'parts of an account that ignores roles',
      ({ id }: TestAccount) =>
        inTransaction(world.pool, (tx) => changeAccount(tx, id, { rolesBySync: false })),
    ],
  ] as const)('%s, are compared as a whole', async ([, change]) => {
    const account = await world.account();
    await commit(account, await openThree(account), 3);
    const id = await openThree(account);
    await put(account, id, 2, { users: [person('a'), person('b', { lastName: 'New' })] });
    await change(account);
    const { run } = await commit(account, id, 3);
    expect(run?.summary?.users).toEqual({ created: 0, updated: 1, deleted: 0, unchanged: 3 });
  });

  test('lists its changes in pages', async () => {
    const account = await world.account();
    const id = await open(account);
    await put(account, id, 1, { users: people(0, 1_500) });
    await commit(account, id, 1, { ...settings, maxUsersCreated: 2_000 });
    const first = (await send(account, 'GET', `/${id}/changes`)).body;
    const second = (await send(account, 'GET', `/${id}/changes?after=${first.next}`)).body;
    const all = [...first.changes, ...second.changes].map(({ externalId }) => externalId);
    expect([first.changes.length, second.next]).toEqual([1_000, null]);
    expect(all).toEqual(people(0, 1_500).map(({ externalId }) => externalId));
  });
});

describe('what is refused', () => {
  test('a commit with missing parts, or with another number of parts than were received', async () => {
    const account = await world.account();
    const id = await openThree(account);
    for (const [parts, word] of [
      [5, '4, 5'],
      [2, '3'],
    ] as const) {
      const response = await send(account, 'POST', `/${id}/commit`, { parts, settings });
      expect([response.status, typesOf(response)]).toEqual([409, ['parts missing']]);
      expect(response.body.message).toContain(word);
    }
    expect((await send(account, 'GET', `/${id}`)).body.run).toBeNull();
  });

  test('a part with errors is not stored, and the part before stays', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const bad = [
      { users: [{ externalId: 'x' }] },
      { users: [person('x'), person('x')] },
      { users: 'none' },
      { people: [] },
    ];
    for (const data of bad) expect((await put(account, id, 2, data)).status).toBe(400);
    for (const body of ['', '[]', '{', 'null', '{"settings": {"validateOnly": false}, "data": {}}'])
      expect((await send(account, 'PUT', `/${id}/parts/2`, body)).status).toBe(400);
    expect((await send(account, 'GET', `/${id}`)).body).toMatchObject({ parts: [1, 2, 3], users: 4 });
  });

  test('bodies of commits that are not commits', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const bodies = [
      '',
      '{',
      '[]',
      '{}',
      '{"parts": 0}',
      '{"parts": 1.5}',
      '{"parts": 3, "settings": {"validateOnly": "false"}}',
    ];
    for (const body of [...bodies, '{"parts": 3, "settings": {"nonsense": 1}}', '{"parts": 3, "data": {}}']) {
      const { status, body: problem } = await send(account, 'POST', `/${id}/commit`, body);
      expect([body, status, problem.details.length > 0]).toEqual([body, 400, true]);
    }
    expect((await send(account, 'GET', `/${id}`)).body.run).toBeNull();
  });

  test('the faults of a commit are those of a push in one request: each mistake once, with its type and a suggestion', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const faultsOf = async (body: unknown) => {
      const { status, body: problem } = await send(account, 'POST', `/${id}/commit`, body);
      expect([status, problem.message]).toEqual([400, expect.stringContaining('Nothing was applied: ')]);
      return problem.details.map(({ type, path, message }) => [type, path, message]);
    };
    const misspelt = { validateonly: false, maxUsersCreated: -1, forceSetLanguage: 'yes' };
    const inOne = (await refused(account, { settings: misspelt })).map((fault) => [
      fault.type,
      fault.path,
      fault.message,
    ]);
    expect(inOne[0]).toEqual([
      'unknown field',
      '/settings/validateonly',
      expect.stringContaining('Did you mean "validateOnly"? Allowed fields: validateOnly, '),
    ]);
    expect(await faultsOf({ parts: 3, settings: misspelt })).toEqual(inOne);
    expect(await faultsOf({ part: 3, settings: 'none' })).toEqual([
      [
        'unknown field',
        '/part',
        'Unknown field "part". Did you mean "parts"? Allowed fields: parts, settings.',
      ],
      ['missing field', '/parts', '"parts" is required.'],
      ['wrong type', '/settings', '"settings" must be an object, not a string.'],
    ]);
    expect(await faultsOf({ parts: 0 })).toEqual([['out of range', '/parts', '"parts" must be >= 1.']]);
    expect(await faultsOf([])).toEqual([['wrong type', '', 'The body must be an object, not an array.']]);
  });

  test('too many entries, too large parts, and numbers that no part has', async () => {
    const account = await world.account();
    const id = await open(account);
    expect((await put(account, id, 1, { users: people(0, maxPartEntries + 1) })).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024, ' '));
    const headers = { 'content-encoding': 'gzip' };
    expect((await send(account, 'PUT', `/${id}/parts/1`, bomb, headers)).status).toBe(413);
    expect((await send(account, 'PUT', `/${id}/parts/1`, Buffer.alloc(17 * 1024 * 1024, ' '))).status).toBe(
      413,
    );
    for (const part of ['0', '-1', '1.5', 'x', String(maxPartNumber + 1), '1e3', '%00'])
      expect([part, (await send(account, 'PUT', `/${id}/parts/${part}`, { data: {} })).status]).toEqual([
        part,
        400,
      ]);
    const zipped = gzipSync(JSON.stringify({ data: { users: [person('a')] } }));
    expect((await send(account, 'PUT', `/${id}/parts/1`, zipped, headers)).status).toBe(200);
  });

  test('endless parts: their total size is limited', async () => {
    const account = await world.account();
    const id = await open(account);
    const long = 'x'.repeat(10_000);
    const groups = (part: number) =>
      list(700, `g${part}-`, (externalId) => ({ externalId, name: 'Unit', description: long }));
    for (let part = 1; part <= 9; part++)
      expect((await put(account, id, part, { groups: groups(part) })).status).toBe(200);
    const { status, body } = await put(account, id, 10, { groups: groups(10) });
    expect([status, body.message]).toEqual([413, expect.stringContaining('64 MB together')]);
    // The same number again replaces a part, so it is not counted twice.
    expect((await put(account, id, 9, { groups: groups(9) })).status).toBe(200);
  });

  test('a second push while one is open, and each step of a push that was applied', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const second = await send(account, 'POST', '');
    expect([second.status, typesOf(second)]).toEqual([409, ['push open']]);
    expect(second.body.message).toContain(id);
    await commit(account, id, 3);
    const late = [
      await put(account, id, 1, { users: [] }),
      await send(account, 'POST', `/${id}/commit`, { parts: 3, settings }),
    ];
    expect(late.map((one) => [one.status, ...typesOf(one)])).toEqual([
      [409, 'push applied'],
      [409, 'push applied'],
    ]);
    expect(await userIds(account)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('the result of an applied push stays even if another one is opened or it is deleted, as long as its run', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const applied = await commit(account, id, 3);
    const { plan: _, ...run } = applied.run!;
    const { changes } = (await send(account, 'GET', `/${id}/changes`)).body;
    const checkResult = async () => {
      const { body } = await send(account, 'GET', `/${id}`);
      expect([...pushCheck.Errors(body)]).toEqual([]);
      expect(body).toEqual({ ...applied, run });
      expect((await send(account, 'GET', `/${id}/changes`)).body).toEqual({ changes, next: null });
      // A commit whose response was lost, and a part that was sent again.
      const late = [
        await send(account, 'POST', `/${id}/commit`, { parts: 3, settings }),
        await put(account, id, 1, { users: [] }),
      ];
      for (const one of late) {
        expect([one.status, ...typesOf(one)]).toEqual([409, 'push applied']);
        expect(one.body.message).toContain(run.id);
      }
    };
    const next = await openThree(account);
    await checkResult();
    // It is not the one that is open now.
    expect((await send(account, 'DELETE', `/${id}`)).status).toBe(204);
    expect((await send(account, 'GET', `/${next}`)).body).toMatchObject({ state: 'open', parts: [1, 2, 3] });
    expect((await commit(account, next, 3)).state).toBe('applied');
    await world.pool`update pushes set last_used_at = now() - interval '25 hours' where account_id = ${account.id}`;
    await deleteAbandonedPushes(world.pool);
    await checkResult();
    expect((await send(account, 'GET', `/${next}`)).body.state).toBe('applied');
    expect(new Date(applied.expiresAt).getTime() - Date.now()).toBeGreaterThan(399 * 86_400_000);
    await world.pool`update runs set at = now() - interval '401 days' where account_id = ${account.id} and run_id = ${run.id}`;
    await deleteOldRuns(world.pool, runRetentionDays);
    const gone = await send(account, 'GET', `/${id}`);
    expect([gone.status, ...typesOf(gone)]).toEqual([404, 'push not found']);
    expect(gone.body.message).toContain('can be read for 400 days');
  });

  test("another account's push gets the same response as one that does not exist, and stays as it is", async () => {
    const [owner, thief] = [await world.account(), await world.account()];
    const id = await openThree(owner);
    await open(thief);
    const absent = '01990000-0000-7000-8000-000000000000';
    const requests = (push: string) =>
      [
        ['GET', `/${push}`],
        ['PUT', `/${push}/parts/1`, { data: { users: [] } }],
        ['POST', `/${push}/commit`, { parts: 3, settings }],
        ['GET', `/${push}/changes`],
        ['DELETE', `/${push}`],
      ] as const;
    const other = requests(absent);
    for (const [i, [method, path, body]] of requests(id).entries()) {
      const foreign = await send(thief, method, path, body);
      const none = await send(thief, method, (other[i] as (typeof other)[number])[1], body);
      expect([method, foreign.status, typesOf(foreign)]).toEqual([method, 404, ['push not found']]);
      expect(foreign.body.message.replace(id, absent)).toBe(none.body.message);
    }
    expect((await send(owner, 'GET', `/${id}`)).body).toMatchObject({ parts: [1, 2, 3], run: null });
    for (const sent of ['x', "'", '../', id.toUpperCase()]) {
      const { status, body } = await send(owner, 'GET', `/${encodeURIComponent(sent)}`);
      expect([status, body.message]).toEqual([404, expect.stringContaining(` ${JSON.stringify(sent)}. `)]);
    }
  });

  test('tokens without the scope, and no token', async () => {
    const account = await world.account();
    const id = await open(account);
    const data = { token: await account.tokenOf('data', 'files', 'scim', 'audit') };
    for (const [method, path, body] of [
      ['POST', ''],
      ['GET', `/${id}`],
      ['PUT', `/${id}/parts/1`, { data: {} }],
      ['POST', `/${id}/commit`, { parts: 1 }],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/changes`],
    ] as const) {
      expect([method, (await send(data, method, path, body)).status]).toEqual([method, 403]);
      expect([method, (await send({ token: 'snd_none' }, method, path, body)).status]).toEqual([method, 400]);
    }
  });
});

test('without the right to create temporary tables, a push is refused before its parts are sent, and a commit says why', async () => {
  const account = await world.account();
  const id = await openThree(account);
  const database = new URL(world.databaseUrl).pathname.slice(1);
  await world.pool.unsafe(`revoke temporary on database ${database} from public, current_user`);
  try {
    const unopened = await send(await world.account(), 'POST', '');
    expect([unopened.status, unopened.body.message]).toEqual([
      503,
      expect.stringContaining('does not allow temporary tables'),
    ]);
    const { run } = await commit(account, id, 3);
    expect(run).toMatchObject({ outcome: 'failed', message: unopened.body.message });
    expect(await userIds(account)).toEqual([]);
  } finally {
    await world.pool.unsafe(`grant temporary on database ${database} to current_user`);
  }
  expect((await commit(account, id, 3)).state).toBe('applied');
});

describe('interrupted pushes', () => {
  test('a push that is not used for a day is deleted with its parts, and one that is used stays', async () => {
    const [old, used] = [await world.account(), await world.account()];
    const [oldId, usedId] = [await openThree(old), await openThree(used)];
    await world.pool`update pushes set last_used_at = now() - interval '25 hours' where account_id = ${old.id}`;
    await deleteAbandonedPushes(world.pool);
    expect((await send(old, 'GET', `/${oldId}`)).status).toBe(404);
    expect((await put(old, oldId, 4, { users: [] })).status).toBe(404);
    expect((await send(used, 'GET', `/${usedId}`)).body.parts).toEqual([1, 2, 3]);
    expect(await world.pool`select 1 from push_parts where account_id = ${old.id}`).toEqual([]);
  });

  test('an expired push makes room for another one before it is deleted', async () => {
    const account = await world.account();
    await openThree(account);
    await world.pool`update pushes set last_used_at = now() - interval '25 hours' where account_id = ${account.id}`;
    expect((await send(account, 'GET', `/${await open(account)}`)).body.parts).toEqual([]);
  });

  test('a deleted push is gone, and can be opened again', async () => {
    const account = await world.account();
    const id = await openThree(account);
    expect((await send(account, 'DELETE', `/${id}`)).status).toBe(204);
    expect((await send(account, 'DELETE', `/${id}`)).status).toBe(404);
    expect(await world.pool`select 1 from push_parts where account_id = ${account.id}`).toEqual([]);
    await open(account);
  });

  test('deleting an applied push does not delete the one that was opened in its place meanwhile', async () => {
    const account = await world.account();
    const applied = await openThree(account);
    await commit(account, applied, 3);
    await inTransaction(world.pool, async (tx) => {
      // A request to delete the applied push that has just found it.
      expect((await readPush(tx, account.id, applied)).state).toBe('applied');
      await openThree(account);
      await deletePushRow(tx, account.id, applied);
    });
    const [left] = await world.pool`
      select push_id <> ${applied} as "isOther", (select count(*)::integer from push_parts where account_id = ${account.id}) as "parts"
      from   pushes where account_id = ${account.id}`;
    expect(left).toEqual({ isOther: true, parts: 3 });
  });

  test('a commit whose process was killed is failed, and can be repeated', async () => {
    const account = await world.account();
    const id = await openThree(account);
    // What a killed process leaves: a run that has begun and that no transaction processes.
    const run = (await commit(account, id, 3, nothing)).run?.id as string;
    await world.pool`
      update runs set outcome = 'processing' where account_id = ${account.id} and run_id = ${run}`;
    await world.pool`update pushes set report = null where account_id = ${account.id}`;
    const meanwhile = [
      await put(account, id, 1, { users: [] }),
      await send(account, 'POST', `/${id}/commit`, { parts: 3, settings }),
      await send(account, 'DELETE', `/${id}`),
    ];
    expect(meanwhile.map((one) => [one.status, ...typesOf(one)])).toEqual(
      Array.from({ length: 3 }, () => [409, 'push processing']),
    );
    // Only now, because the recurring job finds it, too.
    await world.pool`
      update runs set at = at - interval '2 minutes' where account_id = ${account.id} and run_id = ${run}`;
    await updateLostRuns(world.pool);
    expect((await send(account, 'GET', `/${id}`)).body).toMatchObject({
      state: 'open',
      parts: [1, 2, 3],
      run: { id: run, outcome: 'failed', message: expect.stringContaining('commit the push in parts again') },
    });
    const again = await commit(account, id, 3);
    expect([again.state, again.run?.message]).toEqual(['applied', undefined]);
  });

  test('a commit that loses its connection has failed, has applied nothing, and can be repeated', async () => {
    const account = await world.account();
    const id = await openThree(account);
    await inTransaction(world.pool, async (tx) => {
      await tx`select 1 from accounts where account_id = ${account.id} for no key update`;
      await send(account, 'POST', `/${id}/commit`, { parts: 3, settings });
      // The commit waits for the lock on the account. Then its connection is cut.
      await until(async () => {
        const cut = await world.pool`
          select pg_terminate_backend(pid) from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query like '%from accounts%for no key update%'`;
        return cut.length > 0;
      });
      await until(async () => (await send(account, 'GET', `/${id}`)).body.state === 'open');
    });
    const { body } = await send(account, 'GET', `/${id}`);
    expect(body.run?.outcome).toBe('failed');
    expect(await userIds(account)).toEqual([]);
    expect((await commit(account, id, 3)).state).toBe('applied');
  });

  test('parts that are lost before a commit are reported, and nothing is applied', async () => {
    const account = await world.account();
    const id = await openThree(account);
    await world.pool`delete from push_parts where account_id = ${account.id} and part = 2`;
    const { status, body } = await send(account, 'POST', `/${id}/commit`, { parts: 3, settings });
    expect([status, body.message]).toEqual([409, expect.stringContaining('not received: 2.')]);
    expect(await userIds(account)).toEqual([]);
  });

  test('of two commits at once, one is processed; the other is refused', async () => {
    const account = await world.account();
    const id = await openThree(account);
    const both = await Promise.all(
      [1, 2].map(() => send(account, 'POST', `/${id}/commit`, { parts: 3, settings })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([202, 409]);
    await until(async () => (await send(account, 'GET', `/${id}`)).body.state === 'applied');
    const runs = await world.pool`select outcome from runs where account_id = ${account.id}`;
    expect(runs.map(({ outcome }) => outcome as string)).toEqual(['applied']);
  });

  test('requests do not wait for as long as a commit takes', async () => {
    const account = await world.account();
    const id = await openThree(account);
    // A commit whose run is not known to be processed, as if it had been considered lost: it still has the lock.
    const statuses = await inTransaction(world.pool, async (tx) => {
      await tx`select 1 from pushes where account_id = ${account.id} for no key update`;
      const late = [
        put(account, id, 1, { users: [] }),
        send(account, 'POST', `/${id}/commit`, { parts: 3, settings }),
        send(account, 'DELETE', `/${id}`),
        send(account, 'POST', ''),
      ];
      return (await Promise.all(late)).map(({ status }) => status);
    });
    expect(statuses).toEqual([503, 503, 503, 409]);
    expect((await commit(account, id, 3)).state).toBe('applied');
  });

  test('while a commit is processed, an abandoned push is not deleted', async () => {
    const account = await world.account();
    const id = await openThree(account);
    await world.pool`update pushes set last_used_at = now() - interval '25 hours' where account_id = ${account.id}`;
    await inTransaction(world.pool, async (tx) => {
      await showProcessing(tx, account.id, id);
      await tx`select 1 from pushes where account_id = ${account.id} for no key update`; // as a commit does
      await deleteAbandonedPushes(world.pool);
    });
    expect((await send(account, 'GET', `/${id}`)).status).toBe(200);
  });
});
