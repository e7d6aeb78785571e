// Results of the demo company in a browser: every figure equals the data interface, withheld figures have a text, arrows and colours
// are only on clear changes, tables and their CSV agree, and a manager sees only their own groups.
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import type {
  FigureChange,
  GroupResults,
  HeatMap,
  QuestionResults,
  RollingFigure,
  Trend,
} from '@soundings/contract/console/results/results.ts';
import type {
  Group,
  Kpi,
  KpiValues,
  ResponseRateValues,
  ResultsValues,
  Value,
} from '@soundings/contract/data.ts';
import { addWeeks, fourDigits, lastDay, type Week, weekName } from '@soundings/contract/weeks.ts';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { askedWeek } from '../../testing/asking.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { readCsv } from '../../testing/csv.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

/** The last week that has closed. */
const last: Week = addWeeks(askedWeek, -1);
const timeouts = { timeout: 60_000 };
/** All weeks of the demo company. */
const range = `fromDate=${addWeeks(askedWeek, -8)}&toDate=${lastDay(askedWeek)}`;

/** The timeout for a busy machine. On an idle machine each test takes a few seconds. */

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
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

/** Reads from the data interface. */
async function read<T>(path: string): Promise<T> {
  const { status, body } = await world.request<T>('GET', path, { headers: { authorization: token } });
  expect([path, status]).toEqual([path, 200]);
  return body;
}

/** Reads from the console's interface, as a user. */
async function readAs<T>(email: string, path: string): Promise<T> {
  const headers = { cookie: `soundings=${await world.sessionOf(email)}` };
  const { status, body } = await world.request<T>('GET', `/api/results${path}`, { headers });
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
/** Returns a margin in points, with tenths below one point. */
const margin = (value: number | null) =>
  value === null ? '' : `± ${score(value) || Math.round(value * 1000) / 10}`;
/** Returns a change or difference in points. A clear one below one point is in tenths. */
function points({ by, verdict }: Pick<FigureChange, 'by' | 'verdict'>): string {
  const whole = Math.abs(score(by));
  const shown = whole === 0 && verdict !== 'unclear' ? Math.abs(Math.round(by * 1000) / 10) : whole;
  return shown === 0 ? '0' : `${by > 0 ? '+' : '−'}${shown}`;
}
/** Returns the words about a change; an empty text if there is none. */
const wordsOf = (change: FigureChange | null): string =>
  change ? (change.verdict === 'unclear' ? 'no clear change' : points(change)) : '';
const lastShown = (rolling: RollingFigure[]) => rolling.findLast(({ value }) => value !== null);
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
    const results = await resultsOf(scope);
    const figures = Object.values(results.values[0] ?? {}).flatMap((byGroup) =>
      Object.values(byGroup).flatMap((byWeek) => Object.values(byWeek)),
    );
    if (figures.length === 0 || figures.some(({ answers }) => answers !== null)) continue;
    const values = await Promise.all([ratesOf(scope), ...kpis.map(({ id }) => kpiValues(id, scope))]);
    if (values.flat().every(({ value }) => value === null) && commentsIn(results).length === 0) return group;
  }
  throw new Error('Every group has something to show.');
}

