// npm run screens: takes pictures of every page of the console with the whole demo company, in light and dark and some on a phone,
// and writes docs/screens/.
import { type QuestionType, yesNo } from '@soundings/contract/question-types.ts';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createFirstStartLink } from '../../auth/first-start.ts';
import { beginSession } from '../../auth/sessions.ts';
import { startAnswering, startApp } from '../../app.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { exportLinks } from '../../rounds/links.ts';
import { AnswerKeys } from '../../sealing/answer-keys.ts';
import { openEmbedded } from '../../db/embedded.ts';
import { makeDemo } from '../../demo/demo.ts';
import { openSimulationPool } from '../../simulation/simulation.ts';
import { findBrowser, launchBrowser } from './chromium.ts';
import { addressOf, followRequests, settled } from './console-pages.ts';
import { makeScene, type PageIds } from './console-scene.ts';
import { freePort } from '../processes/free-port.ts';
import { openSmtp } from '../smtp.ts';

const folder = fileURLToPath(new URL('../../../../docs/screens/', import.meta.url));
const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** An address as customers see it. It begins with http:, so that the session cookie works over plain HTTP. */
const publicUrl = 'http://soundings.lavmark.example';

type Screen = {
  name: string;
  title: string;
  description: string;
  path: string;
  onPhone?: boolean;
  /** Steps on the page before the picture is taken. */
  first?: (page: Page) => Promise<unknown>;
};

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();

/** Pages before anyone can sign in. */
const outside: Screen[] = [
  {
    name: 'setup',
    title: 'First start',
    description: 'Creates the company and its first administrator, from the link that the service printed.',
    path: '/setup',
  },
];

/** In the order of the navigation. */
const screens: Screen[] = [
  {
    name: 'overview',
    title: 'Overview',
    description: 'What stands out, KPIs with their intervals and clear changes, and the response.',
    path: '/',
    onPhone: true,
  },
  {
    name: 'heat-map',
    title: 'Heat map',
    description: 'Groups by KPI, with arrows for clear changes. A withheld figure shows the reason.',
    path: '/heat-map',
  },
  {
    name: 'trends',
    title: 'Trends',
    description: 'One KPI over the weeks, for several groups, with intervals.',
    path: '/trends',
  },
  {
    name: 'drivers',
    title: 'Drivers',
    description: 'Which KPIs go along with an outcome, with intervals, and what that does not say.',
    path: '/drivers',
  },
  {
    name: 'focus',
    title: 'Focus',
    description: 'What a group works on, its check-ins, and how many groups have a focus.',
    path: '/focus',
  },
  {
    name: 'results-question',
    title: 'A question’s result',
    description: 'The distribution of answers, week by week.',
    path: '/results/questions/$questionId',
  },
  {
    name: 'comments',
    title: 'Comments',
    description: 'Comments can be searched. They never have a name.',
    path: '/comments',
  },
  {
    name: 'questions',
    title: 'Questions',
    description: 'Your questions and the library, with their translations.',
    path: '/questions',
  },
  {
    name: 'question',
    title: 'A question',
    description: 'The text in each language, side by side.',
    path: '/questions/$questionId',
  },
  { name: 'kpis', title: 'KPIs', description: 'The questions behind each KPI.', path: '/kpis' },
  {
    name: 'schedules',
    title: 'Schedules',
    description: 'Which questions are sent to which groups, and when.',
    path: '/schedules',
  },
  {
    name: 'schedule',
    title: 'A schedule',
    description: 'With a calendar of which group gets which questions.',
    path: '/schedules/$scheduleId',
  },
  {
    name: 'preview',
    title: 'Preview',
    description: 'What people see, in each language.',
    path: '/schedules/$scheduleId/preview',
  },
  {
    name: 'this-week',
    title: 'This week',
    description: 'People asked, response rate and reminders. A week can be closed early.',
    path: '/rounds',
  },
  {
    name: 'people',
    title: 'People',
    description: 'Search and filter people. Fields managed by your HR system are locked.',
    path: '/people',
    onPhone: true,
  },
  {
    name: 'cards',
    title: 'Cards and kiosks',
    description: 'Printed cards for people without email, and the shared devices on which they answer.',
    path: '/cards',
  },
  {
    name: 'person',
    title: 'A person',
    description: 'Everything that is stored, its source, and the history of changes.',
    path: '/people/$userId',
  },
  {
    name: 'groups',
    title: 'Groups',
    description: 'The tree of groups. Move groups with the mouse or the keyboard.',
    path: '/groups',
    first: press('Expand all'),
  },
  {
    name: 'group',
    title: 'A group',
    description: 'Its attributes, its members and managers, and its subgroups.',
    path: '/groups/$groupId',
  },
  {
    name: 'attributes',
    title: 'Attributes',
    description: 'More fields of people, with the allowed values.',
    path: '/attributes',
  },
  { name: 'runs', title: 'Runs', description: 'Every push and file, newest first.', path: '/runs' },
  {
    name: 'run',
    title: 'A run awaiting approval',
    description: 'Why the run is pending and what it would change. Approve or reject it.',
    path: '/runs/$runId',
    onPhone: true,
  },
  {
    name: 'files',
    title: 'Files',
    description: 'Files uploaded here, over HTTPS or over SFTP, and their results.',
    path: '/files',
  },
  {
    name: 'file',
    title: 'A file with errors',
    description: 'Each error with its row and column.',
    path: '/files/$fileId',
  },
  {
    name: 'tokens',
    title: 'API tokens',
    description: 'The scopes of each token, and when and from where it was last used.',
    path: '/tokens',
  },
  {
    name: 'token',
    title: 'A new token',
    description: 'The token is shown once, with a command to try it.',
    path: '/tokens',
    first: makeToken,
  },
  {
    name: 'access',
    title: 'API access',
    description: 'Addresses, SFTP, allowed IP addresses and limits.',
    path: '/access',
  },
  {
    name: 'settings',
    title: 'Settings',
    description: 'Company, privacy, publication, files and email.',
    path: '/settings',
  },
  {
    name: 'privacy',
    title: 'Privacy report',
    description: 'The settings in force, what is never shown, and the limits of anonymity.',
    path: '/privacy',
    onPhone: true,
  },
  { name: 'audit', title: 'Audit log', description: 'Who did what, when and from where.', path: '/audit' },
  {
    name: 'profile',
    title: 'Your profile',
    description: 'Language, password, two-factor authentication and sessions.',
    path: '/profile',
  },
  // Last, so that the pictures that documents show keep their names.
  {
    name: 'columns',
    title: 'Columns and values of a file',
    description: 'Choose once what each column and value means, for all later files.',
    path: '/files/$exportId?columns=yes',
    onPhone: true,
    first: (page) => page.getByRole('dialog').getByRole('button', { name: 'Confirm columns' }).waitFor(),
  },
  {
    name: 'values',
    title: 'The values of a column',
    description: 'Unknown values are listed with their number of rows.',
    path: '/files/$exportId?columns=yes',
    first: (page) => page.getByRole('dialog').getByLabel('Country of phone numbers').scrollIntoViewIfNeeded(),
  },
];

