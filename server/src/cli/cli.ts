// npx soundings …: the administration command. It works with or without a running service. Each area of commands has a file.
import { audit } from '../accounts/audit.ts';
import { migrationSteps } from '../answers/seal-open-weeks.ts';
import { readConfig } from '../base/config.ts';
import { Fault } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { asFault, openPool, type Pool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { accountCommands } from './accounts.ts';
import { fileCommands } from './files.ts';
import { historyCommands } from './history.ts';
import { keyCommands } from './keys.ts';
import { accountOf, type Command, readOptions, UsageError } from './options.ts';
import { peopleCommands } from './people.ts';
import { privacyCommands } from './privacy.ts';
import { questionCommands } from './questions.ts';
import { runCommands } from './runs.ts';
import { scheduleCommands } from './schedules.ts';
import { simulationCommands } from './simulation.ts';
import { tokenCommands } from './tokens.ts';
import { weekCommands } from './weeks.ts';

const config = () => readConfig(process.env);
const canMail = () => config().smtpUrl !== undefined;

const commands: Record<string, Command> = {
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
  ...simulationCommands(config),
  ...privacyCommands(config),
  migrate: {
    usage: '\n    Updates the database schema to this version. Every other command does this as well.',
    options: {},
    run: async (pool, _values, keys) => ({ applied: await migrate(pool, migrationSteps(keys)) }),
    format: ({ applied }: { applied: string[] }) =>
      applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.',
  },
};

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
  const { databaseUrl, dataDir, answerKeys } = config();
  const embedded =
    databaseUrl === undefined ? await openEmbedded(dataDir, { role: 'command', log: () => {} }) : undefined;
  const url = databaseUrl ?? (embedded?.url as string);
  const pool = connect ? await connect(url) : openPool(url, 2);
  try {
    return await work(pool, new AnswerKeys(pool, answerKeys));
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
