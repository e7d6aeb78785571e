// Results of the demo company in a browser: every figure equals the data interface, withheld figures have a text, tables and their
// CSV agree, and a manager sees only their own groups.
import type {
  Group,
  Kpi,
  KpiValues,
  ResponseRateValues,
  ResultsValues,
  Value,
} from '@soundings/contract/data.ts';
import { addWeeks, fourDigits, lastDay, type Week } from '@soundings/contract/weeks.ts';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import { askedWeek } from '../../testing/asking.ts';
import { hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { axeFaults, openConsole } from '../../testing/browser/console.ts';
import { readCsv } from '../../testing/csv.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

/** The last week that has closed. */
const last: Week = addWeeks(askedWeek, -1);
const patient = { timeout: 10_000 };
/** All weeks of the demo company. */
const range = `fromDate=${addWeeks(askedWeek, -8)}&toDate=${lastDay(askedWeek)}`;

/** For a busy machine. On an idle one each test takes some seconds. */
const long = { timeout: 120_000 };

let world: DemoWorld;
let browser: Browser;
let token: string;
let groups: Group[];
let top: Group;
let kpis: Kpi[];
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
  ({ token } = await createToken(world.pool, world.accountId, { name: 'e2e', scopes: ['data'] }));
  [groups, kpis] = await Promise.all([read<Group[]>('/v1/groups'), read<Kpi[]>('/v1/kpis')]);
  top = groups.toSorted((a, b) => b.subgroups.length - a.subgroups.length)[0] as Group;
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

/** Reads from the data interface. */
async function read<T>(path: string): Promise<T> {
  const { status, body } = await world.request<T>('GET', path, { headers: { authorization: token } });
  expect([path, status]).toEqual([path, 200]);
  return body;
}

const kpiValues = async (id: string, scope: string): Promise<Value[]> =>
  (await read<KpiValues>(`/v1/kpis/${id}/values?${scope}`)).values;
const ratesOf = async (scope: string): Promise<Value[]> =>
  (await read<ResponseRateValues[]>(`/v1/responserates/values?${scope}`))[0]!.values;
const resultsOf = async (scope: string): Promise<ResultsValues> =>
  (await read<ResultsValues[]>(`/v1/results?${scope}&includeComments=true`))[0] as ResultsValues;
const commentsIn = ({ comments = [] }: ResultsValues): string[] =>
  comments
    .flatMap((byQuestion) => Object.values(byQuestion))
    .flatMap((byGroup) => Object.values(byGroup).flatMap((byWeek) => Object.values(byWeek).flat()));

const score = (value: number) => Math.round(value * 100);
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Finds a group by a part of its name, as a person does. */
async function choose(page: Page, finder: RegExp, name: string): Promise<void> {
  await page.getByRole('combobox', { name: finder }).click();
  await page.getByRole('combobox', { name: 'Search groups' }).fill(name);
  await page
    .getByRole('option', { name: new RegExp(`^${name}`) })
    .first()
    .click();
}

async function csvOf(page: Page): Promise<string[][]> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  return readCsv((await readFile(await file.path(), 'utf8')).replace('\uFEFF', ''));
}

/** Returns a group that was asked, but whose figures are all withheld. */
async function withheldGroup(): Promise<Group> {
  for (const group of groups.filter(({ subgroups }) => subgroups.length === 0)) {
    const scope = `groupId=${group.id}&${range}`;
    // oxlint-disable no-await-in-loop -- until one is found
    const results = await resultsOf(scope);
    const figures = Object.values(results.values[0] ?? {}).flatMap((byGroup) =>
      Object.values(byGroup).flatMap((byWeek) => Object.values(byWeek)),
    );
    if (figures.length === 0 || figures.some(({ answers }) => answers !== null)) continue;
    const values = await Promise.all([ratesOf(scope), ...kpis.map(({ id }) => kpiValues(id, scope))]);
    // oxlint-enable no-await-in-loop
    if (values.flat().every(({ value }) => value === null) && commentsIn(results).length === 0) return group;
  }
  throw new Error('Every group has something to show.');
}

