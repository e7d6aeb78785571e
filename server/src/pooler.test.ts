// PgBouncer in transaction mode in front of two processes, one for requests and one for jobs: everything that people do works, and a
// pooler or an address that doesn't fit is refused at the start.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { type App, startApp } from './app.ts';
import { openLog } from './base/log.ts';
import { randomText } from './base/crypto/secrets.ts';
import { inTransaction, openPool } from './db/db.ts';
import { checkSessions } from './db/own-sessions.ts';
import { createUser } from './people/users.ts';
import { askPeople } from './testing/asking.ts';
import { openTestDatabase } from './testing/database.ts';
import { openBouncer } from './testing/processes/bouncer.ts';
import { needs } from './testing/processes/programs.ts';
import { signIn } from './testing/signed-in.ts';
import { until } from './testing/until.ts';
import { testConfig } from './testing/world.ts';

/** Few sessions, so that connections share them all the time, and both ways of choosing one. */
const transactionMode = (more = '') => `pool_mode = transaction\ndefault_pool_size = 5\n${more}`;

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
  const { pool } = database;
  const { accountId, ada } = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    const person = { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' } as const;
    return { accountId: id, ada: await createUser(tx, id, person) };
  });
  const scopes = ['data', 'organization', 'files'] as const;
  const { token: authorization } = await createToken(pool, accountId, { name: 'test', scopes: [...scopes] });
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(web.address + path, {
      ...init,
      headers: { authorization, 'content-type': 'application/json', ...init.headers },
    });
    return { status: response.status, text: await response.text() };
  };

  const users = Array.from({ length: 30 }, (_, i) => ({
    externalId: `u${i}`,
    firstName: 'A',
    lastName: 'B',
  }));
  const body = JSON.stringify({ settings: { validateOnly: false }, data: { users } });
  expect(await send('/v1/organization', { method: 'POST', body })).toMatchObject({ status: 200 });

  const asked = await askPeople(database, accountId, { count: 12 });
  const question = asked.questionIds.get('workload-amount') as number;
  const answered = await Promise.all(
    asked.links.map(async (link, i) => {
      const cookie = `soundings_visit=${randomText(27)}`;
      const opened = await fetch(`${web.address}/a/${link}`, { headers: { cookie } });
      await opened.text();
      const init = {
        method: 'POST',
        headers: { cookie },
        body: JSON.stringify({ question, value: 1 + (i % 5) }),
      };
      return [opened.status, (await send(`/a/${link}/answers`, init)).status];
    }),
  );
  expect(answered).toEqual(asked.links.map(() => [200, 204]));

  const request = await signIn({ pool, address: web.address }, accountId, ada);
  expect(await request('GET /results')).toMatchObject({ status: 200 });
  const [job] = await pool<{ id: string }[]>`
    select id from graphile_worker.add_job('close week', json_build_object(
      'accountId', ${accountId}::integer, 'week', ${asked.week}::text))`;
  await until(async () => {
    const rows = await pool`select from graphile_worker._private_jobs where id = ${job!.id}`;
    return rows.length === 0;
  });
  const kpi = `/v1/kpis/workload/values?groupId=${asked.groupId}&includeSubgroups=true&fromDate=2026-11-16&toDate=2026-11-22`;
  const [values, rates, feed, overview] = await Promise.all([
    send(kpi),
    send(
      `/v1/responserates/values?groupId=${asked.groupId}&includeSubgroups=false&fromDate=2026-11-16&toDate=2026-11-22`,
    ),
    send('/v1/feed'),
    request(`GET /results/groups/${asked.groupId}`),
  ]);
  expect([values, rates, feed, overview].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(JSON.parse(values.text)).toMatchObject({ values: [expect.anything()] });

  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\nf1;Eva;Ek\n']), 'one.csv');
  const uploaded = await fetch(`${web.address}/v1/storage/uploadFile`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  expect(uploaded.status).toBe(200);
  await until(async () => {
    const report = await send('/v1/storage/files/one.csv/report');
    return report.status === 200 && !isUnderWay((JSON.parse(report.text) as FileReport).outcome);
  });
  expect(await pool`select from users where account_id = ${accountId} and external_id = 'f1'`).toHaveLength(
    1,
  );
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
    `pool_mode = ${mode}\nignore_startup_parameters = lock_timeout,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count`,
  );
  const url = { pooled, direct: database.url, other: other.url }[direct];
  await expect(checkSessions({ url, pooled })).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(message) as string,
  });
});
