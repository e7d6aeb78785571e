// The console's people: who may, finding, changing by hand what no interface delivers, removing, and handing over to pushes
// and back, with what the next push then does.
import type { Handover, Person, PersonRow } from '@soundings/contract/console/people.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { saveAnswers, openLink } from '../../answers/answering.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { createUser } from '../../people/users.ts';
import { askPeople, noon } from '../../testing/asking.ts';
import { type Ask, signInNew } from '../../testing/signed-in.ts';
import { linkOf } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => noon);
});
afterAll(() => world?.close());

type People = { total: number; rows: PersonRow[] };

/** An account, its administrator Ann, and what pushes to it. */
async function office() {
  const account = await world.account();
  const { ask, userId } = await signInNew(world, account.id, 'Administrator');
  const found = async (query: string) =>
    (await ask<People>(`GET /users?offset=0&limit=100&${query}`)).body.rows.map(({ lastName }) => lastName);
  const push = (data: object, settings = {}) =>
    account.push({ settings: { validateOnly: false, ...settings }, data });
  return { account, ask, me: userId, found, push };
}

const john = { externalId: 'j1', firstName: 'John', lastName: 'Åberg', email: 'john@example.org' };
const person = (wanted: object = {}) => ({
  firstName: 'Søren',
  lastName: 'Ørsted',
  email: null,
  phone: null,
  role: 'User',
  language: null,
  timezone: null,
  active: true,
  externalId: null,
  ...wanted,
});
const added = async (ask: Ask, wanted: object = {}) =>
  (await ask<{ id: number }>('POST /users', person(wanted))).body.id;
const pathsOf = ({ body }: { body: Problem }) => body.details.map(({ type, path }) => [type, path]);
const actionsOf = async (account: TestAccount) =>
  (
    await world.pool<{ action: string }[]>`
      select action from audit_entries where account_id = ${account.id} and origin = 'console' order by entry_id`
  ).map(({ action }) => action);

describe('who may', () => {
  test('managers and users have no access to any of it; of another account nobody is found', async () => {
    const { account } = await office();
    const stranger = await office();
    const id = await added(stranger.ask);
    const operations: [string, object?][] = [
      [`GET /users/${id}`],
      [`PATCH /users/${id}`, { firstName: 'X' }],
      [`DELETE /users/${id}`],
      [`POST /users/${id}/adopt`, { externalId: 'x' }],
      [`POST /users/${id}/release`],
      [`POST /users/${id}/sign-in-link`, { by: 'screen' }],
      [`DELETE /users/${id}/sessions`],
      [`DELETE /users/${id}/two-factor`],
    ];
    const lists: [string, object?][] = [
      ['GET /users?offset=0&limit=1'],
      ['GET /users.csv'],
      ['GET /users/fields'],
      ['POST /users', person()],
      ['POST /users/adopt', { chosen: { ids: [id] }, isPreview: true }],
    ];
    const manager = await signInNew(world, account.id, 'Manager');
    for (const [operation, body] of [...operations, ...lists]) {
      expect([operation, (await manager.ask(operation, body)).status]).toEqual([operation, 403]);
    }
    const { ask } = await signInNew(world, account.id, 'Administrator');
    for (const [operation, body] of operations) {
      expect([operation, (await ask(operation, body)).status]).toEqual([operation, 404]);
    }
    const many = await ask<Handover>('POST /users/adopt', { chosen: { ids: [id] }, isPreview: false });
    expect(many.body).toMatchObject({ changing: 0, already: 0, withoutExternalId: 0, oneself: 0 });
    expect((await ask<People>('GET /users?offset=0&limit=100&search=ørsted')).body.total).toBe(0);
  });
});

