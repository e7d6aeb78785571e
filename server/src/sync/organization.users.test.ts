// How organization requests change users: omitted fields, externalIds, formats of values, removed users, and several accounts (§4.2,
// decisions B7, B10, B11 and B13), over HTTP.
import { describe, expect, test } from 'vitest';
import { apply, person, rowsOf, unit } from '../testing/organizations.ts';
import {
  world,
  administrator,
  refusedData,
  onlyManagedAdministrators,
  createManually,
  userOf,
  userIds,
  tree,
  entries,
  useService,
} from './organization.fixture.ts';

useService();

describe('omitted fields (decision B7)', () => {
  const full = {
    email: 'one@example.org',
    phone: '+46701234567',
    active: false,
    timezone: 'Europe/Stockholm',
    language: 'sv',
    accessInfo: {
      memberOf: ['a'],
      adminOf: ['a'],
      inheritedAdminOf: ['a'],
      interestOf: ['a'],
      role: 'Manager',
    },
    externalProperties: { gender: 'Female', town: 'Umeå' },
  };
  async function prepared() {
    const account = await world.account();
    await createManually.attribute(account, 'gender', ['Male', 'Female']);
    await createManually.attribute(account, 'town');
    await apply(account, {
      groups: [unit('a', { description: 'A' }), unit('b')],
      users: [person('1', full)],
    });
    return account;
  }

  test('a new user has no email, phone, groups or attributes, is active, has company defaults and the User role; a new group has no description', async () => {
    const account = await world.account({ timezone: 'Europe/Paris', language: 'fr' });
    await apply(account, { groups: [unit('a')], users: [person('1')] });
    expect(await userOf(account, '1')).toEqual({
      first_name: 'First',
      last_name: 'Last',
      email: null,
      phone: null,
      active: true,
      timezone: null,
      language: null,
      role: 'User',
      attributes: {},
    });
    expect((await account.groups())[0]).not.toHaveProperty('description');
  });

  test('an existing user keeps accessInfo, role, attributes, language, email and phone, but active and timezone get their defaults', async () => {
    const account = await prepared();
    const report = await apply(account, { users: [person('1')] });
    expect(report.changes[0]?.fields).toEqual({
      active: { from: false, to: true },
      timezone: { from: 'Europe/Stockholm', to: null },
    });
    expect(await userOf(account, '1')).toMatchObject({
      email: 'one@example.org',
      phone: '+46701234567',
      active: true,
      timezone: null,
      language: 'sv',
      role: 'Manager',
      attributes: { gender: 'Female', town: 'Umeå' },
    });
    expect(await entries(account, '1')).toEqual([
      'adminOf: a',
      'inheritedAdminOf: a',
      'interestOf: a',
      'memberOf: a',
    ]);
  });

  test('a group keeps an omitted description, and null clears it', async () => {
    const account = await prepared();
    expect((await apply(account, { groups: [unit('a'), unit('b')] })).changes).toEqual([]);
    expect((await account.groups())[0]?.description).toBe('A');
    const cleared = await apply(account, { groups: [unit('a', { description: null }), unit('b')] });
    expect(cleared.changes[0]?.fields).toEqual({ description: { from: 'A', to: null } });
    expect((await account.groups())[0]).not.toHaveProperty('description');
  });

  test('an empty description is stored as an empty text', async () => {
    const account = await prepared();
    await apply(account, { groups: [unit('a', { description: '' }), unit('b')] });
    expect((await account.groups())[0]?.description).toBe('');
  });

  test('null clears the email address, the phone number and an attribute, and changes nothing when sent again', async () => {
    const account = await prepared();
    const cleared = person('1', { ...full, email: null, phone: null, externalProperties: { gender: null } });
    const report = await apply(account, { users: [cleared] });
    expect(report.changes[0]?.fields).toEqual({
      email: { from: 'one@example.org', to: null },
      phone: { from: '+46701234567', to: null },
      'externalProperties.gender': { from: 'Female', to: null },
    });
    expect(await userOf(account, '1')).toMatchObject({
      email: null,
      phone: null,
      attributes: { town: 'Umeå' },
    });
    const again = await apply(account, {
      users: [
        person('1', {
          ...full,
          email: null,
          phone: null,
          externalProperties: { gender: null, town: 'Umeå' },
        }),
      ],
    });
    expect(again.changes).toEqual([]);
  });

  test('only the sent attributes change', async () => {
    const account = await prepared();
    await apply(account, { users: [person('1', { externalProperties: { gender: 'Male' } })] });
    expect((await userOf(account, '1'))?.['attributes']).toEqual({ gender: 'Male', town: 'Umeå' });
  });

  test('undefined attributes and values that are not allowed are refused, even when an undefined attribute is cleared', async () => {
    const account = await prepared();
    const details = await refusedData(account, {
      users: [
        person('1', { externalProperties: { gender: 'male' } }),
        person('2', { externalProperties: { height: '180' } }),
        person('3', { externalProperties: { height: null } }),
        person('4', { externalProperties: { 'a/b': 'x' } }),
      ],
    });
    expect(details.map(({ type, path }) => [type, path])).toEqual([
      ['value not allowed', '/data/users/0/externalProperties/gender'],
      ['unknown attribute', '/data/users/1/externalProperties/height'],
      ['unknown attribute', '/data/users/2/externalProperties/height'],
      ['unknown attribute', '/data/users/3/externalProperties/a~1b'],
    ]);
  });

  test('only the sent kinds of accessInfo are replaced', async () => {
    const account = await prepared();
    await apply(account, { users: [person('1', { ...full, accessInfo: { memberOf: ['b'], adminOf: [] } })] });
    expect(await entries(account, '1')).toEqual(['inheritedAdminOf: a', 'interestOf: a', 'memberOf: b']);
    expect((await userOf(account, '1'))?.['role']).toBe('Manager');
  });

  test('the language is set only when the user is created', async () => {
    const account = await prepared();
    expect((await apply(account, { users: [person('1', { ...full, language: 'de' })] })).changes).toEqual([]);
    expect((await userOf(account, '1'))?.['language']).toBe('sv');
  });

  test('forceSetLanguage sets a sent language for existing users in every run, and an omitted language is kept', async () => {
    const account = await prepared();
    const users = [person('1', { ...full, language: 'de' })];
    const report = await apply(account, { users }, { forceSetLanguage: true });
    expect(report.changes[0]?.fields).toEqual({ language: { from: 'sv', to: 'de' } });
    // The language is changed manually by an administrator or the user.
    await world.pool`
      update users set language = 'fi', fingerprint = null
      where account_id = ${account.id} and external_id = '1'`;
    expect((await apply(account, { users })).changes).toEqual([]);
    expect((await userOf(account, '1'))?.['language']).toBe('fi');
    await apply(account, { users }, { forceSetLanguage: true });
    expect((await userOf(account, '1'))?.['language']).toBe('de');
    const { language: _, ...without } = full;
    await apply(account, { users: [person('1', without)] }, { forceSetLanguage: true });
    expect((await userOf(account, '1'))?.['language']).toBe('de');
  });

  test('forceSetLanguage sets the language even if the same user was sent before without it', async () => {
    const account = await prepared();
    const users = [person('1', { ...full, language: 'de' })];
    await apply(account, { users });
    await apply(account, { users });
    const report = await apply(account, { users }, { forceSetLanguage: true });
    expect(report.changes[0]?.fields).toEqual({ language: { from: 'sv', to: 'de' } });
  });

  test('a changed externalId means another user or group with another id', async () => {
    const account = await prepared();
    const before = (await account.groups()).map(({ id }) => id);
    const report = await apply(account, {
      groups: [unit('a2', { name: 'a' }), unit('B', { name: 'b' })],
      users: [person('1 ext', { email: 'one@example.org' })],
    });
    expect(report.summary).toEqual({
      users: { created: 1, updated: 0, deleted: 1, unchanged: 0 },
      groups: { created: 2, updated: 0, deleted: 2, unchanged: 0 },
    });
    const after = (await account.groups()).map(({ id }) => id);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
  });
});

