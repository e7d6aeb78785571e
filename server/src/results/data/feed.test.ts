// The flat feed: exact CSV and NDJSON, with the same figures as the other endpoints.
import {
  type AskedQuestionsValues,
  getFeed,
  type Kpi,
  type KpiValues,
  type ResponseRateValues,
  type ResultsValues,
} from '@soundings/contract/data.ts';
import { FeedRow } from '@soundings/contract/feed-rows.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { readCsv } from '../../testing/csv.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, kpi, later, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { closeWeekNow } from '../close-week.ts';
import { showLiveWeeks } from '../live-week.ts';

let world: World;
let company: Company;
beforeAll(async () => {
  world = await openWorld(openLog('error'), {}, () => later);
  company = await openCompany();
});
afterAll(() => world.close());

// A company with names that are difficult in CSV, two closed weeks and an open one.

type Company = { account: TestAccount; group: Record<string, number>; question: Record<string, number> };

const names: Record<string, string> = {
  company: 'Åkerö "Nordic", AB',
  sales: '=HYPERLINK("http://example.com")',
  north: '1-2',
  south: 'Two\r\nlines',
  tech: 'Team 1',
  apart: "'t Hooft",
};
const tree = [
  unit('company', { name: names['company'] }),
  unit('sales', { name: names['sales'], parent: 'company' }),
  unit('north', { name: names['north'], parent: 'sales' }),
  unit('00123', { name: names['south'], parent: 'sales' }),
  unit('tech', { name: names['tech'], parent: 'company' }),
  unit('apart', { name: names['apart'] }),
];
const kpis = { energy: ['mood', 'tens'], '007': ['advise'], never: ['never'] };

const teamOf = (group: string, size: number) => Array.from({ length: size }, (_, i) => `${group} ${i}`);
const asked = (sizes: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(sizes).flatMap(([group, size]) => teamOf(group, size).map((one) => [one, [group]])),
  );
const answered = (week: string, to: string, group: string, key: string, values: unknown[]) =>
  teamOf(group, values.length).map((one, i) => answerLine(week, to, one, key, values[i]));

const everyType = ['mood', 'tens', 'advise', 'bus', 'lunch', 'tools', 'words'];
const options = [
  { id: 'in', text: 'Canteen' },
  { id: 'out', text: 'Out' },
];
const lines = [
  question('mood', 1, { text: 'Happy, "really"?', translations: { sv: 'Glad?' } }),
  question('tens', 2, { text: '-10 to 10' }),
  question('advise', 3),
  question('bus', 4),
  question('lunch', 5, { options }),
  question('tools', 6, { options }),
  question('words', 7),
  question('never', 1),
  kpi('energy', kpis.energy, { name: 'Energy, all' }),
  kpi('007', kpis['007'], { name: '@007' }),
  kpi('never', kpis.never),
  round('2026-W45', 'company', everyType, asked({ north: 7, '00123': 3, tech: 1 })),
  ...Object.entries({
    mood: [1, 2, 3, 4, 5, 3, 4],
    tens: [1, 10, 1, 10, 1, 10, 2],
    advise: [10, 9, 8, 7, 6, 0, 3],
    bus: [true, true, false, true, false, false, true],
    lunch: ['in', 'in', 'in', 'in', 'out', 'out', 'out'],
    tools: [['in'], ['in', 'out'], ['out'], [], ['in'], ['in', 'out'], ['in']],
    words: [undefined, undefined, undefined, undefined, undefined, undefined, undefined],
  }).flatMap(([key, values]) =>
    [
      ...answered('2026-W45', 'company', 'north', key, values),
      ...answered('2026-W45', 'company', '00123', key, values.slice(0, 3)),
      ...answered('2026-W45', 'company', 'tech', key, values.slice(0, 1)),
    ].map((one) => (key === 'words' ? { answer: { ...one.answer, comment: 'Words' } } : one)),
  ),
  round('2026-W46', 'sales', ['mood'], asked({ north: 7, '00123': 3 })),
  ...answered('2026-W46', 'sales', 'north', 'mood', [5, 5, 4, 4, 4]),
  ...answered('2026-W46', 'sales', '00123', 'mood', [1, 2]),
  round('2026-W47', 'company', ['tens', 'lunch'], asked({ north: 7, '00123': 3, tech: 1 })),
  round('2026-W47', 'north', ['mood'], asked({ north: 7 })),
  ...answered('2026-W47', 'company', 'north', 'tens', [1, 2, 3, 4, 5, 6, 7]),
];

