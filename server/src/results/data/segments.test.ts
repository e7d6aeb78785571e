// The data interface for segments (docs/administrators/segments.md): read by ID like groups, listed only with kind=segment, and nothing
// that existed before changes.
import type { Group } from '@soundings/contract/data.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import {
  allWeeks,
  asked,
  company,
  type Company,
  get,
  getBody,
  kpiValues,
  openAccount,
  openCompany,
  rates,
  results,
  row,
  useService,
  world,
} from './data.fixture.ts';
import { eraseBreakdown, writeSegments } from './segments.fixture.ts';

useService();

/** Opens Site with two segments: Stockholm has figures in 2026-W45, and Lund's are withheld. */
async function openSites({ account, question }: Company) {
  const mood = question['mood'] as number;
  const week = '2026-11-02';
  return writeSegments(
    world.pool,
    account.id,
    { name: 'Site', attribute: 'site' },
    {
      Stockholm: {
        results: [
          { questionId: mood, week, value: 0.5, answers: 9, handedOut: true },
          {
            questionId: question['bus'] as number,
            week,
            value: 0.75,
            answers: 8,
            distribution: { yes: 6, no: 2 },
          },
        ],
        rates: [{ week, value: 0.9, asked: 10, answered: 9 }],
        kpis: [{ kpiId: 'energy', week, value: 0.5 }],
      },
      '=Lund': {
        results: [{ questionId: mood, week, value: null, answers: null }],
        rates: [{ week, value: null }],
        kpis: [{ kpiId: 'energy', week, value: null }],
      },
    },
  );
}

/** The account of this file with segments, and the IDs of these. */
let sites: Company & Awaited<ReturnType<typeof openSites>> & { stockholm: number; lund: number };
beforeAll(async () => {
  const own = await openCompany();
  const opened = await openSites(own);
  const [stockholm, lund] = [opened.ids['Stockholm'] as number, opened.ids['=Lund'] as number];
  sites = { ...own, ...opened, stockholm, lund };
});

/** All addresses of the data interface that list or read groups, without `kind`. */
const addressesOf = ({ group, question }: Company) => [
  '/v1/groups',
  '/v1/kpis',
  ...[group['company'], group['sales'], group['north'], group['apart']].flatMap((id) =>
    ['', '&includeSubgroups=true'].flatMap((more) => [
      `/v1/kpis/energy/values?groupId=${id}${more}`,
      `/v1/kpis/energy/values?groupId=${id}${more}${allWeeks}`,
      `/v1/responserates/values?groupId=${id}${more}`,
      `/v1/responserates/values?groupId=${id}${more}${allWeeks}`,
      `/v1/results?groupId=${id}${more}${allWeeks}`,
      `/v1/results?groupId=${id}${more}${allWeeks}&includeComments=true&granularData=true`,
      `/v1/results?groupId=${id}${more}${allWeeks}&questionIds=${question['mood']}`,
      `/v1/askedquestions?groupId=${id}${more}${allWeeks}`,
      `/v1/feed?groupId=${id}`,
    ]),
  ),
  '/v1/feed',
  '/v1/feed?format=ndjson',
];

/** Returns the status and the exact text of a response. */
async function textOf({ account }: Pick<Company, 'account'>, address: string): Promise<string> {
  const response = await fetch(world.address + address, { headers: { authorization: account.token } });
  // Decoding as Buffer keeps the byte order mark.
  return `${response.status} ${Buffer.from(await response.arrayBuffer()).toString()}`;
}

/** Returns the same without the status and the byte order mark. */
const bodyOf = async (address: string) =>
  (await textOf(sites, address)).replace(/^200 \uFEFF?/, '').trimEnd();

const textsOf = async (of: Company) => {
  const texts: Record<string, string> = {};
  for (const address of addressesOf(of)) {
    texts[address] = await textOf(of, address);
  }
  return texts;
};

test('neither opening nor removing segments changes any byte of a response without kind', async () => {
  const own = await openCompany();
  const before = await textsOf(own);
  const { breakdownId } = await openSites(own);
  expect(await textsOf(own)).toEqual(before);
  await eraseBreakdown(world.pool, own.account.id, breakdownId);
  expect(await textsOf(own)).toEqual(before);
});

test('kind=group returns the same bytes as no kind', async () => {
  for (const address of addressesOf(sites).filter((one) => !/^\/v1\/(kpis$|asked)/.test(one))) {
    const same = `${address}${address.includes('?') ? '&' : '?'}kind=group`;
    expect(await textOf(sites, same), address).toBe(await textOf(sites, address));
  }
});

