// npm run screens: takes pictures of every page with the whole demo company, in light and dark and some on a phone, of the pages on which
// people answer, and of the emails and text messages that they got, and writes docs/screens/. `npm run screens -- overview kiosk` takes
// only these pictures.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext } from 'playwright-core';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { type QuestionType, yesNo } from '@soundings/contract/question-types.ts';
import { createFirstStartLink } from '../../auth/first-start.ts';
import { beginSession } from '../../auth/sessions.ts';
import { startAnswering, startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { openEmbedded } from '../../db/embedded.ts';
import { makeDemo } from '../../demo/demo.ts';
import { openDigestSender } from '../../digests/digests.ts';
import { openMailer } from '../../mail/mailer.ts';
import { testMail } from '../../mail/test-mail.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { computeStatistics } from '../../results/statistics/statistics.ts';
import { openSender } from '../../rounds/messages/messages.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { openSimulationPool } from '../../simulation/simulation.ts';
import { openGateway } from '../../sms/gateway.ts';
import { gatewaySettings, openTestGateway, type TestGateway } from '../../sms/gateway.fixture.ts';
import { findBrowser, launchBrowser } from './chromium.ts';
import { addressOf, followRequests, settled } from './console-pages.ts';
import { makeScene } from './console-scene.ts';
import { freePort } from '../processes/free-port.ts';
import { openSmtp, type ReceivedMail, type TestSmtp } from '../smtp.ts';
import { openKiosk, waitByDate, withoutDesk, workOnFoci } from './quarter-scene.ts';
import { answering } from './answering-screens.ts';
import {
  type Kind,
  moreScreens,
  outside,
  publicUrl,
  type Screen,
  type ScreenIds,
  screens,
  signIn,
} from './screen-list.ts';
import { mailPage, type Message, smsPage, takeMessage } from './screen-mails.ts';

const folder = fileURLToPath(new URL('../../../../docs/screens/', import.meta.url));
const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** Of the JPEG files, so that all of them together stay below 8 MB. */
const quality = 62;
const mailFrom = 'Soundings <soundings@lavmark.example>';

/** The names of pictures to take; empty: all. */
const wanted = new Set(process.argv.slice(2));
const isWanted = ({ name }: { name: string }) => wanted.size === 0 || wanted.has(name);

/** The messages, in their order. Their content is known at the end. */
const messages: Omit<Message, 'html'>[] = [
  { name: 'invitation', title: 'Invitation', description: 'What people get when a week begins.' },
  { name: 'reminder', title: 'Reminder', description: 'For people who haven’t answered.' },
  {
    name: 'text-message',
    title: 'Text messages',
    description: 'For people with a phone and no email address.',
  },
  {
    name: 'digest-manager',
    title: 'Digest for a manager',
    description: 'When a week has closed: the results of the groups that the person can see.',
  },
  {
    name: 'digest-administrator',
    title: 'Digest for an administrator',
    description: 'The company’s results.',
  },
  { name: 'test-mail', title: 'Test email', description: 'From the settings.' },
];

const numbers = new Map(
  [...outside, ...signIn, ...screens, ...moreScreens, ...answering, ...messages].map(({ name }, i) => [
    name,
    String(i + 1).padStart(2, '0'),
  ]),
);
const fileOf = ({ name }: { name: string }, kind: string) => `${numbers.get(name)}-${name}-${kind}.jpg`;
const kindsOf = ({ kinds = ['light', 'dark'] }: Screen): readonly Kind[] => kinds;

type Place = { browser: Browser; address: string; ids: ScreenIds; secret?: string };

async function openContext({ browser, address, secret }: Place, kind: Kind): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: address,
    locale: 'en-GB',
    timezoneId: 'Europe/Stockholm',
    reducedMotion: 'reduce',
    colorScheme: kind === 'dark' || kind === 'phone-dark' ? 'dark' : 'light',
    viewport: kind === 'light' || kind === 'dark' ? desk : phone,
  });
  if (secret) await context.addCookies([{ name: 'soundings', value: secret, url: address, httpOnly: true }]);
  return context;
}