async function openCompany(publication: 'weekly' | 'live' = 'weekly'): Promise<Company> {
  const account = await world.account();
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3, publication }));
  await apply(account, { groups: tree });
  await inTransaction(world.pool, (tx) => createGroup(tx, account.id, { name: 'Manual' }));
  await importLines(world, account.id, lines, later);
  const groups = await account.groups();
  const questions = await selectQuestions(world.pool, account.id);
  return {
    account,
    group: Object.fromEntries(groups.map(({ externalId, id }) => [externalId ?? 'manual', id])),
    question: Object.fromEntries(questions.map(({ key, id }) => [key, id])),
  };
}

const thisWeek = '2026-11-16';
const allWeeks = 'fromDate=2026-11-02&toDate=2026-11-22';

// Requests.

const get = <T = string>(account: TestAccount, address: string, headers = {}) =>
  world.request<T>('GET', address, { headers: { authorization: account.token, ...headers } });

async function getBody<T>(account: TestAccount, address: string): Promise<T> {
  const { status, body } = await get<T>(account, address);
  if (status !== 200) throw new Error(`${status} of ${address}: ${JSON.stringify(body)}`);
  return body;
}

const isRow = Compile(FeedRow);

async function rowsOf(account: TestAccount, query = ''): Promise<FeedRow[]> {
  const text = await getBody<string>(account, `${getFeed.path}?format=ndjson&${query}`);
  expect(text === '' || text.endsWith('\n')).toBe(true);
  const rows = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as FeedRow);
  for (const row of rows) expect(isRow.Errors(row)).toEqual([]);
  return rows;
}

