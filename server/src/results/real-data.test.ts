// Real questionnaires and real answers: the service reports what one plain SQL query over the raw rows returns, for every group,
// and leaves out exactly the right people.
import type { KpiValues, ResponseRateValues, ResultsValues, Value } from '@soundings/contract/data.ts';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyInto } from '../db/db.ts';
import { apply, unit } from '../testing/organizations.ts';
import { sharedData } from '../testing/shared.ts';
import { answerLine, importLines, kpi, question, round } from '../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

const attrition = 'survey/WA_Fn-UseC_-HR-Employee-Attrition.csv';
const civilService = 'survey/csps_questions_i-dot-ai.yaml';
const absent = [attrition, civilService].some((file) => sharedData(file) === undefined);
const skipped = absent ? ' (skipped: the shared data are absent)' : '';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function getJson<T>(account: TestAccount, address: string): Promise<T> {
  const { status, body } = await world.request<T>('GET', address, {
    headers: { authorization: account.token },
  });
  expect(status).toBe(200);
  return body;
}

const week = '2025-W46';
const inWeek = '&fromDate=2025-11-10&toDate=2025-11-16';

// The employees of IBM's sample data: 1,470 people, with departments as groups and job roles as their subgroups.

const items = [
  'JobSatisfaction',
  'EnvironmentSatisfaction',
  'RelationshipSatisfaction',
  'WorkLifeBalance',
  'JobInvolvement',
] as const;
const satisfaction = items.slice(0, 3);

/** `role` includes the department, because some roles exist in several. `hasLeft` is the Attrition column. */
type Employee = { number: string; department: string; role: string; hasLeft: boolean; scores: number[] };

function employees(): Employee[] {
  const [head = '', ...rows] = readFileSync(sharedData(attrition) as string, 'utf8')
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\r?\n/);
  const columns = head.split(',');
  return rows.map((row) => {
    const fields = row.split(',');
    const field = (name: string) => fields[columns.indexOf(name)] as string;
    return {
      number: field('EmployeeNumber'),
      department: field('Department'),
      role: `${field('Department')} / ${field('JobRole')}`,
      hasLeft: field('Attrition') === 'Yes',
      scores: items.map((item) => Number(field(item))),
    };
  });
}

/**
 * Pushes the groups, asks everyone in a week, imports the answers of some, and stores the raw rows in a table of that name,
 * without a score for people who did not answer.
 */
async function survey(
  people: Employee[],
  answers: (one: Employee) => boolean,
  table: string,
): Promise<TestAccount> {
  const account = await world.account();
  const roles = new Map(people.map(({ role, department }) => [role, department]));
  await apply(account, {
    groups: [
      unit('company'),
      ...[...new Set(roles.values())].map((name) => unit(name, { parent: 'company' })),
      ...[...roles].map(([role, department]) => unit(role, { parent: department })),
    ],
  });
  await importLines(world, account.id, [
    ...items.map((item) => question(item, 1)),
    kpi('satisfaction', [...satisfaction]),
    kpi('all', [...items]),
    round(
      week,
      'company',
      [...items],
      Object.fromEntries(people.map(({ number, role }) => [number, [role]])),
    ),
    ...people
      .filter(answers)
      .flatMap(({ number, scores }) =>
        scores.map((score, i) => answerLine(week, 'company', number, items[i] as string, score)),
      ),
  ]);
  await world.pool.unsafe(
    `create table ${table} (person text, department text, role text, item text, score integer)`,
  );
  await world.pool.begin((tx) =>
    copyInto(
      tx`copy ${tx(table)} (person, department, role, item, score) from stdin`,
      people.flatMap((one) =>
        one.scores.map((score, i) => [
          one.number,
          one.department,
          one.role,
          items[i] as string,
          answers(one) ? score : null,
        ]),
      ),
    ),
  );
  return account;
}

type Figure = { group: string; item: string; value: number | null; answers: number; distribution: string };