describe('externalIds (decision B10)', () => {
  test('must be unique within users and within groups, and an error names both positions', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      groups: [unit('a'), unit('b'), unit('a')],
      users: [person('a'), person('b'), person('c'), person('b'), person('b')],
    });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['duplicate externalId', '/data/groups/2/externalId', 'a'],
      ['duplicate externalId', '/data/users/3/externalId', 'b'],
      ['duplicate externalId', '/data/users/4/externalId', 'b'],
    ]);
    expect(details[0]?.message).toContain('/data/groups/0');
    expect(details[1]?.message).toContain('/data/users/1');
    await apply(account, { groups: [unit('a')], users: [person('a')] });
  });

  test('of manually created users and groups are refused', async () => {
    const account = await world.account();
    await createManually.group(account, { name: 'Manual', externalId: 'g' });
    await createManually.user(account, { externalId: 'u' });
    const details = await refusedData(account, { groups: [unit('g')], users: [person('u')] });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['manually created', '/data/groups/0/externalId', 'g'],
      ['manually created', '/data/users/0/externalId', 'u'],
    ]);
  });

  test('are compared exactly, including letter case and Unicode composition', async () => {
    const account = await world.account();
    const ids = ['abc', 'ABC', '\u00e9', 'e\u0301', '1', '01'];
    const report = await apply(account, {
      groups: ids.map((id) => unit(id)),
      users: ids.map((id) => person(id)),
    });
    expect(report.summary.users.created).toBe(ids.length);
    expect((await account.groups()).map(({ externalId }) => externalId)).toEqual(ids);
  });

  test('have 1 to 255 characters, no white space at their ends and no control characters', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('😀'.repeat(255), { name: 'x' }), unit('a b')] });
    const wrong = ['', ' ', 'a ', '\ta', 'a\u00a0', 'a\u0007b', 'a\u009fb', 'x'.repeat(256)];
    const details = await refusedData(account, { groups: wrong.map((id) => unit(id, { name: 'x' })) });
    expect(details.map(({ type, path }) => [type, path])).toEqual(
      wrong.map((_, i) => ['invalid externalId', `/data/groups/${i}/externalId`]),
    );
  });

  test('can be __proto__, constructor or toString', async () => {
    const account = await world.account();
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    await apply(account, {
      groups: ids.map((id, i) => unit(id, i > 0 ? { parent: ids[i - 1] } : {})),
      users: ids.map((id) => person(id, { accessInfo: { memberOf: [id] } })),
    });
    expect((await account.groups()).map(({ externalId }) => externalId)).toEqual(ids);
    expect(await entries(account, '__proto__')).toEqual(['memberOf: __proto__']);
    expect((await apply(account, { groups: [], users: [] })).summary.users.deleted).toBe(4);
  });
});

