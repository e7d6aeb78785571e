// Previous email addresses are deleted after 30 days, while people are changed.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { forWholeLists, inTransaction, openPool } from '../db/db.ts';
import { planAsking } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { endsOfBoth } from '../testing/keep-open.ts';
import { deleteEmailsBefore, updateUsersManaged } from './users.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('several people can be changed while their previous addresses are deleted: neither waits for the other forever', async () => {
  const { pool, url } = database;
  const lists = openPool(url, 1, forWholeLists);
  onTestFinished(() => lists.end({ timeout: 5 }));
  const accountId = await inTransaction(
    pool,
    async (tx) => (await createAccount(tx, { name: 'Nordwind' })).id,
  );
  const { userIds } = await planAsking(pool, accountId, { count: 2 });
  const first = userIds[0] as number;
  await pool`
    update users set email_before = 'old@example.org', email_changed_at = now() - interval '31 days' where account_id = ${accountId}`;
  // Its row is stored after that of the other person.
  await pool`update users set timezone = 'UTC' where account_id = ${accountId} and user_id = ${first}`;
  const left = async () =>
    (await pool`select from users where account_id = ${accountId} and email_before is not null`).length;
  const ended = await endsOfBoth(
    pool,
    (tx) => tx`select from users where account_id = ${accountId} and user_id = ${first} for update`,
    () => inTransaction(lists, (tx) => updateUsersManaged(tx, accountId, userIds, false)),
    () => deleteEmailsBefore(pool),
  );
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  await deleteEmailsBefore(pool);
  expect(await left()).toBe(0);
});
