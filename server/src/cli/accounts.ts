// The commands for accounts: create one, change its settings, set a password.
import { changeAccount, createAccount } from '../accounts/accounts.ts';
import {
  type Account,
  type AccountSettings,
  type ListedAccount,
  selectAllAccounts,
} from '../accounts/accounts.sql.ts';
import { notifyPerson } from '../accounts/account-notices.ts';
import { resetPassword, setPassword } from '../auth/sign-in.ts';
import { newPassword } from '../base/crypto/secrets.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import { refuseLastBreakGlass, stopRequiring } from '../sso/rules.ts';
import { defineLibrary } from '../questions/questions.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import {
  account,
  accountOf,
  type Command,
  commaList,
  flag,
  numberOf,
  onOrOff,
  required,
  table,
  text,
  trueOrFalse,
  type OptionValues,
} from './options.ts';

const limits = ['users', 'groups'].flatMap((kind) =>
  ['created', 'updated', 'deleted'].map((verb) => `max-${kind}-${verb}`),
);

/** Returns the commands. `canMail`: whether a mail server is configured. */
export const accountCommands = (canMail: () => boolean): Record<string, Command> => ({
  'account create': createAccountCommand,
  'account list': listAccountsCommand,
  'password set': setPasswordCommand(canMail),
  'password allow': allowPasswordsCommand,
  'account set': changeAccountCommand,
});

const createAccountCommand: Command = {
  readsSecret: true,
  usage:
    '--name N --admin-email E [--admin-password-stdin] [--timezone Z] [--language L] [--threshold K]\n' +
    '    Creates a company and its first administrator.',
  options: {
    name: text,
    'admin-email': text,
    'admin-password-stdin': flag,
    timezone: text,
    language: text,
    threshold: text,
  },
  run: accountCreate,
  format: (created: Awaited<ReturnType<typeof accountCreate>>) =>
    [
      `Account ${created.account.id} "${created.account.name}" created.`,
      `SFTP user name  ${created.account.sftpUsername}`,
      `Administrator   ${created.admin.email}`,
      ...(created.admin.password ? [`Password        ${created.admin.password}   (shown only once)`] : []),
    ].join('\n'),
};

const listAccountsCommand: Command = {
  isLogged: false,
  usage: '\n    Lists all accounts, sandboxes included.',
  options: {},
  run: (pool) => selectAllAccounts(pool),
  format: (accounts: ListedAccount[]) =>
    table([
      ['account', 'kind', 'people', 'name', 'sandbox of'],
      ...accounts.map(({ id, kind, people, name, owner }) => [
        String(id),
        kind,
        String(people),
        name,
        owner ? `user ${owner.userId} of account ${owner.accountId}` : '',
      ]),
    ]),
};

const setPasswordCommand = (canMail: () => boolean): Command => ({
  readsSecret: true,
  usage:
    '--account ID --email E [--turn-off-two-factor]\n' +
    '    Sets a password, read from standard input, and signs the person out everywhere. Use it for an administrator\n' +
    '    who can no longer sign in. --turn-off-two-factor also disables two-factor authentication. For the last break-glass\n' +
    '    administrator, run password allow first.',
  options: { ...account, email: text, 'turn-off-two-factor': flag },
  run: (pool, values, _keys, input) => {
    const wanted = { email: required(values, 'email'), password: passwordFrom(input()) };
    const turnsOff = values['turn-off-two-factor'] === true;
    const accountId = accountOf(values);
    return inTransaction(pool, async (tx) => {
      const person = await resetPassword(tx, accountId, wanted, turnsOff);
      if (turnsOff) await refuseLastBreakGlass(tx, accountId, person.userId);
      if (canMail()) await notifyPerson(tx, accountId, person.userId, 'password set');
      return person;
    });
  },
  format: ({ email, role }: Awaited<ReturnType<typeof resetPassword>>) =>
    `Password of ${email} (${role}) changed.`,
});

