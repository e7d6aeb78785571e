// Users over HTTP: the rules of RFC 7643 and RFC 7644 for resources, versions, errors, and what the interface says about itself.
import { describe, expect, test } from 'vitest';
import { openDirectory, patchOf, userOf, useService, world } from './scim.fixture.ts';
import { enterpriseSchema, userSchema } from './protocol/schemas.ts';

useService();

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('a created user', () => {
  test('has an id, a location and a version, and is read as it was created', async () => {
    const { send } = await openDirectory();
    const created = await send('POST', '/Users', userOf('anna', {}, { department: 'Sales' }));
    expect(created.status).toBe(201);
    expect(created.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
    const { id, meta } = created.body;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.body).toMatchObject({
      schemas: [userSchema, enterpriseSchema],
      externalId: 'ext-anna',
      [enterpriseSchema]: { department: 'Sales' },
    });
    expect(meta).toMatchObject({
      resourceType: 'User',
      location: `http://localhost/scim/v2/Users/${id}`,
      version: 'W/"1"',
    });
    expect([created.headers.get('location'), created.headers.get('etag')]).toEqual([meta.location, 'W/"1"']);
    const read = await send('GET', `/Users/${id}`);
    expect([read.status, read.body]).toEqual([200, created.body]);
  });

  test('reads any case of names, and writes that of the standard', async () => {
    const { send } = await openDirectory();
    const body = {
      USERNAME: 'x',
      Name: { GivenName: 'X' },
      Emails: [{ Value: 'x@example.com', Primary: 'True' }],
      Active: 'FALSE',
    };
    const created = await send('POST', '/Users', body, { 'content-type': 'application/json' });
    expect(created.body).toMatchObject({
      userName: 'x',
      name: { givenName: 'X' },
      emails: [{ value: 'x@example.com', primary: true }],
      active: false,
    });
  });

  test("has no empty values: null and empty lists don't count as values, and unknown and read-only attributes are ignored", async () => {
    const { send } = await openDirectory();
    const body = {
      userName: 'x',
      title: null,
      emails: [],
      id: 'mine',
      meta: { version: 'mine' },
      groups: [{ value: 'g' }],
      shoeSize: 43,
      password: 'secret',
    };
    const { body: created } = await send('POST', '/Users', body);
    expect(Object.keys(created).toSorted()).toEqual(['active', 'id', 'meta', 'schemas', 'userName']);
    expect(created.id).not.toBe('mine');
  });

  test('has at most one primary value of each kind', async () => {
    const { send } = await openDirectory();
    const emails = [
      { value: 'a@x.example', primary: true },
      { value: 'b@x.example', primary: true },
    ];
    const { body } = await send('POST', '/Users', userOf('anna', { emails }));
    expect(body.emails.map(({ primary }: { primary: boolean }) => primary)).toEqual([true, false]);
  });

  test('a taken userName is 409 with uniqueness, whatever its case', async () => {
    const { send } = await openDirectory();
    await send('POST', '/Users', userOf('Zoë'));
    const again = await send('POST', '/Users', userOf('ZOË'));
    expect([again.status, again.body.scimType, again.body.status]).toEqual([409, 'uniqueness', '409']);
    const other = await send('POST', '/Users', userOf('other'));
    const renamed = await send(
      'PATCH',
      `/Users/${other.body.id}`,
      patchOf({ op: 'replace', path: 'userName', value: 'zoë@example.com' }),
    );
    expect([renamed.status, renamed.body.scimType]).toEqual([409, 'uniqueness']);
  });
});

