// Whether each connection to the database has a session of its own there. A pooler that gives a connection another session for each
// transaction (PgBouncer with pool_mode=transaction) would lose what is kept in one: locks, LISTEN, prepared statements, settings.
import { Fault } from '../base/errors.ts';
import { forWholeLists, ofEveryConnection, openPool, type Pool, type Transaction } from './db.ts';

/** A pooler that is busy with others may hide once what it does. */
const rounds = 3;

/** The settings that connections of ours begin with, some or all, in any version of PostgreSQL. */
const ours = [
  ...Object.keys({ ...ofEveryConnection, ...forWholeLists.settings }),
  'statement_timeout',
  'transaction_timeout',
  'synchronous_commit',
];

/** A value that nobody has set otherwise. */
const probe = { lock_timeout: '59999ms' };

/**
 * Throws a Fault when connections share sessions, or when a pooler refuses the settings that ours begin with. Returns the names of
 * these settings if it ignores them, else nothing.
 */
export async function checkSessions(url: string): Promise<string[]> {
  const [one, other] = [openPool(url, 1, { settings: probe }), openPool(url, 1)];
  try {
    const found = await settingOf(one);
    for (let round = 0; round < rounds; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      if (await isShared(one, other)) throw shared;
    }
    return found === probe.lock_timeout ? [] : ours;
  } catch (error) {
    throw refusal(error);
  } finally {
    await Promise.all([one.end({ timeout: 1 }), other.end({ timeout: 1 })]);
  }
}

async function settingOf(pool: Pool): Promise<string | undefined> {
  const [row] = await pool<{ value: string }[]>`select current_setting('lock_timeout') as value`;
  return row?.value;
}

/**
 * While `one` stays connected, `other` is in a transaction. With sessions of their own they never have the same, and that of `one`
 * stays what it was. A pooler takes the session that was used last, or the one that was not used for longest: both show.
 */
async function isShared(one: Pool, other: Pool): Promise<boolean> {
  const before = await sessionOf(one);
  if ((await sessionOf(other)) === before) return true;
  const isOther = await other.begin(async (tx) => {
    const theirs = await sessionOf(tx);
    return theirs === before || (await sessionOf(one)) !== before;
  });
  return isOther || (await sessionOf(one)) !== before;
}

async function sessionOf(db: Pool | Transaction): Promise<number | undefined> {
  const [row] = await db<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid;
}

const shared = new Fault(
  'invalid',
  'invalid configuration',
  'DATABASE_URL leads to a connection pooler that gives each transaction or statement another session, as PgBouncer does with ' +
    'pool_mode=transaction. Soundings needs sessions of its own. Set pool_mode=session for this database, or let DATABASE_URL ' +
    'name PostgreSQL itself.',
);

function refusal(error: unknown): unknown {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code !== '08P01') return error; // what PgBouncer says of itself
  if (!message.includes('startup parameter')) return error;
  const words =
    `The connection pooler at DATABASE_URL refuses a setting (${message}). For PgBouncer, set pool_mode=session and ` +
    `ignore_startup_parameters=${ours.join(',')}, or let DATABASE_URL name PostgreSQL itself.`;
  return new Fault('invalid', 'invalid configuration', words, { cause: error });
}