test.skipIf(!hasBrowser())(
  'the overview shows the figures of the data interface, and one explanation for a group with too few answers',
  long,
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    await page.getByRole('heading', { level: 1, name: top.name }).waitFor();
    await page.getByText(/results up to w\. 46, final/).waitFor();
    const tiles = page.getByRole('region', { name: 'KPIs' }).getByRole('listitem');
    expect(await tiles.count()).toBe(kpis.length);
    for (const { id, name } of kpis) {
      // oxlint-disable no-await-in-loop -- few
      const values = await kpiValues(id, `groupId=${top.id}&${range}`);
      const shown = values.findLast(({ value }) => value !== null)?.value as number;
      const tile = tiles.filter({ hasText: name });
      expect([
        name,
        oneLine(await tile.innerText())
          .replace(`${name} `, '')
          .split(' ')[0],
      ]).toEqual([name, String(score(shown))]);
      // oxlint-enable no-await-in-loop
    }
    const rate = (await ratesOf(`groupId=${top.id}&${range}`)).at(-1)?.value as number;
    const response = page.getByRole('region', { name: 'Response rate' });
    const said = oneLine(await response.innerText());
    expect(said).toContain(`${score(rate)} %`);
    // Beside it the number of people: at least as many as answered the question with the most answers.
    const ofWeek = Object.values((await resultsOf(`groupId=${top.id}&${range}`)).values[0] ?? {}).flatMap(
      (byGroup) => byGroup[top.id]?.[fourDigits(last)]?.answers ?? [],
    );
    expect(said).toContain(`At least ${Math.max(...ofWeek)} of the 5`);
    expect(said).toMatch(/of the 5\d\d people asked have answered\.$/);
    // While a week is open there is no rate, because it would still change; only the number of people.
    await page.goto('/rounds');
    await page.getByText('Answered so far').waitFor();
    expect(await page.getByRole('main').getByText('%').count()).toBe(0);
    await page.goto('/');
    await page.getByRole('region', { name: 'Biggest changes in 13 weeks' }).waitFor();

    const silent = await withheldGroup();
    await choose(page, /^Group: /, silent.name);
    await page.getByRole('heading', { level: 1, name: silent.name }).waitFor();
    const words = page.getByText('Too few answers to show anything');
    await words.waitFor();
    expect(await words.count()).toBe(1);
    expect(await page.getByText(/at least 5 people have answered/).count()).toBe(1);
    // One explanation, without empty tiles or charts around it.
    expect(await page.getByRole('main').getByRole('heading', { level: 2 }).count()).toBeLessThan(2);
    expect(await tiles.count()).toBe(0);
    expect(await page.getByRole('slider').count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: /^Go to / }).click();
    await tiles.first().waitFor();
  },
);

/** Returns the heat map on the page: the text of each cell, also of withheld ones, and names without the number of people. */
async function heatTable(page: Page): Promise<{ columns: string[]; rows: string[][] }> {
  const table = page.getByRole('table', { name: 'Heat map' });
  const texts = await table.getByRole('row').allInnerTexts();
  const [columns = [], ...rows] = texts.map((text) => text.split('\t').map(oneLine));
  return { columns, rows: rows.map(([name = '', ...cells]) => [name.replace(/ [\d,]+$/, ''), ...cells]) };
}

/** Returns the expected text of a cell for a value of the data interface; undefined: no value. */
const cellOf = (value: number | null | undefined): string =>
  value === undefined ? 'Not asked' : value === null ? 'withheld' : String(score(value));
const textIn = (cell: string): string =>
  /^– Withheld: (fewer than \d+ answers|too few answers, or to protect a neighbouring group)$/.test(cell)
    ? 'withheld'
    : cell;

/** Returns the values of each column, by group. A header is a KPI, with a week if not the current one: "Role clarity w. 44". */
async function columnsOf(headers: string[]): Promise<Map<number, number | null>[]> {
  const scope = `groupId=${top.id}&includeSubgroups=true&${range}`;
  return Promise.all(
    headers.map(async (header) => {
      const kpi = kpis.find(({ name }) => header.startsWith(name)) as Kpi;
      const number = / w\. (\d+)$/.exec(header)?.[1] ?? fourDigits(last).slice(2);
      const values = await kpiValues(kpi.id, scope);
      const ofWeek = values.filter(({ yearWeek }) => yearWeek.endsWith(number));
      return new Map(ofWeek.map(({ groupId, value }) => [groupId, value]));
    }),
  );
}