test.skipIf(!hasBrowser())(
  'the overview shows rolling values with their intervals, and arrows only for clear changes; one explanation for too few answers',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    await page.getByRole('heading', { level: 1, name: top.name }).waitFor();
    await page.getByText(/results up to week 46, final/).waitFor();
    const [own, { firstWeek }] = await Promise.all([
      readAs<GroupResults>(world.administrator.email, `/groups/${top.id}`),
      readAs<HeatMap>(world.administrator.email, '/heat-map'),
    ]);
    const columns = await rollingColumns(firstWeek?.week as Week);
    const tiles = page.getByRole('region', { name: 'KPIs' }).getByRole('listitem');
    expect(await tiles.count()).toBe(kpis.length);
    for (const { id, name, rolling } of own.kpis) {
      const shown = lastShown(rolling) as RollingFigure;
      const exact = columns[kpis.findIndex((kpi) => kpi.id === id)]?.get(top.id) as number;
      expect([name, shown.value]).toEqual([name, expect.closeTo(exact, 9)]);
      const tile = tiles.filter({ hasText: name });
      const text = oneLine(await tile.innerText()).replace(`${name} `, '');
      expect([name, text.split(' ')[0]]).toEqual([name, String(score(exact))]);
      expect(text).toContain(margin(shown.margin));
      const { change } = shown;
      expect([name, await tile.locator('svg.lucide-arrow-up-right').count()]).toEqual([
        name,
        change?.verdict === 'up' ? 1 : 0,
      ]);
      expect([name, await tile.locator('svg.lucide-arrow-down-right').count()]).toEqual([
        name,
        change?.verdict === 'down' ? 1 : 0,
      ]);
      expect([name, text.includes('no clear change')]).toEqual([name, change?.verdict === 'unclear']);
      expect(text).toContain(wordsOf(change));
    }
    // Popups show what a value is based on, and what a clear change is.
    const [kpi] = own.kpis as [GroupResults['kpis'][number]];
    await tiles
      .first()
      .getByRole('button', { name: `Details of ${kpi.name}` })
      .click();
    const details = page.getByRole('dialog', { name: kpi.name });
    const { questions } = lastShown(kpi.rolling) as RollingFigure;
    await details.getByText(new RegExp(`^From ${questions} questions?, weeks? \\d+( to \\d+)?$`)).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'What is a clear change?' }).click();
    await page.getByText('docs/administrators/statistics.md').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');

    // The response shows how many of the people asked have answered.
    const rate = own.rates.findLast(({ value }) => value !== null)!;
    const response = oneLine(await page.getByRole('region', { name: 'Response rate' }).innerText());
    expect(response).toContain(`${score(rate.value as number)}%`);
    expect(response).toContain(`${rate.answered} of ${rate.asked} people answered in week 46`);
    expect(score(rate.value as number)).toBe(Math.round((100 * rate.answered!) / rate.asked!));
    // While a week is open, only the number of people is shown. There is no rate, because it would still change.
    await page.goto('/rounds');
    await page.getByText('Answered so far').waitFor();
    expect(await page.getByRole('main').getByText('%').count()).toBe(0);
    await page.goto('/');

    const silent = await withheldGroup();
    await choose(page, /^Group: /, silent.name);
    await page.getByRole('heading', { level: 1, name: silent.name }).waitFor();
    const words = page.getByText('Too few answers to show anything');
    await words.waitFor();
    expect(await words.count()).toBe(1);
    expect(await page.getByText(/at least 5 people have answered/).count()).toBe(1);
    // There is one explanation, without empty tiles or charts around it.
    expect(await page.getByRole('main').getByRole('heading', { level: 2 }).count()).toBeLessThan(2);
    expect(await tiles.count()).toBe(0);
    expect(await page.getByRole('slider').count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: /^Go to / }).click();
    await tiles.first().waitFor();
  },
);

