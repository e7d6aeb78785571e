// npx soundings …: the administration command. It works with or without a running service.
import { readFileSync } from 'node:fs';
import { weekName } from '@soundings/contract/weeks.ts';
import { type Account, type AccountSettings, changeAccount, createAccount } from '../accounts/accounts.ts';
import { notifyPerson } from '../accounts/account-notices.ts';
import { audit } from '../accounts/audit.ts';
import { resetPassword, setPassword } from '../auth/sign-in.ts';
import { createToken, listTokens, revokeToken } from '../accounts/tokens.ts';
import { readConfig } from '../base/config.ts';
import { Fault } from '../base/errors.ts';
import { newPassword } from '../base/secrets.ts';
import { version } from '../base/version.ts';
import { asFault, inTransaction, openPool, type Pool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { migrationSteps } from '../answers/seal-open-weeks.ts';
import { askingCommands } from './asking.ts';
import { fileCommands } from './files.ts';
import { keyCommands } from './keys.ts';
import { privacyCommands } from './privacy.ts';
import { simulationCommands } from './simulation.ts';
import {
  account,
  accountOf,
  type Command,
  commaList,
  flag,
  list,
  minuteText,
  required,
  numberOf,
  onOrOff,
  readOptions,
  table,
  text,
  trueOrFalse,
  UsageError,
  type Values,
  weekOf,
  wholeNumber,
} from './options.ts';
import type { HostKey } from '../sftp/host-keys.ts';
import { importHistory } from '../history/history.ts';
import { createGroup } from '../people/groups.ts';
import { createUser, defineAttribute } from '../people/people.ts';
import { confirmByAddress } from '../people/users.ts';
import { defineLibrary } from '../questions/questions.ts';
import { closeWeekNow, deleteGroupResults } from '../results/publish.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { listRuns } from '../sync/runs.ts';

const limits = ['users', 'groups'].flatMap((kind) =>
  ['created', 'updated', 'deleted'].map((verb) => `max-${kind}-${verb}`),
);
const commands: Record<string, Command> = {
  'account create': {
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
  },
  'password set': {
    readsSecret: true,
    usage:
      '--account ID --email E [--turn-off-second-step]\n' +
      '    Sets a password, read from standard input, and signs the person out everywhere. Use it for an administrator\n' +
      '    who can no longer sign in. --turn-off-second-step also disables two-factor authentication.',
    options: { ...account, email: text, 'turn-off-second-step': flag },
    run: (pool, values) => {
      const wanted = { email: required(values, 'email'), password: passwordFromInput() };
      const turnsOff = values['turn-off-second-step'] === true;
      const accountId = accountOf(values);
      return inTransaction(pool, async (tx) => {
        const person = await resetPassword(tx, accountId, wanted, turnsOff);
        if (canMail()) await notifyPerson(tx, accountId, person.userId, 'password set');
        return person;
      });
    },
    format: ({ email, role }: Awaited<ReturnType<typeof resetPassword>>) =>
      `Password of ${email} (${role}) changed.`,
  },
  'account set': {
    isLogged: false,
    usage:
      '--account ID [--name N] [--timezone Z] [--language L] [--threshold K] [--publication weekly|live]\n' +
      '    [--distribution-threshold K|default] [--comment-threshold K|default] [--noise 0|1|2]\n' +
      '    [--allow CIDR,…] [--apply-files true|false] [--partial-files true|false]\n' +
      '    [--create-groups-from-users true|false] [--country SE|none] [--roles-by-sync on|off] [--notify EMAIL,…] [--notify-success true|false]\n' +
      `    ${limits.map((one) => `[--${one} N]`).join(' ')}\n` +
      '    Changes the given settings. Thresholds, --publication and --noise apply to weeks that open from now on.\n' +
      '    --publication live  Shows figures while the week is open, in batches of at least as many new answers as the threshold.\n' +
      '    --noise             Changes the sum behind each figure by up to this many steps of the scale.\n' +
      '    --allow             IP addresses or ranges that can upload files. "" allows any address.\n' +
      '    --country           The country of phone numbers in files that have no country code.\n' +
      '    --roles-by-sync off Imports do not set roles.\n' +
      '    --partial-files true  A file adds and updates people and groups, but removes none.\n' +
      '    --notify            Email addresses that are notified of files with errors or waiting for approval.',
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
      allow: text,
      'apply-files': text,
      'partial-files': text,
      'create-groups-from-users': text,
      country: text,
      'roles-by-sync': text,
      notify: text,
      'notify-success': text,
      ...Object.fromEntries(limits.map((one) => [one, text])),
    },
    run: async (pool, values) => {
      const settings = settingsOf(values);
      return inTransaction(pool, (tx) => changeAccount(tx, accountOf(values), settings));
    },
    format: (settings: Account) =>
      table(Object.entries(settings).map(([name, value]) => [name, String(value)])),
  },
  'token create': {
    isLogged: false,
    usage:
      '--account ID --name N --scope data|organization|files [--scope …] [--expires DATE]\n' +
      '                 [--numbers plain|quoted]\n' +
      '    Creates an API token and shows it once. Give it only the scopes it needs. With --numbers quoted, the data interface\n' +
      '    writes numbers as texts, for clients written for the original service.',
    options: { ...account, name: text, scope: list, expires: text, numbers: text },
    run: (pool, values) =>
      createToken(
        pool,
        accountOf(values),
        {
          name: required(values, 'name'),
          scopes: scopesOf(values),
          ...(values['expires'] !== undefined && { expires: String(values['expires']) }),
          ...(values['numbers'] !== undefined && { numbers: String(values['numbers']) }),
        },
        { origin: 'command' },
        canMail(),
      ),
    format: ({ id, token, scopes }: Awaited<ReturnType<typeof createToken>>) =>
      `Token ${id} for ${scopes.join(', ')} created (shown only once):\n${token}`,
  },
  'token list': {
    isLogged: false,
    usage: '--account ID',
    options: account,
    run: (pool, values) => listTokens(pool, accountOf(values)),
    format: (tokens: Awaited<ReturnType<typeof listTokens>>) =>
      table([
        ['id', 'name', 'scopes', 'numbers', 'expires', 'last used', 'revoked'],
        ...tokens.map((token) => [
          String(token.id),
          token.name,
          token.scopes.join(' '),
          token.numbers,
          minuteText(token.expiresAt),
          minuteText(token.lastUsedAt),
          minuteText(token.revokedAt),
        ]),
      ]),
  },
  'token revoke': {
    isLogged: false,
    usage: '--account ID --id T\n    Revokes an API token. It stops working at once.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await revokeToken(pool, accountOf(values), id);
      return { id, revoked: true };
    },
    format: ({ id }: { id: number }) => `Token ${id} revoked.`,
  },
  'attribute define': {
    usage: '--account ID --name gender [--values Male,Female]\n    Defines a custom attribute of users.',
    options: { ...account, name: text, values: text },
    run: (pool, values) => {
      const allowedValues = values['values'] === undefined ? null : commaList(String(values['values']));
      return inTransaction(pool, async (tx) => {
        const defined = await defineAttribute(tx, accountOf(values), {
          name: required(values, 'name'),
          allowedValues,
        });
        return { name: defined.name, values: defined.allowedValues };
      });
    },
    format: ({ name, values }: { name: string; values: string[] | null }) =>
      `Attribute "${name}" allows ${values ? values.join(', ') : 'any text'}.`,
  },
  'group create': {
    usage: '--account ID --name N [--external-id X] [--parent GROUP_ID]\n    Creates a group manually.',
    options: { ...account, name: text, 'external-id': text, parent: text },
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) =>
        createGroup(tx, accountOf(values), {
          name: required(values, 'name'),
          ...(values['external-id'] !== undefined && { externalId: String(values['external-id']) }),
          ...(values['parent'] !== undefined && { parentId: numberOf(values, 'parent') }),
        }),
      ),
    }),
    format: ({ id }: { id: number }) => `Group ${id} created.`,
  },
  'user confirm': {
    usage:
      '--account ID --email E\n' +
      '    Confirms a person whom an import made an Administrator, or an Administrator whose email address it changed.\n' +
      '    Until then they have the role User.',
    options: { ...account, email: text },
    run: (pool, values) =>
      inTransaction(pool, async (tx) => {
        const accountId = accountOf(values);
        const id = await confirmByAddress(tx, accountId, required(values, 'email'));
        await audit(tx, accountId, { origin: 'command' }, 'administrator confirmed', { subject: id });
        return { id };
      }),
    format: ({ id }: { id: number }) =>
      `User ${id} is now an Administrator. New administrators must set a new password: send a link from the console, or use "Forgotten password?".`,
  },
  'user create': {
    usage:
      '--account ID --first-name F --last-name L [--email E] [--role R] [--external-id X] [--member-of GROUP_ID …]\n' +
      '    [--timezone Z] [--language L]\n' +
      '    Creates a user manually.',
    options: {
      ...account,
      'first-name': text,
      'last-name': text,
      email: text,
      role: text,
      'external-id': text,
      'member-of': list,
      timezone: text,
      language: text,
    },
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) =>
        createUser(tx, accountOf(values), {
          firstName: required(values, 'first-name'),
          lastName: required(values, 'last-name'),
          ...(values['email'] !== undefined && { email: String(values['email']) }),
          ...(values['role'] !== undefined && { role: String(values['role']) }),
          ...(values['external-id'] !== undefined && { externalId: String(values['external-id']) }),
          ...(values['timezone'] !== undefined && { timezone: String(values['timezone']) }),
          ...(values['language'] !== undefined && { language: String(values['language']) }),
          memberOf: ((values['member-of'] as string[] | undefined) ?? []).map((id) =>
            wholeNumber(id, 'member-of'),
          ),
        }),
      ),
    }),
    format: ({ id }: { id: number }) => `User ${id} created.`,
  },
  'runs list': {
    isLogged: false,
    usage: '--account ID [--limit N]\n    Lists organization requests and files, newest first.',
    options: { ...account, limit: text },
    run: async (pool, values) => {
      const limit = values['limit'] === undefined ? 20 : numberOf(values, 'limit');
      const runs = await listRuns(pool, accountOf(values), limit);
      return runs.map(({ id, at, source, file, validateOnly, outcome, summary, details }) => ({
        id,
        at,
        source,
        ...(file !== null && { file }),
        validateOnly,
        outcome,
        summary,
        ...(details !== null && { details }),
      }));
    },
    format: (
      runs: {
        id: string;
        at: Date;
        source: string;
        outcome: string;
        summary: unknown;
        details?: unknown[];
      }[],
    ) =>
      table([
        ['id', 'at', 'source', 'outcome', 'users + ~ −', 'groups + ~ −', 'errors'],
        ...runs.map((run) => [
          run.id,
          minuteText(run.at),
          run.source,
          run.outcome,
          ...countsOf(run.summary as Parameters<typeof countsOf>[0]),
          String(run.details?.length ?? ''),
        ]),
      ]),
  },
  'run approve': {
    isLogged: false,
    usage:
      '--account ID --id R\n' +
      '    Applies a pending run: exactly the changes in its report. Rejected if something has changed since.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const { approveRun } = await import('../files/approval.ts');
      return approveRun(pool, accountOf(values), required(values, 'id'), deleteGroupResults);
    },
    format: ({ message }: { message: string }) => message,
  },
  ...fileCommands,
  'sftp hostkeys': {
    usage:
      '\n    Shows the SFTP host key fingerprints of this installation. Creates the host keys if there are none yet.',
    options: {},
    run: async (pool, _values, { secrets }) => {
      const [{ hostKeys }, { openLog }] = await Promise.all([
        import('../sftp/host-keys.ts'),
        import('../base/log.ts'),
      ]);
      return hostKeys(pool, secrets, openLog('warn', 2));
    },
    format: (keys: HostKey[]) => table(keys.map(({ kind, fingerprint }) => [kind, fingerprint])),
  },
  'history import': {
    usage:
      '--account ID FILE\n' +
      '    Imports past surveys from NDJSON (docs/history.md). A file with an error changes nothing. Weeks that have ended\n' +
      '    are published. Use such a file for new questions, KPIs and translations, too (docs/asking.md).',
    options: account,
    positional: 'FILE',
    run: (pool, values, keys) =>
      importHistory(pool, keys, accountOf(values), required(values, 'FILE'), Date.now()),
    format: ({
      questions,
      kpis,
      rounds,
      answers,
      weeks,
      passedOver,
    }: Awaited<ReturnType<typeof importHistory>>) =>
      `New: ${questions} questions, ${kpis} KPIs, ${rounds} rounds in ${weeks} weeks, ${answers} answers.` +
      (passedOver ? `\nSkipped: ${passedOver} answers of rounds that already exist.` : ''),
  },
  'week close': {
    usage:
      '--account ID [--week 2026-W47]\n' +
      "    Publishes the figures of a week and deletes its answers. Default: the last week that has ended. This can't be undone.",
    options: { ...account, week: text },
    run: async (pool, values, keys) => {
      const closed = await closeWeekNow(pool, keys, accountOf(values), weekOf(values), Date.now());
      return { week: weekName(closed.week), published: closed.published };
    },
    format: ({ week, published }: { week: string; published: number }) =>
      published > 0
        ? `${week} is closed. ${published} figures published.`
        : `${week} is closed. Nothing was published: the week was already closed, or too few people answered.`,
  },
  ...keyCommands,
  ...askingCommands(() => readConfig(process.env)),
  ...simulationCommands(() => readConfig(process.env)),
  ...privacyCommands(() => readConfig(process.env)),
  migrate: {
    usage: '\n    Updates the database schema to this version. Every other command does this as well.',
    options: {},
    run: async (pool, _values, keys) => ({ applied: await migrate(pool, migrationSteps(keys)) }),
    format: ({ applied }: { applied: string[] }) =>
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.',
  },
};

