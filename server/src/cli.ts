// npx soundings …: the administration command. Works beside a running service, and without one.
import { readFileSync } from 'node:fs';
import { weekName } from '@soundings/contract/weeks.ts';
import { type Account, type AccountSettings, changeAccount, createAccount } from './accounts/accounts.ts';
import { notifyPerson } from './accounts/account-notices.ts';
import { audit } from './accounts/audit.ts';
import { resetPassword, setPassword } from './accounts/signin.ts';
import { createToken, listTokens, revokeToken } from './accounts/tokens.ts';
import { readConfig } from './base/config.ts';
import { Fault } from './base/errors.ts';
import { newPassword } from './base/secrets.ts';
import { version } from './base/version.ts';
import { asFault, inTransaction, openPool, type Pool } from './db/db.ts';
import { openEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { migrationSteps } from './answers/seal-open-weeks.ts';
import { askingCommands } from './cli.asking.ts';
import { fileCommands } from './cli.files.ts';
import { keyCommands } from './cli.keys.ts';
import { privacyCommands } from './cli.privacy.ts';
import { simulationCommands } from './cli.simulation.ts';
import {
  account,
  accountOf,
  type Command,
  commaList,
  flag,
  list,
  moment,
  needed,
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
} from './cli.options.ts';
import type { HostKey } from './files/hostkeys.ts';
import { importHistory } from './history/history.ts';
import { createGroup } from './people/groups.ts';
import { createUser, defineAttribute } from './people/people.ts';
import { confirmByAddress } from './people/users.ts';
import { defineLibrary } from './questions/questions.ts';
import { closeWeekNow, forgetGroups } from './results/publish.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { listRuns } from './sync/runs.ts';

const limits = ['users', 'groups'].flatMap((kind) =>
  ['created', 'updated', 'deleted'].map((verb) => `max-${kind}-${verb}`),
);
const commands: Record<string, Command> = {
  'account create': {
    readsSecret: true,
    usage:
      '--name N --admin-email E [--admin-password-stdin] [--timezone Z] [--language L] [--threshold K]\n' +
      '    A company, and its first administrator.',
    options: {
      name: text,
      'admin-email': text,
      'admin-password-stdin': flag,
      timezone: text,
      language: text,
      threshold: text,
    },
    run: accountCreate,
    say: (made: Awaited<ReturnType<typeof accountCreate>>) =>
      [
        `Account ${made.account.id} "${made.account.name}" is made.`,
        `SFTP user name  ${made.account.sftpUsername}`,
        `Administrator   ${made.admin.email}`,
        ...(made.admin.password ? [`Password        ${made.admin.password}   (shown only now)`] : []),
      ].join('\n'),
  },
  'password set': {
    readsSecret: true,
    usage:
      '--account ID --email E [--turn-off-second-step]\n' +
      '    Sets the password of a person, read from standard input, and signs the person out everywhere. For an\n' +
      '    administrator who can no longer sign in; --turn-off-second-step: who has lost the phone, too.',
    options: { ...account, email: text, 'turn-off-second-step': flag },
    run: (pool, values) => {
      const wanted = { email: needed(values, 'email'), password: passwordFromInput() };
      const turnsOff = values['turn-off-second-step'] === true;
      const accountId = accountOf(values);
      return inTransaction(pool, async (tx) => {
        const person = await resetPassword(tx, accountId, wanted, turnsOff);
        if (canMail()) await notifyPerson(tx, accountId, person.userId, 'password set');
        return person;
      });
    },
    say: ({ email, role }: Awaited<ReturnType<typeof resetPassword>>) =>
      `The password of ${email} (${role}) is set.`,
  },
  'account set': {
    isLogged: false,
    usage:
      '--account ID [--name N] [--timezone Z] [--language L] [--threshold K] [--publication weekly|live]\n' +
      '    [--spread-threshold K|default] [--comment-threshold K|default] [--noise 0|1|2]\n' +
      '    [--allow CIDR,…] [--apply-files true|false] [--partial-files true|false]\n' +
      '    [--create-groups-from-users true|false] [--country SE|none] [--roles-by-sync on|off] [--notify EMAIL,…] [--notify-success true|false]\n' +
      `    ${limits.map((one) => `[--${one} N]`).join(' ')}\n` +
      '    Changes the settings that are given. Thresholds, --publication and --noise hold for weeks that open from now on.\n' +
      '    --publication live shows figures while the week is open, in batches of new answers as large as the threshold.\n' +
      '    --noise: how many steps the sum behind a figure may be off. --allow "" lets any address upload.\n' +
      '    --country: which country phone numbers without a country prefix in files belong to.\n' +
      '    --roles-by-sync off: requests and files set no roles. --partial-files true: a file only adds and updates, and removes nobody. --notify: who gets a mail about files\n' +
      '    that are held or have faults.',
    options: {
      ...account,
      name: text,
      timezone: text,
      language: text,
      threshold: text,
      'spread-threshold': text,
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
    say: (settings: Account) => table(Object.entries(settings).map(([name, value]) => [name, String(value)])),
  },
  'token create': {
    isLogged: false,
    usage:
      '--account ID --name N --scope data|organization|files [--scope …] [--expires DATE]\n' +
      '                 [--numbers plain|quoted]\n' +
      '    Creates an API token, which is shown only now. Give it the scopes it needs, and no more. With --numbers quoted, the\n' +
      '    data interface writes the numbers of values as texts, for clients written against the original service.',
    options: { ...account, name: text, scope: list, expires: text, numbers: text },
    run: (pool, values) =>
      createToken(
        pool,
        accountOf(values),
        {
          name: needed(values, 'name'),
          scopes: scopesOf(values),
          ...(values['expires'] !== undefined && { expires: String(values['expires']) }),
          ...(values['numbers'] !== undefined && { numbers: String(values['numbers']) }),
        },
        { origin: 'command' },
        canMail(),
      ),
    say: ({ id, token, scopes }: Awaited<ReturnType<typeof createToken>>) =>
      `Token ${id} for ${scopes.join(', ')} is made (shown only now):\n${token}`,
  },
  'token list': {
    isLogged: false,
    usage: '--account ID',
    options: account,
    run: (pool, values) => listTokens(pool, accountOf(values)),
    say: (tokens: Awaited<ReturnType<typeof listTokens>>) =>
      table([
        ['id', 'name', 'scopes', 'numbers', 'expires', 'last used', 'revoked'],
        ...tokens.map((token) => [
          String(token.id),
          token.name,
          token.scopes.join(' '),
          token.numbers,
          moment(token.expiresAt),
          moment(token.lastUsedAt),
          moment(token.revokedAt),
        ]),
      ]),
  },
  'token revoke': {
    isLogged: false,
    usage: '--account ID --id T\n    From now on the token opens nothing.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await revokeToken(pool, accountOf(values), id);
      return { id, revoked: true };
    },
    say: ({ id }: { id: number }) => `Token ${id} is revoked.`,
  },
  'attribute define': {
    usage: '--account ID --name gender [--values Male,Female]\n    A custom attribute that users may have.',
    options: { ...account, name: text, values: text },
    run: (pool, values) => {
      const allowedValues = values['values'] === undefined ? null : commaList(String(values['values']));
      return inTransaction(pool, async (tx) => {
        const made = await defineAttribute(tx, accountOf(values), {
          name: needed(values, 'name'),
          allowedValues,
        });
        return { name: made.name, values: made.allowedValues };
      });
    },
    say: ({ name, values }: { name: string; values: string[] | null }) =>
      `The attribute "${name}" takes ${values ? values.join(', ') : 'any text'}.`,
  },
  'group create': {
    usage: '--account ID --name N [--external-id X] [--parent GROUP_ID]\n    A group made by hand.',
    options: { ...account, name: text, 'external-id': text, parent: text },
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) =>
        createGroup(tx, accountOf(values), {
          name: needed(values, 'name'),
          ...(values['external-id'] !== undefined && { externalId: String(values['external-id']) }),
          ...(values['parent'] !== undefined && { parentId: numberOf(values, 'parent') }),
        }),
      ),
    }),
    say: ({ id }: { id: number }) => `Group ${id} is made.`,
  },
  'user confirm': {
    usage:
      '--account ID --email E\n' +
      '    Confirms an Administrator whom a push or file made, or gave another address: until then a User.',
    options: { ...account, email: text },
    run: (pool, values) =>
      inTransaction(pool, async (tx) => {
        const accountId = accountOf(values);
        const id = await confirmByAddress(tx, accountId, needed(values, 'email'));
        await audit(tx, accountId, { origin: 'command' }, 'administrator confirmed', { subject: id });
        return { id };
      }),
    say: ({ id }: { id: number }) =>
      `User ${id} is an Administrator. Who has just become one needs a new password: by a link from the console, or "Forgotten password?".`,
  },
  'user create': {
    usage:
      '--account ID --first-name F --last-name L [--email E] [--role R] [--external-id X] [--member-of GROUP_ID …]\n' +
      '    [--timezone Z] [--language L]\n' +
      '    A user made by hand.',
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
          firstName: needed(values, 'first-name'),
          lastName: needed(values, 'last-name'),
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
    say: ({ id }: { id: number }) => `User ${id} is made.`,
  },
  'runs list': {
    isLogged: false,
    usage: '--account ID [--limit N]\n    Organization requests and files, newest first.',
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
    say: (
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
        ['id', 'at', 'source', 'outcome', 'users + ~ −', 'groups + ~ −', 'faults'],
        ...runs.map((run) => [
          run.id,
          moment(run.at),
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
      '    Applies a held run: exactly the changes that were shown. Refused when something has changed since.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const { approveRun } = await import('./files/process.ts');
      return approveRun(pool, accountOf(values), needed(values, 'id'), forgetGroups);
    },
    say: ({ message }: { message: string }) => message,
  },
  ...fileCommands,
  'sftp hostkeys': {
    usage:
      '\n    The fingerprints by which SFTP clients know this installation. Makes the keys when there are none yet.',
    options: {},
    run: async (pool, _values, { secrets }) => {
      const [{ hostKeys }, { openLog }] = await Promise.all([
        import('./files/hostkeys.ts'),
        import('./base/log.ts'),
      ]);
      return hostKeys(pool, secrets, openLog('warn', 2));
    },
    say: (keys: HostKey[]) => table(keys.map(({ kind, fingerprint }) => [kind, fingerprint])),
  },
  'history import': {
    usage:
      '--account ID FILE\n' +
      '    Past surveys, as NDJSON (docs/history.md): all of the file or nothing. Weeks that have ended are published.\n' +
      '    New questions, KPIs and translations come in by such a file too (docs/asking.md).',
    options: account,
    positional: 'FILE',
    run: (pool, values, keys) =>
      importHistory(pool, keys, accountOf(values), needed(values, 'FILE'), Date.now()),
    say: ({
      questions,
      kpis,
      rounds,
      answers,
      weeks,
      passedOver,
    }: Awaited<ReturnType<typeof importHistory>>) =>
      `New: ${questions} questions, ${kpis} KPIs, ${rounds} rounds in ${weeks} weeks, ${answers} answers.` +
      (passedOver ? `\nPassed over: ${passedOver} answers of rounds that were there before.` : ''),
  },
  'week close': {
    usage:
      '--account ID [--week 2026-W47]\n' +
      '    Publishes a week and forgets its answers; by default the last week that has ended. There is no way back.',
    options: { ...account, week: text },
    run: async (pool, values, keys) => {
      const closed = await closeWeekNow(pool, keys, accountOf(values), weekOf(values), Date.now());
      return { week: weekName(closed.week), published: closed.published };
    },
    say: ({ week, published }: { week: string; published: number }) =>
      published > 0
        ? `${week} is closed: ${published} figures are published.`
        : `${week} is closed. Nothing was published now: it had closed before, or too few have answered.`,
  },
  ...keyCommands,
  ...askingCommands(() => readConfig(process.env)),
  ...simulationCommands(() => readConfig(process.env)),
  ...privacyCommands(() => readConfig(process.env)),
  migrate: {
    usage: '\n    Brings the database to the schema of this version; every other command does so too.',
    options: {},
    run: async (pool, _values, keys) => ({ applied: await migrate(pool, migrationSteps(keys)) }),
    say: ({ applied }: { applied: string[] }) =>
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.',
  },
};

/** Standard input, without the end of its line. */
const canMail = () => readConfig(process.env).smtpUrl !== undefined;

const passwordFromInput = () => readFileSync(0, 'utf8').replace(/\r?\n$/, '');

async function accountCreate(pool: Pool, values: Values) {
  const email = needed(values, 'admin-email');
  const given = values['admin-password-stdin'] ? passwordFromInput() : undefined;
  const password = given ?? newPassword();
  const wanted = {
    name: needed(values, 'name'),
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
  ['spread-threshold', 'spreadThreshold'],
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
    const country = needed(values, 'country');
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
  const words = (counts: CountsByAction) => `${counts.created} ${counts.updated} ${counts.deleted}`;
  return summary ? [words(summary.users), words(summary.groups)] : ['', ''];
}

function usage(names = Object.keys(commands)): string {
  const lines = names.map((name) => `  npx soundings ${name} ${commands[name]?.usage}`);
  return `${lines.join('\n')}\n  npx soundings version\n\nEvery command takes --json.\n`;
}

async function main(args: string[]): Promise<void> {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find(
    (one) => Object.hasOwn(commands, one) || one === 'version',
  );
  if (args.length === 0 || args[0] === 'help' || args[0] === '--help') return print(usage());
  if (name === undefined) throw new UsageError(`There is no command "${args.slice(0, 2).join(' ')}".`);
  const rest = args.slice(name.split(' ').length);
  if (name === 'version') return printVersion(rest);
  const command = commands[name] as Command;
  if (rest.includes('--help')) return print(usage([name]));
  const { json, ...values } = readOptions(command, rest, usage([name]));
  const result = await withDatabase(command, async (pool, keys) => {
    if (name !== 'migrate') await migrate(pool, migrationSteps(keys));
    const came = await command.run(pool, values, keys);
    if (command.isLogged !== false && values['account'] !== undefined) {
      const details = { options: Object.keys(values) }; // not their values: they may tell of people
      await audit(pool, accountOf(values), { origin: 'command' }, 'command run', { subject: name, details });
    }
    return came;
  });
  print(json ? JSON.stringify(result) : await command.say(result as never));
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

const print = (words: string) => void process.stdout.write(`${words.replace(/\n$/, '')}\n`);

try {
  await main(process.argv.slice(2));
} catch (thrown) {
  const error = asFault(thrown);
  const isOurs = error instanceof Fault || error instanceof UsageError;
  const details = error instanceof Fault ? error.details.slice(1).map(({ message }) => `\n- ${message}`) : [];
  process.stderr.write(`${isOurs ? `${error.message}${details.join('')}` : (error as Error).stack}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

/** No scope by default: a token that opens everything is to be asked for by name. */
function scopesOf(values: Values): string[] {
  const scopes = values['scope'] as string[] | undefined;
  if (!scopes?.length)
    throw new UsageError('--scope is missing: data, organization or files. Give it once for each scope.');
  return scopes;
}
