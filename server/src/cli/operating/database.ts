// The command that distributes the tables of a database with Citus.
import { type Distributed, distribute } from '../../db/citus/distribute.ts';
import type { Command } from '../options.ts';

export const databaseCommands: Record<string, Command> = {
  'database distribute': {
    usage:
      '\n    Distributes the tables by account over the shards of Citus, an extension of PostgreSQL. Stop all processes of Soundings first.\n' +
      '    It checks what it needs before, and changes nothing if something is missing. The tables can’t be put together again, except\n' +
      '    by restoring a backup into another database.',
    options: {},
    run: (pool) => distribute(pool),
    format: ({ tables, shards }: Distributed) =>
      `Distributed ${tables.length} tables by account, each over ${shards} shards. Later updates distribute their new tables automatically.\n` +
      'Start Soundings again.',
  },
};
