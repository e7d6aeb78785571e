// What a backup leaves out (rules.md P15, decisions/0038): everything about open weeks that is deleted when they close, and every key.
// A backup is kept longer than the week, so it must not know more about it than the database does afterwards.
import { withoutKey } from '../sealing/epoch-keys.ts';

/**
 * Tables without their rows. When a week closes, rows of most are deleted (close-week.sql.ts), and a restored week closes immediately. Fragments
 * and packs are built again from the figures.
 */
const emptied = new Set([
  'answers',
  'assignments',
  'fragment_weeks',
  'fragments',
  'links',
  'messages',
  'pack_blocks',
  'pack_weeks',
  'packs',
  'participants',
  // Sandboxes have nothing to keep: their accounts are left out too (create-backup.ts).
  'sandboxes',
  'sandbox_templates',
]);

/** What is written instead of the value of a column, in SQL. */
const replaced: Record<string, Record<string, string>> = {
  week_keys: { wrapped: `'\\x${withoutKey.toString('hex')}'::bytea as wrapped` },
  answer_keys: { secret: 'null::bytea as secret' },
  secrets_keys: { secret: 'null::bytea as secret' },
};

/**
 * Schemas before this migration have answers or secrets that are not encrypted, and no version with one was released. They can't be
 * backed up.
 */
export const firstSchema = 24;

/** Returns how to copy one of our tables. */
export const leftOutOf = (table: string): { expressions?: Record<string, string>; isEmpty: boolean } => ({
  isEmpty: emptied.has(table),
  ...(Object.hasOwn(replaced, table) && { expressions: replaced[table] as Record<string, string> }),
});

/** The condition for rows of the tables of jobs to be copied: no notices about links of open weeks (rounds/messages/link-notices.sql.ts). */
export const jobsToCopy = (table: string): { only?: string } =>
  table === '_private_jobs'
    ? { only: `id not in (select id from graphile_worker.jobs where task_identifier = 'mail link notice')` }
    : {};