describe('a change', () => {
  test('by PUT replaces everything: what is left out is cleared', async () => {
    const { send, create } = await openDirectory();
    const id = await create('Users', userOf('anna', { title: 'Engineer' }, { department: 'Sales' }));
    const { status, body } = await send('PUT', `/Users/${id}`, { userName: 'anna2', active: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, userName: 'anna2', active: false, schemas: [userSchema] });
    expect(Object.keys(body).toSorted()).toEqual(['active', 'id', 'meta', 'schemas', 'userName']);
  });

  test('raises the version and the time, and one that makes no difference does not', async () => {
    const { send, create } = await openDirectory();
    const id = await create('Users', userOf('anna'));
    const before = (await send('GET', `/Users/${id}`)).body;
    const same = await send(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'active', value: 'True' }),
    );
    expect([same.status, (await send('GET', `/Users/${id}`)).body]).toEqual([204, before]);
    const changed = await send(
      'PATCH',
      `/Users/${id}?attributes=meta`,
      patchOf({ op: 'replace', path: 'title', value: 'Engineer' }),
    );
    expect(changed.body.meta.version).toBe('W/"2"');
    expect(changed.body.meta.lastModified >= before.meta.lastModified).toBe(true);
  });

  test('versions: If-Match refuses another one with 412, and If-None-Match answers a known one with 304', async () => {
    const { send, create } = await openDirectory();
    const id = await create('Users', userOf('anna'));
    const title = patchOf({ op: 'replace', path: 'title', value: 'Engineer' });
    for (const [method, body] of [
      ['PATCH', title],
      ['PUT', userOf('anna')],
      ['DELETE', undefined],
    ] as const) {
      const refused = await send(method, `/Users/${id}`, body, { 'if-match': 'W/"7"' });
      expect([method, refused.status, refused.body.status]).toEqual([method, 412, '412']);
    }
    expect((await send('PATCH', `/Users/${id}`, title, { 'if-match': '"1"' })).status).toBe(204);
    expect((await send('GET', `/Users/${id}`, undefined, { 'if-none-match': 'W/"2"' })).status).toBe(304);
    expect((await send('GET', `/Users/${id}`, undefined, { 'if-none-match': 'W/"1"' })).status).toBe(200);
    expect((await send('DELETE', `/Users/${id}`, undefined, { 'if-match': '*' })).status).toBe(204);
  });

  test('of one user by many requests at once loses none', async () => {
    const { send, create } = await openDirectory();
    const id = await create('Users', userOf('anna', { emails: [] }));
    const values = Array.from({ length: 8 }, (_, i) => `a${i}@example.com`);
    const add = (value: string) =>
      send('PATCH', `/Users/${id}`, patchOf({ op: 'add', path: 'emails', value: [{ value }] }));
    expect((await Promise.all(values.map(add))).map(({ status }) => status)).toEqual(values.map(() => 204));
    const { body } = await send('GET', `/Users/${id}`);
    expect(body.emails.map(({ value }: { value: string }) => value).toSorted()).toEqual(values);
  });
});

test('one that does not exist, or no longer, is 404 for every method', async () => {
  const { send, create } = await openDirectory();
  const gone = await create('Users', userOf('anna'));
  expect((await send('DELETE', `/Users/${gone}`)).status).toBe(204);
  for (const id of [gone, '2819c223-7f76-453a-919d-413861904646', 'nothing', '%F0%9F%98%80', "'--"]) {
    const title = patchOf({ op: 'replace', path: 'title', value: 'x' });
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', userOf('x')],
      ['PATCH', title],
      ['DELETE', undefined],
    ] as const)
      expect([id, method, (await send(method, `/Users/${id}`, body)).status]).toEqual([id, method, 404]);
  }
});

