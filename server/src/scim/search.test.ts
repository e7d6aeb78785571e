// Lists: filters, pages, projections and searches, on users and groups.
import { beforeAll, describe, expect, test } from 'vitest';
import { groupOf, openDirectory, type TestDirectory, userOf, useService } from './scim.fixture.ts';

useService();

let directory: TestDirectory;
let ids: Record<string, string>;

beforeAll(async () => {
  directory = await openDirectory();
  const { create } = directory;
  ids = {
    anna: await create(
      'Users',
      userOf('anna', { displayName: 'Anna Ek', title: 'Engineer' }, { department: 'Sales' }),
    ),
    bo: await create('Users', userOf('bo', { displayName: 'Bo Öst', active: false })),
    cia: await create('Users', userOf('cia', { displayName: 'Cia Al', title: 'engineer' })),
  };
  ids['sales'] = await create('Groups', groupOf('Sales', [ids['anna']!, ids['bo']!]));
  ids['support'] = await create('Groups', groupOf('Support'));
});

const found = async (path: string): Promise<string[]> => {
  const { body } = await directory.send('GET', path);
  return body.Resources.map(
    ({ id }: { id: string }) => Object.entries(ids).find(([, one]) => one === id)?.[0],
  );
};

describe('a filter', () => {
  test.each([
    ['userName eq "ANNA@example.com"', ['anna']],
    ['userName eq "anna@example.com" or userName eq "cia@example.com"', ['anna', 'cia']],
    ['externalId eq "ext-bo"', ['bo']],
    ['externalId eq "EXT-BO"', []],
    ['displayName eq "bo öST"', ['bo']],
    ['active eq false', ['bo']],
    ['active eq true and title eq "ENGINEER"', ['anna', 'cia']],
    ['emails[type eq "work" and value eq "Anna@Example.com"]', ['anna']],
    ['emails[type eq "home" and value eq "anna@example.com"]', []],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "sales"', ['anna']],
    ['userName sw "b" or title pr', ['anna', 'bo', 'cia']],
    ['not (title pr)', ['bo']],
    ['groups.display eq "sales"', ['anna', 'bo']],
    ['meta.lastModified gt "2020-01-01T00:00:00Z" and active eq true', ['anna', 'cia']],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
    ['meta.created ge "2020-01-01T00:00:00Z"', ['anna', 'bo', 'cia']],
    ['id eq "not an id"', []],
    [`userName eq "'; drop table users; --"`, []],
    ['userName co "%"', []],
  ])('%s', async (filter, wanted) => {
    expect(await found(`/Users?filter=${encodeURIComponent(filter)}`)).toEqual(wanted);
  });

  test('of groups finds them by name and by members, without reading all members', async () => {
    const of = (filter: string) =>
      found(`/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`);
    expect(await of('displayName eq "sales"')).toEqual(['sales']);
    expect(await of(`members eq "${ids['anna']}"`)).toEqual(['sales']);
    expect(await of(`id eq "${ids['support']}" and members eq "${ids['anna']}"`)).toEqual([]);
    expect(await of(`members[value eq "${ids['bo']}"] and displayName sw "S"`)).toEqual(['sales']);
    expect(await of('members.display co "anna"')).toEqual(['sales']);
    expect(await of('not (members pr)')).toEqual(['support']);
  });
});

test('pages: startIndex and count, within their bounds, with the total of all', async () => {
  const page = async (query: string) => {
    const { totalResults, startIndex, itemsPerPage } = (await directory.send('GET', `/Users?${query}`)).body;
    return [totalResults, startIndex, itemsPerPage];
  };
  expect(await page('')).toEqual([3, 1, 3]);
  expect(await page('startIndex=2&count=1')).toEqual([3, 2, 1]);
  expect(await page('startIndex=3&count=10')).toEqual([3, 3, 1]);
  expect(await page('startIndex=9')).toEqual([3, 9, 0]);
  expect(await page('STARTINDEX=0&COUNT=-5')).toEqual([3, 1, 0]);
  expect(await page('count=0')).toEqual([3, 1, 0]);
  expect(await page('count=999999')).toEqual([3, 1, 3]);
  expect(await page('count=1&startIndex=2&filter=title%20pr')).toEqual([2, 2, 1]);
  expect(await page('sortBy=userName&unknown=1')).toEqual([3, 1, 3]);
  expect(await found('/Users?startIndex=2&count=1')).toEqual(['bo']);
});

test('returns only what is requested, and always the id', async () => {
  const keys = async (query: string) =>
    Object.keys((await directory.send('GET', `/Users/${ids['anna']}?${query}`)).body).toSorted();
  expect(await keys('attributes=userName')).toEqual(['id', 'schemas', 'userName']);
  expect(await keys('attributes=nothing')).toEqual(['id', 'schemas']);
  expect(
    await keys('excludedAttributes=emails,name,groups,meta,id,title,displayName,active,externalId'),
  ).toEqual(['id', 'schemas', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User', 'userName']);
  const parts = (
    await directory.send(
      'GET',
      `/Users/${ids['anna']}?attributes=name.givenName,emails.value,urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department`,
    )
  ).body;
  expect(parts).toMatchObject({ name: { givenName: 'anna' }, emails: [{ value: 'anna@example.com' }] });
  expect(parts.name).not.toHaveProperty('familyName');
  expect(
    (await directory.send('GET', `/Groups/${ids['sales']}?excludedAttributes=members`)).body,
  ).not.toHaveProperty('members');
});

test('searches by POST, in users, in groups and in both', async () => {
  const search = async (path: string, body: object) =>
    (await directory.send('POST', `${path}/.search`, body)).body;
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
  expect(
    await search('/Users', {
      schemas,
      filter: 'displayName sw "a"',
      attributes: ['userName'],
      startIndex: 1,
      count: 5,
    }),
  ).toMatchObject({
    totalResults: 1,
    Resources: [{ id: ids['anna'], userName: 'anna@example.com' }],
  });
  expect((await search('/Groups', { schemas })).totalResults).toBe(2);
  const both = await search('', { schemas, filter: 'displayName sw "s" or displayName sw "c"' });
  expect(both.Resources.map(({ id }: { id: string }) => id)).toEqual([
    ids['cia'],
    ids['sales'],
    ids['support'],
  ]);
  expect(
    (await search('', { schemas, count: 2, startIndex: 3 })).Resources.map(({ id }: { id: string }) => id),
  ).toEqual([ids['cia'], ids['sales']]);
});
