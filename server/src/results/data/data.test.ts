// The data interface to the letter (§2.1, §4.1; decisions "Everywhere" 6 and 8, and part A): by endpoint, then by status.
// Every answer with status 200 is checked against the schema of its operation, every refusal against that of errors.
import { dataOperations, type KpiValues, type ResponseRateValues } from '@soundings/contract/data.ts';
import type { AskedQuestionsValues, Kpi, ResultsValues, Value } from '@soundings/contract/data.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount, lockAccount } from '../../accounts/accounts.ts';
import { createToken } from '../../accounts/tokens.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { migrations } from '../../db/migrate.ts';
import { selectQuestions } from '../../questions/questions.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answer, importLines, kpi, later, question, round, skip } from '../../testing/surveys.ts';
import { type Answer, openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { closeWeekNow } from '../close-week.ts';

/**
 * The service's clock. A test that sets it has no open week in its account: those that have ended by then may be closed at
 * any moment.
 */
let now = later;
let world: World;
let company: Company;
beforeAll(async () => {
  world = await openWorld(openLog('error'), {}, () => now);
  company = await openCompany();
});
afterAll(() => world.close());

// Asking.

const checks = new Map(
  dataOperations.map((operation: Operation) => [
    operation,
    { address: addressPattern(operation.path), response: Compile(operation.response) },
  ]),
);
const problem = Compile(Problem);

function addressPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

async function ask<T>(account: TestAccount, address: string, headers = {}): Promise<Answer<T>> {
  const got = await world.request<T>('GET', address, {
    headers: { authorization: account.token, ...headers },
  });
  const check = [...checks.values()].find((one) => one.address.test(address.replace(/\?.*/s, '')));
  if (!check) throw new Error(`No operation has the address ${address}.`);
  const expected = got.status === 200 ? check.response : problem;
  if (got.status !== 304 && !expected.Check(got.body)) {
    throw new Error(`${got.status} of ${address}: ${JSON.stringify(expected.Errors(got.body))}`);
  }
  return got;
}

/** The body of an answer that must be 200. */
async function told<T>(account: TestAccount, address: string): Promise<T> {
  const { status, body } = await ask<T>(account, address);
  if (status !== 200) throw new Error(`${status} of ${address}: ${JSON.stringify(body)}`);
  return body;
}

const range = (from: string, to: string) => `&fromDate=${from}&toDate=${to}`;

const kpiValues = async (account: TestAccount, kpiId: string, query: string): Promise<Value[]> =>
  (await told<KpiValues>(account, `/v1/kpis/${kpiId}/values?${query}`)).values;

async function rates(account: TestAccount, query: string): Promise<Value[]> {
  const body = await told<ResponseRateValues[]>(account, `/v1/responserates/values?${query}`);
  expect(body).toHaveLength(1);
  return body[0]!.values;
}

type Results = Omit<ResultsValues, 'values' | 'comments'> & {
  values: ResultsValues['values'][number];
  comments: NonNullable<ResultsValues['comments']>[number] | undefined;
};

/** With the one map of values, and of comments, taken out of its array. */
async function results(account: TestAccount, query: string): Promise<Results> {
  const body = await told<ResultsValues[]>(account, `/v1/results?${query}`);
  expect(body).toHaveLength(1);
  const { questions, values, comments } = body[0]!;
  expect(values).toHaveLength(1);
  expect(comments ?? [{}]).toHaveLength(1);
  return { questions, values: values[0]!, comments: comments?.[0] };
}

async function asked(account: TestAccount, query: string) {
  const body = await told<AskedQuestionsValues[]>(account, `/v1/askedquestions?${query}`);
  expect(body).toHaveLength(1);
  expect(body[0]!.askedquestions).toHaveLength(1);
  return { questions: body[0]!.questions, askedquestions: body[0]!.askedquestions[0]! };
}

// A company, and what it was asked.

type Ids = Record<string, number>;
type Company = { account: TestAccount; group: Ids; question: Ids };

/** An account with threshold 3: distributions and comments need 6. */
async function openAccount(settings: { timezone?: string } = {}): Promise<TestAccount> {
  const account = await world.account(settings);
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3 }));
  return account;
}

async function withSurvey(
  account: TestAccount,
  groups: object[],
  lines: object[],
  importedAt = now,
): Promise<Company> {
  await apply(account, { groups });
  await importLines(world, account.id, lines, importedAt);
  const found = await selectQuestions(world.pool, account.id);
  const listed = await account.groups();
  return {
    account,
    group: Object.fromEntries(listed.map(({ externalId, id }) => [externalId, id])),
    question: Object.fromEntries(found.map(({ key, id }) => [key, id])),
  };
}

const tree = [
  unit('company'),
  unit('sales', { parent: 'company' }),
  unit('north', { parent: 'sales' }),
  unit('south', { parent: 'sales' }),
  unit('tech', { parent: 'company' }),
  unit('apart'),
];

/** People such as north1, north2, …, each a member of the group of that name. */
const peopleOf = (groups: string[], count = 6) =>
  Object.fromEntries(
    groups.flatMap((group) => Array.from({ length: count }, (_, i) => [`${group}${i + 1}`, [group]])),
  );

/** The answers of people such as north1, north2, … to a question; undefined: none. */
const answersOf = (week: string, to: string, group: string, key: string, values: unknown[]) =>
  values.flatMap((value, i) =>
    value === undefined ? [] : [answer(week, to, `${group}${i + 1}`, key, value)],
  );

const six = <T>(value: T): T[] => Array.from({ length: 6 }, () => value);

const options = [
  { id: 'in', text: 'Canteen', translations: { sv: 'Matsalen' } },
  { id: 'out', text: 'Out' },
];

/** One question of each type, to 6 people in each of 3 groups in 2026-W45; one to all of them in W46; W47 is open. */
const companyLines = [
  question('mood', 1, { text: 'Happy?', translations: { sv: 'Glad?' } }),
  question('tens', 2),
  question('advise', 3),
  question('bus', 4),
  question('lunch', 5, { options }),
  question('tools', 6, { options: [...options, { id: 'none', text: 'None' }] }),
  question('words', 7),
  question('local', 1),
  question('never', 1),
  kpi('energy', ['mood', 'tens'], { name: 'Energy', imageURL: 'https://example.com/energy.png' }),
  kpi('never', ['never']),
  kpi('advice', ['advise']),

  round(
    '2026-W45',
    'company',
    ['mood', 'tens', 'advise', 'bus', 'lunch', 'tools', 'words'],
    peopleOf(['north', 'south', 'tech']),
  ),
  round('2026-W45', 'sales', ['local'], peopleOf(['north', 'south'])),
  ...Object.entries({
    mood: [[1, 2, 3, 4, 5, 3], six(5), six(1)],
    tens: [[1, 10, 1, 10, 1, 10], six(10), six(1)],
    advise: [[10, 9, 8, 7, 6, 0], six(9), six(0)],
    bus: [[true, true, true, false, false, false], six(true), six(false)],
    lunch: [['in', 'in', 'in', 'in', 'out', 'out'], six('in'), six('out')],
    tools: [[['in'], ['in', 'out'], ['out'], [], ['in'], ['in', 'out']], six(['in']), six(['out'])],
  }).flatMap(([key, [north, south, tech]]) => [
    ...answersOf('2026-W45', 'company', 'north', key, north!),
    ...answersOf('2026-W45', 'company', 'south', key, south!),
    ...answersOf('2026-W45', 'company', 'tech', key, tech!),
  ]),
  ...['north', 'south', 'tech'].flatMap((group) =>
    six(0).map((_, i) =>
      answer('2026-W45', 'company', `${group}${i + 1}`, 'words', undefined, `Words of ${group}`),
    ),
  ),
  ...answersOf('2026-W45', 'sales', 'north', 'local', six(3)),
  ...answersOf('2026-W45', 'sales', 'south', 'local', six(3)),

  round('2026-W46', 'company', ['mood'], peopleOf(['north', 'south', 'tech'])),
  ...answersOf('2026-W46', 'company', 'north', 'mood', [...six(4).slice(2), 2, 2]),
  ...answersOf('2026-W46', 'company', 'south', 'mood', [5, 5]),
  skip('2026-W46', 'company', 'south3', 'mood'),
  ...answersOf('2026-W46', 'company', 'tech', 'mood', six(3)),

  round('2026-W47', 'company', ['tens'], peopleOf(['north', 'south', 'tech'])),
  round('2026-W47', 'north', ['mood'], peopleOf(['north'])),
  ...answersOf('2026-W47', 'company', 'north', 'tens', six(10)),
];

