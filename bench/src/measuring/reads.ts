// Reading the data interface: requests a second, response times and the effect on others, compared with a floor that sends the
// same bytes, and with more and fewer answers. Things that are compared run alternately: A B A B.
// Run one at a time, because parallel runs would affect each other's times.
import { addWeeks, lastDay, type Week } from '@soundings/contract/weeks.ts';
import type { Group } from '@soundings/contract/data.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import type { Company } from '../company.ts';
import type { LoadResult, Order } from '../processes/load.ts';
import { median, percentile, ratioText, type BenchRow, time } from './measure.ts';
import type { BenchAccount, ServiceProcess, SteadyRequests, Beside } from './service.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How thoroughly to measure: rounds of `seconds` for each read, over `connections`. `steady`: endpoints that are also requested at a
 * steady rate. `timeScale` multiplies other pauses and durations.
 */
export type Effort = {
  rounds: number;
  seconds: number;
  connections: number;
  steady: Endpoint[];
  timeScale: number;
};

/** An account with its answers. `groups`: the IDs of the requested groups. */
export type Filled = { account: BenchAccount; answers: number; weeks: number; groups: Record<Scope, number> };

export type ReadSetup = {
  service: ServiceProcess;
  /** A service without a response cache: every response is uncached. */
  uncached: ServiceProcess;
  /** The address of the floor, which sends the same bytes from memory. */
  floor: string;
  load: Beside;
  /** Requests /health/live continuously, to measure the effect on others. */
  others: SteadyRequests;
  /** The accounts, from the fewest answers to the most. */
  accounts: Filled[];
  /** The last week that is published. */
  last: Week;
  effort: Effort;
  say: (progress: string) => void;
};

const scopes = ['one', 'some', 'all'] as const;
type Scope = (typeof scopes)[number];

const endpoints = {
  'KPI values': '/v1/kpis/kpi-0/values',
  'Response rates': '/v1/responserates/values',
  Results: '/v1/results',
  'Asked questions': '/v1/askedquestions',
};
type Endpoint = keyof typeof endpoints;

/** `weeks`: undefined means the latest, which for results and asked questions is the current week and the four before it. */
type Read = { endpoint: Endpoint; scope: Scope; weeks: number | undefined };

/** A read that is slower than with the fewest answers by up to this factor still counts as equally fast. */
const noise = 1.25;

/** Chooses the groups to request: the largest group without subgroups, one with about 300 groups, and the top. */
export function chooseGroups({ groups, users }: Company): Record<Scope, string> {
  const sizes = new Map(groups.map(({ externalId }) => [externalId, 0]));
  const parents = new Map(groups.map(({ externalId, parent }) => [externalId, parent ?? null]));
  for (const { externalId } of groups) {
    for (let at: string | null = externalId; at !== null; at = parents.get(at) ?? null) {
      sizes.set(at, (sizes.get(at) as number) + 1);
    }
  }
  const people = new Map<string, number>();
  for (const name of users.flatMap(({ accessInfo }) => accessInfo?.memberOf ?? [])) {
    people.set(name, (people.get(name) ?? 0) + 1);
  }
  const lowest = (of: (name: string, size: number) => number) =>
    [...sizes].toSorted((a, b) => of(...a) - of(...b))[0]?.[0] as string;
  return {
    one: lowest((name, size) => (size > 1 ? 0 : -(people.get(name) ?? 0))),
    some: lowest((_, size) => Math.abs(size - 300)),
    all: lowest((_, size) => -size),
  };
}

/** Returns the IDs of the groups in an account. */
export async function groupIds(
  { address }: ServiceProcess,
  { token }: BenchAccount,
  names: Record<Scope, string>,
): Promise<{ ids: Record<Scope, number>; counts: Record<Scope, number> }> {
  const response = await fetch(`${address}/v1/groups`, { headers: { authorization: token } });
  const groups = (await response.json()) as Group[];
  const of = <T>(what: (group: Group) => T) =>
    Object.fromEntries(
      scopes.map((scope) => [
        scope,
        what(groups.find(({ externalId }) => externalId === names[scope]) as Group),
      ]),
    ) as Record<Scope, T>;
  return { ids: of(({ id }) => id), counts: of(({ subgroups }) => subgroups.length + 1) };
}

