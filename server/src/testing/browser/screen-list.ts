// The pages of the console of which `npm run screens` takes pictures (screens.ts).
import type { Page } from 'playwright-core';
import type { PageIds } from './console-scene.ts';

/** The ids in the addresses of pages, and the secret parts of addresses that people without an account open. */
export type ScreenIds = PageIds &
  Record<
    'dateScheduleId' | 'restingScheduleId' | 'notApplicableId' | 'link' | 'thanksLink' | 'kiosk',
    number | string
  >;

export const kinds = ['light', 'dark', 'phone', 'phone-dark'] as const;
export type Kind = (typeof kinds)[number];

export type Screen = {
  name: string;
  title: string;
  description: string;
  path: string;
  /** Default: light and dark, on a desk. */
  kinds?: readonly Kind[];
  /** Steps on the page before the picture is taken. `t` returns a text of the console in the language of the picture. */
  first?: (page: Page, t: ScreenTexts) => Promise<unknown>;
};

export type ScreenTexts = (key: string) => string;

const withPhone = ['light', 'dark', 'phone'] as const;

/** An address as customers see it. It begins with http:, so that the session cookie works over plain HTTP. */
export const publicUrl = 'http://soundings.lavmark.example';

const press = (key: string) => (page: Page, t: ScreenTexts) =>
  page.getByRole('button', { name: t(key), exact: true }).click();

/** Pages before anyone can sign in. */
export const outside: Screen[] = [
  {
    name: 'setup',
    title: 'First start',
    description: 'Creates the company and its first administrator, from the link that the service printed.',
    path: '/setup',
  },
];

/** In the order of the navigation. */
export const screens: Screen[] = [
  {
    name: 'overview',
    title: 'Overview',
    description: 'What stands out, KPIs with their intervals and clear changes, and the response.',
    path: '/',
    kinds: withPhone,
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
    kinds: withPhone,
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
    first: press('groups.expandAll'),
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
    kinds: withPhone,
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
    kinds: withPhone,
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
    kinds: withPhone,
    first: (page, t) =>
      page
        .getByRole('dialog')
        .getByRole('button', { name: t('files.confirm') })
        .waitFor(),
  },
  {
    name: 'values',
    title: 'The values of a column',
    description: 'Unknown values are listed with their number of rows.',
    path: '/files/$exportId?columns=yes',
    first: (page, t) => page.getByRole('dialog').getByLabel(t('files.country')).scrollIntoViewIfNeeded(),
  },
];

/** Pages for signing in. */
export const signIn: Screen[] = [
  {
    name: 'sign-in',
    title: 'Sign-in',
    description: 'Email address and password, and a code if two-factor authentication is on.',
    path: '/sign-in',
  },
];

const scrollTo = (key: string) => async (page: Page, t: ScreenTexts) => {
  const [element] = await page.getByText(t(key), { exact: true }).elementHandles();
  await element?.evaluate((one) => one.scrollIntoView({ block: 'start' }));
};

/** What was added later. Its numbers continue, so that the pictures that documents show keep their names. */
export const moreScreens: Screen[] = [
  {
    name: 'not-applicable',
    title: 'A question that doesn’t concern everyone',
    description: 'How many people chose “not applicable”, where that is not withheld.',
    path: '/results/questions/$notApplicableId',
  },
  {
    name: 'report',
    title: 'Report',
    description: 'One page about a group and a week or quarter, to print or save as PDF.',
    path: '/report',
  },
  {
    name: 'templates',
    title: 'Templates',
    description: 'Ready-made sets of questions. Some choose people by a date.',
    path: '/schedules/templates',
    first: scrollTo('templates.onboarding-30'),
  },
  {
    name: 'schedule-by-date',
    title: 'A schedule that chooses people by a date',
    description:
      'It waits until enough people are due. Next to it is how many people it will ask: only numbers.',
    path: '/schedules/$dateScheduleId',
  },
  {
    name: 'date-fields',
    title: 'The date of people',
    description: 'The attribute with the date, the range of days, and the minimum number of people.',
    path: '/schedules/$dateScheduleId',
    first: scrollTo('asking.dateAttribute'),
  },
  {
    name: 'ask-now',
    title: 'Ask now',
    description: 'Who is asked and how long the week stays open, before anything is sent.',
    path: '/schedules/$restingScheduleId',
    first: press('ask.button'),
  },
  {
    name: 'several',
    title: 'Adding several people',
    description: 'The first five people, without a file.',
    path: '/people/several',
    kinds: withPhone,
  },
  {
    name: 'mail-settings',
    title: 'Email settings',
    description: 'A test email with what is wrong and how to fix it, and the weekly digest.',
    path: '/settings',
    first: (page, t) =>
      page
        .getByRole('heading', { name: t('settings.mail'), exact: true })
        .evaluate((element) => element.scrollIntoView()),
  },
  {
    name: 'text-messages',
    title: 'Text messages',
    description: 'On or off, and what people get in each language.',
    path: '/settings#text-messages',
    first: (page) => page.locator('#text-messages').evaluate((element) => element.scrollIntoView()),
  },
  {
    name: 'printed-cards',
    title: 'Printed cards',
    description: 'One card for each person, by group and name, with a code and a square code.',
    path: '/cards',
    first: printCards,
  },
  {
    name: 'system',
    title: 'System',
    description: 'For operators: version, database, disk, waiting work and what is not set up.',
    path: '/system',
    kinds: withPhone,
  },
];

