// Organization pushes with up to 20,000 users, 2,000 groups and 60,000 memberships: their time compared with a floor, and their
// effect on other accounts. The floor of a first import is COPY of the rows it writes. The floor of other pushes is parsing the
// body and reading the rows that the body must be compared with. Run one at a time, because parallel runs would affect each other's
// times.
import type { Summary } from '@soundings/contract/organization.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { copyInto, inTransaction, type Pool } from '@soundings/server/src/db/db.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { attribute, type Company, makeCompany, renamed } from './company.ts';
import { against, median, percentile, ratioText, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import { pushBodyOf, push } from './push.ts';
import type { BenchAccount, Service } from './measuring/service.ts';

/**
 * `users`: the sizes of the companies, largest last. `groups`: the number of groups. `rounds`: how many accounts receive the pushes
 * of each company. `timeScale`: a factor for pauses and durations.
 */
type Plan = { users: number[]; groups: number; rounds: number; timeScale: number };

export const syncPlans: Plans<Plan> = {
  whole: { users: [1_000, 5_000, 20_000], groups: 2_000, rounds: 5, timeScale: 1 },
  smoke: { users: [100], groups: 20, rounds: 1, timeScale: 0.02 },
};

/** The maximum memory above idle, in bytes. */
const maxMemory = 400e6;

/** Shared by all measurements. */
type Scene = {
  service: Service;
  plan: Plan;
  /** The largest company. */
  company: Company;
  /** Bytes that the service has in memory before the first large push. */
  idleMemory: number;
  say: Say;
};

/** Measures pushes of each size, and their effect on other accounts. */
export const benchSync: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const company = makeCompany({ users: Math.max(...plan.users), groups: plan.groups });
    const [first, idleMemory] = await measureFirstHour(service, company, plan, say);
    const scene = { service, plan, company, idleMemory, say };
    const rows: BenchRow[] = [];
    for (const users of plan.users) rows.push(...(await measurePushes(scene, users)));
    rows.push(first, ...(await measureOthers(scene)), ...(await measureTwoAtOnce(scene)));
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

/**
 * Runs first, before memory has grown, and does what a new installation does: a small push, then a push of everyone. Returns the
 * row and the bytes in memory between the two pushes.
 */
async function measureFirstHour(
  service: Service,
  company: Company,
  { timeScale }: Plan,
  say: Say,
): Promise<[row: BenchRow, idleMemory: number]> {
  const [small, large] = [await newAccount(service), await newAccount(service)];
  await push(service, small, pushBodyOf(makeCompany({ users: 10, groups: 1 })), { created: 10 });
  await sleep(500 * timeScale);
  const idleMemory = service.memory.now() ?? 0;
  const pushed = await watched(service, large, pushBodyOf(company), { created: company.users.length });
  const copying = await copyOf(service, large);
  say(`first import of a new installation: ${time(pushed.ms)}, COPY ${time(copying)}`);
  const what = `First import of a new installation, ${company.users.length.toLocaleString('en')} users`;
  const row = against(what, [pushed.ms], [copying], 3);
  return [{ ...row, ...memoryCell([pushed.memory], idleMemory) }, idleMemory];
}

/** Measures each kind of push, in one account per round. */
async function measurePushes({ service, plan, idleMemory, say }: Scene, users: number): Promise<BenchRow[]> {
  const company = makeCompany({ users, groups: plan.groups });
  const [few, many] = [users / 100, users / 10];
  const changed = renamed(company, few, 'changed');
  const removed = { ...changed, users: changed.users.filter((_, i) => i % 10 !== 1) };
  const steps: Record<string, { sent: Company; expected: Partial<Summary['users']> }> = {
    'first import': { sent: company, expected: { created: users } },
    'unchanged, other bytes': { sent: company, expected: { unchanged: users } },
    'the same bytes again': { sent: company, expected: { unchanged: users } },
    '1% changed': { sent: changed, expected: { updated: few, unchanged: users - few } },
    '10% removed': { sent: removed, expected: { deleted: many, unchanged: users - many } },
  };
  const measured = new Map(Object.keys(steps).map((name) => [name, [] as Measured[]]));
  for (let round = 0; round < plan.rounds; round++) {
    const account = await newAccount(service);
    for (const [name, { sent, expected }] of Object.entries(steps)) {
      const repeated = expected.unchanged === users ? 8 : 1;
      for (let i = 0; i < repeated; i++) {
        // Spaces make other bytes. The same bytes are sent once before they are sent again.
        const spaces = ' '.repeat(name === 'unchanged, other bytes' ? i + 1 : 0);
        const body = Buffer.concat([pushBodyOf(sent), Buffer.from(spaces)]);
        if (name === 'the same bytes again' && i === 0) await push(service, account, body, expected);
        // The floor is measured before the push, so that it reads the same rows.
        const reading = expected.created ? 0 : await service.floor(account, body);
        const pushed = await watched(service, account, body, expected);
        const floor = expected.created ? await copyOf(service, account) : reading;
        measured.get(name)?.push({ ...pushed, floor });
        // Otherwise autovacuum would run during the next measurement.
        if (expected.created) await service.pool`vacuum analyze`;
      }
    }
  }
  return [...measured].map(([name, list]) => {
    const [times, floors] = [list.map(({ ms }) => ms), list.map(({ floor }) => floor)];
    say(`${users} users, ${name}: ${time(median(times))}, floor ${time(median(floors))}`);
    const target = { 'first import': 2, 'unchanged, other bytes': 1.5, 'the same bytes again': 1 }[name];
    const atMost = users === Math.max(...plan.users) ? target : undefined;
    const row = against(`${users.toLocaleString('en')} users, ${name}`, times, floors, atMost);
    const peaks = list.map(({ memory }) => memory);
    return { ...row, ...memoryCell(peaks, idleMemory) };
  });
}

/** The milliseconds and peak memory (bytes) of a push, and the milliseconds of its floor. */
type Measured = { ms: number; memory: number | undefined; floor: number };

async function watched(
  service: Service,
  account: BenchAccount,
  body: Buffer,
  expected: Partial<Summary['users']>,
): Promise<Omit<Measured, 'floor'>> {
  const endWatch = service.memory.watch();
  const [ms] = await timed(() => push(service, account, body, expected));
  return { ms, memory: endWatch()?.own };
}

function memoryCell(peaks: (number | undefined)[], idle: number): Partial<BenchRow> {
  const known = peaks.filter((peak) => peak !== undefined);
  return known.length > 0 ? { memory: sizeText(Math.max(...known) - idle) } : {};
}

/**
 * Measures the floor of a first import: writes the rows that the import has written once more, for another account, with COPY
 * alone.
 */
async function copyOf(service: Service, pushed: BenchAccount): Promise<number> {
  const tables = await rowsWritten(service.pool, pushed, await newAccount(service));
  const [ms] = await timed(() => copyTables(service.pool, tables));
  return ms;
}

type TableRows = { table: string; columns: string[]; rows: (string | number | null)[][] };

/** Returns all rows that a first push has written for an account, rewritten for another account. */
async function rowsWritten(pool: Pool, from: BenchAccount, to: BenchAccount): Promise<TableRows[]> {
  const tables: TableRows[] = [];
  for (const table of ['groups', 'users', 'memberships', 'runs', 'run_changes']) {
    const names = await pool<{ name: string }[]>`
      select attname as name
      from   pg_attribute
      where  attrelid = ${table}::regclass and attnum > 0 and not attisdropped
        and  attgenerated = '' -- generated columns accept no values
        and  attname not in ('account_id', 'token_id', 'created_at', 'at')
      order  by attnum`;
    const columns = names.map(({ name }) => name);
    const texts = columns.map((name) => `${name}::text`).join(', ');
    const rows = await pool
      .unsafe(`select ${texts} from ${table} where account_id = $1 order by ctid`, [from.id])
      .values();
    tables.push({ table, columns: ['account_id', ...columns], rows: rows.map((row) => [to.id, ...row]) });
  }
  return tables;
}

async function copyTables(pool: Pool, tables: TableRows[]): Promise<void> {
  await inTransaction(pool, async (tx) => {
    for (const { table, columns, rows } of tables) {
      await copyInto(tx.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`), rows);
    }
  });
}

/** Measures the requests of another account during pushes of every kind. The floor: no pushes. */
async function measureOthers({ service, plan, company, idleMemory, say }: Scene): Promise<BenchRow[]> {
  const reader = await newAccount(service);
  await push(service, reader, pushBodyOf(makeCompany({ users: 100, groups: 10 })), { created: 100 });
  const { timeScale } = plan;
  const requestSteadily = () => service.requestSteadily('/v1/groups', reader.token, 50, 1000 * timeScale);
  const few = company.users.length / 20;
  const [whole, changed] = [pushBodyOf(company), pushBodyOf(renamed(company, few, 'changed'))];
  const steady = await requestSteadily();
  await sleep(5000 * timeScale);
  const idle = await steady.end();

  const whilePushing = await requestSteadily();
  const endWatch = service.memory.watch();
  for (const until = performance.now() + 21_000 * timeScale; performance.now() < until;) {
    const account = await newAccount(service);
    await push(service, account, whole, { created: company.users.length });
    await push(service, account, whole, { unchanged: company.users.length });
    await push(service, account, changed, { updated: few });
    await push(service, account, whole, { updated: few });
    await push(service, account, whole, { unchanged: company.users.length });
  }
  const peak = endWatch();
  const busy = await whilePushing.end();
  say(`others meanwhile: ${busy.length} requests, 99th percentile ${time(percentile(busy, 0.99))}`);
  const row = (what: string, of: (times: number[]) => number): BenchRow => ({
    what: `GET /v1/groups by other accounts during pushes, ${what} (floor: no pushes)`,
    measured: time(of(busy)),
    floor: time(of(idle)),
    ratio: ratioText(of(busy) / of(idle)),
  });
  const p99 = percentile(busy, 0.99);
  return [
    row('median', median),
    { ...row('99th percentile', (times) => percentile(times, 0.99)), target: '≤ 250 ms', met: p99 <= 250 },
    row('longest', (times) => Math.max(...times)),
    ...(peak
      ? [
          {
            what: 'Memory of the service during those pushes, peak above idle (floor: idle)',
            measured: sizeText(peak.own - idleMemory),
            floor: sizeText(idleMemory),
            target: '≤ 400 MB',
            met: peak.own - idleMemory <= maxMemory,
          },
          {
            what: "Memory of PostgreSQL's processes during those pushes",
            measured: sizeText(peak.database),
          },
        ]
      : []),
  ];
}

/** Measures small pushes to one account during a first import of another. */
async function measureTwoAtOnce({ service, plan, company, say }: Scene): Promise<BenchRow[]> {
  const [large, small] = [await newAccount(service), await newAccount(service)];
  const whole = pushBodyOf(company);
  const bodies = ['Anna', 'Åsa'].map((lastName) => {
    const { groups, users } = makeCompany({ users: 1, groups: 1 });
    return pushBodyOf({ groups, users: users.map((user) => ({ ...user, lastName })) });
  });
  const pushSmall = (i: number) =>
    push(service, small, bodies[i % 2] as Buffer, i === 0 ? { created: 1 } : { updated: 1 });
  let pushed = 0;
  const alone: number[] = [];
  for (; pushed < 12; pushed++) {
    const [ms] = await timed(() => pushSmall(pushed));
    if (pushed > 1) alone.push(ms);
  }
  const state = { isRunning: true };
  const running = timed(() => push(service, large, whole, { created: company.users.length })).finally(
    () => (state.isRunning = false),
  );
  const beside: number[] = [];
  await sleep(50 * plan.timeScale);
  do beside.push((await timed(() => pushSmall(pushed++)))[0]);
  while (state.isRunning);
  const [creation] = await running;
  const longest = Math.max(...beside);
  say(
    `two accounts at once: ${beside.length} small pushes within ${time(longest)} beside one of ${time(creation)}`,
  );
  return [
    {
      what: `Push of 1 user during another account's first import (${time(creation)}), longest (floor: alone)`,
      measured: time(longest),
      floor: time(median(alone)),
      ratio: ratioText(longest / median(alone)),
      target: '< ⅓ of the import',
      met: longest < creation / 3,
    },
    {
      what: '– median',
      measured: time(median(beside)),
      floor: time(median(alone)),
      ratio: ratioText(median(beside) / median(alone)),
    },
  ];
}

const newAccount = (service: Service) => service.account(attribute);