test.skipIf(!hasBrowser())(
  'the overview begins with its findings, each linked to its evidence, and compares with the chosen comparison',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    const own = await readAs<GroupResults>(world.administrator.email, `/groups/${top.id}`);
    const first = page.getByRole('main').getByRole('region').first();
    await first.getByRole('heading', { level: 2, name: 'In short' }).waitFor();
    const links = first.getByRole('link');
    expect(await links.count()).toBe(own.findings.length);
    const response = own.findings.find(({ kind }) => kind === 'response');
    expect(response).toMatchObject({ kind: 'response', week: last });
    const { answered, asked } = response as { answered: number; asked: number };
    const percent = Math.round((100 * answered) / asked);
    const sentence = `${percent}% answered (${answered} of ${asked}).`;
    expect(oneLine(await links.nth(own.findings.indexOf(response!)).innerText())).toBe(sentence);
    await first.getByRole('link', { name: sentence }).click();
    await page.getByRole('heading', { level: 2, name: 'Response rate' }).waitFor();

    // Opens a subgroup, with and without a comparison. The choice stays in the address.
    const sub = groups.find(({ name }) => name === 'Workshops') as Group;
    await page.goto(`/?group=${sub.id}`);
    const tiles = page.getByRole('region', { name: 'KPIs' }).getByRole('listitem');
    await tiles.first().getByText(`vs ${top.name}`).waitFor();
    const compared = await readAs<GroupResults>(
      world.administrator.email,
      `/groups/${sub.id}?compare=company`,
    );
    for (const { name, difference } of compared.kpis) {
      const text = oneLine(await tiles.filter({ hasText: name }).innerText());
      expect([name, text]).toEqual([name, expect.stringContaining(difference ? points(difference) : '')]);
    }
    const extremes = page.getByRole('region', { name: `Highest and lowest compared with ${top.name}` });
    expect(await extremes.getByRole('listitem').count()).toBe(2 * Math.min(3, Math.floor(kpis.length / 2)));
    await page.getByRole('combobox', { name: /^Compare with: / }).click();
    await page.getByRole('option', { name: 'Nothing' }).click();
    await page.getByRole('region', { name: 'Highest and lowest', exact: true }).waitFor();
    expect(await tiles.getByText(`vs ${top.name}`).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('compare')).toBe('none');
    await page.reload();
    await page.getByRole('combobox', { name: 'Compare with: Nothing' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
  },
);

test.skipIf(!hasBrowser())(
  'a page requests its results once, in the language of the user, even if the browser has another language',
  async () => {
    const { email } = world.administrator;
    const page = await openConsole(world, browser, email, { path: '/', language: 'en' });
    await page.getByRole('heading', { level: 2, name: 'In short' }).waitFor();
    await world.pool`update users set language = 'sv' where account_id = ${world.accountId} and email = ${email}`;
    const requested: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.startsWith('/api/results')) requested.push(`${pathname} ${searchParams.get('language')}`);
    });
    await page.goto('/', { waitUntil: 'networkidle' });
    await page.getByRole('heading', { level: 2, name: 'I korthet' }).waitFor();
    expect(requested.toSorted()).toEqual(['/api/results sv', `/api/results/groups/${top.id} sv`]);
    expect(await page.locator('html').getAttribute('lang')).toBe('sv');
  },
);

/** Returns the heat map on the page: the text of each cell, including withheld ones, and the names without the number of people. */
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

/** Returns the number of a cell, without the words about it: "70 rose 5, Trend of Autonomy in Shops" is "70". */
const numberIn = (cell: string): string => /^[\d+−±.]+/.exec(textIn(cell))?.[0] ?? textIn(cell);

/** Returns the rolling values of each KPI by group, computed from the data interface. Null: withheld; missing: not asked. */
async function rollingColumns(first: Week): Promise<Map<number, number | null>[]> {
  const window = `fromDate=${first}&toDate=${lastDay(last)}`;
  const results = await resultsOf(`groupId=${top.id}&includeSubgroups=true&${window}`);
  const [byQuestion = {}] = results.values;
  const parts = await world.pool<{ kpi: string; question: number }[]>`
    select kpi_id as kpi, question_id as question from kpi_questions where account_id = ${world.accountId}`;
  return kpis.map(({ id }) => {
    const questions = parts.filter(({ kpi }) => kpi === id).map(({ question }) => byQuestion[question] ?? {});
    const entries = groups.flatMap((group): [number, number | null][] => {
      const asked = questions.map((byGroup) => byGroup[group.id]).filter((byWeek) => byWeek !== undefined);
      const latest = asked.flatMap((byWeek) => {
        const weeks = Object.entries(byWeek).toSorted(([a], [b]) => a.localeCompare(b));
        return weeks.findLast(([, { value }]) => value !== null)?.[1].value ?? [];
      });
      if (asked.length === 0) return [];
      const sum = latest.reduce((total, value) => total + value, 0);
      return [[group.id, latest.length > 0 ? sum / latest.length : null]];
    });
    return new Map(entries);
  });
}

