// Interface A with up to 5 million answers behind it, in accounts of 20,000 people and 2,000 groups: bringing them in, what
// they take to keep, reading them beside a floor that sends the same bytes from memory, and closing a week.
// oxlint-disable no-await-in-loop -- accounts come one after another, or they would measure each other
import { addWeeks, dayIn, type Week, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attribute, type Company, makeCompany } from './company.ts';
import { writeHistory } from './history.ts';
import { megabytes, percentile, type Row, time, timed } from './measure.ts';
import { bodyOf, push } from './push.ts';
import {
  chooseGroups,
  type Effort,
  type Filled,
  groupIds,
  measureOtherReads,
  measureRate,
  measureReads,
  measureStream,
  type Reading,
} from './reads.ts';
import { type Account, type Ran, type Service, startService } from './service.ts';

type Say = (progress: string) => void;

/** How large the accounts are, from the fewest answers to the most, and how thorough the reading is. */
export type Plan = Effort & { sizes: { answers: number; weeks: number }[] };

export const wholePlan: Plan = {
  sizes: [
    { answers: 100_000, weeks: 5 },
    { answers: 1_000_000, weeks: 50 },
    { answers: 5_000_000, weeks: 156 },
  ],
  rounds: 4,
  seconds: 1,
};
/** To try something out: the demands that speak of 5 million answers are left out. */
export const smallPlan: Plan = {
  sizes: [
    { answers: 100_000, weeks: 5 },
    { answers: 200_000, weeks: 10 },
  ],
  rounds: 2,
  seconds: 0.4,
};

const perWeek = 5;
/** Answers in each of the last five weeks, the same ones in all accounts: what is read of them differs in nothing else. */
const recent = 20_000;
const figureTables = ['results', 'response_rates', 'kpi_values', 'comments', 'comment_groups', 'asked'];

type Scene = { service: Service; company: Company; thisWeek: Week; say: Say };

export const benchData = (plan: Plan) => async (say: Say) => {
  const service = await startService();
  try {
    const company = makeCompany({ users: 20_000, groups: 2_000, oneTop: true });
    const scene = { service, company, thisWeek: weekOf(dayIn('UTC', Date.now())), say };
    const accounts: Account[] = [];
    const rows: Row[] = [];
    for (const size of plan.sizes) {
      const account = await newAccount(scene);
      accounts.push(account);
      rows.push(...(await measureImport(scene, account, size)));
    }
    rows.push(...(await measureReading(scene, accounts, plan)));
    rows.push(...(await measureClosing(scene, accounts[0] as Account)));
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

async function newAccount({ service, company }: Scene): Promise<Account> {
  const account = await service.account(attribute);
  await push(service, account, bodyOf(company), { created: company.users.length });
  return account;
}

async function measureImport(
  scene: Scene,
  account: Account,
  size: { answers: number; weeks: number },
): Promise<Row[]> {
  const { service, thisWeek, say } = scene;
  const before = await storage(service);
  const history = { ...size, perWeek, last: addWeeks(thisWeek, -1), recent };
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
      ...(isLargest && { demand: '≤ 5 min', holds: ran.ms <= 300_000 }),
    },
    {
      what: `– memory: ${memoryText(ran)}`,
      measured: megabytes(memory),
      ...(isLargest && ran.memory && { demand: '≤ 1 GB', holds: memory <= 1e9 }),
    },
    {
      what: `– storage of an answer: tables and indexes of the figures, after vacuum (${megabytes(figures)})`,
      measured: `${Math.round(figures / answers)} B`,
    },
    {
      what: `– what the whole database has grown by, for each answer (${megabytes(whole)})`,
      measured: `${Math.round(whole / answers)} B`,
    },
  ];
}

/** By the command, as a process of its own. */
async function importHistory(
  { service, company, say }: Scene,
  { id }: Account,
  history: Parameters<typeof writeHistory>[2],
): Promise<Ran> {
  const file = join(service.dataDir, 'history.ndjson');
  const [writing] = await timed(() => writeHistory(file, company, history));
  say(`a history of ${millions(history.answers)} answers is written: ${time(writing)}`);
  const ran = await service.command('history', 'import', '--account', String(id), file);
  await rm(file);
  // Or the database would do so by itself, beside whatever comes next.
  await service.pool`vacuum analyze`;
  return ran;
}

