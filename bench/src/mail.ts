// Invitations: how many emails an hour the service hands to a mail server that accepts everything immediately, compared with a bare pool of
// nodemailer that sends the same emails. The two run alternately: A B A B.
// Run alone, because parallel runs would affect each other's times.
import { lockAccount } from '@soundings/server/src/accounts/accounts.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { defineLibrary } from '@soundings/server/src/questions/questions.ts';
import { selectQuestions } from '@soundings/server/src/questions/questions.sql.ts';
import { openDueRounds } from '@soundings/server/src/rounds/opening.ts';
import { mondays } from '@soundings/server/src/testing/asking.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import { createSchedule } from '@soundings/server/src/rounds/schedules.ts';
import { weekdayOf } from '@soundings/server/src/rounds/send-times.ts';
import { join } from 'node:path';
import { attribute } from './company.ts';
import { type BenchRow, median, ratioText } from './measuring/measure.ts';
import type { Plans, Sized } from './measuring/plans.ts';
import type { Beside, Service } from './measuring/service.ts';
import { pushBodyOf, push } from './push.ts';
import type { MailingOrder } from './processes/mailing.ts';

type Plan = { people: number; rounds: number };

export const mailPlans: Plans<Plan> = {
  whole: { people: 3_000, rounds: 2 },
  smoke: { people: 30, rounds: 1 },
};

/** The share of the bare pool's rate that we require, and the best rate that a comparable product has published, in emails an hour. */
const [minimumShare, published] = [0.7, 15_000];

type Scene = { service: Service; accountId: number; mailing: Beside; sink: Beside; people: string[] };

export const benchMail: Sized<Plan> =
  ({ people, rounds }) =>
  async (say, start) => {
    const service = await start();
    try {
      const sink = await service.beside('sink.ts');
      const url = `smtp://127.0.0.1:${sink.first as number}`;
      const mailing = await service.beside(
        'mailing.ts',
        service.databaseUrl,
        join(service.dataDir, 'keys'),
        url,
      );
      const scene = { service, mailing, sink, ...(await openSurvey(service, people)) };
      await rateOf(scene, await sendInvitations(scene)); // not measured: code is compiled meanwhile
      const rates: { own: number[]; bare: number[] } = { own: [], bare: [] };
      for (let i = 0; i < rounds; i++) {
        rates.bare.push(await rateOf(scene, await sendBare(scene)));
        rates.own.push(await rateOf(scene, await sendInvitations(scene)));
        say(
          `round ${i + 1}: ${Math.round(rates.own[i]!)} emails an hour, bare ${Math.round(rates.bare[i]!)}`,
        );
      }
      return { rows: [rowOf(people, rates)], postgres: service.postgres };
    } finally {
      await service.stop();
    }
  };

/** Pushes people and opens a round that asks all of them now. Their invitations are waiting. */
async function openSurvey(service: Service, count: number): Promise<{ accountId: number; people: string[] }> {
  const { pool, keys } = service;
  const account = await service.account(attribute);
  const people = Array.from({ length: count }, (_, i) => `p${i}@bench.example`).toSorted();
  const users = people.map((email, i) => ({
    externalId: `p${i}`,
    firstName: `First${i}`,
    lastName: `Last${i}`,
    email,
    accessInfo: { memberOf: ['all'] },
  }));
  const company = { groups: [{ externalId: 'all', name: 'Everyone' }], users };
  await push(service, account, pushBodyOf(company), { created: count });
  const today = dayIn('UTC', Date.now());
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.id);
    await defineLibrary(tx, account.id, 'en');
    const questions = await selectQuestions(tx, account.id);
    const [group] = await tx<{ id: number }[]>`
      select group_id as id from groups where account_id = ${account.id} and external_id = 'all'`;
    const when = { weekday: weekdayOf(today), hour: 0, anyHour: true, fromDay: today };
    const schedule = {
      ...when,
      groupIds: [group!.id],
      questionIds: questions.slice(0, 2).map(({ id }) => id),
      reminderDays: null,
      reminderHour: null,
    };
    await createSchedule(tx, account.id, mondays(schedule));
  });
  await openDueRounds(pool, keys, Date.now());
  const [row] = await pool<{ waiting: number }[]>`
    select count(*)::integer as waiting from messages where account_id = ${account.id}`;
  if (row?.waiting !== count) throw new Error(`${row?.waiting} of ${count} invitations are waiting`);
  return { accountId: account.id, people };
}

async function sendInvitations({ service, accountId, mailing }: Scene): Promise<number> {
  await service.pool`
    update messages set state = 'waiting', due_at = now() - interval '1 minute', late_since = null
    where  account_id = ${accountId}`;
  return millisecondsOf(await mailing.request({} satisfies MailingOrder));
}

async function sendBare({ mailing, people }: Scene): Promise<number> {
  const bare = people.map((email, i) => ({ company: 'Bench', firstName: `P${i}`, email }));
  return millisecondsOf(await mailing.request({ bare } satisfies MailingOrder));
}

function millisecondsOf(reply: unknown): number {
  if (typeof reply !== 'number') throw new Error(`Sending failed: ${String(reply)}`);
  return reply;
}

/** Returns the emails an hour, after checking that everyone got exactly one. */
async function rateOf({ sink, people }: Scene, milliseconds: number): Promise<number> {
  const recipients = (await sink.request('count')) as string[];
  if (recipients.toSorted().join() !== people.join())
    throw new Error(`${recipients.length} emails arrived for ${people.length} people, or not one for each`);
  return (people.length / milliseconds) * 3_600_000;
}

function rowOf(people: number, { own, bare }: { own: number[]; bare: number[] }): BenchRow {
  const [rate, floor] = [median(own), median(bare)];
  const hourly = (value: number) => Math.round(value).toLocaleString('en');
  return {
    what: `Invitations an hour, ${people.toLocaleString('en')} people (floor: a bare nodemailer pool)`,
    measured: hourly(rate),
    floor: hourly(floor),
    ratio: ratioText(rate / floor),
    target: `≥ ${minimumShare}×, ≥ ${published.toLocaleString('en')}`,
    met: rate / floor >= minimumShare && rate >= published,
  };
}
