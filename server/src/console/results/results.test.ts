// The console's results: every figure and everything that is withheld equals the data interface, nothing is read from
// elsewhere, and users see only groups they have access to.
import type {
  ChosenComparison,
  GroupResults,
  HeatMap,
  QuestionResults,
  ResultComment,
  ResultQuestion,
  ResultsStart,
  Trend,
} from '@soundings/contract/console/results/results.ts';
import type { AnswerData } from '@soundings/contract/answer-data.ts';
import type { KpiValues, ResponseRateValues, ResultsValues, Value } from '@soundings/contract/data.ts';
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import { addWeeks, fourDigits, lastDay, weekName } from '@soundings/contract/weeks.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { type RandomHistory, randomHistory } from '../../testing/attacks/histories.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { readCsv } from '../../testing/csv.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round, skip } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const firstWeek = '2026-10-12';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
});
afterAll(() => world?.close());

/** Signs in a new user. `open`: the groups of a manager, by kind. */
async function signedIn(
  { id: accountId }: TestAccount,
  role: Role,
  open: { kind: MembershipKind; groupId: number }[] = [],
): Promise<SendRequest> {
  const { request, userId } = await signInNew(world, accountId, role);
  for (const { kind, groupId } of open) {
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${accountId}, ${userId}, ${kind}, ${groupId})`;
  }
  return request;
}

async function get<T>(request: SendRequest, path: string): Promise<T> {
  const { status, body, text } = await request<T>(`GET ${path}`);
  if (status !== 200) throw new Error(`${status} of ${path}: ${text}`);
  return body;
}

const valueOf = (type: QuestionType, of: (low: number, high: number) => number): unknown => {
  if (type === 1) return of(1, 5);
  if (type === 2) return of(1, 10);
  if (type === 3) return of(0, 10);
  if (type === 4) return of(0, 1) === 1;
  if (type === 8) return of(1, 4);
  if (type === 5) return ['b', 'a', '2'][of(0, 2)];
  return type === 6 ? ['b', 'a', '2'].slice(of(0, 2)) : undefined;
};

/** Creates an account and imports a random history of questions and answers. */
async function accountWith(history: RandomHistory, seed: number): Promise<TestAccount> {
  const account = await world.account();
  const { figures, distribution, comments } = history.thresholds;
  await world.pool`
    update accounts set threshold = ${figures}, distribution_threshold = ${distribution}, comment_threshold = ${comments}
    where  account_id = ${account.id}`;
  const groups = [...history.parents].map(([id, above]) =>
    unit(`g${id}`, { parent: above === null ? null : `g${above}` }),
  );
  await apply(account, { groups });
  await importLines(world, account.id, linesOf(history, seed), now);
  return account;
}

function linesOf({ questions, kpis, weeks }: RandomHistory, seed: number): object[] {
  const random = randomFrom(seed, 'answers');
  const between = (low: number, high: number) => low + Math.floor(random.next() * (high - low + 1));
  const types = new Map(questions.map(({ id, type }) => [id, type]));
  const options = [
    { id: 'b', text: 'Bus' },
    { id: 'a', text: '=Air' },
    { id: '2', text: 'On foot', translations: { sv: 'Till fots' } },
  ];
  const lines: object[] = [
    ...questions.map(({ id, type }) => question(`q${id}`, type, type === 5 || type === 6 ? { options } : {})),
    ...kpis.map(({ id, questionIds }) =>
      kpi(
        id,
        questionIds.map((one) => `q${one}`),
      ),
    ),
  ];
  for (const [i, { rounds, answers }] of weeks.entries()) {
    const week = weekName(addWeeks(firstWeek, i));
    for (const { groupId, questionIds, asked } of rounds) {
      const people = asked.map((one) => [one.person, one.memberOf.map((id) => `g${id}`)]);
      lines.push(
        round(
          week,
          `g${groupId}`,
          questionIds.map((id) => `q${id}`),
          Object.fromEntries(people),
        ),
      );
    }
    for (const [id, given] of answers) {
      for (const { respondent, comment, skipped } of given) {
        const own = rounds.find(
          ({ questionIds, asked }) =>
            questionIds.includes(id) && asked.some(({ person }) => person === respondent),
        );
        const where = [week, `g${own?.groupId}`, respondent, `q${id}`] as const;
        const type = types.get(id) as QuestionType;
        const text = comment === null ? undefined : `${comment} of ${week}`;
        if (skipped || (type === 7 && text === undefined)) lines.push(skip(...where));
        else lines.push(answerLine(...where, valueOf(type, between), text));
      }
    }
  }
  return lines;
}

type Comments = { total: number; rows: ResultComment[] };
type ByGroup = Record<string, Record<string, Record<string, AnswerData>>>;

/** Reads everything that the data interface returns for an account, in all its weeks. */
async function readInterface(account: TestAccount) {
  const range = `fromDate=${firstWeek}&toDate=${lastDay('2026-11-16')}`;
  const read = async <T>(path: string) =>
    (await world.request<T>('GET', path, { headers: { authorization: account.token } })).body;
  const groups = await account.groups();
  const all = { groups, kpi: new Map<number, Value[]>(), rates: new Map<number, Value[]>() };
  const [values, comments]: [ByGroup, Record<string, Record<string, Record<string, string[]>>>] = [{}, {}];
  for (const { id } of groups) {
    const scope = `groupId=${id}&${range}`;
    all.kpi.set(id, (await read<KpiValues>(`/v1/kpis/both/values?${scope}`)).values);
    all.rates.set(id, (await read<ResponseRateValues[]>(`/v1/responserates/values?${scope}`))[0]!.values);
    const [results] = await read<[ResultsValues]>(`/v1/results?${scope}&includeComments=true`);
    for (const [one, byGroup] of Object.entries(results.values[0]!))
      values[one] = { ...values[one], ...byGroup };
    for (const [one, byGroup] of Object.entries(results.comments![0]!))
      comments[one] = { ...comments[one], ...byGroup };
  }
  return { ...all, values, comments };
}

const weekValues = (values: Value[] | undefined) =>
  (values ?? []).map(({ date, value }) => ({ week: date, value, handedOut: false }));

/** Returns the figures of a question in the format of the data interface. */
const asInterface = ({ value, answers, distribution, enps }: QuestionResults['figures'][number]) => ({
  value,
  answers,
  ...(distribution && {
    distribution: Object.fromEntries(distribution.map(({ key, count }) => [key, count])),
  }),
  ...(enps !== null && { enps }),
});
const withoutOptions = ({ value, answers, distribution, enps }: AnswerData) => ({
  value,
  answers,
  ...(distribution && { distribution }),
  ...(enps !== undefined && { enps }),
});

describe('agreement with the data interface', () => {
  test('in every group, week and question of random histories, including withheld ones', async () => {
    const met = { shown: 0, withheld: 0 };
    for (const seed of [24, 37]) {
      const history = randomHistory(seed, { people: [30, 60], groups: 7, weeks: 3 });
      const account = await accountWith(history, seed);
      const request = await signedIn(account, 'Administrator');
      const expected = await readInterface(account);
      const start = await get<ResultsStart>(request, '/results');
      expect(start.groups).toBe(expected.groups.length);
      for (const { id } of expected.groups) await expectGroup(request, id, expected, met);
      await expectHeatMaps(request, start, expected);
    }
    expect([met.shown > 20, met.withheld > 3, met]).toEqual([true, true, met]);
  });

  test('figures come only from results/: no statement of the console reads a table of figures or answers', () => {
    const folder = new URL('.', import.meta.url);
    const figures = /\b(from|join)\s+(results|response_rates|kpi_values|comments|comment_groups)\b/;
    const answers = /\b(from|join)\s+(answers|assignments|participants)\b/;
    // The exceptions. The first file counts how many people have answered in the open week of the whole account. The second checks
    // whether a group that is about to be deleted has results.
    const counts = ['asking.sql.ts', 'runs.sql.ts'];
    const names = readdirSync(folder).filter((name) => name.endsWith('.sql.ts') && !counts.includes(name));
    expect(names).toContain('results.sql.ts');
    for (const name of names) {
      const text = readFileSync(new URL(name, folder), 'utf8').replace(/\/\/.*/g, '');
      expect([name, figures.exec(text)?.[0], answers.exec(text)?.[0]]).toEqual([name, undefined, undefined]);
    }
  });
});

type InterfaceResults = Awaited<ReturnType<typeof readInterface>>;

/** Expects the overview of a group, its response rates as a trend, its questions and its comments to agree. */
async function expectGroup(
  request: SendRequest,
  id: number,
  expected: InterfaceResults,
  met: { shown: number; withheld: number },
): Promise<void> {
  const overview = await get<GroupResults>(request, `/results/groups/${id}?weeks=13`);
  const known = overview.kpis.find((one) => one.id === 'both');
  const values = weekValues(expected.kpi.get(id));
  // A KPI without any published value is left out, as it is in the data interface.
  expect(known?.values ?? values.filter(({ value }) => value === null)).toEqual(values);
  const rates = weekValues(expected.rates.get(id));
  expect(overview.rates.map(({ week, value }) => [week, value === null])).toEqual(
    rates.map(({ week, value }) => [week, value === null]),
  );
  for (const [i, { week, value, asked, answered }] of overview.rates.entries()) {
    expect([week, value]).toEqual([week, value === null ? null : (answered as number) / (asked as number)]);
    // Someone who answers only some of the questions counts fully here, and partly in the data interface.
    expect(value ?? 0).toBeGreaterThanOrEqual(rates[i]?.value ?? 0);
  }
  const trend = await get<Trend>(request, `/results/trends?groupIds=${id}&weeks=13`);
  expect(trend.series[0]?.values).toEqual(overview.rates);
  const all: string[] = [];
  const asked = await get<ResultQuestion[]>(request, `/results/groups/${id}/questions`);
  for (const one of asked) {
    const page = await get<QuestionResults>(request, `/results/groups/${id}/questions/${one.id}?weeks=13`);
    const own = expected.values[one.id]?.[id] ?? {};
    expect(
      Object.fromEntries(page.figures.map((figures) => [fourDigits(figures.week), asInterface(figures)])),
    ).toEqual(Object.fromEntries(Object.entries(own).map(([week, data]) => [week, withoutOptions(data)])));
    for (const { answers } of page.figures) met[answers === null ? 'withheld' : 'shown']++;
    const texts = expected.comments[one.id]?.[id] ?? {};
    const ofWeek = page.chosen && texts[fourDigits(page.chosen.week)];
    expect(page.comments.map(({ text }) => text)).toEqual(ofWeek ?? []);
    all.push(...Object.values(texts).flat());
    const last = overview.last?.questions.find((each) => each.id === one.id);
    const ofLast = last && withoutOptions(own[fourDigits(last.week)] as AnswerData);
    expect(last && asInterface(last)).toEqual(ofLast);
  }
  expect(asked.map((one) => one.id).toSorted()).toEqual(
    Object.keys(expected.values)
      .filter((one) => expected.values[one]?.[id])
      .map(Number),
  );
  const comments = await get<Comments>(request, `/results/comments?groupId=${id}&limit=500`);
  expect(comments.rows.map(({ text }) => text).toSorted()).toEqual(all.toSorted());
  expect([comments.total, overview.comments.total]).toEqual([all.length, all.length]);
}

/**
 * Returns the mean of each question's latest figure that is shown for a group, in `week` or earlier; null: all of these figures are
 * withheld; 'none': none of the questions was asked.
 */
function rollingIn(
  expected: InterfaceResults,
  questionIds: number[],
  group: number,
  week: string,
): number | null | 'none' {
  const asked = questionIds
    .map((id) => Object.entries(expected.values[id]?.[group] ?? {}))
    .map((weeks) => weeks.filter(([one]) => one <= fourDigits(week)))
    .filter((weeks) => weeks.length > 0);
  const latest = asked.flatMap((weeks) => weeks.findLast(([, { value }]) => value !== null)?.[1].value ?? []);
  if (latest.length > 0) return latest.reduce((sum, value) => sum + value, 0) / latest.length;
  return asked.length > 0 ? null : 'none';
}

/** Expects each week's heat map to agree. */
async function expectHeatMaps(
  request: SendRequest,
  start: ResultsStart,
  expected: InterfaceResults,
): Promise<void> {
  const questions = Object.keys(expected.values)
    .map(Number)
    .toSorted((a, b) => a - b);
  for (const { week } of start.weeks) {
    const map = await get<HeatMap>(request, `/results/heat-map?week=${week}&compare=none`);
    for (const row of map.rows) {
      const rate = expected.rates.get(row.id)?.find(({ date }) => date === week);
      expect([week, row.id, row.rate === undefined, row.rate === null]).toEqual([
        week,
        row.id,
        rate === undefined,
        rate?.value === null,
      ]);
      expect(row.asked === undefined ? undefined : (row.answered ?? 0) / row.asked).toBe(
        row.rate ?? undefined,
      );
      const column = map.kpis.findIndex(({ id }) => id === 'both');
      if (column < 0) continue;
      const own = questions.slice(0, 2);
      expect([week, row.id, row.values[column]]).toEqual([
        week,
        row.id,
        rollingIn(expected, own, row.id, week),
      ]);
    }
  }
}

describe('access to results', () => {
  const people = (group: string) =>
    Object.fromEntries([1, 2, 3, 4, 5, 6].map((i) => [`${group}${i}`, [group]]));
  let account: TestAccount;
  let ids: Record<string, number>;
  beforeAll(async () => {
    account = await world.account();
    await world.pool`update accounts set threshold = 3 where account_id = ${account.id}`;
    await apply(account, {
      groups: [
        unit('company'),
        unit('sales', { parent: 'company' }),
        unit('north', { parent: 'sales' }),
        unit('south', { parent: 'sales' }),
        unit('tech', { parent: 'company' }),
      ],
    });
    const all = { ...people('north'), ...people('south'), ...people('tech') };
    await importLines(
      world,
      account.id,
      [
        question('mood', 1, { text: 'Happy?', translations: { sv: 'Glad?' } }),
        question('never', 1),
        kpi('energy', ['mood'], { name: '=Energy' }),
        round('2026-W45', 'company', ['mood'], all),
        ...Object.keys(all).map((name, i) =>
          answerLine(
            '2026-W45',
            'company',
            name,
            'mood',
            1 + (i % 5),
            i % 2 === 0 ? `=Words of ${name}` : `${name} 100%`,
          ),
        ),
        round('2026-W47', 'company', ['mood'], all),
      ],
      now,
    );
    ids = Object.fromEntries(
      (await account.groups()).map(({ externalId, id }) => [externalId as string, id]),
    );
  });

  const seen = async (request: SendRequest) => {
    const { rows } = await get<HeatMap>(request, '/results/heat-map');
    const names = Object.keys(ids).filter((name) => rows.some(({ id }) => id === ids[name]));
    const pages: string[] = [];
    const questionId = (
      await get<ResultQuestion[]>(request, `/results/groups/${ids[names[0] as string]}/questions`)
    )[0]?.id;
    for (const [name, id] of Object.entries(ids)) {
      const statuses = new Set<number>();
      for (const path of [
        `/results/groups/${id}`,
        `/results/groups/${id}/csv`,
        `/results/groups/${id}/questions`,
        `/results/groups/${id}/questions/${questionId}`,
        `/results/groups/${id}/questions/${questionId}/csv`,
        `/results/trends?groupIds=${id}`,
        `/results/trends/csv?groupIds=${id}`,
        `/results/comments?groupId=${id}`,
        `/results/comments/words?groupId=${id}`,
        `/results/comments/csv?groupId=${id}`,
      ])
        statuses.add((await request(`GET ${path}`)).status);
      if (statuses.size !== 1) throw new Error(`${name}: ${[...statuses].join()}`);
      if (statuses.has(200)) pages.push(name);
      else expect([...statuses]).toEqual([404]);
    }
    expect(pages.toSorted()).toEqual(names.toSorted());
    return names.toSorted();
  };

  test('an administrator sees all groups; a manager sees groups they own, administer (with subgroups) or may read', async () => {
    const manager = (kind: 'adminOf' | 'inheritedAdminOf' | 'interestOf', name: string) =>
      signedIn(account, 'Manager', [{ kind, groupId: ids[name] as number }]);
    expect(await seen(await signedIn(account, 'Administrator'))).toEqual(Object.keys(ids).toSorted());
    expect(await seen(await manager('adminOf', 'sales'))).toEqual(['sales']);
    expect(await seen(await manager('inheritedAdminOf', 'sales'))).toEqual(['north', 'sales', 'south']);
    expect(await seen(await manager('interestOf', 'tech'))).toEqual(['tech']);
    expect(
      await manager('adminOf', 'tech').then((request) => get<ResultsStart>(request, '/results')),
    ).toMatchObject({
      group: { id: ids['tech'] },
      groups: 1,
    });
  });

  test('the company and parent groups are left out for a manager without access to them', async () => {
    const request = await signedIn(account, 'Manager', [
      { kind: 'inheritedAdminOf', groupId: ids['sales'] as number },
    ]);
    const overview = await get<GroupResults>(request, `/results/groups/${ids['north']}`);
    expect(overview).toMatchObject({ company: null, path: [{ name: 'sales' }] });
    expect(await get<HeatMap>(request, '/results/heat-map')).toMatchObject({ companyId: null });
    const admin = await signedIn(account, 'Administrator');
    expect(await get<GroupResults>(admin, `/results/groups/${ids['north']}`)).toMatchObject({
      company: { name: 'company' },
      comparison: { kind: 'company', group: { name: 'company' } },
      kpis: [{ difference: { value: expect.any(Number) as number } }],
    });
  });

  test('a manager can compare only as the account allows, and no other response contains the figures of closed groups', async () => {
    const request = await signedIn(account, 'Manager', [
      { kind: 'adminOf', groupId: ids['north'] as number },
    ]);
    const allow = (names: string[]) =>
      world.pool`update accounts set manager_comparisons = ${names} where account_id = ${account.id}`;
    const [asked] = await get<ResultQuestion[]>(request, `/results/groups/${ids['north']}/questions`);
    const read = async (compare: string) => {
      const query = `compare=${compare}`;
      const overview = await get<GroupResults>(request, `/results/groups/${ids['north']}?${query}`);
      const page = await get<QuestionResults>(
        request,
        `/results/groups/${ids['north']}/questions/${asked?.id}?${query}`,
      );
      const map = await get<HeatMap>(request, `/results/heat-map?${query}`);
      return {
        comparisons: [overview, page, map].map(({ comparison }) => comparison),
        differences: [
          overview.kpis[0]?.difference,
          overview.last?.questions[0]?.difference,
          page.figures[0]?.difference,
          map.rows[0]?.differences[0],
        ],
        estimates: [overview.kpis[0]?.bestEstimate, page.figures[0]?.bestEstimate],
      };
    };
    await allow([]);
    for (const compare of ['company', 'parent', 'halfYear', 'none']) {
      expect([compare, await read(compare)]).toEqual([
        compare,
        {
          comparisons: [1, 2, 3].map(() => ({ kind: 'none', group: null, available: ['none'] })),
          differences: Array(4).fill(null),
          estimates: [null, null],
        },
      ]);
    }
    await allow(['parent']);
    const { comparisons, differences } = await read('company');
    expect(comparisons.map(({ kind, available }) => [kind, available])).toEqual(
      [1, 2, 3].map(() => ['parent', ['parent', 'none']]),
    );
    expect(comparisons[0]?.group).toEqual({ id: ids['sales'], name: 'sales' });
    expect(differences.every((one) => one !== null)).toBe(true);
    await allow(['company', 'parent', 'halfYear']);
    expect((await read('none')).differences).toEqual(Array(4).fill(null));
  });

  test('with several trees, the comparison of the heat map has a name only if all its rows share it', async () => {
    const other = await world.account();
    await apply(other, {
      groups: [
        unit('large'),
        unit('store', { parent: 'large' }),
        unit('small'),
        unit('dock', { parent: 'small' }),
        unit('gate', { parent: 'small' }),
      ],
    });
    await importLines(
      world,
      other.id,
      [
        question('mood', 1),
        kpi('energy', ['mood'], { name: 'Energy' }),
        ...['large', 'small'].map((top) =>
          round('2026-W45', top, ['mood'], people(top === 'large' ? 'store' : 'dock')),
        ),
        ...['store', 'dock'].flatMap((team) =>
          Object.keys(people(team)).map((name) =>
            answerLine('2026-W45', team === 'store' ? 'large' : 'small', name, 'mood', 3),
          ),
        ),
      ],
      now,
    );
    const groups = await other.groups();
    const idOf = (name: string) => groups.find(({ externalId }) => externalId === name)?.id as number;
    const about = async (request: SendRequest) => [
      (await get<HeatMap>(request, '/results/heat-map?compare=company')).comparison.group?.name ?? null,
      (await request('GET /results/heat-map/csv?compare=company&by=difference')).text.split('\r\n')[0],
    ];
    const administrator = await signedIn(other, 'Administrator');
    expect(await about(administrator)).toEqual([
      null,
      expect.stringContaining('"Energy, difference from the company"'),
    ]);
    const manager = await signedIn(
      other,
      'Manager',
      ['dock', 'gate'].map((name) => ({ kind: 'adminOf', groupId: idOf(name) })),
    );
    expect(await about(manager)).toEqual([
      'small',
      expect.stringContaining('"Energy, difference from small"'),
    ]);
  });

  test('half a year ago is offered only where there are figures from then', async () => {
    const other = await world.account();
    await apply(other, {
      groups: [unit('all'), unit('store', { parent: 'all' }), unit('dock', { parent: 'all' })],
    });
    const everyone = { ...people('store'), ...people('dock') };
    const asks = (week: string, to: string, asked: Record<string, string[]>) => [
      round(week, to, ['mood'], asked),
      ...Object.keys(asked).map((name, i) => answerLine(week, to, name, 'mood', 1 + (i % 5))),
    ];
    await importLines(
      world,
      other.id,
      [
        question('mood', 1),
        kpi('energy', ['mood'], { name: 'Energy' }),
        ...asks('2026-W19', 'store', people('store')),
        ...asks('2026-W45', 'all', everyone),
      ],
      now,
    );
    const request = await signedIn(other, 'Administrator');
    const idIn = new Map((await other.groups()).map(({ externalId, id }) => [externalId, id]));
    const questionId = (
      await get<ResultQuestion[]>(request, `/results/groups/${idIn.get('dock')}/questions`)
    )[0]?.id;
    const offers = async (path: string) =>
      (await get<{ comparison: ChosenComparison }>(request, path)).comparison.available.includes('halfYear');
    for (const [name, isOffered] of [
      ['store', true],
      ['dock', false],
      ['all', true],
    ] as const) {
      const path = `/results/groups/${idIn.get(name)}`;
      const pages = [path, `${path}/questions/${questionId}`, `${path}/report`];
      expect([name, await Promise.all(pages.map(offers))]).toEqual([name, pages.map(() => isOffered)]);
    }
    const map = (week: string) => `/results/heat-map?week=${week}`;
    expect([await offers(map('2026-11-02')), await offers(map('2026-05-04'))]).toEqual([true, false]);
    const { comparison, kpis } = await get<GroupResults>(
      request,
      `/results/groups/${idIn.get('store')}?compare=halfYear`,
    );
    expect([comparison.kind, kpis[0]?.difference]).toEqual(['halfYear', expect.objectContaining({ by: 0 })]);
  });

  test('the next accessible ancestor is shown as the parent if the groups between are not accessible', async () => {
    const request = await signedIn(account, 'Manager', [
      { kind: 'adminOf', groupId: ids['company'] as number },
      { kind: 'adminOf', groupId: ids['north'] as number },
    ]);
    const overview = await get<GroupResults>(request, `/results/groups/${ids['north']}`);
    expect(overview.path).toEqual([{ id: ids['company'], name: 'company' }]);
    const { rows } = await get<HeatMap>(request, '/results/heat-map');
    expect(rows.map(({ name, parentId, level }) => [name, parentId, level])).toEqual([
      ['company', null, 1],
      ['north', ids['company'], 2],
    ]);
  });

  test('a manager without groups sees no groups; a user and another account have no access', async () => {
    const withoutGroup = await signedIn(account, 'Manager');
    expect(await get<ResultsStart>(withoutGroup, '/results')).toMatchObject({ group: null, groups: 0 });
    const { status, body } = await (await signedIn(account, 'User'))('GET /results');
    expect([status, body.details[0]?.type]).toEqual([403, 'missing role']);
    const stranger = await signedIn(await world.account(), 'Administrator');
    expect((await stranger(`GET /results/groups/${ids['north']}`)).body.details[0]?.type).toBe(
      'group not found',
    );
    expect((await stranger(`GET /results/trends?groupIds=${ids['north']}`)).status).toBe(404);
    expect(await get<HeatMap>(stranger, '/results/heat-map')).toEqual({
      week: null,
      firstWeek: null,
      isWhole: true,
      count: 0,
      levels: [],
      kpis: [],
      rows: [],
      comparison: { kind: 'none', group: null, available: ['none'] },
      companyId: null,
    });
  });

  test('the open week has no figures and is marked as running', async () => {
    const request = await signedIn(account, 'Administrator');
    const start = await get<ResultsStart>(request, '/results');
    expect(start.weeks).toMatchObject([{ week: '2026-11-02', year: 2026, number: 45, state: 'final' }]);
    expect(start.running).toMatchObject({ week: '2026-11-16', state: 'open' });
    expect((await request('GET /results/heat-map?week=2026-11-16')).body.details[0]?.path).toBe('week');
  });

  test('comments can be searched by parts of their text in any letter case, and paged', async () => {
    const request = await signedIn(account, 'Administrator');
    const comments = (query: string) =>
      get<Comments>(request, `/results/comments?groupId=${ids['company']}&${query}`);
    const all = await comments('');
    expect([all.total, all.rows.length]).toEqual([18, 18]);
    expect((await comments('search=WORDS%20of%20north')).total).toBe(3);
    expect((await comments('search=100%25')).total).toBe(9);
    const windows = [await comments('limit=10'), await comments('limit=10&offset=10')];
    expect(windows.flatMap(({ rows }) => rows)).toEqual(all.rows);
    expect((await comments('search=xyz')).rows).toEqual([]);
    expect((await comments('week=2026-11-02&language=sv')).rows[0]).toMatchObject({
      question: 'Glad?',
      number: 45,
    });
  });

  test('KPI names are in the reader’s language; the data interface has one name, and the feed the name in its language', async () => {
    const request = await signedIn(account, 'Administrator');
    const id = ids['company'];
    const [{ kpiId, name } = { kpiId: '', name: '' }] = await world.pool<{ kpiId: string; name: string }[]>`
      update kpis set translations = ${world.pool.json({ sv: 'Kraft' })} where account_id = ${account.id}
      returning kpi_id as "kpiId", name as "name"`;
    const namesIn = async (language: string) => {
      const query = `language=${language}`;
      const csv = await request(`GET /results/groups/${id}/csv?${query}`);
      return [
        (await get<ResultsStart>(request, `/results?${query}`)).kpis.map((one) => one.name),
        (await get<GroupResults>(request, `/results/groups/${id}?${query}`)).kpis.map((one) => one.name),
        (await get<HeatMap>(request, `/results/heat-map?${query}`)).kpis.map((one) => one.name),
        [(await get<Trend>(request, `/results/trends?groupIds=${id}&kpiId=${kpiId}&${query}`)).kpi?.name],
        [csv.text.split('\r\n')[0]?.split(',')[6]?.replace(/^'/, '')],
      ];
    };
    expect(new Set((await namesIn('sv')).flat())).toEqual(new Set(['Kraft']));
    expect(new Set((await namesIn('en')).flat())).toEqual(new Set([name]));
    const headers = { authorization: account.token };
    const { body } = await world.request<{ name: string }[]>('GET', '/v1/kpis', { headers });
    expect(body).toEqual([{ id: kpiId, name }]);
    const feed = async (query: string) => {
      const expected = await fetch(`${world.address}/v1/feed?metric=kpi&format=ndjson&${query}`, { headers });
      const [first = '{}'] = (await expected.text()).split('\n');
      return (JSON.parse(first) as { metricName: string }).metricName;
    };
    expect([await feed('language=sv'), await feed('language=de'), await feed('')]).toEqual([
      'Kraft',
      name,
      name,
    ]);
    await world.pool`update kpis set translations = '{}' where account_id = ${account.id}`;
  });

  test('CSV: scores from 0 to 100, a text for withheld values, and escaped formulas', async () => {
    const request = await signedIn(account, 'Administrator');
    const comments = (await request(`GET /results/comments/csv?groupId=${ids['company']}`)).text;
    expect(comments.split('\r\n')[0]).toBe(
      '\uFEFFWeek,Monday,Group,Question,Comment,Comments on the question that week,' +
        'Answers to the question that week,Based partly on handed-out links',
    );
    expect(comments).toContain("2026-W45,2026-11-02,company,Happy?,'=Words of north1,18,18,\r\n");
    const map = (await request('GET /results/heat-map/csv?language=sv')).text.split('\r\n');
    expect(map[0]).toBe(
      '\uFEFFGrupp,Överordnade grupper,Medarbetare,"Svarsfrekvens, %",Svarade,Tillfrågade,\'=Energy,"\'=Energy, tydlig förändring",Bygger delvis på utdelade länkar',
    );
    expect(map.find((line) => line.startsWith('north'))).toMatch(
      /^north,company \/ sales,0,100,6,6,\d+(\.\d)?,,$/,
    );
  });

  test('CSV: dates that Soundings writes are not escaped', async () => {
    const request = await signedIn(account, 'Administrator');
    const id = ids['company'];
    const [asked] = await get<ResultQuestion[]>(request, `/results/groups/${id}/questions`);
    for (const path of [
      `/results/groups/${id}/csv`,
      `/results/trends/csv?groupIds=${id}`,
      `/results/groups/${id}/questions/${asked?.id}/csv`,
    ]) {
      const [, row] = (await request(`GET ${path}`)).text.split('\r\n');
      expect([path, row]).toEqual([path, expect.stringMatching(/^\d{4}-W\d\d,\d{4}-\d\d-\d\d,/)]);
    }
  });

  test('CSV of the response rate: how many people answered, and how many were asked', async () => {
    const request = await signedIn(account, 'Administrator');
    const { text } = await request(
      `GET /results/trends/csv?groupIds=${ids['north']},${ids['company']}&weeks=13`,
    );
    const lines = text.split('\r\n');
    expect(lines[0]).toBe(
      '\uFEFFWeek,Monday,north,"north, Answered","north, Asked",company,"company, Answered","company, Asked",Based partly on handed-out links',
    );
    expect(lines.find((line) => line.startsWith('2026-W45'))).toBe('2026-W45,2026-11-02,100,6,6,100,18,18,');
  });

  test('CSV of a group: the last rolling value has its difference from the comparison, and a mark if one of the two figures has one', async () => {
    const request = await signedIn(account, 'Administrator');
    const path = `/results/groups/${ids['north']}`;
    const rowsOf = async (compare: string) =>
      readCsv((await request(`GET ${path}/csv?compare=${compare}`)).text.replace('\uFEFF', ''));
    const { kpis } = await get<GroupResults>(request, `${path}?compare=company`);
    const by = Math.round((kpis[0]?.difference?.by as number) * 1000) / 10;
    expect(by).not.toBe(0);
    const names = ["'=Energy, difference from company", "'=Energy, difference from company, clear"];
    const [head, ...rows] = await rowsOf('company');
    expect(head?.slice(-3)).toEqual([...names, 'Based partly on handed-out links']);
    expect(rows.map((row) => row.slice(-3))).toEqual([[String(by), 'no clear change', '']]);
    expect((await rowsOf('none'))[0]).toEqual(head?.filter((one) => !names.includes(one)));
    const mark = (handedOut: boolean) => world.pool`
      update results set handed_out = ${handedOut}
      where  account_id = ${account.id} and group_id = ${ids['company'] as number}`;
    await mark(true);
    expect((await rowsOf('company'))[1]?.at(-1)).toBe(names[0]);
    await mark(false);
  });

  test('CSV of the heat map: the filtered rows in their order, as values or as differences from the company', async () => {
    const request = await signedIn(account, 'Administrator');
    const fileOf = async (query: string) =>
      (await request(`GET /results/heat-map/csv?${query}`)).text.trim().split('\r\n');
    const namesOf = async (query: string) =>
      (await fileOf(query)).slice(1).map((line) => line.slice(0, line.indexOf(',')));
    const { rows, companyId } = await get<HeatMap>(request, '/results/heat-map');
    const ofSales = rows.filter(({ parentId }) => parentId === ids['sales']).map(({ name }) => name);
    expect(ofSales.length).toBeGreaterThan(1);
    expect(await namesOf(`subtreeOf=${ids['sales']}`)).toEqual(['company', 'sales', ...ofSales]);
    expect(await namesOf(`subtreeOf=${ids['sales']}&level=3&sort=-name`)).toEqual([
      'company',
      ...ofSales.toSorted().toReversed(),
    ]);
    const [head, company, ...others] = await fileOf('by=difference');
    expect([head, company]).toEqual([
      expect.stringMatching(/, difference from company","'=Energy, clear",Based partly on handed-out links$/),
      expect.stringMatching(/,18,18,,,$/),
    ]);
    const own = rows.find(({ id }) => id === companyId)?.values[0] as number;
    for (const { id, name, values } of rows) {
      if (id === companyId || typeof values[0] !== 'number') continue;
      const by = Math.round((values[0] - own) * 1000) / 10;
      expect(others.find((line) => line.startsWith(`${name},`))).toMatch(new RegExp(`,${by},No,$`));
    }
  });

  test('figures that are based on handed-out links are marked on every page and in every file (P14)', async () => {
    const request = await signedIn(account, 'Administrator');
    const [company, north] = [ids['company'], ids['north']];
    const [asked] = await get<ResultQuestion[]>(request, `/results/groups/${north}/questions`);
    const figures = ['results', 'kpi_values', 'response_rates', 'comment_groups'];
    const mark = async (handedOut: boolean, groupId = north) => {
      for (const table of figures)
        await world.pool`
          update ${world.pool(table)} set handed_out = ${handedOut}
          where  account_id = ${account.id} and group_id = ${groupId as number}`;
    };
    const read = async () => {
      const overview = await get<GroupResults>(request, `/results/groups/${north}`);
      const { rows } = await get<HeatMap>(request, '/results/heat-map');
      const page = await get<QuestionResults>(request, `/results/groups/${north}/questions/${asked?.id}`);
      const trend = (query: string) => get<Trend>(request, `/results/trends?groupIds=${north}${query}`);
      const files = [
        `/results/groups/${north}/csv`,
        '/results/heat-map/csv',
        `/results/trends/csv?groupIds=${north}`,
        `/results/groups/${north}/questions/${asked?.id}/csv`,
        `/results/comments/csv?groupId=${north}`,
      ].map(async (path) => {
        const { text } = await request(`GET ${path}`);
        // In the file of a question, more columns with the marks of changes and differences follow.
        const place = path.includes('/questions/') ? -3 : -1;
        return text
          .trim()
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(',').at(place) as string)
          .filter(Boolean);
      });
      return {
        pages: [
          overview.kpis[0]?.values.at(-1)?.handedOut,
          overview.rates.at(-1)?.handedOut,
          overview.last?.questions[0]?.handedOut,
          page.figures.at(-1)?.handedOut,
          page.comments.every(({ handedOut }) => handedOut),
          (await trend('')).series[0]?.values.at(-1)?.handedOut,
          (await trend('&kpiId=energy')).series[0]?.values.at(-1)?.handedOut,
        ],
        map: rows.filter(({ handedOut }) => handedOut.length > 0).map((row) => [row.name, row.handedOut]),
        files: await Promise.all(files),
      };
    };
    const { comments, last } = await get<GroupResults>(request, `/results/groups/${north}`);
    // Only four of them are on the overview, which says how many there are.
    expect([comments.newest.length, comments.ofLastWeek]).toEqual([4, 6]);
    expect(comments.newest.every(({ week }) => week === last?.week.week)).toBe(true);
    const none = {
      pages: Array(7).fill(false),
      map: [],
      files: [[], [], [], [], []],
    };
    expect(await read()).toEqual(none);
    await mark(true);
    expect(await read()).toEqual({
      pages: Array(7).fill(true),
      map: [['north', ['rate', 0]]],
      files: [[' difference from company"'], [` %; '=Energy"`], ['north'], ['Yes'], Array(6).fill('Yes')],
    });
    const compared = async () => {
      const { text } = await request('GET /results/heat-map/csv?by=difference');
      return text
        .trim()
        .split('\r\n')
        .slice(1)
        .filter((line) => line.endsWith('from company"'));
    };
    expect(await compared()).toHaveLength(1);
    await mark(false);
    await mark(true, company);
    // A difference from a marked figure of the company is marked as well.
    expect((await compared()).length).toBeGreaterThan(3);
    // The difference of a question is marked too, although the question's own figure is not marked.
    const marksOf = async () => {
      const page = await get<QuestionResults>(request, `/results/groups/${north}/questions/${asked?.id}`);
      const { text } = await request(`GET /results/groups/${north}/questions/${asked?.id}/csv`);
      const newest = page.figures.at(-1);
      const cells = text.trim().split('\r\n').at(-1)?.split(',').slice(-3);
      return [newest?.handedOut, newest?.difference?.handedOut, cells];
    };
    expect(await marksOf()).toEqual([false, true, ['', '', 'Yes']]);
    await mark(false, company);
    expect(await marksOf()).toEqual([false, false, ['', '', '']]);
  });

  test('400 names the invalid parameter; 404 for a group, question or KPI that does not exist', async () => {
    const request = await signedIn(account, 'Administrator');
    const company = ids['company'];
    for (const [path, name] of [
      [`/results/groups/${company}?weeks=14`, 'weeks'],
      [`/results/groups/${company}?colour=red`, 'colour'],
      ['/results/heat-map?week=2026-11-1', 'week'],
      ['/results/heat-map?week=2026-11-04', 'week'],
      ['/results/heat-map/csv?sort=colour', 'sort'],
      ['/results/trends', 'groupIds'],
      ['/results/trends?groupIds=1,2,3,4,5,6,7', 'groupIds'],
      ['/results/comments', 'groupId'],
      [`/results/comments?groupId=${company}&limit=-1`, 'limit'],
      [`/results/comments?groupId=${company}&week=tomorrow`, 'week'],
    ]) {
      const { status, body } = await request(`GET ${path}`);
      expect([path, status, body.details[0]?.path]).toEqual([path, 400, name]);
    }
    for (const [path, type] of [
      ['/results/groups/0', 'group not found'],
      ['/results/groups/x', 'group not found'],
      ['/results/groups/99999999999', 'group not found'],
      [`/results/trends?groupIds=${company}&kpiId=none`, 'kpi not found'],
      [`/results/groups/${company}/questions/x`, 'question not found'],
      [`/results/groups/${company}/questions/9999999999`, 'question not found'],
      [`/results/comments?groupId=${company}&questionId=9999999999`, 'question not found'],
    ]) {
      const { status, body } = await request(`GET ${path}`);
      expect([path, status, body.details[0]?.type]).toEqual([path, 404, type]);
    }
  });
});