const openCompany = async () => withSurvey(await openAccount(), tree, companyLines);

/** The weeks that are closed, and the open one. */
const w45 = range('2026-11-02', '2026-11-08');
const w46 = range('2026-11-09', '2026-11-15');
const allWeeks = range('2026-11-02', '2026-11-22');
const row = (groupId: number | undefined, value: number | null, yearWeek: string, date: string) => ({
  groupId,
  value,
  yearWeek,
  date,
});

// What holds for every endpoint that takes a group.

type Endpoint = { address: string; hasLanguage: boolean; hasQuestions: boolean };
const kpiEndpoint: Endpoint = {
  address: '/v1/kpis/energy/values',
  hasLanguage: false,
  hasQuestions: false,
};
const ratesEndpoint: Endpoint = {
  address: '/v1/responserates/values',
  hasLanguage: false,
  hasQuestions: false,
};
const resultsEndpoint: Endpoint = {
  address: '/v1/results',
  hasLanguage: true,
  hasQuestions: true,
};
const askedEndpoint: Endpoint = {
  address: '/v1/askedquestions',
  hasLanguage: true,
  hasQuestions: false,
};
const scoped = [kpiEndpoint, ratesEndpoint, resultsEndpoint, askedEndpoint];

type Refused = [query: string, path: string];

const listed = (text: string) => text.split('|');
const noDays = listed(
  '|2026-1-2|20261102|02-11-2026|2026-W45|2026-11-02T00:00:00Z|%202026-11-02|2026-11-02%20|2026-11-02%0A|2026-11|' +
    'today|٢٠٢٦-١١-٠٢|-2026-11-02|+002026-11-02',
);
const impossibleDays = listed('2024-02-30|2026-02-29|2026-13-01|2026-00-10|2026-11-00|2026-04-31');
const noFlags = listed('|TRUE|True|FALSE|1|0|yes|%20true|true%20|null|true,false');
const noIds = listed('|%20|,|1,|,1|1,,2|a|1;2|1%202|1.5|1e3|0x1|١|[1]|1,two');
const noLanguages = listed('|s|swe|en-US|s1|sv%20|%20sv|sv%0A|åä|ſv|ＳＶ|%F0%9F%87%B8');

/** Queries that are refused, each with the parameter that is named; G stands for a group that there is. */
function refusedQueries({ hasLanguage, hasQuestions }: Endpoint): Record<string, Refused[]> {
  const flags = ['includeSubgroups', ...(hasQuestions ? ['includeComments', 'granularData'] : [])];
  const unknown = [
    ...listed('includeSubgroup|IncludeSubgroups|groupID|kpiId|groupId[]|__proto__|week'),
    ...(hasQuestions ? [] : ['questionIds', 'includeComments', 'granularData']),
    ...(hasLanguage ? [] : ['language']),
  ];
  const repeated = [
    'includeSubgroups=true',
    ...(hasQuestions ? ['questionIds=1', 'includeComments=true', 'granularData=true'] : []),
    ...(hasLanguage ? ['language=sv'] : []),
  ];
  /** Each value of a parameter, after what else there is. */
  const each = (values: string[], path: string, before = 'groupId=G') =>
    values.map((value): Refused => [`${before}&${path}=${value}`, path]);
  const bothEnds = (days: string[]) => [
    ...each(days, 'fromDate', 'groupId=G&toDate=2030-01-01'),
    ...each(days, 'toDate', 'groupId=G&fromDate=2020-01-01'),
  ];
  return {
    'a groupId that is missing or empty': listed('|includeSubgroups=true|groupId=|groupId').map((query) => [
      query,
      'groupId',
    ]),
    'half a range': [
      ['groupId=G&fromDate=2026-11-02', 'toDate'],
      ['groupId=G&toDate=2026-11-02', 'fromDate'],
    ],
    'a day that is malformed': bothEnds(noDays),
    'a day that does not exist': bothEnds(impossibleDays),
    'a reversed range, also within one week': [
      ['groupId=G&fromDate=2026-11-09&toDate=2026-11-08', 'fromDate'],
      ['groupId=G&fromDate=2026-11-03&toDate=2026-11-02', 'fromDate'],
    ],
    'a parameter that there is not': unknown.map((name) => [
      `groupId=G&${encodeURIComponent(name)}=true`,
      name,
    ]),
    'a repeated parameter, also with the same value': [
      ['groupId=G&groupId=G', 'groupId'],
      ['groupId=G&fromDate=2026-11-02&fromDate=2026-11-02&toDate=2026-11-08', 'fromDate'],
      ['groupId=G&fromDate=2026-11-02&toDate=2026-11-08&toDate=2026-11-08', 'toDate'],
      ...repeated.map((one): Refused => [`groupId=G&${one}&${one}`, one.split('=')[0] as string]),
    ],
    'a boolean other than true or false': flags.flatMap((flag) => each(noFlags, flag)),
    ...(hasQuestions && { 'questionIds that are empty or malformed': each(noIds, 'questionIds') }),
    ...(hasLanguage && { 'a language of other than two ASCII letters': each(noLanguages, 'language') }),
  };
}

/** Group ids that are of no group of the account. */
const noGroups = [
  ...listed("999999999|0|-1|1.5|1e3|0x1|nowhere|null|*|%20|1%3B|1'%20or%20'1'='1|٣|2147483647|2147483648"),
  '9007199254740993',
  '9'.repeat(30),
  '9'.repeat(300),
  'x'.repeat(3000),
];

function refusals(endpoint: Endpoint): void {
  describe('400', () => {
    test.each(Object.entries(refusedQueries(endpoint)))(
      '%s: named in the first detail',
      async (_, queries) => {
        const wrong: unknown[] = [];
        for (const [query, path] of queries) {
          const text = query.replaceAll('=G', `=${company.group['company']}`);
          const { status, body } = await ask<Problem>(company.account, `${endpoint.address}?${text}`);
          if (status !== 400 || body.details[0]?.path !== path) wrong.push({ query, status, body });
        }
        expect(wrong).toEqual([]);
      },
    );

    test('every parameter that is wrong is named', async () => {
      const { status, body } = await ask<Problem>(
        company.account,
        `${endpoint.address}?fromDate=2026-11-1&includeSubgroups=maybe&colour=red`,
      );
      expect(status).toBe(400);
      expect(body.details.map(({ path }) => path).toSorted()).toEqual([
        'colour',
        'fromDate',
        'groupId',
        'includeSubgroups',
      ]);
      const words = body.details.map(({ message }) => message).join(' ');
      for (const received of ['"2026-11-1"', '"maybe"', '"colour"']) expect(words).toContain(received);
    });
  });

  describe('404', () => {
    test('a group that is absent, not numeric, huge, negative or of another account: in the same words', async () => {
      const other = await openCompany();
      const query = (id: unknown) => `${endpoint.address}?groupId=${id}`;
      const absent = await ask<Problem>(company.account, query(999_999_999));
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'group not found' }] } });
      const wrong: string[] = [];
      for (const id of [...noGroups, other.group['company'], other.group['north']]) {
        const { status, body } = await ask<Problem>(company.account, query(id));
        const isSame = JSON.stringify({ ...body, id: '' }) === JSON.stringify({ ...absent.body, id: '' });
        if (status !== 404 || !isSame)
          wrong.push(`${String(id).slice(0, 40)} (${String(id).length}): ${status} ${body.message}`);
      }
      expect(wrong).toEqual([]);
      expect((await ask(other.account, query(other.group['north']))).status).toBe(200);
    });

    test('an externalId of the account is answered with the id of its group', async () => {
      const { account, group } = company;
      for (const more of ['', '&includeSubgroups=true']) {
        const { status, body } = await ask<Problem>(account, `${endpoint.address}?groupId=north${more}`);
        expect([status, body.details[0]?.type]).toEqual([404, 'group not found']);
        expect(body.message).toContain(`"north" is the externalId of group ${group['north']}`);
      }
      const other = await openAccount();
      expect((await ask<Problem>(other, `${endpoint.address}?groupId=north`)).body.message).toBe(
        'This group does not exist.',
      );
    });

    test('a group that was removed', async () => {
      const { account, group } = await openCompany();
      const address = `${endpoint.address}?groupId=${group['north']}`;
      expect((await ask(account, address)).status).toBe(200);
      await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
      expect((await ask<Problem>(account, address)).body).toMatchObject({
        details: [{ type: 'group not found', message: 'This group does not exist.' }],
      });
    });
  });
}

