// Key drivers over the console's API: computed only from figures that the data interface shows, and for managers only from the groups
// that are open to them.
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import type { ResultsValues } from '@soundings/contract/data.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeDrivers } from '../../results/statistics/drivers.ts';
import { randomFrom } from '../../simulation/random.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const weeks = ['2026-10-26', '2026-11-02', '2026-11-09'];
const teams = Array.from({ length: 24 }, (_, i) => `team-${i}`);
/** The number of people in a team. In the last team, too few people answer for any figure to be shown. */
const sizeOf = (team: number) => (team === teams.length - 1 ? 3 : 6);

let world: World;
let account: TestAccount;
let administrator: SendRequest;
let ids: Map<string, number>;

beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  await apply(account, {
    groups: [unit('company'), ...teams.map((name) => unit(name, { parent: 'company' }))],
  });
  await importLines(world, account.id, [
    question('support', 1),
    question('pace', 1),
    question('recommend', 3),
    question('proud', 1),
    kpi('leadership', ['support'], { name: 'Leadership', translations: { sv: 'Ledarskap' } }),
    kpi('workload', ['pace']),
    kpi('engagement', ['proud', 'recommend']),
    kpi('index', ['proud']),
    ...weeks.flatMap((week, i) => answersOf(weekName(week), i)),
  ]);
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
  ids = new Map((await account.groups()).map(({ id, externalId }) => [externalId as string, id]));
});
afterAll(() => world?.close());

/**
 * Returns the answers of a week. How proud a team is depends on what it thinks of its support. Only the second week asks about
 * pace.
 */
function answersOf(week: string, index: number): object[] {
  const random = randomFrom(index, 'answers');
  const asked = ['support', 'recommend', 'proud', ...(index === 1 ? ['pace'] : [])];
  const people = teams.flatMap((team, t) =>
    Array.from({ length: sizeOf(t) }, (_, p) => ({ id: `${team}-${p}`, team, t })),
  );
  const onScale = (value: number, low: number, high: number) =>
    Math.max(low, Math.min(high, Math.round(value)));
  const valueOf = (key: string, t: number) => {
    const support = ((t * 7) % 12) / 4 + 1;
    if (key === 'pace') return onScale(1 + 4 * random.next(), 1, 5);
    if (key === 'recommend') return onScale(2 * support + random.around0(1), 0, 10);
    return onScale(support + random.around0(0.4), 1, 5);
  };
  return [
    round(week, 'company', asked, Object.fromEntries(people.map(({ id, team }) => [id, [team]]))),
    ...people.flatMap(({ id, t }) =>
      asked.map((key) => answerLine(week, 'company', id, key, valueOf(key, t))),
    ),
  ];
}

