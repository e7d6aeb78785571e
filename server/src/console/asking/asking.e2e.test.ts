// Surveys of the demo company in a browser. A question is written in two languages, and a schedule asks it. An open week is
// watched, answered with a personal link, and closed, and its figures are in the data interface.
import type { ResultsValues } from '@soundings/contract/data.ts';
import { lastDay } from '@soundings/contract/weeks.ts';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import { countParticipation } from '../../rounds/participation.ts';
import { askedWeek, noon } from '../../testing/asking.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { readCsv } from '../../testing/csv.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

/** The timeout for a busy machine. On an idle machine each test takes a few seconds. */

let world: DemoWorld;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const english = 'The tools I work with are in good order.';
const swedish = 'Verktygen jag arbetar med är i gott skick.';

test.skipIf(!hasBrowser())(
  'a question is written in two languages and previewed, and a schedule asks it in the week that its calendar shows',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/questions' });
    await page.getByRole('link', { name: 'New question' }).click();

    // An empty form is not saved, and shows what is missing.
    page.expectComplaint(/status of 400/);
    await page.getByRole('button', { name: 'Create question' }).click();
    await page.getByText('This field is required.').first().waitFor();
    await page.getByRole('textbox', { name: 'Question, English' }).fill(english);
    await page.getByRole('textbox', { name: 'Question, Swedish' }).fill(swedish);
    await page.getByRole('combobox', { name: 'KPI' }).click();
    await page.getByRole('option', { name: 'Team and support' }).click();

    // The preview shows the question in each language.
    const preview = page.getByRole('complementary');
    await preview.getByText(english).waitFor();
    await preview.getByRole('radio', { name: 'Swedish' }).check();
    await preview.getByText(swedish).waitFor();
    await preview.getByText('Håller med', { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create question' }).click();
    await page.getByRole('heading', { level: 1, name: english }).waitFor();
    const [created] = await world.pool<{ id: number; sv: string; type: number }[]>`
      select question_id as id, type, translations ->> 'sv' as sv
      from   questions where account_id = ${world.accountId} and text = ${english}`;
    expect(created).toEqual({ id: created?.id, type: 1, sv: swedish });

    const id = await makeSchedule(page, created?.id as number);

    // The calendar of the schedule shows next Monday with its questions.
    const cell = page.getByRole('button', {
      name: 'Week 48, 2026: Scheduled: 1 question to 30 people, as of today.',
    });
    await cell.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(english).waitFor();
    await dialog.getByText(/Mon.*23 Nov.*in each person’s time zone/).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: /^Week 47, 2026: / }).count()).toBe(0);

    // The preview shows the answering page.
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Preview page' }).click();
    await page.getByText(/Questions scheduled for .*\(week 48, 2026\)/).waitFor();
    await page.getByRole('combobox', { name: 'Language of the preview' }).click();
    await page.getByRole('option', { name: 'Arabic · machine-drafted' }).waitFor();
    await page.getByRole('option', { name: 'Swedish' }).click();
    await page.getByText(swedish).waitFor();

    // The calendar of all schedules contains it.
    await page.goto('/schedules?view=calendar');
    const row = page.getByRole('row', { name: /^Tools check/ });
    await row.getByRole('button', { name: /^Week 48, 2026: Scheduled: 1 question to 30 people/ }).waitFor();
    await row.getByRole('link', { name: 'Tools check' }).click();
    await page.waitForURL(`**/schedules/${id}`);
  },
);