async function take(context: BrowserContext, screen: Screen, kind: string, ids: ScreenIds): Promise<void> {
  const page = await context.newPage();
  followRequests(page);
  await page.goto(addressOf(screen.path, ids));
  await settled(page);
  await screen.first?.(page);
  await settled(page);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.screenshot({ path: join(folder, fileOf(screen, kind)), type: 'jpeg', quality });
  await page.close();
}

async function takeAll(place: Place, all: Screen[]): Promise<void> {
  for (const kind of ['light', 'dark', 'phone', 'phone-dark'] as const) {
    const context = await openContext(place, kind);
    // Only the browser in which a person has answered thanks them.
    const { thanksDarkLink } = place.ids;
    const ids = kind === 'phone-dark' ? { ...place.ids, thanksLink: thanksDarkLink } : place.ids;
    for (const screen of all.filter((one) => isWanted(one) && kindsOf(one).includes(kind))) {
      // One page that can't be shown doesn't keep the others from being taken.
      await take(context, screen, kind, ids).catch((error: unknown) => {
        process.exitCode = 1;
        process.stderr.write(`${screen.name}, ${kind}: ${String(error)}\n`);
      });
    }
    await context.close();
  }
}

function writeIndex(): void {
  const image = (name: string, title: string, kind: Kind) =>
    `<img src="${fileOf({ name }, kind)}" alt="${title}, ${kind}" width="${kind.startsWith('phone') ? '24%' : '49%'}">`;
  const entry = (
    { name, title, description }: { name: string; title: string; description: string },
    kinds: readonly Kind[],
  ) => {
    const taken = kinds.filter((kind) => existsSync(join(folder, fileOf({ name }, kind))));
    const images = taken.map((kind) => image(name, title, kind)).join('\n');
    return taken.length === 0 ? [] : [`### ${title}`, description, images];
  };
  const pages = (all: Screen[]) => all.flatMap((one) => entry(one, kindsOf(one)));
  const head = [
    '# Screens',
    'A quarter of the demo company: the console, the pages on which people answer, and the messages that they get, in light and dark. Created by `npm run screens`.',
  ];
  const parts = [
    ...head,
    '## The console',
    ...pages([...outside, ...signIn, ...screens, ...moreScreens]),
    '## Answering',
    ...pages(answering),
    '## Emails and text messages',
    ...messages.flatMap((one) => entry(one, ['light', 'dark'])),
  ];
  writeFileSync(join(folder, 'README.md'), `${parts.join('\n\n')}\n`);
}

/** Signs the administrator in, and returns the secret for the cookie. */
async function secretOf(pool: Pool, { accountId, userId }: Scene): Promise<string> {
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  return beginSession(pool, { accountId, userId }, { address: '192.0.2.17', agent });
}

/** In ms. On Monday, the week opens; on Wednesday, its reminders are due. */
const twoDays = 2 * 86_400_000;

/** Noon on the last Wednesday. */
function wednesday(): number {
  const noon = new Date();
  noon.setUTCHours(12, 0, 0, 0);
  if (noon.getTime() > Date.now()) noon.setUTCDate(noon.getUTCDate() - 1);
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 4) % 7));
  return noon.getTime();
}

/** Sends the invitations of the open week as on Monday and, on Wednesday, the reminders. Returns the sender's messages by their kind. */
async function sendWeek(scene: Scene): Promise<{ invitations: ReceivedMail[]; reminders: ReceivedMail[] }> {
  const { pool, keys, smtp, now } = scene;
  const gateway = openGateway(gatewaySettings(scene.gateway.url));
  const mailer = openMailer(smtp.url, mailFrom);
  const send = openSender({ pool, keys, mailer, gateway, publicUrl, log });
  await send(now - twoDays);
  // Administrators get other emails, too.
  const asking = () => smtp.mails.splice(0).filter(({ text }) => linkIn(text) !== '');
  const invitations = asking();
  await answerSome(scene, invitations);
  await send(now);
  mailer.close();
  return { invitations, reminders: asking() };
}

