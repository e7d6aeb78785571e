// What PostgreSQL keeps about the values of deleted rows: ANALYZE stores samples of each column for planning statements, such as the users with
// more than one link, who are those who were reminded. It stores new ones instead while a table has rows, but keeps those of an empty table.
import { type Db, inTransaction, isLostRace, type Pool } from '../db/db.ts';

/** The columns about single people in tables whose rows are deleted when a week closes, with their types. */
const personal = {
  links: { user_id: 'integer', sent_to: 'text' },
  messages: { user_id: 'integer', state: 'text' },
  participants: { user_id: 'integer' },
} as const;

/**
 * Deletes the statistics of these columns in empty tables; vacuumDeleted replaces those of other tables. A table that others use at this moment
 * keeps them until the next call. Called after weeks have closed, and every hour.
 */
export async function deleteLeftStatistics(pool: Pool): Promise<void> {
  for (const [table, columns] of Object.entries(personal)) {
    // Two statements, because Citus can't read pg_stats together with a distributed table.
    const isLeft = async (db: Db) => {
      const [known] = await db.unsafe<{ is: boolean }[]>(`
        select exists (select attname from pg_stats
                       where  schemaname = current_schema() and tablename = '${table}'
                         and  attname in ('${Object.keys(columns).join("', '")}')) as "is"`);
      if (!known?.is) return false;
      const [empty] = await db.unsafe<{ is: boolean }[]>(`
        select not exists (select account_id from ${table}) as "is"`);
      return empty?.is;
    };
    if (!(await isLeft(pool))) continue;
    await inTransaction(pool, async (tx) => {
      await tx`set local lock_timeout = '200ms'`;
      await tx.unsafe(`lock table ${table} in access exclusive mode`);
      if (!(await isLeft(tx))) return;
      // Setting the type of a column deletes its statistics, also if the type is the same. Nothing is rewritten.
      const types = Object.entries(columns).map(([name, type]) => `alter column ${name} type ${type}`);
      await tx.unsafe(`alter table ${table} ${types.join(', ')}`);
    }).catch((error: unknown) => {
      if (!isLostRace(error) && !isImpossible(error)) throw error;
    });
  }
}

/** Whether the database does not allow it: a view of the operator uses a column, or another role owns the table. */
const isImpossible = (error: unknown): boolean =>
  ['0A000', '42501'].includes(String((error as { code?: unknown }).code));
