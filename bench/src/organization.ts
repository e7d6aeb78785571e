// Interface B with 20,000 users, 2,000 groups and 60,000 memberships: what a push costs beside the least that any
// service must do for it, and what others notice of it meanwhile.
// oxlint-disable no-await-in-loop -- rounds come one after another, or they would measure each other
import type { Report, Settings, Summary } from '@soundings/contract/organization.ts';
import { copyInto, inTransaction, type Pool } from '@soundings/server/src/db/db.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { attribute, type Company, makeCompany, renamed } from './company.ts';
import { against, median, megabytes, percentile, type Row, time, timed } from './measure.ts';
import { type Account, type Service, startService } from './service.ts';

const size = 20_000;
const most: Settings = {
  validateOnly: false,
  maxUsersCreated: 20_000,
  maxUsersUpdated: 20_000,
  maxUsersDeleted: 20_000,
  maxGroupsCreated: 20_000,
  maxGroupsUpdated: 20_000,
  maxGroupsDeleted: 20_000,
};

type Say = (progress: string) => void;

/** What all parts share. */
type Scene = {
  service: Service;
  company: Company;
  /** Its push. */
  whole: Buffer;
  /** Holds the company. */
  settled: Account;
  /** Bytes that the service has in memory before the first large push. */
  idleMemory: number;
  say: Say;
};