/** Answers as some of the people who got an invitation, through the links in their emails. */
async function answerSome({ pool, accountId, address }: Scene, invitations: ReceivedMail[]): Promise<void> {
  const questions = await pool<{ id: number; type: QuestionType }[]>`
    select distinct q.question_id as id, q.type
    from   asked a
    join   weeks w using (account_id, week)
    join   questions q on q.account_id = a.account_id and q.question_id = any(a.question_ids)
    where  a.account_id = ${accountId} and w.closed_at is null`;
  // Everyone answers a little differently, and more often with a high value.
  for (const [i, mail] of invitations.filter((_, at) => at % 7 < 5).entries()) {
    const given = questions.map(({ id, type }) => [
      `q${id}`,
      type === yesNo ? (i % 5 === id % 5 ? 'no' : 'yes') : String(5 - (((i * (1 + (id % 3)) + id) % 5) % 4)),
    ]);
    await fetch(address + linkIn(mail.text), {
      method: 'POST',
      body: new URLSearchParams(given as [string, string][]),
      redirect: 'manual',
    });
  }
}

const linkIn = (text: string): string => /\/a\/[0-9A-Za-z]{27}/.exec(text)?.[0] ?? '';

/** Closes the open week at its end, and returns the digests of the Tuesday after it. */
async function closeAndDigest({ pool, keys, smtp, accountId, now }: Scene): Promise<ReceivedMail[]> {
  const week = weekOf(dayIn('Europe/Stockholm', now));
  const [monday, tuesday] = [
    Date.parse(`${addWeeks(week, 1)}T00:30:00Z`),
    Date.parse(`${addWeeks(week, 1)}T09:00:00Z`) + 86_400_000,
  ];
  smtp.mails.length = 0;
  await closeWeekNow(pool, keys, accountId, week, monday);
  await computeStatistics(pool, accountId);
  const mailer = openMailer(smtp.url, mailFrom);
  await openDigestSender({ pool, mailer, publicUrl, log })(tuesday);
  mailer.close();
  return smtp.mails.splice(0).filter(({ text }) => text.includes(`${publicUrl}/d/`));
}

/** Takes the pictures of what people got. */
async function takeMessages(
  scene: Scene,
  { invitations, reminders }: Awaited<ReturnType<typeof sendWeek>>,
  texts: string[],
): Promise<void> {
  if (!messages.some(isWanted)) return;
  const digests = await closeAndDigest(scene);
  const english = (mails: ReceivedMail[], more = /./) =>
    mails.find(({ html, text }) => html.includes('lang="en"') && more.test(text)) ?? mails[0];
  const isAdministrator = ({ to }: ReceivedMail) => to[0] === scene.administrator;
  const test = {
    ...testMail('en', 'Lavmark'),
    headers: { from: mailFrom, to: scene.administrator, subject: '' },
  };
  const found: Record<string, ReceivedMail | undefined> = {
    invitation: english(invitations),
    reminder: english(reminders),
    'digest-manager': english(
      digests.filter((one) => !isAdministrator(one)),
      /rose|fell|above|below/,
    ),
    'digest-administrator': digests.find(isAdministrator),
    'test-mail': {
      ...(invitations[0] as ReceivedMail),
      ...test,
      headers: { ...test.headers, subject: test.subject },
    },
  };
  for (const one of messages.filter(isWanted)) {
    const mail = found[one.name];
    const html = one.name === 'text-message' ? smsPage(texts) : mail && mailPage(mail);
    if (html === undefined) throw new Error(`No ${one.name} arrived.`);
    await takeMessage(scene.browser, html, (theme) => join(folder, fileOf(one, theme)), quality);
  }
}

const log = openLog('warn');

type Scene = {
  pool: Pool;
  keys: AnswerKeys;
  browser: Browser;
  smtp: TestSmtp;
  gateway: TestGateway;
  address: string;
  publicUrl: string;
  accountId: number;
  userId: number;
  administrator: string;
  now: number;
};

