// A request that names the plan of a dry run makes exactly the changes of this plan, or none (decision F7).
import type { Report } from '@soundings/contract/organization.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../testing/house/cases.ts';
import { apply, person, rowsOf, unit } from '../testing/organizations.ts';
import type { TestAccount } from '../testing/world.ts';
import { useService, world } from './organization.fixture.ts';

useService();

const lists = { users: [person('1'), person('2')], groups: [unit('a')] };
const planOf = async (account: TestAccount, data: object, settings = {}) =>
  (await account.push({ settings, data })).body.plan;
const typesOf = async (account: TestAccount, data: object, settings: object) =>
  (await account.push({ settings, data })).body.details?.map(({ type }) => type);

test('is applied, with a report of the same plan, and then no longer', async () => {
  const account = await world.account();
  const plan = await planOf(account, lists);
  const settings = { validateOnly: false, expectedPlan: plan };
  const { status, body } = await account.push({ settings, data: lists });
  expect([status, body.applied, body.plan]).toEqual([200, true, plan]);
  const before = await rowsOf(world.pool, account.id);
  expect(await typesOf(account, lists, settings)).toEqual(['unexpected plan']);
  expect(await rowsOf(world.pool, account.id)).toEqual(before);
});

test('is refused with other lists, after another change, and in a dry run too', async () => {
  const account = await world.account();
  const expectedPlan = await planOf(account, lists);
  const settings = { validateOnly: false, expectedPlan };
  expect(await typesOf(account, { ...lists, users: [person('1')] }, settings)).toEqual(['unexpected plan']);
  await apply(account, { users: [person('3')] });
  const before = await rowsOf(world.pool, account.id);
  for (const validateOnly of [true, false])
    expect(await typesOf(account, lists, { validateOnly, expectedPlan })).toEqual(['unexpected plan']);
  expect(await typesOf(account, lists, { ...settings, expectedPlan: '' })).toEqual(['unexpected plan']);
  expect(await typesOf(account, lists, { ...settings, expectedPlan: null })).toEqual(['wrong type']);
  expect(await rowsOf(world.pool, account.id)).toEqual(before);
});

test('of a group that was removed and created again under the same externalId is refused: it is another group', async () => {
  const account = await world.account();
  await apply(account, { groups: [unit('a'), unit('b')] });
  const wanted = { groups: [unit('b')] };
  const expectedPlan = await planOf(account, wanted);
  await apply(account, wanted);
  await apply(account, { groups: [unit('a'), unit('b')] });
  expect(await typesOf(account, wanted, { validateOnly: false, expectedPlan })).toEqual(['unexpected plan']);
});

describe('is refused if a created or updated person would get something else', () => {
  const applied = (expectedPlan: string) => ({ validateOnly: false, expectedPlan });

  test.each([
    ['name', { firstName: 'Other' }],
    ['email address', { email: 'other@example.org' }],
    ['role', { accessInfo: { role: 'Manager', memberOf: ['a'] } }],
    ['groups', { accessInfo: { memberOf: ['a'], adminOf: ['root'] } }],
  ])('%s', async (_, more) => {
    const account = await world.account();
    await apply(account, { groups: [unit('root'), unit('a')] });
    const expectedPlan = await planOf(account, { users: [person('1', { accessInfo: { memberOf: ['a'] } })] });
    const other = { users: [person('1', { accessInfo: { memberOf: ['a'] }, ...more })] };
    expect(await typesOf(account, other, applied(expectedPlan))).toEqual(['unexpected plan']);
  });

  test('a role, because the account allows roles now', async () => {
    const account = await world.account();
    const allow = (value: boolean) =>
      world.pool`update accounts set roles_by_sync = ${value} where account_id = ${account.id}`;
    await allow(false);
    const wanted = { users: [person('1', { accessInfo: { role: 'Manager' } })] };
    const expectedPlan = await planOf(account, wanted);
    await allow(true);
    expect(await typesOf(account, wanted, applied(expectedPlan))).toEqual(['unexpected plan']);
  });

  test.each([
    ['created', []],
    ['updated', [person('1')]],
  ])('a group that was created again meanwhile, without a list of groups: %s', async (_, before) => {
    const account = await world.account();
    const groups = [unit('a'), unit('b')];
    await apply(account, { groups, users: before });
    const wanted = { users: [person('1', { accessInfo: { adminOf: ['b'] } })] };
    const expectedPlan = await planOf(account, wanted);
    await apply(account, { groups: [unit('a')] });
    await apply(account, { groups });
    expect(await typesOf(account, wanted, applied(expectedPlan))).toEqual(['unexpected plan']);
  });

  test('but not because someone has chosen a language meanwhile', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    const wanted = { users: [person('1', { lastName: 'New' })] };
    const expectedPlan = await planOf(account, wanted);
    await world.pool`update users set language = 'sv' where account_id = ${account.id} and external_id = '1'`;
    expect((await apply(account, wanted, { expectedPlan })).plan).toBe(expectedPlan);
  });
});

test('raises no limit', async () => {
  const account = await world.account();
  const expectedPlan = await planOf(account, lists);
  const settings = { validateOnly: false, expectedPlan, maxUsersCreated: 1 };
  expect(await typesOf(account, lists, settings)).toEqual(['limit exceeded']);
});

test('of any two senders, every plan makes the changes that were shown, or none', async () => {
  const anyIds = fc.uniqueArray(fc.constantFrom('1', '2', '3'), { maxLength: 3 });
  const anyStep = fc.record({ sender: fc.constantFrom(0, 1), plans: fc.boolean(), ids: anyIds });
  const counts = { applied: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 10 }), async (steps) => {
      const account = await world.account();
      const planned: ({ data: object; report: Report; state: number } | undefined)[] = [];
      let state = 0;
      for (const { sender, plans, ids } of steps) {
        const one = planned[sender];
        if (plans || !one) {
          const data = { users: ids.map((id) => person(id)) };
          planned[sender] = { data, report: (await account.push({ data })).body, state };
          continue;
        }
        const { plan, changes } = one.report;
        const settings = { validateOnly: false, expectedPlan: plan };
        const { status, body } = await account.push({ settings, data: one.data });
        const types = body.details?.map(({ type }) => type);
        expect([body.changes, types]).toEqual(
          status === 200 ? [changes, undefined] : [undefined, ['unexpected plan']],
        );
        // Nothing has changed since the dry run.
        expect(status === 200 || one.state !== state).toBe(true);
        counts[status === 200 ? 'applied' : 'refused']++;
        if (status === 200 && changes.length > 0) state++;
      }
    }),
    cases(60),
  );
  expect(Math.min(counts.applied, counts.refused)).toBeGreaterThan(0);
});