describe('GET /v1/groups?kind=segment', () => {
  test('lists only the segments, by ID, with their kind', async () => {
    expect(await getBody<Group[]>(sites.account, '/v1/groups?kind=segment')).toEqual([
      { id: sites.stockholm, name: 'Site: Stockholm', subgroups: [], kind: 'segment', breakdown: 'Site' },
      { id: sites.lund, name: 'Site: =Lund', subgroups: [], kind: 'segment', breakdown: 'Site' },
    ]);
  });

  test('an empty list in an account without segments', async () => {
    expect(await getBody(company.account, '/v1/groups?kind=segment')).toEqual([]);
  });
});

describe('figures of a segment are read by its ID', () => {
  test.each(['', '&kind=segment', '&includeSubgroups=true', '&includeSubgroups=true&kind=segment'])(
    'KPI values, response rates and results, also with "%s"',
    async (more) => {
      const query = `groupId=${sites.stockholm}${more}`;
      const inW45 = (value: number | null, id = sites.stockholm) => row(id, value, '202645', '2026-11-02');
      expect(await kpiValues(sites.account, 'energy', query)).toEqual([inW45(0.5)]);
      expect(await kpiValues(sites.account, 'energy', query + allWeeks)).toEqual([inW45(0.5)]);
      expect(await rates(sites.account, query)).toEqual([inW45(0.9)]);
      expect(await rates(sites.account, query + allWeeks)).toEqual([inW45(0.9)]);
      expect(await rates(sites.account, `groupId=${sites.lund}${more}`)).toEqual([inW45(null, sites.lund)]);
      const { values, questions } = await results(sites.account, query + allWeeks);
      const [mood, bus] = [sites.question['mood'], sites.question['bus']];
      expect(questions.map(({ id }) => id)).toEqual([mood, bus]);
      expect(values).toEqual({
        [String(mood)]: { [sites.stockholm]: { 2645: { value: 0.5, answers: 9 } } },
        [String(bus)]: {
          [sites.stockholm]: { 2645: { value: 0.75, answers: 8, distribution: { yes: 6, no: 2 } } },
        },
      });
    },
  );

  test('there are no comments and no individual answers', async () => {
    const query = `groupId=${sites.stockholm}${allWeeks}&includeComments=true&granularData=true`;
    const { comments, values } = await results(sites.account, query);
    expect(comments).toEqual({});
    expect(JSON.stringify(values[String(sites.question['mood'])])).not.toMatch(/individual|distribution/);
  });

  test('no group contains a segment as a subgroup', async () => {
    const { account, group } = sites;
    const ids = (await rates(account, `groupId=${group['company']}&includeSubgroups=true${allWeeks}`)).map(
      ({ groupId }) => groupId,
    );
    expect(ids).not.toContain(sites.stockholm);
    expect(ids).toContain(group['north']);
  });

  test('no questions are asked of it: 404', async () => {
    const address = `/v1/askedquestions?groupId=${sites.stockholm}`;
    expect((await get(sites.account, address)).status).toBe(404);
    await asked(sites.account, `groupId=${sites.group['company']}`);
  });
});

describe('GET /v1/feed?kind=segment', () => {
  const cells = async (query: string) =>
    (await bodyOf(`/v1/feed${query}`)).split('\r\n').map((line) => line.split(','));

  test('has the rows of the segments only, with one more column at the end, and no changes', async () => {
    const [header, ...rows] = await cells('?kind=segment');
    const [plain, ...others] = await cells('');
    expect(header).toEqual([...plain!, 'breakdown']);
    const at = (name: string) => header!.indexOf(name);
    expect(rows.map((one) => [one[at('metric')], one[at('groupName')], one[at('status')]])).toEqual([
      ['kpi', 'Site: Stockholm', 'shown'],
      ['kpi', 'Site: =Lund', 'withheld'],
      ['responserate', 'Site: Stockholm', 'shown'],
      ['responserate', 'Site: =Lund', 'withheld'],
      ['question', 'Site: Stockholm', 'shown'],
      ['question', 'Site: Stockholm', 'shown'],
      ['question', 'Site: =Lund', 'withheld'],
    ]);
    for (const one of rows) {
      expect(one.slice(at('change'), at('asked'))).toEqual(['', '', '']);
      expect(one.at(-1)).toBe('Site');
    }
    expect(rows[4]!.slice(at('value'), at('value') + 4)).toEqual(['0.5', '9', 'shown', 'true']);
    const ids = others.map((one) => Number(one[at('groupId')]));
    expect(ids).not.toContain(sites.stockholm);
  });

  test('nor says of a change, which it does not have, whether it is based on handed-out links', async () => {
    const own = await openCompany();
    const questionId = own.question['mood'] as number;
    const figures = ['2026-11-02', '2026-11-09'].map((week) => ({
      ...{ questionId, week, value: 0.5, answers: 9, handedOut: true },
    }));
    const site = { name: 'Site', attribute: 'site' };
    await writeSegments(world.pool, own.account.id, site, { Lund: { results: figures } });
    const text = await textOf(own, '/v1/feed?kind=segment&format=ndjson&metric=question');
    const rows = text
      .replace(/^200 /, '')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const empty = { change: null, isClear: null, changeHandedOut: null };
    expect(rows).toMatchObject([empty, empty]);
  });

  test('NDJSON has the column too, and a feed of one segment only its rows', async () => {
    const read = async (query: string) =>
      (await bodyOf(`/v1/feed?format=ndjson&${query}`))
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const all = await read('kind=segment');
    expect(new Set(all.map(({ breakdown }) => breakdown))).toEqual(new Set(['Site']));
    const own = await read(`groupId=${sites.stockholm}`);
    expect(own.map(({ groupId }) => groupId)).toEqual([1, 2, 3, 4].map(() => sites.stockholm));
    expect(own[0]).not.toHaveProperty('breakdown');
  });
});

