// The data interface with up to 5 million answers, in accounts of 20,000 people and 2,000 groups: importing, storage, reading
// (floor: sending the same bytes from memory) and closing a week.
// Run one at a time, because parallel runs would affect each other's times.
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { copyInto, inTransaction } from '@soundings/server/src/db/db.ts';
import { WeekKey } from '@soundings/server/src/sealing/week-key.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import { attribute, type Company, makeCompany } from './company.ts';
import { writeHistory } from './history.ts';
import { percentile, type BenchRow, time, timed } from './measuring/measure.ts';
import { pushBodyOf, push } from './push.ts';
import {
  chooseGroups,
  type Effort,
  type Filled,
  groupIds,
  measureOtherReads,
  measureRate,
  measureReads,
  measureStream,
  type ReadSetup,
} from './measuring/reads.ts';
import type { BenchAccount, Exited, Service } from './measuring/service.ts';

/**
 * The sizes of the accounts, from the fewest answers to the most, and how thoroughly to read. `recent`: the number of answers in
 * each of the last five weeks, which are the same in all accounts so that their responses are comparable.
 */
type Plan = Effort & {
  users: number;
  groups: number;
  recent: number;
  sizes: { answers: number; weeks: number }[];
};

const wholePlan: Plan = {
  users: 20_000,
  groups: 2_000,
  recent: 20_000,
  sizes: [
    { answers: 100_000, weeks: 5 },
    { answers: 1_000_000, weeks: 50 },
    { answers: 5_000_000, weeks: 156 },
  ],
  rounds: 4,
  seconds: 1,
  connections: 8,
  steady: ['KPI values', 'Response rates', 'Results', 'Asked questions'],
  timeScale: 1,
};

const smokePlan: Plan = {
  users: 200,
  groups: 20,
  recent: 500,
  sizes: [{ answers: 2_500, weeks: 5 }],
  rounds: 1,
  seconds: 0.001,
  connections: 2,
  steady: ['Results'],
  timeScale: 0.02,
};

export const dataPlans: Plans<Plan> = { whole: wholePlan, smoke: smokePlan };

/** Smaller accounts, for experiments. The targets for 5 million answers don't apply to them. */
export const smallDataPlans: Plans<Plan> = {
  whole: {
    ...wholePlan,
    sizes: [
      { answers: 100_000, weeks: 5 },
      { answers: 200_000, weeks: 10 },
    ],
    rounds: 2,
    seconds: 0.4,
  },
  smoke: smokePlan,
};

const perWeek = 5;
const figureTables = ['results', 'response_rates', 'kpi_values', 'comments', 'comment_groups', 'asked'];

type Scene = { service: Service; plan: Plan; company: Company; thisWeek: Week; say: Say };

/** Measures importing answers, reading them, and closing a week. */
export const benchData: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const company = makeCompany({ users: plan.users, groups: plan.groups, oneTop: true });
    const scene = { service, plan, company, thisWeek: weekOf(dayIn('UTC', Date.now())), say };
    const accounts: BenchAccount[] = [];
    const rows: BenchRow[] = [];
    for (const size of plan.sizes) {
      const account = await newAccount(scene);
      accounts.push(account);
      rows.push(...(await measureImport(scene, account, size)));
    }
    rows.push(...(await measureReading(scene, accounts)));
    rows.push(...(await measureClosing(scene, accounts[0] as BenchAccount)));
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

async function newAccount({ service, company }: Scene): Promise<BenchAccount> {
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  return account;
}

