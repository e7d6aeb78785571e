// The commands for the answer key and the secrets key: show their state and move them to another process.
import type { KeyState } from '@soundings/contract/console/privacy.ts';
import { auditEverywhere } from '../../accounts/audit.ts';
import { type Command, flag, required, table, text, UsageError } from '../options.ts';
import { closeLostWeeks } from '../../results/lost-weeks.ts';

/** Returns the sentences that say which copies of the answer key exist. */
export const copyText = ({
  exportedAt,
  exportedUntil,
  inDatabaseUntil,
}: Pick<KeyState, 'exportedAt' | 'exportedUntil' | 'inDatabaseUntil'>) => [
  ...(exportedAt === null ? [] : [`Last exported on ${minute(exportedAt)}.`]),
  ...(exportedUntil === null ? [] : [`Replaced by a new key on ${minute(exportedUntil)}.`]),
  ...(inDatabaseUntil === null ? [] : [`In the database until ${minute(inDatabaseUntil)}.`]),
];

const minute = (iso: string) => iso.slice(0, 16).replace('T', ' ');

type SecretsState = { path: string | null; state: 'ready' | 'missing' };

export const keyCommands: Record<string, Command> = {
  'keys show': {
    isLogged: false,
    usage:
      '\n    Shows where the answer key and the secrets key are, and which processes have the answer key.',
    options: {},
    run: async (_pool, _values, keys) => ({
      ...(await keys.chain.state()),
      secrets: {
        path: keys.chain.place === 'file' ? keys.secrets.path : null,
        state: await keys.secrets.state(),
      },
    }),
    format: ({
      place,
      path,
      state,
      epoch,
      processes,
      secrets,
      ...keys
    }: KeyState & { secrets: SecretsState }) =>
      [
        `Answer key in ${place === 'file' ? path : 'the database'}: ${state}. Epoch ${epoch}.`,
        `Secrets key in ${secrets.path ?? 'the database'}: ${secrets.state}.`,
        ...(processes.length === 0
          ? []
          : [
              table([
                ['process', 'epoch', 'last seen', ''],
                ...processes.map((one) => [
                  one.name,
                  String(one.epoch),
                  minute(one.seenAt),
                  one.isBehind
                    ? 'out of date: start it, or delete its key file and run "keys remove-process"'
                    : '',
                ]),
              ]),
            ]),
        ...copyText(keys),
      ].join('\n'),
  },
  'keys export': {
    isLogged: false,
    usage:
      '\n    Prints both keys. Import them on another machine with npx soundings keys import. Don’t store them: anyone with the\n' +
      '    keys and the database can read the secrets and the answers of open weeks.\n' +
      '    --secrets prints only the secrets key, which doesn’t open answers. Keep a copy of it.',
    options: { secrets: flag },
    run: async (pool, values, keys) => {
      if (values['secrets'] === true) {
        const key = await keys.secrets.exported();
        await auditEverywhere(pool, { origin: 'command' }, 'secrets key exported');
        return { key };
      }
      const ofAnswers = await keys.chain.exported();
      const hasSecrets = (await keys.secrets.state()) === 'ready';
      const key = hasSecrets ? `${ofAnswers}${await keys.secrets.exported()}` : ofAnswers;
      await auditEverywhere(pool, { origin: 'command' }, 'answer key exported');
      return { key };
    },
    format: ({ key }: { key: string }) => key,
  },
  'keys import': {
    isLogged: false,
    readsSecret: true,
    usage:
      '\n    Reads keys that "keys export" printed on another machine from standard input, and stores them here.',
    options: {},
    run: async (pool, _values, keys, input) => {
      const given = input().split(/^(?=Soundings )/m);
      const ofSecrets = given.filter((one) => one.startsWith('Soundings secrets key'));
      if (ofSecrets.length > 0) await keys.secrets.imported(ofSecrets.join(''));
      // The input may contain only the secrets key.
      if (given.length > ofSecrets.length)
        await keys.chain.imported(given.filter((one) => !ofSecrets.includes(one)).join(''));
      const what = given.length > ofSecrets.length ? 'answer key imported' : 'secrets key imported';
      await auditEverywhere(pool, { origin: 'command' }, what);
      return { imported: true };
    },
    format: () => 'Key imported.',
  },
  'keys remove-process': {
    isLogged: false,
    usage:
      '--name NAME\n    Removes a process from "keys show" after its machine was retired and its key file deleted. A key file that still\n' +
      '    exists keeps working.',
    options: { name: text },
    run: async (pool, values, keys) => {
      const name = required(values, 'name');
      await keys.chain.forgetProcess(name);
      await auditEverywhere(pool, { origin: 'command' }, 'key process removed', { subject: name });
      return { forgotten: name };
    },
    format: ({ forgotten }: { forgotten: string }) => `${forgotten} removed.`,
  },
  'keys reset': {
    isLogged: false,
    usage:
      '--yes\n    Replaces a lost or copied answer key with a new one. Open weeks are closed without results, because no one can read\n' +
      '    their answers any more. Closed weeks keep their results.\n' +
      '    --secrets replaces the secrets key instead: SFTP gets new host keys, people with two-factor authentication sign in\n' +
      '    with a recovery code and set it up again, and weeks with noise get different noise from then on. Answers stay.',
    options: { yes: flag, secrets: flag },
    run: async (pool, values, keys) => {
      if (values['secrets'] === true) {
        if (values['yes'] !== true)
          throw new UsageError(
            'SFTP will get new host keys, and two-factor codes will stop working. Add --yes to continue.',
          );
        await keys.secrets.reset();
        await auditEverywhere(pool, { origin: 'command' }, 'secrets key reset');
        return { lost: [] };
      }
      if (values['yes'] !== true)
        throw new UsageError('Open weeks will be closed without results. Add --yes to continue.');
      await keys.chain.reset();
      const lost = await closeLostWeeks(pool, keys);
      await auditEverywhere(pool, { origin: 'command' }, 'answer key reset');
      return { lost };
    },
    format: ({ lost }: { lost: unknown[] }) =>
      `New key created. Weeks closed without results: ${lost.length}.`,
  },
};