test('a push that removes groups says how many weeks of results go with each, in the dry run and in the run', async () => {
  const { account } = await openWeekly(['2026-W44', '2026-W45']);
  const groups = [unit('other')];
  const dry = await account.push({ data: { groups } });
  const [warning, ...others] = dry.body.warnings;
  expect(others).toEqual([]);
  expect(warning).toMatchObject({ type: 'history deleted', entity: 'group', weeks: 2 });
  expect(warning?.message).toContain('2 weeks');
  expect((await apply(account, { groups })).warnings).toEqual(dry.body.warnings);
  expect((await apply(account, { groups: [] })).warnings).toEqual([]);
});

describe('GET /v1/groups', () => {
  describe('200', () => {
    test('each group has what its schema says and nothing else; what is unset is left out', async () => {
      const { account } = company;
      const groups = await told<object[]>(account, '/v1/groups');
      expect(groups).toHaveLength(6);
      for (const group of groups)
        expect(Object.keys(group)).toEqual(['id', 'externalId', 'name', 'subgroups']);
    });

    test('subgroups are exactly those that includeSubgroups=true adds', async () => {
      const { account, group } = company;
      const groups = await told<{ id: number; subgroups: number[] }[]>(account, '/v1/groups');
      for (const { id, subgroups } of groups) {
        const covered = await rates(account, `groupId=${id}&includeSubgroups=true`);
        const scope = id === group['apart'] ? [] : [id, ...subgroups].toSorted((a, b) => a - b);
        expect(covered.map(({ groupId }) => groupId)).toEqual(scope);
      }
    });
  });

  test('400: any parameter', async () => {
    const { status, body } = await ask<Problem>(company.account, '/v1/groups?groupId=1');
    expect([status, body.details[0]?.path]).toEqual([400, 'groupId']);
  });
});

describe('GET /v1/kpis', () => {
  describe('200', () => {
    test('an empty list in an account without values: also with KPIs, and with a week that is open', async () => {
      const account = await openAccount();
      expect(await told(account, '/v1/kpis')).toEqual([]);
      await withSurvey(account, tree, [
        question('mood', 1),
        kpi('energy', ['mood']),
        round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
        ...answersOf('2026-W47', 'company', 'north', 'mood', six(3)),
      ]);
      expect(await told(account, '/v1/kpis')).toEqual([]);
    });

    test('the KPIs for which a value was ever created, with imageURL where there is one', async () => {
      expect(await told<Kpi[]>(company.account, '/v1/kpis')).toEqual([
        { id: 'advice', name: 'advice' },
        { id: 'energy', name: 'Energy', imageURL: 'https://example.com/energy.png' },
      ]);
    });
  });

  test('400: any parameter', async () => {
    const { status, body } = await ask<Problem>(company.account, '/v1/kpis?groupId=1');
    expect([status, body.details[0]?.path]).toEqual([400, 'groupId']);
  });
});

describe('a token with quoted numbers', () => {
  test('gets values and rates as the original service writes them, and no response of another token', async () => {
    const { account, group } = company;
    const { token } = await createToken(world.pool, account.id, {
      name: 'old client',
      scopes: ['data'],
      numbers: 'quoted',
    });
    for (const withSubgroups of [false, true]) {
      const query = `groupId=${group['sales']}&includeSubgroups=${withSubgroups}`;
      for (const address of [`/v1/kpis/energy/values?${query}`, `/v1/responserates/values?${query}`]) {
        const plain = await ask<KpiValues | ResponseRateValues[]>(account, address);
        const quoted = await world.request<KpiValues | ResponseRateValues[]>('GET', address, {
          headers: { authorization: token, 'if-none-match': plain.headers.get('etag') ?? '' },
        });
        expect(quoted.status).toBe(200);
        const valuesOf = (body: KpiValues | ResponseRateValues[]) =>
          Array.isArray(body) ? body[0]!.values : body.values;
        expect(valuesOf(plain.body).length).toBeGreaterThan(0);
        expect(valuesOf(quoted.body)).toEqual(
          valuesOf(plain.body).map(({ groupId, value, yearWeek, date }) => ({
            groupId: String(groupId),
            value: value === null ? null : String(value),
            yearWeek,
            date: `${date} 00:00:00`,
          })),
        );
      }
    }
    const others = `/v1/results?groupId=${group['sales']}`;
    const { body } = await world.request('GET', others, { headers: { authorization: token } });
    expect(body).toEqual((await ask(account, others)).body);
  });
});