/**
 * Measures every read of the account with the most answers, cached and uncached, and compares it with the floor. Also measures the
 * same read, uncached, of the account with the fewest answers.
 */
export async function measureReads(reading: ReadSetup, counts: Record<Scope, number>): Promise<BenchRow[]> {
  const [fewest, most] = [reading.accounts[0] as Filled, reading.accounts.at(-1) as Filled];
  const rows: BenchRow[] = [];
  const compared: BenchRow[] = [];
  for (const endpoint of Object.keys(endpoints) as Endpoint[]) {
    for (const scope of scopes) {
      for (const weeks of new Set([undefined, 5, most.weeks])) {
        const read = { endpoint, scope, weeks };
        const isInAll = (weeks ?? 0) <= fewest.weeks;
        const what = `${endpoint}, ${groupsText(counts[scope])}, ${weeks === undefined ? 'latest' : `${weeks} weeks`}`;
        const sums = await alternate(reading, [
          ...targetsOf(reading, pathOf(read, most, reading.last), most),
          uncachedTarget(reading, pathOf(read, most, reading.last), most),
          ...(isInAll ? [uncachedTarget(reading, pathOf(read, fewest, reading.last), fewest)] : []),
        ]);
        const [own, floor, notCached, few] = sums as [Sum, Sum, Sum, Sum | undefined];
        reading.say(`${what}: ${sumText(own)}; floor ${sumText(floor)}; uncached ${sumText(notCached)}`);
        rows.push(
          besideFloor(`${what} (${sizeText(own.bytes)})`, own, floor, scope === 'one' ? 0.5 : undefined),
          besideFloor('– uncached', notCached, floor),
        );
        if (few) compared.push(besideFewer(what, notCached, few));
      }
    }
  }
  return [...rows, ...compared];
}

const groupsText = (count: number) => (count === 1 ? 'one group' : `${count.toLocaleString('en')} groups`);

function pathOf({ endpoint, scope, weeks }: Read, { groups }: Filled, last: Week): string {
  const query = new URLSearchParams({
    groupId: String(groups[scope]),
    ...(scope !== 'one' && { includeSubgroups: 'true' }),
    ...(weeks !== undefined && { fromDate: addWeeks(last, 1 - weeks), toDate: lastDay(last) }),
  });
  return `${endpoints[endpoint]}?${query}`;
}

/** Measures the lists, the feed, and unchanged and compressed responses. */
export async function measureOtherReads(reading: ReadSetup): Promise<BenchRow[]> {
  const most = reading.accounts.at(-1) as Filled;
  const feed = (query: string) => `/v1/feed?${query}`;
  const week = `fromDate=${reading.last}&toDate=${lastDay(reading.last)}`;
  const paths = {
    'The list of groups': '/v1/groups',
    'The list of KPIs': '/v1/kpis',
    'Feed, one group, all weeks': feed(`groupId=${most.groups.one}`),
    'Feed, all groups, one week': feed(week),
    'Feed of KPIs, all groups, all weeks': feed('metric=kpi'),
  };
  const rows: BenchRow[] = [];
  for (const [what, path] of Object.entries(paths)) {
    const [own, floor] = (await alternate(reading, targetsOf(reading, path, most))) as [Sum, Sum];
    reading.say(`${what}: ${sumText(own)}; floor ${sumText(floor)}`);
    rows.push(besideFloor(`${what} (${sizeText(own.bytes)})`, own, floor));
  }
  return [...rows, await measureUnchanged(reading), await measureCompressed(reading)];
}

/** Requests a response that the client already has, which returns 304. */
async function measureUnchanged(reading: ReadSetup): Promise<BenchRow> {
  const most = reading.accounts.at(-1) as Filled;
  const path = pathOf({ endpoint: 'KPI values', scope: 'some', weeks: 5 }, most, reading.last);
  const [whole, floor] = targetsOf(reading, path, most);
  const response = await fetch(whole.address, { headers: whole.headers });
  await response.arrayBuffer();
  const headers = { ...whole.headers, 'if-none-match': response.headers.get('etag') ?? '' };
  const unchanged = { ...whole, headers, status: 304 };
  const [own, besides] = (await alternate(reading, [unchanged, floor])) as [Sum, Sum];
  return besideFloor(
    'KPI values of about 300 groups, 5 weeks, unchanged: 304 (floor: the bytes)',
    own,
    besides,
  );
}

