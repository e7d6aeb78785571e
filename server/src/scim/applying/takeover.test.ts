// Handing people over to the directory: one by one or together, seen as a plan first, applied as a run, kept, and taken back.
import { expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { releaseUser } from '../../people/handover.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import {
  directoryRuns,
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { planTakeover, takeOverPeople } from './takeover.ts';
import { keepPerson, keepReleased, waitingOf, waitingUserOf } from './waiting-users.ts';

useService();

const actor = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };
/** An administrator who is none of the people. */
const by = 0;

const plan = ({ account }: TestDirectory, id?: string, who = by) =>
  planTakeover(world.pool, account.id, { id, by: who }, deleteGroupResults);
const takeOver = ({ account }: TestDirectory, id: string | undefined, digest: string, who = by) =>
  takeOverPeople(world.pool, account.id, { id, by: who, digest, actor, canMail: false }, deleteGroupResults);
const waiting = ({ account }: TestDirectory, who = by) => waitingOf(world.pool, account.id, who);

/** Adds a manual person with the address of a user of the directory. */
async function manual({ account }: TestDirectory, name: string, role = 'User'): Promise<number> {
  const email = `${name}@example.com`;
  const [row] = await world.pool<{ id: number }[]>`
    insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
    values (${account.id}, false, ${name}, 'Manual', ${email}, ${email}, true, ${role})
    returning user_id as "id"`;
  return row!.id;
}

const bySource = async ({ account }: TestDirectory) =>
  Object.fromEntries(
    Object.values(await peopleOf(account.id)).map(({ name, bySource: source }) => [name, source]),
  );

test('one person is handed over, alone, with exactly the changes that the plan showed, in a run', async () => {
  const directory = await openDirectory();
  const [anna] = [await manual(directory, 'anna'), await manual(directory, 'bo')];
  const renamed = { name: { givenName: 'Anna', familyName: 'Ek' } };
  const id = await directory.create('Users', userOf('anna', renamed));
  await directory.create('Users', userOf('bo'));
  await directory.apply();
  expect(await waiting(directory)).toMatchObject({
    count: 2,
    people: 2,
    rows: [{ person: { id: anna, source: 'manual' }, hindrance: null, isKept: false }, {}],
  });
  const shown = await plan(directory, id);
  expect(shown).toMatchObject({
    people: 1,
    pairs: [{ id, name: 'Anna Ek', person: { id: anna, name: 'anna Manual' } }],
    changes: [
      {
        action: 'update',
        name: 'anna Manual',
        fields: { firstName: { from: 'anna', to: 'Anna' }, lastName: { from: 'Manual', to: 'Ek' } },
      },
    ],
    leaving: 0,
  });
  // The plan changes nothing.
  expect(await bySource(directory)).toEqual({ anna: 'manual', bo: 'manual' });
  expect(await directoryRuns(directory.account.id)).toEqual([]);
  expect(await takeOver(directory, id, shown.digest)).toBe(1);
  expect(await bySource(directory)).toEqual({ Anna: 'scim', bo: 'manual' });
  const [run, ...others] = await directoryRuns(directory.account.id);
  expect([run?.outcome, run?.summary.users.updated, others]).toEqual(['applied', 1, []]);
  await directory.apply();
  expect(await directoryRuns(directory.account.id)).toHaveLength(1);
  const [entry] = await world.pool`
    select subject, details from audit_entries
    where account_id = ${directory.account.id} and action = 'people provisioned'`;
  expect(entry).toMatchObject({ subject: String(anna), details: { people: 1, role: 'User' } });
});

test('a plan that is out of date is not applied, whether the directory or the person has changed', async () => {
  const directory = await openDirectory();
  const anna = await manual(directory, 'anna');
  const id = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const { digest } = await plan(directory, id);
  const rename = (value: string) =>
    directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'name.givenName', value }));
  await rename('Other');
  await expect(takeOver(directory, id, digest)).rejects.toMatchObject({ code: 'changed since' });
  await rename('anna');
  await world.pool`update users set phone = '+46701234567' where user_id = ${anna} and account_id = ${directory.account.id}`;
  await expect(takeOver(directory, id, digest)).rejects.toMatchObject({ code: 'changed since' });
  await directory.send('DELETE', `/Users/${id}`);
  await expect(plan(directory, id)).rejects.toMatchObject({ code: 'changed since' });
  expect(await bySource(directory)).toEqual({ anna: 'manual' });
});

test('an administrator waits, is not handed over with the others, and is decided alone', async () => {
  const directory = await openDirectory();
  await manual(directory, 'bo');
  const anna = await manual(directory, 'anna', 'Administrator');
  await directory.create('Users', userOf('bo'));
  const id = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const state = await waiting(directory);
  expect(state).toMatchObject({ count: 2, people: 1 });
  // Those who are decided one by one come first.
  expect(state.rows.map(({ person }) => person?.role)).toEqual(['Administrator', 'User']);
  const together = await plan(directory);
  expect(together.pairs.map(({ person }) => person.role)).toEqual(['User']);
  await takeOver(directory, undefined, together.digest);
  expect(await bySource(directory)).toEqual({ anna: 'manual', bo: 'scim' });
  await takeOver(directory, id, (await plan(directory, id)).digest);
  expect(await bySource(directory)).toEqual({ anna: 'scim', bo: 'scim' });
  const [row] = await world.pool`
    select role, role_pending as pending from users where account_id = ${directory.account.id} and user_id = ${anna}`;
  expect(row).toEqual({ role: 'Administrator', pending: false });
});

