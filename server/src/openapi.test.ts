// The OpenAPI documents as others read them: a linter, and a generator of clients.
//
// openapi-typescript needs the compiler of TypeScript 5 as a library, which TypeScript 7 is not: so server/package.json
// has a TypeScript of its own, for this test alone.
import { lintFromString, createConfig } from '@redocly/openapi-core';
import { dataOperations } from '@soundings/contract/data.ts';
import { interfaceNames, openApiDocument } from '@soundings/contract/openapi.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, importLines, kpi, later, question, round } from './testing/surveys.ts';
import { apply, unit } from './testing/organizations.ts';
import { openWorld, type TestAccount, type World } from './testing/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

describe('the rules that Redocly recommends', () => {
  /** A line of NDJSON has a schema, but nothing in OpenAPI 3.1 can refer to it. */
  const known = ['no-unused-components: Component: "FeedRow" is never used.'];

  test.each(interfaceNames)('%s follows all of them', async (name) => {
    const source = JSON.stringify(openApiDocument(name, 'https://soundings.example.org'));
    const config = await createConfig({ extends: ['recommended'] });
    const problems = (await lintFromString({ source, config })).map(
      ({ ruleId, message }) => `${ruleId}: ${message}`,
    );
    expect(problems).toEqual(name === 'data' ? known : []);
  });
});

describe('a client that openapi-typescript and openapi-fetch make of the documents', () => {
  let world: World;
  let account: TestAccount;
  let folder: string;
  const routes: { method: string; route: string; status: number }[] = [];

  beforeAll(async () => {
    const log = pino({ base: null }, { write: (line) => void routes.push(JSON.parse(line)) });
    world = await openWorld(log, {}, () => later);
    account = await world.account();
    await apply(account, { groups: [unit('top'), unit('team', { parent: 'top' }), unit('other')] });
    await importLines(world, account.id, survey);
    folder = await mkdtemp(join(tmpdir(), 'soundings-client-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await copyFile(join(root, 'docs/examples/bi/soundings.ts'), join(folder, 'soundings.ts'));
    await writeFile(join(folder, 'push.ts'), push);
    await writeFile(join(folder, 'wrong.ts'), wrong);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await writeTypes('data', 'data.d.ts');
    await writeTypes('organization', 'organization.d.ts', { defaultNonNullable: false });
  });
  afterAll(async () => {
    await world.close();
    await rm(folder, { recursive: true });
  });

  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
    allowImportingTsExtensions: true,
  };

  const people = Array.from({ length: 12 }, (_, i) => `person ${i}`);
  const survey = [
    question('mood', 1),
    question('lunch', 5, { options: [{ id: 'in', text: 'Inside' }] }),
    kpi('energy', ['mood'], { imageURL: 'https://example.com/energy.png' }),
    round('2026-W46', 'top', ['mood', 'lunch'], Object.fromEntries(people.map((one) => [one, ['team']]))),
    ...people.flatMap((one) => [
      answer('2026-W46', 'top', one, 'mood', 4, `Said ${one}`),
      answer('2026-W46', 'top', one, 'lunch', 'in'),
    ]),
    round('2026-W47', 'other', ['mood'], { someone: ['other'] }),
  ];

  /** What a program that pushes an organization looks like: as the documents say, with a dry run. */
  const push = `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './organization.d.ts';
    const baseUrl = process.env['SOUNDINGS_URL'] ?? '';
    const headers = { authorization: process.env['SOUNDINGS_TOKEN'] };
    const client = createClient<paths>({ baseUrl, headers });
    const users: components['schemas']['User'][] = [
      { externalId: 'u', firstName: 'F', lastName: 'L', accessInfo: { memberOf: ['g'], role: 'Manager' } },
    ];
    const body = { settings: { validateOnly: true }, data: { groups: [{ externalId: 'g', name: 'G' }], users } };
    for (const path of ['/v1/organization/organization', '/v1/organization'] as const) {
      const { data, error } = await client.POST(path, { body });
      if (!data) throw new Error(error.details.map(({ message }) => message).join());
      const [change] = data.changes;
      process.stdout.write([data.applied, data.summary.users.created, change?.entity].join(' ') + '\\n');
    }`;

  /** What does not compile; where it does, the compiler says so. */
  const wrong = `
    import createClient from 'openapi-fetch';
    import type { paths } from './data.d.ts';
    const client = createClient<paths>();
    // @ts-expect-error groupId is missing
    await client.GET('/v1/results', { params: { query: {} } });
    // @ts-expect-error true or false
    await client.GET('/v1/results', { params: { query: { groupId: '1', includeSubgroups: 'yes' } } });
    // @ts-expect-error one of csv and ndjson
    await client.GET('/v1/feed', { params: { query: { format: 'json' } }, parseAs: 'text' });
    // @ts-expect-error there is no such address
    await client.GET('/v1/kpis/values');
    const { data } = await client.GET('/v1/results', { params: { query: { groupId: '1' } } });
    const result = data?.[0]?.values[0]?.['1']?.['2']?.['2646'];
    // @ts-expect-error a value may be null
    export const value: number | undefined = result?.value;
    // @ts-expect-error no such field
    export const mean = result?.mean;`;

  /** From the document as it is served. */
  async function writeTypes(name: string, file: string, options = {}): Promise<void> {
    const { body } = await world.request<object>('GET', `/v1/openapi/${name}.json`);
    await writeFile(join(folder, file), astToString(await openapiTS(JSON.stringify(body), options)));
  }

  const environment = () => ({
    env: { ...process.env, SOUNDINGS_URL: world.address, SOUNDINGS_TOKEN: account.token },
  });

  test('compiles, and takes nothing that the documents do not have', async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
    expect(stdout).toBe('');
  });

  test('reads everything', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'soundings.ts')], environment());
    const read = JSON.parse(stdout);
    const get = async (path: string) =>
      (await world.request('GET', path, { headers: { authorization: account.token } })).body;
    const [top, , other] = await account.groups();
    const answersOf = async (id: number | undefined) => {
      const query = `groupId=${id}&includeSubgroups=true`;
      return {
        kpiValues: [await get(`/v1/kpis/energy/values?${query}`)],
        responseRates: await get(`/v1/responserates/values?${query}`),
        results: await get(`/v1/results?${query}&includeComments=true`),
        askedQuestions: await get(`/v1/askedquestions?${query}`),
      };
    };
    expect(read).toEqual({
      groups: await account.groups(),
      kpis: await get('/v1/kpis'),
      answers: [await answersOf(top?.id), await answersOf(other?.id)],
      feed: expect.any(Array),
    });
    expect(read.answers[0].results[0].comments[0]).not.toEqual({});
    const rows = (await get('/v1/feed?format=ndjson')) as unknown as string;
    expect(read.feed.map((row: object) => `${JSON.stringify(row)}\n`).join('')).toBe(rows);
  });

  test('pushes, at each of the two addresses', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'push.ts')], environment());
    expect(stdout).toBe('false 1 group\n'.repeat(2));
  });

  test('has called every operation there is', () => {
    const operations: Operation[] = [...dataOperations, ...organizationOperations];
    const called = new Set(routes.map(({ method, route, status }) => `${method} ${route} ${status}`));
    for (const { method, path } of operations) {
      expect(called).toContain(`${method} ${path.replace(/\{(\w+)\}/g, ':$1')} 200`);
    }
  });
});
