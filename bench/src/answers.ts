// A week of 20,000 people in 2,000 groups: opening the round, submitting answers over HTTP (floors: plain inserts of the same
// rows, directly and by a bare HTTP server), and closing and publishing the week, also with breakdowns (floor: without).
// Run one at a time, because parallel runs would affect each other's times.
import { agreementScale } from '@soundings/contract/question-types.ts';
import { dayIn, type Week, weekName } from '@soundings/contract/weeks.ts';
import { maxBreakdowns, maxSegmentsOfBreakdown } from '@soundings/contract/limits.ts';
import { lockAccount } from '@soundings/server/src/accounts/accounts.ts';
import { copyInto, inTransaction } from '@soundings/server/src/db/db.ts';
import { defineAttribute } from '@soundings/server/src/people/attributes.changes.ts';
import { defineLibrary } from '@soundings/server/src/questions/questions.ts';
import { selectQuestions } from '@soundings/server/src/questions/questions.sql.ts';
import { linksOfAll } from '@soundings/server/src/rounds/links.ts';
import { weekdayOf } from '@soundings/server/src/rounds/send-times.ts';
import { openDueRounds } from '@soundings/server/src/rounds/opening.ts';
import { createSchedule } from '@soundings/server/src/rounds/schedules.ts';
import { openBreakdown } from '@soundings/server/src/rounds/segments/breakdowns.ts';
import {
  decodeAnswers,
  encodeAnswers,
  type PersonAnswer,
} from '@soundings/server/src/sealing/person-answers.ts';
import type { Submitted, SubmissionOrder } from './processes/submitting.ts';
import { attribute, makeCompany } from './company.ts';
import { median, percentile, ratioText, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import { pushBodyOf, push } from './push.ts';
import type { BenchAccount, Beside, Service } from './measuring/service.ts';

/** The size of the company, and a factor for pauses and durations. */
type Plan = { users: number; groups: number; timeScale: number };

export const answersPlans: Plans<Plan> = {
  whole: { users: 20_000, groups: 2_000, timeScale: 1 },
  smoke: { users: 200, groups: 20, timeScale: 0.01 },
};

const rate = 300;
const seconds = 20;
/** How many people answer at the same time: as many as the service has database connections, and ten times as many. */
const crowds = [10, 100];
const [connections] = crowds as [number, number];

/** Measures opening a round for a company, answering over HTTP, and closing the week. */
export const benchAnswers: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const company = makeCompany({ ...plan, oneTop: true });
    const account = await service.account(attribute);
    await push(service, account, pushBodyOf(company), { created: company.users.length });
    const { opening, week, questionIds } = await openWholeRound(service, account);
    say(`opening: ${time(opening)}`);
    const links = await linksOfAll(service.pool, account.id, week);
    const load = await service.beside('submitting.ts', service.databaseUrl);
    const { first: plainAddress } = await service.beside('plain.ts', service.databaseUrl);
    const giving = { links: links.map(({ link }) => link), questionIds };
    const rows = [
      {
        what: `Opening a round for ${sizeText(plan)}, with their messages`,
        measured: time(opening),
        target: '≤ 30 s',
        met: opening <= 30_000,
      },
      ...(await measureGiving({ service, load, giving, plainAddress: plainAddress as string }, plan, say)),
      ...(await measureClosing(service, { load, giving }, { ...account, week }, plan, say)),
      ...(await measureBreakdowns(service, plan, say)),
    ];
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

const sizeText = ({ users, groups }: Plan) =>
  `${users.toLocaleString('en')} people in ${groups.toLocaleString('en')} groups`;

/**
 * Creates a schedule that is due today: five questions for all groups at the top. Returns the ids of the questions. `now`: the time to use
 * as the current one.
 */
export async function scheduleForAll(
  { pool }: Service,
  accountId: number,
  now = Date.now(),
): Promise<number[]> {
  const today = dayIn('UTC', now);
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    await defineLibrary(tx, accountId, 'en');
    const all = await selectQuestions(tx, accountId);
    const scaled = all.filter(({ type }) => type === agreementScale).slice(0, 5);
    const questionIds = scaled.map(({ id }) => id);
    const tops = await tx<{ id: number }[]>`
      select group_id as id from groups where account_id = ${accountId} and parent_id is null`;
    await createSchedule(tx, accountId, {
      name: 'Bench',
      questionIds,
      kpiIds: [],
      perWeek: null,
      everyWeeks: null,
      groupIds: tops.map(({ id }) => id),
      withoutGroupIds: [],
      byDate: null,
      repeat: 'once',
      repeatWeeks: 1,
      weekday: weekdayOf(today),
      hour: 0,
      anyHour: true,
      reminderDays: null,
      reminderHour: null,
      fromDay: today,
      untilDay: null,
    });
    return questionIds;
  });
}

