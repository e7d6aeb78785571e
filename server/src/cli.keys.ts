// The commands of the keys, of open weeks and of secrets: how they stand, and moving them to another process.
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

type SecretsState = { path: string | null; state: 'ready' | 'missing' };

export const keyCommands: Record<string, Command> = {
  'keys show': {
    isLogged: false,
    usage:
      '\n    Where the key of open weeks is kept, and which processes have it; and where the key of the secrets is.',
    options: {},
    run: async (_pool, _values, keys) => ({
      ...(await keys.state()),
      secrets: { path: keys.place === 'file' ? keys.secrets.path : null, state: await keys.secrets.state() },
    }),
    say: ({ place, path, state, epoch, processes, secrets, ...keys }: KeyState & { secrets: SecretsState }) =>
      [
        `Kept in ${place === 'file' ? path : 'the database'}: ${state}. Epoch ${epoch}.`,
        `Key of the secrets in ${secrets.path ?? 'the database'}: ${secrets.state}.`,
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
      '\n    Prints the keys, for a process on another machine: npx soundings keys import. Anyone who has them and the database\n' +
      '    can read the answers of open weeks and the secrets. Don’t store them.\n' +
      '    With --secrets it prints the key of the secrets alone, which opens no answers: keep a copy of it.',
    options: { secrets: flag },
    run: async (pool, values, keys) => {
      if (values['secrets'] === true) {
        const key = await keys.secrets.exported();
        await auditEverywhere(pool, { origin: 'command' }, 'secrets key exported');
        return { key };
      }
      const ofAnswers = await keys.exported();
      const hasSecrets = (await keys.secrets.state()) === 'ready';
      const key = hasSecrets ? `${ofAnswers}${await keys.secrets.exported()}` : ofAnswers;
      await auditEverywhere(pool, { origin: 'command' }, 'answer key exported');
      return { key };
    },
    say: ({ key }: { key: string }) => key,
  },
  'keys import': {
    isLogged: false,
    readsSecret: true,
    usage:
      '\n    Reads keys from standard input that "keys export" has printed elsewhere, and keeps them here.',
    options: {},
    run: async (pool, _values, keys) => {
      const given = readFileSync(0, 'utf8').split(/^(?=Soundings )/m);
      const ofSecrets = given.filter((one) => one.startsWith('Soundings secrets key'));
      if (ofSecrets.length > 0) await keys.secrets.imported(ofSecrets.join(''));
      // With the file of the key of the secrets alone, there is nothing else to keep.
      if (given.length > ofSecrets.length)
        await keys.imported(given.filter((one) => !ofSecrets.includes(one)).join(''));
      const what = given.length > ofSecrets.length ? 'answer key imported' : 'secrets key imported';
      await auditEverywhere(pool, { origin: 'command' }, what);
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
      '    answers any more. Closed weeks keep everything.\n' +
      '    With --secrets it gives up the key of the secrets instead: SFTP gets new host keys, people who sign in with codes need\n' +
      '    a recovery code and set up codes again, and weeks with noise get other errors from then on. Answers stay as they are.',
    options: { yes: flag, secrets: flag },
    run: async (pool, values, keys) => {
      if (values['secrets'] === true) {
        if (values['yes'] !== true)
          throw new UsageError('SFTP gets new host keys, and codes no longer work. Add --yes to do so.');
        await keys.secrets.reset();
        await auditEverywhere(pool, { origin: 'command' }, 'secrets key reset');
        return { lost: [] };
      }
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
