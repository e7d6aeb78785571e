// A push does a dry run first, and applies exactly the plan that was approved, once, whatever happens to its connections.
import fc from 'fast-check';
import { openLog } from '@soundings/server/src/base/log.ts';
import { cases } from '@soundings/server/src/testing/house/cases.ts';
import { apply, person, rowsOf, unit } from '@soundings/server/src/testing/organizations.ts';
import { openWorld, type TestAccount, type World } from '@soundings/server/src/testing/world.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.fixture.ts';
import type { User } from './list-parts.ts';
import type { Plan } from './plans.ts';
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
  account = await world.account();
  client = new Soundings({ url: world.address, token: account.token, backoffMs: 1 });
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

const list = twoUsers;
const runs = () => outcomesOf(world, account.id);

describe('a plan', () => {
  test('has the changes, warnings and counts of the dry run, and changes nothing', async () => {
    await apply(account, { users: [person('gone', { email: 'a@example.org' })], groups: [unit('g')] });
    const before = await rowsOf(world.pool, account.id);
    const users = [person('new', { email: 'a@example.org' })];
    const plan = await client.organization.plan({ users, groups: [unit('g', { name: 'G' })] });
    expect(plan).toEqual({
      runId: expect.any(String),
      plan: expect.stringMatching(/^[0-9a-f]{64}$/),
      summary: {
        users: { created: 1, updated: 0, deleted: 1, unchanged: 0 },
        groups: { created: 0, updated: 1, deleted: 0, unchanged: 0 },
      },
      changes: expect.arrayContaining([
        { entity: 'user', externalId: 'new', action: 'create' },
        { entity: 'user', externalId: 'gone', action: 'delete' },
        { entity: 'group', externalId: 'g', action: 'update', fields: { name: { from: 'g', to: 'G' } } },
      ]),
      warnings: [expect.objectContaining({ type: 'new externalId', externalId: 'gone', arrivesAs: 'new' })],
      limits: [],
    });
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    expect(await runs()).toEqual(['applied', 'validated']);
  });

  test('of a list with errors is an error that lists them all, each with its place', async () => {
    const users = [person('a', { email: 'nowhere' }), person('a'), { externalId: 'b' } as User];
    const error = await client.organization.plan({ users }).catch((thrown: SoundingsError) => thrown);
    const { errors } = error as SoundingsError;
    expect(errors.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/data/users/0/email', '/data/users/1/externalId', '/data/users/2/firstName']),
    );
  });

  test('that exceeds limits has all changes nevertheless, and says which limits', async () => {
    const users = usersFrom(201);
    const plan = await client.organization.plan({ users }, { settings: { maxUsersDeleted: 0 } });
    expect(plan.limits).toEqual([{ setting: 'maxUsersCreated', limit: 200, count: 201 }]);
    expect([plan.changes.length, plan.summary.users.created]).toEqual([201, 201]);
  });
});

