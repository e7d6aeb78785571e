// Key drivers: how often planted drivers are found in simulated companies, how often unrelated KPIs are marked as clear, and how long
// 2,000 groups and 20 KPIs take, for the computation alone and as a response of the console.
// Run one at a time, because parallel runs would affect each other's times.
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import { agreementScale } from '@soundings/contract/question-types.ts';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { beginSession } from '@soundings/server/src/auth/sessions.ts';
import type { DriverInput } from '@soundings/server/src/results/statistics/driver-groups.ts';
import { computeDrivers } from '@soundings/server/src/results/statistics/drivers.ts';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { attribute, type Company, makeCompany } from './company.ts';
import { median, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import { pushBodyOf, push } from './push.ts';
import type { Service } from './measuring/service.ts';

/**
 * `companies`: how many companies of each kind are simulated. `users`, `groups` and `rounds`: the sizes of the account whose times
 * are measured.
 */
type Plan = { companies: number; users: number; groups: number; rounds: number };

export const driversPlans: Plans<Plan> = {
  whole: { companies: 1_000, users: 20_000, groups: 2_000, rounds: 3 },
  smoke: { companies: 3, users: 600, groups: 40, rounds: 1 },
};

const kpis = 20;
const outcome = 1_000;

export const benchDrivers: Sized<Plan> =
  ({ companies, ...size }) =>
  async (say, start) => {
    const rows: BenchRow[] = [];
    for (const groups of [20, 60, 200]) rows.push(...simulated(groups, companies, say));
    const largest = planted({ groups: size.groups, kpis, drivers: [0.8, 0.5], seed: 1 });
    const times: number[] = [];
    for (let i = 0; i < size.rounds; i++) times.push((await timed(() => computeDrivers(largest)))[0]);
    const count = size.groups.toLocaleString('en');
    rows.push({ what: `Computing, ${count} groups × ${kpis} KPIs`, measured: time(median(times)) });
    const service = await start();
    try {
      rows.push(await response(service, size, say));
      return { rows, postgres: service.postgres };
    } finally {
      await service.stop();
    }
  };

/** Returns figures of groups with 5 to 60 answers, whose KPIs have a fifth of their variance in common. */
function planted(wanted: { groups: number; kpis: number; drivers: number[]; seed: number }): DriverInput {
  const random = mulberry32(wanted.seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const common = wanted.drivers.length > 0 ? 0.2 : 0;
  const figures = Array.from({ length: wanted.groups }, (_, i) => {
    const answers = 5 + Math.floor(random() * 56);
    const shared = normal();
    const values = Array.from(
      { length: wanted.kpis },
      () => Math.sqrt(common) * shared + Math.sqrt(1 - common) * normal(),
    );
    const moved = values.reduce((sum, value, k) => sum + (wanted.drivers[k] ?? 0) * value, 0.6 * normal());
    // Groups differ by 0.08, and people within a group by 0.25.
    const shown = (value: number) => 0.6 + 0.08 * value + (0.25 / Math.sqrt(answers)) * normal();
    return {
      groupId: i + 1,
      figures: [...values, moved].map(
        (value, k) => [k === wanted.kpis ? outcome : k + 1, shown(value), answers] as const,
      ),
    };
  });
  return {
    parents: figures.map(({ groupId }) => [groupId, null]),
    figures,
    kpis: Array.from({ length: wanted.kpis }, (_, k) => ({ id: `kpi-${k}`, questionIds: [k + 1] })),
    outcome: [outcome],
  };
}

/** Counts marks in companies with two planted drivers among six KPIs, and in companies without any. */
function simulated(groups: number, companies: number, say: Say): BenchRow[] {
  let [found, first, clear, marked] = [0, 0, 0, 0];
  for (let seed = 1; seed <= companies; seed++) {
    const { drivers } = computeDrivers(planted({ groups, kpis: 6, drivers: [0.8, 0.5], seed }));
    if (drivers[0]?.kpiId === 'kpi-0') first++;
    if (['kpi-0', 'kpi-1'].every((id) => drivers.slice(0, 2).some(({ kpiId }) => kpiId === id))) found++;
    if (drivers.find(({ kpiId }) => kpiId === 'kpi-0')?.isClear) clear++;
    const nothing = computeDrivers(planted({ groups, kpis: 6, drivers: [], seed: seed + companies }));
    if (nothing.drivers.some(({ isClear }) => isClear)) marked++;
  }
  say(`${groups} groups simulated`);
  const share = (count: number) => `${((100 * count) / companies).toFixed(1)}%`;
  return [
    { what: `${groups} groups: the stronger of two drivers is first`, measured: share(first) },
    { what: '– both are the first two', measured: share(found) },
    { what: '– the stronger one is clear', measured: share(clear) },
    {
      what: '– companies with a clear KPI although none was planted',
      measured: share(marked),
      target: '≤ 8%',
      met: marked <= 0.08 * companies,
    },
  ];
}

/** Measures the first response of the page for each of several outcomes. No response has been computed before. */
async function response(
  service: Service,
  { users, groups, rounds }: Omit<Plan, 'companies'>,
  say: Say,
): Promise<BenchRow> {
  const company = makeCompany({ users, groups, oneTop: true });
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  const path = join(service.dataDir, 'drivers.ndjson');
  await writeWeek(path, company);
  await service.command('history', 'import', '--account', String(account.id), path);
  say('answers imported');
  const [administrator] = await service.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${account.id} and role = 'Administrator' and active and not role_pending limit 1`;
  const person = { accountId: account.id, userId: administrator?.id as number };
  const cookie = `soundings=${await beginSession(service.pool, person, { address: '127.0.0.1', agent: 'bench' })}`;
  const times: number[] = [];
  let compared = 0;
  for (let i = 0; i < rounds; i++) {
    const address = `${service.address}/api/results/drivers?outcome=kpi:kpi-${i}`;
    const [ms, read] = await timed(
      async () => (await fetch(address, { headers: { cookie } })).json() as Promise<Drivers>,
    );
    times.push(ms);
    compared = read.groups;
  }
  const ms = median(times);
  const what = `Response, ${groups.toLocaleString('en')} groups (${compared.toLocaleString('en')} compared) × ${kpis} KPIs, not computed before`;
  return { what, measured: time(ms), target: '≤ 1 s', met: ms <= 1000 };
}

/** Writes a week in which everyone answers a question of each KPI. */
async function writeWeek(path: string, { groups, users }: Company): Promise<void> {
  const file = createWriteStream(path);
  const random = mulberry32(7);
  const keys = Array.from({ length: kpis + 1 }, (_, i) => `q${i}`);
  const week = weekName(addWeeks(weekOf(dayIn('UTC', Date.now())), -1));
  const group = groups[0]!.externalId;
  const asked = users.map(({ externalId, accessInfo }) => ({
    person: externalId,
    memberOf: accessInfo?.memberOf?.slice(0, 1),
  }));
  const write = async (lines: object[]) => {
    if (!file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))) await once(file, 'drain');
  };
  await write(
    keys.map((key) => ({ question: { key, type: agreementScale, text: `Question ${key}`, language: 'en' } })),
  );
  await write(keys.map((key, i) => ({ kpi: { id: `kpi-${i}`, name: `KPI ${i}`, questions: [key] } })));
  await write([{ round: { week, group, questions: keys, asked } }]);
  for (const { person } of asked) {
    await write(
      keys.map((question) => ({
        answer: { week, group, person, question, value: 1 + Math.floor(random() * 5) },
      })),
    );
  }
  file.end();
  await once(file, 'finish');
}
