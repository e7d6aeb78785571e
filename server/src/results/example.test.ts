// The worked example of docs/start/example.md: its answers are imported, and every quoted table and response is compared with what the
// service returns. The figures in the document were calculated manually.
import type { ResultsValues, Value } from '@soundings/contract/data.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { type Imported, importHistory } from '../history/history.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

const docs = new URL('../../../docs/', import.meta.url);
const survey = fileURLToPath(new URL('examples/survey.ndjson', docs));
const text = readFileSync(new URL('start/example.md', docs), 'utf8');

type HistoryLine = {
  round?: { week: string; questions: string[]; asked: { person: string; memberOf: string[] }[] };
  answer?: {
    week: string;
    person: string;
    question: string;
    value?: unknown;
    skipped?: true;
    comment?: string;
  };
};
const lines = readFileSync(survey, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as HistoryLine);

let world: World;
let account: TestAccount;
let imported: Imported;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { threshold: 3 }));
  await account.push(/```json groups\n(.*?)```/s.exec(text)?.[1]);
  imported = await importHistory(world.pool, world.keys, account.id, survey, Date.now());
});
afterAll(() => world.close());

async function getJson<T>(address: string): Promise<T> {
  const { status, body } = await world.request<T>('GET', address, {
    headers: { authorization: account.token },
  });
  expect(status).toBe(200);
  return body;
}

/** Returns the rows of the tables under a heading, one table after another, by the names of their columns. */
function tablesUnder(heading: string): Record<string, string>[][] {
  const after = text.split(new RegExp(`^#+ ${heading}$`, 'm'))[1];
  if (after === undefined) throw new Error(`The document has no heading ${heading}.`);
  const section = after.split(/^#+ /m)[0] as string;
  return [...section.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => {
    const [head = [], , ...rows] = table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((field) => field.trim()),
      );
    return rows.map((fields) => Object.fromEntries(fields.map((field, i) => [head[i], field])));
  });
}

const groups = ['company', 'sales', 'north', 'south', 'workshop', 'paint'];
const questions = ['mood', 'recommend', 'lunch', 'bus'];
const weeks = { 46: '&fromDate=2025-11-10&toDate=2025-11-16', 47: '&fromDate=2025-11-17&toDate=2025-11-23' };
type WeekNumber = keyof typeof weeks;

const numberOrNull = (field: string | undefined) =>
  field === 'null' || field === '' ? null : Number(field ?? Number.NaN);

describe('the answers', () => {
  const people = tablesUnder('Who answered what')[0]!;
  const answers = lines.flatMap((line) => line.answer ?? []);

  test('are imported completely, and both weeks are published', () => {
    expect(imported).toEqual({ questions: 4, kpis: 1, rounds: 3, answers: 85, weeks: 2 });
  });

  test('match the table: who is asked, and who answered what', () => {
    const rounds = lines.flatMap((line) => line.round ?? []);
    const found = people.map(({ person }) => {
      const name = person!.toLowerCase();
      const fields = ['mood, 46', 'recommend, 46', 'lunch, 46', 'bus, 46', 'mood, 47'].map((column) => {
        const [question, week] = column.split(', ');
        const isOf = (one: { week: string }) => one.week === `2025-W${week}`;
        const round = rounds.find((one) => isOf(one) && one.questions.includes(question!));
        if (!round?.asked.some((one) => one.person === name)) return [column, ''];
        const given = answers.find((one) => isOf(one) && one.person === name && one.question === question);
        if (!given) return [column, '–'];
        const value = { true: 'yes', false: 'no' }[String(given.value)] ?? String(given.value);
        return [column, given.skipped ? 'skip' : value];
      });
      const own = rounds[0]?.asked.find((one) => one.person === name)?.memberOf.join(', ');
      return { person, 'member of': own, ...Object.fromEntries(fields) };
    });
    expect(found).toEqual(people);
    expect(people).toHaveLength(20);
  });

  test('have the comments of the table', () => {
    const given = answers.flatMap(({ person, comment }) => (comment ? [{ person, comment }] : []));
    const expected = tablesUnder('Who answered what')[1]!.map(({ person, comment }) => ({
      person: person!.toLowerCase(),
      comment,
    }));
    expect(given.toSorted((a, b) => (a.person < b.person ? -1 : 1))).toEqual(expected);
  });
});

/** Returns the answer data of a question in a week by group, or undefined if there is none. */
async function dataOf(question: string, week: WeekNumber) {
  const id = questions.indexOf(question) + 1;
  const [body] = await getJson<ResultsValues[]>(
    `/v1/results?groupId=1&includeSubgroups=true&questionIds=${id}${weeks[week]}`,
  );
  return (group: string) => body?.values[0]?.[id]?.[groups.indexOf(group) + 1]?.[`25${week}`];
}