describe('a push', () => {
  test('is applied after its plan is approved, and is then unchanged', async () => {
    const plans: Plan[] = [];
    const approve = async (plan: Plan) => plans.push(plan) > 0;
    const result = await client.organization.push(list, { approve });
    expect(result).toEqual({ outcome: 'applied', plan: plans[0], runId: expect.any(String) });
    expect(plans[0]?.summary.users.created).toBe(2);
    expect((await client.groups()).map(({ externalId }) => externalId)).toEqual(['g']);
    const again = await client.organization.push(list, { approve: neverAsked });
    expect([again.outcome, again.plan.changes]).toEqual(['unchanged', []]);
    expect(await runs()).toEqual(['validated', 'applied', 'validated']);
  });

  test.each([false, undefined, 'yes', 1])(
    'changes nothing if it is not approved by true, but by %s',
    async (said) => {
      const before = await rowsOf(world.pool, account.id);
      const result = await client.organization.push(list, { approve: () => said as boolean });
      expect(result.outcome).toBe('declined');
      expect(await rowsOf(world.pool, account.id)).toEqual(before);
      expect(await runs()).toEqual(['validated']);
    },
  );

  test('that exceeds a limit is not applied, and no one is asked', async () => {
    const before = await rowsOf(world.pool, account.id);
    const result = await client.organization.push({ users: usersFrom(201) }, { approve: neverAsked });
    expect([result.outcome, result.plan.limits.length]).toEqual(['over limits', 1]);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    const settings = { maxUsersCreated: 201 };
    const allowed = await client.organization.push(
      { users: usersFrom(201) },
      { approve: () => true, settings },
    );
    expect(allowed.outcome).toBe('applied');
    // No limit is high enough for this.
    const error = await client.organization
      .plan({ users: usersFrom(20_202) })
      .catch((thrown: SoundingsError) => thrown);
    expect(error).toMatchObject({ type: 'limit exceeded', errors: [{ count: 20_001 }] });
  });

  test('is not applied if anything else has changed since its plan, and says what it would do now', async () => {
    await apply(account, list);
    const wanted = { users: [person('u1', { firstName: 'New' })] };
    const result = await client.organization.push(wanted, {
      approve: async ({ summary }) => {
        expect(summary.users).toMatchObject({ updated: 1, deleted: 1 });
        await apply(account, { users: [...list.users, person('u3')] });
        return true;
      },
    });
    if (result.outcome !== 'plan changed') throw new Error(result.outcome);
    expect(result.current.summary.users).toMatchObject({ updated: 1, deleted: 2 });
    expect((await runs()).slice(-2)).toEqual(['refused', 'validated']);
  });

  test('applies the lists as they were when it began', async () => {
    const own = structuredClone(list) as { users: User[] };
    const approve = () => own.users.splice(0).length > 0;
    expect((await client.organization.push(own, { approve })).outcome).toBe('applied');
    expect((await client.organization.plan(list)).changes).toEqual([]);
  });

  test.each([[undefined], [null], ['']])(
    'is not sent if the report of the dry run has the plan %j',
    async (plan) => {
      let requests = 0;
      const older: typeof fetch = async (input, init) => {
        requests++;
        const report = (await (await fetch(input, init)).json()) as object;
        return Response.json({ ...report, plan });
      };
      const { organization } = new Soundings({ url: world.address, token: account.token, fetch: older });
      await expect(organization.push(list, { approve: () => true })).rejects.toMatchObject({
        type: 'unexpected response',
        title: expect.stringContaining('no plan'),
      });
      expect([requests, await runs()]).toEqual([1, ['validated']]);
    },
  );

  test('of a large list is compressed', async () => {
    const sizes: unknown[] = [];
    const noting: typeof fetch = (input, init) => {
      const { 'content-encoding': encoding } = init!.headers as Record<string, string>;
      sizes.push([encoding, (init!.body as ArrayBuffer).byteLength]);
      return fetch(input, init);
    };
    const large = new Soundings({ url: world.address, token: account.token, fetch: noting });
    const users = usersFrom(5000);
    const settings = { maxUsersCreated: 5000 };
    expect((await large.organization.push({ users }, { approve: () => true, settings })).outcome).toBe(
      'applied',
    );
    expect(sizes).toEqual(Array.from({ length: 2 }, () => ['gzip', expect.any(Number)]));
    expect((sizes[0] as [string, number])[1]).toBeLessThan(JSON.stringify(users).length / 4);
  });

  test('whose responses are lost is applied once, and reported as applied', async () => {
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyCuts(1500, 6), async (cuts) => {
        account = await world.account();
        proxy.cuts.splice(0, Infinity, ...cuts);
        const lossy = new Soundings({
          url: proxy.address,
          token: account.token,
          retries: 6,
          backoffMs: 1,
          fetch: onNewConnection,
        });
        let asked = 0;
        const result = await lossy.organization.push(list, { approve: () => ++asked > 0 });
        expect([result.outcome, asked]).toEqual(['applied', 1]);
        expect((await client0().organization.plan(list)).changes).toEqual([]);
        expect((await runs()).filter((one) => one === 'applied')).toHaveLength(1);
        const known =
          result.outcome === 'applied' && result.runId !== undefined ? 'by its report' : 'by a dry run';
        outcomes.set(known, (outcomes.get(known) ?? 0) + 1);
      }),
      cases(120),
    );
    expect([...outcomes.keys()].toSorted()).toEqual(['by a dry run', 'by its report']);
  });

  test('whose response is lost before someone else changes the data is reported as uncertain, not as refused', async () => {
    let pushes = 0;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (++pushes !== 2) return response;
      await response.text();
      await apply(account, { users: list.users.slice(1) });
      throw new TypeError('fetch failed');
    };
    const lossy = new Soundings({ url: world.address, token: account.token, backoffMs: 1, fetch: losing });
    const result = await lossy.organization.push(list, { approve: () => true });
    if (result.outcome !== 'uncertain') throw new Error(result.outcome);
    expect(result.current.changes).toEqual([{ entity: 'user', externalId: 'u1', action: 'create' }]);
    expect(await runs()).toEqual(['validated', 'applied', 'applied', 'refused', 'validated']);
  });

  test('whose response is lost, and whose repeat or later dry run fails, throws an error that says that it may be applied', async () => {
    for (const failing of [3, 4]) {
      account = await world.account();
      const { id } = account;
      let pushes = 0;
      const losing: typeof fetch = async (input, init) => {
        if (++pushes === failing)
          await world.pool`update tokens set revoked_at = now() where account_id = ${id}`;
        const response = await fetch(input, init);
        if (pushes !== 2) return response;
        await response.text();
        throw new TypeError('fetch failed');
      };
      const lossy = new Soundings({ url: world.address, token: account.token, backoffMs: 1, fetch: losing });
      const thrown = await lossy.organization.push(list, { approve: () => true }).catch((e: unknown) => e);
      expect([failing, thrown]).toMatchObject([failing, { type: 'invalid token', mayBeApplied: true }]);
      expect(JSON.parse(JSON.stringify(thrown))).toMatchObject({ mayBeApplied: true });
      expect((await runs()).filter((one) => one === 'applied')).toHaveLength(1);
    }
  });

  test('whose only attempt is lost throws an error that says so, and one that is refused throws one that does not', async () => {
    let pushes = 0;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (++pushes !== 2) return response;
      await response.text();
      throw new TypeError('fetch failed');
    };
    const once = new Soundings({ url: world.address, token: account.token, retries: 0, fetch: losing });
    const thrown = await once.organization.push(list, { approve: () => true }).catch((e: unknown) => e);
    expect(thrown).toMatchObject({ type: 'connection lost', mayBeApplied: true });
    const approve = async () => {
      await world.pool`update tokens set revoked_at = now() where account_id = ${account.id}`;
      return true;
    };
    const more = { users: list.users.slice(1) };
    const refused = await client.organization.push(more, { approve }).catch((e: unknown) => e);
    expect(refused).toMatchObject({ type: 'invalid token', mayBeApplied: false });
    expect(JSON.parse(JSON.stringify(refused))).not.toHaveProperty('mayBeApplied');
  });

  test('of another process that makes the same changes in between is not claimed', async () => {
    const result = await client.organization.push(list, {
      approve: async () => (await apply(account, list)).applied,
    });
    if (result.outcome !== 'plan changed') throw new Error(result.outcome);
    expect(result.current.changes).toEqual([]);
  });
});

const client0 = () => new Soundings({ url: world.address, token: account.token });