/** Opens a round with five questions for the whole company. */
export async function openWholeRound(service: Service, { id }: BenchAccount) {
  const { pool, keys } = service;
  const questionIds = await scheduleForAll(service, id);
  const [opening, opened] = await timed(() => openDueRounds(pool, keys, Date.now()));
  const [one] = opened;
  if (one?.outcome !== 'opened') throw new Error(`The round was not opened: ${JSON.stringify(opened)}`);
  return { opening, week: one.week, questionIds };
}

async function carryOut(load: Beside, order: SubmissionOrder): Promise<Submitted> {
  const given = (await load.request(order)) as Submitted | { error: string };
  if ('error' in given) throw new Error(given.error);
  return given;
}

type Crowd = {
  service: Service;
  load: Beside;
  giving: Pick<SubmissionOrder, 'links' | 'questionIds'>;
  /** The address of the bare HTTP server. */
  plainAddress: string;
};

async function measureGiving(crowd: Crowd, plan: Plan, say: Say): Promise<BenchRow[]> {
  const { service } = crowd;
  const { timeScale } = plan;
  const give = giver(crowd, plan);
  await give({ seconds: 3 }); // warms up the service's code and the database's plans
  const others = await service.requestSteadily('/health/live', '', 50, 2000 * timeScale);
  const steady = await give({ rate });
  const health = await others.end();
  say(`${rate} a second: 99% ${time(percentile(steady.times, 0.99))}`);
  await give({ seconds: 5, connections: crowds[1]! });
  const highest: BenchRow[] = [];
  let half = rate;
  for (const count of crowds) {
    const measured = await measureHighest(crowd, count, plan, say);
    highest.push(...measured.rows);
    half = Math.round(measured.most / 2);
  }
  const atHalf = await give({ rate: half, seconds: 10 });
  const sustained = rateOf(steady);
  const [p99, p99AtHalf] = [percentile(steady.times, 0.99), percentile(atHalf.times, 0.99)];
  return [
    {
      what: `Answers submitted over HTTP, ${rate} a second for ${seconds * timeScale} s: rate`,
      measured: sustained.toFixed(0),
      target: `≥ ${rate}`,
      met: sustained >= rate * 0.99,
    },
    { what: '– median', measured: time(percentile(steady.times, 0.5)) },
    { what: '– 99th percentile', measured: time(p99), target: '≤ 100 ms', met: p99 <= 100 },
    { what: '– GET /health/live meanwhile, 99th percentile', measured: time(percentile(health, 0.99)) },
    ...highest,
    {
      what: `– half of this rate, ${half} a second: 99th percentile`,
      measured: time(p99AtHalf),
      target: '≤ 50 ms',
      met: p99AtHalf <= 50,
    },
  ];
}

/** Returns a function that lets people answer. */
const giver =
  ({ service, load, giving }: Crowd, { timeScale }: Plan) =>
  (order: Partial<SubmissionOrder>) =>
    carryOut(load, {
      ...giving,
      address: service.address,
      connections,
      ...order,
      seconds: (order.seconds ?? seconds) * timeScale,
    });