describe('GET /v1/kpis/{kpiId}/values', () => {
  describe('200', () => {
    test('with the KPI, and the mean of the values shown for its questions that were asked', async () => {
      const { account, group } = company;
      const { sales, north } = group;
      expect(await told(account, `/v1/kpis/energy/values?groupId=${north}${w45}`)).toEqual({
        kpi: { id: 'energy', name: 'Energy', imageURL: 'https://example.com/energy.png' },
        values: [row(north, (12 / 24 + 27 / 54) / 2, '202645', '2026-11-02')],
      });
      expect(await kpiValues(account, 'energy', `groupId=${sales}${w45}`)).toEqual([
        row(sales, (36 / 48 + 81 / 108) / 2, '202645', '2026-11-02'),
      ]);
    });

    test('latest: one row for each group asked for, of its last published week, withheld ones with null', async () => {
      const { account, group } = company;
      const { company: top, sales, north, south, tech } = group;
      const latest = [
        row(top, (4 * 3 + 2 * 1 + 6 * 2) / 48, '202646', '2026-11-09'),
        row(sales, 14 / 24, '202646', '2026-11-09'),
        row(north, 14 / 24, '202646', '2026-11-09'),
        row(south, null, '202646', '2026-11-09'),
        row(tech, 0.5, '202646', '2026-11-09'),
      ];
      expect(await kpiValues(account, 'energy', `groupId=${top}&includeSubgroups=true`)).toEqual(latest);
      expect(await kpiValues(account, 'energy', `groupId=${top}`)).toEqual(latest.slice(0, 1));
      expect(await kpiValues(account, 'energy', `groupId=${top}&includeSubgroups=false`)).toEqual(
        latest.slice(0, 1),
      );
      expect(await kpiValues(account, 'energy', `groupId=${south}`)).toEqual([latest[3]]);
    });

    test('latest: a round of one small team hides no earlier value of the groups above it, nor the rates', async () => {
      const { account, group } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        question('other', 1),
        kpi('energy', ['mood']),
        round('2026-W45', 'company', ['mood'], peopleOf(['north', 'south'])),
        ...answersOf('2026-W45', 'company', 'north', 'mood', six(5)),
        ...answersOf('2026-W45', 'company', 'south', 'mood', six(5)),
        // Asked as a whole, but not for this KPI: that makes no value either.
        round('2026-W46', 'company', ['other'], peopleOf(['north', 'south'])),
        round('2026-W46', 'north', ['mood'], peopleOf(['north'], 2)),
      ]);
      const { company: top, sales, north, south, tech } = group;
      const latest = [
        row(top, 1, '202645', '2026-11-02'),
        row(sales, 1, '202645', '2026-11-02'),
        row(north, null, '202646', '2026-11-09'),
        row(south, 1, '202645', '2026-11-02'),
        row(tech, null, '202645', '2026-11-02'),
      ];
      expect(await kpiValues(account, 'energy', `groupId=${top}&includeSubgroups=true`)).toEqual(latest);
      for (const one of latest)
        expect(await kpiValues(account, 'energy', `groupId=${one.groupId}`)).toEqual([one]);
      // A range lists every week that has a row, as before.
      expect(await kpiValues(account, 'energy', `groupId=${top}${allWeeks}`)).toEqual([
        row(top, 1, '202645', '2026-11-02'),
        row(top, null, '202646', '2026-11-09'),
      ]);
      const ofTeams = (await rates(account, `groupId=${top}&includeSubgroups=true`)).map(
        ({ yearWeek }) => yearWeek,
      );
      expect(new Set(ofTeams)).toEqual(new Set(['202646']));
    });

    test('the migration marks values of earlier weeks as closing a week does', async () => {
      const { account } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        question('other', 1),
        kpi('energy', ['mood']),
        kpi('unasked', ['other']),
        round('2026-W45', 'company', ['mood'], peopleOf(['north', 'south'])),
        round('2026-W46', 'company', ['other'], peopleOf(['north', 'south'])),
        round('2026-W46', 'north', ['mood'], peopleOf(['north'])),
      ]);
      const marks = async () => world.pool`
        select kpi_id, group_id, week, asked_whole from kpi_values
        where  account_id = ${account.id} order by kpi_id, group_id, week`;
      const closed = await marks();
      expect(new Set(closed.map((one) => one['asked_whole']))).toEqual(new Set([true, false]));
      await world.pool`update kpi_values set asked_whole = true where account_id = ${account.id}`;
      const migration = migrations().find(({ name }) => name.endsWith('numbers_and_roles.sql'));
      await world.pool.unsafe(/^update [^;]*;/m.exec(migration?.sql ?? '')?.[0] ?? '');
      expect(await marks()).toEqual(closed);
    });

    test('latest of a group that was never asked as a whole: its last week with a row', async () => {
      const { account, group } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        kpi('energy', ['mood']),
        ...['2026-W45', '2026-W46'].flatMap((week) => [
          round(week, 'north', ['mood'], peopleOf(['north'])),
          ...answersOf(week, 'north', 'north', 'mood', six(5)),
        ]),
      ]);
      const top = group['company'];
      for (const query of [`groupId=${top}`, `groupId=${top}&includeSubgroups=true`]) {
        const [first] = await kpiValues(account, 'energy', query);
        expect(first).toEqual(row(top, 1, '202646', '2026-11-09'));
      }
    });

    test('latest is of the last week that asked for this KPI, however long ago', async () => {
      const old = await openWeekly(['2019-W02', '2020-W53']);
      const { team } = old.group;
      const values = await kpiValues(old.account, 'energy', `groupId=${team}`);
      expect(values).toEqual([row(team, 0.5, '202053', '2020-12-28')]);
      const { account, group } = company;
      expect(await kpiValues(account, 'advice', `groupId=${group['south']}`)).toEqual([
        row(group['south'], 0.9, '202645', '2026-11-02'),
      ]);
    });

    test('a range: a row for each week, in order, the withheld one after a shown one with null, no open week', async () => {
      const { account, group } = company;
      const { south } = group;
      expect(await kpiValues(account, 'energy', `groupId=${south}${allWeeks}`)).toEqual([
        row(south, 1, '202645', '2026-11-02'),
        row(south, null, '202646', '2026-11-09'),
      ]);
    });

    test('no row for a group that was never asked, and none for a KPI whose questions were never asked', async () => {
      const { account, group } = company;
      expect(await kpiValues(account, 'energy', `groupId=${group['apart']}`)).toEqual([]);
      expect(await kpiValues(account, 'energy', `groupId=${group['apart']}${allWeeks}`)).toEqual([]);
      expect(await kpiValues(account, 'never', `groupId=${group['company']}&includeSubgroups=true`)).toEqual(
        [],
      );
    });
  });

  refusals(kpiEndpoint);

  test('404: a KPI that is absent, strange, huge or of another account: in the same words', async () => {
    const { account, group } = company;
    const other = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('secret', ['mood']),
      round('2026-W46', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W46', 'company', 'north', 'mood', six(3)),
    ]);
    expect(await kpiValues(other.account, 'secret', `groupId=${other.group['north']}`)).toHaveLength(1);
    const query = (id: string) => `/v1/kpis/${id}/values?groupId=${group['north']}`;
    const absent = await ask<Problem>(account, query('absent'));
    expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'kpi not found' }] } });
    for (const id of ['secret', 'ENERGY', 'energy%20', '1', '-1', '%2F', '%F0%9F%8C%8A', 'x'.repeat(5000)]) {
      const { status, body } = await ask<Problem>(account, query(id));
      expect([id, status, { ...body, id: '' }]).toEqual([id, 404, { ...absent.body, id: '' }]);
    }
  });
});

describe('GET /v1/responserates/values', () => {
  describe('200', () => {
    test('10 questions to 5 people, 42 of them done, skipped ones included: 0.84', async () => {
      const keys = Array.from({ length: 10 }, (_, i) => `q${i}`);
      const people = [1, 2, 3, 4, 5].map((i) => `p${i}`);
      const done = people.flatMap((person) => keys.map((key) => ({ person, key }))).slice(0, 42);
      const { account, group } = await withSurvey(
        await world.account(),
        [unit('five')],
        [
          ...keys.map((key) => question(key, 1)),
          round('2026-W46', 'five', keys, Object.fromEntries(people.map((person) => [person, ['five']]))),
          ...done.map(({ person, key }, i) =>
            i % 4 === 0 ? skip('2026-W46', 'five', person, key) : answer('2026-W46', 'five', person, key, 3),
          ),
        ],
      );
      expect(await rates(account, `groupId=${group['five']}`)).toEqual([
        row(group['five'], 0.84, '202646', '2026-11-09'),
      ]);
    });

    test('counts the rounds that asked everyone in the group: those of a group above, not those of one beneath', async () => {
      const { account, group } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        question('tens', 2),
        round('2026-W46', 'company', ['mood'], peopleOf(['north', 'south'], 4)),
        round('2026-W46', 'north', ['tens'], peopleOf(['north'], 4)),
        ...answersOf('2026-W46', 'company', 'north', 'mood', [3, 3, 3, 3]),
        ...answersOf('2026-W46', 'company', 'south', 'mood', [3, 3]),
        ...answersOf('2026-W46', 'north', 'north', 'tens', [3]),
      ]);
      const { company: top, sales, north, south, tech } = group;
      expect(await rates(account, `groupId=${top}&includeSubgroups=true`)).toEqual([
        row(top, 6 / 8, '202646', '2026-11-09'),
        row(sales, 6 / 8, '202646', '2026-11-09'),
        row(north, 5 / 8, '202646', '2026-11-09'),
        row(south, 2 / 4, '202646', '2026-11-09'),
        row(tech, null, '202646', '2026-11-09'),
      ]);
    });

    test('latest: the last published week; too few people asked: null; never asked: no row', async () => {
      const { account, group } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        round('2026-W45', 'north', ['mood'], peopleOf(['north'], 4)),
        ...answersOf('2026-W45', 'north', 'north', 'mood', [3]),
        round('2026-W46', 'north', ['mood'], peopleOf(['north'], 2)),
        ...answersOf('2026-W46', 'north', 'north', 'mood', [3, 3]),
        round('2026-W45', 'south', ['mood'], peopleOf(['south'], 4)),
      ]);
      const { company: top, north, south } = group;
      expect(await rates(account, `groupId=${top}&includeSubgroups=true`)).toEqual([
        row(north, null, '202646', '2026-11-09'),
        row(south, 0, '202645', '2026-11-02'),
      ]);
      expect(await rates(account, `groupId=${north}${allWeeks}`)).toEqual([
        row(north, 1 / 4, '202645', '2026-11-02'),
        row(north, null, '202646', '2026-11-09'),
      ]);
      expect(await rates(account, `groupId=${top}`)).toEqual([]);
    });

    test('one object also when there is nothing to tell', async () => {
      const { account, group } = company;
      expect(await told(account, `/v1/responserates/values?groupId=${group['apart']}`)).toEqual([
        { values: [] },
      ]);
    });

    test('no row for an open week', async () => {
      const { account, group } = company;
      const open = range('2026-11-16', '2026-11-22');
      expect(await rates(account, `groupId=${group['company']}&includeSubgroups=true${open}`)).toEqual([]);
    });
  });

  refusals(ratesEndpoint);
});

