// Checks that each connection to the database has its own session. A pooler that switches sessions between transactions (PgBouncer
// with pool_mode=transaction) would lose the state of a session: locks, LISTEN, prepared statements and settings.
import { Fault } from '../base/errors.ts';
import { forWholeLists, ofEveryConnection, openPool, type Pool, type Transaction } from './db.ts';

/** The number of rounds. There are several, because a busy pooler may keep the session once by chance. */
const rounds = 3;

/** All settings with which our connections may start, in any version of PostgreSQL. */
const ours = [
  ...Object.keys({ ...ofEveryConnection, ...forWholeLists.settings }),
  'statement_timeout',
  'transaction_timeout',
  'synchronous_commit',
];

/** A value that is not set anywhere else. */
const probe = { lock_timeout: '59999ms' };

/**
 * Throws a Fault if connections share sessions, or if a pooler refuses the settings of our connections. Returns the names of these
 * settings if the pooler ignores them, otherwise an empty list.
 */
export async function checkSessions(url: string): Promise<string[]> {
  const [one, other] = [openPool(url, 1, { settings: probe }), openPool(url, 1)];
  try {
    const found = await settingOf(one);
    for (let round = 0; round < rounds; round++) {
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
 * Returns whether two connections share sessions. While `one` stays connected, `other` runs a transaction. If sessions are
 * separate, the two connections never have the same session, and the session of `one` never changes. A pooler picks either the most
 * or the least recently used session. This check detects both kinds.
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
  'DATABASE_URL points to a connection pooler that shares sessions between connections, like PgBouncer with ' +
    'pool_mode=transaction. Soundings needs its own sessions. Set pool_mode=session for this database, or set DATABASE_URL to ' +
    'the address of PostgreSQL itself.',
);

function refusal(error: unknown): unknown {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code !== '08P01') return error; // PgBouncer's own errors
  if (!message.includes('startup parameter')) return error;
  const text =
    `The connection pooler at DATABASE_URL refuses a setting (${message}). For PgBouncer, set pool_mode=session and ` +
    `ignore_startup_parameters=${ours.join(',')}, or set DATABASE_URL to the address of PostgreSQL itself.`;
  return new Fault('invalid', 'invalid configuration', text, { cause: error });
}