const rateOf = ({ times, ms }: Submitted) => times.length / (ms / 1000);

/** Measures the highest rate while `count` people answer at the same time, alternately with the floors. */
async function measureHighest(
  crowd: Crowd,
  count: number,
  plan: Plan,
  say: Say,
): Promise<{ most: number; rows: BenchRow[] }> {
  const { service, plainAddress } = crowd;
  const give = giver(crowd, plan);
  const rates = { answers: [] as number[], floor: [] as number[], overHttp: [] as number[] };
  const each: { service: number; database: number; client: number }[] = [];
  for (let i = 0; i < 3; i++) {
    const order = { seconds: 4, connections: count };
    rates.floor.push(rateOf(await give({ ...order, isFloor: true })));
    rates.overHttp.push(rateOf(await give({ ...order, address: plainAddress })));
    const before = service.processor();
    const given = await give(order);
    const after = service.processor();
    rates.answers.push(rateOf(given));
    if (before && after) {
      const of = (ms: number) => (1000 * ms) / given.times.length;
      each.push({
        service: of(after.service - before.service),
        database: of(after.database - before.database),
        client: of(given.processor),
      });
    }
    const [answers, floor, overHttp] = [rates.answers, rates.floor, rates.overHttp].map((all) => all.at(-1)!);
    say(
      `${count} at a time: ${answers!.toFixed(0)} a second; floors ${floor!.toFixed(0)}, ${overHttp!.toFixed(0)}`,
    );
  }
  const [most, plain, overHttp] = [rates.answers, rates.floor, rates.overHttp].map(median) as [
    number,
    number,
    number,
  ];
  const used = (name: 'service' | 'database' | 'client') => median(each.map((one) => one[name])).toFixed(0);
  return {
    most,
    rows: [
      {
        what: `– highest rate, ${count} at a time, answers a second (floor: plain inserts of the same rows)`,
        measured: most.toFixed(0),
        floor: plain.toFixed(0),
        ratio: ratioText(most / plain),
        target: '≥ 0.8×',
        met: most / plain >= 0.8,
      },
      {
        what: '– – floor: a bare HTTP server that only inserts them',
        measured: most.toFixed(0),
        floor: overHttp.toFixed(0),
        ratio: ratioText(most / overHttp),
      },
      {
        what: '– – processor time of each: service, PostgreSQL, client',
        measured:
          each.length > 0
            ? `${used('service')}, ${used('database')}, ${used('client')} µs`
            : 'not available on this system',
      },
    ],
  };
}

/** Closes the same week with as many breakdowns as can be open, each with as many segments as it can have, and without any. */
async function measureBreakdowns(service: Service, plan: Plan, say: Say): Promise<BenchRow[]> {
  const company = makeCompany({ ...plan, oneTop: true });
  const close = async (withBreakdowns: boolean) => {
    const account = await service.account(attribute);
    await push(service, account, pushBodyOf(company), { created: company.users.length });
    if (withBreakdowns) await openBreakdowns(service, account);
    // Otherwise the database plans for the rows before the push.
    await service.pool`vacuum analyze`;
    const { opening, week, questionIds } = await openWholeRound(service, account);
    await answerAll(service, { accountId: account.id, week, questionIds });
    await service.pool`vacuum analyze`;
    const [closing] = await timed(() =>
      service.command('week', 'close', '--account', String(account.id), '--week', weekName(week)),
    );
    say(
      `${withBreakdowns ? 'with' : 'without'} breakdowns: opening ${time(opening)}, closing ${time(closing)}`,
    );
    return { opening, closing };
  };
  const [without, full] = [await close(false), await close(true)];
  const what = `with ${maxBreakdowns} breakdowns of ${maxSegmentsOfBreakdown} segments (floor: without)`;
  return (['opening', 'closing'] as const).map((step) => ({
    what: `– ${step}, ${what}`,
    measured: time(full[step]),
    floor: time(without[step]),
    ratio: `${(full[step] / without[step]).toFixed(2)}×`,
  }));
}

