// Tokens that turn off reminders or digests: each belongs to one person permanently, and none is stored.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction, openPool } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { openOptOut } from './opt-outs.ts';
import { personTokensFor } from './person-tokens.ts';
import { setDigests, setSurveyEmails } from './opt-outs.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** Creates an account with two people. */
async function people() {
  return inTransaction(database.pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Nordwind', language: 'de' });
    const of = async (firstName: string, language?: string) => ({
      accountId: account.id,
      userId: await createUser(tx, account.id, {
        firstName,
        lastName: 'Person',
        externalId: firstName,
        ...(language !== undefined && { language }),
      }),
    });
    return [await of('Ada'), await of('Bo', 'sv')] as const;
  });
}

test("a person's token is always the same, and works only for that person", async () => {
  const [ada, bo] = await people();
  const [other] = await people();
  const tokens = await personTokensFor(database.pool, 'reminders', [ada, bo, other]);
  expect(await personTokensFor(database.pool, 'reminders', [other, ada])).toEqual([tokens[2], tokens[0]]);
  expect(new Set(tokens).size).toBe(3);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/);
  const rest = { company: 'Nordwind', wanted: 'all' };
  expect(await Promise.all(tokens.map((token) => openOptOut(database.pool, 'reminders', token)))).toEqual([
    { ...ada, language: 'de', ...rest },
    { ...bo, language: 'sv', ...rest },
    { ...other, language: 'de', ...rest },
  ]);
  expect(await personTokensFor(database.pool, 'reminders', [])).toEqual([]);
});

test('creating tokens stores nothing', async () => {
  const [ada, bo] = await people();
  const dump = async () => {
    const tables = await database.pool<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public' order by tablename`;
    return Promise.all(tables.map(({ name }) => database.pool`select t::text from ${database.pool(name)} t`));
  };
  await personTokensFor(database.pool, 'reminders', [ada]);
  const before = await dump();
  await personTokensFor(database.pool, 'reminders', [ada, bo]);
  expect(await dump()).toEqual(before);
});

test('a token with any character changed does not work, and neither does one for an impossible ID', async () => {
  const [ada] = await people();
  const [token] = (await personTokensFor(database.pool, 'reminders', [ada])) as [string];
  const turned = [...token].map(
    (one, i) => `${token.slice(0, i)}${one === 'A' ? 'B' : 'A'}${token.slice(i + 1)}`,
  );
  const odd = [
    '',
    'x',
    `${token}A`,
    token.slice(1),
    '_'.repeat(32),
    'A'.repeat(32),
    `${token.slice(0, 31)}=`,
  ];
  for (const wrong of [...turned, ...odd]) {
    expect(await openOptOut(database.pool, 'reminders', wrong), `${wrong}`).toBeUndefined();
  }
});

test('reminders and all emails can be turned off and on again any number of times', async () => {
  const [ada, bo] = await people();
  const tokens = await personTokensFor(database.pool, 'reminders', [ada, bo]);
  const states = async () =>
    (await Promise.all(tokens.map((token) => openOptOut(database.pool, 'reminders', token)))).map(
      (one) => one?.wanted,
    );
  const order = ['all', 'invitations', 'none', 'none', 'invitations', 'all', 'none', 'all', 'all'] as const;
  for (const wanted of order) {
    expect(await setSurveyEmails(database.pool, ada.accountId, ada.userId, wanted)).toBe(true);
    expect(await states()).toEqual([wanted, 'all']);
  }
});

test('a token for digests changes nothing about reminders, and the other way round', async () => {
  const [ada, bo] = await people();
  const [[reminders], [digests]] = (await Promise.all(
    (['reminders', 'digests'] as const).map((kind) => personTokensFor(database.pool, kind, [ada])),
  )) as [[string], [string]];
  expect(await openOptOut(database.pool, 'reminders', digests)).toBeUndefined();
  expect(await openOptOut(database.pool, 'digests', reminders)).toBeUndefined();
  const states = async () => [
    (await openOptOut(database.pool, 'reminders', reminders))?.wanted,
    (await openOptOut(database.pool, 'digests', digests))?.wanted,
  ];
  expect(await setDigests(database.pool, ada.accountId, ada.userId, false)).toBe(true);
  expect(await setDigests(database.pool, ada.accountId, ada.userId, false)).toBe(false);
  expect(await states()).toEqual(['all', 'none']);
  await setSurveyEmails(database.pool, ada.accountId, ada.userId, 'invitations');
  expect(await setDigests(database.pool, ada.accountId, ada.userId, true)).toBe(true);
  expect(await states()).toEqual(['invitations', 'all']);
  await database.pool`delete from users where account_id = ${bo.accountId} and user_id = ${bo.userId}`;
  expect(await setDigests(database.pool, bo.accountId, bo.userId, false)).toBeUndefined();
});

test('works for an inactive person, but not after the person is removed', async () => {
  const [ada] = await people();
  const [token] = (await personTokensFor(database.pool, 'reminders', [ada])) as [string];
  const { accountId, userId } = ada;
  await database.pool`update users set active = false where account_id = ${accountId} and user_id = ${userId}`;
  expect(await openOptOut(database.pool, 'reminders', token)).toMatchObject(ada);
  await setSurveyEmails(database.pool, accountId, userId, 'none');
  await database.pool`delete from users where account_id = ${accountId} and user_id = ${userId}`;
  expect(await openOptOut(database.pool, 'reminders', token)).toBeUndefined();
  for (const wanted of ['all', 'none'] as const) {
    expect(await setSurveyEmails(database.pool, accountId, userId, wanted)).toBe(false);
  }
  expect(await database.pool`select 1 from reminder_opt_outs where account_id = ${accountId}`).toHaveLength(
    0,
  );
});

test('two processes that start at the same time create tokens that stay valid', async () => {
  const [ada, bo] = await people();
  await database.pool`delete from opt_out_keys`;
  const others = openPool(database.url, 2);
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const open = inTransaction(database.pool, async (tx) => {
    const [token] = (await personTokensFor(tx, 'reminders', [ada])) as [string];
    first.resolve(token);
    await second.promise;
  });
  const early = await first.promise;
  // Not committed yet, so no other process sees its key.
  const [late] = (await personTokensFor(others, 'reminders', [bo])) as [string];
  second.resolve();
  await open;
  await personTokensFor(database.pool, 'reminders', [ada]);
  expect(await openOptOut(database.pool, 'reminders', early)).toMatchObject(ada);
  expect(await openOptOut(others, 'reminders', late)).toMatchObject(bo);
  expect(await personTokensFor(others, 'reminders', [ada, bo])).toEqual(
    await personTokensFor(database.pool, 'reminders', [ada, bo]),
  );
  await others.end();
});
