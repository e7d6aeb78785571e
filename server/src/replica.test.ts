// Reading from a streaming replica: no response is older than what the primary server has confirmed, whatever happens to the replica, and
// what is withdrawn is withdrawn immediately. With two servers of Debian's PostgreSQL.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, type TestContext } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { openBreakdown } from './rounds/segments/breakdowns.ts';
import { raiseVersion } from './accounts/accounts.sql.ts';
import { createToken, revokeToken } from './accounts/tokens.ts';
import { startApp } from './app.ts';
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { type Db, inBatches, inTransaction, openPool, type Pool } from './db/db.ts';
import { openReplica, type Reads } from './db/replica/reads.ts';
import { defineAttribute } from './people/attributes.changes.ts';
import { createGroup } from './people/groups.ts';
import { createUser } from './people/users.ts';
import { openLogLines, type LogLine } from './testing/log-lines.ts';
import { cases } from './testing/house/cases.ts';
import { type Server, type Streaming, untilReplayed, useStreaming } from './testing/processes/streaming.ts';
import { signIn } from './testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round } from './testing/surveys.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { versionedTables } from './testing/schema/versioned.ts';
import { until } from './testing/until.ts';
import { testConfig } from './testing/world.ts';

const found = useStreaming();

function streamingIn({ skip }: TestContext): Streaming {
  if (!found.current) skip('SKIPPED: needs a PostgreSQL of Debian (postgresql-15)');
  return found.current as Streaming;
}

const poolOf = (server: Server, connections = 4): Pool => {
  const pool = openPool(server.url, connections);
  onTestFinished(() => pool.end({ timeout: 1 }));
  return pool;
};

async function newAccount(pool: Pool) {
  const person = { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' } as const;
  const ids = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    return { id, ada: await createUser(tx, id, person) };
  });
  const { token, id: tokenId } = await createToken(pool, ids.id, { name: 'test', scopes: ['data'] });
  return { ...ids, token, tokenId };
}

const addGroup = (pool: Pool, accountId: number, name: string) =>
  inTransaction(pool, (tx) => createGroup(tx, accountId, { name }));

/** Starts a service that reads from `replica`, and returns what a test asks it. */
async function serviceOn(primary: Server, replica: Server, replicaUrl = replica.url) {
  const directory = await mkdtemp(join(tmpdir(), 'soundings-replica-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { log, lines } = openLogLines('debug');
  const config = {
    ...testConfig,
    answerKeys: { place: 'database' as const, directory },
    responseCacheMb: 0,
    role: 'web' as const,
    replicaUrl,
  };
  const app = await startApp(config, Promise.resolve(primary.url), log);
  onTestFinished(() => app.stop(5));
  await app.started;
  const read = async (path: string, authorization: string) => {
    const response = await fetch(app.address + path, { headers: { authorization } });
    return { status: response.status, text: await response.text() };
  };
  const metric = async (name: string) => {
    const { text } = await read('/metrics', '');
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`soundings_replica_${name} `))
        ?.split(' ')[1],
    );
  };
  return {
    address: app.address,
    groups: async (token: string) => {
      const { status, text } = await read('/v1/groups', token);
      return status === 200 ? (JSON.parse(text) as { name: string }[]).map(({ name }) => name) : status;
    },
    status: async (path: string, token: string) => (await read(path, token)).status,
    failures: () => lines.filter(({ msg }) => msg.startsWith('Reading from the replica failed')),
    feed: (token: string) => read('/v1/feed', token),
    metric,
    served: () => metric('reads{from="replica"}'),
    untilUsed: () => until(async () => (await metric('up')) === 1),
  };
}

const pause = (replica: Server) => replica.admin`select pg_wal_replay_pause()`;
const resume = (replica: Server) => replica.admin`select pg_wal_replay_resume()`;
const untilPaused = (replica: Server) =>
  until(async () => {
    const [row] = await replica.admin<{ state: string }[]>`select pg_get_wal_replay_pause_state() as state`;
    return row?.state === 'paused';
  });

