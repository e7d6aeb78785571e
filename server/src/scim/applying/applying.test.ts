// What a directory writes becomes people and groups, by runs; and what it removes waits, or awaits approval.
import { describe, expect, test } from 'vitest';
import { approveRun, rejectRun } from '../../files/approval.ts';
import { inTransaction } from '../../db/db.ts';
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
import { insertEndpoint, nextEndpointId } from '../../webhooks/endpoints.sql.ts';
import { allEvents } from '../../webhooks/webhooks.fixture.ts';
import { refuseOutdated } from './removals.ts';

useService();

const names = (count: number) => Array.from({ length: count }, (_, i) => `p${String(i).padStart(3, '0')}`);

/** Creates users, applies them and returns their ids. */
async function filled(count: number): Promise<{ directory: TestDirectory; ids: string[] }> {
  const directory = await openDirectory();
  const ids: string[] = [];
  for (const name of names(count)) ids.push(await directory.create('Users', userOf(name)));
  await directory.apply();
  return { directory, ids };
}
const deactivate = (directory: TestDirectory, id: string) =>
  directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'active', value: 'False' }));
const countOf = async ({ account }: TestDirectory) => {
  const people = Object.values(await peopleOf(account.id));
  return { all: people.length, active: people.filter(({ active }) => active).length };
};
const decider = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };

describe('a user of the directory', () => {
  test('becomes a person, with the work address, the mobile number, language, time zone and attributes', async () => {
    const directory = await openDirectory();
    const { id: accountId } = directory.account;
    await world.pool`insert into attributes (account_id, name) values (${accountId}, 'Department'), (${accountId}, 'title')`;
    const more = {
      emails: [
        { type: 'home', value: 'h@example.com', primary: true },
        { type: 'work', value: 'w@example.com' },
      ],
      phoneNumbers: [
        { type: 'work', value: '+46 8 123 45 67' },
        { type: 'mobile', value: '+46 70 123 45 67' },
      ],
      preferredLanguage: 'sv-SE',
      timezone: 'Europe/Stockholm',
      title: 'Engineer',
      password: 'must never be stored',
    };
    await directory.create('Users', userOf('anna', more, { department: 'Sales' }));
    await directory.apply();
    const [row] = await world.pool`
      select email, phone, language, timezone, attributes, managed, by_scim, role from users
      where account_id = ${accountId} and by_scim`;
    expect(row).toEqual({
      email: 'w@example.com',
      phone: '+46701234567',
      language: 'sv',
      timezone: 'Europe/Stockholm',
      attributes: { Department: 'Sales', title: 'Engineer' },
      managed: true,
      by_scim: true,
      role: 'User',
    });
    const stored =
      await world.pool`select resource::text as text from scim_users where account_id = ${accountId}`;
    expect(JSON.stringify(stored)).not.toContain('must never');
  });

  test('with values that Soundings can not use becomes a person without them', async () => {
    const directory = await openDirectory();
    const more = {
      userName: 'no-address',
      emails: [{ value: 'not an address' }],
      phoneNumbers: [{ value: '12' }],
      preferredLanguage: 'xx-Klingon',
      timezone: 'Mars/Olympus',
      name: {},
      displayName: 'Bo Ek',
    };
    await directory.create('Users', userOf('bo', more));
    await directory.apply();
    expect(await peopleOf(directory.account.id)).toEqual({
      Bo: { name: 'Bo', email: null, active: true, bySource: 'scim', groups: [], owns: [] },
    });
  });

  test('that changes changes the person, in one run with the token and an entry in the audit log', async () => {
    const { directory, ids } = await filled(3);
    const { id: accountId } = directory.account;
    await directory.send(
      'PATCH',
      `/Users/${ids[1]}`,
      patchOf({ op: 'replace', path: 'name.givenName', value: 'Renamed' }),
    );
    await directory.apply();
    expect(Object.keys(await peopleOf(accountId)).toSorted()).toEqual(['Renamed', 'p000', 'p002']);
    const [run, first] = await directoryRuns(accountId);
    expect([run?.summary.users, first?.summary.users]).toMatchObject([{ updated: 1 }, { created: 3 }]);
    const audited = await world.pool`
      select a.action, t.name from audit_entries a join tokens t on t.account_id = a.account_id and t.token_id = a.token_id
      where a.account_id = ${accountId} and a.subject = ${run!.id}`;
    expect([...audited]).toEqual([{ action: 'run applied', name: 'directory' }]);
  });

  test('whose change makes no difference to the person starts no run', async () => {
    const { directory, ids } = await filled(1);
    await directory.send(
      'PATCH',
      `/Users/${ids[0]}`,
      patchOf({ op: 'add', path: 'nickName', value: 'Pepe' }),
    );
    await directory.apply();
    await directory.apply();
    expect(await directoryRuns(directory.account.id)).toHaveLength(1);
  });

  test('with the address of another user becomes a person without an address, and the run warns', async () => {
    const directory = await openDirectory();
    await directory.create('Users', userOf('one', { emails: [{ value: 'same@example.com' }] }));
    await directory.create('Users', userOf('two', { emails: [{ value: 'SAME@example.com' }] }));
    await directory.apply();
    const people = await peopleOf(directory.account.id);
    expect([people['one']?.email, people['two']?.email]).toEqual(['same@example.com', null]);
    const [run] =
      await world.pool`select warnings from runs where account_id = ${directory.account.id} and source = 'scim'`;
    expect(run?.['warnings']).toMatchObject([{ type: 'duplicate email' }]);
  });

  test('can swap the address with another one', async () => {
    const { directory, ids } = await filled(2);
    for (const [i, name] of ['p001', 'p000'].entries())
      await directory.send(
        'PATCH',
        `/Users/${ids[i]}`,
        patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: `${name}@example.com` }),
      );
    await directory.apply();
    const people = await peopleOf(directory.account.id);
    expect([people['p000']?.email, people['p001']?.email]).toEqual(['p001@example.com', 'p000@example.com']);
  });
});