/** Returns the CSV as sent, because fetch removes the byte order mark from text. */
async function bytesOf(account: TestAccount, query = '') {
  const headers = { authorization: account.token };
  const response = await fetch(`${world.address}${getFeed.path}?${query}`, { headers });
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Returns the records of the CSV by the names in its header. */
async function recordsOf(account: TestAccount, query = ''): Promise<Record<string, string>[]> {
  const { bytes } = await bytesOf(account, query);
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const [header = [], ...records] = readCsv(text);
  for (const record of records) expect(record).toHaveLength(header.length);
  return records.map((record) => Object.fromEntries(record.map((cell, i) => [header[i], cell])));
}

/** What a row is about and its figure, for comparison with the other endpoints. */
type FeedFigure = Pick<
  FeedRow,
  'metric' | 'metricId' | 'groupId' | 'monday' | 'value' | 'answers' | 'status'
>;
const inOrder = (rows: FeedFigure[]) =>
  rows
    .map(({ metric, metricId, groupId, monday, value, answers, status }) =>
      [metric, metricId, groupId, monday, value, answers, status].join(' '),
    )
    .toSorted();

const dayOfKey = (key: string): string => {
  const days = ['2026-11-02', '2026-11-09', thisWeek];
  return days.find((day) => weekName(day) === `20${key.slice(0, 2)}-W${key.slice(2)}`) as string;
};

/** Returns everything that the other endpoints report about some groups in all weeks, as rows of the feed. */
async function figuresElsewhere(
  { account, question: ids }: Company,
  groupIds: number[],
): Promise<FeedFigure[]> {
  const rows: FeedFigure[] = [];
  for (const groupId of groupIds) {
    const query = `groupId=${groupId}&includeSubgroups=true&${allWeeks}`;
    const valued = await getBody<Kpi[]>(account, '/v1/kpis');
    for (const { id: metricId } of valued) {
      const { values } = await getBody<KpiValues>(account, `/v1/kpis/${metricId}/values?${query}`);
      rows.push(...values.map((one) => figure('kpi', metricId, one)));
    }
    const [rates] = await getBody<ResponseRateValues[]>(account, `/v1/responserates/values?${query}`);
    rows.push(...rates!.values.map((one) => figure('responserate', '', one)));
    const [results] = await getBody<ResultsValues[]>(account, `/v1/results?${query}`);
    for (const [metricId, groups] of Object.entries(results!.values[0]!)) {
      for (const [group, weeks] of Object.entries(groups)) {
        for (const [key, { value, answers }] of Object.entries(weeks)) {
          const status = answers === null ? 'withheld' : 'shown';
          const about = { groupId: Number(group), monday: dayOfKey(key) };
          rows.push({ metric: 'question', metricId, ...about, value, answers, status });
        }
      }
    }
    const [open] = await getBody<AskedQuestionsValues[]>(account, `/v1/askedquestions?${query}`);
    for (const [group, weeks] of Object.entries(open!.askedquestions[0]!)) {
      const questionIds = weeks['2647'];
      if (questionIds) rows.push(...openRows(Number(group), questionIds, ids));
    }
  }
  return rows;
}

function figure(
  metric: 'kpi' | 'responserate',
  metricId: string,
  { groupId, value, date }: KpiValues['values'][number],
): FeedFigure {
  const status = value === null ? 'withheld' : 'shown';
  return { metric, metricId, groupId, monday: date, value, answers: null, status };
}

/** Returns the open rows of a group that is asked some questions this week. */
function openRows(groupId: number, questionIds: number[], ids: Record<string, number>): FeedFigure[] {
  const open = { groupId, monday: thisWeek, value: null, answers: null, status: 'open' } as const;
  const askedKpis = Object.entries(kpis).filter(([, keys]) =>
    keys.some((key) => questionIds.includes(ids[key] as number)),
  );
  return [
    ...askedKpis.map(([metricId]) => ({ metric: 'kpi' as const, metricId, ...open })),
    { metric: 'responserate', metricId: '', ...open },
    ...questionIds.map((id) => ({ metric: 'question' as const, metricId: String(id), ...open })),
  ];
}

describe('the rows', () => {
  test('contain exactly what /kpis/{id}/values, /responserates/values, /results and /askedquestions report', async () => {
    const { account, group } = company;
    const tops = [group['company']!, group['apart']!, group['manual']!];
    const rows = await rowsOf(account);
    expect(inOrder(rows)).toEqual(inOrder(await figuresElsewhere(company, tops)));
    const counts = Object.groupBy(rows, ({ status }) => status);
    expect(Object.keys(counts).toSorted()).toEqual(['open', 'shown', 'withheld']);
  });

  test('one for each group, week and metric, sorted by metric, then group, KPI or question, and week', async () => {
    const rows = await rowsOf(company.account);
    const metrics = ['kpi', 'responserate', 'question'];
    const keys = rows.map(({ metric, metricId, groupId, monday }) => {
      const id = metric === 'question' ? metricId.padStart(9, '0') : metricId;
      return `${metrics.indexOf(metric)} ${String(groupId).padStart(9, '0')} ${id} ${monday}`;
    });
    expect(keys).toEqual([...new Set(keys)].toSorted());
  });

  test('show a metric that is shown, withheld and open', async () => {
    const { account, group, question: ids } = company;
    const rows = await rowsOf(account, `metric=question&groupId=${group['00123']}`);
    const of = (key: string) =>
      rows
        .filter(({ metricId }) => metricId === String(ids[key]))
        .map(({ week, value, answers, status }) => [week, value, answers, status]);
    expect(of('tens')).toEqual([
      ['2026-W45', expect.closeTo((0 + 1 + 0) / 3), 3, 'shown'],
      ['2026-W47', null, null, 'open'],
    ]);
    expect(of('mood')).toEqual([
      ['2026-W45', expect.closeTo((0 + 1 / 4 + 2 / 4) / 3), 3, 'shown'],
      ['2026-W46', null, null, 'withheld'],
    ]);
    // Choices have answers but no value. Yes/no questions need twice the threshold.
    expect(of('bus')).toEqual([['2026-W45', null, null, 'withheld']]);
    const above = await rowsOf(account, `metric=question&groupId=${group['company']}&${allWeeks}`);
    expect(
      above.filter((row) => row.metricId === String(ids['lunch']) && row.groupId === group['company']),
    ).toMatchObject([
      { value: null, answers: 7, status: 'shown' },
      { value: null, answers: null, status: 'open' },
    ]);
  });

  test('name groups, KPIs, questions and weeks', async () => {
    const { account, group, question: ids } = company;
    const rows = await rowsOf(account, `groupId=${group['00123']}&fromDate=2026-11-04&toDate=2026-11-04`);
    const place = {
      groupId: group['00123'],
      groupExternalId: '00123',
      groupName: 'Two\r\nlines',
      week: '2026-W45',
      monday: '2026-11-02',
    };
    expect(rows.slice(0, 4)).toEqual([
      { metric: 'kpi', metricId: '007', metricName: '@007', ...place, ...shown(0.9, null, true) },
      {
        metric: 'kpi',
        metricId: 'energy',
        metricName: 'Energy, all',
        ...place,
        ...shown(7 / 24, null, true),
      },
      {
        ...{ metric: 'responserate', metricId: '', metricName: 'Response rate', ...place },
        ...{ ...shown(1, null), asked: 3, answered: 3 },
      },
      {
        metric: 'question',
        metricId: String(ids['mood']),
        metricName: 'Happy, "really"?',
        ...place,
        ...shown(0.25, 3),
      },
    ]);
  });

  const shown = (value: number, answers: number | null, isKpi = false) => ({
    value: expect.closeTo(value),
    answers,
    status: 'shown',
    handedOut: false,
    ...notMeasured,
    ...(isKpi && { rolling: expect.closeTo(value) as number }),
  });
  const notMeasured = {
    rolling: null,
    standardError: null,
    change: null,
    isClear: null,
    changeHandedOut: null,
    asked: null,
    answered: null,
    notApplicable: null,
    notApplicableOf: null,
  };

  test('leave out groupExternalId for groups without one', async () => {
    const { account, group } = await openCompany();
    await importLines(
      world,
      account.id,
      [
        question('mood', 1, { text: 'Happy, "really"?', translations: { sv: 'Glad?' } }),
        round('2026-W44', { id: group['manual']! }, ['mood'], {}),
      ],
      later,
    );
    const [row] = await rowsOf(account, `groupId=${group['manual']}`);
    expect(Object.keys(row!)).not.toContain('groupExternalId');
    const [record] = await recordsOf(account, `groupId=${group['manual']}`);
    expect(record).toMatchObject({ groupExternalId: '', groupName: 'Manual' });
  });

  test('only a header in an account without surveys', async () => {
    const account = await world.account();
    expect(await rowsOf(account)).toEqual([]);
    expect(await recordsOf(account)).toEqual([]);
  });

  test('when a week closes, its open rows become shown or withheld, and no other row changes', async () => {
    const { account } = await openCompany();
    const before = await rowsOf(account);
    await closeWeekNow(world.pool, world.keys, account.id, thisWeek, later);
    const after = await rowsOf(account);
    const past = (rows: FeedRow[]) => rows.filter(({ monday }) => monday !== thisWeek);
    expect(past(after)).toEqual(past(before));
    const about = ({ metric, metricId, groupId, monday }: FeedRow) =>
      [metric, metricId, groupId, monday].join(' ');
    expect(after.map(about)).toEqual(expect.arrayContaining(before.map(about)));
    expect(after.some(({ status }) => status === 'open')).toBe(false);
    expect(after.some(({ status, monday }) => status === 'shown' && monday === thisWeek)).toBe(true);
  });

  test('no duplicates for an open week with live results', async () => {
    const { account } = await openCompany('live');
    await showLiveWeeks(world.pool, world.keys);
    const rows = await rowsOf(account, `fromDate=${thisWeek}&toDate=${thisWeek}`);
    const keys = rows.map(({ metric, metricId, groupId }) => `${metric} ${metricId} ${groupId}`);
    expect(keys).toEqual([...new Set(keys)]);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['shown', 'withheld']));
  });

  test('mark figures that are based on handed-out links, in both formats, and only those', async () => {
    const { account, group, question: ids } = await openCompany();
    await world.pool`
      update results set handed_out = true
      where  account_id = ${account.id} and group_id = ${group['north'] as number}
        and  question_id = ${ids['mood'] as number} and week = '2026-11-02'`;
    await world.pool`
      update kpi_values set handed_out = true
      where  account_id = ${account.id} and group_id = ${group['north'] as number} and kpi_id = '007'
        and  week = '2026-11-02'`;
    await world.pool`
      update response_rates set handed_out = true
      where  account_id = ${account.id} and group_id = ${group['north'] as number} and week = '2026-11-02'`;
    const rows = await rowsOf(account);
    const flagged = rows.filter(({ handedOut }) => handedOut);
    expect(flagged.map(({ metric, groupId, monday }) => [metric, groupId, monday])).toEqual([
      ['kpi', group['north'], '2026-11-02'],
      ['responserate', group['north'], '2026-11-02'],
      ['question', group['north'], '2026-11-02'],
    ]);
    expect(new Set(rows.map(({ handedOut }) => handedOut))).toEqual(new Set([true, false]));
    const changed = rows.filter(({ changeHandedOut }) => changeHandedOut);
    // The week after is compared with the marked one, and is not marked itself.
    expect(changed.map(({ metric, groupId, monday }) => [metric, groupId, monday])).toEqual([
      ['kpi', group['north'], '2026-11-09'],
      ['question', group['north'], '2026-11-09'],
    ]);
    const records = await recordsOf(account);
    expect(records.map(({ handedOut }) => handedOut)).toEqual(rows.map(({ handedOut }) => String(handedOut)));
  });

  test('no rows for a removed group', async () => {
    const { account, group } = await openCompany();
    const before = await rowsOf(account);
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    const north = group['north'];
    expect(before.some(({ groupId }) => groupId === north)).toBe(true);
    expect(await rowsOf(account)).toEqual(before.filter(({ groupId }) => groupId !== north));
  });
});

