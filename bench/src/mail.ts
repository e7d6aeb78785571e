// Invitations: how many emails an hour the service hands to a mail server that accepts everything at once, compared with a bare pool of
// nodemailer that sends the same emails. The two run alternately: A B A B.
// Run alone, because parallel runs would affect each other's times.
import { createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { createUser } from '@soundings/server/src/people/users.ts';
import { openDueRounds } from '@soundings/server/src/rounds/opening.ts';
import { planAsking } from '@soundings/server/src/testing/asking.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import { weekdayOf } from '@soundings/server/src/rounds/send-times.ts';
import { join } from 'node:path';
import { type BenchRow, median, ratioText } from './measuring/measure.ts';
import type { Plans, Sized } from './measuring/plans.ts';
import type { Beside, Service } from './measuring/service.ts';
import type { MailingOrder } from './processes/mailing.ts';

type Plan = { people: number; rounds: number };

export const mailPlans: Plans<Plan> = {
  whole: { people: 5_000, rounds: 3 },
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

/** Creates people and a round that asks all of them now. Their invitations are waiting. */
async function openSurvey(
  { pool, keys }: Service,
  count: number,
): Promise<{ accountId: number; people: string[] }> {
  const accountId = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Bench' });
    const email = `mail-${id}@bench.example`;
    await createUser(tx, id, { firstName: 'First', lastName: 'Administrator', email, role: 'Administrator' });
    return id;
  });
  const today = dayIn('UTC', Date.now());
  const now = { weekday: weekdayOf(today), hour: 0, anyHour: true, fromDay: today };
  await planAsking(pool, accountId, { count, ...now, reminderDays: null, reminderHour: null });
  await openDueRounds(pool, keys, Date.now());
  const rows = await pool<{ email: string }[]>`
    select u.email
    from   messages m
    join   users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId}`;
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} invitations are waiting`);
  return { accountId, people: rows.map(({ email }) => email).toSorted() };
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
