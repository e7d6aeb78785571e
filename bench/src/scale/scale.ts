// Organizations up to a million people: pushing in parts, opening a round, answering, closing and reading, at sizes that grow by ten. The floors
// are COPY of the rows that are written, and reading once what has to be read. The exponent says how the time grows with the size: 1 is in
// proportion. Run alone, because parallel runs would affect each other's times. SCALE_PEOPLE (or --people) is the largest size.
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { join } from 'node:path';
import { scheduleForAll } from '../answers.ts';
import { attribute } from '../company.ts';
import { type BenchRow, percentile, ratioText, time, timed } from '../measuring/measure.ts';
import type { Plans, Say, Sized } from '../measuring/plans.ts';
import type { BenchAccount, Service } from '../measuring/service.ts';
import type { WeekDone, WeekOrder } from '../processes/weeks.ts';
import { push, pushBodyOf } from '../push.ts';
import { copyingOf, comparingOf } from './floors.ts';
import { unitsIn, unitCount, pushPartsOf, peopleIn, type Size } from './organization.ts';
import { pushParts } from './push-parts.ts';

/** `sizes`: how many people the accounts have, smallest first. `small`: how many people the many small accounts have. */
type Plan = { sizes: number[]; small: number };

const largest = Number(process.env['SCALE_PEOPLE'] ?? 100_000);

export const scalePlans: Plans<Plan> = {
  whole: { sizes: [10_000, 100_000, 1_000_000].filter((size) => size <= largest), small: 200 },
  smoke: { sizes: [50, 100], small: 25 },
};

/** What is measured at each size: the milliseconds and those of the floor. */
type Step =
  | 'first push'
  | 'unchanged push'
  | 'the same push once more'
  | 'push with 1% changed'
  | 'opening a round'
  | 'closing the week'
  | 'reading';
type Measured = { ms: number; floor?: number };
type OfSize = { people: number; steps: Map<Step, Measured>; rows: BenchRow[] };

const targets: Partial<Record<Step, number>> = {
  'first push': 1.3,
  'unchanged push': 1,
  'the same push once more': 1,
  'push with 1% changed': 1.3,
  'opening a round': 1.5,
  'closing the week': 2,
};

export const benchScale: Sized<Plan> =
  ({ sizes, small }) =>
  async (say, start) => {
    const service = await start();
    try {
      const measured: OfSize[] = [];
      for (const people of sizes) measured.push(await measureSize(service, people, say));
      const rows = [
        ...measured.flatMap((one) => rowsOf(one)),
        ...exponentsOf(measured),
        await measureSmall(service, measured.at(-1) as OfSize, small, say),
        await databaseSize(service, sizes),
      ];
      return { rows, postgres: service.postgres };
    } finally {
      await service.stop();
    }
  };

const count = (value: number) => value.toLocaleString('en');

async function measureSize(service: Service, people: number, say: Say): Promise<OfSize> {
  const one: OfSize = { people, steps: new Map(), rows: [] };
  const note = (step: Step, ms: number, floor?: number) => {
    one.steps.set(step, { ms, ...(floor !== undefined && { floor }) });
    const ratio = floor === undefined ? '' : `, floor ${time(floor)}, ${ratioText(ms / floor)}`;
    say(`${count(people)} people, ${step}: ${time(ms)}${ratio}`);
  };
  const account = await newAccount(service);
  const endWatch = service.memory.watch();
  await measurePushes(service, account, people, note);
  const peak = endWatch();
  if (peak)
    one.rows.push(
      memoryRow(`Memory of the service during the pushes of ${count(people)} people`, peak.own, 1e9),
    );
  if (peak)
    one.rows.push(
      memoryRow("Memory of PostgreSQL's processes meanwhile, without shared buffers", peak.database),
    );
  one.rows.push(...(await measureWeek(service, account, people, note)));
  const read = async (path: string) => {
    const response = await fetch(service.address + path, { headers: { authorization: account.token } });
    const bytes = (await response.arrayBuffer()).byteLength;
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return bytes;
  };
  const [reading] = await timed(async () => {
    await read('/v1/groups');
    await read(`/v1/results?groupId=${await topOf(service, account)}&includeSubgroups=true`);
  });
  note('reading', reading);
  return one;
}

const memoryRow = (what: string, bytes: number, atMost?: number): BenchRow => ({
  what,
  measured: sizeText(bytes),
  ...(atMost !== undefined && { target: `≤ ${sizeText(atMost)}`, met: bytes <= atMost }),
});

async function newAccount(service: Service): Promise<BenchAccount> {
  const account = await service.account(attribute);
  await service.pool`update accounts set largest_push = 1000000 where account_id = ${account.id}`;
  return account;
}

const topOf = async ({ pool }: Service, { id }: BenchAccount) =>
  (await pool<{ id: number }[]>`select min(group_id) as id from groups where account_id = ${id}`)[0]?.id;

type Note = (step: Step, ms: number, floor?: number) => void;

/** Pushes everyone, the same again, and with one person in a hundred changed. */
async function measurePushes(
  service: Service,
  account: BenchAccount,
  people: number,
  note: Note,
): Promise<void> {
  const whole: Size = { people };
  const first = await pushParts(service, account, pushPartsOf(whole));
  const to = (await service.account(attribute)).id;
  const tables = ['groups', 'users', 'memberships', 'runs', 'run_changes'];
  note('first push', first.ms, await copyingOf(service, { from: account.id, to }, tables));
  await service.pool`vacuum analyze`;
  const reading = await comparingOf(service.pool, account.id, pushPartsOf(whole));
  const again = await pushParts(service, account, pushPartsOf(whole));
  if (again.push.run?.summary?.users.unchanged !== people) throw new Error('The push changed something.');
  note('unchanged push', again.ms, reading);
  note('the same push once more', (await pushParts(service, account, pushPartsOf(whole))).ms, reading);
  const changed: Size = { people, renamed: Math.max(1, Math.floor(people / 100)) };
  note(
    'push with 1% changed',
    (await pushParts(service, account, pushPartsOf(changed))).ms,
    await comparingOf(service.pool, account.id, pushPartsOf(changed)),
  );
}

