// The commands for files: the meanings of values in files, such as "Leave" as a status, and the host keys of the SFTP server.
import type { MappedValue, ValueMapping } from '@soundings/contract/console/runs.ts';
import { selectValueMappings } from '../files/mappings.sql.ts';
import { account, accountOf, type Command, numberOf, required, table, text, UsageError } from './options.ts';
import { inTransaction } from '../db/db.ts';
import type { HostKey } from '../sftp/host-keys.ts';

export const fileCommands: Record<string, Command> = {
  'value map': {
    isLogged: false,
    usage:
      '--account ID --field active|role|isManager --value "Leave" --meaning yes|no|Administrator|Manager|User|ignore\n' +
      '    Sets what a value means in a status, role or "is manager" column, for all future files. With ignore, the cell\n' +
      '    counts as empty.',
    options: { ...account, field: text, value: text, meaning: text, means: text },
    run: async (pool, values) => {
      // Before 1.0, the option was called --means.
      if (values['means'] !== undefined) throw new UsageError('--means is now called --meaning.');
      const { confirmValues } = await import('../files/mappings.ts');
      const mapped = {
        field: required(values, 'field'),
        value: required(values, 'value'),
        meaning: required(values, 'meaning'),
      } as MappedValue;
      await inTransaction(pool, (tx) =>
        confirmValues(tx, accountOf(values), { origin: 'command' }, [mapped]),
      );
      return mapped;
    },
    format: ({ field, value, meaning }: MappedValue) =>
      `In ${field} columns, "${value}" now means ${meaning}.`,
  },
  'value list': {
    isLogged: false,
    usage: '--account ID\n    Lists the value mappings for files.',
    options: account,
    run: (pool, values) => selectValueMappings(pool, accountOf(values)),
    format: (mappings: ValueMapping[]) =>
      table([
        ['id', 'field', 'value', 'meaning'],
        ...mappings.map(({ mappingId, field, value, meaning }) => [String(mappingId), field, value, meaning]),
      ]),
  },
  'value remove': {
    isLogged: false,
    usage: '--account ID --id M\n    Removes a value mapping.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const { deleteValueMapping } = await import('../files/mappings.ts');
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => deleteValueMapping(tx, accountOf(values), { origin: 'command' }, id));
      return { id };
    },
    format: ({ id }: { id: number }) => `Mapping ${id} removed.`,
  },
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
};