test.skipIf(!hasBrowser())(
  'the heat map equals the data interface cell by cell, explains withheld cells, sorts, compares, and equals its CSV',
  long,
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/heat-map' });
    const table = page.getByRole('table', { name: 'Heat map' });
    await table.waitFor();
    const whole = await heatTable(page);
    const [, , ...headers] = whole.columns;
    expect(headers.length).toBe(kpis.length);
    expect(whole.rows.length).toBe(groups.length);
    const columns = await columnsOf(headers);
    const idOf = new Map(groups.map(({ id, name }) => [name, id]));
    expect(idOf.size).toBe(groups.length);
    const expected = ([name = '']: string[]) =>
      columns.map((values) => cellOf(values.get(idOf.get(name) as number)));

    // The CSV has the same figures with one decimal.
    const [titles = [], ...records] = await csvOf(page);
    expect(titles.slice(0, 4)).toEqual(['Group', 'Path', 'People', 'Response rate, %']);
    expect(titles.length).toBe(4 + kpis.length + 1);
    expect(titles.at(-1)).toBe('Based partly on handed-out links');
    expect(records.map(([name]) => name).toSorted()).toEqual(whole.rows.map(([name]) => name).toSorted());
    for (const [name = '', , , , ...cells] of records) {
      const row = whole.rows.find(([one]) => one === name) as string[];
      const exact = columns.map((values) => {
        const value = values.get(idOf.get(name) as number);
        return value === undefined ? '' : value === null ? 'withheld' : String(Math.round(value * 1000) / 10);
      });
      expect([name, ...cells]).toEqual([name, ...exact, '']);
      expect([name, ...row.slice(2).map(textIn)]).toEqual([name, ...expected(row)]);
    }

    // One level only: every cell again, and at least one withheld with its reason.
    await page.getByRole('combobox', { name: /^Levels: / }).click();
    await page.getByRole('option', { name: /^Level 3/ }).click();
    await expect
      .poll(async () => (await heatTable(page)).rows.length, patient)
      .toBeLessThan(whole.rows.length);
    const { rows } = await heatTable(page);
    expect(rows[0]?.[0]).toBe(top.name); // stays for comparison
    const shown = { figures: 0, hidden: 0 };
    for (const row of rows) {
      expect([row[0], ...row.slice(2).map(textIn)]).toEqual([row[0], ...expected(row)]);
      for (const cell of row.slice(2)) shown[textIn(cell) === 'withheld' ? 'hidden' : 'figures']++;
    }
    expect([shown.figures > 50, shown.hidden > 0, shown]).toEqual([true, true, shown]);
    expect(await table.getByText('Withheld: fewer than 5 answers').count()).toBeGreaterThan(0);

    // Sorted by a KPI, withheld values are last; then ascending; then in the order of the tree again.
    const numbers = async () => {
      const [, ...ranked] = (await heatTable(page)).rows;
      return ranked.map((row) => (/^\d+$/.test(row[2] as string) ? Number(row[2]) : -1));
    };
    const head = table.getByRole('columnheader').nth(2);
    const unsorted = await numbers();
    await head.getByRole('button').click();
    await expect.poll(() => head.getAttribute('aria-sort'), patient).toBe('descending');
    const descending = await numbers();
    expect(descending).toEqual(unsorted.toSorted((a, b) => b - a));
    await head.getByRole('button').click();
    await expect.poll(() => head.getAttribute('aria-sort'), patient).toBe('ascending');
    expect((await numbers()).filter((one) => one >= 0)).toEqual(
      unsorted.filter((one) => one >= 0).toSorted((a, b) => a - b),
    );

    // The difference from the company, in points.
    await page.getByRole('radio', { name: 'Difference from company' }).check();
    const compared = (await heatTable(page)).rows;
    for (const row of compared.slice(1)) {
      const differences = columns.map((values) => {
        const [own, company] = [values.get(idOf.get(row[0] as string) as number), values.get(top.id)];
        if (typeof own !== 'number' || typeof company !== 'number') return undefined;
        const by = score(own) - score(company);
        return by === 0 ? '±0' : by > 0 ? `+${by}` : `−${-by}`;
      });
      const cells = row.slice(2).map((cell, i) => (differences[i] === undefined ? undefined : cell));
      expect([row[0], ...cells]).toEqual([row[0], ...differences]);
    }
    expect(await axeFaults(page)).toEqual([]);

    // A control shows its new value at once, however long the page takes.
    type Radio = { click: () => void; checked: boolean };
    const isChecked = await page.getByRole('radio', { name: 'Score', exact: true }).evaluate((element) => {
      const radio = element as unknown as Radio;
      radio.click();
      return radio.checked;
    });
    expect(isChecked).toBe(true);
  },
);

