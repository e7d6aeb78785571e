// Answers and messages when processes are killed: acknowledged answers are kept, and no one gets a message twice.
import { join } from 'node:path';
import { dayIn } from '@soundings/contract/weeks.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { openLink } from './answers/answering.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { randomText } from './base/crypto/secrets.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { createUser } from './people/users.ts';
import { weekdayOf } from './rounds/send-times.ts';
import { askPeople, planAsking } from './testing/asking.ts';
import { caseCount } from './testing/house/cases.ts';
import {
  connectionsTo,
  databaseOf,
  isReady,
  newDataDir,
  type Service,
  started,
  useDirectory,
} from './testing/processes/processes.ts';
import { inviteByMail } from './auth/sign-in-invitations.ts';
import { openSmtp } from './testing/smtp.ts';
import { until } from './testing/until.ts';

useDirectory();

/** A time zone in which it is about noon, so that neither the day nor the week ends during a test. */
const timezone = (() => {
  const hour = new Date().getUTCHours();
  return hour < 12 ? `Etc/GMT-${12 - hour}` : `Etc/GMT+${hour - 12}`;
})();
const today = () => dayIn(timezone, Date.now());
/** Returns settings of a schedule that is due immediately, on any day and at any hour. */
const atOnce = () => ({
  weekday: weekdayOf(today()),
  hour: 0,
  anyHour: true,
  fromDay: today(),
  reminderDays: null,
  reminderHour: null,
});

async function newAccount(pool: Pool): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test', timezone });
    await createUser(tx, id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return id;
  });
}

/** Returns a second instance of a service's keys. */
const keysOf = ({ dataDir }: Service, pool: Pool) =>
  new AnswerKeys(pool, { place: 'file', directory: join(dataDir, 'keys') });
/** The browser session that all people use. */
const visit = randomText(27);

describe('while people answer', () => {
  test.each([
    ['the service', async ({ child }: Service) => void child.kill('SIGKILL')],
    [
      'PostgreSQL',
      async ({ dataDir }: Service) => {
        const { pid } = (await databaseOf(dataDir))!;
        process.kill(pid, 'SIGKILL');
        // The service may not have noticed yet, and then it still says that it is ready.
        await until(async () => ((await databaseOf(dataDir)) ?? { pid }).pid !== pid);
      },
    ],
  ])('%s is killed: every acknowledged answer is kept', async (who, kill) => {
    const first = await started(await newDataDir());
    const before = await connectionsTo(first);
    const accountId = await newAccount(before);
    const { links, questionIds } = await askPeople({ pool: before, keys: keysOf(first, before) }, accountId, {
      count: 120,
      now: Date.now(),
      ...atOnce(),
    });
    const question = questionIds.get('workload-amount') as number;
    const acknowledged = new Map<string, number>();
    const state = { isOver: false };
    const answerOn = async (own: string[]) => {
      for (let i = 0; !state.isOver; i++) {
        const [link, value] = [own[i % own.length] as string, 1 + (i % 5)];
        const response = await fetch(`${first.address}/a/${link}/answers`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie: `soundings_visit=${visit}` },
          body: JSON.stringify({ question, value }),
        }).catch(() => undefined);
        if (response?.status !== 204) {
          // It is unknown whether the answer was saved, so the previous one may have been replaced.
          acknowledged.delete(link);
          return;
        }
        acknowledged.set(link, value);
      }
    };
    // One connection for each person, so that their answers arrive in order.
    const answering = Array.from({ length: 20 }, (_, i) =>
      answerOn(links.filter((_link, j) => j % 20 === i)),
    );
    await until(async () => acknowledged.size >= 80);
    await kill(first);
    state.isOver = who !== 'the service';
    await Promise.all(answering);
    expect(acknowledged.size).toBeGreaterThan(50);
    const second = who === 'the service' ? await started(first.dataDir) : first;
    await until(() => isReady(second));
    const pool = await connectionsTo(second);
    const keys = keysOf(second, pool);
    for (const [link, value] of acknowledged) {
      expect((await openLink(pool, keys, { link, visit }))?.answers.get(question)?.value).toBe(value);
    }
  });
});