test.skipIf(!hasBrowser())(
  'the heat map equals the data interface cell by cell, marks clear changes, explains withheld cells, sorts, compares, and equals its CSV',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/heat-map' });
    const table = page.getByRole('table', { name: 'Heat map' });
    await table.waitFor();
    const whole = await heatTable(page);
    const [, , ...headers] = whole.columns;
    const map = await readAs<HeatMap>(world.administrator.email, '/heat-map');
    expect(headers).toEqual(map.kpis.map(({ name }) => name));
    expect(headers.length).toBe(kpis.length);
    expect(whole.rows.length).toBe(groups.length);
    const all = await rollingColumns(map.firstWeek?.week as Week);
    const columns = headers.map((name) => all[kpis.findIndex((kpi) => kpi.name === name)]!);
    const idOf = new Map(groups.map(({ id, name }) => [name, id]));
    expect(idOf.size).toBe(groups.length);
    const rowOf = new Map(map.rows.map((row) => [row.name, row]));
    const expected = ([name = '']: string[]) =>
      columns.map((values) => cellOf(values.get(idOf.get(name) as number)));

    // Compares each cell, with an arrow only for a clear change, and the response.
    for (const cells of whole.rows) {
      const row = rowOf.get(cells[0] as string)!;
      expect([row.name, ...cells.slice(2).map(numberIn)]).toEqual([row.name, ...expected(cells)]);
      const rises = cells.slice(2).map((cell) => / (rose|fell) [\d.]+/.exec(cell)?.[1] ?? null);
      expect([row.name, ...rises]).toEqual([
        row.name,
        ...row.changes.map((by) => (by === null ? null : by > 0 ? 'rose' : 'fell')),
      ]);
      expect(cells[1]).toMatch(row.answered === undefined ? '' : `${row.answered} of ${row.asked}`);
    }
    expect(map.rows.some(({ answered }) => answered !== undefined)).toBe(true);

    // The CSV has the same figures with one decimal.
    const [titles = [], ...records] = await csvOf(page);
    expect(titles.slice(0, 6)).toEqual(['Group', 'Path', 'People', 'Response rate, %', 'Answered', 'Asked']);
    expect(titles.at(-1)).toBe('Based partly on handed-out links');
    expect(records.map(([name]) => name).toSorted()).toEqual(whole.rows.map(([name]) => name).toSorted());
    const places = headers.map((name) => titles.indexOf(name));
    for (const record of records) {
      const exact = columns.map((values) => {
        const value = values.get(idOf.get(record[0] as string) as number);
        return value === undefined ? '' : value === null ? 'withheld' : String(Math.round(value * 1000) / 10);
      });
      expect([record[0], ...places.map((place) => record[place])]).toEqual([record[0], ...exact]);
    }

    // With one level only: compares every cell again. At least one is withheld and shows its reason.
    await page.getByRole('combobox', { name: /^Levels: / }).click();
    await page.getByRole('option', { name: /^Level 3/ }).click();
    await expect
      .poll(async () => (await heatTable(page)).rows.length, timeouts)
      .toBeLessThan(whole.rows.length);
    const { rows } = await heatTable(page);
    expect(rows[0]?.[0]).toBe(top.name); // stays for comparison
    const shown = { figures: 0, hidden: 0 };
    for (const row of rows) {
      expect([row[0], ...row.slice(2).map(numberIn)]).toEqual([row[0], ...expected(row)]);
      for (const cell of row.slice(2)) shown[textIn(cell) === 'withheld' ? 'hidden' : 'figures']++;
    }
    expect([shown.figures > 50, shown.hidden > 0, shown]).toEqual([true, true, shown]);
    expect(await table.getByText('Withheld: fewer than 5 answers').count()).toBeGreaterThan(0);

    // Sorting by a KPI puts withheld values last. The second press sorts in ascending order, and the third returns to tree order.
    const numbers = async () => {
      const [, ...ranked] = (await heatTable(page)).rows;
      return ranked.map((row) => Number(/^\d+/.exec(numberIn(row[2] as string))?.[0] ?? -1));
    };
    const head = table.getByRole('columnheader').nth(2);
    const unsorted = await numbers();
    await head.getByRole('button').click();
    await expect.poll(() => head.getAttribute('aria-sort'), timeouts).toBe('descending');
    const descending = await numbers();
    expect(descending).toEqual(unsorted.toSorted((a, b) => b - a));
    await head.getByRole('button').click();
    await expect.poll(() => head.getAttribute('aria-sort'), timeouts).toBe('ascending');
    expect((await numbers()).filter((one) => one >= 0)).toEqual(
      unsorted.filter((one) => one >= 0).toSorted((a, b) => a - b),
    );

    // Differences from the company are in points. Only clear differences have a colour, and no arrow of a change is beside them.
    const arrows = page.locator('svg.lucide-arrow-up-right, svg.lucide-arrow-down-right');
    const legend = page.getByText(
      'Colours show high and low scores, not whether a change or difference is clear.',
    );
    expect([(await arrows.count()) > 1, await legend.count()]).toEqual([true, 1]);
    await page.getByRole('radio', { name: 'Difference' }).check();
    const compared = (await heatTable(page)).rows;
    expect([await arrows.count(), await legend.count()]).toEqual([0, 0]);
    for (const cells of compared.slice(1)) {
      const row = rowOf.get(cells[0] as string)!;
      const differences = row.differences.map((by, kpi) =>
        by === null ? undefined : points({ by, verdict: row.clear.includes(kpi) ? 'up' : 'unclear' }),
      );
      const found = cells
        .slice(2)
        .map((cell, i) => (differences[i] === undefined ? undefined : numberIn(cell)));
      expect([row.name, ...found]).toEqual([row.name, ...differences]);
    }
    const colours = await table
      .locator('tbody a[href^="/trends"]')
      .evaluateAll((cells) =>
        cells.map((cell) => (cell as unknown as { style: { background: string } }).style.background),
      );
    const isClear = compared.slice(1).flatMap(([name]) => {
      const { differences, clear } = rowOf.get(name as string)!;
      return differences.flatMap((by, kpi) => (by === null ? [] : [clear.includes(kpi)]));
    });
    expect(colours.map((colour) => colour.startsWith('var(--heat-'))).toEqual(isClear);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }

    // A control shows its new value immediately, however long the page takes.
    type Radio = { click: () => void; checked: boolean };
    const isChecked = await page.getByRole('radio', { name: 'Score', exact: true }).evaluate((element) => {
      const radio = element as unknown as Radio;
      radio.click();
      return radio.checked;
    });
    expect(isChecked).toBe(true);

    // A cell links to the trend of its KPI in its group.
    await table
      .locator('tbody tr')
      .first()
      .getByRole('link', { name: new RegExp(headers[0] as string) })
      .click();
    await page.getByRole('heading', { level: 2, name: headers[0] as string }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('kpi')).toBe(map.kpis[0]?.id);
  },
);