test.skipIf(!hasBrowser())(
  'the heat map on a phone and at 200 % zoom: it scrolls in itself, names and headings stay, and reasons open by touch and key',
  long,
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, {
      path: '/heat-map',
      size: { width: 390, height: 844 },
      touch: true,
    });
    const map = page.getByRole('group', { name: 'Heat map, scrolls both ways' });
    for (const size of [
      { width: 390, height: 844 },
      { width: 720, height: 450 }, // a window of 1440 × 900 at 200 %
    ]) {
      // oxlint-disable no-await-in-loop -- two
      await page.setViewportSize(size);
      await map.waitFor();
      await page.evaluate("document.querySelector('main [data-scroller]').scrollTo(0, 0)");
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
      const before = await placesIn(page);
      await page.evaluate(
        "document.querySelector('main [data-scroller]').scrollTo({ left: 60, top: 300, behavior: 'instant' })",
      );
      await expect.poll(() => placesIn(page)).not.toEqual(before);
      const { corner, company, heading, cell, names } = await placesIn(page);
      expect([corner, company]).toEqual([before.corner, before.company]); // both stay
      expect([heading.x - before.heading.x, heading.y]).toEqual([-60, before.heading.y]); // stays above its column
      expect([cell.x - before.cell.x, cell.y - before.cell.y]).toEqual([-60, -300]);
      expect(names).toBeLessThan(size.width / 2); // most of the width is for figures
      // oxlint-enable no-await-in-loop
    }

    const words = /^Withheld: (fewer than 5 answers|too few answers, or to protect a neighbouring group)$/;
    const hatched = map.getByRole('button', { name: /^Withheld: / });
    await page.evaluate("document.querySelector('main [data-scroller]').scrollTo(0, 0)");
    await hatched.nth(4).tap();
    const said = page.getByRole('dialog');
    expect(await said.innerText()).toMatch(words);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await said.waitFor({ state: 'detached' });
    await hatched.nth(5).focus();
    await page.keyboard.press('Enter');
    await said.waitFor();
    expect(await said.innerText()).toMatch(words);
    await page.keyboard.press('Escape');
    await said.waitFor({ state: 'detached' });
    await expect
      .poll(() => hatched.nth(5).evaluate((one) => one === one.ownerDocument.activeElement))
      .toBe(true);
  },
);

type Places = Record<'corner' | 'company' | 'heading' | 'cell', { x: number; y: number }> & { names: number };

/** Returns the positions of parts of the heat map on the screen, in px. */
const placesIn = (page: Page): Promise<Places> =>
  page.evaluate(`(() => {
    const table = document.querySelector('main table');
    const place = (part) => {
      const { x, y } = part.getBoundingClientRect();
      return { x: Math.round(x), y: Math.round(y) };
    };
    const [head, company] = table.tHead.rows;
    return {
      corner: place(head.cells[0]),
      company: place(company.cells[0]),
      heading: place(head.cells[4]),
      cell: place(table.tBodies[0].rows[3].cells[4]),
      names: head.cells[0].getBoundingClientRect().width,
    };
  })()`);

