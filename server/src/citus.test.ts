// How far the schema and the statements are from Citus (docs/decisions/0060): the list of obstacles in the document is the one in the schema, and
// what a web process sends about the tables of accounts concerns one account.
import { globSync, readFileSync } from 'node:fs';
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { randomText } from './base/crypto/secrets.ts';
import { allWeeks, company, useService, world } from './results/data/data.fixture.ts';
import { askPeople } from './testing/asking.ts';
import { kindsOf, obstaclesIn } from './testing/schema/obstacles.ts';
import { signInNew } from './testing/signed-in.ts';
import { listenTo, tablesOfAnyAccount } from './testing/schema/statements.ts';
import { testConfig } from './testing/world.ts';

useService();

const decision = readFileSync(new URL('../../docs/decisions/0060-citus.md', import.meta.url), 'utf8');
/** Returns the lines of the code block after a heading of the decision. */
const linesUnder = (heading: string): string[] =>
  (new RegExp(`^## ${heading}$[^]*?^\`\`\`text\\n([^]*?)^\`\`\`$`, 'm').exec(decision)?.[1] ?? '')
    .trim()
    .split('\n');

test('the decision lists exactly what Citus would refuse in this schema', async () => {
  expect(linesUnder('What stands in the way')).toEqual(await obstaclesIn(world.pool));
  const undone = new Error('undone');
  const trying = world.pool.begin(async (tx) => {
    await tx`alter table groups add unique (name)`;
    expect(await obstaclesIn(tx)).toContain('unique without the account: groups_name_key');
    throw undone;
  });
  await expect(trying).rejects.toBe(undone);
});

test('the decision lists the tables that are not distributed', async () => {
  const { local } = await kindsOf(world.pool);
  expect(linesUnder('Tables that stay on the coordinator').join(' ').split(/\s+/)).toEqual(
    local.filter((name) => name !== 'job_workers'),
  );
});