test.skipIf(!hasBrowser())(
  'the heat map on a phone and at 200% zoom: it scrolls on its own, names and headings stay, and reasons open by touch and by key',
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
    }

    const words = /^Withheld: (fewer than 5 answers|too few answers, or to protect a neighbouring group)$/;
    const hatched = map.getByRole('button', { name: /^Withheld: / });
    await page.evaluate("document.querySelector('main [data-scroller]').scrollTo(0, 0)");
    await hatched.nth(4).tap();
    const said = page.getByRole('dialog');
    expect(await said.innerText()).toMatch(words);
    // Scrolls to a place between two rows, so that the headings do not hide a part of a row.
    await page.evaluate(`(() => {
      const scroller = document.querySelector('main [data-scroller]');
      const { height } = scroller.querySelector('tbody tr').getBoundingClientRect();
      scroller.scrollTo(0, Math.round(scroller.scrollTop / height) * height);
    })()`);
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
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/trends' });
    const [kpi] = kpis as [Kpi];
    await page.getByRole('combobox', { name: /^Show: / }).click();
    await page.getByRole('option', { name: kpi.name }).click();
    const other = groups.find(({ name }) => name === 'Workshops') as Group;
    await choose(page, /^Add a group/, other.name);
    const table = page.getByRole('table', { name: 'Week by week' });
    await table.getByRole('columnheader', { name: other.name }).waitFor();
    const [trend, own, others] = await Promise.all([
      readAs<Trend>(world.administrator.email, `/trends?groupIds=${top.id},${other.id}&kpiId=${kpi.id}`),
      kpiValues(kpi.id, `groupId=${top.id}&${range}`),
      kpiValues(kpi.id, `groupId=${other.id}&${range}`),
    ]);
    // A cell shows the rolling value with its margin, and the value of the week alone, which is the value in the data interface.
    const cellIn = (series: Trend['series'][number], week: string, value: number | null | undefined) => {
      const rolling = series.rolling.find((one) => one.week === week);
      const shown = typeof rolling?.value === 'number' ? String(score(rolling.value)) : 'withheld';
      const interval = typeof rolling?.margin === 'number' ? ` ${margin(rolling.margin)}` : '';
      const alone = value === undefined ? '' : ` that week ${cellOf(value)}`;
      return `${shown}${interval}${alone}`;
    };
    const rows = await table.getByRole('row').allInnerTexts();
    expect(rows.slice(1).map((row) => oneLine(row).replace(/^Week (\d+), \d{4} /, '$1 '))).toEqual(
      own.toReversed().map(({ yearWeek, date, value }) => {
        const beside = others.find((one) => one.date === date)?.value;
        const [first, second] = trend.series as [Trend['series'][number], Trend['series'][number]];
        return [yearWeek.slice(4), cellIn(first, date, value), cellIn(second, date, beside)].join(' ');
      }),
    );
    const slider = page.getByRole('slider', { name: /^Trend by week/ });
    expect(await slider.getAttribute('aria-valuetext')).toMatch(`${top.name} `);

    // The response rate, with how many of the people asked answered, as in the finding that leads here.
    await page.getByRole('combobox', { name: /^Show: / }).click();
    await page.getByRole('option', { name: 'Response rate' }).click();
    const rates = await readAs<Trend>(world.administrator.email, `/trends?groupIds=${top.id},${other.id}`);
    await table
      .getByRole('cell', { name: /\d of \d/ })
      .first()
      .waitFor();
    const people = rates.series.map(({ values }) => values.find((one) => one.week === last));
    expect(oneLine((await table.getByRole('row').allInnerTexts())[1] as string)).toBe(
      [
        `Week ${weekName(last).slice(6)}, 2026`,
        ...people.map((one) => `${cellOf(one?.value)} ${one?.answered} of ${one?.asked}`),
      ].join(' '),
    );
    expect(await slider.getAttribute('aria-valuetext')).toMatch(
      `${people[0]?.answered} of ${people[0]?.asked}`,
    );

    // Opens a question of the overview's last week.
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
    const answered = page.getByRole('region', { name: 'Answers of week 46, 2026' });
    const facts = oneLine(await answered.innerText());
    const { figures: byWeek, comments: written } = await readAs<QuestionResults>(
      world.administrator.email,
      `/groups/${top.id}/questions/${question.id}`,
    );
    const figure = byWeek.find((one) => one.week === last)!;
    expect(facts).toContain(oneLine(`Score ${score(figures?.value as number)} ${margin(figure.margin)}`));
    expect(facts).toContain(wordsOf(figure.change));
    expect(facts).toContain(`Answers ${figures?.answers}`);
    // Its comments don't repeat the question.
    expect(written.length).toBeGreaterThan(0);
    const items = page.getByRole('region', { name: /^\d+ comments?$/ }).getByRole('listitem');
    expect(await items.allInnerTexts()).toEqual(written.map(({ text }) => text));

    // Finds comments by a word of one of them.
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
    expect(texts.toSorted()).toEqual(matching.toSorted());
    const marks = await page.locator('main mark').allInnerTexts();
    expect(new Set(marks.map((text) => text.toUpperCase()))).toEqual(new Set([sought]));
    expect(await axeFaults(page)).toEqual([]);
  },
);

