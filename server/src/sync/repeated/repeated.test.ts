// A request that is sent again, byte for byte, gets the same report without being processed as a whole, unless anything that it is compared
// with has changed. properties.test.ts also sends earlier requests again, after any other requests and manual edits.
import { describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { changeGroup } from '../../people/groups.ts';
import { changeUser } from '../../people/users.ts';
import { apply, person, unit } from '../../testing/organizations.ts';
import type { TestAccount } from '../../testing/world.ts';
import { createManually, runOf, settings, useService, world } from '../organization.fixture.ts';

useService();

const lists = {
  users: [person('1', { accessInfo: { memberOf: ['a'] } }), person('2')],
  groups: [unit('root'), unit('a', { parent: 'root' })],
};
const unchanged = { users: { unchanged: 2 }, groups: { unchanged: 2 } };

/** Returns the id of the run that processed the last repeated request as a whole. */
async function processedBy({ id }: TestAccount, validateOnly = false): Promise<string | undefined> {
  const [row] = await world.pool<{ id: string }[]>`
    select run_id as id from repeated_pushes where account_id = ${id} and validate_only = ${validateOnly}`;
  return row?.id;
}

/** Returns an account whose people were pushed, the report of the same request sent again, and the run that processed the first one. */
async function sentTwice() {
  const account = await world.account();
  const { id: processed } = await apply(account, lists);
  const { body: report } = await account.push({ settings, data: lists });
  expect(report.summary).toMatchObject(unchanged);
  expect(await processedBy(account)).toBe(processed);
  return { account, report, processed };
}

const userIdOf = async ({ id }: TestAccount, externalId: string) =>
  (
    await world.pool<{ id: number }[]>`
      select user_id as id from users where account_id = ${id} and external_id = ${externalId}`
  )[0]!.id;

test('gets the same report, and a run of its own with the token that sent it', async () => {
  const { account, report, processed } = await sentTwice();
  const other = await createToken(world.pool, account.id, { name: 'other', scopes: ['organization'] });
  const { body, status } = await account.push({ settings, data: lists }, { authorization: other.token });
  expect([status, body]).toEqual([200, { ...report, id: body.id }]);
  expect(body.id).not.toBe(report.id);
  expect(await processedBy(account)).toBe(processed);
  const [first, second] = [await runOf(account, report.id), await runOf(account, body.id)];
  expect(second).toEqual({ ...first, run_id: body.id, at: second!['at'], token_id: other.id });
  const [audited] = await world.pool`
    select action from audit_entries where account_id = ${account.id} and subject = ${body.id}`;
  expect(audited).toEqual({ action: 'run applied' });
});

test('as a dry run and as not one, in turns', async () => {
  const { account, report, processed } = await sentTwice();
  const dry = { settings: { validateOnly: true }, data: lists };
  const { body: first } = await account.push(dry);
  for (let i = 0; i < 2; i++) {
    const { body: again } = await account.push(dry);
    expect(again).toEqual({ ...first, id: again.id });
    const { body: real } = await account.push({ settings, data: lists });
    expect(real).toEqual({ ...report, id: real.id });
  }
  expect([await processedBy(account, true), await processedBy(account)]).toEqual([first.id, processed]);
});

test('is processed as a whole if it was a dry run that found changes, or names a plan', async () => {
  const account = await world.account();
  const dry = { settings: { validateOnly: true }, data: lists };
  const { body: planned } = await account.push(dry);
  expect(await processedBy(account, true)).toBeUndefined();
  const named = { settings: { ...settings, expectedPlan: planned.plan }, data: lists };
  expect((await account.push(named)).status).toBe(200);
  expect(await processedBy(account)).toBeUndefined();
  expect((await account.push(named)).body).toMatchObject({ details: [{ type: 'unexpected plan' }] });
});

test('is processed as a whole again after a day', async () => {
  const { account, report } = await sentTwice();
  await world.pool`update runs set at = at - interval '1 day' where account_id = ${account.id}`;
  const { body } = await account.push({ settings, data: lists });
  expect(body).toEqual({ ...report, id: body.id });
  expect(await processedBy(account)).toBe(body.id);
});

test('by another account says nothing about this one', async () => {
  await sentTwice();
  const account = await world.account();
  const { body } = await account.push({ settings, data: lists });
  expect(body.summary).toMatchObject({ users: { created: 2 } });
});

test('with warnings is always processed as a whole, because they quote values', async () => {
  const account = await world.account();
  await changeAccountOf(account, { rolesBySync: false });
  const data = { users: [person('1', { accessInfo: { role: 'Manager' } })] };
  await apply(account, data);
  for (let i = 0; i < 2; i++) {
    const { body } = await account.push({ settings, data });
    expect(body.warnings.map(({ type }) => type)).toContain('roles ignored');
  }
  expect(await processedBy(account)).toBeUndefined();
});

const changeAccountOf = ({ id }: TestAccount, changes: Parameters<typeof changeAccount>[2]) =>
  inTransaction(world.pool, (tx) => changeAccount(tx, id, changes));

describe('is processed as a whole after', () => {
  const changes: Record<string, (account: TestAccount) => Promise<unknown>> = {
    'another request that changes a person': (account) =>
      apply(account, { users: [person('1'), person('2', { lastName: 'New' })] }),
    'a manual change of a person': async (account) => {
      await world.pool`update users set managed = false where account_id = ${account.id} and external_id = '2'`;
      const userId = await userIdOf(account, '2');
      await inTransaction(world.pool, (tx) =>
        changeUser(tx, account.id, userId, { lastName: 'New' }, userId),
      );
    },
    'a manual person': (account) => createManually.user(account, { email: 'new@example.org' }),
    'a manual group': (account) => createManually.group(account, { name: 'New' }),
    'a manual change of a group': async (account) => {
      await world.pool`update groups set managed = false where account_id = ${account.id}`;
      const [group] = await world.pool<
        { id: number }[]
      >`select group_id as id from groups where account_id = ${account.id}`;
      await inTransaction(world.pool, (tx) => changeGroup(tx, account.id, group!.id, { name: 'New' }));
    },
    'another parent of a group': ({ id }) =>
      world.pool`update groups set parent_id = null where account_id = ${id} and external_id = 'a'`,
    'a new attribute': (account) => createManually.attribute(account, 'town'),
    'an administrator is deactivated': ({ id }) =>
      world.pool`update users set active = false where account_id = ${id} and role = 'Administrator'`,
    'requests may no longer set roles': (account) => changeAccountOf(account, { rolesBySync: false }),
    'a removal of everyone': (account) => apply(account, { users: [], groups: [] }),
  };

  test.each(Object.entries(changes))('%s', async (_, change) => {
    const { account } = await sentTwice();
    await change(account);
    const before = await processedBy(account);
    // Other bytes, so this dry run is processed as a whole.
    const dry = await account.push({ settings: { maxUsersCreated: 20_000 }, data: lists });
    const { status, body } = await account.push({ settings, data: lists });
    expect([status, body.summary, body.changes, body.warnings]).toEqual([
      dry.status,
      dry.body.summary,
      dry.body.changes,
      dry.body.warnings,
    ]);
    const isRemembered = status === 200 && body.warnings.length === 0;
    expect(await processedBy(account)).toBe(isRemembered ? body.id : before);
  });
});
