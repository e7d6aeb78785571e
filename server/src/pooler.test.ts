// PgBouncer in transaction mode in front of two processes, one for requests and one for jobs: everything that people do works, and a
// pooler or an address that doesn't fit is refused at the start.
import { expect, onTestFinished, test } from 'vitest';
import { type App, startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { ofEverySession } from './db/connection-settings.ts';
import { inTransaction, openPool } from './db/db.ts';
import { checkSessions } from './db/own-sessions.ts';
import { openTestDatabase } from './testing/database.ts';
import { runSurvey } from './testing/processes/survey.ts';
import { openBouncer } from './testing/processes/bouncer.ts';
import { needs } from './testing/processes/programs.ts';
import { testConfig } from './testing/world.ts';

/** Few sessions, so that connections share them all the time, and both ways of choosing one. */
const transactionMode = (more = '') => `pool_mode = transaction\ndefault_pool_size = 5\n${more}`;

/** What PgBouncer has to ignore, so that connections with a session of their own get as far as the check. */
const ignoredAtStart = [...Object.keys(ofEverySession), 'lock_timeout'].join(',');

async function openDatabase() {
  const database = await openTestDatabase();
  onTestFinished(() => database.close());
  return database;
}

test.for([
  ['the most recently used session', ''],
  ['each session in turn', 'server_round_robin = 1'],
])('with %s, a survey goes from the push to its results', async ([, settings], context) => {
  needs(context, 'pgbouncer', 'pgbouncer');
  const database = await openDatabase();
  const pooledUrl = await openBouncer(database.url, transactionMode(settings));
  const start = async (role: 'web' | 'worker'): Promise<App> => {
    const config = { ...testConfig, answerKeys: database.keyPlace, pooledUrl, role };
    const app = await startApp(config, Promise.resolve(database.url), openLog('error'));
    onTestFinished(() => app.stop(5));
    await app.started;
    return app;
  };
  const [web] = [await start('web'), await start('worker')];
  const { accountId } = await runSurvey(database, web.address);
  // The processes that share the sessions have processed the file.
  expect(
    await database.pool`select from users where account_id = ${accountId} and external_id = 'f1'`,
  ).toHaveLength(1);
});

test('statements that are sent together get their own rows, and a setting stays in its transaction', async (context) => {
  needs(context, 'pgbouncer', 'pgbouncer');
  const { url } = await openDatabase();
  const pooled = await openBouncer(url, transactionMode('server_round_robin = 1'));
  const options = { isPooled: true, settings: { lock_timeout: '1234ms' } };
  const pools = [openPool(pooled, 6, options), openPool(pooled, 6, options)] as const;
  onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })))));
  const setting = `select current_setting('lock_timeout') as value`;
  const random = () => Math.trunc(Math.random() * 1e9);
  const works = Array.from({ length: 200 }, async (_, i) => {
    const pool = pools[i % 2]!;
    const n = random();
    if (i % 4 === 0) return (await pool<{ n: number }[]>`select ${n}::integer as n`)[0]?.n === n;
    if (i % 4 === 1) return (await pool<{ n: string }[]>`select 'fixed' as n`)[0]?.n === 'fixed';
    if (i % 4 === 2) return (await pool.unsafe<{ value: string }[]>(setting))[0]?.value !== '1234ms';
    return inTransaction(pool, async (tx) => {
      const [[first], [second]] = await Promise.all([
        tx.unsafe<{ value: string }[]>(setting),
        tx<{ n: number }[]>`select ${n}::integer as n`,
      ]);
      return first?.value === '1234ms' && second?.n === n;
    });
  });
  expect((await Promise.all(works)).filter((isRight) => !isRight)).toEqual([]);
});

test.for([
  [
    'the direct address is that of the pooler too',
    'transaction',
    'pooled',
    /DATABASE_URL_DIRECT points to a connection pooler.*past the pooler/,
  ],
  [
    'the pooler splits transactions',
    'statement',
    'direct',
    /DATABASE_URL splits transactions.*pool_mode=transaction/,
  ],
  [
    'the addresses lead to different databases',
    'transaction',
    'other',
    /DATABASE_URL and DATABASE_URL_DIRECT lead to different databases/,
  ],
] as const)('the start is refused if %s', async ([, mode, direct, message], context) => {
  needs(context, 'pgbouncer', 'pgbouncer');
  const [database, other] = [await openDatabase(), await openDatabase()];
  const pooled = await openBouncer(
    database.url,
    `pool_mode = ${mode}\nignore_startup_parameters = ${ignoredAtStart}`,
  );
  const url = { pooled, direct: database.url, other: other.url }[direct];
  await expect(checkSessions({ url, pooled })).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(message) as string,
  });
});

test.for(['transaction', 'session'])(
  'the start is refused if values would be misread through a pooler with pool_mode=%s',
  async (mode, context) => {
    needs(context, 'pgbouncer', 'pgbouncer');
    const database = await openDatabase();
    const [row] = await database.pool<{ name: string }[]>`select current_database() as name`;
    await database.pool.unsafe(`
    alter database ${row!.name} set bytea_output = escape; alter database ${row!.name} set extra_float_digits = 0`);
    const pooled = await openBouncer(
      database.url,
      `pool_mode = ${mode}\nignore_startup_parameters = ${ignoredAtStart}`,
    );
    const addresses = mode === 'session' ? { url: pooled, pooled: undefined } : { url: database.url, pooled };
    await expect(checkSessions(addresses)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(
        'DATABASE_URL have bytea_output = escape instead of hex, extra_float_digits = 0 instead of 1',
      ) as string,
    });
  },
);
