// The console's results by segment: the same figures as the data interface, for administrators of the account only.
import type { Problem } from '@soundings/contract/problem.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import {
  type SegmentAnswers,
  type Breakdowns,
  type SegmentMap,
  type SegmentSimulation,
  segmentsOperations,
  type SegmentTrend,
} from '@soundings/contract/console/results/segments.ts';
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import { createAttribute } from '../../people/attributes.changes.ts';
import {
  company,
  openCompany,
  rates,
  results,
  useService,
  w45,
  world,
} from '../../results/data/data.fixture.ts';
import { writeSegments } from '../../results/data/segments.fixture.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';

useService();

const [week, nextWeek] = ['2026-11-02', '2026-11-09'];
let own: Awaited<ReturnType<typeof openCompany>>;
let request: SendRequest;
let [breakdownId, oldest, youngest, middle] = [0, 0, 0, 0];
beforeAll(async () => {
  own = await openCompany();
  const [mood, bus, lunch] = ['mood', 'bus', 'lunch'].map((key) => own.question[key] as number);
  const shown = (value: number, answers: number) => ({ questionId: mood!, week, value, answers });
  const written = await writeSegments(
    world.pool,
    own.account.id,
    { name: 'Age band', attribute: 'born' },
    {
      '50 and over': {
        results: [
          shown(0.25, 8),
          // The question is asked again, so that there is a change that must not be shown.
          { ...shown(0.75, 8), week: nextWeek },
          { questionId: bus!, week, value: 0.75, answers: 8, distribution: { yes: 6, no: 2 } },
          { questionId: lunch!, week, value: null, answers: 8, distribution: { in: 5, out: 3 } },
        ],
        rates: [{ week, value: 0.7, asked: 10, answered: 8 }],
        kpis: [{ kpiId: 'energy', week, value: 0.25 }],
      },
      'under 30': {
        results: [{ questionId: mood!, week, value: null, answers: null }],
        rates: [{ week, value: null }],
        kpis: [{ kpiId: 'energy', week, value: null }],
      },
      '30–49': {
        results: [{ ...shown(0.5, 6), handedOut: true }],
        rates: [{ week, value: 0.9, asked: 7, answered: 6, handedOut: true }],
        kpis: [{ kpiId: 'energy', week, value: 0.5 }],
      },
    },
  );
  ({ breakdownId } = written);
  [oldest, youngest, middle] = ['50 and over', 'under 30', '30–49'].map((value) => written.ids[value]!) as [
    number,
    number,
    number,
  ];
  ({ request } = await signInNew(world, own.account.id, 'Administrator'));
});

async function get<T>(path: string): Promise<T> {
  const { status, body, text } = await request<T>(`GET ${path}`);
  if (status !== 200) throw new Error(`${status} of ${path}: ${text}`);
  return body;
}

const csvOf = async (path: string) =>
  (await request(`GET ${path}`)).text.replace('\uFEFF', '').trimEnd().split('\r\n');

test('the heat map has the segments in order of their bands, and the figures of the data interface', async () => {
  const { breakdown, map } = await get<SegmentMap>(`/breakdowns/${breakdownId}/heat-map?week=${week}`);
  expect(breakdown).toEqual({ id: breakdownId, name: 'Age band' });
  expect(map.rows.map(({ id, name }) => [id, name])).toEqual([
    [youngest, 'under 30'],
    [middle, '30–49'],
    [oldest, '50 and over'],
  ]);
  expect(map.kpis.map(({ id }) => id)).toEqual(['energy']);
  // The rolling value of a KPI is the mean of the published figures of its questions in the window. Here the window has one such
  // figure.
  expect(map.rows.map(({ values }) => values)).toEqual([[null], [0.5], [0.25]]);
  expect(map.rows.map(({ rate, asked, answered }) => [rate, asked, answered])).toEqual([
    [null, undefined, undefined],
    [6 / 7, 7, 6],
    [0.8, 10, 8],
  ]);
  expect(map.rows.map(({ handedOut }) => handedOut)).toEqual([[], ['rate', 0], []]);
  const read = await results(own.account, `groupId=${oldest}${w45}`);
  expect(read.values[String(own.question['mood'])]?.[oldest]?.['2645']?.value).toBe(0.25);
  expect((await rates(own.account, `groupId=${youngest}${w45}`))[0]?.value).toBeNull();
});

