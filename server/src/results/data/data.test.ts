// The data interface in every detail (§2.1, §4.1, decisions E6, E8 and A1 to A17): groups, KPIs and response rates,
// by endpoint, then by status.
import type { Kpi, KpiValues, ResponseRateValues } from '@soundings/contract/data.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { describe, expect, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import { migrations } from '../../db/migrate.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, kpi, question, round, skip } from '../../testing/surveys.ts';
import {
  allWeeks,
  answersOf,
  company,
  get,
  getBody,
  kpiEndpoint,
  kpiValues,
  openAccount,
  openWeekly,
  peopleOf,
  range,
  rates,
  ratesEndpoint,
  refusals,
  row,
  six,
  tree,
  w45,
  withSurvey,
  world,
  useService,
} from './data.fixture.ts';

useService();

test('a push that removes groups reports how many weeks of results each one has, in the dry run and in the run', async () => {
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
    test('each group matches the schema exactly, and unset fields are left out', async () => {
      const { account } = company;
      const groups = await getBody<object[]>(account, '/v1/groups');
      expect(groups).toHaveLength(6);
      for (const group of groups)
        expect(Object.keys(group)).toEqual(['id', 'externalId', 'name', 'subgroups']);
    });

    test('subgroups are exactly the groups that includeSubgroups=true adds', async () => {
      const { account, group } = company;
      const groups = await getBody<{ id: number; subgroups: number[] }[]>(account, '/v1/groups');
      for (const { id, subgroups } of groups) {
        const covered = await rates(account, `groupId=${id}&includeSubgroups=true`);
        const scope = id === group['apart'] ? [] : [id, ...subgroups].toSorted((a, b) => a - b);
        expect(covered.map(({ groupId }) => groupId)).toEqual(scope);
      }
    });
  });

  test('400: any parameter', async () => {
    const { status, body } = await get<Problem>(company.account, '/v1/groups?groupId=1');
    expect([status, body.details[0]?.path]).toEqual([400, 'groupId']);
  });
});

describe('GET /v1/kpis', () => {
  describe('200', () => {
    test('an empty list in an account without values, even with KPIs and an open week', async () => {
      const account = await openAccount();
      expect(await getBody(account, '/v1/kpis')).toEqual([]);
      await withSurvey(account, tree, [
        question('mood', 1),
        kpi('energy', ['mood']),
        round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
        ...answersOf('2026-W47', 'company', 'north', 'mood', six(3)),
      ]);
      expect(await getBody(account, '/v1/kpis')).toEqual([]);
    });

    test('the KPIs that have ever had a value, with imageURL if there is one', async () => {
      expect(await getBody<Kpi[]>(company.account, '/v1/kpis')).toEqual([
        { id: 'advice', name: 'advice' },
        { id: 'energy', name: 'Energy', imageURL: 'https://example.com/energy.png' },
      ]);
    });
  });

  test('400: any parameter', async () => {
    const { status, body } = await get<Problem>(company.account, '/v1/kpis?groupId=1');
    expect([status, body.details[0]?.path]).toEqual([400, 'groupId']);
  });
});

