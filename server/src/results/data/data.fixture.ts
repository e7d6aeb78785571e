// For tests of the data interface: a service, a company with surveys, requests whose responses are checked against the schema of
// their operation, and the checks for every endpoint that takes a group.
import {
  type AskedQuestionsValues,
  dataOperations,
  type KpiValues,
  type ResponseRateValues,
  type ResultsValues,
  type Value,
} from '@soundings/contract/data.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, kpi, later, question, round, skip } from '../../testing/surveys.ts';
import { type JsonResponse, openWorld, type TestAccount, type World } from '../../testing/world.ts';

/**
 * The service's clock. A test that sets it has no open week in its account, because weeks that have ended by then may be closed
 * at any time.
 */
export const clock = { now: later };
export let world: World;
export let company: Company;

/**
 * Starts a service with the company for a test file, and stops it at its end. It has no recurring jobs, which would compute statistics and build
 * fragments in the middle of a test.
 */
export function useService(): void {
  beforeAll(async () => {
    clock.now = later;
    world = await openWorld(openLog('error'), { role: 'web' }, () => clock.now);
    company = await openCompany();
  });
  afterAll(() => world.close());
}

// Requests.

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

export async function get<T>(account: TestAccount, address: string, headers = {}): Promise<JsonResponse<T>> {
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

/** Returns the body of a response, which must be 200. */
export async function getBody<T>(account: TestAccount, address: string): Promise<T> {
  const { status, body } = await get<T>(account, address);
  if (status !== 200) throw new Error(`${status} of ${address}: ${JSON.stringify(body)}`);
  return body;
}

export const range = (from: string, to: string) => `&fromDate=${from}&toDate=${to}`;

export const kpiValues = async (account: TestAccount, kpiId: string, query: string): Promise<Value[]> =>
  (await getBody<KpiValues>(account, `/v1/kpis/${kpiId}/values?${query}`)).values;

export async function rates(account: TestAccount, query: string): Promise<Value[]> {
  const body = await getBody<ResponseRateValues[]>(account, `/v1/responserates/values?${query}`);
  expect(body).toHaveLength(1);
  return body[0]!.values;
}

type Results = Omit<ResultsValues, 'values' | 'comments'> & {
  values: ResultsValues['values'][number];
  comments: NonNullable<ResultsValues['comments']>[number] | undefined;
};

/** Returns the results with the single maps of values and comments unwrapped from their arrays. */
export async function results(account: TestAccount, query: string): Promise<Results> {
  const body = await getBody<ResultsValues[]>(account, `/v1/results?${query}`);
  expect(body).toHaveLength(1);
  const { questions, values, comments } = body[0]!;
  expect(values).toHaveLength(1);
  expect(comments ?? [{}]).toHaveLength(1);
  return { questions, values: values[0]!, comments: comments?.[0] };
}

export async function asked(account: TestAccount, query: string) {
  const body = await getBody<AskedQuestionsValues[]>(account, `/v1/askedquestions?${query}`);
  expect(body).toHaveLength(1);
  expect(body[0]!.askedquestions).toHaveLength(1);
  return { questions: body[0]!.questions, askedquestions: body[0]!.askedquestions[0]! };
}

// A company with surveys.

type Ids = Record<string, number>;
export type Company = { account: TestAccount; group: Ids; question: Ids };

/** Creates an account with threshold 3, so distributions and comments need 6. */
export async function openAccount(settings: { timezone?: string } = {}): Promise<TestAccount> {
  const account = await world.account(settings);
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3 }));
  return account;
}

