// Distributes a database: the checks before, and what was done.
import { Fault } from '../../base/errors.ts';
import { inTransaction, type Pool } from '../db.ts';
import { isMigrated, lockMigrations } from '../migrate.ts';
import { distributeTables, isDistributed } from './distribution.ts';

/** The oldest version of Citus that was tried. */
const oldest = 13;

export type Distributed = { tables: string[]; shards: number };

type CitusRow = { version: string | null; locks: number; shards: number; prepared: number };

/**
 * Distributes all tables with an account over the shards of Citus, in one transaction. Throws a Fault if something is missing, or if the
 * tables are distributed already.
 */
export async function distribute(pool: Pool): Promise<Distributed> {
  const [row] = await pool<CitusRow[]>`
    select (select extversion from pg_extension where extname = 'citus')        as "version",
           current_setting('max_locks_per_transaction')::integer                as "locks",
           current_setting('max_prepared_transactions')::integer                as "prepared",
           coalesce(current_setting('citus.shard_count', true), '32')::integer  as "shards"`;
  const fault = missing(row!);
  if (fault) throw refused(fault);
  if (await isDistributed(pool)) throw refused('The tables are already distributed.');
  if ((await countNodes(pool)) > 1)
    throw refused(
      'Citus has more than one node. Soundings is only known to work with one so far: the coordinator, with all shards.',
    );
  if (!(await isMigrated(pool))) throw refused('Update the database with "soundings migrate" first.');
  return inTransaction(pool, async (tx) => {
    await lockMigrations(tx);
    return { tables: await distributeTables(tx), shards: row!.shards };
  });
}

/** Returns what is missing, and what to do about it. */
function missing({ version, locks, shards, prepared }: CitusRow): string | undefined {
  if (version === null)
    return 'The database does not have the extension Citus. Install it, and run "create extension citus" in the database as a superuser.';
  if (Number.parseInt(version, 10) < oldest)
    return `Citus ${version} is too old. Upgrade it to ${oldest} or newer.`;
  const needed = locksFor(shards);
  if (locks < needed)
    return `max_locks_per_transaction is ${locks}, and ${shards} shards need at least ${needed}. Raise it in postgresql.conf, and restart PostgreSQL.`;
  if (prepared === 0)
    return 'max_prepared_transactions is 0, and Citus needs it for changes in several shards. Set it to twice max_connections, and restart PostgreSQL.';
  return undefined;
}

/** The lowest `max_locks_per_transaction` for the tables and indexes of all shards. All connections share these locks. */
export const locksFor = (shards: number): number => 128 + 16 * shards;

async function countNodes(pool: Pool): Promise<number> {
  const [row] = await pool<{ count: number }[]>`
    select count(*)::integer as "count" from pg_catalog.pg_dist_node where isactive and noderole = 'primary'`;
  return row!.count;
}

const refused = (message: string) => new Fault('conflict', 'distribution refused', message);