describe('a token with quoted numbers', () => {
  test('gets values and rates as the original service writes them, and no cached response of another token', async () => {
    const { account, group } = company;
    const { token } = await createToken(world.pool, account.id, {
      name: 'old client',
      scopes: ['data'],
      numbers: 'quoted',
    });
    for (const withSubgroups of [false, true]) {
      const query = `groupId=${group['sales']}&includeSubgroups=${withSubgroups}`;
      for (const address of [`/v1/kpis/energy/values?${query}`, `/v1/responserates/values?${query}`]) {
        const plain = await get<KpiValues | ResponseRateValues[]>(account, address);
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
    expect(body).toEqual((await get(account, others)).body);
  });
});

describe('GET /v1/kpis/{kpiId}/values', () => {
  describe('200', () => {
    test('the KPI, and the mean of the values shown for its questions that were asked', async () => {
      const { account, group } = company;
      const { sales, north } = group;
      expect(await getBody(account, `/v1/kpis/energy/values?groupId=${north}${w45}`)).toEqual({
        kpi: { id: 'energy', name: 'Energy', imageURL: 'https://example.com/energy.png' },
        values: [row(north, (12 / 24 + 27 / 54) / 2, '202645', '2026-11-02')],
      });
      expect(await kpiValues(account, 'energy', `groupId=${sales}${w45}`)).toEqual([
        row(sales, (36 / 48 + 81 / 108) / 2, '202645', '2026-11-02'),
      ]);
    });

    test('latest: one row per requested group, of its last published week, with null if withheld', async () => {
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

    test('latest: a round of one small team hides no earlier value or rate of the groups above it', async () => {
      const { account, group } = await withSurvey(await openAccount(), tree, [
        question('mood', 1),
        question('other', 1),
        kpi('energy', ['mood']),
        round('2026-W45', 'company', ['mood'], peopleOf(['north', 'south'])),
        ...answersOf('2026-W45', 'company', 'north', 'mood', six(5)),
        ...answersOf('2026-W45', 'company', 'south', 'mood', six(5)),
        // Asked as a whole, but not for this KPI, so that adds no value either.
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

    test('latest: the last week that asked for this KPI, however long ago', async () => {
      const old = await openWeekly(['2019-W02', '2020-W53']);
      const { team } = old.group;
      const values = await kpiValues(old.account, 'energy', `groupId=${team}`);
      expect(values).toEqual([row(team, 0.5, '202053', '2020-12-28')]);
      const { account, group } = company;
      expect(await kpiValues(account, 'advice', `groupId=${group['south']}`)).toEqual([
        row(group['south'], 0.9, '202645', '2026-11-02'),
      ]);
    });

    test('a range: one row per week in order, null for a withheld week after a shown one, no open week', async () => {
      const { account, group } = company;
      const { south } = group;
      expect(await kpiValues(account, 'energy', `groupId=${south}${allWeeks}`)).toEqual([
        row(south, 1, '202645', '2026-11-02'),
        row(south, null, '202646', '2026-11-09'),
      ]);
    });

    test('no row for a group that was never asked, or for a KPI whose questions were never asked', async () => {
      const { account, group } = company;
      expect(await kpiValues(account, 'energy', `groupId=${group['apart']}`)).toEqual([]);
      expect(await kpiValues(account, 'energy', `groupId=${group['apart']}${allWeeks}`)).toEqual([]);
      expect(await kpiValues(account, 'never', `groupId=${group['company']}&includeSubgroups=true`)).toEqual(
        [],
      );
    });
  });

  refusals(kpiEndpoint);

  test('404: a KPI that is absent, malformed, huge or of another account gets the same message', async () => {
    const { account, group } = company;
    const other = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('secret', ['mood']),
      round('2026-W46', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W46', 'company', 'north', 'mood', six(3)),
    ]);
    expect(await kpiValues(other.account, 'secret', `groupId=${other.group['north']}`)).toHaveLength(1);
    const query = (id: string) => `/v1/kpis/${id}/values?groupId=${group['north']}`;
    const absent = await get<Problem>(account, query('absent'));
    expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'kpi not found' }] } });
    for (const id of ['secret', 'ENERGY', 'energy%20', '1', '-1', '%2F', '%F0%9F%8C%8A', 'x'.repeat(5000)]) {
      const { status, body } = await get<Problem>(account, query(id));
      expect([id, status, { ...body, id: '' }]).toEqual([id, 404, { ...absent.body, id: '' }]);
    }
  });
});

describe('GET /v1/responserates/values', () => {
  describe('200', () => {
    test('0.84 for 10 questions to 5 people of which 42 were answered or skipped', async () => {
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
            i % 4 === 0
              ? skip('2026-W46', 'five', person, key)
              : answerLine('2026-W46', 'five', person, key, 3),
          ),
        ],
      );
      expect(await rates(account, `groupId=${group['five']}`)).toEqual([
        row(group['five'], 0.84, '202646', '2026-11-09'),
      ]);
    });

    test('counts the rounds that asked everyone in the group: those of a group above it, not those of a subgroup', async () => {
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

    test('latest: the last published week, null if too few people were asked, and no row if the group was never asked', async () => {
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

    test('one object even without values', async () => {
      const { account, group } = company;
      expect(await getBody(account, `/v1/responserates/values?groupId=${group['apart']}`)).toEqual([
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
