// All users of an account, as a commit reads them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { halvesOf } from '../../base/crypto/digest.ts';
import { inTransaction } from '../../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { fingerprintOf } from '../repeated/fingerprints.ts';
import { externalIdDigest } from './people-index.ts';
import { newSeenUsers } from './seen-users.ts';
import { noteRemovedPeople, selectUsersBefore } from './sent-people.sql.ts';
import { readUsersBefore } from './users-before.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('are found by any externalId and the fingerprint, and those that pushes manage are known', async () => {
  const { pool } = database;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Any externalIds' }));
  const externalIds = [
    '1',
    '12 m',
    ' 7',
    'é',
    'aé1',
    '日本',
    '😀 0',
    'line\n2',
    '-',
    'm',
    '\\N',
    '"',
    'x'.repeat(1_000),
  ];
  const kinds = [
    { managed: true, byScim: false, hasFingerprint: true },
    { managed: true, byScim: false, hasFingerprint: false },
    { managed: true, byScim: true, hasFingerprint: true },
    { managed: false, byScim: false, hasFingerprint: false },
  ];
  const users = kinds.flatMap((kind, k) =>
    externalIds.map((externalId, i) => ({
      ...kind,
      externalId: k === 0 ? externalId : `${externalId}${k}`,
      print: fingerprintOf({ externalId, firstName: `F${i}`, lastName: `L${k}` }, false, () => null),
    })),
  );
  const rows = await pool<{ id: number; externalId: string }[]>`
    insert into users (account_id, managed, by_scim, external_id, first_name, last_name, active, role, fingerprint)
    select ${id}, managed, by_scim, external_id, 'First', 'Last', true, 'User', print
    from   unnest(${users.map((user) => String(user.managed))}::text[]::boolean[], ${users.map((user) => String(user.byScim))}::text[]::boolean[],
                  ${users.map((user) => user.externalId)}::text[],
                  ${users.map((user) => (user.hasFingerprint ? user.print : null))}::text[]) u (managed, by_scim, external_id, print)
    returning user_id as "id", external_id as "externalId"`;
  const idOf = new Map(rows.map((row) => [row.externalId, row.id]));
  // Someone without an externalId, and another account.
  await pool`
    insert into users (account_id, managed, first_name, last_name, active, role) values (${id}, false, 'A', 'B', true, 'User')`;
  const { known, managed } = await inTransaction(pool, (tx) => readUsersBefore(selectUsersBefore(tx, id), 1));
  for (const { externalId, print, hasFingerprint } of users) {
    const find = (fingerprint: string) =>
      known!.unchanged({ externalId: externalIdDigest(externalId), fingerprint: halvesOf(fingerprint) });
    expect([externalId, find(print)]).toEqual([
      externalId,
      hasFingerprint ? idOf.get(externalId) : undefined,
    ]);
    expect(find('00000000000000')).toBeUndefined();
  }
  const byPushes = users
    .filter((user) => user.managed && !user.byScim)
    .map((user) => idOf.get(user.externalId) as number);
  expect([...managed]).toEqual(byPushes.toSorted((a, b) => a - b));
});

test('all users of a large account are read, however many a statement reads', async () => {
  const { pool } = database;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Many' }));
  await pool`
    insert into users (account_id, managed, external_id, first_name, last_name, active, role)
    select ${id}, true, 'n' || n, 'First', 'Last', true, 'User' from generate_series(1, 45000) n`;
  const { managed } = await inTransaction(pool, (tx) => readUsersBefore(selectUsersBefore(tx, id), 45_000));
  const rows = await pool<{ id: number }[]>`
    select user_id as "id" from users where account_id = ${id} order by user_id`;
  expect([...managed]).toEqual(rows.map((row) => row.id));
});

test('if no one has to be known, only those that pushes manage are read', async () => {
  const texts = (async function* () {
    yield Buffer.from(`7m-1 a9o-2 é12m${'0'.repeat(14)}1 b`);
  })();
  expect(await readUsersBefore(texts, undefined)).toEqual({
    known: undefined,
    managed: Int32Array.of(7, 12),
  });
});

test.for(['7m-9 a', '7m-1', '7m-', '7', 'm-1 a', '7m-1 a é'])(
  'a damaged text is an error: %j',
  async (text) => {
    const texts = (async function* () {
      yield Buffer.from(text);
    })();
    await expect(readUsersBefore(texts, 1)).rejects.toThrow('could not be read');
  },
);

test('only people that pushes manage are removed', async () => {
  const { pool } = database;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Removals' }));
  const rows = await pool<{ id: number }[]>`
    insert into users (account_id, managed, by_scim, external_id, first_name, last_name, active, role)
    values (${id}, true, false, 'a', 'First', 'Last', true, 'User'), (${id}, true, true, 'b', 'First', 'Last', true, 'User'),
           (${id}, false, false, 'c', 'First', 'Last', true, 'User')
    returning user_id as "id"`;
  const [managed, ...others] = rows.map((row) => row.id);
  const noted = (ids: number[]) => inTransaction(pool, (tx) => noteRemovedPeople(tx, id, ids));
  await noted([managed as number]);
  for (const other of others)
    await expect(noted([managed as number, other])).rejects.toThrow('2 users were to be removed');
});

test('users that no list names are missing', () => {
  const seen = newSeenUsers(5);
  for (const [place, id] of [9, 2, 7, 2].entries()) seen.add(id, place, true);
  expect(seen.missing(Int32Array.of(1, 2, 3, 7, 9, 10))).toEqual([1, 3, 10]);
  expect(newSeenUsers(0).missing(Int32Array.of(4))).toEqual([4]);
});