test('nothing is compared: no changes, no differences, no company', async () => {
  const { map } = await get<SegmentMap>(`/breakdowns/${breakdownId}/heat-map?week=${week}`);
  expect(map.companyId).toBeNull();
  expect(map.comparison).toEqual({ kind: 'none', group: null, available: ['none'] });
  for (const { changes, differences, clear } of map.rows)
    expect([changes, differences, clear]).toEqual([[null], [null], []]);
  const { trend } = await get<SegmentTrend>(`/breakdowns/${breakdownId}/trends?kpiId=energy`);
  for (const { rolling } of trend.series) for (const { change } of rolling) expect(change).toBeNull();
  const { rows } = await get<SegmentAnswers>(
    `/breakdowns/${breakdownId}/questions/${own.question['mood']}?week=${nextWeek}`,
  );
  expect(rows).toHaveLength(1);
  for (const { figures } of rows)
    expect([figures.change, figures.difference, figures.bestEstimate]).toEqual([null, null, null]);
});

test('a trend shows the chosen segments, withheld weeks and marks', async () => {
  const path = `/breakdowns/${breakdownId}/trends?segmentIds=${middle},${youngest}`;
  const { segments, trend } = await get<SegmentTrend>(`${path}&kpiId=energy`);
  expect(segments.map(({ id }) => id)).toEqual([youngest, middle, oldest]);
  expect(trend.series.map(({ group }) => group.name)).toEqual(['30–49', 'under 30']);
  expect(trend.series.map(({ values }) => values)).toEqual([
    [{ week, value: 0.5, handedOut: false }],
    [{ week, value: null, handedOut: false }],
  ]);
  const response = await get<SegmentTrend>(path);
  expect(response.trend.kpi).toBeNull();
  expect(response.trend.series[0]?.values).toEqual([
    { week, value: 6 / 7, handedOut: true, asked: 7, answered: 6 },
  ]);
});

test('a question shows means, and distributions of yes/no and choice questions only', async () => {
  const of = async (key: string) =>
    (
      await get<SegmentAnswers>(`/breakdowns/${breakdownId}/questions/${own.question[key]}?week=${week}`)
    ).rows.map(({ name, figures: { value, answers, distribution } }) => [name, value, answers, distribution]);
  expect(await of('mood')).toEqual([
    ['under 30', null, null, null],
    ['30–49', 0.5, 6, null],
    ['50 and over', 0.25, 8, null],
  ]);
  expect(await of('bus')).toEqual([
    [
      '50 and over',
      0.75,
      8,
      [
        { key: 'yes', count: 6 },
        { key: 'no', count: 2 },
      ],
    ],
  ]);
  expect(await of('tens')).toEqual([]);
});

test('the files have the same rows, in the language of the reader', async () => {
  expect(await csvOf(`/breakdowns/${breakdownId}/heat-map/csv?week=${week}&language=sv&sort=-rate`)).toEqual([
    'Age band,"Svarsfrekvens, %",Svarade,Tillfrågade,Energy,Bygger delvis på utdelade länkar',
    '30–49,85.7,6,7,50,"Svarsfrekvens, %; Energy"',
    '50 och uppåt,80,8,10,25,',
    'under 30,visas inte,,,visas inte,',
  ]);
  const answers = await csvOf(
    `/breakdowns/${breakdownId}/questions/${own.question['lunch']}/csv?week=${week}`,
  );
  expect(answers).toEqual([
    'Week,Monday,Age band,Answers,Canteen,Out,Based partly on handed-out links',
    '2026-W45,2026-11-02,50 and over,8,5,3,',
  ]);
  expect((await csvOf(`/breakdowns/${breakdownId}/trends/csv?segmentIds=${oldest}`))[0]).toBe(
    'Week,Monday,50 and over,"50 and over, Answered","50 and over, Asked",Based partly on handed-out links',
  );
});

/** Every operation on segments, with the IDs of this account. */
const operations = () =>
  Object.keys(segmentsOperations).map((name) =>
    name.replace('{breakdownId}', String(breakdownId)).replace('{questionId}', String(own.question['mood'])),
  );

