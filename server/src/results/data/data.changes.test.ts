// What changes the responses of the data interface: tokens, weeks and time zones, removed groups, and changes during a request;
// and which ETags they have.
import type { ResultsValues, Value } from '@soundings/contract/data.ts';
import { describe, expect, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { apply } from '../../testing/organizations.ts';
import { importLines, kpi, later, question, round } from '../../testing/surveys.ts';
import type { JsonResponse } from '../../testing/world.ts';
import { closeWeekNow } from '../close-week.ts';
import {
  allWeeks,
  answersOf,
  asked,
  clock,
  company,
  type Company,
  get,
  kpiValues,
  openAccount,
  openCompany,
  openWeekly,
  peopleOf,
  range,
  rates,
  results,
  scoped,
  six,
  tree,
  w45,
  withSurvey,
  world,
  useService,
} from './data.fixture.ts';

useService();

describe('401 and 403', () => {
  test.each(['/v1/kpis', ...scoped.map(({ address }) => address)])(
    '%s reveals nothing without a token or without the data scope, not even whether the query is valid',
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

/** Returns the weeks that each endpoint lists: GGGGWW and date in values, YYWW in maps. */
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

  test('at the end of a year with 53 weeks: GGGGWW and the Monday in values, YYWW in maps', async () => {
    const weekly = await openWeekly(turn);
    expect(await weeksOf(weekly, range('2026-12-21', '2027-01-17'))).toEqual({
      values: ['202652 2026-12-21', '202653 2026-12-28', '202701 2027-01-04', '202702 2027-01-11'],
      maps: ['2652', '2653', '2701', '2702'],
    });
  });

  test('at the end of a year before a first week that starts in the old year', async () => {
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

  test('a range can be as long as dates can be written', async () => {
    const weekly = await openWeekly(turn);
    expect((await weeksOf(weekly, range('0001-01-01', '9999-12-31'))).maps).toHaveLength(4);
    expect((await weeksOf(weekly, range('9999-01-01', '9999-12-31'))).maps).toEqual([]);
  });

  test.each(scoped.flatMap(({ address }) => ['0000-01-01', '0000-12-31'].map((day) => [address, day])))(
    '%s: a day of the year 0 (%s) gets 200 or 400, never 500',
    async (address, day) => {
      const { account, group } = company;
      for (const query of [range(day, '2026-11-08'), range(day, day)]) {
        const { status } = await get(account, `${address}?groupId=${group['north']}${query}`);
        expect([200, 400]).toContain(status);
      }
    },
  );

  // 2026-W47 starts on Monday 2026-11-16: in Kiritimati (UTC+14) on Sunday at 10:00 UTC, in Pago Pago (UTC−11) on Monday at 11:00
  // UTC.
  test.each([
    ['Pacific/Kiritimati', '2026-11-15T09:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['Pacific/Kiritimati', '2026-11-15T10:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
    ['UTC', '2026-11-15T23:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['UTC', '2026-11-16T00:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
    ['Pacific/Pago_Pago', '2026-11-16T10:59:59Z', 'W42 to W46', ['2642', '2643', '2644', '2645', '2646']],
    ['Pacific/Pago_Pago', '2026-11-16T11:00:00Z', 'W43 to W47', ['2643', '2644', '2645', '2646', '2647']],
  ])(
    "without a range, /results and /askedquestions cover the account's current week and the four before: %s at %s is %s",
    async (timezone, time, _, weeks) => {
      const all = ['41', '42', '43', '44', '45', '46', '47', '48'].map((week) => `2026-W${week}`);
      const { account, group, question: ids } = await openWeekly(all, timezone);
      clock.now = Date.parse(time);
      try {
        const { values } = await results(account, `groupId=${group['team']}`);
        expect(Object.keys(values[ids['mood']!]![group['team']!]!)).toEqual(weeks);
        const { askedquestions } = await asked(account, `groupId=${group['team']}`);
        expect(Object.keys(askedquestions[group['team']!]!)).toEqual(weeks);
      } finally {
        clock.now = later;
      }
    },
  );

  test('the last five weeks can include weeks of the previous year', async () => {
    const weekly = await openWeekly(['2026-W50', '2026-W51', ...turn]);
    clock.now = Date.parse('2027-01-15T12:00:00Z');
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
      clock.now = later;
    }
  });
});

describe('removed groups', () => {
  /** Returns what all endpoints report about all groups. */
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

  /** The same without one group. */
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

  test('disappear from every response immediately, and the groups above keep exactly the same figures', async () => {
    const created = await openCompany();
    const { account, group } = created;
    const before = await everything(created, group['company']);
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    const after = await everything(created, group['company']);
    expect(JSON.stringify(after)).toBe(JSON.stringify(without(before, group['north']!)));
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    expect(JSON.stringify(after.comments)).toContain('Words of north');
  });

  test('a group removed and sent again is a new group without history', async () => {
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

  test('in an open week: no figures when it closes, and their answers count in the groups above', async () => {
    const created = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('energy', ['mood']),
      round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W47', 'company', 'north', 'mood', six(5)),
    ]);
    const { account, group, question: ids } = created;
    await apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'north') });
    await closeWeekNow(world.pool, world.keys, account.id, '2026-11-16', clock.now);
    const all = await everything(created, group['company']);
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
  const tagOf = ({ headers }: JsonResponse<unknown>) => headers.get('etag') as string;

  test('an unchanged repeat is a 304 without a body, and when a week closes every changed response has a new ETag', async () => {
    const created = await withSurvey(await openAccount(), tree, [
      question('mood', 1),
      kpi('energy', ['mood']),
      round('2026-W47', 'company', ['mood'], peopleOf(['north'])),
      ...answersOf('2026-W47', 'company', 'north', 'mood', six(5)),
    ]);
    const { account } = created;
    const tags = new Map<string, string>();
    for (const address of addresses(created)) {
      const first = await get(account, address);
      tags.set(address, tagOf(first));
      expect(first.headers.get('etag')).toMatch(/^W\/"[^"]+"$/);
      const again = await get<unknown>(account, address, { 'if-none-match': tagOf(first) });
      expect([address, again.status, again.body, tagOf(again)]).toEqual([address, 304, '', tagOf(first)]);
      const among = await get<unknown>(account, address, { 'if-none-match': `"other", ${tagOf(first)}` });
      expect(among.status).toBe(304);
      expect((await get(account, address, { 'if-none-match': '"other"' })).status).toBe(200);
    }
    await closeWeekNow(world.pool, world.keys, account.id, '2026-11-16', clock.now);
    for (const [address, tag] of tags) {
      const { status, headers } = await get(account, address, { 'if-none-match': tag });
      const isAsBefore = address === '/v1/groups';
      expect([address, status, headers.get('etag') === tag]).toEqual([
        address,
        isAsBefore ? 304 : 200,
        isAsBefore,
      ]);
    }
  });

  test('changes when a week leaves the last five weeks, although nothing was written', async () => {
    const { account, group, question: ids } = await openWeekly(['2026-W45', '2026-W46']);
    const address = `/v1/results?groupId=${group['team']}`;
    const weeksIn = ({ body }: JsonResponse<ResultsValues[]>) =>
      Object.keys(body[0]!.values[0]![ids['mood']!]?.[group['team']!] ?? {});
    const tag = tagOf(await get(account, address));
    try {
      clock.now = Date.parse('2026-11-22T23:59:59Z');
      expect((await get(account, address, { 'if-none-match': tag })).status).toBe(304);
      clock.now = Date.parse('2026-11-30T00:00:00Z');
      expect((await get(account, address, { 'if-none-match': tag })).status).toBe(304); // still has both weeks
      clock.now = Date.parse('2026-12-07T00:00:00Z');
      const without = await get<ResultsValues[]>(account, address, { 'if-none-match': tag });
      expect([without.status, weeksIn(without)]).toEqual([200, ['2646']]);
    } finally {
      clock.now = later;
    }
  });

  test("changes when a question's text changes, and when a group is removed or moved", async () => {
    const created = await openCompany();
    const { account } = created;
    const address = `/v1/results?groupId=${created.group['company']}&includeSubgroups=true`;
    let tag = tagOf(await get(account, address));
    const changes = [
      () =>
        importLines(
          world,
          account.id,
          [question('mood', 1, { text: 'HAPPY!', translations: { sv: 'Glad?' } })],
          clock.now,
        ),
      () =>
        apply(account, {
          groups: tree.map((one) => ({ ...one, ...(one.externalId === 'tech' && { parent: 'sales' }) })),
        }),
      () => apply(account, { groups: tree.filter(({ externalId }) => externalId !== 'south') }),
    ];
    for (const change of changes) {
      await change();
      const next = await get(account, address, { 'if-none-match': tag });
      expect(next.status).toBe(200);
      tag = tagOf(next);
      expect((await get(account, address, { 'if-none-match': tag })).status).toBe(304);
    }
  });
});

describe('while the account is being changed', () => {
  /** Waits until a request waits for a lock on a table and none of its other statements is running, or until it has finished. */
  async function untilWaitingFor(table: string, since: Date, responding: Promise<unknown>): Promise<void> {
    const ended = new Set<string>();
    void responding.finally(() => ended.add('answered')).catch(() => {});
    while (ended.size === 0) {
      const [statements] = await world.pool<{ waiting: number; running: number }[]>`
        select count(*) filter (where wait_event_type = 'Lock' and query ~ ${`(from|join) +${table}\\M`})::int as "waiting",
               count(*) filter (where state = 'active' and wait_event_type is distinct from 'Lock')::int       as "running"
        from   pg_stat_activity
        where  datname = current_database() and pid <> pg_backend_pid() and query_start > ${since}`;
      if (statements!.waiting > 0 && statements!.running === 0) return;
    }
  }

  async function databaseTime(): Promise<Date> {
    const [read] = await world.pool<{ time: Date }[]>`select clock_timestamp() as time`;
    return read!.time;
  }

  test('no response has older texts than its ETag, because caches would then keep it forever', async () => {
    const { account, group, question: ids } = await openCompany();
    const address = `/v1/results?groupId=${group['north']}${w45}&questionIds=${ids['mood']}`;
    const early = await inTransaction(world.pool, async (tx) => {
      await tx`lock table accounts in access exclusive mode`;
      await tx`update questions set text = 'Glad?' where account_id = ${account.id} and key = 'mood'`;
      await lockAccount(tx, account.id);
      const since = await databaseTime();
      const responding = get<ResultsValues[]>(account, address);
      await untilWaitingFor('accounts', since, responding);
      return { responding };
    });
    const { headers, body } = await early.responding;
    const now304 = await get(account, address, { 'if-none-match': headers.get('etag') as string });
    const isLast = body[0]!.questions[0]!.question === 'Glad?';
    expect({ isLast, status: now304.status }).toEqual({ isLast, status: isLast ? 304 : 200 });
  });

  test('a new question in a week that closes during a request does not break the response', async () => {
    const { account, group } = await openCompany();
    const address = `/v1/results?groupId=${group['north']}${w45}`;
    const early = await inTransaction(world.pool, async (tx) => {
      await tx`lock table results in access exclusive mode`;
      await tx`
        with created as (
          insert into questions (account_id, key, type, text, language)
          values (${account.id}, 'new', 1, 'New?', 'en')
          returning question_id
        )
        insert into results (account_id, group_id, week, question_id, value, answers)
        select ${account.id}, ${group['north']!}, '2026-11-02', question_id, 0.5, 6 from created`;
      const since = await databaseTime();
      const responding = get(account, address);
      await untilWaitingFor('results', since, responding);
      return { responding };
    });
    expect((await early.responding).status).toBe(200);
  });
});
