// Organizations up to a million people: pushing in parts, opening a round, answering, closing and reading, at sizes that grow by ten. The floors
// are COPY of the rows that are written, and reading once what has to be read. The exponent says how the time grows with the size: 1 is in
// proportion. Run alone, because parallel runs would affect each other's times. SCALE_PEOPLE (or --people) is the largest size.
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { attribute } from '../company.ts';
import { type BenchRow, ratioText, time } from '../measuring/measure.ts';
import type { Plans, Say, Sized } from '../measuring/plans.ts';
import type { BenchAccount, Service } from '../measuring/service.ts';
import type { CommitDone, CommitOrder } from '../processes/committing.ts';
import { copyingOf, comparingOf } from './floors.ts';
import { type Many, measureMany, readAll } from './many-accounts.ts';
import { unitCount, pushPartsOf, type Size } from './organization.ts';
import { pushParts } from './push-parts.ts';
import { withThousands, memoryRow, type Note, statementsRow, type Step } from './rows.ts';
import { measureWeek } from './week.ts';

/**
 * `sizes`: how many people the accounts have, smallest first. `many`: accounts of the same size, together at most as large as the largest one.
 * `mailed`: how many invitations are sent at the largest size.
 */
type Plan = { sizes: number[]; many: Many[]; mailed: number };

const largest = Number(process.env['SCALE_PEOPLE'] ?? 100_000);

/** As many accounts of a size as the largest account has people, but no more than `most`. */
const accountsOf = (people: number, most: number): Many => ({
  people,
  accounts: Math.min(most, Math.floor(largest / people)),
});

export const scalePlans: Plans<Plan> = {
  whole: {
    sizes: [10_000, 100_000, 1_000_000].filter((size) => size <= largest),
    many: [accountsOf(20_000, 50), accountsOf(200, 2_000)],
    mailed: 20_000,
  },
  smoke: { sizes: [50, 100], many: [{ people: 25, accounts: 2 }], mailed: 10 },
};

type Measured = { ms: number; floor?: number };
type OfSize = { people: number; steps: Map<Step, Measured>; rows: BenchRow[] };

const targets: Partial<Record<Step, number>> = {
  'first push': 1.3,
  'unchanged push': 1,
  'the same push once more': 1,
  'push with one person changed': 1,
  'push with 1% changed': 1.3,
  'opening a round': 1.5,
  'closing the week': 2,
};

export const benchScale: Sized<Plan> =
  ({ sizes, many, mailed }) =>
  async (say, start) => {
    const service = await start();
    try {
      const measured: OfSize[] = [];
      for (const people of sizes) {
        const size = { people, mailed: people === sizes.at(-1) ? mailed : 0 };
        measured.push(await measureSize(service, size, say));
      }
      const rows = [...measured.flatMap((one) => rowsOf(one)), ...exponentsOf(measured)];
      const { people, steps } = measured.at(-1) as OfSize;
      const one = { people, msOf: (step: Step) => steps.get(step)?.ms ?? 0 };
      for (const accounts of many) rows.push(...(await measureMany(service, accounts, one, say)));
      const size = await databaseBytes(service);
      rows.push({ what: 'Size of the database with all of this, floors included', measured: sizeText(size) });
      return { rows, postgres: service.postgres };
    } finally {
      await service.stop();
    }
  };

async function measureSize(
  service: Service,
  { people, mailed }: { people: number; mailed: number },
  say: Say,
): Promise<OfSize> {
  const one: OfSize = { people, steps: new Map(), rows: [] };
  const note: Note = (step, ms, floor) => {
    one.steps.set(step, { ms, ...(floor !== undefined && { floor }) });
    const ratio = floor === undefined ? '' : `, floor ${time(floor)}, ${ratioText(ms / floor)}`;
    say(`${withThousands(people)} people, ${step}: ${time(ms)}${ratio}`);
  };
  const account = await newAccount(service);
  const endWatch = service.memory.watch();
  one.rows.push(...(await measurePushes(service, account, people, note)));
  const peak = endWatch();
  if (peak)
    one.rows.push(
      memoryRow(`Memory of the service during the pushes of ${withThousands(people)} people`, peak.own, 1e9),
      memoryRow("Memory of PostgreSQL's processes meanwhile, without shared buffers", peak.database),
    );
  one.rows.push(...(await measureWeek(service, account, { people, mailed }, note)));
  note('reading', await readAll(service, account));
  return one;
}

async function newAccount(service: Service): Promise<BenchAccount> {
  const account = await service.account(attribute);
  await service.pool`update accounts set largest_push = 1000000 where account_id = ${account.id}`;
  return account;
}

/** Pushes everyone, the same again, and with one person and one in a hundred changed. */
async function measurePushes(
  service: Service,
  account: BenchAccount,
  people: number,
  note: Note,
): Promise<BenchRow[]> {
  const whole: Size = { people };
  const bytesBefore = await databaseBytes(service);
  const first = await pushParts(service, account, pushPartsOf(whole));
  const bytes = (await databaseBytes(service)) - bytesBefore;
  const to = (await service.account(attribute)).id;
  const tables = ['groups', 'users', 'memberships', 'runs', 'run_changes'];
  note('first push', first.ms, await copyingOf(service, { from: account.id, to }, tables));
  await service.pool`vacuum analyze`;
  const reading = await comparingOf(service.pool, account.id, pushPartsOf(whole));
  const again = await pushParts(service, account, pushPartsOf(whole));
  if (again.push.run?.summary?.users.unchanged !== people) throw new Error('The push changed something.');
  note('unchanged push', again.ms, reading);
  note('the same push once more', (await pushParts(service, account, pushPartsOf(whole))).ms, reading);
  const one: Size = { people, renamed: 1 };
  const oneChanged = await pushParts(service, account, pushPartsOf(one));
  note(
    'push with one person changed',
    oneChanged.ms,
    await comparingOf(service.pool, account.id, pushPartsOf(one)),
  );
  const changed: Size = { people, renamed: Math.max(1, Math.floor(people / 100)) };
  note(
    'push with 1% changed',
    (await pushParts(service, account, pushPartsOf(changed))).ms,
    await comparingOf(service.pool, account.id, pushPartsOf(changed)),
  );
  const what = `${withThousands(people)} people`;
  return [
    {
      what: `Growth of the database with the first push, for each of ${what}`,
      measured: sizeText(bytes / people),
    },
    statementsRow(
      `Statements to commit a push of ${what} with 1% changed`,
      await statementsOf(service, { accountId: account.id, size: whole }),
    ),
  ];
}

/** Pushes an organization in another process, and returns how many statements its commit sends. */
async function statementsOf(service: Service, order: CommitOrder): Promise<number> {
  const committing = await service.beside('committing.ts', service.databaseUrl);
  const done = (await committing.request(order)) as CommitDone | { error: string };
  committing.end();
  if ('error' in done) throw new Error(done.error);
  return done.statements;
}

const rowsOf = ({ people, steps, rows }: OfSize): BenchRow[] => [
  ...[...steps].map(([step, { ms, floor }]): BenchRow => {
    const what = `${withThousands(people)} people in ${withThousands(unitCount(people))} groups, ${step}`;
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
      what: `Exponent from ${withThousands(first.people)} to ${withThousands(last.people)} people, ${step}`,
      measured: exponent.toFixed(2),
      target: '≤ 1.05',
      met: exponent <= 1.05,
    };
  });
}

async function databaseBytes({ pool }: Service): Promise<number> {
  const [row] = await pool<{ bytes: string }[]>`select pg_database_size(current_database())::text as bytes`;
  return Number(row?.bytes);
}