test.each<Role>(['Manager', 'Auditor', 'User'])(
  'a user with the role %s is refused everywhere',
  async (role) => {
    const { request: other, userId } = await signInNew(world, own.account.id, role);
    if (role === 'Manager')
      await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${own.account.id}, ${userId}, 'inheritedAdminOf', ${own.group['company'] as number})`;
    for (const name of operations()) {
      const { status } = await other(name, name.startsWith('POST') ? {} : undefined);
      expect([name, status]).toEqual([name, 403]);
    }
    if (role !== 'Manager') return;
    // The pages of groups don't show segments either.
    const { groups } = (await other<ResultsStart>('GET /results')).body;
    expect(groups).toBe(5);
    for (const path of [
      `/results/groups/${oldest}`,
      `/results/trends?groupIds=${oldest}`,
      `/results/groups/${oldest}/questions/${own.question['mood']}`,
      `/results/comments?groupId=${oldest}`,
    ])
      expect([path, (await other(`GET ${path}`)).status]).toEqual([path, 404]);
    expect((await other('GET /results/heat-map')).text).not.toMatch(/under 30|Age band/);
  },
);

test('an administrator of another account gets the same response as for a breakdown that does not exist', async () => {
  const { request: other } = await signInNew(world, company.account.id, 'Administrator');
  expect((await other<Breakdowns>('GET /breakdowns')).body.breakdowns).toEqual([]);
  const reads = operations().filter((name) => name.startsWith('GET') && name !== 'GET /breakdowns');
  expect(reads).toHaveLength(6);
  for (const name of [
    ...reads,
    `POST /breakdowns/${breakdownId}/close`,
    `DELETE /breakdowns/${breakdownId}`,
  ]) {
    const { status, body } = await other<Problem>(name);
    expect([name, status, body.details[0]?.type]).toEqual([name, 404, 'breakdown not found']);
  }
  expect((await get<Breakdowns>('/breakdowns')).breakdowns).toHaveLength(1);
});

test('a segment of another breakdown is not in the trend of this one', async () => {
  const other = await writeSegments(
    world.pool,
    own.account.id,
    { name: 'Site', attribute: 'site' },
    { Lund: {} },
  );
  const path = `/breakdowns/${breakdownId}/trends?segmentIds=${other.ids['Lund']}`;
  expect((await request(`GET ${path}`)).status).toBe(404);
});

test('a breakdown is opened, closed and removed with its figures, and every step is in the audit log', async () => {
  const { account } = await openCompany();
  await inTransaction(world.pool, async (tx) => {
    await createAttribute(tx, account.id, { name: 'site', allowedValues: null });
    await changeAccount(tx, account.id, { publication: 'live' });
  });
  const { request: send } = await signInNew(world, account.id, 'Administrator');
  const body = { name: 'Site', attribute: 'site', bands: null, crossOf: null };
  const { id } = (await send<{ id: number }>('POST /breakdowns', body)).body;
  const list = async () => (await send<Breakdowns>('GET /breakdowns')).body;
  expect(await list()).toMatchObject({
    breakdowns: [
      { id, name: 'Site', attribute: 'site', bands: null, crossOf: null, closedAt: null, segments: 0 },
    ],
    threshold: 3,
    isLive: true,
  });
  const { name: _, ...division } = body;
  const simulated = await send<SegmentSimulation>('POST /breakdowns/simulation', division);
  expect(simulated.body).toMatchObject({ withValue: 0, segments: 0, large: 0, largeShown: null });
  const unknown = await send<Problem>('POST /breakdowns/simulation', { ...division, attribute: 'none' });
  expect([unknown.status, unknown.body.details[0]?.path]).toEqual([400, '/attribute']);
  const wrong = await send<Problem>('POST /breakdowns', { ...body, name: 'Age', bands: [40, 30] });
  expect([wrong.status, wrong.body.details[0]?.path]).toEqual([400, '/bands']);
  expect((await send(`POST /breakdowns/${id}/close`)).status).toBe(204);
  expect((await list()).breakdowns[0]?.closedAt).toEqual(expect.any(String));
  expect((await send(`DELETE /breakdowns/${id}`)).status).toBe(204);
  expect((await list()).breakdowns).toEqual([]);
  const { rows } = (await send<{ rows: { action: string }[] }>('GET /audit?search=breakdown')).body;
  expect(rows.map(({ action }) => action)).toEqual([
    'breakdown removed',
    'breakdown closed',
    'breakdown opened',
  ]);
});
