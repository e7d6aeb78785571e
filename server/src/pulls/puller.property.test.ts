// Whatever happens in whatever order: lists that change, failures, several processes at a time, processes that are killed while they
// fetch, requests of administrators and changes of the pull. No list is fetched twice at the same time, each stored list is one file and one
// recorded attempt, nothing that was requested is lost, and in the end the current list is stored.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { fetchPull } from './fetch-pull.ts';
import { openPuller, type Puller } from './puller.ts';
import { claimPulls } from './claims.sql.ts';
import {
  ask,
  change,
  database,
  fetchingOf,
  newCompany,
  newPull,
  openHr,
  pullDue,
  sendJson,
  silent,
  usePullDatabase,
} from './pulls.fixture.ts';

usePullDatabase();

type Manner = 'ok' | 'fails' | 'hangs up' | 'refuses';
type Step =
  | { kind: 'list'; size: number }
  | { kind: 'manner'; manner: Manner }
  | { kind: 'wait'; minutes: number }
  | { kind: 'run'; processes: number }
  /** A process is killed after it has claimed what is due, before or after it has the list. */
  | { kind: 'killed'; hasList: boolean }
  | { kind: 'ask'; isDryRun: boolean }
  | { kind: 'switch'; isOn: boolean }
  | { kind: 'rename' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('list' as const), size: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('manner' as const),
      manner: fc.constantFrom<Manner>('ok', 'ok', 'fails', 'hangs up', 'refuses'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 6, 70, 1500) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('run' as const), processes: fc.constantFrom(1, 3) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('killed' as const), hasList: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask' as const), isDryRun: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch' as const), isOn: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const) }) },
);

test('in the end the current list is stored once, and nothing that was asked for is lost', async () => {
  const { pool } = database;
  const hr = await openHr();
  const source = { size: 3, manner: 'ok' as Manner, running: 0, mostAtOnce: 0 };
  const list = () =>
    Array.from({ length: source.size }, (_, i) => ({
      EmployeeID: `${i}`,
      FirstName: `P${source.size}`,
      LastName: 'X',
    }));
  hr.respond = ({ socket }, response) => {
    source.mostAtOnce = Math.max(source.mostAtOnce, ++source.running);
    setImmediate(() => {
      source.running--;
      if (source.manner === 'ok') sendJson(response, list());
      else if (source.manner === 'hangs up') socket.destroy();
      else response.writeHead(source.manner === 'fails' ? 503 : 401).end();
    });
  };

  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
    Object.assign(source, { size: 3, manner: 'ok', mostAtOnce: 0 });
    const company = await newCompany(pool);
    const time = { now: Date.now() };
    const id = await newPull(database, company, { url: `${hr.url}/list`, repeat: 'hourly' }, time.now);
    await pullDue(database, company, time.now);
    await change(database, company, id, { isOn: true }, time.now);
    const fetching = fetchingOf(database, () => time.now);
    const processOf = (): Puller =>
      openPuller(
        pool,
        (claimed) => fetchPull(fetching, claimed),
        silent,
        () => time.now,
      );
    const run = async (processes: number) => {
      const all = Array.from({ length: processes }, processOf);
      await Promise.all(all.map((one) => one.wake()));
      await Promise.all(all.map((one) => one.settled()));
    };
    const killed = async (hasList: boolean) => {
      const until = time.now + 300_000;
      const claimed = await claimPulls(pool, { claim: crypto.randomUUID(), count: 9, now: time.now, until });
      // What it has stored last is lost, because it can't end a transaction any more.
      const dying = { ...fetching, pool: withoutTransactions() };
      if (hasList) for (const one of claimed) await fetchPull(dying, one).catch(() => {});
    };
    const perform = async (one: Step): Promise<void> => {
      if (one.kind === 'list') source.size = one.size;
      if (one.kind === 'manner') source.manner = one.manner;
      if (one.kind === 'wait') time.now += one.minutes * 60_000;
      if (one.kind === 'run') await run(one.processes);
      if (one.kind === 'killed') await killed(one.hasList);
      if (one.kind === 'ask') await ask(database, company, id, one.isDryRun, time.now);
      if (one.kind === 'switch') await change(database, company, id, { isOn: one.isOn }, time.now);
      if (one.kind === 'rename')
        await change(database, company, id, { name: `People ${time.now}` }, time.now);
    };
    for (const one of steps) await perform(one);

    source.manner = 'ok';
    await change(database, company, id, { isOn: true }, time.now);
    time.now += 90_000_000;
    await run(1);
    await run(1); // what was requested while the first one ran
    const [state] = await pool<
      { wanted: string | null; claimed: string | null; files: number; stored: number; last: string }[]
    >`
      select p.wanted, p.claimed_by as claimed,
             (select count(*)::integer from files where account_id = p.account_id and arrival is not null) as files,
             (select count(*)::integer from pull_fetches where account_id = p.account_id and outcome = 'stored') as stored,
             (select convert_from(c.bytes, 'UTF8') from file_chunks c
              where c.account_id = p.account_id and c.file_id = p.last_file_id) as last
      from   pulls p where account_id = ${company.id}`;
    expect(state).toMatchObject({ wanted: null, claimed: null });
    expect(state!.files).toBe(state!.stored);
    expect(state!.last.match(/P\d/g)).toEqual(list().map(({ FirstName }) => FirstName));
    expect(source.mostAtOnce).toBe(1);
  });
  await fc.assert(property, cases(40));
});

/** The pool of a process that is killed before it commits anything. */
function withoutTransactions(): TestDatabase['pool'] {
  return new Proxy(database.pool, {
    get: (pool, name) =>
      name === 'begin' ? () => Promise.reject(new Error('killed')) : (Reflect.get(pool, name) as unknown),
  });
}