describe('GET /v1/results', () => {
  const only = (key: string) => `&questionIds=${company.question[key]}`;
  /** The answer data of a question in a group, of the week 2026-W45. */
  async function dataOf(key: string, group: string, more = '') {
    const { values } = await results(
      company.account,
      `groupId=${company.group[group]}${w45}${only(key)}${more}`,
    );
    return values[String(company.question[key])]?.[String(company.group[group])]?.['2645'];
  }

  describe('200', () => {
    test('type 1: the mean of (x−1)/4, how many answers, and how often each was given', async () => {
      expect(await dataOf('mood', 'north')).toEqual({
        value: 12 / 24,
        answers: 6,
        distribution: { 1: 1, 2: 1, 3: 2, 4: 1, 5: 1 },
      });
      expect(await dataOf('mood', 'company')).toEqual({
        value: 36 / 72,
        answers: 18,
        distribution: { 1: 7, 2: 1, 3: 2, 4: 1, 5: 7 },
      });
    });

    test('type 2: the mean of (x−1)/9', async () => {
      expect(await dataOf('tens', 'north')).toEqual({
        value: 27 / 54,
        answers: 6,
        distribution: { 1: 3, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 3 },
      });
    });

    test('type 3: the mean of x/10, and enps from −100 to 100: 9 and 10 less 0 to 6, in percent', async () => {
      const none = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 0 };
      expect(await dataOf('advise', 'north')).toEqual({
        value: 40 / 60,
        answers: 6,
        distribution: { ...none, 0: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1 },
        enps: 0,
      });
      expect(await dataOf('advise', 'south')).toMatchObject({ value: 0.9, enps: 100 });
      expect(await dataOf('advise', 'tech')).toMatchObject({ value: 0, enps: -100 });
      expect(await dataOf('advise', 'sales')).toMatchObject({ value: 94 / 120, enps: 50 });
    });

    test('type 4: yes is 1 and no 0', async () => {
      expect(await dataOf('bus', 'north')).toEqual({
        value: 0.5,
        answers: 6,
        distribution: { yes: 3, no: 3 },
      });
      expect(await dataOf('bus', 'tech')).toEqual({ value: 0, answers: 6, distribution: { yes: 0, no: 6 } });
    });

    test('types 5 and 6: no value; a distribution by option, and the texts of the options', async () => {
      expect(await dataOf('lunch', 'north')).toEqual({
        value: null,
        answers: 6,
        distribution: { in: 4, out: 2 },
        options: { in: 'Canteen', out: 'Out' },
      });
      expect(await dataOf('tools', 'north')).toEqual({
        value: null,
        answers: 6,
        distribution: { in: 4, out: 3, none: 0 },
        options: { in: 'Canteen', out: 'Out', none: 'None' },
      });
    });

    test('type 7: no value; its texts are comments', async () => {
      expect(await dataOf('words', 'north')).toEqual({ value: null, answers: 6 });
      const { north } = company.group;
      const { comments } = await results(
        company.account,
        `groupId=${north}${w45}${only('words')}&includeComments=true`,
      );
      expect(comments).toEqual({
        [company.question['words']!]: { [north!]: { 2645: six('Words of north') } },
      });
    });

    test('granularData adds to types 1 to 4, and to no other, exactly the distribution written out', async () => {
      const individual = async (key: string, group: string) =>
        (await dataOf(key, group, '&granularData=true'))?.individual;
      expect(await individual('mood', 'north')).toEqual([1, 2, 3, 3, 4, 5]);
      expect(await individual('tens', 'north')).toEqual([1, 1, 1, 10, 10, 10]);
      expect(await individual('advise', 'north')).toEqual([0, 6, 7, 8, 9, 10]);
      expect(await individual('bus', 'north')).toEqual([0, 0, 0, 1, 1, 1]);
      for (const key of ['lunch', 'tools', 'words']) {
        expect(await dataOf(key, 'north', '&granularData=true')).toEqual(await dataOf(key, 'north'));
      }
      for (const key of ['mood', 'tens', 'advise', 'bus']) {
        for (const group of ['company', 'sales', 'south', 'tech']) {
          const { individual: written, ...rest } = (await dataOf(key, group, '&granularData=true'))!;
          expect(rest).toEqual(await dataOf(key, group, '&granularData=false'));
          const counts = Object.entries(rest.distribution!).flatMap(([name, times]) =>
            Array.from({ length: times }, () => ({ yes: 1, no: 0 })[name] ?? Number(name)),
          );
          expect(written).toEqual(counts.toSorted((a, b) => a - b));
        }
      }
    });

    test('with 3 to 5 answers a mean is shown, and nothing of how they spread: also not with granularData', async () => {
      const {
        account,
        group,
        question: ids,
      } = await withSurvey(
        await openAccount(),
        [unit('five')],
        [
          question('mood', 1),
          question('advise', 3),
          question('bus', 4),
          question('lunch', 5, { options }),
          round('2026-W46', 'five', ['mood', 'advise', 'bus', 'lunch'], peopleOf(['five'], 5)),
          ...answersOf('2026-W46', 'five', 'five', 'mood', [1, 2, 3, 4, 5]),
          ...answersOf('2026-W46', 'five', 'five', 'advise', [10, 10, 10, 10, 10]),
          ...answersOf('2026-W46', 'five', 'five', 'bus', [true, true, true, true, false]),
          ...answersOf('2026-W46', 'five', 'five', 'lunch', ['in', 'in', 'in', 'in', 'out']),
        ],
      );
      const five = String(group['five']);
      for (const granular of ['', '&granularData=true']) {
        const { values } = await results(account, `groupId=${five}${granular}&includeComments=true`);
        expect(values).toEqual({
          [ids['mood']!]: { [five]: { 2646: { value: 0.5, answers: 5 } } },
          [ids['advise']!]: { [five]: { 2646: { value: 1, answers: 5 } } },
          [ids['bus']!]: { [five]: { 2646: { value: null, answers: null } } },
          [ids['lunch']!]: { [five]: { 2646: { value: null, answers: null } } },
        });
      }
    });

    test('asked and withheld: the key is there, with nulls; never asked: no key', async () => {
      const { account, group, question: ids } = company;
      const { company: top, sales, south, north, tech, apart } = group;
      const { values } = await results(account, `groupId=${top}&includeSubgroups=true${w46}`);
      expect(Object.keys(values)).toEqual([String(ids['mood'])]);
      expect(values[ids['mood']!]?.[south!]).toEqual({ 2646: { value: null, answers: null } });
      expect(Object.keys(values[ids['mood']!]!)).toEqual(
        [top, sales, north, south, tech].map(String).toSorted((a, b) => Number(a) - Number(b)),
      );
      const all = await results(account, `groupId=${top}&includeSubgroups=true${w45}`);
      expect(all.values[ids['local']!]).not.toHaveProperty(String(tech));
      expect(await told(account, `/v1/results?groupId=${apart}&includeComments=true`)).toEqual([
        { questions: [], values: [{}], comments: [{}] },
      ]);
    });

    test('a skip counts in no answer', async () => {
      const { account, group, question: ids } = company;
      const { tech, sales } = group;
      const { values } = await results(account, `groupId=${group['company']}&includeSubgroups=true${w46}`);
      expect(values[ids['mood']!]?.[tech!]?.['2646']?.answers).toBe(6);
      // North's six; the two of south are too few to be told from them.
      expect(values[ids['mood']!]?.[sales!]?.['2646']).toMatchObject({ value: 14 / 24, answers: 6 });
    });

    test('without questionIds: all questions asked in the period; with: those of them that were asked', async () => {
      const { account, group, question: ids } = company;
      const query = `groupId=${group['company']}&includeSubgroups=true${w45}`;
      const idsOf = async (more: string) => {
        const { questions, values } = await results(account, query + more);
        expect(questions.map(({ id }) => String(id))).toEqual(Object.keys(values));
        return questions.map(({ id }) => id);
      };
      const { mood, tens, advise, bus, lunch, tools, words, local, never } = ids;
      expect(await idsOf('')).toEqual([mood, tens, advise, bus, lunch, tools, words, local]);
      expect(await idsOf(`&questionIds=${lunch}`)).toEqual([lunch]);
      expect(await idsOf(`&questionIds=${lunch},${mood}`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=%20${lunch}%20,%09${mood}%20`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=+${lunch}+,+${mood}`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=${mood},${mood}`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=00${mood}`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=${mood},${never},999999999`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=${never}`)).toEqual([]);
      expect(await idsOf('&questionIds=0')).toEqual([]);
    });

    test("an id beyond any number, or another account's, adds nothing", async () => {
      const { account, group, question: ids } = company;
      const other = await openCompany();
      for (const id of [
        other.question['mood'],
        '2147483648',
        '9007199254740993',
        '9'.repeat(18),
        '9'.repeat(40),
      ]) {
        const { values } = await results(
          account,
          `groupId=${group['north']}${w45}&questionIds=${id},${ids['mood']}`,
        );
        expect([id, ...Object.keys(values)]).toEqual([id, String(ids['mood'])]);
      }
    });

    test('each question with id, text and type, and nothing else', async () => {
      const { account, group, question: ids } = company;
      const { questions } = await results(account, `groupId=${group['north']}${w45}${only('mood')}`);
      expect(questions).toEqual([{ id: ids['mood'], question: 'Happy?', type: 1 }]);
    });

    test('language, in any letter case: texts and options that are defined in it, the base text of others', async () => {
      const { account, group, question: ids } = company;
      for (const language of ['sv', 'SV', 'sV']) {
        const { questions, values } = await results(
          account,
          `groupId=${group['north']}${w45}&language=${language}&questionIds=${ids['mood']},${ids['tens']},${ids['lunch']}`,
        );
        expect(questions.map((one) => one.question)).toEqual(['Glad?', 'tens?', 'lunch?']);
        const lunch = values[ids['lunch']!]?.[group['north']!]?.['2645'];
        expect(lunch?.options).toEqual({ in: 'Matsalen', out: 'Out' });
      }
      for (const language of ['en', 'fi', 'xx', 'QQ']) {
        const { questions } = await results(
          account,
          `groupId=${group['north']}${w45}&language=${language}${only('mood')}`,
        );
        expect(questions.map((one) => one.question)).toEqual(['Happy?']);
      }
    });

    test('comments only with includeComments=true', async () => {
      const query = `/v1/results?groupId=${company.group['north']}${w45}`;
      for (const more of ['', '&includeComments=false', '&granularData=true']) {
        const [one] = await told<object[]>(company.account, query + more);
        expect(Object.keys(one!).toSorted()).toEqual(['questions', 'values']);
      }
      const [one] = await told<object[]>(company.account, `${query}&includeComments=true`);
      expect(Object.keys(one!).toSorted()).toEqual(['comments', 'questions', 'values']);
    });

    test("a group's comments include all those of the groups beneath it", async () => {
      const { account, group, question: ids } = company;
      const { comments } = await results(
        account,
        `groupId=${group['company']}&includeSubgroups=true${w45}&includeComments=true`,
      );
      const of = (name: string) => (comments?.[ids['words']!]?.[group[name]!]?.['2645'] ?? []).toSorted();
      expect(of('north')).toEqual(six('Words of north'));
      expect(of('sales')).toEqual([...six('Words of north'), ...six('Words of south')]);
      expect(of('company')).toEqual([...of('sales'), ...six('Words of tech')]);
    });

    test('an open week is not shown', async () => {
      const { account, group } = company;
      const query = `groupId=${group['company']}&includeSubgroups=true`;
      const { questions, values } = await results(account, query + range('2026-11-16', '2026-11-22'));
      expect([questions, values]).toEqual([[], {}]);
    });

    test('a question asked of one group counts in all above it', async () => {
      const { account, group, question: ids } = company;
      const { values } = await results(account, `groupId=${group['company']}${w45}${only('local')}`);
      expect(values).toEqual({
        [ids['local']!]: {
          [group['company']!]: {
            2645: { value: 0.5, answers: 12, distribution: { 1: 0, 2: 0, 3: 12, 4: 0, 5: 0 } },
          },
        },
      });
    });
  });

  refusals(resultsEndpoint);
});