/** Pages for signing in. */
const signIn: Screen[] = [
  {
    name: 'sign-in',
    title: 'Sign-in',
    description: 'Email address and password, and a code if two-factor authentication is on.',
    path: '/sign-in',
  },
];

async function makeToken(page: Page): Promise<void> {
  await press('Create token')(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Weekly report');
  await dialog.getByRole('checkbox', { name: 'Read results' }).check();
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.getByText(`curl ${publicUrl}`).waitFor();
}

const numbers = new Map(
  [...outside, ...signIn, ...screens].map(({ name }, i) => [name, String(i + 1).padStart(2, '0')]),
);
const fileOf = ({ name }: Screen, kind: string) => `${numbers.get(name)}-${name}-${kind}.jpg`;

type Place = { browser: Browser; address: string; ids: PageIds; secret?: string };

async function openContext(
  { browser, address, secret }: Place,
  colorScheme: 'light' | 'dark',
  viewport = desk,
) {
  const context = await browser.newContext({
    baseURL: address,
    locale: 'en-GB',
    timezoneId: 'Europe/Stockholm',
    reducedMotion: 'reduce',
    colorScheme,
    viewport,
  });
  if (secret) await context.addCookies([{ name: 'soundings', value: secret, url: address, httpOnly: true }]);
  return context;
}

async function take(context: BrowserContext, screen: Screen, kind: string, ids: PageIds): Promise<void> {
  const page = await context.newPage();
  followRequests(page);
  await page.goto(addressOf(screen.path, ids));
  await settled(page);
  await screen.first?.(page);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.screenshot({ path: join(folder, fileOf(screen, kind)), type: 'jpeg', quality: 82 });
  await page.close();
}

async function takeAll(place: Place, all: Screen[]): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    const context = await openContext(place, theme);
    for (const screen of all) await take(context, screen, theme, place.ids);
    await context.close();
  }
  const context = await openContext(place, 'light', phone);
  for (const screen of all.filter(({ onPhone }) => onPhone)) await take(context, screen, 'phone', place.ids);
  await context.close();
}

