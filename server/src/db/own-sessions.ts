// Checks how the addresses of the database share sessions. A pooler that switches sessions between transactions (PgBouncer with
// pool_mode=transaction) would lose the state of a session: LISTEN, prepared statements and settings. What needs none of these may go
// through such a pooler, if the address of PostgreSQL itself is known as well.
import { randomInt } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import { ofEverySession, ofReading } from './connection-settings.ts';
import { forWholeLists, inTransaction, openPool, type Pool, type Transaction } from './db.ts';

/** The number of rounds. There are several, because a busy pooler may keep the session once by chance. */
const rounds = 3;

/** All settings with which our connections may start, in any version of PostgreSQL, except those that every pooler keeps. */
const ours = [
  ...Object.keys({ ...ofEverySession, ...forWholeLists.settings }),
  'statement_timeout',
  'transaction_timeout',
  'synchronous_commit',
];

/** A value that is not set anywhere else. */
const probe = { lock_timeout: '59999ms' };

/** The addresses of the database. `pooled`: through a pooler that may share sessions. */
export type Addresses = { url: string; pooled: string | undefined };

/**
 * Throws a Fault if connections to `url` share sessions, if a pooler refuses the settings of our connections or ignores one without which
 * values would be misread, or if transactions through `pooled` don't work or reach another database. Other errors of `pooled` have the property `isOfPooler`. Returns the names of the
 * settings if the pooler ignores them, otherwise an empty list.
 */
export async function checkSessions({ url, pooled }: Addresses): Promise<string[]> {
  const setting = pooled === undefined ? 'DATABASE_URL' : 'DATABASE_URL_DIRECT';
  const [one, other] = [openPool(url, 1, { settings: probe }), openPool(url, 1)];
  try {
    const found = await settingOf(one);
    for (let round = 0; round < rounds; round++) {
      if (await isShared(one, other)) throw shared(setting);
    }
    await checkReading(other, setting);
    if (pooled !== undefined) await checkPooled(one, pooled);
    return found === probe.lock_timeout ? [] : ours;
  } catch (error) {
    throw refusal(error, setting);
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

/** Throws a Fault if a setting of connections is another one than ours, with which values would be misread: a pooler can ignore ours. */
async function checkReading(pool: Pool, setting: string): Promise<void> {
  const rows = await pool<{ name: keyof typeof ofReading; value: string }[]>`
    select name as "name", case name when 'extra_float_digits' then least(setting::integer, 1)::text else setting end as "value"
    from   pg_settings
    where  name = any(${Object.keys(ofReading)})
    order  by name`;
  const others = rows.filter(({ name, value }) => value !== (ofReading[name] as string));
  if (others.length === 0) return;
  const list = others.map(({ name, value }) => `${name} = ${value} instead of ${ofReading[name]}`);
  throw invalid(
    `Connections through the pooler at ${setting} have ${list.join(', ')}. With this, Soundings would misread values, and the pooler ` +
      'doesn’t let it set its own. Reset it in PostgreSQL, where it is set: for the role (alter role … reset …), the database or the server.',
  );
}

/** Throws a Fault if a transaction through the pooler does not keep its session, or if it does not see the locks of `direct`. */
async function checkPooled(direct: Pool, url: string): Promise<void> {
  const pool = openPool(url, 1, { isPooled: true });
  try {
    const isSame = await direct.begin(async (tx) => {
      const lock = [randomInt(2 ** 31 - 1), randomInt(2 ** 31 - 1)] as const;
      await tx`select pg_advisory_xact_lock(${lock[0]}::integer, ${lock[1]}::integer)`;
      return seesLock(pool, lock);
    });
    if (!isSame) throw different;
    await checkReading(pool, 'DATABASE_URL');
  } catch (error) {
    throw error instanceof Fault ? error : Object.assign(error as object, { isOfPooler: true });
  } finally {
    await pool.end({ timeout: 1 });
  }
}

/** Returns whether a transaction sees a lock in its database. Throws a Fault if transactions are not possible, but statements are. */
async function seesLock(pool: Pool, lock: readonly [number, number], isRepeated = false): Promise<boolean> {
  await sessionOf(pool); // throws if the pooler can't be reached
  try {
    return await inTransaction(pool, async (tx) => {
      const rows = await tx`
        select from pg_locks
        where  locktype = 'advisory' and classid = ${lock[0]}::bigint::oid and objid = ${lock[1]}::bigint::oid
          and  database = (select oid from pg_database where datname = current_database())`;
      return rows.length > 0;
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error;
    // PgBouncer closes the connection, as a network may. Only PgBouncer does it each time.
    if (isRepeated) throw invalid(splitting, error);
    return seesLock(pool, lock, true);
  }
}

const invalid = (message: string, cause?: unknown) =>
  new Fault('invalid', 'invalid configuration', message, { cause });

const shared = (setting: string) =>
  invalid(
    `${setting} points to a connection pooler that shares sessions between connections, like PgBouncer with pool_mode=transaction. ` +
      (setting === 'DATABASE_URL'
        ? 'Some work of Soundings needs its own sessions. Set DATABASE_URL_DIRECT to the address of PostgreSQL itself, or set ' +
          'pool_mode=session for this database.'
        : 'Set it to the address of PostgreSQL itself, past the pooler. Only DATABASE_URL may be that of the pooler.'),
  );

const splitting =
  'The connection pooler at DATABASE_URL splits transactions, like PgBouncer with pool_mode=statement. Set pool_mode=transaction for this database.';

const different = invalid(
  'DATABASE_URL and DATABASE_URL_DIRECT lead to different databases. Both must lead to the same database of the primary server, ' +
    'DATABASE_URL through the pooler and DATABASE_URL_DIRECT past it.',
);

function refusal(error: unknown, setting: string): unknown {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code !== '08P01') return error; // PgBouncer's own errors
  if (message.includes('statement pooling'))
    return invalid(setting === 'DATABASE_URL' ? shared(setting).message : splitting, error);
  if (!message.includes('startup parameter')) return error;
  const text =
    `The connection pooler at ${setting} refuses a setting (${message}). For PgBouncer, set pool_mode=session and ` +
    `ignore_startup_parameters=${ours.join(',')}, or set ${setting} to the address of PostgreSQL itself.`;
  return invalid(text, error);
}