async function measureCompressed(reading: ReadSetup): Promise<BenchRow> {
  const most = reading.accounts.at(-1) as Filled;
  const path = pathOf({ endpoint: 'KPI values', scope: 'all', weeks: most.weeks }, most, reading.last);
  const whole = serviceTarget(reading, path, most);
  const compressed = { ...whole, headers: { ...whole.headers, 'accept-encoding': 'br' } };
  const [own, plain] = (await alternate(reading, [compressed, whole])) as [Sum, Sum];
  const what = `KPI values of all groups, ${most.weeks} weeks, Brotli: ${sizeText(own.bytes)} of ${sizeText(plain.bytes)}`;
  return besideFloor(`${what} (floor: uncompressed)`, own, plain);
}

/** Measures requests at a steady rate. */
export async function measureRate(reading: ReadSetup, counts: Record<Scope, number>): Promise<BenchRow[]> {
  const most = reading.accounts.at(-1) as Filled;
  const rows: BenchRow[] = [];
  for (const endpoint of reading.effort.steady) {
    const path = pathOf({ endpoint, scope: 'some', weeks: 5 }, most, reading.last);
    const [own, floor, notCached] = [
      await steadily(reading, reading.service.address + path, most),
      await steadily(reading, reading.floor + path, most),
      await steadily(reading, reading.uncached.address + path, most),
    ];
    const what = `${endpoint}, ${groupsText(counts.some)}, 5 weeks, 20 requests a second, 99th percentile`;
    rows.push(
      { ...slower(what, own, floor), target: '≤ 50 ms', met: percentile(own, 0.99) <= 50 },
      slower('– uncached', notCached, floor),
    );
  }
  return rows;
}

function slower(what: string, own: number[], floor: number[]): BenchRow {
  const [p99, lowest] = [percentile(own, 0.99), percentile(floor, 0.99)];
  return { what, measured: time(p99), floor: time(lowest), ratio: ratioText(p99 / lowest) };
}

async function steadily(
  { service, effort }: ReadSetup,
  address: string,
  { account }: Filled,
): Promise<number[]> {
  const steady = await service.requestSteadily(address, account.token, 20, 1000 * effort.timeScale);
  await sleep(effort.rounds * effort.seconds * 4000);
  return steady.end();
}

/** Requests the largest response repeatedly, while another account requests a small one. Runs first, before memory has grown. */
export async function measureStream(reading: ReadSetup): Promise<BenchRow[]> {
  const { service, accounts, last, effort } = reading;
  const [fewest, most] = [accounts[0] as Filled, accounts.at(-1) as Filled];
  const little = pathOf({ endpoint: 'KPI values', scope: 'one', weeks: 5 }, fewest, last);
  const large = pathOf({ endpoint: 'KPI values', scope: 'all', weeks: most.weeks }, most, last);
  const steady = await service.requestSteadily(little, fewest.account.token, 50, 1000 * effort.timeScale);
  await sleep(4000 * effort.timeScale);
  const idle = await steady.cut(1);
  const idleMemory = service.memory.now() ?? 0;
  const endWatch = service.memory.watch();
  const order = {
    ...serviceTarget(reading, large, most),
    connections: 1,
    seconds: 5 * effort.timeScale,
    atLeast: 5,
  };
  const { times, bytes } = await loaded(reading, order);
  const peak = endWatch();
  const busy = await steady.end();
  const what = `KPI values of all groups, ${most.weeks} weeks, as a stream`;
  const delay = Math.max(...busy) - median(idle);
  return [
    { what: `${what} (${sizeText(bytes)})`, measured: time(median(times)) },
    ...(peak
      ? [
          {
            what: '– memory of the service, peak above idle (floor: idle)',
            measured: sizeText(peak.own - idleMemory),
            floor: sizeText(idleMemory),
            target: '≤ 150 MB',
            met: peak.own - idleMemory <= 150e6,
          },
        ]
      : []),
    {
      what: '– KPI values of one group of another account meanwhile, 99th percentile (floor: no stream)',
      measured: time(percentile(busy, 0.99)),
      floor: time(percentile(idle, 0.99)),
    },
    {
      what: '– longest',
      measured: time(Math.max(...busy)),
      floor: time(Math.max(...idle)),
      target: '≤ 50 ms above the median',
      met: delay <= 50,
    },
  ];
}