describe('a removal', () => {
  test('waits until the directory has removed no one else for a while, and is then applied', async () => {
    const { directory, ids } = await filled(4);
    await deactivate(directory, ids[0]!);
    expect((await directory.send('DELETE', `/Users/${ids[1]}`)).status).toBe(204);
    await directory.apply(9);
    expect(await countOf(directory)).toEqual({ all: 4, active: 4 });
    await directory.apply(11);
    expect(await countOf(directory)).toEqual({ all: 3, active: 2 });
    expect((await directory.send('GET', `/Users/${ids[0]}`)).body.active).toBe(false);
    expect((await directory.send('GET', `/Users/${ids[1]}`)).status).toBe(404);
    const rest = await world.pool`select from scim_users where account_id = ${directory.account.id}`;
    expect(rest).toHaveLength(3);
  });

  test('that the directory takes back in time never happens', async () => {
    const { directory, ids } = await filled(2);
    await deactivate(directory, ids[0]!);
    await directory.apply();
    await directory.send('PATCH', `/Users/${ids[0]}`, patchOf({ op: 'replace', value: { active: true } }));
    await directory.apply(20);
    expect(await countOf(directory)).toEqual({ all: 2, active: 2 });
  });

  test('of a user who is created again keeps the person, with the history', async () => {
    const { directory, ids } = await filled(1);
    const idOf = async () =>
      (
        await world.pool`select user_id from users where account_id = ${directory.account.id} and by_scim`
      )[0]?.['user_id'] as number;
    const before = await idOf();
    await directory.send('DELETE', `/Users/${ids[0]}`);
    await directory.apply();
    const again = await directory.create('Users', userOf('P000'.toLowerCase()));
    expect(again).not.toBe(ids[0]);
    await directory.apply(20);
    expect([await idOf(), await countOf(directory)]).toEqual([before, { all: 1, active: 1 }]);
  });

  test('of 90% of the users awaits approval: no one is removed, the pending run shows them, and other changes are applied', async () => {
    const { directory, ids } = await filled(40);
    const { id: accountId } = directory.account;
    for (const [i, id] of ids.slice(4).entries()) {
      if (i % 2 === 0) await deactivate(directory, id);
      else await directory.send('DELETE', `/Users/${id}`);
      if (i % 6 === 0) await directory.apply();
    }
    await directory.create('Users', userOf('newcomer'));
    await directory.apply(600);
    expect(await countOf(directory)).toEqual({ all: 41, active: 41 });
    const pending = (await directoryRuns(accountId)).filter(({ outcome }) => outcome === 'pending');
    expect(pending).toHaveLength(1);
    await directory.apply(1200);
    const run = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
    expect([run?.id, run?.summary.users]).toMatchObject([pending[0]!.id, { deleted: 18, updated: 18 }]);
    // The directory itself is answered as it expects.
    expect((await directory.send('GET', '/Users?filter=active eq true')).body.totalResults).toBe(5);
  });

  test('that is pending and approved is applied', async () => {
    const { directory, ids } = await filled(20);
    const { id: accountId } = directory.account;
    for (const id of ids.slice(2)) await directory.send('DELETE', `/Users/${id}`);
    await directory.apply();
    const [run] = await directoryRuns(accountId);
    expect(run).toMatchObject({ outcome: 'pending', summary: { users: { deleted: 18 } } });
    const approval = { by: decider, peopleRemoved: 18, groupsRemoved: 0 };
    await approveRun(world.pool, accountId, run!.id, { deleteGroupResults, refuseOutdated }, approval);
    expect(await countOf(directory)).toEqual({ all: 2, active: 2 });
    await directory.apply(600);
    expect((await directoryRuns(accountId)).map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
  });

  test('that is pending and partly taken back meanwhile is not applied, although the run still shows it', async () => {
    const { directory, ids } = await filled(20);
    const { id: accountId } = directory.account;
    for (const id of ids) await deactivate(directory, id);
    await directory.apply();
    const [run] = await directoryRuns(accountId);
    await directory.send(
      'PATCH',
      `/Users/${ids[3]}`,
      patchOf({ op: 'replace', path: 'active', value: true }),
    );
    await directory.apply();
    const approval = { by: decider, peopleRemoved: 0, groupsRemoved: 0 };
    const hooks = { deleteGroupResults, refuseOutdated };
    await expect(approveRun(world.pool, accountId, run!.id, hooks, approval)).rejects.toMatchObject({
      code: 'plan changed',
    });
    expect(await countOf(directory)).toEqual({ all: 20, active: 20 });
    // A minute later the run shows what the directory wants now.
    await directory.apply(2);
    await approveRun(world.pool, accountId, run!.id, hooks, approval);
    expect(await countOf(directory)).toEqual({ all: 20, active: 1 });
  });

  test('that is pending and rejected does not come back, until the directory removes the person again', async () => {
    const { directory, ids } = await filled(20);
    const { id: accountId } = directory.account;
    for (const id of ids.slice(2)) await deactivate(directory, id);
    await directory.apply();
    const [run] = await directoryRuns(accountId);
    await rejectRun(world.pool, accountId, run!.id, decider);
    await directory.apply(600);
    await directory.apply(1200);
    expect(await countOf(directory)).toEqual({ all: 20, active: 20 });
    expect((await directoryRuns(accountId)).map(({ outcome }) => outcome)).toEqual(['refused', 'applied']);
    await directory.send(
      'PATCH',
      `/Users/${ids[5]}`,
      patchOf({ op: 'replace', path: 'active', value: true }),
    );
    await deactivate(directory, ids[5]!);
    await directory.apply(1200);
    expect(await countOf(directory)).toEqual({ all: 20, active: 19 });
  });

  test('that is pending and taken back by the directory ends the pending run', async () => {
    const { directory, ids } = await filled(20);
    for (const id of ids) await deactivate(directory, id);
    await directory.apply();
    for (const id of ids)
      await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }));
    await directory.apply(600);
    expect((await directoryRuns(directory.account.id)).map(({ outcome }) => outcome)).toEqual([
      'refused',
      'applied',
    ]);
    expect(await countOf(directory)).toEqual({ all: 20, active: 20 });
  });

  test('counts against the limit of the day: small steps remove no more than a large one', async () => {
    const { directory, ids } = await filled(20);
    for (const [i, id] of ids.entries()) {
      await deactivate(directory, id);
      await directory.apply(15 * (i + 1));
    }
    expect(await countOf(directory)).toEqual({ all: 20, active: 15 });
    const outcomes = (await directoryRuns(directory.account.id)).map(({ outcome }) => outcome);
    expect(outcomes.filter((one) => one === 'pending')).toHaveLength(1);
  });
});

