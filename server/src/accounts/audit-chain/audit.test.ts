// GET /v1/audit: what it returns, and that a reader gets each entry exactly once and in the order of the chain, whatever writers,
// other readers and lost connections do meanwhile.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import fc from 'fast-check';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction, openPool, type Pool, type Transaction } from '../../db/db.ts';
import { migrations } from '../../db/migrate.ts';
import { openLog } from '../../base/log.ts';
import { cases } from '../../testing/house/cases.ts';
import { keepOpen } from '../../testing/keep-open.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { audit } from '../audit.ts';
import { chainAllEntries, chainEntries } from './chain.ts';
import { canonicalJson, hashOf, start } from './record.ts';
import { chainFault, verifyChain } from './verify.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(openLog('silent'));
});
afterAll(() => world.close());

const write = (account: TestAccount, subject: string | number, db: Pool | Transaction = world.pool) =>
  audit(db, account.id, { origin: 'service' }, 'run applied', { subject });

async function read(account: TestAccount, query = '', headers: Record<string, string> = {}) {
  const response = await world.request<string>('GET', `/v1/audit${query}`, {
    headers: { authorization: account.token, ...headers },
  });
  const { status, body } = response;
  const lines = status === 200 ? body.split('\n').slice(0, -1) : [];
  return { ...response, problem: body as unknown as Problem, records: lines.map((line) => JSON.parse(line)) };
}
const faultsOf = (records: AuditRecord[]) =>
  records
    .map((record, i) => chainFault(records[i - 1] ?? start, record))
    .filter((fault) => fault !== undefined);

describe('GET /v1/audit', () => {
  test('200: entries as lines of canonical JSON, oldest first, each after the one before it', async () => {
    const account = await world.account();
    for (let n = 0; n < 5; n++) await write(account, n);
    const { headers, body, records } = await read(account);
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(records.length).toBeGreaterThanOrEqual(5);
    expect(faultsOf(records)).toEqual([]);
    expect(body).toBe(records.map((record) => `${canonicalJson(record)}\n`).join(''));
    expect(records.at(-1)).toMatchObject({ accountId: account.id, action: 'run applied', subject: '4' });
  });

  test('200: after and limit give any part; an empty response means that there is nothing new', async () => {
    const account = await world.account();
    for (let n = 0; n < 10; n++) await write(account, n);
    const { records: all } = await read(account);
    for (let after = 0; after <= all.length; after++) {
      const { status, records } = await read(account, `?after=${after}&limit=3`);
      expect([status, records]).toEqual([200, all.slice(after, after + 3)]);
    }
    const last = all.at(-1) as AuditRecord;
    expect((await read(account, `?after=${last.position}&hash=${last.hash}`)).body).toBe('');
  });

  test('304: nothing new since the same request; a new entry changes the ETag', async () => {
    const account = await world.account();
    const etag = (await read(account)).headers.get('etag') as string;
    expect((await read(account, '', { 'if-none-match': etag })).status).toBe(304);
    await write(account, 'new');
    const { status, records } = await read(account, '', { 'if-none-match': etag });
    expect([status, records.at(-1).subject]).toEqual([200, 'new']);
  });

  test.each(['after=-1', 'after=x', 'limit=0', 'limit=10001', 'hash=abc', 'from=1', 'after=1&after=2'])(
    '400: %s',
    async (query) => {
      const { status, problem } = await read(await world.account(), `?${query}`);
      expect(status).toBe(400);
      expect(problem.details[0]?.path).toBe(query.split('=')[0]);
    },
  );

  test('409: a position that the log does not have, or another hash than it has', async () => {
    const account = await world.account();
    for (const query of ['after=999', 'after=999999999999999', `after=1&hash=${'1'.repeat(64)}`]) {
      const { status, problem } = await read(account, `?${query}`);
      expect([query, status, problem.details[0]?.type]).toEqual([query, 409, 'audit log changed']);
    }
    expect((await read(account, `?after=0&hash=${start.hash}`)).status).toBe(200);
  });

  test('a slow reader delays reading from the database, and gets everything', async () => {
    const account = await world.account();
    await world.pool`
      insert into audit_entries (account_id, origin, action, details)
      select ${account.id}, 'service', 'run applied', jsonb_build_object('n', n, 'filler', repeat('x', 4000))
      from   generate_series(1, 9000) n`;
    const request = httpGet(`${world.address}/v1/audit?limit=10000`, {
      headers: { authorization: account.token },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    // 36 MB don't fit into the buffers of the connection: the rest must be unread while the client waits.
    const reads = async () =>
      Number(
        (
          await world.pool`select sum(idx_scan) from pg_stat_user_indexes
      where indexrelname = 'audit_entries_in_order'`
        )[0]!['sum'],
      );
    let [before, now] = [-1, -2];
    await until(async () => {
      [before, now] = [now, await reads()];
      return before === now;
    });
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(36_000_000);
    await until(async () => (await reads()) > now);
  });
});

test('entries from before the upgrade are chained by the job, in order', async () => {
  const account = await world.account();
  await world.pool`
    insert into audit_entries (account_id, origin, action, subject)
    select ${account.id}, 'service', 'run applied', n::text from generate_series(1, 1200) n`;
  await chainAllEntries(world.pool);
  const rows = await world.pool<{ subject: string }[]>`
    select subject from audit_entries where account_id = ${account.id} and action = 'run applied' order by position`;
  expect(rows.map(({ subject }) => Number(subject))).toEqual(Array.from({ length: 1200 }, (_, i) => i + 1));
  expect((await verifyChain(world.pool, account.id, undefined)).fault).toBeUndefined();
});

test('processes that chain at the same time wait for each other, and none of them fails', async () => {
  const account = await world.account();
  await chainEntries(world.pool, account.id);
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 20; n++) await write(account, n);
    await Promise.all(Array.from({ length: 4 }, () => chainEntries(world.pool, account.id)));
  }
  expect(await verifyChain(world.pool, account.id, undefined)).toMatchObject({ fault: undefined });
});

