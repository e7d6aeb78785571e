// A whole survey in one company: a schedule, an email at each person's hour, answers in a browser with and without JavaScript, in
// two languages, a reminder only to the others, the end of the week, and the figures in the data interface.
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planAsking } from './testing/asking.ts';
import { closeWindows, hasBrowser, noBrowser, openBrowser } from './testing/browser/browser.ts';
import { openSmtp, type ReceivedMail, type TestSmtp } from './testing/smtp.ts';
import { until } from './testing/until.ts';
import { openWorld, type TestAccount, type World } from './testing/world.ts';

// Monday in Stockholm, a few minutes before the invitations are due.
let now = Date.parse('2026-11-16T07:30:00Z');
const at = (time: string) => (now = Date.parse(time));

let world: World;
let smtp: TestSmtp;
let browser: Browser | undefined;
const logged: string[] = [];
beforeAll(async () => {
  smtp = await openSmtp();
  if (hasBrowser()) browser = await openBrowser();
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void logged.push(line) });
  world = await openWorld(
    log,
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
const linkIn = ({ text }: ReceivedMail) =>
  /http:\/\/soundings\.test(\/a\/[0-9A-Za-z]{27})/.exec(text)?.[1] as string;
const mailTo = (number: number) =>
  smtp.mails.find(({ to }) => to[0] === `p${number}@example.org`) as ReceivedMail;

async function openPage(path: string, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser!.newContext({ javaScriptEnabled });
  const page = await context.newPage();
  await page.goto(world.address + path);
  return page;
}

/** Answers with JavaScript: one question on each screen. */
async function answerWithScript(
  path: string,
  texts: { choice: string; next: string; finish: string; saved: RegExp },
) {
  const page = await openPage(path, true);
  await page.getByRole('radio', { name: texts.choice, exact: true }).check();
  await page.getByRole('button', { name: texts.next }).click();
  await page.getByRole('radio', { name: /^8/ }).check();
  await page.getByRole('button', { name: texts.finish }).click();
  await page.getByText(texts.saved).first().waitFor();
  await page.context().close();
}

/** Answers without JavaScript: all questions on one page, sent together. */
async function answerWithoutScript(path: string, texts: { choice: string; send: string; saved: RegExp }) {
  const page = await openPage(path, false);
  await page.getByRole('radio', { name: texts.choice, exact: true }).check();
  await page.getByRole('radio', { name: /^8/ }).check();
  await page.getByRole('button', { name: texts.send }).click();
  await page.getByText(texts.saved).first().waitFor();
  await page.context().close();
}

const english = {
  choice: 'Agree',
  next: 'Next',
  finish: 'Finish',
  send: 'Send answers',
  saved: /answers are saved/,
};
const swedish = {
  choice: 'Håller med',
  next: 'Nästa',
  finish: 'Klar',
  send: 'Skicka svaren',
  saved: /svar är sparade/,
};

async function read<T>(account: TestAccount, path: string): Promise<T> {
  const response = await fetch(world.address + path, { headers: { authorization: account.token } });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

test('from the schedule to the figures', async (context) => {
  if (!browser) return context.skip(noBrowser);
  const account = await world.account({ timezone: 'Europe/Stockholm' });
  const { groupId, userIds, questionIds } = await planAsking(world.pool, account.id, {
    count: 10,
    reminderDays: 2,
  });
  await world.pool`update users set language = 'sv' where account_id = ${account.id} and user_id = any(${userIds.filter((_, i) => i % 2 === 1)})`;

  // No one is asked before the hour. At nine, everyone is, in their own language.
  await run('open rounds');
  await run('send messages');
  at('2026-11-16T08:00:30Z');
  await run('open rounds');
  await until(
    async () => (await world.pool`select 1 from messages where account_id = ${account.id}`).length > 0,
  );
  await run('send messages');
  await smtp.arrived(10);
  expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).toBe(10);
  expect(mailTo(1).html).toContain('lang="en"');
  expect(mailTo(2).html).toContain('lang="sv"');
  expect(mailTo(1).headers['list-unsubscribe']).toMatch(/^<http:\/\/soundings\.test\/r\/[\w-]+\?none>$/);

  // Six people answer, four of them in a browser.
  await answerWithScript(linkIn(mailTo(1)), english);
  await answerWithScript(linkIn(mailTo(2)), swedish);
  await answerWithoutScript(linkIn(mailTo(3)), english);
  await answerWithoutScript(linkIn(mailTo(4)), swedish);
  const [first, second] = [questionIds.get('workload-amount'), questionIds.get('workload-rested')] as [
    number,
    number,
  ];
  for (const number of [5, 6]) {
    const body = new URLSearchParams({ [`q${first}`]: '2', [`s${second}`]: '1' });
    const sent = await fetch(world.address + linkIn(mailTo(number)), {
      method: 'POST',
      body,
      redirect: 'manual',
    });
    expect(sent.status).toBe(303);
  }

  // Wednesday at nine: a reminder to the four others.
  at('2026-11-18T08:00:30Z');
  await run('send messages');
  await smtp.arrived(14);
  const reminders = smtp.mails.slice(10);
  expect(reminders.flatMap(({ to }) => to).toSorted()).toEqual(
    [7, 8, 9, 10].map((number) => `p${number}@example.org`).toSorted(),
  );
  expect(reminders[0]?.headers['list-unsubscribe']).toMatch(/^<http:\/\/soundings\.test\/r\/[\w-]+\?none>$/);
  // The link in the invitation still works in addition to the one in the reminder.
  expect((await fetch(world.address + linkIn(mailTo(7)))).status).toBe(200);

  // The end of Sunday in Stockholm.
  at('2026-11-22T23:00:30Z');
  await run('close weeks');
  await until(
    async () =>
      (await world.pool`select 1 from weeks where account_id = ${account.id} and closed_at is null`)
        .length === 0,
  );
  const dead = linkIn(mailTo(1));
  expect((await fetch(world.address + dead)).status).toBe(404);

  // Four answered 4 of 5 and two answered 2: the mean is 3.33 of 5. Four answered 8 of 10 and two skipped, which is too few to
  // publish.
  const scope = `groupId=${groupId}&fromDate=2026-11-16&toDate=2026-11-22`;
  const mean = (4 * 0.75 + 2 * 0.25) / 6;
  const kpis = await read<{ id: string }[]>(account, '/v1/kpis');
  expect(kpis.map(({ id }) => id)).toEqual(['workload']);
  const values = JSON.stringify(await read(account, `/v1/kpis/workload/values?${scope}`));
  expect(values).toContain('202647');
  expect(values).toContain(`"value":${mean}`);
  // 12 of 20 questions, because six people answered or skipped both of theirs.
  expect(JSON.stringify(await read(account, `/v1/responserates/values?${scope}`))).toContain('"value":0.6');
  const results = JSON.stringify(await read(account, `/v1/results?${scope}&includeComments=true`));
  expect(results).toContain(`"value":${mean}`);
  expect(results).toContain('"answers":6');
  expect(results).toContain('"value":null');
  const asked = JSON.stringify(await read(account, `/v1/askedquestions?${scope}&language=sv`));
  expect(asked).toContain('"2647"');
  expect(asked).toContain('Jag hinner med mitt arbete inom min arbetstid.');

  // No line of the log contains a link, an address or an answer.
  const log = logged.join('\n');
  for (const mail of smtp.mails) {
    expect(log).not.toContain(linkIn(mail).slice(3));
    expect(log).not.toContain(mail.to[0]);
  }
  expect(log).toContain('/a/:link');
});
