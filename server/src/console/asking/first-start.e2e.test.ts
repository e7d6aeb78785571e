// From an empty database to a first answer on a phone, in a real browser that does only what the screens say: the printed link, the
// company, a list of people, a template, a test email, inviting the manager, asking immediately, and answering from the invitation.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFirstStartLink } from '../../auth/first-start.ts';
import { openLog } from '../../base/log.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { noon } from '../../testing/asking.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

/** The longest time that it may take, in ms: someone who reads the screens needs more, the service must not. */
const mostMs = 180_000;

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url }, () => noon);
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
  await smtp?.close();
});

const press = (within: Pick<Page, 'getByRole'>, name: string | RegExp) =>
  within.getByRole('button', { name, exact: true }).click();
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
const toast = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const step = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: new RegExp(`^${title}`) }) });
const isDone = (page: Page, title: string) =>
  step(page, title).getByText('(Done)').waitFor({ state: 'attached' });

const groups = 'Group ID;Group name;Parent group ID\n1;Company;\n2;Sales;1\n';
const names = ['Ada', 'Bo', 'Cleo', 'Dan', 'Eva', 'Finn'];
const people = [
  'Employee ID;First name;Last name;Email;Department;Role',
  ...names.map((name, i) => `${i + 1};${name};Ek;${name.toLowerCase()}@example.org;2;User`),
  '7;Mona;Lind;mona@example.org;1;Manager',
].join('\n');

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('from an empty database to a first answer on a phone, within three minutes', async () => {
    const link = (await createFirstStartLink(world.pool, world.address)) as string;
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const begun = performance.now();

    await page.goto(link);
    await page.getByLabel('Name', { exact: true }).fill('Nordwind');
    await page.getByLabel('First name').fill('Kim');
    await page.getByLabel('Last name').fill('Berg');
    await page.getByLabel('Email address', { exact: true }).fill('kim@example.org');
    await page.getByLabel('Password', { exact: true }).fill('eleven quiet harbours');
    await press(page, 'Create account');

    await page.getByRole('heading', { name: 'Get your first answers' }).waitFor();
    await isDone(page, 'Company and language');
    expect(await axeFaults(page)).toEqual([]);
    await follow(page, 'Upload a file');
    const files = [
      ['groups.csv', groups],
      ['people.csv', people],
    ].map(([name = '', text = '']) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) }));
    await page.locator('input[type=file]').setInputFiles(files);
    await until(async () => (await page.getByText('Applied', { exact: true }).count()) >= 2);

    await follow(page, 'Get started');
    await isDone(page, 'Add people');
    await isDone(page, 'Put people in groups');
    await follow(page, 'Choose a template');
    const pulse = page.getByRole('region', { name: 'Pulse each week' });
    await pulse.getByText('7 people').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await press(pulse, 'Create schedule');
    await page.getByRole('heading', { level: 1, name: 'Weekly pulse' }).waitFor();

    await follow(page, 'Get started');
    await press(page, 'Send me a test email');
    await toast(page, 'Test email sent to kim@example.org');
    expect(smtp.mails.at(-1)!.to).toEqual(['kim@example.org']);

    await follow(page, 'Invite managers');
    await press(page, 'Invite 1 manager…');
    const inviting = page.getByRole('dialog', { name: 'Invite people to sign in?' });
    await inviting.getByText('Manager · mona@example.org').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await press(inviting, 'Invite 1 person');
    await toast(page, 'The invitation is on its way');

    await follow(page, 'Get started');
    await isDone(page, 'Invite managers');
    await press(page, 'Ask now…');
    const asking = page.getByRole('dialog', { name: 'Ask “Weekly pulse” now?' });
    await asking.getByText('7 people get 5 questions each.').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await press(asking, 'Ask 7 people');
    await toast(page, '7 people are being asked');
    await isDone(page, 'Ask');

    const mail = await until(async () =>
      smtp.mails.find(({ to, text }) => to[0] === 'ada@example.org' && text.includes('/a/')),
    );
    const path = new URL(/https?:\S+\/a\/\S+/.exec(mail.text)![0]).pathname;
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: 'en-GB' });
    await phone.goto(world.address + path);
    await phone.getByText('Agree', { exact: true }).first().click();
    await phone.getByText('Saved').first().waitFor();
    const took = performance.now() - begun;
    process.stdout.write(`From an empty database to a first answer: ${(took / 1000).toFixed(1)} s\n`);
    expect(took).toBeLessThan(mostMs);
    const [answered] = await world.pool`select count(*)::integer as count from answers`;
    expect(answered?.['count']).toBe(1);
  }, 240_000);
});