test('a person who is kept no longer waits for a decision, whatever the directory changes, until that is decided again', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const anna = await manual(directory, 'anna', 'Administrator');
  const id = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const keep = (personId: number, kept: boolean) =>
    keepPerson(world.pool, account.id, { id, personId, kept, by: actor });
  await expect(keep(anna + 1, true)).rejects.toMatchObject({ code: 'changed since' });
  await keep(anna, true);
  const kept = { count: 0, people: 0, rows: [], keptCount: 1, kept: [{ id, isKept: true }] };
  expect(await waiting(directory)).toMatchObject(kept);
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'add', path: 'title', value: 'Boss' }));
  await directory.apply();
  expect(await waiting(directory)).toMatchObject(kept);
  // The decision is about this person only: someone else with the address is to be decided.
  await world.pool`update users set email = null, email_key = null where account_id = ${account.id} and user_id = ${anna}`;
  await world.pool`
    insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
    values (${account.id}, false, 'other', 'Manual', 'anna@example.com', 'anna@example.com', true, 'User')`;
  expect(await waiting(directory)).toMatchObject({ count: 1, keptCount: 0 });
  await world.pool`update users set email = null, email_key = null where account_id = ${account.id} and first_name = 'other'`;
  await world.pool`
    update users set email = 'anna@example.com', email_key = 'anna@example.com'
    where account_id = ${account.id} and user_id = ${anna}`;
  await keep(anna, false);
  expect(await waiting(directory)).toMatchObject({ count: 1, keptCount: 0 });
  const decisions = await world.pool`
    select subject, details from audit_entries where account_id = ${account.id} and action = 'person kept' order by position`;
  expect([...decisions]).toEqual([
    { subject: String(anna), details: { kept: true } },
    { subject: String(anna), details: { kept: false } },
  ]);
});

test('a person who is taken back is kept, and can be handed over again as the same user', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const id = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const [row] = await world.pool<{ id: number; externalId: string }[]>`
    select user_id as "id", external_id as "externalId" from users where account_id = ${account.id} and by_scim`;
  const person = { ...row!, email: 'anna@example.com' };
  await inTransaction(world.pool, async (tx) => {
    await releaseUser(tx, account.id, person.id);
    await keepReleased(tx, account.id, [person.id]);
  });
  expect(await waiting(directory)).toMatchObject({ count: 0, keptCount: 1, kept: [{ id }] });
  await directory.send(
    'PATCH',
    `/Users/${id}`,
    patchOf({ op: 'replace', path: 'name.givenName', value: 'Renamed' }),
  );
  await directory.apply();
  expect(await bySource(directory)).toEqual({ anna: 'manual' });
  expect(await waitingUserOf(world.pool, account.id, person, by)).toMatchObject({ id, isKept: true });
  await takeOver(directory, id, (await plan(directory, id)).digest);
  expect(await bySource(directory)).toEqual({ Renamed: 'scim' });
  expect(await waitingUserOf(world.pool, account.id, person, by)).toBeNull();
  expect(await waiting(directory)).toMatchObject({ count: 0, keptCount: 0 });
});

test('two users with the address of one person: one becomes the person, and the other does not take it away', async () => {
  const directory = await openDirectory();
  const anna = await manual(directory, 'anna');
  const first = await directory.create('Users', userOf('anna'));
  const second = await directory.create(
    'Users',
    userOf('second', { emails: [{ type: 'work', value: 'anna@example.com' }] }),
  );
  await directory.apply();
  expect((await plan(directory)).pairs.map(({ id }) => id)).toEqual([first]);
  await takeOver(directory, second, (await plan(directory, second)).digest);
  await expect(plan(directory, first)).rejects.toMatchObject({ code: 'changed since' });
  // Taken back, the person stays this user: another one can't become it.
  await inTransaction(world.pool, (tx) => releaseUser(tx, directory.account.id, anna));
  await directory.send('PATCH', `/Users/${first}`, patchOf({ op: 'add', path: 'title', value: 'X' }));
  await directory.apply();
  await expect(plan(directory, first)).rejects.toMatchObject({ code: 'changed since' });
  await takeOver(directory, second, (await plan(directory, second)).digest);
});

test('a deactivated user is handed over, and the plan says that the person leaves after the wait', async () => {
  const directory = await openDirectory();
  await manual(directory, 'anna');
  const id = await directory.create('Users', userOf('anna', { active: false }));
  await directory.apply();
  const shown = await plan(directory, id);
  expect(shown.leaving).toBe(1);
  await takeOver(directory, id, shown.digest);
  expect((await peopleOf(directory.account.id))['anna']).toMatchObject({ active: true, bySource: 'scim' });
  await directory.apply(600);
  expect((await peopleOf(directory.account.id))['anna']).toMatchObject({ active: false });
});