const canMail = () => readConfig(process.env).smtpUrl !== undefined;

/** Reads a password from standard input, without its line ending. */
const passwordFromInput = () => readFileSync(0, 'utf8').replace(/\r?\n$/, '');

async function accountCreate(pool: Pool, values: Values) {
  const email = required(values, 'admin-email');
  const given = values['admin-password-stdin'] ? passwordFromInput() : undefined;
  const password = given ?? newPassword();
  const wanted = {
    name: required(values, 'name'),
    ...(values['timezone'] !== undefined && { timezone: String(values['timezone']) }),
    ...(values['language'] !== undefined && { language: String(values['language']) }),
    ...(values['threshold'] !== undefined && { threshold: numberOf(values, 'threshold') }),
  };
  return inTransaction(pool, async (tx) => {
    const { id, name, sftpUsername, language } = await createAccount(tx, wanted);
    const adminId = await createUser(tx, id, { firstName: '', lastName: '', email, role: 'Administrator' });
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
] as const;

function settingsOf(values: Values): Partial<AccountSettings> {
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
  for (const option of limits) {
    if (values[option] === undefined) continue;
    const setting = option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    settings[setting as 'maxUsersCreated'] = numberOf(values, option);
  }
  return settings;
}

type CountsByAction = { created: number; updated: number; deleted: number };

function countsOf(summary: { users: CountsByAction; groups: CountsByAction } | null): [string, string] {
  const format = (counts: CountsByAction) => `${counts.created} ${counts.updated} ${counts.deleted}`;
  return summary ? [format(summary.users), format(summary.groups)] : ['', ''];
}

function usage(names = Object.keys(commands)): string {
  const lines = names.map((name) => `  npx soundings ${name} ${commands[name]?.usage}`);
  return `${lines.join('\n')}\n  npx soundings version\n\nAdd --json to any command for JSON output.\n`;
}

async function main(args: string[]): Promise<void> {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find(
    (one) => Object.hasOwn(commands, one) || one === 'version',
  );
  if (args.length === 0 || args[0] === 'help' || args[0] === '--help') return print(usage());
  if (name === undefined)
    throw new UsageError(
      `Unknown command "${args.slice(0, 2).join(' ')}". Run npx soundings help for a list.`,
    );
  const rest = args.slice(name.split(' ').length);
  if (name === 'version') return printVersion(rest);
  const command = commands[name] as Command;
  if (rest.includes('--help')) return print(usage([name]));
  const { json, ...values } = readOptions(command, rest, usage([name]));
  const result = await withDatabase(command, async (pool, keys) => {
    if (name !== 'migrate') await migrate(pool, migrationSteps(keys));
    const output = await command.run(pool, values, keys);
    if (command.isLogged !== false && values['account'] !== undefined) {
      const details = { options: Object.keys(values) }; // without their values, which may be personal data
      await audit(pool, accountOf(values), { origin: 'command' }, 'command run', { subject: name, details });
    }
    return output;
  });
  print(json ? JSON.stringify(result) : await command.format(result as never));
}

function printVersion(rest: string[]): void {
  print(
    rest.includes('--json') ? JSON.stringify({ version }) : `soundings ${version}, Node ${process.version}`,
  );
}

async function withDatabase<T>(
  { connect }: Command,
  work: (pool: Pool, keys: AnswerKeys) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env);
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbedded(config.dataDir, { role: 'command', log: () => {} })
      : undefined;
  const url = config.databaseUrl ?? (embedded?.url as string);
  const pool = connect ? await connect(url) : openPool(url, 2);
  try {
    return await work(pool, new AnswerKeys(pool, config.answerKeys));
  } finally {
    await pool.end({ timeout: 5 });
    await embedded?.stop();
  }
}

const print = (output: string) => void process.stdout.write(`${output.replace(/\n$/, '')}\n`);

try {
  await main(process.argv.slice(2));
} catch (thrown) {
  const error = asFault(thrown);
  const isExpected = error instanceof Fault || error instanceof UsageError;
  const details = error instanceof Fault ? error.details.slice(1).map(({ message }) => `\n- ${message}`) : [];
  process.stderr.write(`${isExpected ? `${error.message}${details.join('')}` : (error as Error).stack}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

/** Reads the scopes of a token. There is no default, so that no one creates an all-powerful token by accident. */
function scopesOf(values: Values): string[] {
  const scopes = values['scope'] as string[] | undefined;
  if (!scopes?.length)
    throw new UsageError('--scope is required: data, organization or files. Repeat it for each scope.');
  return scopes;
}