describe('GET /v1/askedquestions', () => {
  describe('200', () => {
    test('by group and week, open weeks included, what was asked of the group or of one above it', async () => {
      const { account, group, question: ids } = company;
      const { company: top, sales, north, south, tech } = group;
      const { mood, tens, advise, bus, lunch, tools, words, local } = ids;
      const everywhere = [mood, tens, advise, bus, lunch, tools, words];
      const { questions, askedquestions } = await asked(account, `groupId=${top}&includeSubgroups=true`);
      expect(askedquestions).toEqual({
        [top!]: { 2645: everywhere, 2646: [mood], 2647: [tens] },
        [sales!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [tens] },
        [north!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [mood, tens] },
        [south!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [tens] },
        [tech!]: { 2645: everywhere, 2646: [mood], 2647: [tens] },
      });
      expect(questions.map(({ id }) => id)).toEqual([...everywhere, local]);
      expect(questions[0]).toEqual({ id: mood, question: 'Happy?', type: 1 });
    });

    test('only the given group without includeSubgroups, and only the questions that stand there', async () => {
      const { account, group, question: ids } = company;
      const query = `groupId=${group['north']}${range('2026-11-16', '2026-11-16')}`;
      const { questions, askedquestions } = await asked(account, query);
      expect(askedquestions).toEqual({ [group['north']!]: { 2647: [ids['mood'], ids['tens']] } });
      expect(questions.map(({ id }) => id)).toEqual([ids['mood'], ids['tens']]);
    });

    test('a question asked of a group is not asked of the one above it', async () => {
      const { account, group, question: ids } = company;
      const { askedquestions } = await asked(account, `groupId=${group['company']}${allWeeks}`);
      expect(Object.values(askedquestions[group['company']!]!).flat()).not.toContain(ids['local']);
    });

    test('one object, with one empty map, when nothing was asked', async () => {
      const { account, group } = company;
      expect(await told(account, `/v1/askedquestions?groupId=${group['apart']}`)).toEqual([
        { questions: [], askedquestions: [{}] },
      ]);
    });

    test('language, in any letter case, with the base text where there is none in it', async () => {
      const { account, group } = company;
      const texts = async (language: string) => {
        const { questions } = await asked(account, `groupId=${group['north']}&language=${language}`);
        return questions.slice(0, 2).map((one) => one.question);
      };
      expect(await texts('sv')).toEqual(['Glad?', 'tens?']);
      expect(await texts('SV')).toEqual(['Glad?', 'tens?']);
      expect(await texts('fi')).toEqual(['Happy?', 'tens?']);
    });
  });

  refusals(askedEndpoint);
});

describe('401 and 403', () => {
  test.each(['/v1/kpis', ...scoped.map(({ address }) => address)])(
    '%s: no token, and a token without the scope data, learn nothing, not even whether the query is right',
    async (address) => {
      const none = await world.request('GET', `${address}?colour=red`);
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="soundings"']);
      const token = await company.account.tokenOf('organization', 'files');
      const other = await world.request('GET', `${address}?colour=red`, {
        headers: { authorization: token },
      });
      expect(other.status).toBe(403);
    },
  );
});

// Weeks.