const uncachedTarget = (reading: ReadSetup, path: string, filled: Filled): Target => ({
  ...serviceTarget(reading, path, filled),
  address: reading.uncached.address + path,
});

type Target = Pick<Order, 'address' | 'headers' | 'status'> & { isService: boolean };

function serviceTarget({ service }: ReadSetup, path: string, { account }: Filled): Target {
  return {
    address: service.address + path,
    headers: { authorization: account.token },
    status: 200,
    isService: true,
  };
}

function targetsOf(reading: ReadSetup, path: string, filled: Filled): [service: Target, floor: Target] {
  const target = serviceTarget(reading, path, filled);
  return [target, { ...target, address: reading.floor + path, isService: false }];
}

/**
 * The result of all rounds. `others`: the 99th percentile of the response times of /health/live during the rounds (only for the
 * service).
 */
type Sum = { rate: number; p50: number; p99: number; bytes: number; others: number | undefined };

async function alternate(reading: ReadSetup, targets: Target[]): Promise<Sum[]> {
  const { effort, others } = reading;
  const measured = targets.map(() => ({
    rates: [] as number[],
    times: [] as number[],
    others: [] as number[],
    bytes: 0,
  }));
  for (let round = -1; round < effort.rounds; round++) {
    // Slow requests are accurate enough after two rounds.
    if (round > 1 && measured.some(({ times }) => times.some((ms) => ms > 3000))) break;
    for (const [i, target] of targets.entries()) {
      const sum = measured[i] as (typeof measured)[number];
      // The first round only determines the size of the responses. All targets get the same number of connections.
      const isLarge = measured.some(({ bytes }) => bytes > 100_000);
      const [connections, seconds] =
        round < 0 ? [1, 0.2 * effort.timeScale] : [isLarge ? 2 : effort.connections, effort.seconds];
      await others.cut();
      const { times, ms, bytes } = await loaded(reading, {
        ...target,
        connections,
        seconds,
        atLeast: connections,
      });
      sum.bytes = bytes;
      if (round < 0) continue;
      sum.rates.push((times.length * 1000) / ms);
      sum.times.push(...times);
      sum.others.push(...(await others.cut()));
    }
  }
  return measured.map(({ rates, times, others: waits, bytes }, i) => ({
    rate: median(rates),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    bytes,
    others: targets[i]?.isService && waits.length > 0 ? percentile(waits, 0.99) : undefined,
  }));
}

async function loaded({ load }: ReadSetup, order: Order): Promise<Exclude<LoadResult, { error: string }>> {
  const result = (await load.request(order)) as LoadResult;
  if ('error' in result) throw new Error(result.error);
  return result;
}

function besideFloor(what: string, own: Sum, floor: Sum, atLeast?: number): BenchRow {
  const ratio = own.rate / floor.rate;
  return {
    what,
    measured: sumText(own),
    floor: sumText(floor),
    ratio: ratioText(ratio),
    ...(atLeast !== undefined && { target: `≥ ${atLeast.toFixed(1)}×`, met: ratio >= atLeast }),
  };
}

function besideFewer(what: string, own: Sum, few: Sum): BenchRow {
  const ratio = own.p50 / few.p50;
  return {
    what: `${what}, uncached: most answers compared with fewest, median`,
    measured: time(own.p50),
    floor: time(few.p50),
    ratio: ratioText(ratio),
    target: `≤ ${noise}×`,
    met: ratio <= noise,
  };
}

function sumText({ rate, p50, p99, others }: Sum): string {
  const digits = rate < 10 ? 1 : 0;
  const delay = others === undefined ? '' : `; others ${time(others)}`;
  return `${rate.toFixed(digits)}/s, ${time(p50)}, ${time(p99)}${delay}`;
}