export async function withSurvey(
  account: TestAccount,
  groups: object[],
  lines: object[],
  importedAt = clock.now,
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

export const tree = [
  unit('company'),
  unit('sales', { parent: 'company' }),
  unit('north', { parent: 'sales' }),
  unit('south', { parent: 'sales' }),
  unit('tech', { parent: 'company' }),
  unit('apart'),
];

/** People such as north1, north2, …, each in the group of that name. */
export const peopleOf = (groups: string[], count = 6) =>
  Object.fromEntries(
    groups.flatMap((group) => Array.from({ length: count }, (_, i) => [`${group}${i + 1}`, [group]])),
  );

/** The answers of people such as north1, north2, … to a question. undefined: no answer. */
export const answersOf = (week: string, to: string, group: string, key: string, values: unknown[]) =>
  values.flatMap((value, i) =>
    value === undefined ? [] : [answerLine(week, to, `${group}${i + 1}`, key, value)],
  );

export const six = <T>(value: T): T[] => Array.from({ length: 6 }, () => value);

export const options = [
  { id: 'in', text: 'Canteen', translations: { sv: 'Matsalen' } },
  { id: 'out', text: 'Out' },
];

/** One question of each type to 6 people in each of 3 groups in 2026-W45, and one to all of them in W46. W47 is open. */
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
      answerLine('2026-W45', 'company', `${group}${i + 1}`, 'words', undefined, `Words of ${group}`),
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

export const openCompany = async () => withSurvey(await openAccount(), tree, companyLines);

/** The closed weeks and the open one. */
export const w45 = range('2026-11-02', '2026-11-08');
export const w46 = range('2026-11-09', '2026-11-15');
export const allWeeks = range('2026-11-02', '2026-11-22');
export const row = (groupId: number | undefined, value: number | null, yearWeek: string, date: string) => ({
  groupId,
  value,
  yearWeek,
  date,
});

/** Creates an account with a question asked of one group and answered by 6 people in each of the weeks. All are closed. */
export async function openWeekly(weeks: string[], timezone = 'UTC'): Promise<Company> {
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

// Checks for every endpoint that takes a group.

type Endpoint = { address: string; hasLanguage: boolean; hasQuestions: boolean };
export const kpiEndpoint: Endpoint = {
  address: '/v1/kpis/energy/values',
  hasLanguage: false,
  hasQuestions: false,
};
export const ratesEndpoint: Endpoint = {
  address: '/v1/responserates/values',
  hasLanguage: false,
  hasQuestions: false,
};
export const resultsEndpoint: Endpoint = {
  address: '/v1/results',
  hasLanguage: true,
  hasQuestions: true,
};
export const askedEndpoint: Endpoint = {
  address: '/v1/askedquestions',
  hasLanguage: true,
  hasQuestions: false,
};
export const scoped = [kpiEndpoint, ratesEndpoint, resultsEndpoint, askedEndpoint];

type Refused = [query: string, path: string];

const listed = (text: string) => text.split('|');
const invalidDays = listed(
  '|2026-1-2|20261102|02-11-2026|2026-W45|2026-11-02T00:00:00Z|%202026-11-02|2026-11-02%20|2026-11-02%0A|2026-11|' +
    'today|٢٠٢٦-١١-٠٢|-2026-11-02|+002026-11-02',
);
const impossibleDays = listed('2024-02-30|2026-02-29|2026-13-01|2026-00-10|2026-11-00|2026-04-31');
const invalidFlags = listed('|TRUE|True|FALSE|1|0|yes|%20true|true%20|null|true,false');
const invalidIds = listed('|%20|,|1,|,1|1,,2|a|1;2|1%202|1.5|1e3|0x1|١|[1]|1,two');
const invalidLanguages = listed('|s|swe|en-US|s1|sv%20|%20sv|sv%0A|åä|ſv|ＳＶ|%F0%9F%87%B8');

/** Refused queries, each with the parameter that is named in the error. G stands for an existing group. */
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
  /** Each value of a parameter, after the other parameters. */
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
    'a malformed day': bothEnds(invalidDays),
    'a day that does not exist': bothEnds(impossibleDays),
    'a reversed range, even within one week': [
      ['groupId=G&fromDate=2026-11-09&toDate=2026-11-08', 'fromDate'],
      ['groupId=G&fromDate=2026-11-03&toDate=2026-11-02', 'fromDate'],
    ],
    'an unknown parameter': unknown.map((name) => [`groupId=G&${encodeURIComponent(name)}=true`, name]),
    'a repeated parameter, even with the same value': [
      ['groupId=G&groupId=G', 'groupId'],
      ['groupId=G&fromDate=2026-11-02&fromDate=2026-11-02&toDate=2026-11-08', 'fromDate'],
      ['groupId=G&fromDate=2026-11-02&toDate=2026-11-08&toDate=2026-11-08', 'toDate'],
      ...repeated.map((one): Refused => [`groupId=G&${one}&${one}`, one.split('=')[0] as string]),
    ],
    'a boolean other than true or false': flags.flatMap((flag) => each(invalidFlags, flag)),
    ...(hasQuestions && { 'empty or malformed questionIds': each(invalidIds, 'questionIds') }),
    ...(hasLanguage && { 'a language other than two ASCII letters': each(invalidLanguages, 'language') }),
  };
}