function writeIndex(): void {
  const image = (screen: Screen, kind: string, width: string) =>
    `<img src="${fileOf(screen, kind)}" alt="${screen.title}, ${kind}" width="${width}">`;
  const parts = [...outside, ...signIn, ...screens].map((screen) =>
    [
      `## ${screen.title}`,
      screen.description,
      [
        image(screen, 'light', '49%'),
        image(screen, 'dark', '49%'),
        ...(screen.onPhone ? [image(screen, 'phone', '24%')] : []),
      ].join('\n'),
    ].join('\n\n'),
  );
  const head =
    '# Screens\n\nThe console with the demo company, in light and dark. Created by `npm run screens`.';
  writeFileSync(join(folder, 'README.md'), `${[head, ...parts].join('\n\n')}\n`);
}

/** Signs a user in, and returns the secret for the cookie. */
async function secretOf(pool: Pool, accountId: number, email: string): Promise<string> {
  const [person] = await pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email = ${email}`;
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  return beginSession(pool, { accountId, userId: person?.id as number }, { address: '192.0.2.17', agent });
}

/** Noon on the last Wednesday, when a week is open and its reminder is due. */
function wednesday(): number {
  const noon = new Date();
  noon.setUTCHours(12, 0, 0, 0);
  if (noon.getTime() > Date.now()) noon.setUTCDate(noon.getUTCDate() - 1);
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 4) % 7));
  return noon.getTime();
}

/** Gives answers of some people who are asked in the open week. */
async function answerSome(pool: Pool, accountId: number, address: string): Promise<void> {
  const { links } = await inTransaction(pool, (tx) =>
    exportLinks(tx, accountId, address, { channels: { mail: false, sms: false }, by: null }),
  );
  const questions = await pool<{ id: number; type: QuestionType }[]>`
    select distinct q.question_id as id, q.type
    from   asked a
    join   weeks w using (account_id, week)
    join   questions q on q.account_id = a.account_id and q.question_id = any(a.question_ids)
    where  a.account_id = ${accountId} and w.closed_at is null`;
  const some = links.filter((_, i) => i % 7 < 4);
  for (const [i, { link }] of some.entries()) {
    const given = questions.map(({ id, type }) => [
      `q${id}`,
      type === yesNo ? 'yes' : String(1 + ((i + id) % 5)),
    ]);
    await fetch(link, {
      method: 'POST',
      body: new URLSearchParams(given as [string, string][]),
      redirect: 'manual',
    });
  }
}

async function main(): Promise<void> {
  const place = await findBrowser();
  if (!place) throw new Error('There is no Chromium on this machine.');
  const directory = mkdtempSync(join(tmpdir(), 'soundings-screens-'));
  const [embedded, smtp, browser] = await Promise.all([
    openEmbedded(join(directory, 'data'), { role: 'service', log: () => {}, fast: true }),
    openSmtp(),
    launchBrowser(place),
  ]);
  const log = openLog('warn');
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
    mailFrom: 'Soundings <soundings@lavmark.example>',
    smtpConnections: 4,
    dkim: undefined,
    bounces: undefined,
    sms: undefined,
    metricsToken: undefined,
  };
  const app = await startApp(config, Promise.resolve(embedded.url), log, now);
  const pool = openSimulationPool(embedded.url);
  try {
    await app.started;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const link = await createFirstStartLink(pool, '');
    const [setup] = outside as [Screen];
    const visitor = { browser, address: app.address, ids: {} as PageIds };
    await takeAll(visitor, [{ ...setup, path: link as string }]);

    const keys = new AnswerKeys(pool, config.answerKeys);
    const demo = await makeDemo(pool, keys, now(), (pages, ownKeys, clock) =>
      startAnswering({ pool: pages, keys: ownKeys, now: clock }, log),
    );
    const accountId = demo.account.id;
    await answerSome(pool, accountId, app.address);
    const ids = await makeScene({ address: app.address, pool, accountId });
    await takeAll(visitor, signIn);
    const secret = await secretOf(pool, accountId, demo.administrator?.email as string);
    await takeAll({ browser, address: app.address, ids, secret }, screens);
    writeIndex();
    process.stdout.write(`${readdirSync(folder).length} files are in docs/screens.\n`);
  } finally {
    await browser.close();
    await pool.end({ timeout: 5 });
    await app.stop(10);
    await smtp.close();
    await embedded.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
