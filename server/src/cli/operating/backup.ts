// The commands that create, check and restore backups.
import { auditEverywhere } from '../../accounts/audit.ts';
import type { Config } from '../../base/config.ts';
import { sizeText } from '../../base/sizes.ts';
import type { Contents } from '../../backup/contents.ts';
import { createBackup, type OnProgress } from '../../backup/create-backup.ts';
import { asFileFault, failedBackup } from '../../backup/faults.ts';
import { readBackup } from '../../backup/read-backup.ts';
import type { Restored } from '../../backup/restore.ts';
import { writeWholeFile } from '../../backup/whole-file.ts';
import type { Pool } from '../../db/db.ts';
import { isMigrated } from '../../db/migrate.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { type Command, flag, minuteText, type OptionValues, required, table } from '../options.ts';

type Surroundings = {
  config: () => Config;
  printError: (output: string) => void;
  /** Whether a person reads standard error. */
  isTerminal: boolean;
  /** Writes bytes to standard output. Resolves when it can take more. */
  write: (bytes: Buffer) => Promise<void>;
};

export const backupCommands = (surroundings: Surroundings): Record<string, Command> => ({
  backup: {
    isLogged: false,
    migratesFirst: false,
    usage:
      'FILE [--secrets]\n' +
      '    Writes a backup of the whole installation, while the service runs. FILE appears when the backup is complete. With - as\n' +
      '    FILE, the backup goes to standard output and the summary to standard error. Answers and keys of open weeks are never\n' +
      '    in a backup. --secrets includes the secrets key: keep such a file as safe as the key.',
    options: { secrets: flag },
    positional: 'FILE',
    textToErrors: (values) => values['FILE'] === '-',
    run: async (pool, values, keys) =>
      backUp(pool, values, keys, { write: surroundings.write, onProgress: progressTo(surroundings) }),
    format: createdText,
  },
  verify: {
    usage:
      'FILE\n    Reads a whole backup, checks all checksums, and prints what it contains. Needs no database. The exit status is 1 if\n' +
      '    the file is damaged.',
    options: {},
    positional: 'FILE',
    runAlone: (values) => readBackup(required(values, 'FILE'), { onProgress: progressTo(surroundings) }),
    format: verifiedText,
  },
  restore: {
    isLogged: false,
    migratesFirst: false,
    usage:
      'FILE\n    Restores a backup into an empty installation: a new DATA_DIR, or an empty database in DATABASE_URL. Stop the\n' +
      '    service first. Weeks that were open in the backup close without results.',
    options: {},
    positional: 'FILE',
    run: async (pool, values, _keys, _input, databaseUrl) => {
      // Loaded only here, because it loads most of the service.
      const { restoreBackup } = await import('../../backup/restore.ts');
      const target = { pool, databaseUrl, keyPlace: surroundings.config().answerKeys };
      return restoreBackup(target, required(values, 'FILE'), progressTo(surroundings));
    },
    format: restoredText,
  },
});

async function backUp(
  pool: Pool,
  values: OptionValues,
  keys: AnswerKeys,
  { write, onProgress }: Pick<Surroundings, 'write'> & { onProgress: OnProgress },
): Promise<Contents> {
  const path = required(values, 'FILE');
  const secretsKey = values['secrets'] === true ? await keys.secrets.exportedAsStored() : undefined;
  if (values['secrets'] === true && secretsKey === undefined)
    throw failedBackup('There is no secrets key before the first start. Leave out --secrets.');
  const create = (to: (bytes: Buffer) => Promise<void>) => createBackup(pool, to, { secretsKey, onProgress });
  const contents =
    path === '-'
      ? await create(write).catch((error: unknown) => Promise.reject(asFileFault(error, 'standard output')))
      : await writeWholeFile(path, create);
  // A backup can be created before an update, when the audit log may still have an older form.
  if (await isMigrated(pool)) await auditEverywhere(pool, { origin: 'command' }, 'backup created');
  return contents;
}

/** How often progress is printed, in ms. */
const progressInterval = 1_000;

/** Returns what prints progress for a person who waits at a terminal. Scripts get none. */
function progressTo({ printError, isTerminal }: Pick<Surroundings, 'printError' | 'isTerminal'>): OnProgress {
  let printed = performance.now();
  return (share, name) => {
    if (!isTerminal || performance.now() - printed < progressInterval) return;
    printed = performance.now();
    printError(`${Math.min(99, Math.floor(share * 100))}% (${name})\n`);
  };
}

const numberText = (count: number) => count.toLocaleString('en');

/** Returns what a backup contains, as text. */
function contentsText(contents: Contents): string[] {
  const { program, schema, createdAt, tables, rows, bytes, checksum } = contents;
  const filled = tables.filter((one) => one.rows > 0);
  return [
    `Created on ${minuteText(new Date(createdAt))} UTC by Soundings ${program} (schema ${schema.name}).`,
    `${tables.length} tables, ${numberText(rows)} rows, ${sizeText(bytes)}. SHA-256 chain: ${checksum}`,
    '',
    table([
      ['table', 'rows', 'size'],
      ...filled.map((one) => [one.name, numberText(one.rows), sizeText(one.bytes)]),
    ]),
    ...(filled.length < tables.length ? [`${tables.length - filled.length} other tables are empty.`] : []),
    '',
    openWeeksText(contents.openWeeks),
    contents.hasSecretsKey
      ? 'Secrets key: included. Anyone who has this file can read the secrets in it, so keep it as safe as the key.'
      : 'Secrets key: not included. After a restore, import your copy of it (npx soundings keys export --secrets).',
  ];
}

const openWeeksText = (count: number) =>
  count === 0
    ? 'Open weeks: none.'
    : `Open weeks: ${numberText(count)}. Their answers and keys are not included, so that no backup reveals who answered what. If this ` +
      'backup is restored, these weeks close without results, and you can ask their questions again.';

const createdText = (contents: Contents) => ['Backup complete.', ...contentsText(contents)].join('\n');
const verifiedText = (contents: Contents) =>
  ['The backup is complete and undamaged.', ...contentsText(contents)].join('\n');

function restoredText({ applied, lostWeeks, leftOut, secrets, ...contents }: Restored): string {
  const texts = [
    `Restored ${numberText(contents.rows)} rows in ${contents.tables.length} tables, as of ${minuteText(new Date(contents.createdAt))} UTC.`,
    ...(applied.length > 0 ? [`The schema was updated: ${applied.join(', ')}.`] : []),
    ...(leftOut.length > 0
      ? [`Not restored, because they don't belong to this version: ${leftOut.join(', ')}.`]
      : []),
    lostWeeks > 0
      ? `${lostWeeks} open weeks were closed without results, because backups don't contain their answers. Ask their questions again.`
      : 'No week was open.',
    secrets === 'ready'
      ? 'The secrets key is available.'
      : 'The secrets key is missing. Import your copy with "npx soundings keys import" before you start the service. Without it, SFTP ' +
        "doesn't start and two-factor codes don't work. If you have no copy: npx soundings keys reset --secrets --yes.",
    'Tokens, passwords and sessions are as they were then. If you revoked any since, revoke them again.',
    'You can start the service now.',
  ];
  return texts.join('\n');
}