/** Takes all pictures of the demo company. */
async function takeDemo(scene: Scene): Promise<void> {
  const { pool, address, accountId, browser } = scene;
  await withoutDesk(scene);
  await workOnFoci(scene);
  const sent = await sendWeek(scene);
  const texts = scene.gateway.got.map(({ json }) => json.text);
  const dateScheduleId = await waitByDate(scene);
  const kiosk = await openKiosk(scene);
  const [doubted] = await pool<{ id: number }[]>`
    select r.question_id as id
    from   results r
    join   groups g using (account_id, group_id)
    where  r.account_id = ${accountId} and g.parent_id is null and r.not_applicable > 0
    order  by r.week desc, r.not_applicable desc limit 1`;
  const linkOf = (mail: ReceivedMail | undefined) => linkIn(mail?.text ?? '').slice(3);
  const reminded = sent.reminders.filter(({ html }) => html.includes('lang="en"'));
  const ids: ScreenIds = {
    ...(await makeScene({ address, pool, accountId })),
    dateScheduleId,
    notApplicableId: doubted?.id ?? 0,
    link: linkOf(reminded[0]),
    thanksLink: linkOf(reminded[1]),
    thanksDarkLink: linkOf(reminded[2]),
    kiosk,
  };
  const visitor = { browser, address, ids };
  await takeAll(visitor, signIn);
  await takeAll(visitor, answering);
  const secret = await secretOf(pool, scene);
  await takeAll({ ...visitor, secret }, [...screens, ...moreScreens]);
  await takeMessages(scene, sent, texts);
}

async function main(): Promise<void> {
  const place = await findBrowser();
  if (!place) throw new Error('There is no Chromium on this machine.');
  const directory = mkdtempSync(join(tmpdir(), 'soundings-screens-'));
  const [embedded, smtp, gateway, browser] = await Promise.all([
    openEmbedded(join(directory, 'data'), { role: 'service', log: () => {}, fast: true }),
    openSmtp(),
    openTestGateway(),
    launchBrowser(place),
  ]);
  const now = wednesday;
  const config = {
    host: '127.0.0.1',
    port: await freePort(),
    answerKeys: { place: 'file' as const, directory: join(directory, 'keys') },
    tls: undefined,
    trustProxy: [],
    httpsOnly: false,
    publicUrl,
    corsOrigins: [],
    rateLimit: 600,
    responseCacheMb: 32,
    backupDir: undefined,
    sftpPort: await freePort(),
    fileDays: 30,
    smtpUrl: smtp.url,
    mailFrom,
    smtpConnections: 4,
    dkim: undefined,
    bounces: undefined,
    sms: gatewaySettings(gateway.url),
    auditSyslog: undefined,
    metricsToken: undefined,
  };
  const app = await startApp(config, Promise.resolve(embedded.url), log, now);
  const pool = openSimulationPool(embedded.url);
  try {
    await app.started;
    if (wanted.size === 0) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const link = await createFirstStartLink(pool, '');
    const [setup] = outside as [Screen];
    const visitor = { browser, address: app.address, ids: {} as ScreenIds };
    await takeAll(visitor, [{ ...setup, path: link as string }]);

    const keys = new AnswerKeys(pool, config.answerKeys);
    const demo = await makeDemo(pool, keys, now() - twoDays, (pages, ownKeys, clock) =>
      startAnswering({ pool: pages, keys: ownKeys, now: clock }, log),
    );
    const { id: accountId } = demo.account;
    const administrator = demo.administrator?.email as string;
    const [user] = await pool<{ id: number }[]>`
      select user_id as id from users where account_id = ${accountId} and email = ${administrator}`;
    const userId = user?.id as number;
    const services = { pool, keys, browser, smtp, gateway, address: app.address, publicUrl };
    await takeDemo({ ...services, accountId, userId, administrator, now: now() });
    writeIndex();
    process.stdout.write(`${readdirSync(folder).length} files are in docs/screens.\n`);
  } finally {
    await browser.close();
    await pool.end({ timeout: 5 });
    await app.stop(10);
    await smtp.close();
    await gateway.close();
    await embedded.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