describe('formats of values (decision B11)', () => {
  test('email addresses are unique in an account in any letter case, and are stored as sent', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      users: [person('1', { email: 'Anna@Example.org' }), person('2', { email: 'anna@example.ORG' })],
    });
    expect(details).toMatchObject([
      { type: 'duplicate email', path: '/data/users/1/email', externalId: '2' },
    ]);
    expect(details[0]?.message).toContain('/data/users/0');
    await apply(account, { users: [person('1', { email: 'Anna@Example.org' })] });
    expect((await userOf(account, '1'))?.['email']).toBe('Anna@Example.org');
    const renamed = await apply(account, { users: [person('1', { email: 'ANNA@example.org' })] });
    expect(renamed.changes[0]?.fields).toEqual({
      email: { from: 'Anna@Example.org', to: 'ANNA@example.org' },
    });
  });

  test('the address of a manually created user is refused', async () => {
    const account = await world.account();
    expect(await refusedData(account, { users: [person('1', { email: 'ADA@example.org' })] })).toMatchObject([
      { type: 'duplicate email', path: '/data/users/0/email', externalId: '1' },
    ]);
  });

  test('an omitted address is still taken, and the error names the position where the address was sent', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { email: 'one@example.org' }), person('3')] });
    const newcomer = person('2', { email: 'one@example.org' });
    for (const keeper of [person('1'), person('1', { lastName: 'Changed' })]) {
      for (const users of [
        [newcomer, keeper],
        [keeper, newcomer],
      ]) {
        const details = await refusedData(account, { users });
        const path = `/data/users/${users.indexOf(newcomer)}/email`;
        expect(details).toMatchObject([{ type: 'duplicate email', path, externalId: '2' }]);
        expect(details[0]?.message).toContain('"1"');
        expect(details[0]?.message).not.toContain('/email');
      }
    }
    await apply(account, { users: [newcomer, person('1', { email: null })] });
    expect((await userOf(account, '2'))?.['email']).toBe('one@example.org');
  });

  test('an address of an unchanged user is still taken, and the error names that user', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { email: 'one@example.org' })] });
    await apply(account, { users: [person('1')] });
    const users = [person('1'), person('2', { email: 'one@example.org' })];
    const details = await refusedData(account, { users });
    expect(details).toMatchObject([{ type: 'duplicate email', path: '/data/users/1/email' }]);
    expect(details[0]?.message).toContain('"1"');
    expect(details[0]?.message).not.toContain('/email');
  });

  test('two or three users can exchange their addresses in one request', async () => {
    const account = await world.account();
    const of = (...names: string[]) =>
      names.map((name, i) => person(String(i), { email: `${name}@example.org` }));
    const emails = async () =>
      Promise.all(['0', '1', '2'].map(async (id) => (await userOf(account, id))?.['email'][0]));
    await apply(account, { users: of('a', 'b', 'c') });
    await apply(account, { users: of('b', 'a', 'c') });
    expect(await emails()).toEqual(['b', 'a', 'c']);
    await apply(account, { users: of('a', 'c', 'b') });
    expect(await emails()).toEqual(['a', 'c', 'b']);
  });

  test('a new user can have the former address of a removed or changed user in the same request', async () => {
    const account = await world.account();
    const email = (name: string) => ({ email: `${name}@example.org` });
    await apply(account, { users: [person('1', email('a')), person('2', email('b'))] });
    await apply(account, {
      users: [person('3', email('a')), person('2', email('c')), person('4', email('B'))],
    });
    expect((await userOf(account, '3'))?.['email']).toBe('a@example.org');
    expect((await userOf(account, '4'))?.['email']).toBe('B@example.org');
  });

  test.each(['Administrator', 'Manager', 'User'])('stores the role %s', async (role) => {
    const account = await world.account();
    await apply(account, { users: [person('1', { accessInfo: { role } })] });
    expect((await userOf(account, '1'))?.['role']).toBe(role);
  });

  test.each(['administrator', 'MANAGER', 'Owner', '', ' User', null, 1])(
    'refuses any other role: %j',
    async (role) => {
      const account = await world.account();
      const details = await refusedData(account, { users: [person('1', { accessInfo: { role } })] });
      expect(details).toMatchObject([{ path: '/data/users/0/accessInfo/role', externalId: '1' }]);
    },
  );

  test('time zones are names of the tz database, including links', async () => {
    const account = await world.account();
    const zones = [
      'Europe/Stockholm',
      'Asia/Calcutta',
      'US/Pacific',
      'UTC',
      'America/Argentina/Buenos_Aires',
    ];
    await apply(account, { users: zones.map((timezone, i) => person(String(i), { timezone })) });
    expect((await userOf(account, '1'))?.['timezone']).toBe('Asia/Calcutta');
    const wrong = ['', 'Europe/Atlantis', '+01:00', 'europe/stockholm', 'Stockholm', 'CEST'];
    const details = await refusedData(account, {
      users: wrong.map((timezone, i) => person(String(i), { timezone })),
    });
    expect(details.map(({ type, path }) => [type, path])).toEqual(
      wrong.map((_, i) => ['invalid timezone', `/data/users/${i}/timezone`]),
    );
  });

  test('languages are two-letter ISO 639-1 codes', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { language: 'sv' })] });
    const wrong = ['', 'xx', 'swe', 'SV', 'sv-SE', 's'];
    const details = await refusedData(account, {
      users: wrong.map((language, i) => person(String(i), { language })),
    });
    expect(details.map(({ type }) => type)).toEqual(wrong.map(() => 'invalid language'));
  });

  test('phone numbers are stored as E.164 without spaces, dashes and brackets, and require a country prefix', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { phone: ' +46 (70) 123-45 67' })] });
    expect((await userOf(account, '1'))?.['phone']).toBe('+46701234567');
    const same = await apply(account, { users: [person('1', { phone: '+46701234567' })] });
    expect(same.changes).toEqual([]);
    const wrong = ['', '0701234567', '0046701234567', '+46', '+46 70 call me', '++46701234567'];
    const details = await refusedData(account, {
      users: wrong.map((phone, i) => person(String(i), { phone })),
    });
    expect(details.map(({ type }) => type)).toEqual(wrong.map(() => 'invalid phone'));
  });

  test('a zero in brackets after the country prefix is removed, with a warning that does not quote the number', async () => {
    const account = await world.account();
    const { warnings } = await apply(account, { users: [person('1', { phone: '+46 (0)70 123 45 67' })] });
    expect((await userOf(account, '1'))?.['phone']).toBe('+46701234567');
    expect(warnings).toMatchObject([{ type: 'trunk zero', path: '/data/users/0/phone', externalId: '1' }]);
    expect(JSON.stringify(warnings)).not.toContain('123');
    expect((await apply(account, { users: [person('1', { phone: '+46701234567' })] })).changes).toEqual([]);
  });

  test('texts are stored exactly as sent, including white space and line breaks', async () => {
    const account = await world.account();
    const name = ' \t"Ærø" \\N \\. \r\n\u2028e\u0301😀\u0001 ';
    await apply(account, {
      groups: [unit('a', { name, description: name })],
      users: [person('1', { firstName: name, lastName: '' })],
    });
    expect((await account.groups())[0]).toMatchObject({ name, description: name });
    expect(await userOf(account, '1')).toMatchObject({ first_name: name, last_name: '' });
    expect((await apply(account, { groups: [unit('a', { name })] })).changes).toEqual([]);
  });
});