/** Creates a schedule in the editor: this question, for the day shift, every second Monday. */
async function makeSchedule(page: Page, questionId: number): Promise<number> {
  await page.getByRole('link', { name: 'Schedules' }).click();
  await page.getByRole('link', { name: 'New schedule' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Tools check');
  await page.getByRole('radio', { name: 'The same questions every time' }).check();
  await page.getByRole('searchbox', { name: 'Search questions' }).fill('tools I work');
  await page.getByRole('checkbox', { name: english }).check();
  const effect = page.getByRole('complementary');
  await effect.getByText('Still to fix').waitFor();
  await page.getByRole('combobox', { name: 'Groups' }).click();
  await page.getByRole('combobox', { name: 'Search groups' }).fill('day shift');
  await page.getByRole('option', { name: /Sewing, Day Shift/ }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('spinbutton', { name: 'Every' }).fill('2');
  await effect.getByText('30 people').waitFor();
  await effect.getByText('Week 48, 2026 · 1 question').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await page.getByRole('heading', { level: 1, name: /Tools check/ }).waitFor();
  const [schedule] = await world.pool<{ id: number; questions: number[]; group: string; weeks: number }[]>`
    select s.schedule_id as id, s.question_ids as questions, g.name as group, s.repeat_weeks as weeks
    from   schedules s
    join   groups g on g.account_id = s.account_id and g.group_id = s.group_ids[1]
    where  s.account_id = ${world.accountId} and s.name = 'Tools check'`;
  expect(schedule).toEqual({
    id: schedule?.id,
    questions: [questionId],
    group: 'Sewing, Day Shift',
    weeks: 2,
  });
  return schedule?.id as number;
}

type Link = { path: string; externalId: string };

/** Downloads a link for each person asked. */
async function downloadLinks(page: Page): Promise<Link[]> {
  await page.getByRole('button', { name: 'Personal links…' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^Download \d+ links$/ }).click(),
  ]);
  const [, ...rows] = readCsv((await readFile(await file.path(), 'utf8')).replace('\uFEFF', ''));
  return rows.map((row) => ({ path: new URL(row.at(-1) as string).pathname, externalId: row[0] as string }));
}

/** Answers on the answering page, one question per screen, and agrees with each statement. */
async function answer(path: string): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 390, height: 844 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${world.address}${path}?language=en`);
  const agree = page.getByRole('radio', { name: 'Agree', exact: true });
  const last = page.getByRole('button', { name: 'Finish' });
  for (let i = 1; ; i++) {
    await page.getByText(new RegExp(`^${i} of \\d+`)).waitFor();
    const choice = (await agree.isVisible()) ? agree : page.getByRole('radio').first();
    await choice.check();
    if (await last.isVisible()) break;
    await page.getByRole('button', { name: 'Next' }).click();
  }
  await last.click();
  await page
    .getByText(/answers (are saved|have been received)/)
    .first()
    .waitFor();
}

/** Returns the externalIds of the direct members of a group. */
async function membersOf(externalId: string): Promise<Set<string>> {
  const rows = await world.pool<{ id: string }[]>`
    select u.external_id as id
    from   users u
    join   memberships m using (account_id, user_id)
    join   groups g using (account_id, group_id)
    where  u.account_id = ${world.accountId} and m.kind = 'memberOf' and g.external_id = ${externalId}`;
  return new Set(rows.map(({ id }) => id));
}

test.skipIf(!hasBrowser())(
  'the open week is watched, answered with a personal link, and closed by typing its number; its figures are in /v1',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/rounds' });
    await page.getByRole('heading', { level: 2, name: /^16.*22 Nov 2026, W47$/ }).waitFor();
    await page.getByText('Counted once a day, starting tomorrow', { exact: true }).waitFor();
    const [asked] = await world.pool<{ count: number; top: number; question: number }[]>`
      select (select count(distinct respondent)::int from assignments
              where account_id = ${world.accountId} and week = ${askedWeek}) as count,
             r.group_id as top,
             (select min(q.question_id) from questions q
              where q.account_id = r.account_id and q.question_id = any(r.question_ids) and q.type = 1) as question
      from   rounds r where r.account_id = ${world.accountId} and r.week = ${askedWeek}`;
    const { count, top, question } = asked as { count: number; top: number; question: number };
    await page.getByText(String(count), { exact: true }).first().waitFor();

    // Eight people of one shift answer, so that no figure is withheld: four agree fully, three disagree, and one agrees on the page
    // itself.
    const links = await downloadLinks(page);
    expect(links.length).toBe(count);
    const shift = await membersOf('boras-day');
    const [first, ...others] = links.filter(({ externalId }) => shift.has(externalId)).slice(0, 8);
    await answer(first?.path as string);
    for (const [i, { path }] of others.entries()) {
      const body = new URLSearchParams({ [`q${question}`]: i < 4 ? '5' : '2' });
      const sent = await fetch(world.address + path, { method: 'POST', body, redirect: 'manual' });
      expect(sent.status).toBe(303);
    }
    // On the next day, the count of eight answers is not certain: they are fewer than a step, and where the steps begin is random.
    await world.pool`update users set active_since = '2026-01-01' where account_id = ${world.accountId}`;
    await world.pool`update schedule_weeks set at = '2026-11-16' where account_id = ${world.accountId}`;
    await countParticipation(world.pool, world.keys, noon + 24 * 3_600_000);
    await page.reload();
    await page.getByText('Too few to show yet', { exact: true }).waitFor();

    // The dialog explains the effects, and requires the number of the week.
    await page.getByRole('button', { name: 'Close now…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Close week 47, 2026 now?' });
    await dialog.getByText('This can’t be undone.').waitFor();
    await dialog.getByText(/All personal links of the week stop working/).waitFor();
    const close = dialog.getByRole('button', { name: 'Close week 47' });
    expect(await close.isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Type 47 to confirm' }).fill('47');
    await close.click();
    await page.getByText('Week 47, 2026 closed. Its figures are published.').waitFor();
    await page.getByRole('heading', { level: 2, name: 'Closed weeks' }).waitFor();
    expect(await page.getByRole('button', { name: 'Close now…' }).count()).toBe(0);
    expect((await fetch(world.address + first?.path)).status).toBe(404);

    const { token } = await createToken(world.pool, world.accountId, { name: 'e2e', scopes: ['data'] });
    const range = `fromDate=${askedWeek}&toDate=${lastDay(askedWeek)}`;
    const { body } = await world.request<ResultsValues[]>('GET', `/v1/results?groupId=${top}&${range}`, {
      headers: { authorization: token },
    });
    const figures = body[0]?.values[0]?.[question]?.[top]?.['2647'];
    expect(figures).toMatchObject({ answers: 8, value: (4 + 3 * 0.25 + 0.75) / 8 });

    // The overview shows the figure: (4·1 + 3·0.25 + 0.75) / 8 is 69 of 100.
    await page.goto('/');
    await page.getByText(/results up to week 47, final/).waitFor();
    const answers = page.getByRole('region', { name: 'Answers of week 47' });
    const [text] = await world.pool<{ text: string }[]>`
      select text from questions where account_id = ${world.accountId} and question_id = ${question}`;
    const own = answers
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: text?.text as string }) });
    expect(await own.first().innerText()).toMatch(/\b69\b/);
  },
);

test.skipIf(!hasBrowser())(
  'an error of a whole form is in view and has the focus, and a double click pauses a schedule once',
  async () => {
    const [schedule] = await world.pool<{ id: number }[]>`
      select schedule_id as id from schedules where account_id = ${world.accountId} order by schedule_id limit 1`;
    const page = await openConsole(world, browser, world.administrator.email, {
      path: `/schedules/${schedule?.id}`,
      size: { width: 1280, height: 600 },
    });
    page.expectComplaint(/status of 500/);
    await page.route('**/api/**', (route) =>
      route.request().method() === 'PUT' && !route.request().url().endsWith('/paused')
        ? route.fulfill({ status: 500 })
        : route.continue(),
    );
    await page.getByRole('textbox', { name: 'Name' }).fill('Other');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const alert = page.getByRole('main').getByRole('alert');
    await alert.waitFor();
    // It gets the focus after it is drawn.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
    const box = await alert.boundingBox();
    const header = await page.getByRole('heading', { level: 1 }).boundingBox();
    expect(box?.y).toBeGreaterThan((header?.y ?? 0) + (header?.height ?? 0));
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(600);
    expect(await axeFaults(page)).toEqual([]);

    const sent: string[] = [];
    page.on('request', (request) => request.url().endsWith('/paused') && sent.push(request.method()));
    await page.getByRole('button', { name: 'Pause schedule' }).dblclick();
    await page.getByRole('button', { name: 'Resume schedule' }).waitFor();
    expect(sent).toEqual(['PUT']);
  },
);
