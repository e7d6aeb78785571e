// Reading the figures of all groups over years, uncached, as BI tools do every night, and of one group. The floor sends the same bytes from memory.
// Run one at a time, because parallel runs would affect each other's times.
import { addWeeks, dayIn, lastDay, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { buildFragments } from '@soundings/server/src/results/fragments/build-fragments.ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attribute, makeCompany } from '../company.ts';
import { writeHistory } from '../history.ts';
import { fillWeeks } from './figures.ts';
import { type BenchRow, median, percentile, ratioText, time, timed } from '../measuring/measure.ts';
import type { Plans, Sized } from '../measuring/plans.ts';
import { chooseGroups, groupIds } from '../measuring/reads.ts';
import type { BenchAccount, Beside, Service, ServiceProcess } from '../measuring/service.ts';
import type { LoadResult } from '../processes/load.ts';
import { pushBodyOf, push } from '../push.ts';

type Plan = { users: number; groups: number; weeks: number; rounds: number; seconds: number };

export const readingPlans: Plans<Plan> = {
  whole: { users: 2_000, groups: 2_000, weeks: 156, rounds: 3, seconds: 0.5 },
  smoke: { users: 40, groups: 10, weeks: 60, rounds: 1, seconds: 0.001 },
};

const endpoints = {
  'KPI values': '/v1/kpis/kpi-0/values',
  'Response rates': '/v1/responserates/values',
  Results: '/v1/results',
  'Asked questions': '/v1/askedquestions',
};

type Scene = {
  service: Service;
  plan: Plan;
  account: BenchAccount;
  ids: Awaited<ReturnType<typeof groupIds>>['ids'];
  last: Week;
  uncached: ServiceProcess;
  floor: string;
  load: Beside;
};

/** Measures building fragments, and reading them. */
export const benchReading: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const { account, names, last } = await filled(service, plan);
    say('the account is filled');
    const uncached = await service.another({ RESPONSE_CACHE_MB: '0' });
    const { ids } = await groupIds(uncached, account, names);
    const { first: floor } = await service.beside('bytes.ts', service.databaseUrl, service.address);
    const load = await service.beside('load.ts');
    const scene: Scene = { service, plan, account, ids, last, uncached, floor: floor as string, load };
    const [building] = await timed(() => buildFragments(service.pool, account.id));
    await service.pool`vacuum analyze fragments`;
    const [sizes] = await service.pool<{ bytes: string; figures: string }[]>`
      select pg_total_relation_size('fragments') as "bytes",
             (select sum(pg_total_relation_size(name::regclass))
              from unnest(array['results', 'kpi_values', 'response_rates', 'asked']) as name) as "figures"`;
    const rows = await measureAll(scene, say);
    await uncached.stop();
    return {
      postgres: service.postgres,
      rows: [
        ...rows,
        {
          what: `Building the fragments of ${plan.weeks} weeks (${sizeText(Number(sizes?.bytes))}; figures ${sizeText(Number(sizes?.figures))})`,
          measured: time(building),
        },
      ],
    };
  } finally {
    await service.stop();
  }
};

type FilledAccount = { account: BenchAccount; names: ReturnType<typeof chooseGroups>; last: Week };