describe('CSV', () => {
  const columns =
    'metric metricId metricName groupId groupExternalId groupName week monday value answers status handedOut rolling standardError change isClear changeHandedOut asked answered notApplicable notApplicableOf'.split(
      ' ',
    );

  test('is UTF-8 with a byte order mark, a header and CRLF, and has a file name', async () => {
    const { account } = company;
    const { headers, bytes } = await bytesOf(account);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="soundings.csv"');
    expect(bytes.toString().split('\r\n')[0]).toBe(`\uFEFF${columns.join(',')}`);
    expect(bytes.toString().replaceAll('"Two\r\nlines"', '')).not.toMatch(/[^\r]\n|\r[^\n]/);
    expect(bytes.toString().endsWith('\r\n')).toBe(true);
    expect(await getBody<string>(account, `${getFeed.path}?format=csv`)).toBe(
      new TextDecoder().decode(bytes), // fetch removes the byte order mark
    );
  });

  test('has the same rows as NDJSON, with an apostrophe before texts that a spreadsheet would interpret', async () => {
    const { account } = company;
    const records = await recordsOf(account);
    const rows = await rowsOf(account);
    const text = (value: number | boolean | null) => (value === null ? '' : String(value));
    const asTexts = ({ groupExternalId = '', value, answers, groupId, handedOut, ...row }: FeedRow) => ({
      handedOut: String(handedOut),
      ...row,
      rolling: text(row.rolling),
      standardError: text(row.standardError),
      change: text(row.change),
      isClear: text(row.isClear),
      changeHandedOut: text(row.changeHandedOut),
      asked: text(row.asked),
      answered: text(row.answered),
      notApplicable: text(row.notApplicable),
      notApplicableOf: text(row.notApplicableOf),
      groupId: String(groupId),
      groupExternalId,
      value: text(value),
      answers: text(answers),
    });
    const protectedColumns = new Set(['metricId', 'metricName', 'groupExternalId', 'groupName']);
    const freed = records.map((record) =>
      Object.fromEntries(
        Object.entries(record).map(([name, cell]) => [
          name,
          protectedColumns.has(name) ? cell.replace(/^'/, '') : cell,
        ]),
      ),
    );
    expect(freed).toEqual(rows.map(asTexts));
    const valuesOf = (name: string) => new Set(records.map((record) => record[name]));
    for (const cell of ['\'=HYPERLINK("http://example.com")', "'1-2", 'Team 1', 'Åkerö "Nordic", AB']) {
      expect(valuesOf('groupName')).toContain(cell);
    }
    expect(valuesOf('groupExternalId')).toContain("'00123");
    expect(valuesOf('metricId')).toContain("'007");
    expect(valuesOf('metricName')).toContain("'-10 to 10");
    for (const cell of records.flatMap((record) => Object.values(record)))
      expect(cell).not.toMatch(/^[=+@\t\r]/);
  });
});

describe('NDJSON', () => {
  test('has the original texts, one object per line that matches the schema', async () => {
    const { account } = company;
    const { headers, body } = await get(account, `${getFeed.path}?format=ndjson`);
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(headers.get('content-disposition')).toBeNull();
    expect(body.startsWith('{')).toBe(true);
    const rows = await rowsOf(account);
    const { properties } = FeedRow;
    for (const row of rows) expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(row)));
    const groupNames = new Set(rows.map(({ groupName }) => groupName));
    expect(groupNames).toEqual(
      new Set(['company', 'sales', 'north', 'south', 'tech'].map((key) => names[key])),
    );
  });
});