async function measureImport(
  scene: Scene,
  account: BenchAccount,
  size: { answers: number; weeks: number },
): Promise<BenchRow[]> {
  const { service, plan, thisWeek, say } = scene;
  const before = await storage(service);
  const history = { ...size, perWeek, last: addWeeks(thisWeek, -1), recent: plan.recent };
  const ran = await importHistory(scene, account, history);
  const { answers } = ran.result as { answers: number };
  say(`import of ${millions(answers)}: ${time(ran.ms)}, ${memoryText(ran)}`);
  const after = await storage(service);
  const [figures, whole] = [after.figures - before.figures, after.whole - before.whole];
  const isLargest = size.answers >= 5e6;
  const memory = (ran.memory?.own ?? 0) + (ran.memory?.database ?? 0);
  const name = `${millions(answers)} answers, ${size.weeks} weeks`;
  return [
    {
      what: `Importing and publishing ${name}`,
      measured: time(ran.ms),
      ...(isLargest && { target: '≤ 5 min', met: ran.ms <= 300_000 }),
    },
    {
      what: `– memory: ${memoryText(ran)}`,
      measured: sizeText(memory),
      ...(isLargest && ran.memory && { target: '≤ 1 GB', met: memory <= 1e9 }),
    },
    {
      what: `– storage per answer: tables and indexes of the figures, after vacuum (${sizeText(figures)})`,
      measured: `${Math.round(figures / answers)} B`,
    },
    {
      what: `– growth of the whole database per answer (${sizeText(whole)})`,
      measured: `${Math.round(whole / answers)} B`,
    },
  ];
}

/** Imports a history with the soundings command, as a separate process. */
async function importHistory(
  { service, company, say }: Scene,
  { id }: BenchAccount,
  history: Parameters<typeof writeHistory>[2],
): Promise<Exited> {
  const file = join(service.dataDir, 'history.ndjson');
  const [writing] = await timed(() => writeHistory(file, company, history));
  say(`a history of ${millions(history.answers)} answers is written: ${time(writing)}`);
  const ran = await service.command('history', 'import', '--account', String(id), file);
  await rm(file);
  // Otherwise autovacuum would run during the next step.
  await service.pool`vacuum analyze`;
  return ran;
}

async function storage({ pool }: Service): Promise<{ figures: number; whole: number }> {
  const [sizes] = await pool<{ figures: string; whole: string }[]>`
    select sum(pg_total_relation_size(name::regclass)) as figures, pg_database_size(current_database()) as whole
    from   unnest(${figureTables}::text[]) as name`;
  return { figures: Number(sizes?.figures), whole: Number(sizes?.whole) };
}

const memoryText = ({ memory }: Exited) =>
  memory
    ? `the command ${sizeText(memory.own)}, PostgreSQL's processes ${sizeText(memory.database)}`
    : 'unknown';

const millions = (count: number) => `${(count / 1e6).toFixed(count < 1e6 ? 2 : 1)} million`;

async function measureReading(scene: Scene, accounts: BenchAccount[]): Promise<BenchRow[]> {
  const { plan, company, thisWeek, say } = scene;
  // These are new processes, because the process that received the pushes still uses memory from them.
  const [service, uncached] = await Promise.all([
    scene.service.another(),
    scene.service.another({ RESPONSE_CACHE_MB: '0' }),
  ]);
  const names = chooseGroups(company);
  const filled: Filled[] = [];
  let counts = { one: 0, some: 0, all: 0 };
  for (const [i, account] of accounts.entries()) {
    const found = await groupIds(service, account, names);
    counts = found.counts;
    filled.push({ account, groups: found.ids, ...(plan.sizes[i] as Plan['sizes'][number]) });
  }
  const { first: floor } = await scene.service.beside('bytes.ts', scene.service.databaseUrl, service.address);
  const load = await scene.service.beside('load.ts');
  const others = await service.requestSteadily('/health/live', '', 50, 1000 * plan.timeScale);
  const last = addWeeks(thisWeek, -1);
  const common = { service, uncached, floor: floor as string, load, others, accounts: filled, last, say };
  const reading: ReadSetup = { ...common, effort: plan };
  const rows = [
    ...(await measureStream(reading)),
    ...(await measureReads(reading, counts)),
    ...(await measureOtherReads(reading)),
    ...(await measureRate(reading, counts)),
  ];
  await others.end();
  await service.stop();
  await uncached.stop();
  return rows;
}