/** A question asked of one group, and answered by 6 people, in each of the weeks; all are closed. */
async function openWeekly(weeks: string[], timezone = 'UTC'): Promise<Company> {
  return withSurvey(
    await openAccount({ timezone }),
    [unit('team')],
    [
      question('mood', 1),
      kpi('energy', ['mood']),
      ...weeks.map((week) => round(week, 'team', ['mood'], peopleOf(['team']))),
      ...weeks.flatMap((week) => answersOf(week, 'team', 'team', 'mood', six(3))),
    ],
    Date.parse('2030-01-01T00:00:00Z'),
  );
}

/** The weeks that each endpoint tells of: those of values by GGGGWW and date, those of maps by YYWW. */
async function weeksOf({ account, group, question: ids }: Company, more = '') {
  const query = `groupId=${group['team']}${more}`;
  const team = String(group['team']);
  const mood = String(ids['mood']);
  const [values, responseRates] = [await kpiValues(account, 'energy', query), await rates(account, query)];
  const { values: shown } = await results(account, query);
  const { askedquestions } = await asked(account, query);
  const named = (list: Value[]) => list.map(({ yearWeek, date }) => `${yearWeek} ${date}`);
  expect(named(values)).toEqual(named(responseRates));
  expect(Object.keys(shown[mood]?.[team] ?? {})).toEqual(Object.keys(askedquestions[team] ?? {}));
  return { values: named(values), maps: Object.keys(shown[mood]?.[team] ?? {}) };
}

describe('weeks', () => {
  const turn = ['2026-W52', '2026-W53', '2027-W01', '2027-W02'];

  test('at the turn of a year with 53 weeks: GGGGWW and the Monday in values, YYWW in maps', async () => {
    const weekly = await openWeekly(turn);
    expect(await weeksOf(weekly, range('2026-12-21', '2027-01-17'))).toEqual({
      values: ['202652 2026-12-21', '202653 2026-12-28', '202701 2027-01-04', '202702 2027-01-11'],
      maps: ['2652', '2653', '2701', '2702'],
    });
  });

  test('at the turn of a year whose first week begins in the old one', async () => {
    const weekly = await openWeekly(['2024-W52', '2025-W01']);
    expect(await weeksOf(weekly, range('2024-12-31', '2024-12-31'))).toEqual({
      values: ['202501 2024-12-30'],
      maps: ['2501'],
    });
  });

  test('a range covers every week that has a day in it', async () => {
    const weekly = await openWeekly(turn);
    const covered = async (from: string, to: string) => (await weeksOf(weekly, range(from, to))).maps;
    expect(await covered('2027-01-01', '2027-01-01')).toEqual(['2653']);
    expect(await covered('2026-12-28', '2026-12-28')).toEqual(['2653']);
    expect(await covered('2027-01-03', '2027-01-03')).toEqual(['2653']);
    expect(await covered('2027-01-04', '2027-01-04')).toEqual(['2701']);
    expect(await covered('2027-01-03', '2027-01-04')).toEqual(['2653', '2701']);
    expect(await covered('2026-12-27', '2027-01-11')).toEqual(['2652', '2653', '2701', '2702']);
    expect(await covered('2026-12-28', '2027-01-10')).toEqual(['2653', '2701']);
    expect(await covered('2027-01-18', '2027-12-31')).toEqual([]);
    expect(await covered('2024-02-29', '2026-12-21')).toEqual(['2652']);
  });

  test('a range may be as long as days can be written', async () => {
    const weekly = await openWeekly(turn);
    expect((await weeksOf(weekly, range('0001-01-01', '9999-12-31'))).maps).toHaveLength(4);
    expect((await weeksOf(weekly, range('9999-01-01', '9999-12-31'))).maps).toEqual([]);
  });

  test.each(scoped.flatMap(({ address }) => ['0000-01-01', '0000-12-31'].map((day) => [address, day])))(
    '%s: a day of the year 0 (%s) is told or refused, and no failure of ours',
    async (address, day) => {
      const { account, group } = company;
      for (const query of [range(day, '2026-11-08'), range(day, day)]) {
        const { status } = await ask(account, `${address}?groupId=${group['north']}${query}`);
        expect([200, 400]).toContain(status);
      }
    },
  );

  // 2026-W47 begins on Monday 2026-11-16: in Kiritimati (UTC+14) on Sunday at 10:00 UTC, in Pago Pago (UTC−11) on Monday
  // at 11:00 UTC.
  test.each([
    ['Pacific/Kiritimati', '2026-11-15T09:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['Pacific/Kiritimati', '2026-11-15T10:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
    ['UTC', '2026-11-15T23:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['UTC', '2026-11-16T00:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
    ['Pacific/Pago_Pago', '2026-11-16T10:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['Pacific/Pago_Pago', '2026-11-16T11:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
  ])(
    'without a range /results and /askedquestions cover the current week of the account and the four before: %s at %s is %s',
    async (timezone, moment, _, weeks) => {
      const all = ['41', '42', '43', '44', '45', '46', '47', '48'].map((week) => `2026-W${week}`);
      const { account, group, question: ids } = await openWeekly(all, timezone);
      now = Date.parse(moment);
      try {
        const { values } = await results(account, `groupId=${group['team']}`);
        expect(Object.keys(values[ids['mood']!]![group['team']!]!)).toEqual(weeks);
        const { askedquestions } = await asked(account, `groupId=${group['team']}`);
        expect(Object.keys(askedquestions[group['team']!]!)).toEqual(weeks);
      } finally {
        now = later;
      }
    },
  );

  test('the last five weeks reach over the turn of a year', async () => {
    const weekly = await openWeekly(['2026-W50', '2026-W51', ...turn]);
    now = Date.parse('2027-01-15T12:00:00Z');
    try {
      const { values } = await results(weekly.account, `groupId=${weekly.group['team']}`);
      expect(Object.keys(values[weekly.question['mood']!]![weekly.group['team']!]!)).toEqual([
        '2651',
        '2652',
        '2653',
        '2701',
        '2702',
      ]);
    } finally {
      now = later;
    }
  });
});

describe('removed groups', () => {
  /** What all endpoints say of all groups. */
  async function everything({ account }: Company, top: number | undefined) {
    const query = `groupId=${top}&includeSubgroups=true${allWeeks}`;
    const { questions, values, comments } = await results(
      account,
      `${query}&includeComments=true&granularData=true`,
    );
    const { askedquestions } = await asked(account, query);
    return {
      questions,
      results: values,
      comments,
      askedquestions,
      rates: await rates(account, query),
      latestRates: await rates(account, `groupId=${top}&includeSubgroups=true`),
      kpi: await kpiValues(account, 'energy', query),
      latestKpi: await kpiValues(account, 'energy', `groupId=${top}&includeSubgroups=true`),
    };
  }

  type Everything = Awaited<ReturnType<typeof everything>>;

  /** The same without a group. */
  function without(all: Everything, groupId: number): Everything {
    const map = <T>(byGroup: Record<string, T>) =>
      Object.fromEntries(Object.entries(byGroup).filter(([id]) => id !== String(groupId)));
    const maps = <T>(byQuestion: Record<string, Record<string, T>>) =>
      Object.fromEntries(Object.entries(byQuestion).map(([id, byGroup]) => [id, map(byGroup)]));
    const list = (values: Value[]) => values.filter((one) => one.groupId !== groupId);
    return {
      questions: all.questions,
      results: maps(all.results),
      comments: maps(all.comments!),
      askedquestions: map(all.askedquestions),
      rates: list(all.rates),
      latestRates: list(all.latestRates),
      kpi: list(all.kpi),
      latestKpi: list(all.latestKpi),
    };
  }

  test('are gone from every answer at once; the groups above keep their figures, to the byte', async () => {
    const made = await openCompany();
    const { account, group } = made;
    const before = await everything(made, group['company']);
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    const after = await everything(made, group['company']);
    expect(JSON.stringify(after)).toBe(JSON.stringify(without(before, group['north']!)));
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    expect(JSON.stringify(after.comments)).toContain('Words of north');
  });

  test('a group removed and sent again is a new one without a past', async () => {
    const { account, group } = await openCompany();
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    await apply(account, { groups: tree });
    const north = (await account.groups()).find(({ externalId }) => externalId === 'north')!.id;
    expect(north).not.toBe(group['north']);
    expect((await results(account, `groupId=${north}`)).values).toEqual({});
    expect((await asked(account, `groupId=${north}`)).askedquestions).toEqual({});
    expect(await rates(account, `groupId=${north}`)).toEqual([]);
    expect(await kpiValues(account, 'energy', `groupId=${north}`)).toEqual([]);
  });

  test('in an open week: nothing of it when the week closes, and its answers count above', async () => {
    const made = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('energy', ['mood']),
      round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W47', 'company', 'north', 'mood', six(5)),
    ]);
    const { account, group, question: ids } = made;
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    await closeWeekNow(world.pool, world.keys, account.id, '2026-11-16', now);
    const all = await everything(made, group['company']);
    expect(JSON.stringify(all.results)).not.toContain(`"${group['north']}":`);
    expect(all.results[ids['mood']!]?.[group['sales']!]).toMatchObject({ 2647: { value: 1, answers: 6 } });
    expect([...all.rates, ...all.kpi].map(({ groupId }) => groupId)).not.toContain(group['north']);
    expect(Object.keys(all.askedquestions)).not.toContain(String(group['north']));
  });
});

describe('ETag', () => {
  const addresses = ({ group }: Company) => {
    const query = `groupId=${group['company']}&includeSubgroups=true`;
    return [
      '/v1/groups',
      '/v1/kpis',
      `/v1/kpis/energy/values?${query}`,
      `/v1/responserates/values?${query}`,
      `/v1/results?${query}`,
      `/v1/results?${query}${allWeeks}`,
      `/v1/askedquestions?${query}`,
    ];
  };
  const tagOf = ({ headers }: Answer<unknown>) => headers.get('etag') as string;

  test('an unchanged repeat is a 304 without a body; when a week closes, every changed answer has a new ETag', async () => {
    const made = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('energy', ['mood']),
      round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W47', 'company', 'north', 'mood', six(5)),
    ]);
    const { account } = made;
    const tags = new Map<string, string>();
    for (const address of addresses(made)) {
      const first = await ask(account, address);
      tags.set(address, tagOf(first));
      expect(first.headers.get('etag')).toMatch(/^W\/"[^"]+"$/);
      const again = await ask<unknown>(account, address, { 'if-none-match': tagOf(first) });
      expect([address, again.status, again.body, tagOf(again)]).toEqual([address, 304, '', tagOf(first)]);
      const among = await ask<unknown>(account, address, { 'if-none-match': `"other", ${tagOf(first)}` });
      expect(among.status).toBe(304);
      expect((await ask(account, address, { 'if-none-match': '"other"' })).status).toBe(200);
    }
    await closeWeekNow(world.pool, world.keys, account.id, '2026-11-16', now);
    for (const [address, tag] of tags) {
      const { status, headers } = await ask(account, address, { 'if-none-match': tag });
      const isAsBefore = address === '/v1/groups';
      expect([address, status, headers.get('etag') === tag]).toEqual([
        address,
        isAsBefore ? 304 : 200,
        isAsBefore,
      ]);
    }
  });

  test('of the last five weeks: changes when a week leaves them, though nothing was written', async () => {
    const { account, group, question: ids } = await openWeekly(['2026-W45', '2026-W46']);
    const address = `/v1/results?groupId=${group['team']}`;
    const weeksIn = ({ body }: Answer<ResultsValues[]>) =>
      Object.keys(body[0]!.values[0]![ids['mood']!]?.[group['team']!] ?? {});
    const tag = tagOf(await ask(account, address));
    try {
      now = Date.parse('2026-11-22T23:59:59Z');
      expect((await ask(account, address, { 'if-none-match': tag })).status).toBe(304);
      now = Date.parse('2026-11-30T00:00:00Z');
      expect((await ask(account, address, { 'if-none-match': tag })).status).toBe(304); // it has both weeks still
      now = Date.parse('2026-12-07T00:00:00Z');
      const without = await ask<ResultsValues[]>(account, address, { 'if-none-match': tag });
      expect([without.status, weeksIn(without)]).toEqual([200, ['2646']]);
    } finally {
      now = later;
    }
  });

  test('changes with the words of a question, with a removed group and with a moved one', async () => {
    const made = await openCompany();
    const { account } = made;
    const address = `/v1/results?groupId=${made.group['company']}&includeSubgroups=true`;
    let tag = tagOf(await ask(account, address));
    const changes = [
      () =>
        importLines(
          world,
          account.id,
          [question('mood', 1, { text: 'HAPPY!', translations: { sv: 'Glad?' } })],
          now,
        ),
      () =>
        apply(account, {
          groups: tree.map((one) => ({ ...one, ...(one.externalId === 'tech' && { parent: 'sales' }) })),
        }),
      () => apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'south') }),
    ];
    for (const change of changes) {
      await change();
      const next = await ask(account, address, { 'if-none-match': tag });
      expect(next.status).toBe(200);
      tag = tagOf(next);
      expect((await ask(account, address, { 'if-none-match': tag })).status).toBe(304);
    }
  });
});