/** Group IDs that belong to no group of the account. */
const unknownGroups = [
  ...listed("999999999|0|-1|1.5|1e3|0x1|nowhere|null|*|%20|1%3B|1'%20or%20'1'='1|٣|2147483647|2147483648"),
  '9007199254740993',
  '9'.repeat(30),
  '9'.repeat(300),
  'x'.repeat(3000),
];

export function refusals(endpoint: Endpoint): void {
  describe('400', () => {
    test.each(Object.entries(refusedQueries(endpoint)))(
      '%s is named in the first detail',
      async (_, queries) => {
        const wrong: unknown[] = [];
        for (const [query, path] of queries) {
          const text = query.replaceAll('=G', `=${company.group['company']}`);
          const { status, body } = await get<Problem>(company.account, `${endpoint.address}?${text}`);
          if (status !== 400 || body.details[0]?.path !== path) wrong.push({ query, status, body });
        }
        expect(wrong).toEqual([]);
      },
    );

    test('every invalid parameter is named', async () => {
      const { status, body } = await get<Problem>(
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
      const messages = body.details.map(({ message }) => message).join(' ');
      for (const received of ['"2026-11-1"', '"maybe"', '"colour"']) expect(messages).toContain(received);
    });
  });

  describe('404', () => {
    test('a group that is absent, not numeric, huge, negative or of another account gets the same message', async () => {
      const other = await openCompany();
      const query = (id: unknown) => `${endpoint.address}?groupId=${id}`;
      const absent = await get<Problem>(company.account, query(999_999_999));
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'group not found' }] } });
      const wrong: string[] = [];
      for (const id of [...unknownGroups, other.group['company'], other.group['north']]) {
        const { status, body } = await get<Problem>(company.account, query(id));
        const isSame = JSON.stringify({ ...body, id: '' }) === JSON.stringify({ ...absent.body, id: '' });
        if (status !== 404 || !isSame)
          wrong.push(`${String(id).slice(0, 40)} (${String(id).length}): ${status} ${body.message}`);
      }
      expect(wrong).toEqual([]);
      expect((await get(other.account, query(other.group['north']))).status).toBe(200);
    });

    test('an externalId of the account gets a message with the ID of its group', async () => {
      const { account, group } = company;
      for (const more of ['', '&includeSubgroups=true']) {
        const { status, body } = await get<Problem>(account, `${endpoint.address}?groupId=north${more}`);
        expect([status, body.details[0]?.type]).toEqual([404, 'group not found']);
        expect(body.message).toContain(`"north" is the externalId of group ${group['north']}`);
      }
      const other = await openAccount();
      expect((await get<Problem>(other, `${endpoint.address}?groupId=north`)).body.message).toBe(
        'This group does not exist. It may have been removed.',
      );
    });

    test('a removed group', async () => {
      const { account, group } = await openCompany();
      const address = `${endpoint.address}?groupId=${group['north']}`;
      expect((await get(account, address)).status).toBe(200);
      await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
      expect((await get<Problem>(account, address)).body).toMatchObject({
        details: [
          { type: 'group not found', message: 'This group does not exist. It may have been removed.' },
        ],
      });
    });
  });
}