describe('parameters', () => {
  const metricsOf = (rows: FeedRow[]) => [...new Set(rows.map(({ metric }) => metric))];

  test('metric: only the given metrics, in the order of the feed', async () => {
    const { account } = company;
    const all = await rowsOf(account);
    expect(metricsOf(all)).toEqual(['kpi', 'responserate', 'question']);
    for (const metric of ['kpi', 'responserate', 'question'] as const) {
      expect(await rowsOf(account, `metric=${metric}`)).toEqual(all.filter((row) => row.metric === metric));
    }
    const some = await rowsOf(account, 'metric=question,kpi');
    expect(some).toEqual(all.filter(({ metric }) => metric !== 'responserate'));
    expect(await rowsOf(account, 'metric=kpi,question')).toEqual(some);
  });

  test('fromDate and toDate: every week with a day in the range, by default all weeks', async () => {
    const { account } = company;
    const all = await rowsOf(account);
    expect(new Set(all.map(({ week }) => week))).toEqual(new Set(['2026-W45', '2026-W46', '2026-W47']));
    const between = (from: string, to: string) => rowsOf(account, `fromDate=${from}&toDate=${to}`);
    expect(await between('2026-11-08', '2026-11-09')).toEqual(all.filter(({ week }) => week !== '2026-W47'));
    expect(await between('2026-11-15', '2026-11-15')).toEqual(all.filter(({ week }) => week === '2026-W46'));
    expect(await between('2026-11-23', '2027-12-31')).toEqual([]);
    expect(await between('2026-10-01', '2026-11-01')).toEqual([]);
    expect(await between('0001-01-01', '9999-12-27')).toEqual(all);
  });

  test('groupId: the group and its descendants, by default all groups', async () => {
    const { account, group } = company;
    const all = await rowsOf(account);
    const withSubgroups = {
      company: ['company', 'sales', 'north', '00123', 'tech'],
      sales: ['sales', 'north', '00123'],
    };
    for (const [key, keys] of Object.entries({ ...withSubgroups, north: ['north'], apart: [] })) {
      const ids = keys.map((one) => group[one]);
      const rows = await rowsOf(account, `groupId=${group[key]}`);
      expect(rows).toEqual(all.filter(({ groupId }) => ids.includes(groupId)));
    }
  });

  test('language, case-insensitive: the texts of questions that exist in it', async () => {
    const { account, question: ids } = company;
    const own = await rowsOf(account);
    for (const language of ['sv', 'SV']) {
      const inSwedish = own.map((row) =>
        row.metric === 'question' && row.metricId === String(ids['mood'])
          ? { ...row, metricName: 'Glad?' }
          : row,
      );
      expect(await rowsOf(account, `language=${language}`)).toEqual(inSwedish);
    }
    expect(await rowsOf(account, 'language=fi')).toEqual(own);
  });

  test.each([
    [
      'metric',
      ['metric=', 'metric=kpis', 'metric=kpi,', 'metric=kpi,%20question', 'metric=KPI', 'metric=kpi%0A'],
    ],
    ['groupId', ['groupId=']],
    [
      'toDate',
      ['fromDate=2026-11-02', 'fromDate=2026-11-02&toDate=2026-13-01', 'fromDate=2026-11-02&toDate='],
    ],
    [
      'fromDate',
      ['toDate=2026-11-02', 'fromDate=2026-11-09&toDate=2026-11-08', 'fromDate=x&toDate=2026-11-08'],
    ],
    ['format', ['format=', 'format=json', 'format=CSV', 'format=csv&format=csv']],
    ['language', ['language=', 'language=swe', 'language=s1', 'language=en-US']],
    ['includeSubgroups', ['includeSubgroups=true']],
    ['kpiId', ['kpiId=energy']],
  ])('400: an invalid or unknown %s', async (path, queries) => {
    for (const query of queries) {
      const { status, headers, body } = await get<Problem>(company.account, `${getFeed.path}?${query}`);
      expect([query, status, body.details?.[0]?.path]).toEqual([query, 400, path]);
      expect(Compile(Problem).Errors(body)).toEqual([]);
      expect(headers.get('content-disposition')).toBeNull();
    }
  });

  test("404: an unknown group and another account's group, with the same message", async () => {
    const other = await openCompany();
    const of = (id: unknown) => get<Problem>(company.account, `${getFeed.path}?groupId=${id}`);
    const absent = await of(999_999_999);
    expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'group not found' }] } });
    for (const id of [other.group['company'], other.group['apart'], 'nowhere', '-1', '2147483648', '1.5']) {
      const { status, headers, body } = await of(id);
      expect([status, { ...body, id: '' }]).toEqual([404, { ...absent.body, id: '' }]);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    expect((await of('north')).body.message).toContain(`Use groupId=${company.group['north']}.`);
  });

  test('401 without a token', async () => {
    expect((await world.request('GET', getFeed.path)).status).toBe(401);
  });
});