/** Returns SQL for the rows of each group. `left`: the roles that are left out of a group, as pairs. */
const counted = (table: string, left: [group: string, role: string][]) => `
  select g.name as "group", r.item, r.score
  from   ${table} r
  cross  join lateral (values ('company'), (r.department), (r.role)) as g(name)
  where  (g.name, r.role) not in (values ${[['', ''], ...left].map(([group, role]) => `('${group}', '${role}')`).join()})`;

type Left = Parameters<typeof counted>[1];

/** Returns the figures of every group and item from one plain query. */
async function figuresBySql(table: string, left: Left = []): Promise<Figure[]> {
  const figures = await world.pool.unsafe<Figure[]>(`
    select "group", item,
           (avg(score) - 1)::float8 / 4 as value,
           count(score)::int            as answers,
           format('{"1":%s,"2":%s,"3":%s,"4":%s,"5":%s}',
                  count(*) filter (where score = 1), count(*) filter (where score = 2),
                  count(*) filter (where score = 3), count(*) filter (where score = 4),
                  count(*) filter (where score = 5)) as distribution
    from   (${counted(table, left)}) c
    where  score is not null
    group  by "group", item
    order  by "group", item`);
  return figures.map((one) => ({ ...one, value: rounded(one.value) }));
}

const places = 12;
const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(places)));

/** Returns the figures of the data interface in the form of the query above. */
async function readFigures(account: TestAccount) {
  const groups = await account.groups();
  const top = groups.find(({ externalId }) => externalId === 'company')!.id;
  const names = new Map(groups.map(({ id, externalId }) => [id, externalId as string]));
  const query = `groupId=${top}&includeSubgroups=true${inWeek}`;
  const [results] = await getJson<ResultsValues[]>(account, `/v1/results?${query}`);
  const [rates] = await getJson<ResponseRateValues[]>(account, `/v1/responserates/values?${query}`);
  const byName = (values: Value[]) =>
    Object.fromEntries(values.map(({ groupId, value }) => [names.get(groupId), rounded(value)]));
  const kpis: Record<string, Record<string, number | null>> = {};
  for (const id of ['satisfaction', 'all']) {
    kpis[id] = byName((await getJson<KpiValues>(account, `/v1/kpis/${id}/values?${query}`)).values);
  }
  const figures = results!.questions.flatMap(({ id, question: text }) =>
    Object.entries(results!.values[0]![id]!).map(([groupId, byWeek]) => {
      const { value, answers, distribution } = byWeek['2546']!;
      return {
        group: names.get(Number(groupId)) as string,
        item: text.replace('?', ''),
        value: rounded(value),
        answers,
        distribution: distribution === undefined ? null : JSON.stringify(distribution),
      };
    }),
  );
  return { figures, kpis, rates: byName(rates!.values), groups: names.size };
}

const inOrder = <T extends { group: string; item: string }>(figures: readonly T[]): T[] =>
  figures.toSorted((a, b) => (`${a.group}\n${a.item}` < `${b.group}\n${b.item}` ? -1 : 1));

async function kpisBySql(table: string, id: string, left: Left = []): Promise<Record<string, number>> {
  const wanted = (id === 'all' ? items : satisfaction).map((item) => `'${item}'`).join();
  const rows = await world.pool.unsafe<{ group: string; value: number }[]>(`
    select "group", avg(value)::float8 as value
    from   (select "group", item, (avg(score) - 1) / 4 as value
            from   (${counted(table, left)}) c
            where  item in (${wanted}) and score is not null
            group  by "group", item) v
    group  by "group"`);
  return Object.fromEntries(rows.map(({ group, value }) => [group, rounded(value) as number]));
}

async function ratesBySql(table: string): Promise<Record<string, number>> {
  const rows = await world.pool.unsafe<{ group: string; value: number }[]>(`
    select "group", count(score)::float8 / count(*) as value
    from   (${counted(table, [])}) c
    group  by "group"`);
  return Object.fromEntries(rows.map(({ group, value }) => [group, rounded(value) as number]));
}