test('what was written is read in any order of writing, reading and delays of the replica', async (context) => {
  const { primary, replica } = streamingIn(context);
  const pool = poolOf(primary);
  const service = await serviceOn(primary, replica);
  const account = await newAccount(pool);
  const request = await signIn({ pool, address: service.address }, account.id, account.ada);
  await service.untilUsed();
  const names: string[] = [];
  const steps = {
    write: async () => {
      const name = `Group ${names.length + 1}`;
      await addGroup(pool, account.id, name);
      names.push(name);
    },
    read: async () => expect(await service.groups(account.token)).toEqual(names),
    start: async () => {
      const { status, body } = await request<{ groups: number }>('GET /results');
      expect([status, body.groups]).toEqual([200, names.length]);
    },
    feed: async () => expect((await service.feed(account.token)).status).toBe(200),
    pause: async () => {
      await pause(replica);
      await untilPaused(replica);
    },
    resume: () => resume(replica),
    wait: async () => {
      await resume(replica);
      await untilReplayed({ primary, replica });
    },
  };
  onTestFinished(async () => void (await resume(replica)));
  const step = fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[]));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (some) => {
      // One step after the other.
      for (const one of some) await steps[one]();
    }),
    cases(40),
  );
  await steps.wait();
  const before = await service.served();
  await steps.read();
  await steps.start();
  await steps.feed();
  expect(await service.served()).toBeGreaterThanOrEqual(before + 3);
  await pause(replica);
  await untilPaused(replica);
  await steps.write();
  const paused = await service.served();
  await steps.read();
  await steps.start();
  expect(await service.served()).toBe(paused);
});

test('a revoked token and an ended session are refused while the replica still has them', async (context) => {
  const { primary, replica } = streamingIn(context);
  const pool = poolOf(primary);
  const service = await serviceOn(primary, replica);
  const account = await newAccount(pool);
  const request = await signIn({ pool, address: service.address }, account.id, account.ada);
  await service.untilUsed();
  await untilReplayed({ primary, replica });
  expect(await service.groups(account.token)).toEqual([]);
  await pause(replica);
  onTestFinished(async () => void (await resume(replica)));
  await untilPaused(replica);
  await revokeToken(pool, account.id, account.tokenId);
  await pool`delete from sessions where account_id = ${account.id}`;
  expect(await service.groups(account.token)).toBe(401);
  expect((await request('GET /results')).status).toBe(401);
});

test('a replica that is down costs nothing, is reported, and is used again once it is back', async (context) => {
  const { primary, replica } = streamingIn(context);
  const pool = poolOf(primary);
  const service = await serviceOn(primary, replica);
  const account = await newAccount(pool);
  await addGroup(pool, account.id, 'One');
  await service.untilUsed();
  await untilReplayed({ primary, replica });
  const reading = Promise.all(Array.from({ length: 60 }, () => service.groups(account.token)));
  await replica.kill();
  expect(await reading).toEqual(Array.from({ length: 60 }, () => ['One']));
  await until(async () => (await service.metric('up')) === 0);
  expect(await service.groups(account.token)).toEqual(['One']);
  expect(await service.feed(account.token)).toMatchObject({ status: 200 });
  await replica.start();
  await service.untilUsed();
  const before = await service.served();
  expect(await service.groups(account.token)).toEqual(['One']);
  expect(await service.served()).toBe(before + 1);
});

/** Opens what reads an account from a replica, without a service. */
async function readsOn(
  primary: Server,
  replica: Server,
  connections?: number,
): Promise<{ pool: Pool; reads: Reads; lines: LogLine[] }> {
  const { log, lines } = openLogLines();
  const pool = poolOf(primary, connections);
  const reads = openReplica(replica.url, { pool, reads: openPool(primary.url, 2) }, {}, log);
  onTestFinished(() => reads.close());
  return { pool, reads, lines };
}

async function atVersion(pool: Pool, accountId: number) {
  const [row] = await pool<{ version: string }[]>`
    select version::text as version from accounts where account_id = ${accountId}`;
  return { accountId, version: row!.version };
}

/** Makes the replica cancel every transaction that has read the accounts. */
const conflict = ({ admin }: Server) =>
  admin.begin((tx) => tx.unsafe('lock table accounts in access exclusive mode'));

/** Yields numbers from one server or the other, and calls `between` in the middle. */
async function* numbers(rows: Db, between: () => Promise<unknown>) {
  let batches = 0;
  const statement = rows<{ n: number }[]>`
    select n::integer as n from generate_series(1, 5000) as n where exists (select from accounts)`;
  for await (const batch of inBatches(statement, 100)) {
    const text = batch.map(({ n }) => `${n}\n`).join('');
    yield batches % 2 === 0 ? text : Buffer.from(text);
    if (++batches === 20) await between();
  }
}
const allNumbers = Array.from({ length: 5000 }, (_, i) => `${i + 1}\n`).join('');

async function textOf(chunks: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk as string).toString();
  return text;
}