describe('400', () => {
  test.each(['', 'Segment', 'groups', 'site', 'group,segment', '%20segment', 'null'])(
    'kind=%s is named in the first detail',
    async (kind) => {
      const { stockholm } = sites;
      for (const address of [
        '/v1/groups?',
        '/v1/feed?',
        `/v1/results?groupId=${stockholm}&`,
        `/v1/responserates/values?groupId=${stockholm}&`,
        `/v1/kpis/energy/values?groupId=${stockholm}&`,
      ]) {
        const { status, body } = await get<Problem>(sites.account, `${address}kind=${kind}`);
        expect([address, status, body.details[0]?.path]).toEqual([address, 400, 'kind']);
      }
    },
  );

  test('endpoints without figures have no parameter kind', async () => {
    for (const address of ['/v1/kpis?', `/v1/askedquestions?groupId=${sites.group['company']}&`]) {
      const { status, body } = await get<Problem>(sites.account, `${address}kind=segment`);
      expect([status, body.details[0]?.path]).toEqual([400, 'kind']);
    }
  });
});

describe('404', () => {
  const endpoints = ['/v1/results?', '/v1/responserates/values?', '/v1/kpis/energy/values?', '/v1/feed?'];

  test('a segment of another account gets the same response as one that does not exist', async () => {
    for (const address of endpoints) {
      for (const more of ['', '&kind=segment', '&includeSubgroups=true'].slice(
        0,
        /feed/.test(address) ? 2 : 3,
      )) {
        const of = async (id: number) => {
          const { status, body } = await get<Problem>(company.account, `${address}groupId=${id}${more}`);
          return { status, body: { ...body, id: '' } };
        };
        const [own, absent] = [await of(sites.stockholm), await of(999_999_999)];
        expect(own).toEqual(absent);
        expect(own.status).toBe(404);
      }
    }
    const listed = await getBody<Group[]>(company.account, '/v1/groups?kind=segment');
    expect(listed).toEqual([]);
  });

  test('a group with kind=segment, and a segment with kind=group', async () => {
    for (const address of endpoints) {
      for (const query of [
        `groupId=${sites.group['north']}&kind=segment`,
        `groupId=${sites.stockholm}&kind=group`,
      ]) {
        expect([query, (await get(sites.account, address + query)).status]).toEqual([query, 404]);
      }
    }
  });

  test('a removed kind', async () => {
    const own = await openCompany();
    const { breakdownId, ids } = await openSites(own);
    await eraseBreakdown(world.pool, own.account.id, breakdownId);
    for (const address of endpoints)
      expect((await get(own.account, `${address}groupId=${ids['Stockholm']}`)).status).toBe(404);
    expect(await getBody(own.account, '/v1/groups?kind=segment')).toEqual([]);
  });
});

test('403: a token without the data scope reads no segment', async () => {
  const own = await openAccount();
  const { token } = await createToken(world.pool, own.id, { name: 'HR', scopes: ['organization', 'files'] });
  for (const address of [
    '/v1/groups?kind=segment',
    `/v1/results?groupId=1&kind=segment`,
    '/v1/feed?kind=segment',
  ]) {
    const { status } = await world.request('GET', address, { headers: { authorization: token } });
    expect([address, status]).toEqual([address, 403]);
  }
});