describe('finding', () => {
  test('by words of name, address and externalId, without accents and letter case; by each filter; in each order', async () => {
    const { account, ask, found, push } = await office();
    const groups = await inTransaction(world.pool, async (tx) => {
      const top = await createGroup(tx, account.id, { name: 'Top' });
      return { top, low: await createGroup(tx, account.id, { name: 'Low', parentId: top }) };
    });
    const soren = await added(ask, { memberships: { memberOf: [groups.low] } });
    await added(ask, { lastName: 'Straße', email: 'Per.100%_x@example.org', role: 'Manager', active: false });
    expect((await push({ users: [john] })).body.applied).toBe(true);
    await world.pool`
      insert into mail_refusals (account_id, user_id, address, reason)
      select account_id, user_id, email, 'mailbox full' from users
      where  account_id = ${account.id} and external_id = 'j1'`;

    expect(await found('search=SOREN%20orsted')).toEqual(['Ørsted']);
    expect(await found('search=strasse')).toEqual(['Straße']);
    expect(await found('search=J1')).toEqual(['Åberg']);
    expect(await found('search=aberg%20john@')).toEqual(['Åberg']);
    expect(await found(`search=${encodeURIComponent('100%_')}`)).toEqual(['Straße']);
    expect(await found('search=1%25x')).toEqual([]);
    expect(await found(`group=${groups.top}`)).toEqual(['Ørsted']);
    expect(await found('group=2147483648')).toEqual([]);
    expect(await found('role=Manager')).toEqual(['Straße']);
    expect(await found('managed=true')).toEqual(['Åberg']);
    expect(await found('active=false')).toEqual(['Straße']);
    expect(await found('mail=none')).toEqual(['Ørsted']);
    expect(await found('mail=rejected')).toEqual(['Åberg']);
    await world.pool`update users set email = 'new@x.se', email_key = 'new@x.se' where external_id = 'j1' and account_id = ${account.id}`;
    expect(await found('mail=rejected')).toEqual([]); // it was the address before that was refused

    expect(await found('search=o&role=User&active=true')).toEqual(['Åberg', 'Ørsted']); // John, Søren
    expect(await found('sort=name')).toEqual(['Admin', 'Administrator', 'Åberg', 'Ørsted', 'Straße']);
    expect(await found('sort=name&direction=down')).toEqual([
      'Straße',
      'Ørsted',
      'Åberg',
      'Administrator',
      'Admin',
    ]);
    expect((await found('sort=email')).at(-1)).toBe('Ørsted');
    expect((await found('sort=role'))[2]).toBe('Straße');
    expect((await found('sort=created&direction=down'))[0]).toBe('Åberg');
    const window = (await ask<People>('GET /users?offset=3&limit=1')).body;
    expect(window).toMatchObject({
      total: 5,
      rows: [{ id: soren, group: { id: groups.low, name: 'Low' }, groupCount: 1, mailRejected: false }],
    });
    expect((await ask('GET /users?offset=0&limit=201')).status).toBe(400);
  });

  test('whatever is typed is answered', async () => {
    const { ask } = await office();
    const typed = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        typed.filter((text) => !text.includes('\0')),
        async (text) => {
          const answer = await ask(`GET /users?offset=0&limit=1&search=${encodeURIComponent(text)}`);
          expect([text, answer.status]).toEqual([text, 200]);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('the sheet has whom the filters find, and no formula', async () => {
    const { ask, account } = await office();
    await inTransaction(world.pool, (tx) =>
      defineAttribute(tx, account.id, { name: 'gender', allowedValues: null }),
    );
    await added(ask, { lastName: '=1+1', phone: '+46 70-123 45 67', attributes: { gender: '@x' } });
    const { text } = await ask('GET /users.csv?mail=none');
    expect(text).toBe(
      '\uFEFFexternalId,firstName,lastName,email,phone,role,active,language,timezone,memberOf,managed,gender\r\n' +
        ",Søren,'=1+1,,'+46701234567,User,yes,,,,no,'@x\r\n",
    );
    expect(await actionsOf(account)).toContain('people exported');
  });

  test('20,000 people: each filter and order costs a small multiple of counting them', async () => {
    const { account, ask } = await office();
    await world.pool`
      insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, active, role)
      select ${account.id}, 'E' || i, i % 3 > 0, (array['Åsa', 'Örjan', 'José', 'Anna'])[1 + i % 4],
             'Andersson ' || i, 'a' || i || '@example.org', 'a' || i || '@example.org', i % 10 > 0, 'User'
      from   generate_series(1, 20000) i`;
    const groupId = await inTransaction(world.pool, (tx) => createGroup(tx, account.id, { name: 'All' }));
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      select account_id, user_id, 'memberOf', ${groupId} from users where account_id = ${account.id}`;
    await world.pool`analyze users`;
    await world.pool`analyze memberships`;
    const fastest = async (work: () => Promise<unknown>) => {
      const times: number[] = [];
      for (let i = 0; i < 2; i++) {
        const start = performance.now();
        await work();
        times.push(performance.now() - start);
      }
      return Math.min(...times);
    };
    const count = await fastest(
      () => world.pool`select count(*), max(search_text) from users where account_id = ${account.id}`,
    );
    const slow: [string, number][] = [];
    for (const query of [
      'search=asa%20anders',
      'search=nobody',
      `group=${groupId}`,
      'managed=false',
      'active=false&sort=email',
      'mail=rejected',
      'sort=created&direction=down',
      'sort=role',
    ]) {
      const time = await fastest(async () => {
        const { body } = await ask<People>(`GET /users?offset=0&limit=100&${query}`);
        expect(body.rows.length).toBe(Math.min(100, body.total));
      });
      if (time > 60 + 15 * count) slow.push([query, time]);
    }
    const last = await fastest(() => ask('GET /users?offset=19900&limit=100'));
    if (last > 60 + 15 * count) slow.push(['the last window', last]);
    expect(slow).toEqual([]);
  });
});

describe('by hand', () => {
  test('a person is made, read, changed and removed, and each is logged', async () => {
    const { account, ask } = await office();
    const groupId = await inTransaction(world.pool, async (tx) => {
      await defineAttribute(tx, account.id, { name: 'gender', allowedValues: ['Male', 'Female'] });
      return createGroup(tx, account.id, {
        name: 'Low',
        parentId: await createGroup(tx, account.id, { name: 'Top' }),
      });
    });
    const id = await added(ask, {
      externalId: 's1',
      email: 'Soren@example.org',
      memberships: { memberOf: [groupId], interestOf: [groupId] },
      attributes: { gender: 'Male' },
    });
    const group = { id: groupId, name: 'Low', managed: false, path: ['Top'] };
    const read = (await ask<Person>(`GET /users/${id}`)).body;
    expect(read).toMatchObject({
      managed: false,
      externalId: 's1',
      email: 'Soren@example.org',
      attributes: { gender: 'Male' },
      memberships: { memberOf: [group], adminOf: [], inheritedAdminOf: [], interestOf: [group] },
      signIn: { hasPassword: false, hasTwoSteps: false, sessions: 0 },
      hasOptedOut: false,
      mailRejected: null,
      runs: [],
    });
    const changed = await ask<Person>(`PATCH /users/${id}`, {
      lastName: 'Østergaard',
      phone: '+46 70 123 45 67',
      role: 'Manager',
      memberships: { memberOf: [] },
      attributes: { gender: null },
    });
    expect(changed.body).toMatchObject({
      firstName: 'Søren',
      lastName: 'Østergaard',
      phone: '+46701234567',
      role: 'Manager',
      attributes: {},
      memberships: { memberOf: [], interestOf: [group] },
    });
    expect((await ask(`DELETE /users/${id}`)).status).toBe(204);
    expect((await ask(`GET /users/${id}`)).status).toBe(404);
    expect(await actionsOf(account)).toEqual(['person created', 'person changed', 'person removed']);
    const [logged] = await world.pool<{ details: object }[]>`
      select details from audit_entries where account_id = ${account.id} and action = 'person changed'`;
    expect(logged?.details).toEqual({
      fields: ['lastName', 'phone', 'role', 'memberOf', 'attributes.gender'],
    });
  });

  test('each wrong field is named, and nothing is kept', async () => {
    const { account, ask } = await office();
    await added(ask, { externalId: 's1', email: 'soren@example.org' });
    const wrong = await ask(
      'POST /users',
      person({
        firstName: '  ',
        email: 'nobody',
        phone: '070',
        language: 'xx',
        timezone: 'Mars/North',
        externalId: 'a\tb',
        memberships: { adminOf: [999] },
        attributes: { 'a/b': 'x' },
      }),
    );
    expect(wrong.status).toBe(400);
    expect(pathsOf(wrong)).toEqual([
      ['missing field', '/firstName'],
      ['invalid email', '/email'],
      ['invalid phone', '/phone'],
      ['invalid language', '/language'],
      ['invalid timezone', '/timezone'],
      ['invalid externalId', '/externalId'],
      ['unknown attribute', '/attributes/a~1b'],
      ['group not found', '/memberships/adminOf'],
    ]);
    const taken = await ask('POST /users', person({ externalId: 's1', email: 'SOREN@example.org' }));
    expect([taken.status, pathsOf(taken)]).toEqual([
      409,
      [
        ['externalId taken', '/externalId'],
        ['email taken', '/email'],
      ],
    ]);
    expect(await actionsOf(account)).toEqual(['person created']);
  });

  test('of somebody managed only what no push delivers is changed; the next push compares anew', async () => {
    const { account, ask, push } = await office();
    const byHand = await inTransaction(world.pool, (tx) => createGroup(tx, account.id, { name: 'Choir' }));
    const sent = {
      groups: [{ externalId: 'g', name: 'Group' }],
      users: [{ ...john, accessInfo: { memberOf: ['g'] } }],
    };
    expect((await push(sent)).body.applied).toBe(true);
    const [row] = (await ask<People>('GET /users?offset=0&limit=1&managed=true')).body.rows;
    const { id } = row!;
    const managedGroup = (await ask<Person>(`GET /users/${id}`)).body.memberships.memberOf[0]!.id;
    const refused = await ask(`PATCH /users/${id}`, {
      firstName: 'Jack',
      active: false,
      email: null,
      language: 'sv',
      memberships: { memberOf: [byHand] },
    });
    expect([refused.status, pathsOf(refused)]).toEqual([
      409,
      [
        ['managed', '/firstName'],
        ['managed', '/active'],
        ['managed', '/email'],
        ['managed', '/memberships/memberOf'],
      ],
    ]);
    expect(await ask(`DELETE /users/${id}`)).toMatchObject({ status: 409 });
    const changed = await ask<Person>(`PATCH /users/${id}`, {
      firstName: 'John',
      language: 'sv',
      role: 'Manager',
      memberships: { memberOf: [managedGroup, byHand], inheritedAdminOf: [managedGroup] },
    });
    expect([changed.status, changed.body.language, changed.body.role]).toEqual([200, 'sv', 'Manager']);
    // The push says nothing of the language, the role, and who administers: all of it stays.
    expect((await push(sent)).body.summary.users).toMatchObject({ updated: 0, unchanged: 1 });
    const after = await push({
      ...sent,
      users: [{ ...sent.users[0], accessInfo: { memberOf: ['g'], role: 'User' } }],
    });
    expect(after.body.summary.users).toMatchObject({ updated: 1 });
    expect((await ask<Person>(`GET /users/${id}`)).body).toMatchObject({
      language: 'sv',
      role: 'User',
      memberships: { memberOf: [{ name: 'Choir' }, { name: 'Group' }] },
      runs: [{ source: 'api', fields: { role: { from: 'Manager', to: 'User' } } }],
    });
  });

  test('an Auditor whom the HR system manages stays one while pushes send no role; a role that is sent wins, with a warning', async () => {
    const { ask, account } = await office();
    const anna = { externalId: 'auditor', firstName: 'Anna', lastName: 'Ask', email: 'auditor@example.org' };
    const pushed = (accessInfo?: object) =>
      account.push({
        settings: { validateOnly: false },
        data: { users: [{ ...anna, ...(accessInfo && { accessInfo }) }] },
      });
    await pushed();
    const [row] = await world.pool<{ id: number }[]>`
      select user_id as id from users where account_id = ${account.id} and external_id = 'auditor'`;
    const path = `/users/${row?.id}`;
    const role = async () => (await ask<Person>(`GET ${path}`)).body.role;
    const made = await ask<Person>(`PATCH ${path}`, { role: 'Auditor' });
    expect([made.status, made.body.role]).toEqual([200, 'Auditor']);
    const kept = await pushed();
    expect([kept.body.warnings, await role()]).toEqual([[], 'Auditor']);

    const granted = await pushed({ role: 'Auditor' });
    expect([granted.status, granted.body.details[0]?.path]).toEqual([400, '/data/users/0/accessInfo/role']);

    const replaced = await pushed({ role: 'User' });
    expect(replaced.body.changes).toEqual([
      {
        entity: 'user',
        externalId: 'auditor',
        action: 'update',
        fields: { role: { from: 'Auditor', to: 'User' } },
      },
    ]);
    expect(replaced.body.warnings).toMatchObject([
      { type: 'auditor replaced', path: '/data/users/0/accessInfo/role', externalId: 'auditor' },
    ]);
    expect(await role()).toBe('User');
  });

  test('nobody shuts oneself out, and an administrator stays', async () => {
    const { ask, me, account } = await office();
    const paths = async (operation: string, body?: object) => pathsOf(await ask(operation, body));
    expect(await paths(`DELETE /users/${me}`)).toEqual([['own account', '/active']]);
    expect(await paths(`PATCH /users/${me}`, { active: false })).toEqual([['own account', '/active']]);
    expect(await paths(`PATCH /users/${me}`, { role: 'User' })).toEqual([['own account', '/role']]);
    expect(await paths(`POST /users/${me}/adopt`, { externalId: 'me' })).toEqual([['own account', '']]);
    await world.pool`update users set active = false where account_id = ${account.id} and user_id <> ${me}`;
    const last = await added(ask, { role: 'Administrator' });
    expect((await ask(`DELETE /users/${last}`)).status).toBe(204);
  });

  test('who is deactivated is out at once; sessions end, a link is made; what changes nothing is not logged', async () => {
    const { ask, account } = await office();
    const other = await signInNew(world, account.id, 'Manager');
    const path = `/users/${other.userId}`;
    expect((await ask<Person>(`GET ${path}`)).body.signIn.sessions).toBe(1);
    expect((await ask(`DELETE ${path}/sessions`)).status).toBe(204);
    expect((await other.ask('GET /session')).status).toBe(401);
    expect((await ask(`DELETE ${path}/two-factor`)).status).toBe(204); // there is none
    const made = await ask<{ link: string; until: string }>(`POST ${path}/sign-in-link`, { by: 'screen' });
    expect(made.body.link).toMatch(/^http:\/\/localhost\/password#[\w-]{32}$/);
    expect((await ask(`POST ${path}/sign-in-link`, { by: 'mail' })).status).toBe(409); // no mail server
    await ask(`PATCH ${path}`, { active: false });
    expect((await ask(`POST ${path}/sign-in-link`, { by: 'screen' })).status).toBe(409);
    expect(await actionsOf(account)).toEqual(['sessions ended', 'sign-in link created', 'person changed']);
  });

  test.each(['by hand', 'by a push'])(
    'who is deactivated %s and active again signs in anew; earlier links are dead',
    async (how) => {
      const { ask, account, push } = await office();
      await push({ users: [john] });
      const { id } = (await ask<People>('GET /users?offset=0&limit=1&search=j1')).body.rows[0]!;
      if (how === 'by hand') await ask(`POST /users/${id}/release`);
      const from = { address: '127.0.0.1', agent: 'test' };
      await beginSession(world.pool, { accountId: account.id, userId: id }, from);
      await ask(`POST /users/${id}/sign-in-link`, { by: 'screen' });
      const change = (active: boolean): Promise<{ status: number }> =>
        how === 'by hand' ? ask(`PATCH /users/${id}`, { active }) : push({ users: [{ ...john, active }] });
      for (const active of [false, true]) expect((await change(active)).status).toBe(200);
      const [kept] = await world.pool`
        select (select count(*)::integer from sessions where account_id = ${account.id} and user_id = ${id}) as sessions,
               (select count(*)::integer from sign_in_links where account_id = ${account.id}) as links`;
      expect(kept).toEqual({ sessions: 0, links: 0 });
    },
  );

  test('a removed person leaves nothing but that there was a change', async () => {
    const { ask, account, push } = await office();
    await push({ users: [john] });
    await push({ users: [{ ...john, lastName: 'Berg' }] });
    const { id } = (await ask<People>('GET /users?offset=0&limit=1&search=j1')).body.rows[0]!;
    expect((await ask<Person>(`GET /users/${id}`)).body.runs).toHaveLength(1);
    await ask(`POST /users/${id}/release`);
    expect((await ask(`DELETE /users/${id}`)).status).toBe(204);
    const kept = await world.pool`
      select 1 from run_changes where account_id = ${account.id} and external_id = 'j1' and fields is not null`;
    expect(kept).toHaveLength(0);
  });

  test('who gets another externalId in an open week keeps what was asked and answered', async () => {
    const { ask, account } = await office();
    const asked = await askPeople(world, account.id, { count: 2 });
    const [id, link] = [asked.userIds[0]!, asked.links[0]!];
    const question = asked.questionIds.get('workload-rested')!;
    const by = { link, visit: 'a browser' };
    await saveAnswers(world.pool, world.keys, by, [{ questionId: question, value: 4 }]);
    const own = async () => (await openLink(world.pool, world.keys, by))?.answers.get(question)?.value;
    // A number is of the internal id: nothing of what is stored changes with the externalId.
    const stored = () => world.pool`
      select a.xmin::text, a.respondent, s.xmin::text as sealed
      from   assignments a left join answers s using (account_id, week, respondent)
      where  a.account_id = ${account.id} order by a.respondent`;
    const before = await stored();
    expect(before).toHaveLength(2);
    for (const externalId of ['new', null, 'p1']) {
      // oxlint-disable-next-line no-await-in-loop -- few
      expect((await ask(`PATCH /users/${id}`, { externalId })).status).toBe(200);
      // oxlint-disable-next-line no-await-in-loop -- few
      expect([await own(), await stored()]).toEqual([4, before]);
    }
  });

  test('who gets the externalId of someone who has left gets nothing of what they were asked or answered', async () => {
    const { ask, account } = await office();
    const asked = await askPeople(world, account.id, { count: 2 });
    const question = asked.questionIds.get('workload-rested')!;
    const by = { link: asked.links[0]!, visit: 'a browser' };
    await saveAnswers(world.pool, world.keys, by, [{ questionId: question, value: 4 }]);
    expect((await ask(`DELETE /users/${asked.userIds[0]}`)).status).toBe(204);
    expect((await ask(`PATCH /users/${asked.userIds[1]}`, { externalId: 'p1' })).status).toBe(200);
    const theirs = { link: asked.links[1]!, visit: 'a browser' };
    expect(await openLink(world.pool, world.keys, theirs)).toMatchObject({
      answers: new Map(),
      fixed: new Map(),
    });
    const back = {
      firstName: 'P1',
      lastName: 'Person',
      externalId: 'p1x',
      memberships: { memberOf: [asked.groupId] },
    };
    const again = await inTransaction(world.pool, (tx) => createUser(tx, account.id, back));
    const link = await linkOf(world.pool, { accountId: account.id, userId: again, week: asked.week });
    expect(await openLink(world.pool, world.keys, { link, visit: 'a browser' })).toBeUndefined();
    expect(await openLink(world.pool, world.keys, by)).toBeUndefined();
  });
});

describe('handing over', () => {
  test('who is adopted is updated by a push that lists them, and removed by one that does not', async () => {
    const { ask, push, account, found } = await office();
    const id = await added(ask, { externalId: 's1' });
    await added(ask, { externalId: 'x1', lastName: 'Other' });
    expect((await push({ users: [{ ...john, externalId: 's1' }] })).body.details[0]!.type).toBe(
      'manually created',
    );
    expect((await ask<Person>(`POST /users/${id}/adopt`, {})).body.managed).toBe(true);
    await push({ users: [{ ...john, externalId: 's1' }] });
    expect((await ask<Person>(`GET /users/${id}`)).body).toMatchObject({
      id,
      lastName: 'Åberg',
      managed: true,
    });
    await push({ users: [] });
    expect(await found('role=User')).toEqual(['Other']);
    expect(await actionsOf(account)).toContain('person adopted');
  });

  test('adopting asks for an externalId where there is none, and it may not be taken', async () => {
    const { ask } = await office();
    const id = await added(ask);
    await added(ask, { externalId: 's1' });
    expect(pathsOf(await ask(`POST /users/${id}/adopt`, {}))).toEqual([['missing field', '/externalId']]);
    expect(pathsOf(await ask(`POST /users/${id}/adopt`, { externalId: 's1' }))).toEqual([
      ['externalId taken', '/externalId'],
    ]);
    const adopted = await ask<Person>(`POST /users/${id}/adopt`, { externalId: 's2' });
    expect(adopted.body).toMatchObject({ externalId: 's2', managed: true });
    expect((await ask(`POST /users/${id}/adopt`, { externalId: 's3' })).status).toBe(409);
  });

  test('who is released is left alone by a push that omits them, and one that lists them is refused', async () => {
    const { ask, push, found } = await office();
    await push({ users: [john] });
    const { id } = (await ask<People>('GET /users?offset=0&limit=1&managed=true')).body.rows[0]!;
    expect((await ask<Person>(`POST /users/${id}/release`)).body.managed).toBe(false);
    expect((await push({ users: [] })).body.summary.users.deleted).toBe(0);
    expect(await found('search=john')).toEqual(['Åberg']);
    const refused = await push({ users: [{ ...john, lastName: 'Else' }] });
    expect([refused.status, refused.body.details[0]!.type]).toEqual([400, 'manually created']);
    expect((await ask(`POST /users/${id}/release`)).status).toBe(409);
    expect((await ask(`PATCH /users/${id}`, { lastName: 'Berg' })).status).toBe(200);
  });

  test('many at once: first how many, then they; who cannot be is counted; what has changed since is not done', async () => {
    const { ask, account, found } = await office();
    const ids = [
      await added(ask, { externalId: 'a' }),
      await added(ask, { externalId: 'b' }),
      await added(ask),
    ];
    const some = await ask<Handover>('POST /users/adopt', { chosen: { ids }, isPreview: true });
    expect(some.body).toMatchObject({ changing: 2, already: 0, withoutExternalId: 1, oneself: 0 });
    expect(await found('managed=true')).toEqual([]);
    const adopt = <T>(more: object) => ask<T>('POST /users/adopt', { chosen: { filters: {} }, ...more });
    const { seen } = (await adopt<Handover>({ isPreview: true })).body;
    expect(seen).toBe(some.body.seen);
    const done = await adopt<Handover>({ isPreview: false, seen });
    expect(done.body).toMatchObject({ changing: 2, already: 0, withoutExternalId: 2, oneself: 1 });
    expect(await found('managed=true')).toHaveLength(2);

    const release = <T>(more: object) =>
      ask<T>('POST /users/release', { chosen: { filters: { managed: 'true' } }, ...more });
    const before = (await release<Handover>({ isPreview: true })).body;
    // As many as before, and others.
    await ask(`POST /users/${ids[0]}/release`);
    await ask(`POST /users/${ids[2]}/adopt`, { externalId: 'c' });
    for (const stale of [{ seen: before.seen }, {}]) {
      const refused = await release<Problem>({ isPreview: false, ...stale });
      expect([refused.status, refused.body.details[0]!.type]).toEqual([409, 'changed since']);
    }
    const now = (await release<Handover>({ isPreview: true })).body;
    expect((await release<Handover>({ isPreview: false, seen: now.seen })).body.changing).toBe(2);
    expect(await found('managed=true')).toEqual([]);
    const logged = await world.pool`
      select action, details from audit_entries
      where  account_id = ${account.id} and action in ('people adopted', 'people released') order by entry_id`;
    expect(logged.map((one) => [one['action'], one['details']])).toEqual([
      ['people adopted', { count: 2, ids: `${ids[0]}-${ids[1]}` }],
      ['people released', { count: 2, ids: `${ids[1]}-${ids[2]}` }],
    ]);
  });
});
