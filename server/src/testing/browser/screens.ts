// npm run screens: takes pictures of every page with the whole demo company, in light and dark and some on a phone, of the pages on which
// people answer, and of the emails and text messages that they got, and writes docs/screens/. `npm run screens -- overview kiosk` takes
// only these pictures. To look at all pages in Swedish, whole and on a phone, without changing docs/screens:
// npm run screens -- --language=sv --kinds=light,phone --whole --into=/tmp/screens
import { pullScreens } from './pull-screens.ts';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createFirstStartLink } from '../../auth/first-start.ts';
import { beginSession } from '../../auth/sessions.ts';
import { startAnswering, startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import type { Pool } from '../../db/db.ts';
import { openEmbedded } from '../../db/embedded.ts';
import { makeDemo } from '../../demo/demo.ts';
import { testMail } from '../../mail/test-mail.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { openSimulationPool } from '../../simulation/simulation.ts';
import { gatewaySettings, openTestGateway, type TestGateway } from '../../sms/gateway.fixture.ts';
import { findBrowser, launchBrowser } from './chromium.ts';
import buildConsole from './console-build.ts';
import { addressOf, followRequests, settled } from './console-pages.ts';
import { makeScene } from './console-scene.ts';
import { freePort } from '../processes/free-port.ts';
import { openSmtp, type ReceivedMail } from '../smtp.ts';
import {
  closeAndDigest,
  linkIn,
  mailFrom,
  type Quarter,
  sendWeek,
  twoDays,
  wednesday,
  type WeekMails,
} from './quarter-messages.ts';
import { addProvider, sendDirectory } from './directory-scene.ts';
import { openKiosk, waitByDate, withoutDesk, workOnFoci } from './quarter-scene.ts';
import { answering, languages } from './answering-screens.ts';
import { kindsOf, pathOf, quality, writeIndex } from './screen-files.ts';
import {
  handoverScreens,
  type Kind,
  kinds,
  latestScreens,
  moreScreens,
  outside,
  publicUrl,
  type Screen,
  type ScreenIds,
  screens,
  signIn,
  referenceScreens,
  signOnScreens,
} from './screen-list.ts';
import { mailPage, messages, smsPage, takeMessage } from './screen-mails.ts';
import {
  folder,
  isEverything,
  isWanted,
  isWhole,
  language,
  readScreenTexts,
  wantedKinds,
} from './screen-options.ts';

const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

const t = readScreenTexts();

type Place = {
  browser: Browser;
  address: string;
  ids: ScreenIds;
  /** A link for each kind of picture: only the browser in which a person has answered thanks them. */
  thanksLinks?: string[];
  secret?: string;
};

async function openContext({ browser, address, secret }: Place, kind: Kind): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: address,
    locale: language === 'en' ? 'en-GB' : language,
    timezoneId: 'Europe/Stockholm',
    reducedMotion: 'reduce',
    colorScheme: kind === 'dark' || kind === 'phone-dark' ? 'dark' : 'light',
    viewport: kind === 'light' || kind === 'dark' ? desk : phone,
  });
  if (secret) await context.addCookies([{ name: 'soundings', value: secret, url: address, httpOnly: true }]);
  return context;
}

async function take(context: BrowserContext, screen: Screen, kind: Kind, ids: ScreenIds): Promise<void> {
  const page = await context.newPage();
  followRequests(page);
  await page.goto(addressOf(screen.path, ids));
  await settled(page);
  await screen.first?.(page, t);
  await settled(page);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  if (isWhole) await showWhole(page);
  await page.screenshot({ path: pathOf(screen, kind), type: 'jpeg', quality });
  await page.close();
}

/** Makes the window as high as the page. In the console, only the part next to the navigation scrolls. */
async function showWhole(page: Page): Promise<void> {
  const { width, height } = page.viewportSize()!;
  const more =
    await page.evaluate<number>(`Math.max(...[document.documentElement, ...document.querySelectorAll('main, dialog')]
    .map((one) => one.scrollHeight - one.clientHeight))`);
  await page.setViewportSize({ width, height: Math.min(height + more, 8000) });
  await settled(page);
}

async function takeAll(place: Place, all: Screen[]): Promise<void> {
  for (const [i, kind] of kinds.entries()) {
    const context = await openContext(place, kind);
    const ids = { ...place.ids, thanksLink: place.thanksLinks?.[i] ?? '' };
    for (const screen of all.filter((one) => isWanted(one) && (wantedKinds ?? kindsOf(one)).includes(kind))) {
      // One page that can't be shown doesn't keep the others from being taken.
      await take(context, screen, kind, ids).catch((error: unknown) => {
        process.exitCode = 1;
        process.stderr.write(`${screen.name}, ${kind}: ${String(error)}\n`);
      });
    }
    await context.close();
  }
}