const allowPasswordsCommand: Command = {
  usage:
    '--account ID\n' +
    '    No longer requires single sign-on: everyone can sign in with their password again. Use it if the sign-in provider\n' +
    '    fails and no break-glass administrator can sign in.',
  options: account,
  run: async (pool, values) => ({
    changed: await inTransaction(pool, (tx) => stopRequiring(tx, accountOf(values))),
  }),
  format: ({ changed }: { changed: boolean }) =>
    changed
      ? 'Single sign-on is no longer required. Passwords work again.'
      : 'The account does not require single sign-on. Nothing was changed.',
};

const changeAccountCommand: Command = {
  isLogged: false,
  usage:
    '--account ID [--name N] [--timezone Z] [--language L] [--threshold K] [--publication weekly|live]\n' +
    '    [--distribution-threshold K|default] [--comment-threshold K|default] [--noise 0|1|2]\n' +
    '    [--kpi-weeks N|default] [--manager-comparisons company,parent,halfYear|none]\n' +
    '    [--digest on|off] [--digest-days 0-6] [--digest-hour 8-19] [--digest-comments true|false] [--sms on|off]\n' +
    '    [--allow CIDR,…] [--apply-files true|false] [--partial-files true|false]\n' +
    '    [--create-groups-from-users true|false] [--country SE|none] [--roles-by-sync on|off] [--notify EMAIL,…] [--notify-success true|false]\n' +
    `    ${limits.map((one) => `[--${one} N]`).join(' ')} [--largest-push N]\n` +
    '    Changes the given settings. Thresholds, --publication and --noise apply to weeks that open from now on.\n' +
    '    --publication live  Shows figures while the week is open, in batches of at least as many new answers as the threshold.\n' +
    '    --noise             Changes the sum behind each figure by up to this many steps of the scale.\n' +
    '    --kpi-weeks         How many weeks a rolling KPI value covers (1 to 13), in weeks that close from now on. default: as many as\n' +
    '                        the schedules need to ask all questions.\n' +
    '    --manager-comparisons  What managers can compare the results of their groups with.\n' +
    '    --digest            After a week has closed, managers and administrators get an email with the results that they can see.\n' +
    '    --digest-days       How many days after the week has closed it is sent.\n' +
    '    --digest-hour       At which hour, in the time zone of each person.\n' +
    '    --sms               People who have a phone number and no email address get invitations and reminders as text messages.\n' +
    '    --allow             IP addresses or ranges that can upload files. "" allows any address.\n' +
    '    --country           The country of phone numbers without a country code in files.\n' +
    '    --roles-by-sync off Imports do not set roles.\n' +
    '    --partial-files true  Files only add and update people and groups.\n' +
    '    --largest-push      How many changes of each kind a push in parts can make at most: 20,000 (default) to 1,000,000.\n' +
    '    --notify            Email addresses to notify about files that have errors or await approval.',
  options: {
    ...account,
    name: text,
    timezone: text,
    language: text,
    threshold: text,
    'distribution-threshold': text,
    'comment-threshold': text,
    publication: text,
    noise: text,
    'kpi-weeks': text,
    'manager-comparisons': text,
    digest: text,
    'digest-days': text,
    'digest-hour': text,
    'digest-comments': text,
    sms: text,
    allow: text,
    'apply-files': text,
    'partial-files': text,
    'create-groups-from-users': text,
    country: text,
    'roles-by-sync': text,
    notify: text,
    'notify-success': text,
    'largest-push': text,
    ...Object.fromEntries(limits.map((one) => [one, text])),
  },
  run: async (pool, values) => {
    const settings = settingsOf(values);
    return inTransaction(pool, (tx) => changeAccount(tx, accountOf(values), settings));
  },
  format: (settings: Account) =>
    table(Object.entries(settings).map(([name, value]) => [name, String(value)])),
};

/** Returns a password from standard input, without its line ending. */
const passwordFrom = (input: string) => input.replace(/\r?\n$/, '');