describe('the tables of figures', () => {
  test.each([
    ['mood', 46],
    ['recommend', 46],
    ['bus', 46],
    ['mood', 47],
  ] as const)('`%s`, week %i: value and number of answers', async (question, week) => {
    const rows = tablesUnder(`\`${question}\`, week ${week}`)[0]!;
    const data = await dataOf(question, week);
    expect(
      rows.map(({ group, value, answers }) => [group, numberOrNull(value), numberOrNull(answers)]),
    ).toEqual(rows.map(({ group }) => [group, data(group!)?.value, data(group!)?.answers]));
    expect(groups.filter((group) => data(group)).toSorted()).toEqual(
      rows.map(({ group }) => group!).toSorted(),
    );
  });

  test.each([
    ['mood', 46, 1, ['1', '2', '3', '4', '5']],
    ['recommend', 46, 1, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10']],
    ['lunch', 46, 0, ['in', 'out', 'home']],
    ['bus', 46, 0, ['yes', 'no']],
    ['mood', 47, 1, ['1', '2', '3', '4', '5']],
  ] as const)('`%s`, week %i: distributions', async (question, week, table, names) => {
    const rows = tablesUnder(`\`${question}\`, week ${week}`)[table]!;
    const data = await dataOf(question, week);
    const shown = rows.filter((row) => row[names[0]] !== '');
    const withheld = groups.filter((group) => !shown.some((row) => row['group'] === group));
    for (const row of shown) {
      const counts = Object.fromEntries(names.map((name) => [name, Number(row[name])]));
      expect([row['group'], data(row['group']!)?.distribution]).toEqual([row['group'], counts]);
      expect(data(row['group']!)?.enps).toEqual('eNPS' in row ? Number(row['eNPS']) : undefined);
    }
    for (const group of withheld) expect(data(group)?.distribution).toBeUndefined();
  });

  test('`lunch`, week 46: number of answers', async () => {
    const data = await dataOf('lunch', 46);
    for (const { group, answers } of tablesUnder('`lunch`, week 46')[0]!) {
      expect([group, data(group!)]).toEqual([
        group,
        expect.objectContaining({ value: null, answers: numberOrNull(answers) }),
      ]);
    }
  });

  test('comments, week 46: the groups in which each is shown', async () => {
    const [, , rows] = tablesUnder('`mood`, week 46');
    const authors = new Map(
      tablesUnder('Who answered what')[1]!.map(({ person, comment }) => [comment, person]),
    );
    const [body] = await getJson<ResultsValues[]>(
      `/v1/results?groupId=1&includeSubgroups=true&questionIds=1&includeComments=true${weeks[46]}`,
    );
    const shown = Object.entries(body?.comments?.[0]?.['1'] ?? {}).map(([id, byWeek]) => [
      groups[Number(id) - 1],
      byWeek['2546']
        ?.map((comment) => authors.get(comment))
        .toSorted()
        .join(', '),
    ]);
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(rows!.map((row) => [row['group'], row['comments of']])),
    );
  });

  test.each([
    ['Response rates', '/v1/responserates/values', 46],
    ['Response rates', '/v1/responserates/values', 47],
    ['`engagement`', '/v1/kpis/engagement/values', 46],
    ['`engagement`', '/v1/kpis/engagement/values', 47],
  ] as const)('%s (%s), week %i', async (heading, address, week) => {
    const rows = tablesUnder(`${heading}, week ${week}`)[0]!;
    const body = await getJson<{ values: Value[] } | { values: Value[] }[]>(
      `${address}?groupId=1&includeSubgroups=true${weeks[week]}`,
    );
    const { values } = [body].flat()[0]!;
    expect(Object.fromEntries(values.map(({ groupId, value }) => [groups[groupId - 1], value]))).toEqual(
      Object.fromEntries(rows.map(({ group, value }) => [group, numberOrNull(value)])),
    );
  });
});

/** Sorts comments, because their order is random. */
const inOneOrder = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (_key, value: unknown) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.toSorted() : value,
  );

describe('the quoted responses', () => {
  const quoted = [...text.matchAll(/```http\nGET (\S+)\n```\n\n```json\n(.*?)```/gs)].map(
    ([, address, body]) => [address!, JSON.parse(body!) as unknown] as const,
  );

  test('are all there', () => {
    expect(quoted).toHaveLength(text.match(/^```http$/gm)!.length);
    expect(quoted.length).toBeGreaterThan(10);
  });

  test.each(quoted)('GET %s', async (address, body) => {
    expect(inOneOrder(await getJson(address))).toEqual(inOneOrder(body));
  });
});