describe('lengths of texts', () => {
  test('names have at most 500 characters and descriptions 10,000, counted in the same way as for externalIds', async () => {
    const account = await world.account();
    for (const unitOfText of ['x', 'é', '😀']) {
      const [name, description] = [unitOfText.repeat(500), unitOfText.repeat(10_000)];
      await apply(account, {
        groups: [unit('a', { name, description })],
        users: [person('1', { firstName: name, lastName: name })],
      });
      expect((await account.groups())[0]).toMatchObject({ name, description });
      const details = await refusedData(account, {
        groups: [unit('a', { name: `${name}x`, description: `${description}x` })],
        users: [person('1', { firstName: `${name}x`, lastName: `${name}x` })],
      });
      expect(details.map(({ type, path }) => [type, path])).toEqual([
        ['too long', '/data/groups/0/name'],
        ['too long', '/data/groups/0/description'],
        ['too long', '/data/users/0/firstName'],
        ['too long', '/data/users/0/lastName'],
      ]);
    }
  });
});

describe('removed users (decision B13)', () => {
  test('have their values erased from earlier runs, which still list that there were changes', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { lastName: 'Secret' }), person('2')] });
    await apply(account, {
      users: [person('1', { lastName: 'Changed' }), person('2', { lastName: 'Stays' })],
    });
    await account.push({ data: { users: [person('1', { lastName: 'Dry' }), person('2')] } });
    await apply(account, { users: [person('2', { lastName: 'Stays' })] });
    const changes = await world.pool`
      select c.external_id, c.action, c.fields
      from   run_changes c join runs r using (account_id, run_id)
      where  c.account_id = ${account.id}
      order  by r.at, c.position`;
    expect(changes.map((row) => [row['external_id'], row['action'], row['fields']])).toEqual([
      ['1', 'create', null],
      ['2', 'create', null],
      ['1', 'update', null],
      ['2', 'update', { lastName: { from: 'Last', to: 'Stays' } }],
      ['1', 'update', null],
      ['2', 'update', { lastName: { from: 'Stays', to: 'Last' } }],
      ['1', 'delete', null],
    ]);
  });

  test('leave no personal data in any row of the database, including refused runs', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'town');
    const secret = person('1', {
      firstName: 'Zacharias',
      lastName: 'Zimmermann',
      email: 'zacharias@example.org',
      phone: '+46709999999',
      externalProperties: { town: 'Zürich' },
    });
    await apply(account, { users: [secret] });
    await refusedData(account, { users: [secret, person('2', { email: 'zacharias@example.org' })] });
    await refusedData(account, { users: [{ ...secret, phone: '070-9999999' }] });
    await refusedData(account, { users: [{ ...secret, timezone: 'Zürich' }] });
    const userId = (
      await world.pool`select user_id from users where account_id = ${account.id} and external_id = '1'`
    )[0]?.['user_id'] as number;
    await world.pool`
      insert into passwords (account_id, user_id, hash) values (${account.id}, ${userId}, 'zacharias')`;
    await apply(account, { users: [] });
    const left: string[] = [];
    for (const table of ['users', 'memberships', 'passwords', 'runs', 'run_changes']) {
      const rows = await world.pool<{ row: string }[]>`
        select to_jsonb(t)::text as row from ${world.pool(table)} t where account_id = ${account.id}`;
      left.push(...rows.map(({ row }) => `${table} ${row}`));
    }
    expect(left.filter((row) => /zacharias|zimmermann|9999999|zürich/i.test(row))).toEqual([]);
  });

  test('do not affect tokens, which belong to the account', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    await apply(account, { users: [] });
    expect((await account.push({})).status).toBe(200);
  });

  test.each<[string, object[]]>([
    ['removed', []],
    ['demoted', [person('1', { accessInfo: { role: 'Manager' } })]],
    ['deactivated', [person('1', { ...administrator, active: false })]],
    ['deactivated without sending the role', [person('1', { active: false })]],
    ['replaced by another externalId without the role', [person('2')]],
  ])('the last active administrator cannot be %s', async (_, users) => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    expect(await refusedData(account, { users })).toMatchObject([
      { type: 'no administrator', path: '/data/users' },
    ]);
  });

  test('an administrator keeps an omitted role, and the last managed one can be removed if another is confirmed or created manually', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    await apply(account, { users: [person('1', { lastName: 'New' })] });
    const other = person('2', administrator);
    expect(await refusedData(account, { users: [other] })).toMatchObject([{ type: 'no administrator' }]);
    await apply(account, { users: [person('1'), other] });
    await onlyManagedAdministrators(account);
    await apply(account, { users: [other] });
    await apply(account, { groups: [unit('a')] });
    await world.pool`update users set active = true where account_id = ${account.id} and not managed`;
    await apply(account, { users: [] });
    expect(await userIds(account)).toEqual([]);
  });
});

