// Lists that are too large for one request are sent in parts, with the same plans, results and errors, whatever happens to the connections.
import fc from 'fast-check';
import { changeAccount } from '@soundings/server/src/accounts/accounts.ts';
import { openLog } from '@soundings/server/src/base/log.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { cases } from '@soundings/server/src/testing/house/cases.ts';
import { apply, person, rowsOf, unit } from '@soundings/server/src/testing/organizations.ts';
import { until } from '@soundings/server/src/testing/until.ts';
import { openWorld, type TestAccount, type World } from '@soundings/server/src/testing/world.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.fixture.ts';
import type { OrganizationList, User } from './list-parts.ts';
import type { Plan, PushProgress } from './plans.ts';
import { anyCuts, neverAsked, onNewConnection, outcomesOf, twoUsers, usersFrom } from './pushing.fixture.ts';
import type { SoundingsError } from './soundings-error.ts';
import { Soundings } from './soundings.ts';

let world: World;
let proxy: CuttingProxy;
let account: TestAccount;
let client: Soundings;
beforeAll(async () => {
  world = await openWorld(openLog('fatal'));
  proxy = await cuttingProxy(() => world.address);
});
beforeEach(async () => {
  account = await newAccount();
  client = clientOf();
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

async function newAccount(): Promise<TestAccount> {
  const created = await world.account();
  await inTransaction(world.pool, (tx) => changeAccount(tx, created.id, { largestPush: 100_000 }));
  return created;
}

const clientOf = (more: object = {}) =>
  new Soundings({ url: world.address, token: account.token, backoffMs: 1, ...more });

/** A limit that one request can't have, so that small lists are sent in parts, too. */
const settings = { maxUsersCreated: 20_001 };
const list = twoUsers;
async function* streamed<T>(entries: T[]): AsyncGenerator<T> {
  yield* entries;
}
const pushesLeft = () =>
  world.pool<{ id: string }[]>`select push_id as id from pushes where account_id = ${account.id}`;
const runs = () => outcomesOf(world, account.id);

/** Counts requests by method and path, without ids. */
function counting() {
  const counts = new Map<string, number>();
  const counted: typeof fetch = (input, init) => {
    const path = new URL(String(input)).pathname.replace(/[0-9a-f-]{36}/, 'ID');
    const name = `${init?.method} ${path.replace('/v1/organization', '')}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return fetch(input, init);
  };
  return { counts, fetch: counted };
}

describe('a push in parts', () => {
  test('runs dry, is applied after its plan is approved, and is then unchanged', async () => {
    const plans: Plan[] = [];
    const steps: PushProgress[] = [];
    const approve = async (plan: Plan) => plans.push(plan) > 0;
    const onProgress = (done: PushProgress) => void steps.push(done);
    const result = await client.organization.push(list, { approve, settings, onProgress });
    expect(result).toEqual({ outcome: 'applied', plan: plans[0], runId: expect.any(String) });
    expect(plans).toEqual([
      {
        runId: expect.any(String),
        plan: expect.stringMatching(/^[0-9a-f]{64}$/),
        summary: {
          users: { created: 2, updated: 0, deleted: 0, unchanged: 0 },
          groups: { created: 1, updated: 0, deleted: 0, unchanged: 0 },
        },
        changes: ['g', 'u1', 'u2'].map((externalId, i) => ({
          entity: i === 0 ? 'group' : 'user',
          externalId,
          action: 'create',
        })),
        warnings: [],
        limits: [],
      },
    ]);
    expect(steps).toEqual([
      { step: 'sending', users: 0, groups: 1 },
      { step: 'sending', users: 2, groups: 1 },
      { step: 'checking' },
      { step: 'applying' },
    ]);
    const again = await client.organization.push(list, { approve: neverAsked, settings });
    expect([again.outcome, again.plan.changes]).toEqual(['unchanged', []]);
    expect(await runs()).toEqual(['validated', 'applied', 'validated']);
    expect(await pushesLeft()).toEqual([]);
  });

  test('changes nothing and leaves nothing if it is declined, exceeds limits or fails', async () => {
    await apply(account, list);
    const before = await rowsOf(world.pool, account.id);
    const push = (wanted: OrganizationList, approve: () => boolean, more: object = {}) =>
      client.organization.push(wanted, { approve, settings: { ...settings, ...more } });
    const declined = await push({ users: [] }, () => false);
    expect([declined.outcome, declined.plan.summary.users.deleted]).toEqual(['declined', 2]);
    const many = await push({ users: [] }, neverAsked, { maxUsersDeleted: 1 });
    expect([many.outcome, many.plan.changes.length]).toEqual(['over limits', 2]);
    expect(many.plan.limits).toEqual([{ setting: 'maxUsersDeleted', limit: 1, count: 2 }]);
    const failing = push({ users: [] }, () => {
      throw new Error('no one there');
    });
    await expect(failing).rejects.toThrow('no one there');
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    expect(await pushesLeft()).toEqual([]);
  });

  test('is not applied if anything else has changed since its plan, and says what it would do now', async () => {
    await apply(account, list);
    const wanted = { users: [person('u1', { firstName: 'New' })] };
    const result = await client.organization.push(wanted, {
      settings,
      approve: async ({ summary }) => {
        expect(summary.users).toMatchObject({ updated: 1, deleted: 1 });
        await apply(account, { users: [...list.users, person('u3')] });
        return true;
      },
    });
    if (result.outcome !== 'plan changed') throw new Error(result.outcome);
    expect(result.current.summary.users).toMatchObject({ updated: 1, deleted: 2 });
    expect(await pushesLeft()).toEqual([]);
  });

  test('replaces one that was not completed, and that one can no longer be applied', async () => {
    const approve = async () => {
      const other = await clientOf().organization.push({ users: [] }, { approve: neverAsked, settings });
      return other.outcome === 'unchanged';
    };
    const replaced = await client.organization.push(list, { approve, settings }).catch((e: unknown) => e);
    expect(replaced).toMatchObject({ type: 'push not found', mayBeApplied: false });
    expect((replaced as SoundingsError).title).toContain(
      'Another push of this account has replaced this one',
    );
    expect(await world.pool`select from users where account_id = ${account.id} and managed`).toHaveLength(0);
  });

  test('is known to be applied although the response to its commit was lost and another client has pushed since', async () => {
    let isLost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const isOfPlan = String(init?.body).includes('"expectedPlan"');
      if (isLost || !isOfPlan) return response;
      isLost = true;
      await until(async () => (await runs()).includes('applied'));
      const other = await clientOf().organization.push(list, { approve: neverAsked, settings });
      expect([other.outcome, await pushesLeft()]).toEqual(['unchanged', []]);
      throw new TypeError('fetch failed');
    };
    const approve = () => true;
    const result = await clientOf({ fetch: losing }).organization.push(list, { approve, settings });
    expect([isLost, result]).toMatchObject([true, { outcome: 'applied', runId: expect.any(String) }]);
    expect(await runs()).toEqual(['validated', 'applied', 'validated']);
  });

  test('needs a limit that the operator allows', async () => {
    await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { largestPush: 20_000 }));
    await expect(client.organization.plan(list, { settings })).rejects.toMatchObject({
      type: 'limit too high',
      title: expect.stringContaining('The operator can allow up to'),
    });
    expect(await pushesLeft()).toEqual([]);
  });
});

describe('large lists', () => {
  test('are sent as one request up to a hundred thousand entries, and otherwise in parts, with the same plan', async () => {
    await apply(account, { users: [person('gone')], groups: [unit('g')] });
    const { counts, fetch: counted } = counting();
    const users = usersFrom(25_000);
    const own = clientOf({ fetch: counted });
    const [whole, parted] = [
      await own.organization
        .plan({ users: streamed(users) }, { settings: { maxUsersCreated: 1 } })
        .catch((e: unknown) => e),
      await own.organization.plan({ users: streamed(users) }, { settings: { maxUsersCreated: 30_000 } }),
    ];
    // In one request, no more than 20,000 changes can be planned.
    expect(whole).toMatchObject({ type: 'limit exceeded', errors: [{ count: 25_000 }] });
    expect(parted.summary.users).toEqual({ created: 25_000, updated: 0, deleted: 1, unchanged: 0 });
    expect(parted.changes).toHaveLength(25_001);
    expect(parted.changes.at(-1)).toEqual({ entity: 'user', externalId: 'gone', action: 'delete' });
    expect(Object.fromEntries(counts)).toMatchObject({
      'POST /organization': 2,
      'POST /pushes': 1,
      'PUT /pushes/ID/parts/1': 1,
      'PUT /pushes/ID/parts/2': 1,
      'DELETE /pushes/ID': 1,
    });
    counts.clear();
    const tooMany = await own.organization
      .plan({ users: streamed(usersFrom(100_001).map(({ externalId }) => ({ externalId }) as User)) })
      .catch((e: unknown) => e);
    expect(tooMany).toMatchObject({ type: 'missing field' });
    expect([...counts.keys()]).toContain('PUT /pushes/ID/parts/1');
  });

  test('with errors in any part are refused with the place of each in the whole list', async () => {
    const users = usersFrom(45_000);
    users[3] = person('u3', { email: 'nowhere' });
    users[20_007] = person('u20007', { language: 'xyz' });
    users[44_999] = person('u44998');
    const error = await client.organization.plan({ users }, { settings }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      status: 400,
      title: expect.stringMatching(/^Nothing was applied: the lists have 3 errors\. First error: /),
      errors: [
        { type: 'invalid email', path: '/data/users/3/email', externalId: 'u3' },
        { type: 'invalid language', path: '/data/users/20007/language', externalId: 'u20007' },
        {
          type: 'duplicate externalId',
          path: '/data/users/44999/externalId',
          message: expect.stringContaining('is already used at /data/users/44998.'),
        },
      ],
    });
    expect([await runs(), await pushesLeft()]).toEqual([[], []]);
    // What concerns several parts is found when all are there.
    const twice = usersFrom(20_001);
    twice[20_000] = person('u5');
    await expect(client.organization.plan({ users: twice }, { settings })).rejects.toMatchObject({
      type: 'duplicate externalId',
      errors: [{ path: '/data/users/20000/externalId' }],
    });
    expect([await runs(), await pushesLeft()]).toEqual([['refused'], []]);
  });

  test('have the warnings of all parts, each with its place in the whole list', async () => {
    const users = usersFrom(20_002).map((user, i) => (i % 20_000 === 1 ? { ...user, shoeSize: 42 } : user));
    const { warnings } = await client.organization.plan({ users }, { settings });
    expect(warnings).toMatchObject([
      { type: 'unknown field', path: '/data/users/1/shoeSize' },
      { type: 'unknown field', path: '/data/users/20001/shoeSize' },
    ]);
  });
});

test('a push in parts whose responses are lost is applied once, and reported as applied', async () => {
  await fc.assert(
    fc.asyncProperty(anyCuts(900, 12), async (cuts) => {
      account = await newAccount();
      proxy.cuts.splice(0, Infinity, ...cuts);
      const lossy = clientOf({
        url: proxy.address,
        retries: 12,
        fetch: onNewConnection,
      });
      let asked = 0;
      const approve = () => ++asked > 0;
      const result = await lossy.organization.push(list, { approve, settings });
      expect([result.outcome, asked]).toEqual(['applied', 1]);
      expect(result).toMatchObject({ runId: expect.any(String) });
      expect((await clientOf().organization.plan(list)).changes).toEqual([]);
      expect((await runs()).filter((one) => one === 'applied')).toHaveLength(1);
    }),
    cases(80),
  );
});

test('a push in parts that fails after its commit has begun says that it may have been applied', async () => {
  const losing: typeof fetch = async (input, init) => {
    const isCommit = String(input).endsWith('/commit') && String(init?.body).includes('expectedPlan');
    const response = await fetch(input, init);
    if (!isCommit) return response;
    await world.pool`update tokens set revoked_at = now() where account_id = ${account.id}`;
    return response;
  };
  const lossy = clientOf({ fetch: losing });
  const thrown = await lossy.organization
    .push(list, { approve: () => true, settings })
    .catch((e: unknown) => e);
  expect(thrown).toMatchObject({ type: 'invalid token', mayBeApplied: true });
});
