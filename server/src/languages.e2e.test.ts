// Every language that people answer in, from the invitation that a real mail server receives to the answering page in a browser: each is in
// the person's language and direction, fits a narrow screen, and has no accessibility fault that axe finds.
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { answeringLanguages } from './languages/languages.ts';
import { questionTypes } from '@soundings/contract/question-types.ts';
import { libraryFor } from './questions/library.ts';
import { planAsking } from './testing/asking.ts';
import { axeFaults } from './testing/browser/axe.ts';
import { closeWindows, hasBrowser, noBrowser, openBrowser } from './testing/browser/browser.ts';
import { someOf } from './testing/house/cases.ts';
import { openSmtp, type ReceivedMail, type TestSmtp } from './testing/smtp.ts';
import { until } from './testing/until.ts';
import { openWorld, type World } from './testing/world.ts';

const { codes, texts } = answeringLanguages;
/** The language of each person, and whose texts they get. */
const people = [...codes.map((code) => [code, code] as const), ['no', 'nb'] as const, ['is', 'en'] as const];

let now = Date.parse('2026-11-16T07:30:00Z');
let world: World;
let smtp: TestSmtp;
let browser: Browser | undefined;
beforeAll(async () => {
  smtp = await openSmtp();
  if (hasBrowser()) browser = await openBrowser();
  world = await openWorld(
    pino({ level: 'silent' }),
    { smtpUrl: smtp.url, mailFrom: 'Soundings <asking@example.com>', publicUrl: 'http://soundings.test' },
    () => now,
  );
});
afterAll(async () => {
  await closeWindows();
  await world.close();
  await smtp.close();
});

/** Runs a job that otherwise runs each minute. */
const run = async (name: string) => void (await world.pool`select graphile_worker.add_job(${name})`);

/** Asks each person one question of each type in the library, by email. Returns the emails in the order of `people`. */
async function invite(): Promise<ReceivedMail[]> {
  const { id } = await world.account({ timezone: 'Europe/Stockholm' });
  const library = libraryFor('en').questions;
  const keys = questionTypes.flatMap((type) => library.find((one) => one.type === type)?.key ?? []);
  const { userIds } = await planAsking(world.pool, id, { count: people.length, keys });
  await world.pool`
    update users u set language = p.language
    from   unnest(${userIds}::integer[], ${people.map(([language]) => language)}::text[]) p(id, language)
    where  u.account_id = ${id} and u.user_id = p.id`;
  now = Date.parse('2026-11-16T08:00:30Z');
  await run('open rounds');
  await until(async () => (await world.pool`select 1 from messages where account_id = ${id}`).length > 0);
  await run('send messages');
  await smtp.arrived(people.length);
  return people.map((_, i) => smtp.mails.find(({ to }) => to[0] === `p${i + 1}@example.org`) as ReceivedMail);
}

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

test('each person gets the email and the page in their language', async (context) => {
  if (!browser) return context.skip(noBrowser);
  const mails = await invite();
  const options = { viewport: { width: 320, height: 700 }, reducedMotion: 'reduce' as const };
  const [inbox, page] = [await browser.newPage(options), await browser.newPage(options)];
  const checked = someOf(people);
  for (const [i, person] of people.entries()) {
    const [language, spoken] = person;
    const { text, html } = mails[i] as ReceivedMail;
    const t = texts.in(spoken);
    const direction = writingDirectionOf(spoken);
    for (const part of [text, html]) expect(part).toContain(t('mail.anonymous.lead'));
    expect(html).toContain(`<html lang="${spoken}"${direction === 'rtl' ? ' dir="rtl"' : ''}>`);
    await inbox.setContent(html);
    expect([language, 'email', await overflow(inbox)]).toEqual([language, 'email', 0]);

    // With nothing answered, the page shows all questions together.
    const [, link] = /http:\/\/soundings\.test(\/a\/[0-9A-Za-z]{27})/.exec(text) ?? [];
    await page.goto(`${world.address}${link}?saved`);
    expect(await page.locator('html').getAttribute('lang')).toBe(spoken);
    expect(await page.locator('html').getAttribute('dir')).toBe(direction);
    expect(await page.locator('#privacy h2').textContent()).toBe(t('privacy.heading'));
    const agree = { name: t('scales.agreement.5'), exact: true };
    expect(await page.getByRole('radio', agree).count()).toBe(1);
    if (!checked.includes(person)) continue;
    for (const details of await page.locator('details').all()) await details.locator('summary').click();
    expect([language, 'page', await overflow(page)]).toEqual([language, 'page', 0]);
    expect([language, ...(await axeFaults(page))]).toEqual([language]);
  }
  await inbox.close();
  await page.close();
});
