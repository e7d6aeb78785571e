// Lists in the shapes of Workday, BambooHR, Personio and Microsoft Graph, from a server on this machine to people in groups, without any
// column mapping.
import { describe, expect, test } from 'vitest';
import { bamboohr, formIn, graph, personio, workday, workdayEntries } from './hr-shapes.fixture.ts';
import {
  ask,
  database,
  newCompany,
  newPull,
  openHr,
  peopleIn,
  pullDue,
  usePullDatabase,
  type Values,
} from './pulls.fixture.ts';

usePullDatabase();

/** Creates a pull, does its dry run, and has it applied. */
async function applied(values: Values) {
  const company = await newCompany(database.pool);
  const pullId = await newPull(database, company, values);
  const dry = await pullDue(database, company);
  expect(dry).toMatchObject({ reason: 'dryRun', outcome: 'stored', error: null, fileOutcome: 'validated' });
  expect(await peopleIn(database.pool, company)).toEqual([]);
  await ask(database, company, pullId, false);
  const last = await pullDue(database, company);
  expect(last).toMatchObject({ reason: 'fetch', outcome: 'stored', fileOutcome: 'applied' });
  return { company, people: await peopleIn(database.pool, company), last: last! };
}

describe('from a list to people in groups', () => {
  test('Workday: a report as a web service, with basic authentication; fields without a value are missing', async () => {
    const hr = await openHr(workday(workdayEntries));
    const { people } = await applied({
      url: `${hr.url}/ccx/service/customreport2/nordwind/ISU_Soundings/Soundings?format=json`,
      access: { kind: 'basic', user: 'ISU_Soundings' },
      secret: 'wd-pässword',
    });
    expect(people).toEqual([
      {
        id: '21001',
        name: 'Maja Lind',
        email: 'maja@nordwind.example',
        active: true,
        groups: ['Operations', 'Operations (adminOf)', 'Sales (adminOf)'],
      },
      { id: '21002', name: 'Ola Berg', email: 'ola@nordwind.example', active: true, groups: ['Operations'] },
      { id: '21003', name: 'Åsa Öberg, "Å"', email: null, active: true, groups: ['Sales'] },
    ]);
  });

  test('Workday: the same report as CSV', async () => {
    const csv = 'Employee_ID,First_Name,Last_Name,Department\r\n21001,Maja,Lind,Operations\r\n';
    const hr = await openHr((_, response) =>
      response.writeHead(200, { 'content-type': 'text/csv' }).end(csv),
    );
    const { people, last } = await applied({ url: `${hr.url}/report?format=csv` });
    expect(last).toMatchObject({ file: 'People.csv', rows: null });
    expect(people).toMatchObject([{ id: '21001', groups: ['Operations'] }]);
  });

  test('BambooHR: a company report, with the API key as user; its description of fields is another list', async () => {
    const hr = await openHr(bamboohr);
    const { people } = await applied({
      url: `${hr.url}/api/v1/reports/12?format=JSON&onlyCurrent=false`,
      list: 'employees',
      access: { kind: 'key' },
      secret: 'bamboo-key',
    });
    expect(people).toEqual([
      { id: '101', name: 'Ken Ito', email: 'ken@nordwind.example', active: true, groups: ['Sales'] },
      { id: '102', name: 'Lea Voss', email: null, active: false, groups: ['Support'] },
    ]);
  });

  test('Personio: client credentials, labelled attributes, and pages with limit and offset', async () => {
    const hr = await openHr(personio(190));
    const { people, last } = await applied({
      url: `${hr.url}/v1/company/employees?limit=100&offset=0`,
      access: { kind: 'oauth', tokenUrl: `${hr.url}/v2/auth/token`, clientId: 'papi-client', method: 'post' },
      secret: 'papi-secret',
    });
    expect(last.rows).toBe(190);
    expect(people).toHaveLength(190);
    expect(people.find(({ id }) => id === '9')).toEqual({
      id: '9',
      name: 'Vera9 Klee',
      email: 'vera9@nordwind.example',
      active: false,
      groups: ['Einkauf'],
    });
    expect(people.find(({ id }) => id === '1')!.groups).toContain('Logistik (adminOf)');
    expect(formIn(hr.seen[0]!)).toEqual({
      grant_type: 'client_credentials',
      client_id: 'papi-client',
      client_secret: 'papi-secret',
    });
    expect(hr.seen.map(({ path }) => path).slice(0, 3)).toEqual([
      '/v2/auth/token',
      '/v1/company/employees?limit=100&offset=0',
      '/v1/company/employees?limit=100&offset=100',
    ]);
  });

  test('Microsoft Graph: client credentials of Entra, pages with @odata.nextLink, and the manager of each user', async () => {
    const hr = await openHr(graph(180, 80));
    const { people } = await applied({
      url: `${hr.url}/v1.0/users?$select=id,givenName,surname,mail,department,accountEnabled,preferredLanguage&$expand=manager($select=id)`,
      access: {
        kind: 'oauth',
        tokenUrl: `${hr.url}/tenant-1/oauth2/v2.0/token`,
        clientId: 'client-1',
        scope: 'https://graph.microsoft.com/.default',
        method: 'post',
      },
      secret: 's3cret',
    });
    expect(people).toHaveLength(180);
    expect(people[0]).toMatchObject({
      name: 'Nia1 Holt',
      groups: ['Finance (adminOf)', 'IT', 'IT (adminOf)'],
    });
    expect(people[2]).toMatchObject({ name: 'Nia3 Holt', active: false });
    expect(formIn(hr.seen[0]!)['scope']).toBe('https://graph.microsoft.com/.default');
  });
});