/** Opens all breakdowns. Most people have one of the frequent values, and the values don't depend on the groups. */
async function openBreakdowns({ pool }: Service, { id }: BenchAccount): Promise<void> {
  const names = Array.from({ length: maxBreakdowns }, (_, i) => `division${i}`);
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, id);
    for (const name of names) await defineAttribute(tx, id, { name, allowedValues: null });
    await tx`
      update users u
      set    attributes = attributes || (
               select jsonb_object_agg(name, floor(${maxSegmentsOfBreakdown} * power(abs(mod(hashint4extended(u.user_id, place), 1000003)) / 1000003.0, 2))::text)
               from   unnest(${names}::text[]) with ordinality as n(name, place))
      where  account_id = ${id}`;
    for (const name of names)
      await openBreakdown(
        tx,
        id,
        { origin: 'command' },
        { name, attribute: name, bands: null, crossOf: null },
      );
  });
}

/** Answers all open questions of everyone. */
async function answerAll(
  { pool, keys }: Service,
  { accountId, week, questionIds }: { accountId: number; week: Week; questionIds: number[] },
): Promise<void> {
  const key = await keys.of(pool, accountId, week);
  if (!key) throw new Error('The week has no key.');
  const people = await pool<{ respondent: string; sealed: Buffer | null }[]>`
    select s.respondent as "respondent", a.sealed as "sealed"
    from   assignments s
    left   join answers a on a.account_id = s.account_id and a.week = s.week and a.respondent = s.respondent
    where  s.account_id = ${accountId} and s.week = ${week}`;
  const giving = { link: 'bench', visit: null, handedOut: false };
  const rows = people.map(({ respondent, sealed }, i): [number, string, string, number, Buffer] => {
    const answers = sealed ? decodeAnswers(key.open(respondent, sealed)) : new Map<number, PersonAnswer>();
    for (const [place, question] of questionIds.entries()) {
      if (answers.has(question)) continue;
      const value = 1 + ((i + place) % 5);
      answers.set(question, { value, choices: null, comment: null, skipped: false, counted: false, giving });
    }
    return [accountId, week, respondent, 0, key.seal(respondent, encodeAnswers(answers))];
  });
  await inTransaction(pool, async (tx) => {
    await tx`delete from answers where account_id = ${accountId} and week = ${week}`;
    await copyInto(tx`copy answers (account_id, week, respondent, import_batch, sealed) from stdin`, rows);
  });
}

/** Answers all open questions of everyone, then closes the week with the command. */
async function measureClosing(
  service: Service,
  { load, giving }: { load: Beside; giving: Pick<SubmissionOrder, 'links' | 'questionIds'> },
  { id, token, week }: BenchAccount & { week: Week },
  plan: Plan,
  say: Say,
): Promise<BenchRow[]> {
  await answerAll(service, { accountId: id, week, questionIds: giving.questionIds });
  await service.pool`vacuum analyze`;
  const steady = await service.requestSteadily('/v1/kpis', token, 50, 3000 * plan.timeScale);
  const during = { seconds: 8 * plan.timeScale, rate: 100, isClosing: true };
  const answering = carryOut(load, { ...giving, address: service.address, connections, ...during });
  const [ms] = await timed(() =>
    service.command('week', 'close', '--account', String(id), '--week', weekName(week)),
  );
  const given = await answering;
  const p99 = percentile(await steady.end(), 0.99);
  say(`closing: ${time(ms)}, others 99% ${time(p99)}`);
  return [
    {
      what: `Closing and publishing the week: ${sizeText(plan)}, 5 questions`,
      measured: time(ms),
      target: '≤ 60 s',
      met: ms <= 60_000,
    },
    { what: '– GET /v1/kpis by others meanwhile, 99th percentile', measured: time(p99) },
    {
      what: '– of 100 answers a second meanwhile: asked to try again, rejected because the week is over',
      measured: `${given.waited}, ${given.refused}`,
    },
  ];
}
