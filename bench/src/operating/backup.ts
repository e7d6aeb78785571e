// Backup and restore of a whole installation while it is used: the figures of up to 5 million answers of 20,000 people. The floor is
// COPY of the same tables to and from files that are not compressed and have no checksums, in the same run.
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { readBackup } from '@soundings/server/src/backup/read-backup.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import {
  copyIntoTable,
  copyTable,
  dropForeignKeys,
  emptyTables,
  enableTriggers,
  selectTables,
} from '@soundings/server/src/db/catalogue.ts';
import { inTransaction, openPool, type Pool } from '@soundings/server/src/db/db.ts';
import { openEmbedded } from '@soundings/server/src/db/embedded.ts';
import { createSchemaOf, migrations } from '@soundings/server/src/db/migrate.ts';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { attribute, makeCompany } from '../company.ts';
import { writeHistory } from '../history.ts';
import { against, type BenchRow, percentile, time, timed } from '../measuring/measure.ts';
import type { Plans, Say, Sized } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import { push, pushBodyOf } from '../push.ts';

type Plan = {
  users: number;
  groups: number;
  answers: number;
  weeks: number;
  rounds: number;
  timeScale: number;
  /** Whether the second database may lose its data in a crash, which takes less time. */
  fast: boolean;
};

export const backupPlans: Plans<Plan> = {
  whole: {
    users: 20_000,
    groups: 2_000,
    answers: 5_000_000,
    weeks: 156,
    rounds: 3,
    timeScale: 1,
    fast: false,
  },
  smoke: { users: 100, groups: 20, answers: 500, weeks: 2, rounds: 1, timeScale: 0.02, fast: true },
};

type Scene = {
  service: Service;
  plan: Plan;
  say: Say;
  folder: string;
  /** Another embedded database, which is empty. */
  second: { url: string };
};

/** Measures creating, verifying and restoring a backup. */
export const benchBackup: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  const folder = join(service.dataDir, 'bench-backup');
  await mkdir(folder, { recursive: true });
  try {
    const token = await fillAccount(service, plan, folder, say);
    const second = await openEmbedded(join(folder, 'second'), {
      role: 'command',
      log: () => {},
      fast: plan.fast,
    });
    try {
      const scene = { service, plan, say, folder, second };
      const steady = await service.requestSteadily('/v1/kpis', token, 50, 1000 * plan.timeScale);
      try {
        return { rows: await measure(scene, () => steady.cut(1)), postgres: service.postgres };
      } finally {
        await steady.end();
      }
    } finally {
      await second.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    await service.stop();
  }
};

/** Creates an account with a history, and returns its token. */
async function fillAccount(service: Service, plan: Plan, folder: string, say: Say): Promise<string> {
  const company = makeCompany({ users: plan.users, groups: plan.groups, oneTop: true });
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  const file = join(folder, 'history.ndjson');
  const last = addWeeks(weekOf(dayIn('UTC', Date.now())), -1);
  await writeHistory(file, company, { answers: plan.answers, weeks: plan.weeks, perWeek: 5, last });
  const { ms } = await service.command('history', 'import', '--account', String(account.id), file);
  await rm(file);
  say(`the history was imported in ${time(ms)}`);
  await service.pool`vacuum analyze`;
  return account.token;
}

async function measure(scene: Scene, cut: () => Promise<number[]>): Promise<BenchRow[]> {
  const { service, plan, say, folder } = scene;
  const times = {
    backup: [] as number[],
    out: [] as number[],
    restore: [] as number[],
    into: [] as number[],
  };
  const path = join(folder, 'whole.soundings');
  let memory = 0;
  const [idle, busy]: [number[], number[]] = [await cut(), []];
  for (let round = 0; round < plan.rounds; round++) {
    // The floors are measured between, so that both meet the same state of the disk and the caches.
    const plain = join(folder, 'plain');
    times.out.push((await timed(() => copyOutTo(service.pool, plain)))[0]);
    await cut();
    const ran = await service.command('backup', path);
    times.backup.push(ran.ms);
    memory = Math.max(memory, ran.memory?.own ?? 0);
    busy.push(...(await cut()));
    times.into.push(await inSecond(scene, (url) => copyFrom(url, service.pool, plain)));
    const restored = await restoreInto(scene, round, path);
    times.restore.push(restored.ms);
    memory = Math.max(memory, restored.memory?.own ?? 0);
    await rm(plain, { recursive: true });
    say(
      `backup ${time(ran.ms)}, COPY ${time(times.out.at(-1)!)}; restore ${time(restored.ms)}, COPY ${time(times.into.at(-1)!)}`,
    );
  }
  const [verifying, contents] = await timed(() => readBackup(path));
  const whole = contents.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const { size } = await stat(path);
  const what = `of ${contents.rows.toLocaleString('en')} rows (${sizeText(whole)})`;
  return [
    {
      ...against(`Backup ${what}, with requests meanwhile`, times.backup, times.out, 1.5),
      memory: sizeText(memory),
    },
    against(`Restore ${what}`, times.restore, times.into, 1.5),
    { what: '– verifying', measured: time(verifying) },
    { what: '– size of the file', measured: sizeText(size) },
    {
      what: '– GET /v1/kpis during a backup, 99th percentile (floor: no backup)',
      measured: time(percentile(busy, 0.99)),
      floor: time(percentile(idle, 0.99)),
    },
  ];
}

/** Copies every table to a file, as they were at one moment. */
async function copyOutTo(pool: Pool, folder: string): Promise<void> {
  await mkdir(folder);
  await inTransaction(pool, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    for (const table of await selectTables(tx)) {
      if (table.of === 'jobs') continue;
      await pipeline(copyTable(tx, table, {}), createWriteStream(join(folder, table.name)));
    }
  });
}

/** Copies those files into new tables of the same schema, in one transaction and as fast as PostgreSQL can. */
async function copyFrom(url: string, source: Pool, folder: string): Promise<void> {
  const tables = (await selectTables(source)).filter(({ of }) => of === 'soundings');
  const pool = openPool(url, 1);
  try {
    await inTransaction(pool, async (tx) => {
      await createSchemaOf(tx, migrations().at(-1)?.version ?? 0);
      const foreignKeys = await dropForeignKeys(tx);
      await emptyTables(tx, tables);
      for (const table of tables) {
        const file = createReadStream(join(folder, table.name), { highWaterMark: 1024 * 1024 });
        await copyIntoTable(tx, table, file as AsyncIterable<Buffer>);
      }
      for (const create of foreignKeys) await tx.unsafe(create);
      await enableTriggers(tx, tables);
    });
  } finally {
    await pool.end({ timeout: 5 });
  }
}

/** Returns how long the work in the second database took, in ms, and empties that database. */
async function inSecond({ second }: Scene, work: (databaseUrl: string) => Promise<void>): Promise<number> {
  const [ms] = await timed(() => work(second.url));
  const pool = openPool(second.url, 1);
  try {
    await pool.unsafe(
      'drop schema public cascade; drop schema if exists graphile_worker cascade; create schema public',
    );
  } finally {
    await pool.end({ timeout: 5 });
  }
  return ms;
}

/** Restores with the soundings command into the second database, which is running. */
async function restoreInto(scene: Scene, round: number, path: string) {
  let ran: Awaited<ReturnType<Service['command']>> | undefined;
  await inSecond(scene, async (databaseUrl) => {
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: join(scene.folder, `keys_${round}`) };
    ran = await scene.service.commandWith(env, 'restore', path);
  });
  return ran!;
}