describe(`IBM's employees${skipped}`, () => {
  test.skipIf(absent)(
    'everyone answers: value, answers, distribution, KPIs and response rates of all 15 groups equal those of SQL',
    async () => {
      const people = employees();
      expect(people).toHaveLength(1470);
      const account = await survey(people, () => true, 'raw_all');
      const { figures, kpis, rates, groups } = await readFigures(account);
      const expected = await figuresBySql('raw_all');
      // The top, 3 departments and 11 roles, the smallest with 11 people: above both thresholds, so no one is left out.
      expect(groups).toBe(15);
      expect(expected).toHaveLength(15 * items.length);
      expect(Math.min(...expected.map(({ answers }) => answers))).toBe(11);
      expect(inOrder(figures)).toEqual(inOrder(expected));
      for (const id of ['satisfaction', 'all']) expect(kpis[id]).toEqual(await kpisBySql('raw_all', id));
      expect(new Set(Object.values(rates))).toEqual(new Set([1]));
      expect(rates).toEqual(await ratesBySql('raw_all'));
    },
  );

  test.skipIf(absent)(
    'only the 237 people with attrition answer: 4 roles are withheld, 2 people left out of Sales and the top, and all ' +
      'other figures equal those of SQL',
    async () => {
      const account = await survey(employees(), ({ hasLeft }) => hasLeft, 'raw_left');
      const { figures, kpis, rates } = await readFigures(account);

      // By the rules (rules.md P2) with threshold 5: 2 managers of Sales answered, so they are withheld, and no one above is
      // outside a cell that they could count with. The 3 managers and 2 directors of Research & Development make 5 there. No
      // managers of Human Resources answered.
      const withheld = [
        'Human Resources / Manager',
        'Research & Development / Manager',
        'Research & Development / Research Director',
        'Sales / Manager',
      ];
      const left: Left = [
        ['Sales', 'Sales / Manager'],
        ['company', 'Sales / Manager'],
      ];
      const everyone = await figuresBySql('raw_left');
      expect(everyone.filter(({ group, answers }) => group === 'company' && answers === 237)).toHaveLength(5);
      const expected = (await figuresBySql('raw_left', left)).filter(
        ({ group }) => !withheld.includes(group),
      );
      const answersOf = (list: Figure[], wanted: string) =>
        list.find(({ group }) => group === wanted)?.answers;
      expect(
        ['Sales', 'company', 'Research & Development'].map((group) => answersOf(everyone, group)),
      ).toEqual([92, 237, 133]);
      expect(
        ['Sales', 'company', 'Research & Development'].map((group) => answersOf(expected, group)),
      ).toEqual([90, 235, 133]);

      // Distributions need 10 people in a cell. The 9 representatives reach that only in their department, with the 5.
      const narrow = 'Research & Development / Healthcare Representative';
      const nothing = { value: null, answers: null, distribution: null };
      expect(inOrder(figures)).toEqual(
        inOrder([
          ...expected.map((one) => (one.group === narrow ? { ...one, distribution: null } : one)),
          ...withheld.flatMap((group) => items.map((item) => ({ group, item, ...nothing }))),
        ]),
      );

      const none = Object.fromEntries(withheld.map((group) => [group, null]));
      for (const id of ['satisfaction', 'all']) {
        expect(kpis[id]).toEqual({ ...(await kpisBySql('raw_left', id, left)), ...none });
      }
      // Everyone was asked, and each group has at least 11 people, so no one is left out of the response rates.
      expect(rates).toEqual(await ratesBySql('raw_left'));
      expect(rates['company']).toBe(rounded(237 / 1470));
      expect(rates['Human Resources / Manager']).toBe(0);
    },
  );
});

// The questionnaire of the UK Civil Service People Survey, as far as the file has it: three themes.

type Theme = { title: string; questions: { id: string; text: string; answerType: string }[] };