test.skipIf(!hasBrowser())(
  'a KPI in two groups, the answers to a question, and comments found by a word equal the data interface',
  long,
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/trends' });
    const [kpi] = kpis as [Kpi];
    await page.getByRole('combobox', { name: /^Show: / }).click();
    await page.getByRole('option', { name: kpi.name }).click();
    const other = groups.find(({ name }) => name === 'Workshops') as Group;
    await choose(page, /^Add a group/, other.name);
    const table = page.getByRole('table', { name: 'Week by week' });
    await table.getByRole('columnheader', { name: other.name }).waitFor();
    const [own, others] = await Promise.all(
      [top, other].map(({ id }) => kpiValues(kpi.id, `groupId=${id}&${range}`)),
    );
    const rows = await table.getByRole('row').allInnerTexts();
    expect(rows.slice(1).map((row) => oneLine(row).replace(/^w\. (\d+), \d{4} /, '$1 '))).toEqual(
      own!.toReversed().map(({ yearWeek, date, value }) => {
        const beside = others!.find((one) => one.date === date)?.value;
        return [yearWeek.slice(4), cellOf(value), cellOf(beside)].join(' ');
      }),
    );
    const slider = page.getByRole('slider', { name: /^Trend by week/ });
    expect(await slider.getAttribute('aria-valuetext')).toMatch(`${top.name} `);

    // A question, from the overview's last week.
    const results = await resultsOf(`groupId=${top.id}&${range}`);
    const week = fourDigits(last);
    const isOfWeek = ({ id, type }: { id: number; type: number }) =>
      type === 1 && results.values[0]?.[id]?.[top.id]?.[week] !== undefined;
    const question = results.questions.find(isOfWeek) as { id: number; question: string };
    const figures = results.values[0]?.[question.id]?.[top.id]?.[week];
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('link', { name: question.question }).first().click();
    await page.getByRole('heading', { level: 1, name: question.question }).waitFor();
    const distribution = page.getByRole('table', { name: 'Distribution of answers' });
    const counts = (await distribution.getByRole('row').allInnerTexts())
      .slice(1)
      .map((row) => row.split('\t'));
    expect(counts.map(([, count = '']) => Number(count.replace(',', '')))).toEqual(
      ['1', '2', '3', '4', '5'].map((key) => figures?.distribution?.[key] ?? 0),
    );
    const answered = page.getByRole('region', { name: 'Answers of w. 46, 2026' });
    const facts = oneLine(await answered.innerText());
    expect(facts).toContain(`Score ${score(figures?.value as number)}`);
    expect(facts).toContain(`Answers ${figures?.answers}`);

    // Comments, by a word of one of them.
    const comments = commentsIn(results);
    const sought = (
      comments.flatMap((text) => text.match(/\p{Letter}{6,}/gu) ?? [])[0] as string
    ).toUpperCase();
    const matching = comments.filter((text) => text.toUpperCase().includes(sought));
    await page.getByRole('link', { name: 'Comments', exact: true }).click();
    const found = page.getByRole('status');
    await found.getByText(new RegExp(`^${comments.length} comments?$`)).waitFor();
    await page.getByRole('searchbox', { name: 'Search comments' }).fill(sought);
    await found.getByText(new RegExp(`^${matching.length} comments?$`)).waitFor();
    const texts = await page.getByRole('region').getByRole('listitem').getByRole('paragraph').allInnerTexts();
    expect(texts.filter((_, i) => i % 2 === 0).toSorted()).toEqual(matching.toSorted());
    expect(await axeFaults(page)).toEqual([]);
  },
);

test.skipIf(!hasBrowser())(
  'a manager sees only their own groups; the address of another group is not found',
  long,
  async () => {
    const page = await openConsole(world, browser, world.manager.email, { path: '/heat-map' });
    const own = await world.pool<{ id: number; name: string }[]>`
    with recursive open as (
      select m.group_id, m.kind
      from   memberships m
      join   users u using (account_id, user_id)
      where  m.account_id = ${world.accountId} and u.email = ${world.manager.email} and m.kind <> 'memberOf'
      union
      select g.group_id, open.kind
      from   groups g
      join   open on g.parent_id = open.group_id and open.kind = 'inheritedAdminOf'
      where  g.account_id = ${world.accountId}
    )
    select distinct g.group_id as id, g.name
    from   open
    join   groups g using (group_id)
    where  g.account_id = ${world.accountId}`;
    expect([own.length > 0, own.length < groups.length]).toEqual([true, true]);
    await page.getByRole('table', { name: 'Heat map' }).waitFor();
    const { rows } = await heatTable(page);
    expect(rows.map(([name]) => name).toSorted()).toEqual(own.map(({ name }) => name).toSorted());
    const navigation = page.getByRole('navigation').first();
    expect(await navigation.getByRole('link', { name: 'Runs' }).count()).toBe(0);

    const foreign = groups.find(({ id }) => id !== top.id && !own.some((one) => one.id === id)) as Group;
    page.expectComplaint(/status of 404/);
    await page.goto(`/?group=${foreign.id}`);
    await page.getByText('You don’t have access to this group').waitFor();
    expect(await page.getByText(foreign.name).count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    // The operations behind the pages give the same response for a group that does not exist.
    const session = await world.sessionOf(world.manager.email);
    const ask = (path: string) =>
      world.request('GET', `/api${path}`, { headers: { cookie: `soundings=${session}` } });
    const missing = 2_000_000_000;
    for (const path of ['/results/groups/#', '/results/trends?groupIds=#', '/results/comments?groupId=#']) {
      // oxlint-disable-next-line no-await-in-loop -- three
      const [closed, none] = await Promise.all(
        [foreign.id, missing].map((id) => ask(path.replace('#', String(id)))),
      );
      const words = ({ body }: Awaited<ReturnType<typeof ask>>) => ({ ...body, id: undefined });
      expect([path, closed!.status, words(closed!)]).toEqual([path, 404, words(none!)]);
    }
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { level: 1, name: own[0]?.name as string }).waitFor();
  },
);