/** Signs the administrator in, and returns the secret for the cookie. */
async function secretOf(pool: Pool, { accountId, userId }: Scene): Promise<string> {
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  return beginSession(pool, { accountId, userId }, { address: '192.0.2.17', agent });
}

/** Takes the pictures of what people got. */
async function takeMessages(
  scene: Scene,
  { invitations, reminders }: WeekMails,
  texts: string[],
): Promise<void> {
  if (!messages.some(isWanted)) return;
  const digests = await closeAndDigest(scene);
  const isAdministrator = ({ to }: ReceivedMail) => to[0] === scene.administrator;
  const test = testMail(language, 'Lavmark');
  const found: Record<string, ReceivedMail | undefined> = {
    invitation: inLanguage(invitations)[0],
    reminder: inLanguage(reminders)[0],
    // The one that has most to say.
    'digest-manager': inLanguage(digests.filter((one) => !isAdministrator(one))).toSorted(
      (a, b) => b.text.length - a.text.length,
    )[0],
    'digest-administrator': digests.find(isAdministrator),
    'test-mail': {
      ...(invitations[0] as ReceivedMail),
      ...test,
      headers: { from: mailFrom, to: scene.administrator, subject: test.subject },
    },
  };
  for (const one of messages.filter(isWanted)) {
    const mail = found[one.name];
    const html = one.name === 'text-message' ? smsPage(texts) : mail && mailPage(mail);
    if (html === undefined) throw new Error(`No ${one.name} arrived.`);
    await takeMessage(scene.browser, html, (theme) => pathOf(one, theme), quality);
  }
}

/** Returns the emails in the language of the pictures. */
const inLanguage = (mails: ReceivedMail[]) => mails.filter(({ html }) => html.includes(`lang="${language}"`));

const log = openLog('warn');

type Scene = Quarter & { browser: Browser; gateway: TestGateway; userId: number; administrator: string };

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
  const [resting] = await pool<{ id: number }[]>`
    select min(s.schedule_id) as id
    from   schedules s
    where  s.account_id = ${accountId} and s.date_attribute is null
      and  not exists (select from rounds r
                       join   weeks w using (account_id, week)
                       where  r.account_id = s.account_id and r.schedule_id = s.schedule_id and w.closed_at is null)`;
  const linkOf = ({ text }: ReceivedMail) => linkIn(text).slice(3);
  const [link, ...thanksLinks] = inLanguage(sent.reminders).map(linkOf);
  const ids: ScreenIds = {
    ...(await makeScene({ address, pool, accountId })),
    dateScheduleId,
    restingScheduleId: resting?.id ?? 0,
    notApplicableId: doubted?.id ?? 0,
    link: link as string,
    thanksLink: '',
    kiosk,
  };
  const visitor = { browser, address, ids, thanksLinks };
  await takeAll(visitor, [...signIn, ...answering, ...languages]);
  const secret = await secretOf(pool, scene);
  await takeAll({ ...visitor, secret }, [
    ...screens,
    ...moreScreens,
    ...latestScreens,
    ...pullScreens,
    ...referenceScreens,
  ]);
  await takeMessages(scene, sent, texts);
  await sendDirectory(scene);
  await addProvider(pool, accountId);
  await takeAll({ ...visitor, secret }, [...signOnScreens, ...handoverScreens]);
}

async function main(): Promise<void> {
  const place = await findBrowser();
  if (!place) throw new Error('There is no Chromium on this machine.');
  buildConsole();
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
    sandboxes: 10,
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
    outgoingNetworks: [],
    auditSyslog: undefined,
    role: 'all' as const,
    pooledUrl: undefined,
    replicaUrl: undefined,
    metricsToken: undefined,
    tracing: undefined,
  };
  const app = await startApp(config, Promise.resolve(embedded.url), log, now);
  const pool = openSimulationPool(embedded.url);
  try {
    await app.started;
    if (isEverything) rmSync(folder, { recursive: true, force: true });
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
      update users set language = ${language} where account_id = ${accountId} and email = ${administrator}
      returning user_id as id`;
    const userId = user?.id as number;
    const services = {
      pool,
      keys,
      browser,
      smtp,
      gateway,
      gatewayUrl: gateway.url,
      address: app.address,
      publicUrl,
    };
    await takeDemo({ ...services, accountId, userId, administrator, now: now() });
    writeIndex();
    process.stdout.write(`${readdirSync(folder).length} files are in ${folder}.\n`);
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
