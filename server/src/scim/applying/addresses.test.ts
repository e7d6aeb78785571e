// Addresses that move from one user of the directory to another one: no one loses an address because of a user who is refused.
import { beforeEach, expect, test } from 'vitest';
import {
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';

useService();

let directory: TestDirectory;
let ids: Record<string, string>;

/** Each with an own address, in the order of their creation. */
beforeEach(async () => {
  directory = await openDirectory();
  ids = {};
  for (const name of ['a', 'b', 'c', 'd']) ids[name] = await directory.create('Users', userOf(name));
  await directory.apply();
});

const move = (name: string, address: string) =>
  directory.send(
    'PATCH',
    `/Users/${ids[name]}`,
    patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: `${address}@example.com` }),
  );

/** Returns the addresses of people, by their names. */
const addresses = async () =>
  Object.fromEntries(
    Object.values(await peopleOf(directory.account.id))
      .map(({ name, email }) => [name, email?.split('@')[0] ?? null] as const)
      .toSorted(),
  );

/** Makes the externalId of a user, and of the person if there is one, invalid or valid again. With an invalid one, they are refused. */
async function setBad(name: string, isBad: boolean): Promise<void> {
  const { id: accountId } = directory.account;
  const id = ids[name] as string;
  const [from, to] = isBad ? [id, id.padEnd(300, 'x')] : [id.padEnd(300, 'x'), id];
  await world.pool`update users set external_id = ${to} where account_id = ${accountId} and external_id = ${from}`;
  await world.pool`update scim_users set person_key = ${to} where account_id = ${accountId} and scim_id = ${id}`;
}

/** Creates a user who is refused. */
async function createBad(name: string): Promise<void> {
  ids[name] = await directory.create('Users', userOf(name));
  await setBad(name, true);
}

// Of a batch of five, the first three are one part, and the other two another one.
test('a user who takes the address of one in another part of a divided batch gets it a minute later', async () => {
  await move('a', 'd');
  await move('b', 'p');
  await move('c', 'q');
  await move('d', 'r');
  await createBad('x');
  await directory.apply();
  expect(await addresses()).toEqual({ a: 'a', b: 'p', c: 'q', d: 'r' });
  await directory.apply();
  expect(await addresses()).toEqual({ a: 'd', b: 'p', c: 'q', d: 'r' });
});

test('users in different parts swap addresses in turn, and no one is without an address meanwhile', async () => {
  await move('a', 'b');
  await move('b', 'd');
  await move('c', 'q');
  await move('d', 'a');
  await createBad('x');
  for (let minute = 0; minute < 3; minute++) {
    await directory.apply();
    expect(Object.values(await addresses())).not.toContain(null);
  }
  expect(await addresses()).toEqual({ a: 'b', b: 'd', c: 'q', d: 'a' });
});

test('while the user who has an address is refused, one who is to get it waits, and a new one has none', async () => {
  await move('a', 'd');
  await move('c', 'a');
  await move('d', 'new');
  await setBad('d', true);
  await directory.apply();
  // `a` waits for `d`, and `c` for `a`.
  expect(await addresses()).toEqual({ a: 'a', b: 'b', c: 'c', d: 'd' });
  await move('a', 'b');
  await move('b', 'other');
  await directory.create('Users', userOf('e', { emails: [{ type: 'work', value: 'd@example.com' }] }));
  await directory.apply();
  expect(await addresses()).toEqual({ a: 'b', b: 'other', c: 'a', d: 'd', e: null });
  await setBad('d', false);
  await directory.apply(90);
  expect(await addresses()).toEqual({ a: 'b', b: 'other', c: 'a', d: 'new', e: 'd' });
});