/** Closes a week in which everyone has answered everything, once with the command and once with the service's job. */
async function measureClosing(scene: Scene, reader: BenchAccount): Promise<BenchRow[]> {
  const { service, company, thisWeek } = scene;
  const history = { answers: company.users.length * perWeek, weeks: 1, perWeek, last: thisWeek };
  const opened: BenchAccount[] = [];
  for (let i = 0; i < 2; i++) {
    const account = await newAccount(scene);
    await importHistory(scene, account, history);
    opened.push(account);
  }
  const [first, second] = opened as [BenchAccount, BenchAccount];
  const byCommand = async () => {
    await service.command('week', 'close', '--account', String(first.id), '--week', weekName(thisWeek));
  };
  return [
    ...(await measureClosingBy('the command', byCommand, scene, reader)),
    ...(await measureClosingBy("the service's own job", await jobOf(scene, second), scene, reader)),
  ];
}

async function measureClosingBy(
  by: string,
  close: () => Promise<void>,
  { service, plan, company, say }: Scene,
  reader: BenchAccount,
): Promise<BenchRow[]> {
  const steady = await service.requestSteadily('/v1/kpis', reader.token, 50, 1000 * plan.timeScale);
  await sleep(2000 * plan.timeScale);
  const idle = await steady.cut(1);
  const [ms] = await timed(close);
  const busy = await steady.end();
  const p99 = percentile(busy, 0.99);
  const people = company.users.length.toLocaleString('en');
  const groups = company.groups.length.toLocaleString('en');
  say(`closing by ${by}: ${time(ms)}, others 99% ${time(p99)}, longest ${time(Math.max(...busy))}`);
  return [
    {
      what: `Closing a week of ${people} people, ${perWeek} questions and ${groups} groups, by ${by}`,
      measured: time(ms),
      target: '≤ 20 s',
      met: ms <= 20_000,
    },
    {
      what: '– GET /v1/kpis by others meanwhile, 99th percentile (floor: no closing)',
      measured: time(p99),
      floor: time(percentile(idle, 0.99)),
      target: '≤ 250 ms',
      met: p99 <= 250,
    },
    { what: '– longest', measured: time(Math.max(...busy)), floor: time(Math.max(...idle)) },
  ];
}

/** Moves the week into the past, so that it has ended, and returns a function that runs its closing job immediately. */
async function jobOf(scene: Scene, { id }: BenchAccount): Promise<() => Promise<void>> {
  const { pool } = scene.service;
  await moveBack(scene, id);
  await pool`vacuum analyze`;
  return async () => {
    await pool`select graphile_worker.add_job('close weeks')`;
    for (let isOpen = true; isOpen;) {
      await sleep(20);
      const rows = await pool`select 1 from weeks where account_id = ${id} and closed_at is null`;
      isOpen = rows.length > 0;
    }
  };
}

/** Moves this week with all its data to the previous week. Answers are encrypted for their week, so they are encrypted again. */
async function moveBack({ service: { pool, keys }, thisWeek }: Scene, id: number): Promise<void> {
  const before = addWeeks(thisWeek, -1);
  const key = await keys.of(pool, id, thisWeek);
  if (!key) throw new Error('The week has no key.');
  const moved = new WeekKey(id, before, key.secret);
  await inTransaction(pool, async (tx) => {
    const answers = await tx<{ respondent: string; importBatch: number; sealed: Buffer }[]>`
      delete from answers where account_id = ${id} returning respondent, import_batch as "importBatch", sealed`;
    await tx`delete from week_keys where account_id = ${id}`;
    await tx`
      with moved_rounds as (update rounds set week = ${before} where account_id = ${id}),
           moved_asked as (update asked set week = ${before} where account_id = ${id}),
           moved_people as (update assignments set week = ${before} where account_id = ${id})
      update weeks set week = ${before} where account_id = ${id}`;
    await keys.keep(tx, id, before, moved);
    const rows = answers.map(({ respondent, importBatch, sealed }) => {
      const again = moved.seal(respondent, key.open(respondent, sealed));
      return [id, before, respondent, importBatch, again];
    });
    await copyInto(tx`copy answers (account_id, week, respondent, import_batch, sealed) from stdin`, rows);
  });
}