/** Their numbers come last, so that earlier pictures keep their names. */
export const latestScreens: Screen[] = [
  {
    name: 'webhooks',
    title: 'Webhooks',
    description: 'The endpoints that are notified of events, and whether they take them.',
    path: '/webhooks',
    kinds: withPhone,
  },
  {
    name: 'webhook',
    title: 'A webhook endpoint',
    description: 'Its events, and everything that was sent to it. Send a test, or send something again.',
    path: '/webhooks/$endpointId',
    kinds: withPhone,
  },
  {
    name: 'new-webhook',
    title: 'A new webhook endpoint',
    description: 'The address and the events. Afterwards, the signing secret is shown once.',
    path: '/webhooks',
    first: press('webhooks.create'),
  },
];

async function createSandbox(page: Page, t: ScreenTexts): Promise<void> {
  const create = page.getByRole('button', { name: t('sandbox.create') });
  const state = page.getByText(t('sandbox.state.ready'), { exact: true });
  await create.or(state).first().waitFor();
  if (await create.isVisible()) {
    await create.click();
    await page.getByRole('dialog').locator('button[type=submit]').click();
    await page.getByText(t('tokens.done')).click();
  }
  await state.waitFor({ timeout: 180_000 });
}

/** Pages with a directory and a provider, after the others because the directory has sent more people; and what was added last. */
export const signOnScreens: Screen[] = [
  {
    name: 'directory',
    title: 'Directory (SCIM)',
    description:
      'What the directory has sent, who exists already, the rule for the tree, and the last requests.',
    path: '/directory',
    kinds: withPhone,
  },
  {
    name: 'directory-plan',
    title: 'The plan of a rule for the tree',
    description: 'What a rule would change, before it is applied.',
    path: '/directory',
    first: showPlan,
  },
  {
    name: 'single-sign-on',
    title: 'Single sign-on',
    description: 'The OpenID Connect providers with which people sign in, and the addresses to enter there.',
    path: '/single-sign-on',
    kinds: withPhone,
  },
  {
    name: 'new-provider',
    title: 'A new provider',
    description:
      'The issuer, the client ID and the client secret. Soundings requests the rest from the provider.',
    path: '/single-sign-on',
    first: press('signOn.add'),
  },
  {
    name: 'sandbox',
    title: 'Sandbox',
    description:
      'An account with a demo company, to try the interfaces: its state, its token’s scopes, and commands to copy.',
    path: '/sandbox',
    first: createSandbox,
    kinds: withPhone,
  },
];

/** The reference of the interfaces, which is not part of the console. */
export const referenceScreens: Screen[] = [
  {
    name: 'api-reference',
    title: 'API reference',
    description: 'For integrators: real examples, code samples, and a way to try each operation.',
    path: '/docs#tag/data/GET/v1/responserates/values',
    kinds: withPhone,
    first: (page) => page.getByText('Shortened:').first().waitFor(),
  },
];

/** The decision about a person who waits in the directory. Its number comes last. */
export const handoverScreens: Screen[] = [
  {
    name: 'directory-handover',
    title: 'A person who is handed over to the directory',
    description:
      'Why users of the directory wait for a decision, and what a handover would change. An administrator is only handed over alone.',
    path: '/directory',
    kinds: ['light', 'dark', 'phone'],
    first: async (page, t) => {
      await page
        .getByRole('listitem')
        .filter({ hasText: t('directory.why.administrator') })
        .getByRole('button', { name: t('directory.handOver'), exact: true })
        .click();
      await page.getByText(t('directory.handOverChanges')).waitFor();
    },
  },
];

async function showPlan(page: Page, t: ScreenTexts): Promise<void> {
  await page.getByRole('combobox', { name: t('directory.ruleField') }).click();
  await page.getByRole('option', { name: t('directory.rule.attributes') }).click();
  await page.getByLabel(t('directory.level.division')).click(); // in addition to the department
  await press('directory.showPlan')(page, t);
  await page.getByRole('dialog').waitFor();
}

async function printCards(page: Page, t: ScreenTexts): Promise<void> {
  await press('cards.print')(page, t);
  const dialog = page.getByRole('dialog');
  await dialog.getByText(t('cards.replace')).click();
  await dialog.locator('button[type=submit]').click();
  await page.getByText(t('cards.once')).waitFor();
}

async function makeToken(page: Page, t: ScreenTexts): Promise<void> {
  await press('tokens.create')(page, t);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(t('tokens.name')).fill('Weekly report');
  await dialog.getByRole('checkbox', { name: t('tokens.scope.data') }).check();
  await dialog.getByRole('button', { name: t('tokens.create') }).click();
  await dialog.getByText(`curl ${publicUrl}`).waitFor();
}