test.skipIf(!hasBrowser())(
  'drivers have a question as outcome in quotation marks, and a KPI as its name',
  async () => {
    const { email } = world.administrator;
    // The last weeks of the demo company asked no eNPS question.
    const typed = (from: number, to: number) => world.pool`
      update questions set type = ${to}
      where  account_id = ${world.accountId} and type = ${from}
        and  question_id in (select question_id from results where account_id = ${world.accountId})`;
    await typed(1, 3);
    const { outcomes } = await readAs<Drivers>(email, '/drivers');
    const page = await openConsole(world, browser, email, { path: '/drivers' });
    for (const kind of ['question', 'kpi'] as const) {
      const { id, name } = outcomes.find((one) => one.kind === kind)!;
      const written = kind === 'question' ? `“${name}”` : name;
      await page.goto(`/drivers?outcome=${id}`);
      await page.getByRole('heading', { name: `What goes along with ${written}`, exact: true }).waitFor();
      const shown = oneLine(await page.getByRole('main').innerText());
      expect(shown).toContain(` of the differences in ${written} between the groups`);
      expect(shown).toContain(`A KPI that goes along with ${written} can be its cause`);
    }
    await typed(3, 1);
  },
);

test.skipIf(!hasBrowser())('drivers offer more weeks only if there are any', async () => {
  const { email } = world.administrator;
  const found = await readAs<Drivers>(email, '/drivers');
  const page = await openConsole(world, browser, email, { path: '/profile' });
  let body: Partial<Drivers> = { outcomes: [], outcome: null };
  await page.route('**/api/results/drivers?*', (route) => route.fulfill({ json: { ...found, ...body } }));
  // The demo company has fewer weeks than the shortest choice.
  await page.goto('/drivers');
  await page.getByText('Drivers appear here after a week with enough answers').waitFor();
  body = { state: 'noKpis' };
  await page.reload();
  await page.getByText('Choose another outcome.', { exact: true }).waitFor();
  body = { state: 'noKpis', outcomes: found.outcomes.slice(0, 1) };
  await page.reload();
  await page.getByText('Drivers appear here once another KPI has figures.').waitFor();
  expect(await page.getByText('Choose more weeks').count()).toBe(0);
});

