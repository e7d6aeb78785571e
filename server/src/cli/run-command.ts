// Runs one soundings command, with or without a running service. Each area of commands has a file. ../command.ts is the program.
import { audit } from '../accounts/audit.ts';
import { migrationSteps } from '../answers/seal-open-weeks.ts';
import type { Config, ReadSettings } from '../base/config.ts';
import { Fault } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { asFault, openPool, type Pool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { migrateWithBackup } from '../backup/before-migration.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import type { ServeAnswering } from '../simulation/simulation.ts';
import { accountCommands } from './accounts.ts';
import { doctorCommands } from './operating/doctor.ts';
import { databaseCommands } from './operating/database.ts';
import { backupCommands } from './operating/backup.ts';
import { commentCommands } from './comments.ts';
import { fileCommands } from './files.ts';
import { historyCommands } from './history.ts';
import { keyCommands } from './operating/keys.ts';
import { mailCommands } from './mail.ts';
import { accountOf, type Command, type OptionValues, readOptions, UsageError } from './options.ts';
import { peopleCommands } from './people.ts';
import { type PushSurroundings, pushCommands } from './push/push.ts';
import { privacyCommands } from './privacy.ts';
import { questionCommands } from './questions.ts';
import { reportCommands } from './reports.ts';
import { runCommands } from './runs.ts';
import { scheduleCommands } from './schedules.ts';
import { auditCommands } from './operating/audit.ts';
import { breakdownCommands } from './breakdowns.ts';
import { simulationCommands } from './simulation.ts';
import { smsCommands } from './sms.ts';
import { tokenCommands } from './tokens.ts';
import { weekCommands } from './weeks.ts';

type Commands = Record<string, Command>;

/** What a command gets from the process that runs it. */
export type Surroundings = {
  config: () => Config;
  /** The same settings, with what is wrong with them. */
  settings: () => ReadSettings;
  /** Reads standard input to its end. */
  input: () => string;
  /** Write to standard output and to standard error. */
  print: (output: string) => void;
  printError: (output: string) => void;
  /** Whether standard error is a terminal. */
  isTerminal: boolean;
  /** Writes bytes to standard output. Resolves when it can take more. */
  write: (bytes: Buffer) => Promise<void>;
  /** What `soundings push` uses. */
  push: PushSurroundings;
  /** Serves the answering page to the people of a simulated week. */
  serve: ServeAnswering;
};

function commandsWith(surroundings: Surroundings): Commands {
  const { config, settings, serve } = surroundings;
  const canMail = () => config().smtpUrl !== undefined;
  return {
    ...accountCommands(canMail),
    ...tokenCommands(canMail),
    ...peopleCommands,
    ...runCommands,
    ...fileCommands,
    ...historyCommands,
    ...keyCommands,
    ...questionCommands,
    ...scheduleCommands,
    ...weekCommands(config),
    ...simulationCommands(config, serve),
    ...breakdownCommands,
    ...reportCommands,
    ...commentCommands,
    ...auditCommands,
    ...privacyCommands(config),
    ...doctorCommands(settings),
    ...mailCommands(config),
    ...smsCommands(config),
    ...pushCommands(surroundings.push),
    migrate: {
      usage: '\n    Updates the database schema to this version. Every other command does this as well.',
      options: {},
      migratesFirst: false,
      run: (pool, _values, keys) => migrateWithBackup(pool, migrationSteps(keys), config().backupDir),
      format: ({ applied, backup }: Awaited<ReturnType<typeof migrateWithBackup>>) =>
        [
          ...(backup === undefined ? [] : [`Backup before the update: ${backup}.`]),
          applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.',
        ].join('\n'),
    },
    ...databaseCommands,
    ...backupCommands(surroundings),
  };
}

function usage(commands: Commands, names = Object.keys(commands)): string {
  const lines = names.map((name) => `  npx soundings ${name} ${commands[name]?.usage}`);
  const own = '  npx soundings start [--demo]\n    Starts the service.\n  npx soundings version';
  return `${lines.join('\n')}\n${own}\n\nAdd --json to any command for JSON output.\n`;
}

/** What a command prints, and its exit status. */
type Output = { text: string; status: 0 | 1 | 2; toErrors?: boolean };

/** Runs a command with its arguments and returns the exit status: 1 if it fails, 2 after incorrect usage, unless the command says otherwise. */
export async function runCommand(args: string[], surroundings: Surroundings): Promise<number> {
  try {
    const output = await outputOf(args, surroundings);
    const { text, status, toErrors }: Output =
      typeof output === 'string' ? { text: output, status: 0 } : output;
    (toErrors ? surroundings.printError : surroundings.print)(`${text.replace(/\n$/, '')}\n`);
    return status;
  } catch (thrown) {
    const error = asFault(thrown);
    const isExpected = error instanceof Fault || error instanceof UsageError;
    const details =
      error instanceof Fault ? error.details.slice(1).map(({ message }) => `\n- ${message}`) : [];
    const text = isExpected ? `${error.message}${details.join('')}` : (error as Error).stack;
    surroundings.printError(`${text}\n`);
    return error instanceof UsageError ? (commandsWith(surroundings)[args[0] ?? '']?.usageStatus ?? 2) : 1;
  }
}

async function outputOf(written: string[], surroundings: Surroundings): Promise<string | Output> {
  const commands = commandsWith(surroundings);
  const args = written[0] === '--version' ? ['version', ...written.slice(1)] : written;
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find(
    (one) => Object.hasOwn(commands, one) || one === 'version',
  );
  if (args.length === 0 || args[0] === 'help' || args[0] === '--help') return usage(commands);
  if (name === undefined)
    throw new UsageError(
      `Unknown command "${args.slice(0, 2).join(' ')}". Run npx soundings help for a list.`,
    );
  const rest = args.slice(name.split(' ').length);
  if (name === 'version')
    return rest.includes('--json')
      ? JSON.stringify({ version })
      : `soundings ${version}, Node ${process.version}`;
  const command = commands[name] as Command;
  if (rest.includes('--help')) return usage(commands, [name]);
  const { json, ...values } = readOptions(command, rest, usage(commands, [name]));
  const result = await resultOf(name, command, values, surroundings);
  const text = json ? JSON.stringify(result) : await command.format(result as never);
  const toErrors = command.textToErrors?.(values) === true;
  const status = command.isFailure?.(result as never) ? 1 : (command.statusOf?.(result as never) ?? 0);
  return { text, status, toErrors };
}

async function resultOf(
  name: string,
  command: Command,
  values: OptionValues,
  { config, input }: Surroundings,
): Promise<unknown> {
  if (command.runAlone) return command.runAlone(values);
  return withDatabase(config(), command, async (pool, keys, databaseUrl) => {
    if (command.migratesFirst !== false)
      await migrateWithBackup(pool, migrationSteps(keys), config().backupDir);
    const output = await command.run(pool, values, keys, input, databaseUrl);
    if (command.isLogged !== false && values['account'] !== undefined) {
      const details = { options: Object.keys(values) }; // without their values, which may be personal data
      await audit(pool, accountOf(values), { origin: 'command' }, 'command run', { subject: name, details });
    }
    return output;
  });
}

async function withDatabase<T>(
  { databaseUrl, dataDir, answerKeys }: Config,
  { connect }: Command,
  work: (pool: Pool, keys: AnswerKeys, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const embedded =
    databaseUrl === undefined ? await openEmbedded(dataDir, { role: 'command', log: () => {} }) : undefined;
  const url = databaseUrl ?? (embedded?.url as string);
  const pool = connect ? await connect(url) : openPool(url, 2);
  try {
    return await work(pool, new AnswerKeys(pool, answerKeys), url);
  } finally {
    await pool.end({ timeout: 5 });
    await embedded?.stop();
  }
}