/** Returns a filled account. In a directory that stays, fills it only if it isn't yet. */
async function filled(service: Service, plan: Plan): Promise<FilledAccount> {
  const path = join(service.dataDir, 'reading.json');
  if (service.kept && existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as FilledAccount;
  const account = await fill(service, plan);
  if (service.kept) writeFileSync(path, JSON.stringify(account));
  return account;
}

async function fill(service: Service, plan: Plan): Promise<FilledAccount> {
  const company = makeCompany({ users: plan.users, groups: plan.groups, oneTop: true });
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  const last = addWeeks(weekOf(dayIn('UTC', Date.now())), -1);
  const path = join(service.dataDir, 'reading.ndjson');
  // A week before the others, for the questions and KPIs.
  const history = { answers: company.users.length, weeks: 1, perWeek: 5, last: addWeeks(last, -plan.weeks) };
  await writeHistory(path, company, history);
  await service.command('history', 'import', '--account', String(account.id), path);
  await rm(path);
  await fillWeeks(service, account.id, { weeks: plan.weeks, last });
  return { account, names: chooseGroups(company), last };
}

async function measureAll(scene: Scene, say: (progress: string) => void): Promise<BenchRow[]> {
  const { plan } = scene;
  const [all, others]: [BenchRow[], BenchRow[]] = [[], []];
  for (const [name, path] of Object.entries(endpoints)) {
    const rows = await measureLarge(
      scene,
      `${name}, ${plan.groups.toLocaleString('en')} groups × ${plan.weeks} weeks`,
      path,
    );
    say(rows.map(({ what, measured, floor, ratio }) => [what, measured, floor, ratio].join(' ')).join('; '));
    all.push(...rows);
  }
  for (const [name, path] of Object.entries(endpoints)) {
    for (const weeks of [5, plan.weeks]) {
      const address = pathOf(scene, path, 'one', weeks);
      const [own, floor] = await alternately(scene, address, 8);
      const ratio = median(floor.times) / median(own.times);
      others.push({
        what: `${name}, one group × ${weeks} weeks (${sizeText(own.bytes)})`,
        measured: time(median(own.times)),
        floor: time(median(floor.times)),
        ratio: ratioText(ratio),
        target: '≥ 0.5×',
        met: ratio >= 0.5,
      });
      say(Object.values(others.at(-1) as BenchRow).join(' '));
    }
  }
  others.push(await measureSteadily(scene));
  return [...all, ...others];
}

function pathOf({ ids, last }: Scene, path: string, scope: 'one' | 'some' | 'all', weeks: number): string {
  const query = new URLSearchParams({
    groupId: String(ids[scope]),
    ...(scope !== 'one' && { includeSubgroups: 'true' }),
    fromDate: addWeeks(last, 1 - weeks),
    toDate: lastDay(last),
  });
  return `${path}?${query}`;
}

async function measureLarge(scene: Scene, what: string, path: string): Promise<BenchRow[]> {
  const { uncached, plan } = scene;
  const idle = uncached.memory.now() ?? 0;
  const endWatch = uncached.memory.watch();
  const [own, floor] = await alternately(scene, pathOf(scene, path, 'all', plan.weeks), 1);
  const memory = (endWatch()?.own ?? 0) - idle;
  const ratio = median(floor.times) / median(own.times);
  return [
    {
      what: `${what} (${sizeText(own.bytes)})`,
      measured: time(median(own.times)),
      floor: time(median(floor.times)),
      ratio: ratioText(ratio),
      memory: sizeText(memory),
      target: '≥ 0.3×, ≤ 50 MB',
      met: ratio >= 0.3 && memory <= 50e6,
    },
  ];
}

type Times = { times: number[]; bytes: number };

/** Requests an address from the service and from the floor in turn. */
async function alternately(
  { uncached, floor, load, account, plan }: Scene,
  path: string,
  connections: number,
): Promise<[own: Times, floor: Times]> {
  const of = (address: string) => ({ address, times: [] as number[], bytes: 0 });
  const all: [ReturnType<typeof of>, ReturnType<typeof of>] = [of(uncached.address), of(floor)];
  for (let round = -1; round < plan.rounds; round++) {
    for (const one of all) {
      const loaded = (await load.request({
        address: one.address + path,
        headers: { authorization: account.token },
        status: 200,
        connections,
        seconds: connections === 1 || round < 0 ? 0 : plan.seconds,
        atLeast: 1,
      })) as LoadResult;
      if ('error' in loaded) throw new Error(loaded.error);
      one.bytes = loaded.bytes;
      if (round >= 0) one.times.push(...loaded.times);
    }
  }
  return all;
}

async function measureSteadily(scene: Scene): Promise<BenchRow> {
  const { uncached, account, plan } = scene;
  const path = pathOf(scene, endpoints.Results, 'some', 5);
  const steady = await uncached.requestSteadily(path, account.token, 20, 1000 * plan.seconds);
  await new Promise((resolve) => setTimeout(resolve, 4000 * plan.seconds));
  const p99 = percentile(await steady.end(), 0.99);
  return {
    what: 'Results, about 300 groups × 5 weeks, 20 requests a second, 99th percentile',
    measured: time(p99),
    target: '≤ 50 ms',
    met: p99 <= 50,
  };
}