describe('several accounts', () => {
  test('can use the same externalIds and addresses without affecting each other', async () => {
    const [one, other] = [await world.account(), await world.account()];
    const data = {
      groups: [unit('a'), unit('b', { parent: 'a' })],
      users: [
        person('1', { email: 'one@example.org', accessInfo: { memberOf: ['b'], role: 'Administrator' } }),
      ],
    };
    await apply(one, data);
    expect((await apply(other, data)).summary.users.created).toBe(1);
    const before = await rowsOf(world.pool, other.id);
    await apply(one, {
      groups: [unit('a', { name: 'Renamed' }), unit('b')],
      users: [person('1', { lastName: 'Renamed', accessInfo: { memberOf: [] } })],
    });
    await apply(one, { groups: [], users: [] });
    expect(await rowsOf(world.pool, other.id)).toEqual(before);
    expect(await tree(one)).toEqual({});
    expect(await tree(other)).toEqual({ a: null, b: 'a' });
  });

  test('cannot refer to manually created groups of each other', async () => {
    const [one, other] = [await world.account(), await world.account()];
    await createManually.group(other, { name: 'Manual', externalId: 'manual' });
    expect(
      await refusedData(one, {
        groups: [unit('a', { parent: 'manual' })],
        users: [person('1', { accessInfo: { memberOf: ['manual'] } })],
      }),
    ).toMatchObject([{ type: 'unknown parent' }, { type: 'unknown group' }]);
  });

  test('have separate attributes', async () => {
    const [one, other] = [await world.account(), await world.account()];
    await createManually.attribute(other, 'gender');
    expect(
      await refusedData(one, { users: [person('1', { externalProperties: { gender: 'x' } })] }),
    ).toMatchObject([{ type: 'unknown attribute' }]);
  });
});