describe('while the account is being changed', () => {
  /**
   * Waits until a request waits for a lock on a table and no other of its statements is still running, or until it is
   * answered.
   */
  async function untilHeld(table: string, since: Date, answering: Promise<unknown>): Promise<void> {
    const ended = new Set<string>();
    void answering.finally(() => ended.add('answered')).catch(() => {});
    while (ended.size === 0) {
      const [held] = await world.pool<{ waiting: number; running: number }[]>`
        select count(*) filter (where wait_event_type = 'Lock' and query ~ ${`(from|join) +${table}\\M`})::int as "waiting",
               count(*) filter (where state = 'active' and wait_event_type is distinct from 'Lock')::int       as "running"
        from   pg_stat_activity
        where  datname = current_database() and pid <> pg_backend_pid() and query_start > ${since}`;
      if (held!.waiting > 0 && held!.running === 0) return;
    }
  }

  async function clock(): Promise<Date> {
    const [read] = await world.pool<{ time: Date }[]>`select clock_timestamp() as time`;
    return read!.time;
  }

  test('no answer has older words than its ETag: it would be taken for unchanged ever after', async () => {
    const { account, group, question: ids } = await openCompany();
    const address = `/v1/results?groupId=${group['north']}${w45}&questionIds=${ids['mood']}`;
    const early = await inTransaction(world.pool, async (tx) => {
      await tx`lock table accounts in access exclusive mode`;
      await tx`update questions set text = 'Glad?' where account_id = ${account.id} and key = 'mood'`;
      await lockAccount(tx, account.id);
      const since = await clock();
      const answering = ask<ResultsValues[]>(account, address);
      await untilHeld('accounts', since, answering);
      return { answering };
    });
    const { headers, body } = await early.answering;
    const now304 = await ask(account, address, { 'if-none-match': headers.get('etag') as string });
    const isLast = body[0]!.questions[0]!.question === 'Glad?';
    expect({ isLast, status: now304.status }).toEqual({ isLast, status: isLast ? 304 : 200 });
  });

  test('a question that is new in a week that closes meanwhile breaks no answer', async () => {
    const { account, group } = await openCompany();
    const address = `/v1/results?groupId=${group['north']}${w45}`;
    const early = await inTransaction(world.pool, async (tx) => {
      await tx`lock table results in access exclusive mode`;
      await tx`
        with made as (
          insert into questions (account_id, key, type, text, language)
          values (${account.id}, 'new', 1, 'New?', 'en')
          returning question_id
        )
        insert into results (account_id, group_id, week, question_id, value, answers)
        select ${account.id}, ${group['north']!}, '2026-11-02', question_id, 0.5, 6 from made`;
      const since = await clock();
      const answering = ask(account, address);
      await untilHeld('results', since, answering);
      return { answering };
    });
    expect((await early.answering).status).toBe(200);
  });
});