test('a read that a replica cancels because of its replay is repeated on the primary, and a stream continues there', async (context) => {
  const { primary, replica } = streamingIn(context);
  const { pool, reads } = await readsOn(primary, replica);
  const { id } = await newAccount(pool);
  await untilReplayed({ primary, replica });
  await until(async () => reads.facts()?.state === 'ok');
  const account = await atVersion(pool, id);
  const [once, stream] = [{ servers: [] as boolean[] }, { servers: 0 }];
  const where = async (db: Db) =>
    (await db<{ isReplica: boolean }[]>`select pg_is_in_recovery() as "isReplica"`)[0]!.isReplica;
  const name = await reads.of(account).once(async (db) => {
    once.servers.push(await where(db));
    if (once.servers.length === 1) {
      await conflict(primary);
      await untilReplayed({ primary, replica });
    }
    const [row] = await db<{ name: string }[]>`select name from accounts where account_id = ${id}`;
    return row?.name;
  });
  expect([name, once.servers]).toEqual(['Test', [true, false]]);

  const text = await textOf(
    reads.of(account).stream(async function* (rows) {
      const isFirst = ++stream.servers === 1;
      yield* numbers(rows, async () => {
        if (!isFirst) return;
        await conflict(primary);
        await untilReplayed({ primary, replica });
      });
    }),
  );
  expect([text === allNumbers, stream.servers]).toEqual([true, 2]);
});

test('a stream that continues on the primary takes no connection of short statements, however slowly it is read', async (context) => {
  const { primary, replica } = streamingIn(context);
  const { pool, reads } = await readsOn(primary, replica, 1);
  const { id } = await newAccount(pool);
  await untilReplayed({ primary, replica });
  await until(async () => reads.facts()?.state === 'ok');
  const account = await atVersion(pool, id);
  let servers = 0;
  const chunks = reads.of(account).stream(async function* (rows) {
    const isFirst = ++servers === 1;
    yield* numbers(rows, async () => {
      if (!isFirst) return;
      await conflict(primary);
      await untilReplayed({ primary, replica });
    });
  });
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    // The only connection of the pool is free, in the middle of the response.
    if (servers === 2) await pool`select 1`;
  }
  expect([text === allNumbers, servers]).toEqual([true, 2]);
});

test('a stream whose account has changed meanwhile is aborted, and not continued with other figures', async (context) => {
  const { primary, replica } = streamingIn(context);
  const { pool, reads } = await readsOn(primary, replica);
  const { id } = await newAccount(pool);
  await untilReplayed({ primary, replica });
  await until(async () => reads.facts()?.state === 'ok');
  const account = await atVersion(pool, id);
  const chunks = reads.of(account).stream((rows) =>
    numbers(rows, async () => {
      await inTransaction(pool, (tx) => raiseVersion(tx, id));
      await conflict(primary);
      await untilReplayed({ primary, replica });
    }),
  );
  await expect(textOf(chunks)).rejects.toMatchObject({
    code: expect.stringMatching(/^(40001|57P01|CONNECTION|ECONNRESET)/) as string,
  });
});