async function accountCreate(pool: Pool, values: OptionValues, _keys: AnswerKeys, input: () => string) {
  const email = required(values, 'admin-email');
  const given = values['admin-password-stdin'] ? passwordFrom(input()) : undefined;
  const password = given ?? newPassword();
  const wanted = {
    name: required(values, 'name'),
    ...(values['timezone'] !== undefined && { timezone: String(values['timezone']) }),
    ...(values['language'] !== undefined && { language: String(values['language']) }),
    ...(values['threshold'] !== undefined && { threshold: numberOf(values, 'threshold') }),
  };
  return inTransaction(pool, async (tx) => {
    const { id, name, sftpUsername, language } = await createAccount(tx, wanted);
    const adminId = await createUser(tx, id, { email, role: 'Administrator' });
    await setPassword(tx, id, adminId, password);
    await defineLibrary(tx, id, language);
    const admin = { id: adminId, email, ...(given === undefined && { password }) };
    return { account: { id, name, sftpUsername }, admin };
  });
}

const ownThresholds = [
  ['distribution-threshold', 'distributionThreshold'],
  ['comment-threshold', 'commentThreshold'],
] as const;

const switches = [
  ['apply-files', 'applyFiles'],
  ['partial-files', 'filesPartial'],
  ['create-groups-from-users', 'createGroupsFromUsers'],
  ['notify-success', 'notifySuccess'],
  ['digest-comments', 'digestComments'],
] as const;

function settingsOf(values: OptionValues): Partial<AccountSettings> {
  const settings: Partial<AccountSettings> = {};
  if (values['name'] !== undefined) settings.name = String(values['name']);
  if (values['timezone'] !== undefined) settings.timezone = String(values['timezone']);
  if (values['language'] !== undefined) settings.language = String(values['language']);
  if (values['threshold'] !== undefined) settings.threshold = numberOf(values, 'threshold');
  for (const [option, setting] of ownThresholds) {
    const value = values[option];
    if (value !== undefined) settings[setting] = value === 'default' ? null : numberOf(values, option);
  }
  if (values['publication'] !== undefined)
    settings.publication = String(values['publication']) as 'weekly' | 'live';
  if (values['noise'] !== undefined) settings.noise = numberOf(values, 'noise') as 0 | 1 | 2;
  const kpiWeeks = values['kpi-weeks'];
  if (kpiWeeks !== undefined)
    settings.kpiWeeks = kpiWeeks === 'default' ? null : numberOf(values, 'kpi-weeks');
  const comparisons = values['manager-comparisons'];
  if (comparisons !== undefined)
    settings.managerComparisons =
      comparisons === 'none' ? [] : (commaList(String(comparisons)) as AccountSettings['managerComparisons']);
  if (values['allow'] !== undefined) settings.allow = commaList(String(values['allow']));
  if (values['notify'] !== undefined) settings.notify = commaList(String(values['notify']));
  for (const [option, setting] of switches) {
    if (values[option] !== undefined) settings[setting] = trueOrFalse(values, option);
  }
  if (values['country'] !== undefined) {
    const country = required(values, 'country');
    settings.defaultCountry = country === 'none' ? null : country.toUpperCase();
  }
  if (values['roles-by-sync'] !== undefined) settings.rolesBySync = onOrOff(values, 'roles-by-sync');
  if (values['digest'] !== undefined) settings.digest = onOrOff(values, 'digest');
  if (values['sms'] !== undefined) settings.sms = onOrOff(values, 'sms');
  if (values['largest-push'] !== undefined) settings.largestPush = numberOf(values, 'largest-push');
  if (values['digest-days'] !== undefined) settings.digestDays = numberOf(values, 'digest-days');
  if (values['digest-hour'] !== undefined) settings.digestHour = numberOf(values, 'digest-hour');
  for (const option of limits) {
    if (values[option] === undefined) continue;
    const setting = option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    settings[setting as 'maxUsersCreated'] = numberOf(values, option);
  }
  return settings;
}
