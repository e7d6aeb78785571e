// Invitations by email in random orders: clicks, jobs that run twice or are killed before or after the mail server accepts the email,
// servers that refuse, defer or do not confirm, and people who sign in, leave or get another address in between.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { inTransaction, type Transaction } from '../db/db.ts';
import type { Mailer } from '../mail/mail.ts';
import { Deferred, Rejected, Unconfirmed } from '../sending/outcomes.ts';
import { openMailer } from '../mail/mailer.ts';
import { changeUser, createUser } from '../people/users.ts';
import { cases } from '../testing/house/cases.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { openWorld, type World } from '../testing/world.ts';
import {
  type MailedInvitation,
  mailInvitation,
  planInvitations,
  inviteByMail,
} from './sign-in-invitations.ts';
import { setPasswordByLink } from './sign-in-links.ts';

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
let mailer: Mailer;
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent')); // its service runs none of these jobs
  mailer = openMailer(smtp.url, 'soundings@localhost');
});
afterAll(async () => {
  mailer.close();
  await world.close();
  await smtp.close();
});

/**
 * What happens to one run of a job. In this test, a mailer that never replies stands for a killed process, which writes
 * nothing any more.
 */
const fates = ['sent', 'killed before', 'killed after', 'rejected', 'deferred', 'unknown', 'down'] as const;
type Fate = (typeof fates)[number];

type Step =
  | { do: 'click' }
  | { do: 'run'; job: number; fate: Fate }
  | { do: 'sign in' | 'move' | 'leave' | 'return'; who: number }
  | { do: 'wait'; hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'click' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      job: fc.nat(9),
      fate: fc.constantFrom(...fates),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('sign in' as const, 'move' as const, 'leave' as const, 'return' as const),
      who: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 25) }) },
);

/** Runs a job, as the service does, until it ends or is killed. */
async function run(job: MailedInvitation, fate: Fate): Promise<void> {
  let dead: () => void = () => {};
  const death = new Promise<void>((resolve) => (dead = resolve));
  const send: Mailer['send'] = async (mail) => {
    if (fate === 'killed before' || fate === 'killed after') {
      if (fate === 'killed after') await mailer.send(mail);
      dead();
      return new Promise(() => {});
    }
    if (fate === 'rejected') throw new Rejected('550');
    if (fate === 'deferred') throw new Deferred('451');
    if (fate === 'down') throw new Error('no connection');
    await mailer.send(mail);
    if (fate === 'unknown') throw new Unconfirmed('connection lost');
  };
  const ran = mailInvitation(
    {
      pool: world.pool,
      mailer: { send, connections: 1, close: () => {} },
      publicUrl: 'http://localhost',
      log: openLog('silent'),
      noteRefusal: async () => {},
    },
    job,
  ).catch(() => {});
  await Promise.race([ran, death]);
}

/** Returns the jobs that were added in this transaction, and removes them from the queue: this test runs them. */
async function takeJobs(tx: Transaction, accountId: number): Promise<MailedInvitation[]> {
  const rows = await tx<{ payload: MailedInvitation }[]>`
    with due as (
      select j.id, j.payload from graphile_worker._private_jobs j
      join   graphile_worker._private_tasks t on t.id = j.task_id
      where  t.identifier = 'mail sign-in invitation' and (j.payload ->> 'accountId')::integer = ${accountId}
    ), gone as (select graphile_worker.complete_jobs(array_agg(id)) from due having count(*) > 0)
    select due.payload from due left join gone on true`;
  return rows.map(({ payload }) => payload);
}

async function play(steps: Step[]): Promise<void> {
  const { id: accountId } = await world.account();
  const own = Math.random().toString(36).slice(2);
  const addresses = new Map<number, string[]>();
  const people = await inTransaction(world.pool, async (tx) => {
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      const email = `${name}-${own}@example.org`;
      const id = await createUser(tx, accountId, { firstName: name, lastName: 'Ek', email, role: 'Manager' });
      addresses.set(id, [email]);
      ids.push(id);
    }
    return ids;
  });
  const jobs: MailedInvitation[] = [];
  const change = (who: number, changes: object) =>
    inTransaction(world.pool, (tx) => changeUser(tx, accountId, people[who] as number, changes, 0));
  for (const one of steps) {
    if (one.do === 'click') {
      await inTransaction(world.pool, async (tx) => {
        const { inviting } = await planInvitations(tx, accountId, people, 'mail');
        const ids = inviting.map(({ id }) => id);
        await inviteByMail(tx, accountId, ids);
        jobs.push(...(await takeJobs(tx, accountId)));
      });
    } else if (one.do === 'run') {
      const job = jobs[one.job % Math.max(1, jobs.length)];
      if (job) await run(job, one.fate);
    } else if (one.do === 'sign in') {
      const link = lastLink(addresses.get(people[one.who] as number) ?? []);
      const signedIn = { address: '127.0.0.1', canMail: false };
      if (link) await setPasswordByLink(world.pool, link, 'seven red bridges', signedIn).catch(() => {});
    } else if (one.do === 'move') {
      const email = `${Math.random().toString(36).slice(2)}-${own}@example.org`;
      addresses.get(people[one.who] as number)!.push(email);
      await change(one.who, { email });
    } else if (one.do === 'wait') {
      await world.pool`
        update sign_in_invitations set invited_at = invited_at - ${one.hours}::integer * interval '1 hour'
        where  account_id = ${accountId}`;
      await world.pool`
        update users set active_since = active_since - ${one.hours}::integer * interval '1 hour'
        where  account_id = ${accountId}`;
    } else await change(one.who, { active: one.do === 'return' });
  }
  // After a restart, every job that did not end runs again.
  for (const job of jobs) await run(job, 'sent');
  await check(accountId, addresses, jobs);
}

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const lastLink = (addresses: string[]): string | undefined =>
  addresses.flatMap((one) => mailsTo(one).flatMap(({ text }) => /#([\w-]{32})/.exec(text)?.[1] ?? [])).at(-1);

async function check(
  accountId: number,
  addresses: Map<number, string[]>,
  jobs: MailedInvitation[],
): Promise<void> {
  const rows = await world.pool<{ id: number; password: boolean; state: string | null }[]>`
    select u.user_id as id, p.hash is not null as password, i.state
    from   users u
    left   join passwords p on p.account_id = u.account_id and p.user_id = u.user_id
    left   join sign_in_invitations i on i.account_id = u.account_id and i.user_id = u.user_id and i.email_key = u.email_key
    where  u.account_id = ${accountId} and u.role = 'Manager'`;
  for (const { id, password, state } of rows) {
    // No request sends a person more than one email, however often its job runs or is killed.
    const requests = jobs.filter(({ userId }) => userId === id);
    const received = (addresses.get(id) ?? []).flatMap(mailsTo);
    const ids = received.map(({ headers }) => headers['message-id']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(received.length).toBeLessThanOrEqual(requests.length);
    if (password) expect(state).toBeNull();
  }
}

test('no order of clicks, kills and changes sends anyone two emails for one request, or leaves an invitation of someone who has a password', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 18 }).map((steps) => [{ do: 'click' as const }, ...steps]),
      play,
    ),
    cases(25),
  );
  expect(smtp.mails.length).toBeGreaterThan(0); // emails were sent
});