async function get(request: SendRequest, query = ''): Promise<Drivers> {
  const { status, body, text } = await request<Drivers>(`GET /results/drivers${query}`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body;
}

/** Signs in a manager of these groups. */
async function managerOf(names: readonly string[]): Promise<SendRequest> {
  const { request, userId } = await signInNew(world, account.id, 'Manager');
  for (const name of names) {
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${account.id}, ${userId}, 'adminOf', ${ids.get(name)!})`;
  }
  return request;
}

/** Closes or reopens a week. A reopened week keeps its figures, as a week with live results has them. */
async function setClosed(index: number, isClosed: boolean): Promise<void> {
  await world.pool`
    update weeks set closed_at = ${isClosed ? world.pool`now()` : null}, shown_at = now()
    where  account_id = ${account.id} and week = ${weeks[index]!}`;
}

describe('GET /results/drivers', () => {
  test('returns what goes along with the outcome, over the finest groups with figures', async () => {
    const read = await get(administrator, '?outcome=kpi:engagement');
    expect(read).toMatchObject({
      outcome: { id: 'kpi:engagement', kind: 'kpi', name: 'engagement' },
      state: 'computed',
      groups: teams.length - 1,
      minimumGroups: 20,
      tree: { id: ids.get('company'), name: 'company' },
      leftOut: [{ id: 'index', reason: 'sameQuestions' }],
      handedOut: false,
    });
    expect(read.weeks.map(({ week }) => week)).toEqual(weeks.slice(-2));
    expect(read.drivers.map(({ id, isClear }) => [id, isClear])).toEqual([
      ['leadership', true],
      ['workload', false],
    ]);
    expect(read.drivers[0]!.weight).toBeGreaterThan(0.5);
  });

  test('uses nothing but figures that the data interface shows: those figures alone give the same result', async () => {
    const query = `groupId=${ids.get('company')}&includeSubgroups=true&fromDate=${weeks[0]}&toDate=${addWeeks(weeks[2]!, 1)}`;
    const response = await fetch(`${world.address}/v1/results?${query}`, {
      headers: { authorization: account.token },
    });
    const [{ questions, values }] = (await response.json()) as [ResultsValues];
    const idOf = (key: string) => questions.find(({ question: text }) => text === `${key}?`)!.id;
    const figures = [...ids.values()].map((groupId) => ({
      groupId,
      figures: questions.flatMap(({ id }) => {
        const byWeek = Object.entries(values[0]![id]![groupId] ?? {}).toSorted();
        const latest = byWeek.findLast(([, data]) => data.value !== null)?.[1];
        return latest ? [[id, latest.value!, latest.answers!] as const] : [];
      }),
    }));
    const expected = computeDrivers({
      parents: [...ids].map(([name, id]) => [id, name === 'company' ? null : ids.get('company')!]),
      figures,
      kpis: [
        { id: 'leadership', questionIds: [idOf('support')] },
        { id: 'workload', questionIds: [idOf('pace')] },
        { id: 'index', questionIds: [idOf('proud')] },
      ],
      outcome: [idOf('proud'), idOf('recommend')],
    });
    const read = await get(administrator, '?outcome=kpi:engagement');
    expect(expected.state).toBe('computed');
    expect(read.explained).toBe(expected.explained);
    expect(read.drivers.map(({ id, weight, low, high }) => ({ id, weight, low, high }))).toEqual(
      expected.drivers.map(({ kpiId: id, weight, low, high }) => ({ id, weight, low, high })),
    );
  });

  test('offers KPIs and recommendation questions that have figures, with names in the requested language', async () => {
    const { outcomes, drivers } = await get(administrator, '?language=sv&outcome=kpi:workload');
    expect(outcomes.map(({ kind, name }) => [kind, name])).toEqual([
      ['kpi', 'engagement'],
      ['kpi', 'index'],
      ['kpi', 'Ledarskap'],
      ['kpi', 'workload'],
      ['question', 'recommend?'],
    ]);
    expect(drivers.map(({ name }) => name)).toContain('Ledarskap');
    const recommended = outcomes.find(({ kind }) => kind === 'question');
    // The outcome that the page begins with is the same in every language.
    for (const language of ['en', 'sv'])
      expect((await get(administrator, `?language=${language}`)).outcome?.id).toBe(recommended?.id);
    const read = await get(administrator, `?outcome=${recommended!.id}`);
    expect(read.drivers.map(({ id }) => id).toSorted()).toEqual([
      'engagement',
      'index',
      'leadership',
      'workload',
    ]);
  });

  test('uses only the groups that are open to a manager, and needs 20 of them', async () => {
    const few = await get(await managerOf(teams.slice(0, 19)), '?outcome=kpi:engagement');
    expect(few).toMatchObject({ state: 'few', groups: 19, drivers: [], explained: null });
    const enough = await get(await managerOf(teams.slice(0, 20)), '?outcome=kpi:engagement');
    expect(enough).toMatchObject({ state: 'computed', groups: 20, tree: null });
    const none = await get(await managerOf([]));
    expect(none).toMatchObject({ outcomes: [], outcome: null, groups: 0 });
  });

  test('refuses users, and outcomes without figures that the caller can see', async () => {
    const { request } = await signInNew(world, account.id, 'User');
    expect((await request('GET /results/drivers')).status).toBe(403);
    for (const outcome of ['kpi:absent', 'question:999999', 'colour']) {
      const { status, body } = await administrator(`GET /results/drivers?outcome=${outcome}`);
      expect([status, body.details[0]?.path]).toEqual([400, 'outcome']);
    }
    const stranger = await managerOf([]);
    expect((await stranger('GET /results/drivers?outcome=kpi:engagement')).status).toBe(400);
  });

  test('uses no figures of an open week, and none of another account', async () => {
    const before = await get(administrator, '?outcome=kpi:engagement');
    await setClosed(2, false);
    const open = await get(administrator, '?outcome=kpi:engagement');
    await setClosed(2, true);
    expect(open.weeks.map(({ week }) => week)).toEqual([weeks[1]]);
    // An open week before a closed one, as with live results. Only the open week asked about pace.
    await setClosed(1, false);
    const between = await get(administrator, '?outcome=kpi:engagement');
    await setClosed(1, true);
    expect(between.weeks.map(({ week }) => week)).toEqual([weeks[2]]);
    expect(between.leftOut).toContainEqual({ id: 'workload', name: 'workload', reason: 'fewFigures' });
    expect(await get(administrator, '?outcome=kpi:engagement')).toEqual(before);
    const other = await world.account();
    const { request } = await signInNew(world, other.id, 'Administrator');
    expect(await get(request)).toMatchObject({ outcomes: [], outcome: null });
  });
});

describe('GET /results/drivers/csv', () => {
  test('returns a row for each KPI, in the requested language', async () => {
    const { text } = await administrator('GET /results/drivers/csv?outcome=kpi:engagement&language=sv');
    const [head, first, ...others] = text.replace('\uFEFF', '').trim().split('\r\n');
    expect(head!.split(',').slice(0, 3).join()).toBe('Utfall,Nyckeltal,"Andel av skillnaderna');
    expect(first).toMatch(/^engagement,Ledarskap,[\d.]+,[\d.]+,[\d.]+,Ja,0\.\d+,,23,2,2026-W45,2026-W46,$/);
    expect(others).toHaveLength(2);
    expect(others[1]).toContain('alla dess frågor ingår i utfallet');
  });
});