async function storage({ pool }: Service): Promise<{ figures: number; whole: number }> {
  const [sizes] = await pool<{ figures: string; whole: string }[]>`
    select sum(pg_total_relation_size(name::regclass)) as figures, pg_database_size(current_database()) as whole
    from   unnest(${figureTables}::text[]) as name`;
  return { figures: Number(sizes?.figures), whole: Number(sizes?.whole) };
}

const memoryText = ({ memory }: Ran) =>
  memory
    ? `the command ${megabytes(memory.own)}, PostgreSQL's processes ${megabytes(memory.database)}`
    : 'unknown';

const millions = (count: number) => `${(count / 1e6).toFixed(count < 1e6 ? 2 : 1)} million`;

async function measureReading(scene: Scene, accounts: Account[], plan: Plan): Promise<Row[]> {
  const { company, thisWeek, say } = scene;
  // The one that has taken the pushes keeps some of their memory.
  const service = await scene.service.another();
  const forgetful = await scene.service.another({ ANSWER_CACHE_MB: '0' });
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
  const others = service.askSteadily('/health/live', '', 50);
  const last = addWeeks(thisWeek, -1);
  const common = { service, forgetful, floor: floor as string, load, others, accounts: filled, last, say };
  const reading: Reading = { ...common, effort: plan };
  const rows = [
    ...(await measureStream(reading)),
    ...(await measureReads(reading, counts)),
    ...(await measureOtherReads(reading)),
    ...(await measureRate(reading, counts)),
  ];
  await others.end();
  await service.stop();
  await forgetful.stop();
  return rows;
}

/** A week in which everybody has answered everything: closed by the command, and by the service's own job. */
async function measureClosing(scene: Scene, reader: Account): Promise<Row[]> {
  const { service, company, thisWeek } = scene;
  const history = { answers: company.users.length * perWeek, weeks: 1, perWeek, last: thisWeek };
  const opened: Account[] = [];
  for (let i = 0; i < 2; i++) {
    const account = await newAccount(scene);
    await importHistory(scene, account, history);
    opened.push(account);
  }
  const [first, second] = opened as [Account, Account];
  const byCommand = async () => {
    await service.command('week', 'close', '--account', String(first.id), '--week', weekName(thisWeek));
  };
  return [
    ...(await measureClosingBy('the command', byCommand, scene, reader)),
    ...(await measureClosingBy("the service's own job", await jobOf(scene, second), scene, reader)),
  ];
}

async function measureClosingBy(
  whom: string,
  close: () => Promise<void>,
  { service, say }: Scene,
  reader: Account,
): Promise<Row[]> {
  const asking = service.askSteadily('/v1/kpis', reader.token, 50);
  await sleep(3000);
  const idle = await asking.cut();
  const [ms] = await timed(close);
  const busy = await asking.end();
  const p99 = percentile(busy, 0.99);
  say(`closing by ${whom}: ${time(ms)}, others 99 % ${time(p99)}, longest ${time(Math.max(...busy))}`);
  return [
    {
      what: `Closing a week of 20,000 people, 5 questions and 2,000 groups, by ${whom}`,
      measured: time(ms),
      demand: '≤ 20 s',
      holds: ms <= 20_000,
    },
    {
      what: '– GET /v1/kpis of others meanwhile, 99 % (floor: nothing is closed)',
      measured: time(p99),
      floor: time(percentile(idle, 0.99)),
      demand: '≤ 250 ms',
      holds: p99 <= 250,
    },
    { what: '– longest', measured: time(Math.max(...busy)), floor: time(Math.max(...idle)) },
  ];
}

/** The week becomes one that has ended, and the job that would look for such within five minutes is called at once. */
async function jobOf({ service: { pool } }: Scene, { id }: Account): Promise<() => Promise<void>> {
  await pool`
    with moved_rounds as (update rounds set week = week - 7 where account_id = ${id}),
         moved_asked as (update asked set week = week - 7 where account_id = ${id}),
         moved_people as (update assignments set week = week - 7 where account_id = ${id}),
         moved_answers as (update answers set week = week - 7 where account_id = ${id})
    update weeks set week = week - 7 where account_id = ${id}`;
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
