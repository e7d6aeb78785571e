// The commands of the key of open weeks: how it stands, and moving it to another process.
import type { KeyState } from '@soundings/contract/console.privacy.ts';
import { readFileSync } from 'node:fs';
import { auditEverywhere } from './accounts/audit.ts';
import { type Command, flag, needed, table, text, UsageError } from './cli.options.ts';
import { closeLostWeeks } from './results/lost-weeks.ts';

/** Returns what there is to say of copies of the key. */
export const copyWords = ({
  exportedAt,
  exportedUntil,
  inDatabaseUntil,
}: Pick<KeyState, 'exportedAt' | 'exportedUntil' | 'inDatabaseUntil'>) => [
  ...(exportedAt === null ? [] : [`Exported last on ${minute(exportedAt)}.`]),
  ...(exportedUntil === null ? [] : [`Replaced by a new key on ${minute(exportedUntil)}.`]),
  ...(inDatabaseUntil === null ? [] : [`In the database until ${minute(inDatabaseUntil)}.`]),
];

const minute = (iso: string) => iso.slice(0, 16).replace('T', ' ');

export const keyCommands: Record<string, Command> = {
  'keys show': {
    isLogged: false,
    usage: '\n    Where the key of open weeks is kept, and which processes have it.',
    options: {},
    run: (_pool, _values, keys) => keys.state(),
    say: ({ place, path, state, epoch, processes, ...keys }: KeyState) =>
      [
        `Kept in ${place === 'file' ? path : 'the database'}: ${state}. Epoch ${epoch}.`,
        ...(processes.length === 0
          ? []
          : [
              table([
                ['process', 'epoch', 'last seen', ''],
                ...processes.map((one) => [
                  one.name,
                  String(one.epoch),
                  minute(one.seenAt),
                  one.isBehind ? 'behind: start it, or delete its key file and run "keys forget"' : '',
                ]),
              ]),
            ]),
        ...copyWords(keys),
      ].join('\n'),
  },
  'keys export': {
    isLogged: false,
    usage:
      '\n    Prints the key of open weeks, for a process on another machine: npx soundings keys import. Anyone who has it and the\n' +
      '    database can read the answers of open weeks. Don’t store it.',
    options: {},
    run: async (pool, _values, keys) => {
      const key = await keys.exported();
      await auditEverywhere(pool, { origin: 'command' }, 'answer key exported');
      return { key };
    },
    say: ({ key }: { key: string }) => key,
  },
  'keys import': {
    isLogged: false,
    usage:
      '\n    Reads a key from standard input that "keys export" has printed elsewhere, and keeps it here.',
    options: {},
    run: async (pool, _values, keys) => {
      await keys.imported(readFileSync(0, 'utf8'));
      await auditEverywhere(pool, { origin: 'command' }, 'answer key imported');
      return { imported: true };
    },
    say: () => 'The key is in place.',
  },
  'keys forget': {
    isLogged: false,
    usage:
      '--name NAME\n    Forgets a process, by its name in "keys show", whose machine is gone and whose key file was deleted. A file that is\n' +
      '    left still opens what it opened.',
    options: { name: text },
    run: async (pool, values, keys) => {
      const name = needed(values, 'name');
      await keys.forgetProcess(name);
      await auditEverywhere(pool, { origin: 'command' }, 'key process forgotten', { subject: name });
      return { forgotten: name };
    },
    say: ({ forgotten }: { forgotten: string }) => `${forgotten} is forgotten.`,
  },
  'keys reset': {
    isLogged: false,
    usage:
      '--yes\n    Gives up a key that is lost, and creates a new one. Open weeks are closed without results: no one can read their\n' +
      '    answers any more. Closed weeks keep everything.',
    options: { yes: flag },
    run: async (pool, values, keys) => {
      if (values['yes'] !== true)
        throw new UsageError('Open weeks are closed without results. Add --yes to do so.');
      await keys.reset();
      const lost = await closeLostWeeks(pool, keys);
      await auditEverywhere(pool, { origin: 'command' }, 'answer key reset');
      return { lost };
    },
    say: ({ lost }: { lost: unknown[] }) =>
      `A new key is in place. Weeks closed without results: ${lost.length}.`,
  },
};