describe('the last administrator', () => {
  /** Makes a person of the directory the only administrator. */
  async function onlyAdministrator({ account }: TestDirectory, name: string): Promise<void> {
    await world.pool`
      update users set role = case when first_name = ${name} then 'Administrator' else 'User' end, role_pending = false
      where  account_id = ${account.id}`;
  }
  const move = (directory: TestDirectory, id: string, address: string) =>
    directory.send(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: address }),
    );

  test('who gets another address stops no one else, is tried again, and the refusal is shown once', async () => {
    const { directory, ids } = await filled(3);
    const { id: accountId } = directory.account;
    await onlyAdministrator(directory, 'p000');
    await world.pool`update users set active = false where account_id = ${accountId} and first_name = 'Ada'`;
    for (const [i, id] of ids.entries()) await move(directory, id, `new${i}@example.com`);
    const emails = async () => Object.values(await peopleOf(accountId)).map(({ email }) => email);
    for (let i = 0; i < 3; i++) {
      await directory.apply(i);
      expect((await emails()).toSorted()).toEqual([
        'new1@example.com',
        'new2@example.com',
        'p000@example.com',
      ]);
    }
    const waiting = await world.pool`
      select scim_id::text as id from scim_users where account_id = ${accountId} and changes <> applied`;
    expect([...waiting]).toEqual([{ id: ids[0] }]);
    const outcomes = (await directoryRuns(accountId)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['refused', 'applied', 'applied']);
    await world.pool`
      update users set active = true, role = 'Administrator' where account_id = ${accountId} and first_name = 'Ada'`;
    await directory.apply(4);
    expect((await emails()).toSorted()).toEqual(['new0@example.com', 'new1@example.com', 'new2@example.com']);
  });

  test('stays, and the others of the same removal do not', async () => {
    const { directory, ids } = await filled(4);
    await onlyAdministrator(directory, 'p001');
    for (const id of ids.slice(0, 3)) await deactivate(directory, id);
    await directory.apply(20);
    const people = await peopleOf(directory.account.id);
    expect(Object.fromEntries(Object.values(people).map(({ name, active }) => [name, active]))).toEqual({
      p000: false,
      p001: true,
      p002: false,
      p003: true,
    });
  });

  test('stays out of a pending run', async () => {
    const { directory, ids } = await filled(20);
    const { id: accountId } = directory.account;
    await onlyAdministrator(directory, 'p001');
    for (const id of ids) await deactivate(directory, id);
    await directory.apply();
    const run = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
    expect(run?.summary.users).toMatchObject({ updated: 19 });
    const approval = { by: decider, peopleRemoved: 0, groupsRemoved: 0 };
    await approveRun(world.pool, accountId, run!.id, { deleteGroupResults, refuseOutdated }, approval);
    expect(await countOf(directory)).toEqual({ all: 20, active: 1 });
  });
});

test('runs of the directory are reported to webhooks as such', async () => {
  const { directory, ids } = await filled(12);
  const { id: accountId } = directory.account;
  const more = { url: 'https://example.com/', description: '', secret: Buffer.alloc(1), createdBy: null };
  await inTransaction(world.pool, async (tx) =>
    insertEndpoint(tx, accountId, { id: await nextEndpointId(tx), events: allEvents, ...more }),
  );
  await directory.create('Users', userOf('later'));
  for (const id of ids) await deactivate(directory, id);
  await directory.apply();
  const [pending] = await directoryRuns(accountId);
  await rejectRun(world.pool, accountId, pending!.id, decider);
  const events = await world.pool<{ type: string; source: string }[]>`
    select type, data ->> 'source' as source from webhook_events where account_id = ${accountId} order by event_id`;
  expect(events.map(({ type, source }) => [type, source])).toEqual([
    ['run.applied', 'scim'],
    ['run.pending', 'scim'],
    ['run.rejected', 'scim'],
  ]);
});