describe('ETag', () => {
  test('an unchanged feed gets a 304, and the ETag changes when a week closes or a text changes', async () => {
    const { account } = await openCompany();
    const tagOf = async (query = '') =>
      (await get(account, `${getFeed.path}?${query}`)).headers.get('etag') as string;
    const repeat = (tag: string) => get(account, getFeed.path, { 'if-none-match': tag });
    const tags = [await tagOf()];
    expect(tags[0]).toMatch(/^W\/"/);
    const again = await repeat(tags[0]!);
    expect([again.status, again.body]).toEqual([304, '']);
    await closeWeekNow(world.pool, world.keys, account.id, thisWeek, later);
    tags.push(await tagOf());
    await apply(account, { groups: tree.map((one) => ({ ...one, name: 'Renamed' })) });
    tags.push(await tagOf());
    expect(new Set(tags).size).toBe(3);
    for (const [i, tag] of tags.entries()) expect((await repeat(tag)).status).toBe(i === 2 ? 304 : 200);
  });

  test('HEAD returns the headers only', async () => {
    const { account } = company;
    const { headers } = await get(account, getFeed.path);
    const head = await world.request<string>('HEAD', getFeed.path, {
      headers: { authorization: account.token },
    });
    expect([head.status, head.body]).toEqual([200, '']);
    for (const name of ['etag', 'content-type', 'content-disposition']) {
      expect([name, head.headers.get(name)]).toEqual([name, headers.get(name)]);
    }
  });
});

describe('a large feed', () => {
  const [weekCount, groupCount] = [78, 1_000];
  const first = '2023-01-02';

  /** Creates an account with 78,000 figures, as publishing would store them. */
  async function openLarge(): Promise<TestAccount> {
    const account = await world.account();
    const units = Array.from({ length: groupCount }, (_, i) => unit(`group-${i}`));
    await apply(account, { groups: units }, { maxGroupsCreated: 20_000 });
    await importLines(world, account.id, [question('mood', 1)], later);
    await world.pool`
      insert into results (account_id, group_id, week, question_id, value, answers)
      select ${account.id}, g.group_id, ${first}::date + 7 * week, q.question_id, 0.5, 12
      from   groups g
      cross  join generate_series(0, ${weekCount - 1}) as week
      cross  join questions q
      where  g.account_id = ${account.id} and q.account_id = ${account.id}`;
    await world.pool`analyze results`; // As autovacuum does within a minute. Until then, PostgreSQL 15 uses plans for a small table.
    return account;
  }

  /** Returns the transactions that read a feed. */
  const runningNow = async () => {
    const [row] = await world.pool<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where  datname = current_database() and state <> 'idle'
        and  (query like '%join   results r on%' or query like 'fetch%' or query like '%"questionIds"%')
        and  pid <> pg_backend_pid()`;
    return row?.count;
  };

  async function begin(account: TestAccount): Promise<IncomingMessage> {
    const headers = { authorization: account.token };
    const asking = httpRequest(`${world.address}${getFeed.path}`, { headers, agent: false }).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    return response;
  }

  test('is streamed while it is read, as fast as the client takes it, and an aborted request stops reading', async () => {
    const account = await openLarge();
    const response = await begin(account);
    expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    await once(response, 'readable');
    expect(await runningNow()).toBe(1);
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part as string;
    const records = readCsv(text);
    expect(records).toHaveLength(1 + weekCount * groupCount);
    expect(records.at(-1)).toContain(weekName(addWeeks(first, weekCount - 1)));
    await expect.poll(runningNow).toBe(0);

    const given = await begin(account);
    await once(given, 'readable');
    given.destroy();
    await expect.poll(runningNow).toBe(0);
  });
});