test('an entry gets its place once: not even the service can chain it again or change it', async () => {
  const account = await world.account();
  await chainEntries(world.pool, account.id);
  for (const change of ['position = position + 100', 'hash = null', "subject = 'x'", 'position = null'])
    await expect(
      world.pool.unsafe(`update audit_entries set ${change} where account_id = ${account.id}`),
    ).rejects.toThrow('never changed');
  await write(account, 'unchained');
  await expect(
    world.pool`
      update audit_entries set position = 100, hash = '\\x00', subject = 'x'
      where  account_id = ${account.id} and position is null`,
  ).rejects.toThrow('never changed');
});

test('no migration after the one that chains rewrites entries, which would break every chain', () => {
  const later = migrations().filter(({ version }) => version > 53);
  expect(later.filter(({ sql }) => /(update|delete\s+from|truncate)\s+audit_entries/i.test(sql))).toEqual([]);
});

test('canonical JSON is that of RFC 8785', () => {
  // The example of RFC 8785 §3.2.2, without the numbers that JSON.parse itself rounds.
  const value = { string: '\u20ac$\u000F\nA\'B"\\\\"/', literals: [null, true, false], a: { c: 1, b: [] } };
  expect(canonicalJson(value)).toBe(
    '{"a":{"b":[],"c":1},"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  expect(hashOf({ position: 1, previous: '' } as AuditRecord)).toMatch(/^[0-9a-f]{64}$/);
});

describe('whatever writers, readers and lost connections do', () => {
  type Step =
    | { do: 'begin'; writer: number }
    | { do: 'commit' | 'roll back' | 'kill'; writer: number }
    | { do: 'chain'; process: number }
    | { do: 'kill chaining' }
    | { do: 'read'; reader: number; limit: number };
  const number = (max: number) => fc.nat({ max: max - 1 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('begin' as const), writer: number(4) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('commit' as const, 'commit' as const, 'roll back' as const, 'kill' as const),
        writer: number(4),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('chain' as const), process: number(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('kill chaining' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('read' as const),
        reader: number(2),
        limit: fc.integer({ min: 1, max: 4 }),
      }),
    },
  );

  /** A transaction that has written one entry and waits for its end. */
  type Open = {
    subject: string;
    pid: number;
    /** Whether it was committed. */
    done: Promise<boolean>;
    end: (how: 'commit' | 'roll back') => Promise<boolean>;
  };
  /** Returns undefined if the transaction got a connection that had been killed. */
  async function begin(pool: Pool, account: TestAccount, subject: string): Promise<Open | undefined> {
    const [written, ending] = [
      Promise.withResolvers<number>(),
      Promise.withResolvers<'commit' | 'roll back'>(),
    ];
    const done = inTransaction(pool, async (tx) => {
      await write(account, subject, tx);
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      written.resolve(row!.pid);
      if ((await ending.promise) === 'roll back') throw new Error('rolled back');
    }).then(
      () => true,
      () => false,
    );
    const pid = await Promise.race([written.promise, done.then(() => undefined)]);
    if (pid === undefined) return undefined;
    const end = (how: 'commit' | 'roll back') => {
      ending.resolve(how);
      return done;
    };
    return { subject, pid, done, end };
  }

  /** Ignores that a connection was killed. Anything else that goes wrong while entries are chained is an error of the chain. */
  const exceptKilled = (error: unknown) => {
    const { code, cause } = error as { code?: string; cause?: { code?: string } };
    if (!/^(57P01|CONNECTION_[A-Z]+|ECONNRESET|EPIPE)$/.test(cause?.code ?? code ?? '')) throw error;
  };

  test('each committed entry is read exactly once, in the order of the chain, by every reader', async () => {
    const pools = [openPool(world.databaseUrl, 6), openPool(world.databaseUrl, 6)] as const;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }), async (steps) => {
        const account = await world.account();
        const open: (Open | undefined)[] = [];
        const committed: string[] = [];
        const readers: AuditRecord[][] = [[], []];
        const chaining: Promise<unknown>[] = [];
        const failed: unknown[] = [];
        let written = 0;
        const readOn = async (records: AuditRecord[], limit: number) => {
          const { position, hash } = records.at(-1) ?? start;
          const { status, records: more } = await read(
            account,
            `?after=${position}&hash=${hash}&limit=${limit}`,
          );
          expect(status === 200 || status === 503).toBe(true);
          records.push(...more);
          return more.length;
        };
        const end = async (writer: number, how: 'commit' | 'roll back' | 'kill') => {
          const one = open[writer];
          open[writer] = undefined;
          if (!one) return;
          if (how === 'kill') await world.pool`select pg_terminate_backend(${one.pid}, 5000)`;
          if (await (how === 'kill' ? one.done : one.end(how))) committed.push(one.subject);
        };
        for (const next of steps) {
          if (next.do === 'begin') open[next.writer] ??= await begin(pools[0], account, String(++written));
          else if (next.do === 'read') await readOn(readers[next.reader] as AuditRecord[], next.limit);
          else if (next.do === 'chain')
            chaining.push(
              chainEntries(pools[next.process] as Pool, account.id)
                .catch(exceptKilled)
                .catch((error: unknown) => failed.push(error)),
            );
          else if (next.do === 'kill chaining') await killChaining(pools[0], account);
          else await end(next.writer, next.do);
        }
        for (const writer of open.keys()) await end(writer, 'commit');
        await Promise.all(chaining);
        expect(failed).toEqual([]);
        for (const records of readers) {
          await until(async () => (await readOn(records, 3)) === 0 && !(await isBehind(account)));
          const subjects = records
            .filter(({ action }) => action === 'run applied')
            .map(({ subject }) => subject);
          expect(subjects.toSorted()).toEqual(committed.toSorted());
          expect(faultsOf(records)).toEqual([]);
        }
        expect(readers[0]).toEqual(readers[1]);
        expect((await verifyChain(world.pool, account.id, undefined)).fault).toBeUndefined();
      }),
      { ...cases(5), endOnFailure: true },
    );
    await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })));
  });

  /** Kills a process that is about to chain entries, at its lock. */
  async function killChaining(pool: Pool, { id }: TestAccount): Promise<void> {
    const letGo = await keepOpen(world.pool, async (tx) => {
      await tx`insert into audit_heads (account_id) values (${id}) on conflict do nothing`;
      await tx`select from audit_heads where account_id = ${id} for update`;
    });
    let isDone = false;
    const chaining = chainEntries(pool, id)
      .catch(exceptKilled)
      .finally(() => (isDone = true));
    const waiting = () => world.pool<{ pid: number }[]>`
      select pid from pg_stat_activity
      where  datname = current_database() and wait_event_type = 'Lock' and query like '%audit_heads%'`;
    await until(async () => isDone || (await waiting()).length > 0);
    for (const { pid } of await waiting()) await world.pool`select pg_terminate_backend(${pid}, 5000)`;
    await letGo();
    await chaining;
  }

  const isBehind = async ({ id }: TestAccount) => {
    const rows = await world.pool`select from audit_entries where account_id = ${id} and position is null`;
    return rows.length > 0;
  };
});