test('a service that is killed while it sends invitations to sign in sends none twice, and says for which the delivery status is unknown', async () => {
  let kill = () => {};
  // The third email has arrived, but the service never reads that it was accepted.
  const smtp = await openSmtp({ refuseMail: () => void (smtp.mails.length === 2 && kill()) });
  onTestFinished(() => smtp.close());
  const settings = { SMTP_URL: smtp.url, MAIL_FROM: 'asking@example.com' };
  const first = await started(await newDataDir(), settings);
  kill = () => void first.child.kill('SIGKILL');
  const before = await connectionsTo(first);
  const accountId = await newAccount(before);
  await inTransaction(before, async (tx) => {
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const email = `${name}@example.org`;
      ids.push(await createUser(tx, accountId, { firstName: name, lastName: 'Ek', email, role: 'Manager' }));
    }
    await inviteByMail(tx, accountId, ids);
  });
  await first.exited;
  kill = () => {};
  const pool = await connectionsTo(await started(first.dataDir, settings));
  const states = async () =>
    (await pool<{ state: string }[]>`select state from sign_in_invitations order by user_id`).map(
      ({ state }) => state,
    );
  await until(async () => !(await states()).some((state) => ['waiting', 'sending'].includes(state)));
  expect(await states()).toEqual(['sent', 'sent', 'unknown', 'sent', 'sent', 'sent']);
  const to = smtp.mails.flatMap((mail) => mail.to);
  expect(to.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@example.org`));
});

/** How many emails are sent at the same time. */
const connections = 4;
/** How often the service is killed while it sends. */
const kills = caseCount('MAIL_KILLS', 1);

test(
  `a service that is killed ${kills} times while it sends messages sends none twice, and none is lost without a record`,
  { timeout: 300_000 + kills * 20_000 },
  async () => {
    // Until the service is killed, it sends some tens of messages more than the test waits for.
    const people = 120 + kills * 60;
    const smtp = await openSmtp();
    onTestFinished(() => smtp.close());
    const settings = {
      SMTP_URL: smtp.url,
      MAIL_FROM: 'asking@example.com',
      SMTP_CONNECTIONS: String(connections),
    };
    let service = await started(await newDataDir(), settings);
    let pool = await connectionsTo(service);
    const accountId = await newAccount(pool);
    await planAsking(pool, accountId, { count: people, ...atOnce() });
    await pool`select graphile_worker.add_job('open rounds')`;
    await until(async () => (await pool`select 1 from messages limit 1`).length > 0);
    // Sends messages as the service does each minute.
    const send = () => pool`select graphile_worker.add_job('send messages', job_key => 'each minute')`;
    // The emails that each killed process had begun to send, as far as the database knows.
    const begun: string[][] = [];
    for (let kill = 1; kill <= kills; kill++) {
      await send();
      const enough = smtp.mails.length + 10 + (kill % 10);
      await until(async () => smtp.mails.length >= enough);
      service.child.kill('SIGKILL');
      await service.exited;
      const killedAt = new Date();
      service = await started(service.dataDir, settings);
      pool = await connectionsTo(service);
      // The messages that it had taken are released after a few minutes, and those that it was sending are given up after a quarter of
      // an hour, which this simulates. The next process may already be sending others.
      await pool`update messages set due_at = now() where state = 'waiting'`;
      const ended = await pool<{ email: string }[]>`
        update messages m set begun_at = now() - interval '1 hour'
        from   users u
        where  m.state = 'sending' and m.begun_at < ${killedAt} and m.begun_at > now() - interval '30 minutes'
          and  u.account_id = m.account_id and u.user_id = m.user_id
        returning u.email`;
      begun.push(ended.map(({ email }) => email));
    }
    await until(async () => {
      await send();
      return (await pool`select 1 from messages where state in ('waiting', 'sending')`).length === 0;
    });
    const to = smtp.mails.flatMap((mail) => mail.to);
    expect(new Set(to).size).toBe(to.length);
    const unknown = await pool<{ email: string }[]>`
      select u.email
      from   messages m
      join   users u on u.account_id = m.account_id and u.user_id = m.user_id
      where  m.state = 'unknown'`;
    const missing = unknown.filter(({ email }) => !to.includes(email));
    expect(to.length + missing.length).toBe(people);
    // SMTP can't do better: the emails on its connections were about to be sent when the process was killed.
    if (kills > 1)
      process.stdout.write(
        `${kills} kills: ${to.length} of ${people} arrived, ${missing.length} missing, ${unknown.length} unknown\n`,
      );
    const missed = begun.map((emails) => missing.filter(({ email }) => emails.includes(email)).length);
    expect(missing.length, 'None was missed by a process that was not killed.').toBe(
      missed.reduce((sum, one) => sum + one, 0),
    );
    for (const one of missed) expect(one).toBeLessThanOrEqual(connections);
  },
);