/** Reads the file's YAML: titles, IDs, hints, and texts on the same line or, after a bar, on the next. */
function themes(): Theme[] {
  const found: Theme[] = [];
  const rows = readFileSync(sharedData(civilService) as string, 'utf8').split('\n');
  for (const [i, row] of rows.entries()) {
    const [, key, value = ''] = /^[-\s]*(\w+): ?(.*)$/.exec(row) ?? [];
    const last = found.at(-1)?.questions.at(-1);
    if (key === 'title') found.push({ title: value, questions: [] });
    if (key === 'id') found.at(-1)!.questions.push({ id: value, text: '', answerType: '' });
    if (key === 'text') last!.text = (value === '|' ? rows[i + 1]! : value).trim();
    if (key === 'answer_type') last!.answerType = value;
  }
  return found;
}

describe(`the Civil Service People Survey${skipped}`, () => {
  const types: Record<string, number> = { 'agree-5-1': 1, 'long-text': 7 };

  test.skipIf(absent)(
    'themes become KPIs and questions keep their exact texts, and agreement becomes a score',
    async () => {
      const questionnaire = themes();
      expect(questionnaire.map(({ title, questions }) => [title, questions.length])).toEqual([
        ['My work', 5],
        ['Organisational objectives and purpose', 2],
        ['Leadership statement', 2],
      ]);
      const asked = questionnaire.flatMap(({ questions }) => questions);
      const scored = (list: typeof asked) => list.filter(({ answerType }) => answerType === 'agree-5-1');
      const people = Array.from({ length: 12 }, (_, i) => `p${i}`);
      // From 1, strongly disagree, to 5, strongly agree. Different for each person and question.
      const scoreOf = (person: number, index: number) => ((person * (index + 2) + index) % 5) + 1;
      const account = await world.account();
      await apply(account, { groups: [unit('department')] });
      const ids = asked.map(({ id }) => id);
      await importLines(world, account.id, [
        ...asked.map(({ id, text, answerType }) => question(id, types[answerType]!, { text })),
        ...questionnaire.map(({ title, questions }) =>
          kpi(
            title,
            scored(questions).map(({ id }) => id),
          ),
        ),
        round(week, 'department', ids, Object.fromEntries(people.map((person) => [person, ['department']]))),
        ...people.flatMap((person, i) =>
          scored(asked).map(({ id }, index) => answerLine(week, 'department', person, id, scoreOf(i, index))),
        ),
        ...people.map((person, i) =>
          answerLine(week, 'department', person, 'B61', undefined, `Be clear, ${i}.`),
        ),
      ]);

      const group = (await account.groups())[0]!.id;
      const [results] = await getJson<ResultsValues[]>(
        account,
        `/v1/results?groupId=${group}&includeComments=true${inWeek}`,
      );
      expect(results!.questions.map(({ question: text, type }) => ({ text, type }))).toEqual(
        asked.map(({ text, answerType }) => ({ text, type: types[answerType] })),
      );
      expect(results!.questions[5]!.question).toContain('[my organisation]’s objectives');

      const means = new Map(
        scored(asked).map(({ id }, index) => {
          const sum = people.reduce((total, _, i) => total + scoreOf(i, index) - 1, 0);
          return [id, sum / (4 * people.length)];
        }),
      );
      const shown = results!.questions.map(({ id }) => results!.values[0]![id]![group]!['2546']!);
      expect(shown.map(({ value, answers }) => [rounded(value), answers])).toEqual(
        ids.map((id) => [rounded(means.get(id) ?? null), people.length]),
      );
      const comments = results!.comments![0]![results!.questions[8]!.id]![group]!['2546']!;
      expect(comments.toSorted()).toEqual(people.map((_, i) => `Be clear, ${i}.`).toSorted());

      for (const { title, questions } of questionnaire) {
        const values = scored(questions).map(({ id }) => means.get(id)!);
        const body = await getJson<KpiValues>(
          account,
          `/v1/kpis/${encodeURIComponent(title)}/values?groupId=${group}`,
        );
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        expect([body.kpi, body.values.map(({ value }) => rounded(value))]).toEqual([
          { id: title, name: title },
          [rounded(mean)],
        ]);
      }
    },
  );
});