test('responses of the data interface and results pages read nothing on the replica but what the version stands for', async (context) => {
  const { primary, replica } = streamingIn(context);
  const tables = [...Object.keys(versionedTables), 'migrations'].join(', ');
  await primary.admin.unsafe(`create role reader login; grant select on ${tables} to reader`);
  const pool = poolOf(primary);
  const account = await newAccount(pool);
  const directory = await mkdtemp(join(tmpdir(), 'soundings-replica-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const keys = new AnswerKeys(pool, { place: 'database', directory });
  await keys.chain.prepare();
  const people = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`p${i}`, ['all', i < 6 ? 'one' : 'two']]),
  );
  const groups = await inTransaction(pool, async (tx) => {
    const all = await createGroup(tx, account.id, { name: 'All', externalId: 'all' });
    const one = await createGroup(tx, account.id, { name: 'One', externalId: 'one', parentId: all });
    await createGroup(tx, account.id, { name: 'Two', externalId: 'two', parentId: all });
    return { all, one };
  });
  const weeks = ['2026-W44', '2026-W45'];
  await importLines({ pool, keys }, account.id, [
    question('mood', 1),
    question('words', 7),
    kpi('energy', ['mood']),
    ...weeks.flatMap((week) => [
      round(week, 'all', ['mood', 'words'], people),
      ...Object.keys(people).flatMap((person, i) => [
        answerLine(week, 'all', person, 'mood', 1 + (i % 5)),
        answerLine(week, 'all', person, 'words', undefined, `Words of ${person} about meetings`),
      ]),
    ]),
  ]);
  const breakdownId = await inTransaction(pool, async (tx) => {
    await defineAttribute(tx, account.id, { name: 'site', allowedValues: null });
    const site = { name: 'Site', attribute: 'site', bands: null, crossOf: null };
    return openBreakdown(tx, account.id, { origin: 'command' }, site);
  });
  const [row] = await pool<{ id: number }[]>`
    select question_id as id from questions where account_id = ${account.id} and key = 'mood'`;
  const service = await serviceOn(primary, replica, replica.url.replace('//soundings@', '//reader@'));
  const requests = {
    admin: await signIn({ pool, address: service.address }, account.id, account.ada),
    manager: await signIn(
      { pool, address: service.address },
      account.id,
      await inTransaction(pool, (tx) =>
        createUser(tx, account.id, {
          firstName: 'Max',
          role: 'Manager',
          memberships: { inheritedAdminOf: [groups.all], adminOf: [groups.one] },
        }),
      ),
    ),
  };
  await untilReplayed({ primary, replica });
  await service.untilUsed();
  const range = 'fromDate=2026-10-01&toDate=2026-11-20';
  const scope = (more: string) => `groupId=${groups.all}&${range}&${more}`;
  const interfaceA = [
    '/v1/groups',
    '/v1/groups?kind=segment',
    '/v1/kpis',
    ...['true', 'false'].flatMap((subgroups) => [
      `/v1/kpis/energy/values?${scope(`includeSubgroups=${subgroups}`)}`,
      `/v1/responserates/values?${scope(`includeSubgroups=${subgroups}`)}`,
      `/v1/results?${scope(`includeSubgroups=${subgroups}&includeComments=true&granularData=true`)}`,
      `/v1/results?${scope(`includeSubgroups=${subgroups}`)}`,
      `/v1/askedquestions?${scope(`includeSubgroups=${subgroups}`)}`,
    ]),
    '/v1/feed',
  ];
  const pages = (Object.keys(consoleOperations) as string[])
    .filter((one) => /^GET \/results(\/|$)/.test(one) && !one.includes('/report'))
    .map((one) => one.replace('{groupId}', String(groups.one)).replace('{questionId}', String(row!.id)))
    .concat(`GET /breakdowns/${breakdownId}/heat-map`, `GET /breakdowns/${breakdownId}/questions/${row!.id}`)
    .map((one) => (/trends/.test(one) ? `${one}?kpiId=energy&groupIds=${groups.all},${groups.one}` : one))
    .map((one) => (/heat-map\/rows/.test(one) ? `${one}?offset=0&limit=50` : one))
    .map((one) => (/comments/.test(one) ? `${one}?groupId=${groups.one}` : one));
  for (const path of interfaceA)
    expect([path, await service.status(path, account.token)]).toEqual([path, 200]);
  for (const page of pages)
    for (const [role, request] of Object.entries(requests)) {
      const isAllowed = role === 'admin' || !page.includes('/breakdowns/');
      expect([page, role, (await request(page)).status]).toEqual([page, role, isAllowed ? 200 : 403]);
    }
  expect([service.failures(), await service.metric('reads{from="primary"}')]).toEqual([[], 0]);
  expect(await service.served()).toBeGreaterThanOrEqual(interfaceA.length + 2 * pages.length - 2);
});

test('after a failover, a replica of the old primary is not used, even if it has what the new one has lost', async (context) => {
  const { primary, replica, addReplica } = streamingIn(context);
  const next = await addReplica();
  const old = poolOf(primary);
  const account = await newAccount(old);
  await addGroup(old, account.id, 'One');
  await untilReplayed({ primary, replica: next });
  await next.kill();
  await addGroup(old, account.id, 'Lost');
  await untilReplayed({ primary, replica });
  await primary.kill();
  await next.start();
  await next.promote();
  const service = await serviceOn(next, replica);
  await service.untilUsed();
  expect(await service.groups(account.token)).toEqual(['One']);
  await addGroup(poolOf(next), account.id, 'Two');
  expect(await service.groups(account.token)).toEqual(['One', 'Two']);
  expect(await service.served()).toBe(0);

  const { reads, lines } = await readsOn(next, next);
  await until(async () => reads.facts()?.state === 'primary');
  expect(JSON.stringify(lines)).toMatch(/DATABASE_URL_READ is not a replica/);
});