test('errors have the form of the standard, for every kind of error', async () => {
  const { send, token } = await openDirectory();
  const cases: [string, string, unknown, number, string | undefined][] = [
    ['POST', '/Users', '{"userName": ', 400, 'invalidSyntax'],
    ['POST', '/Users', '{"userName": "a", "userName": "b"}', 400, 'invalidSyntax'],
    ['POST', '/Users', '{"userName": "a\\u0000"}', 400, 'invalidSyntax'],
    ['POST', '/Users', '[]', 400, 'invalidSyntax'],
    ['POST', '/Users', 'null', 400, 'invalidSyntax'],
    ['POST', '/Users', '', 400, 'invalidSyntax'],
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['POST', '/Users', { userName: '  ' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: ['a'] }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'a', active: 'perhaps' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'a'.repeat(501) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'a', externalId: 'e'.repeat(501) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'a', title: 't'.repeat(5001) }, 400, 'invalidValue'],
    [
      'POST',
      '/Users',
      { userName: 'a', emails: Array.from({ length: 201 }, (_, i) => ({ value: `${i}` })) },
      400,
      'invalidValue',
    ],
    ['POST', '/Users', `{"userName": ${'['.repeat(40)}${']'.repeat(40)}}`, 400, 'invalidSyntax'],
    ['POST', '/Users', `{"userName": "${'a'.repeat(1024 * 1024)}"}`, 413, undefined],
    ['GET', '/Users?filter=userName', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?startIndex=x', undefined, 400, 'invalidValue'],
    ['GET', '/Users?count=1&count=2', undefined, 400, undefined],
    ['GET', '/Nothing', undefined, 404, undefined],
    ['DELETE', '/Users', undefined, 405, undefined],
    ['GET', '/Schemas/urn:nothing', undefined, 404, undefined],
  ];
  for (const [method, path, body, status, scimType] of cases) {
    const response = await send(method, path, body);
    expect([method, path, String(body).slice(0, 40), response.status, response.body.scimType]).toEqual([
      method,
      path,
      String(body).slice(0, 40),
      status,
      scimType,
    ]);
    expect(response.body).toMatchObject({
      schemas: [errorSchema],
      status: String(status),
      detail: expect.stringMatching(/\w/),
    });
    expect(response.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
  }
  const plain = await fetch(`${world.address}/scim/v2/Users`, {
    method: 'POST',
    body: 'x',
    headers: { authorization: token, 'content-type': 'text/plain' },
  });
  expect([plain.status, ((await plain.json()) as { status: string }).status]).toEqual([415, '415']);
});

test('/Me is 501, because a token is not a user', async () => {
  const { send } = await openDirectory();
  const { status, body } = await send('GET', '/Me');
  expect([status, body.status, body.schemas]).toEqual([501, '501', [errorSchema]]);
});

test('the interface describes itself: what it supports, its types, and schemas with every attribute', async () => {
  const { send } = await openDirectory();
  const config = (await send('GET', '/ServiceProviderConfig')).body;
  expect(config).toMatchObject({
    patch: { supported: true },
    bulk: { supported: true, maxOperations: 1000, maxPayloadSize: 1048576 },
    filter: { supported: true, maxResults: 500 },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
  });
  const types = (await send('GET', '/ResourceTypes')).body.Resources;
  expect(types.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['/Users', '/Groups']);
  expect((await send('GET', '/ResourceTypes/User')).body).toEqual(types[0]);
  const schemas = (await send('GET', '/Schemas')).body.Resources;
  expect(schemas.map(({ id }: { id: string }) => id)).toEqual([
    userSchema,
    enterpriseSchema,
    'urn:ietf:params:scim:schemas:core:2.0:Group',
  ]);
  expect((await send('GET', `/Schemas/${enterpriseSchema}`)).body).toEqual(schemas[1]);
  const [user] = schemas;
  expect(user.attributes[0]).toMatchObject({
    name: 'userName',
    type: 'string',
    required: true,
    caseExact: false,
    uniqueness: 'server',
  });
});

test('the console sees the last requests, without what was searched for', async () => {
  const directory = await openDirectory();
  await directory.send('GET', '/Users?filter=userName eq "secret@example.com"');
  await directory.send('POST', '/Users', {});
  await expect
    .poll(async () => [
      ...(await world.pool`select request, status, message from scim_requests where account_id = ${directory.account.id} order by position`),
    ])
    .toEqual([
      { request: 'GET /Users', status: 200, message: null },
      { request: 'POST /Users', status: 400, message: 'missing field' },
    ]);
});

test('a user that is too large, or has an endless address, is refused', async () => {
  const { send } = await openDirectory();
  const more = { roles: Array.from({ length: 20 }, (_, i) => ({ value: `${i}${'x'.repeat(4_000)}` })) };
  const large = await send('POST', '/Users', userOf('large', more));
  expect([large.status, large.body.detail]).toEqual([400, expect.stringContaining('64 kB')]);
  const emails = [{ value: `${'a'.repeat(500)}@example.com` }];
  expect((await send('POST', '/Users', userOf('long', { emails }))).status).toBe(400);
});