/** Runs one order in a fresh process, so that its peak of memory is known. */
async function carryOut(service: Service, order: WeekOrder): Promise<WeekDone> {
  const beside = await service.beside('weeks.ts', service.databaseUrl, join(service.dataDir, 'keys'));
  const done = (await beside.request(order)) as WeekDone | { error: string };
  if ('error' in done) throw new Error(done.error);
  return done;
}

/** Opens a week with five questions for everyone, lets seven in ten answer, and closes it. */
async function measureWeek(
  service: Service,
  account: BenchAccount,
  people: number,
  note: Note,
): Promise<BenchRow[]> {
  const { pool } = service;
  const accountId = account.id;
  const questionIds = await scheduleForAll(service, accountId);
  const opening = await carryOut(service, { accountId, work: 'open' });
  const to = (await service.account(attribute)).id;
  const written = ['asked', 'assignments', 'participants', 'messages'];
  const copying = await copyingOf(service, { from: accountId, to }, written, ['users', 'weeks', 'rounds']);
  note('opening a round', opening.ms, copying);
  const week = opening.week as string;
  await pool`delete from messages where account_id in (${accountId}, ${to})`; // otherwise the service would begin to send them
  await carryOut(service, { accountId, work: 'answer', week, questionIds });
  await pool`vacuum analyze`;
  const unsealing = await carryOut(service, { accountId, work: 'read', week });
  const other = await service.account(attribute);
  await push(
    service,
    other,
    pushBodyOf({ groups: unitsIn(100), users: peopleIn({ people: 100 }, 0, 100) }),
    {},
  );
  const steady = await service.requestSteadily('/v1/groups', other.token, 50, 200);
  const closing = await carryOut(service, { accountId, work: 'close', week });
  const times = await steady.end();
  const figures = ['results', 'response_rates', 'kpi_values', 'comments', 'comment_groups'];
  const floor = unsealing.ms + (await copyingOf(service, { from: accountId, to }, figures));
  note('closing the week', closing.ms, floor);
  const p99 = percentile(times, 0.99);
  return [
    memoryRow(`Memory of the process that opens the round for ${count(people)} people`, opening.peak, 4e9),
    memoryRow(`Memory of the process that closes the week of ${count(people)} people`, closing.peak, 4e9),
    {
      what: `GET /v1/groups of another account while it closes, 99th percentile`,
      measured: time(p99),
      target: '≤ 250 ms',
      met: p99 <= 250,
    },
  ];
}

const rowsOf = ({ people, steps, rows }: OfSize): BenchRow[] => [
  ...[...steps].map(([step, { ms, floor }]): BenchRow => {
    const what = `${count(people)} people in ${count(unitCount(people))} groups, ${step}`;
    if (floor === undefined) return { what, measured: time(ms) };
    const target = people === largest ? targets[step] : undefined;
    return {
      what,
      measured: time(ms),
      floor: time(floor),
      ratio: ratioText(ms / floor),
      ...(target !== undefined && { target: `≤ ${target.toFixed(1)}×`, met: ms / floor <= target }),
    };
  }),
  ...rows,
];

/** Returns how the time of each step grows from the smallest to the largest size. */
function exponentsOf(measured: OfSize[]): BenchRow[] {
  const [first, last] = [measured[0] as OfSize, measured.at(-1) as OfSize];
  if (first === last) return [];
  return [...last.steps].map(([step, { ms }]) => {
    const before = first.steps.get(step)?.ms as number;
    const exponent = Math.log(ms / before) / Math.log(last.people / first.people);
    return {
      what: `Exponent from ${count(first.people)} to ${count(last.people)} people, ${step}`,
      measured: exponent.toFixed(2),
      target: '≤ 1.05',
      met: exponent <= 1.05,
    };
  });
}

/** Pushes as many people as the largest account has, in accounts of `small` people (at most 2,000 accounts), one after another. */
async function measureSmall(service: Service, one: OfSize, small: number, say: Say): Promise<BenchRow> {
  const accounts = Math.min(2_000, Math.ceil(one.people / small));
  const body = pushBodyOf({ groups: unitsIn(small), users: peopleIn({ people: small }, 0, small) });
  let ms = 0;
  for (let i = 0; i < accounts; i++) {
    const account = await service.account(attribute);
    const [taken] = await timed(() => push(service, account, body, { created: small }));
    ms += taken;
  }
  const floor = ((one.steps.get('first push')?.ms ?? 0) * accounts * small) / one.people;
  say(`${accounts} accounts of ${small}: ${time(ms)}, one account ${time(floor)}`);
  return {
    what: `First push of ${count(accounts)} accounts of ${count(small)} people (floor: as many people of the largest account)`,
    measured: time(ms),
    floor: time(floor),
    ratio: ratioText(ms / floor),
    target: '≤ 1.3×',
    met: ms / floor <= 1.3,
  };
}

async function databaseSize({ pool }: Service, sizes: number[]): Promise<BenchRow> {
  const [row] = await pool<{ bytes: string }[]>`select pg_database_size(current_database())::text as bytes`;
  return {
    what: `Size of the database with all of this, floors included (${sizes.map(count).join(', ')} people)`,
    measured: sizeText(Number(row?.bytes)),
  };
}