test.skipIf(!hasBrowser())(
  'a manager sees only their own groups; the address of another group is not found',
  async () => {
    // There is no heat map for a single group. The overview shows what matters to its manager.
    const page = await openConsole(world, browser, world.manager.email, { path: '/heat-map' });
    const tiles = page.getByRole('region', { name: 'KPIs' }).getByRole('listitem');
    await tiles.first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    const navigation = page.getByRole('navigation').first();
    for (const name of ['Heat map', 'Drivers', 'Groups'])
      expect([name, await navigation.getByRole('link', { name }).count()]).toEqual([name, 0]);
    await page.getByRole('region', { name: /^Highest and lowest/ }).waitFor();
    await page
      .getByRole('region', { name: 'Response rate' })
      .getByText(/^\d+ of \d+ people answered/)
      .waitFor();
    const sections = page.getByRole('main').getByRole('heading', { level: 2 });
    expect(await sections.first().innerText()).toBe('In short');
    expect(await axeFaults(page)).toEqual([]);

    // The list of groups would have one row: its address leads to the group.
    await page.goto('/groups');
    await page.waitForURL(/\/groups\/\d+$/);
    await page.getByRole('link', { name: 'See results', exact: true }).waitFor();

    const second = groups.find(({ name }) => name === 'Workshops') as Group;
    await inTransaction(world.pool, async (tx) => {
      await tx`
        insert into memberships (account_id, user_id, kind, group_id)
        select account_id, user_id, 'inheritedAdminOf', ${second.id} from users
        where  account_id = ${world.accountId} and email = ${world.manager.email}`;
      // As each change does: a reading of the version before, which can still be running, is shared by requests of that version.
      await raiseVersion(tx, world.accountId);
    });
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
    await page.goto('/heat-map');
    await page.getByRole('table', { name: 'Heat map' }).waitFor();
    const { rows } = await heatTable(page);
    expect(rows.map(([name]) => name).toSorted()).toEqual(own.map(({ name }) => name).toSorted());
    expect(await navigation.getByRole('link', { name: 'Heat map' }).count()).toBe(1);
    expect(await navigation.getByRole('link', { name: 'Runs' }).count()).toBe(0);

    const foreign = groups.find(({ id }) => id !== top.id && !own.some((one) => one.id === id)) as Group;
    page.expectComplaint(/status of 404/);
    await page.goto(`/?group=${foreign.id}`);
    await page.getByText('You don’t have access to this group').waitFor();
    expect(await page.getByText(foreign.name).count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    // The operations behind the pages give the same response for a group that does not exist.
    const session = await world.sessionOf(world.manager.email);
    const get = (path: string) =>
      world.request('GET', `/api${path}`, { headers: { cookie: `soundings=${session}` } });
    const missing = 2_000_000_000;
    for (const path of ['/results/groups/#', '/results/trends?groupIds=#', '/results/comments?groupId=#']) {
      const [closed, none] = await Promise.all(
        [foreign.id, missing].map((id) => get(path.replace('#', String(id)))),
      );
      const contentOf = ({ body }: Awaited<ReturnType<typeof get>>) => ({ ...body, id: undefined });
      expect([path, closed!.status, contentOf(closed!)]).toEqual([path, 404, contentOf(none!)]);
    }
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page
      .getByText(/of \d+ people answered/)
      .first()
      .waitFor();
    const heading = await page.getByRole('heading', { level: 1 }).innerText();
    expect(own.map(({ name }) => name)).toContain(heading);
  },
);