export async function benchOrganization(say: Say): Promise<{ rows: Row[]; postgres: string }> {
  const company = makeCompany(size);
  const whole = bodyOf(company);
  say(`${company.users.length} users, ${company.groups.length} groups, ${megabytes(whole.length)} of JSON`);
  const service = await startService();
  try {
    const {
      settled,
      idleMemory,
      coldMs,
      rows: memory,
    } = await measureFirstHour(service, company, whole, say);
    const scene = { service, company, whole, settled, idleMemory, say };
    const rows = [
      ...(await measureCreation(scene, coldMs)),
      ...(await measureUnchanged(scene)),
      ...(await measureUpdates(scene)),
      ...memory,
      ...(await measureOthers(scene)),
      ...(await measureTwoAtOnce(scene)),
    ];
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
}

/**
 * First of all, while nothing has grown yet: what a new installation goes through, a small push and then everybody.
 * Returns the account that holds the company, the time of its creation, and the lines about memory.
 */
async function measureFirstHour(service: Service, company: Company, whole: Buffer, say: Say) {
  const [small, settled] = [await newAccount(service), await newAccount(service)];
  await push(service, small, bodyOf(makeCompany(10)), { created: 10 });
  await sleep(500);
  const idle = service.memory.now() ?? 0;
  const rows: Row[] = [];
  async function watch(what: string, times: number, changes: Partial<Summary['users']>): Promise<number> {
    const endWatch = service.memory.watch();
    const [ms] = await timed(async () => {
      for (let i = 0; i < times; i++) await push(service, settled, whole, changes);
    });
    const peak = endWatch();
    if (!peak) return ms;
    const more = peak.service - idle;
    say(`memory, ${what}: ${megabytes(more)} above ${megabytes(idle)}`);
    rows.push(
      {
        what: `Memory, ${what}: peak of the service above idle (floor: idle)`,
        measured: megabytes(more),
        floor: megabytes(idle),
        demand: '≤ 400 MB',
        holds: more <= 400e6,
      },
      { what: `Memory, ${what}: peak of PostgreSQL's processes`, measured: megabytes(peak.database) },
    );
    return ms;
  }
  const coldMs = await watch('first creation', 1, { created: company.users.length });
  await watch('nothing changed, 5 times', 5, { unchanged: company.users.length });
  return { settled, idleMemory: idle, coldMs, rows };
}

/** The floor: the rows that the push has written, written once more by COPY alone, for another account. */
async function measureCreation({ service, company, whole, say }: Scene, coldMs: number): Promise<Row[]> {
  const pushes: number[] = [];
  const floor: number[] = [];
  for (let round = 1; round <= 5; round++) {
    const [pushed, copied] = [await newAccount(service), await newAccount(service)];
    const [ms] = await timed(() => push(service, pushed, whole, { created: company.users.length }));
    pushes.push(ms);
    const tables = await rowsWritten(service.pool, pushed, copied);
    const [copying] = await timed(() => copyTables(service.pool, tables));
    floor.push(copying);
    say(`first creation ${round}: ${time(ms)}, COPY ${time(copying)}`);
  }
  return [
    against('First creation of 20,000 users (floor: COPY of its rows)', pushes, floor, 2),
    against('– the very first of a new installation, after a push of 10 users', [coldMs], floor, 3),
  ];
}

type TableRows = { table: string; columns: string[]; rows: (string | number | null)[][] };

/** All that a first push has written for an account, as rows for another one. */
async function rowsWritten(pool: Pool, from: Account, to: Account): Promise<TableRows[]> {
  const tables: TableRows[] = [];
  for (const table of ['groups', 'users', 'memberships', 'runs', 'run_changes']) {
    const names = await pool<{ name: string }[]>`
      select attname as name
      from   pg_attribute
      where  attrelid = ${table}::regclass and attnum > 0 and not attisdropped
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

/** The floor: a bare route that takes the same bytes, parses them, and reads the rows to compare them with. */
async function measureUnchanged({ service, company, whole, settled, say }: Scene): Promise<Row[]> {
  const pushes: number[] = [];
  const floor: number[] = [];
  const parsing: number[] = [];
  for (let round = 0; round < 25; round++) {
    const [ms] = await timed(() => push(service, settled, whole, { unchanged: company.users.length }));
    const [least] = await timed(() => service.floor(settled, whole));
    const [parse] = await timed(() => JSON.parse(whole.toString()) as unknown);
    if (round < 5) continue; // both are new to it
    pushes.push(ms);
    floor.push(least);
    parsing.push(parse);
  }
  say(`nothing changed: ${time(median(pushes))}, floor ${time(median(floor))}`);
  return [
    against(
      'The same again, nothing changed (floor: a route that parses it and reads the state)',
      pushes,
      floor,
      1.5,
    ),
    { what: '– of both: JSON.parse', measured: time(median(parsing)) },
  ];
}

async function measureUpdates({ service, company, settled, say }: Scene): Promise<Row[]> {
  const dry: number[] = [];
  const real: number[] = [];
  for (let round = 0; round < 6; round++) {
    // Each round gives the same 1,000 users another name than they have.
    const changed = renamed(company, 1000, `round-${round}`);
    const [dryBody, realBody] = [bodyOf(changed, { ...most, validateOnly: true }), bodyOf(changed)];
    const changes = { updated: 1000, unchanged: company.users.length - 1000 };
    dry.push((await timed(() => push(service, settled, dryBody, changes)))[0]);
    real.push((await timed(() => push(service, settled, realBody, changes)))[0]);
  }
  say(`1,000 updates: dry ${time(median(dry))}, real ${time(median(real))}`);
  return [
    { what: '1,000 of 20,000 users changed, dry run', measured: time(median(dry)) },
    { what: '1,000 of 20,000 users changed, applied', measured: time(median(real)) },
  ];
}

/** What another account's reader notices of pushes of every kind, one after another. The floor: no pushes. */
async function measureOthers({ service, company, whole, idleMemory, say }: Scene): Promise<Row[]> {
  const reader = await newAccount(service);
  await push(service, reader, bodyOf(makeCompany(100)), { created: 100 }); // ten groups
  const ask = () => service.askSteadily('/v1/groups', reader.token, 50);
  const changed = bodyOf(renamed(company, 1000, 'changed'));
  const endIdle = ask();
  await sleep(6000);
  const idle = await endIdle();

  const endBusy = ask();
  const endWatch = service.memory.watch();
  await sleep(1500); // its own start is not counted
  for (const until = performance.now() + 21_000; performance.now() < until;) {
    const account = await newAccount(service);
    await push(service, account, whole, { created: company.users.length });
    await push(service, account, whole, { unchanged: company.users.length });
    await push(service, account, changed, { updated: 1000 });
    await push(service, account, whole, { updated: 1000 });
    await push(service, account, whole, { unchanged: company.users.length });
  }
  const peak = endWatch();
  const busy = await endBusy();
  say(`others meanwhile: ${busy.length} requests, 99 % within ${time(percentile(busy, 0.99))}`);
  const row = (what: string, of: (times: number[]) => number): Row => ({
    what: `GET /v1/groups of others during pushes, ${what} (floor: no pushes)`,
    measured: time(of(busy)),
    floor: time(of(idle)),
    ratio: `${(of(busy) / of(idle)).toFixed(1)}×`,
  });
  const p99 = percentile(busy, 0.99);
  return [
    row('median', median),
    { ...row('99 %', (times) => percentile(times, 0.99)), demand: '≤ 250 ms', holds: p99 <= 250 },
    row('longest', (times) => Math.max(...times)),
    ...(peak
      ? [
          {
            what: 'Memory, those pushes: peak of the service above idle (floor: idle)',
            measured: megabytes(peak.service - idleMemory),
            floor: megabytes(idleMemory),
          },
        ]
      : []),
  ];
}

/** Small pushes to another account, one after another, while a first creation runs. */
async function measureTwoAtOnce({ service, company, whole, say }: Scene): Promise<Row[]> {
  const [large, small] = [await newAccount(service), await newAccount(service)];
  const bodies = ['Anna', 'Åsa'].map((lastName) => {
    const { groups, users } = makeCompany(1);
    return bodyOf({ groups, users: users.map((user) => ({ ...user, lastName })) });
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
  await sleep(50);
  for (; state.isRunning; pushed++) beside.push((await timed(() => pushSmall(pushed)))[0]);
  const [creation] = await running;
  const longest = Math.max(...beside);
  say(
    `two accounts at once: ${beside.length} small pushes within ${time(longest)} beside one of ${time(creation)}`,
  );
  return [
    {
      what: `Push of 1 user during a first creation (${time(creation)}) of another account, longest (floor: alone)`,
      measured: time(longest),
      floor: time(median(alone)),
      ratio: `${(longest / median(alone)).toFixed(1)}×`,
      demand: '< ⅓ of the creation',
      holds: longest < creation / 3,
    },
    {
      what: '– median',
      measured: time(median(beside)),
      floor: time(median(alone)),
      ratio: `${(median(beside) / median(alone)).toFixed(1)}×`,
    },
  ];
}

const newAccount = (service: Service) => service.account(attribute);

const bodyOf = (data: Company, settings = most) => Buffer.from(JSON.stringify({ settings, data }));

/** Pushes, and makes sure that what was measured is what was meant: the changes that the report must tell. */
async function push(
  service: Service,
  { token }: Account,
  whole: Buffer,
  expected: Partial<Summary['users']>,
): Promise<void> {
  const { status, body } = await service.post('/v1/organization/organization', token, whole);
  const text = body.toString();
  const users = status === 200 ? (JSON.parse(text) as Report).summary.users : undefined;
  for (const [name, count] of Object.entries(expected)) {
    if (users?.[name as keyof typeof users] === count) continue;
    throw new Error(`A push had to tell of ${name} ${count}. The answer was ${status} ${text.slice(0, 300)}`);
  }
}
