// A week of a large organization: opening it, sending its invitations, answering and closing it. The floors are COPY of the rows that are written,
// and decrypting the answers once.
import { join } from 'node:path';
import { scheduleForAll } from '../answers.ts';
import { attribute } from '../company.ts';
import { type BenchRow, percentile, ratioText, time } from '../measuring/measure.ts';
import type { BenchAccount, Beside, Service } from '../measuring/service.ts';
import type { MailingOrder } from '../processes/mailing.ts';
import type { WeekDone, WeekOrder } from '../processes/weeks.ts';
import { push, pushBodyOf } from '../push.ts';
import { copyingOf } from './floors.ts';
import { peopleIn, unitsIn } from './organization.ts';
import { withThousands, memoryRow, type Note, statementsRow } from './rows.ts';

/** Starts a process for weeks. */
export const weeksProcess = (service: Service): Promise<Beside> =>
  service.beside('weeks.ts', service.databaseUrl, join(service.dataDir, 'keys'));

/** Lets a process for weeks carry out an order. */
export async function carryOutOn(weeks: Beside, order: WeekOrder): Promise<WeekDone> {
  const done = (await weeks.request(order)) as WeekDone | { error: string };
  if ('error' in done) throw new Error(done.error);
  return done;
}

/** Carries out one order in a fresh process, so that its peak of memory is known. */
async function carryOut(service: Service, order: WeekOrder): Promise<WeekDone> {
  const weeks = await weeksProcess(service);
  const done = await carryOutOn(weeks, order);
  weeks.end();
  return done;
}

/** Weeks are opened as if it were this many days later. Otherwise the service could open them before the benchmark does. */
export const laterDays = 2;

type Size = { people: number; mailed: number };

/** Opens a week with five questions for everyone, sends `mailed` invitations, lets seven in ten answer, and closes it. */
export async function measureWeek(
  service: Service,
  account: BenchAccount,
  { people, mailed }: Size,
  note: Note,
): Promise<BenchRow[]> {
  const { pool } = service;
  const accountId = account.id;
  const now = Date.now() + laterDays * 86_400_000;
  const questionIds = await scheduleForAll(service, accountId, now);
  const opening = await carryOut(service, { accountId, work: 'open', now });
  const to = (await service.account(attribute)).id;
  const written = ['asked', 'assignments', 'participants', 'messages'];
  const copying = await copyingOf(service, { from: accountId, to }, written, ['users', 'weeks', 'rounds']);
  note('opening a round', opening.ms, copying);
  // It has no key, so nothing could close it.
  await pool`update weeks set closed_at = now() where account_id = ${to}`;
  const rows = [
    memoryRow(
      `Memory of the process that opens the round for ${withThousands(people)} people`,
      opening.peak,
      4e9,
    ),
    statementsRow(`Statements to open the round for ${withThousands(people)} people`, opening.statements),
    ...(mailed === 0 ? [] : [await measureMailing(service, accountId, { people, mailed })]),
  ];
  const week = opening.week as string;
  await carryOut(service, { accountId, work: 'answer', week, questionIds });
  await pool`vacuum analyze`;
  rows.push(...(await measureClosing(service, { accountId, to, people, week }, note)));
  return rows;
}

async function measureClosing(
  service: Service,
  { accountId, to, people, week }: { accountId: number; to: number; people: number; week: string },
  note: Note,
): Promise<BenchRow[]> {
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
    memoryRow(
      `Memory of the process that closes the week of ${withThousands(people)} people`,
      closing.peak,
      4e9,
    ),
    statementsRow(`Statements to close the week of ${withThousands(people)} people`, closing.statements),
    {
      what: `GET /v1/groups of another account while it closes, 99th percentile`,
      measured: time(p99),
      target: '≤ 250 ms',
      met: p99 <= 250,
    },
  ];
}

/** Sends `mailed` of the waiting invitations to a mail server that accepts everything. The floor is a bare pool of nodemailer. */
async function measureMailing(
  service: Service,
  accountId: number,
  { people, mailed }: Size,
): Promise<BenchRow> {
  const { pool } = service;
  const sink = await service.beside('sink.ts');
  const url = `smtp://127.0.0.1:${sink.first as number}`;
  const keys = join(service.dataDir, 'keys');
  const mailing = await service.beside('mailing.ts', service.databaseUrl, keys, url);
  // All others are due later.
  const at = Date.now();
  await pool`
    update messages set due_at = to_timestamp(${at / 1000 - 1}::double precision)
    where  account_id = ${accountId}
      and  user_id <= (select user_id from messages where account_id = ${accountId}
                       order by user_id offset ${mailed - 1} limit 1)`;
  const bare = Array.from({ length: mailed }, (_, i) => ({
    company: 'Bench',
    firstName: `P${i}`,
    email: `person.${i}@example.com`,
  }));
  const send = async (order: MailingOrder) => {
    const ms = await mailing.request(order);
    const arrived = ((await sink.request('count')) as string[]).length;
    if (typeof ms !== 'number' || arrived !== mailed)
      throw new Error(`${arrived} of ${mailed} emails arrived. ${typeof ms === 'number' ? '' : String(ms)}`);
    return (mailed / ms) * 3_600_000;
  };
  const floor = await send({ bare });
  const rate = await send({ at });
  for (const one of [mailing, sink]) one.end();
  return {
    what: `Invitations an hour in a week of ${withThousands(people)} people, ${withThousands(mailed)} of them sent (floor: a bare nodemailer pool)`,
    measured: withThousands(Math.round(rate)),
    floor: withThousands(Math.round(floor)),
    ratio: ratioText(rate / floor),
  };
}