/** What Citus refuses in the text of a statement on tables of accounts, whatever it is about. */
const refused: [what: string, found: RegExp][] = [
  [
    'a volatile function in an update',
    /`\s*update (?!answer_keys)[^`]*\b(clock_timestamp|nextval|random|gen_random_uuid)\(/,
  ],
  ['the time in "do update"', /\bdo\s+update\b[^`]*\b(now|clock_timestamp|statement_timestamp)\(\)/],
  [
    'the time in a case or coalesce of an update',
    /`\s*update [^`]*\bset\b[^`]*= (case|coalesce\()[^,`]*\bnow\(\)/,
  ],
  ['an empty list of columns in a part', /\bexists \(\s*select\s+from\b/],
  [
    'statistics of PostgreSQL together with a table',
    /`[^`]*\bfrom\s+(?!pg_)[\w$][^`]*\bfrom\s+pg_stats\b|\bfrom\s+pg_stats\b[^`]*\bfrom\s+(?!pg_)[\w$]/,
  ],
];
/** They write tables that stay on the coordinator. */
const onTheCoordinator = ['sealing/secrets.sql.ts', 'sealing/answer-keys.sql.ts', 'sftp/host-keys.sql.ts'];

test('no statement contains what Citus refuses in its text', () => {
  const files = globSync('**/*.sql.ts', { cwd: import.meta.dirname }).filter(
    (one) => !onTheCoordinator.includes(one),
  );
  expect(files.length).toBeGreaterThan(80);
  const found = files.flatMap((file) => {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8');
    return refused.filter(([, part]) => part.test(text)).map(([what]) => `${file}: ${what}`);
  });
  expect(found).toEqual([]);
});

/** Statements about several accounts, none of which locks rows, so that Citus can answer them from all servers. */
const ofSeveralAccounts: [part: string, reason: string][] = [
  [
    `from accounts where kind = 'company'`,
    'the sign-in page has the name of the company if there is only one',
  ],
  ['where r.entry_key =', 'a single sign-on address has no account, but a key that belongs to one'],
  [
    'where w.closed_at is null and w.week <',
    'the page about the installation lists late weeks of all accounts',
  ],
];

test('each statement of a web process about tables of accounts is bound to one account', async () => {
  const { url, sent } = await listenTo(world.databaseUrl);
  const config = { ...testConfig, answerKeys: world.keyPlace, role: 'web' as const, responseCacheMb: 0 };
  const app = await startApp(config, Promise.resolve(url), openLog('error'));
  onTestFinished(() => app.stop(5));
  await app.started;
  const started = new Set(sent.keys());
  const { account, group, question } = company;
  const authorization = account.token;
  const statusOf = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(app.address + path, {
      ...init,
      headers: { authorization, ...init.headers },
    });
    await response.text();
    return response.status;
  };
  const scope = `groupId=${group['company']}${allWeeks}&includeSubgroups=`;
  for (const path of [
    '/v1/groups',
    '/v1/groups?kind=segment',
    '/v1/kpis',
    '/v1/feed',
    ...['true', 'false'].flatMap((all) => [
      `/v1/kpis/energy/values?${scope}${all}`,
      `/v1/responserates/values?${scope}${all}`,
      `/v1/results?${scope}${all}&includeComments=true&granularData=true`,
      `/v1/results?${scope}${all}`,
      `/v1/askedquestions?${scope}${all}`,
    ]),
  ])
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  const json = { 'content-type': 'application/json' };
  const pushing = await world.account();
  for (const lastNames of [['E', 'F'], ['G', 'F'], ['G']]) {
    const users = lastNames.map((lastName, i) => ({ externalId: `new${i}`, firstName: 'N', lastName }));
    const body = JSON.stringify({ settings: { validateOnly: false }, data: { users } });
    const headers = { ...json, authorization: pushing.token };
    expect(await statusOf('/v1/organization', { method: 'POST', headers, body })).toBe(200);
  }
  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\nf1;Eva;Ek\n']), 'one.csv');
  expect(await statusOf('/v1/storage/uploadFile', { method: 'POST', body: form })).toBe(200);

  const asked = await askPeople(world, (await world.account()).id, { count: 6 });
  const cookie = `soundings_visit=${randomText(27)}`;
  const value = { question: asked.questionIds.get('workload-amount'), value: 3 };
  expect(await statusOf(`/a/${asked.links[0]}`, { headers: { cookie } })).toBe(200);
  const answer = { method: 'POST', headers: { ...json, cookie }, body: JSON.stringify(value) };
  expect(await statusOf(`/a/${asked.links[0]}/answers`, answer)).toBe(204);

  const { request } = await signInNew(
    { pool: world.pool, address: app.address },
    account.id,
    'Administrator',
  );
  const pages = Object.keys(consoleOperations)
    .filter((one) => one.startsWith('GET ') && !one.includes('report'))
    .map((one) =>
      one
        .replace('{groupId}', String(group['north']))
        .replace('{questionId}', String(question['mood']))
        .replace(/\{\w+\}/g, '1'),
    )
    .map((one) => (/trends/.test(one) ? `${one}?kpiId=energy&groupIds=${group['north']}` : one))
    .map((one) => (/results\/comments/.test(one) ? `${one}?groupId=${group['north']}` : one));
  for (const page of pages) expect([page, (await request(page)).status]).not.toEqual([page, 500]);

  const { distributed } = await kindsOf(world.pool);
  const found: string[] = [];
  let checked = 0;
  for (const statement of sent.values()) {
    if (started.has(statement.text) || /graphile_worker|pg_catalog/.test(statement.text)) continue;
    const tables = await tablesOfAnyAccount(world.pool, statement, distributed);
    if (tables) checked++;
    if (tables?.length)
      found.push(`${[...new Set(tables)].join(', ')}: ${statement.text.replace(/\s+/g, ' ').trim()}`);
  }
  const isKnown = (one: string) => ofSeveralAccounts.some(([part]) => one.includes(part));
  expect(found.filter((one) => !isKnown(one))).toEqual([]);
  expect(ofSeveralAccounts.filter(([part]) => !found.some((one) => one.includes(part)))).toEqual([]);
  expect(checked).toBeGreaterThan(100);
});
