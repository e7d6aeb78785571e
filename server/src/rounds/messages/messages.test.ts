// Messages to the people asked: each is sent once and at a suitable hour, whatever stops, fails or runs twice.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { weekCommands } from '../../cli/weeks.ts';
import { saveAnswers, openLink } from '../../answers/answering.ts';
import { inTransaction, openPool, type Pool } from '../../db/db.ts';
import { type SmtpBehaviour, openSilentSmtp } from '../../mail/silent-smtp.fixture.ts';
import { openMailer } from '../../mail/mailer.ts';
import { deleteUsers } from '../../people/users.sql.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { keepOpen, untilWaiting } from '../../testing/keep-open.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { askPeople, mondays, noon, planAsking } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { openSmtp, type SmtpOptions } from '../../testing/smtp.ts';
import { openSender } from './messages.ts';
import { selectDue, selectMessageCounts, selectRefusals } from './message-counts.sql.ts';
import { recordRefused } from './messages.sql.ts';
import { recordSent } from './sent-messages.sql.ts';
import { exportLinks } from '../links.ts';
import { openDueRounds } from '../opening.ts';
import { createSchedule, removeSchedule } from '../schedules.ts';
import { setSurveyEmails } from './opt-outs.sql.ts';

const publicUrl = 'https://soundings.example';
const minute = 60_000;
const onlyMail = { mail: true, sms: false };
/** Friday at 9, when people who have not answered get a reminder. Everyone was asked on Wednesday at noon. */
const friday = Date.parse('2026-11-20T09:00:00Z');
const reminded = { reminderDays: 4, reminderHour: 9 };

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** Creates an account, and deletes all other messages, because a sender sends what is due of all accounts. */
async function newAccount() {
  const { pool, url } = database;
  await pool`delete from messages`;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Nordwind', timezone: 'UTC' }));
  return { pool, url, accountId: id };
}

/** Creates an account whose people are asked at noon. No message is sent yet. */
async function asked(options: Parameters<typeof askPeople>[2] = {}) {
  const { pool, url, accountId } = await newAccount();
  return { url, pool, ...(await askPeople(database, accountId, options)) };
}

async function newMailServer(options: SmtpOptions = {}) {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  return smtp;
}

async function newSilentServer(behaviour: SmtpBehaviour) {
  const smtp = await openSilentSmtp(behaviour);
  onTestFinished(() => smtp.close());
  return smtp;
}

/** Creates a sender, and returns its log too. Without an address it has no mail server. */
function senderOf(pool: Pool, smtpUrl: string | undefined, response = 10_000) {
  const { log, lines } = openLogLines();
  const mailer =
    smtpUrl === undefined ? undefined : openMailer(smtpUrl, 'hr@example.com', { connect: 2000, response });
  onTestFinished(() => mailer?.close());
  return { send: openSender({ pool, keys: database.keys, mailer, publicUrl, log }), lines };
}

const countsOf = async (pool: Pool, accountId: number) =>
  Object.fromEntries(
    (await selectMessageCounts(pool, accountId, 0)).map(({ kind, state, count }) => [
      `${kind} ${state}`,
      count,
    ]),
  );
const namesOf = (to: Iterable<string | string[]>) =>
  [...to]
    .flat()
    .map((address) => address.split('@')[0] as string)
    .toSorted();
const duesOf = async (pool: Pool) => {
  const rows = await pool<{ name: string; due: number; attempts: number }[]>`
    select split_part(email, '@', 1) as name, (extract(epoch from due_at) * 1000)::float8 as due, attempts
    from   messages join users using (account_id, user_id) where state = 'waiting' order by 1`;
  return new Map(rows.map(({ name, due, attempts }) => [name, { due, attempts }]));
};

test("a message of a live week says that results are live, even if the account's setting has changed since", async () => {
  const { pool, accountId } = await newAccount();
  await pool`update accounts set publication = 'live' where account_id = ${accountId}`;
  await askPeople(database, accountId, { count: 1, reminderDays: null, reminderHour: null });
  await pool`update accounts set publication = 'weekly' where account_id = ${accountId}`;
  const smtp = await newMailServer();
  await senderOf(pool, smtp.url).send(noon);
  expect(smtp.mails[0]?.text).toContain('Results are live: they are shown while the week is still open');
});

describe('a message is sent once', () => {
  test('if two processes send at the same time, and each link opens what the message names', async () => {
    const { pool, url, accountId } = await asked({ count: 300, language: 'sv', ...reminded });
    const [smtp, other] = [await newMailServer(), openPool(url, 5)];
    onTestFinished(() => other.end());
    const senders = [senderOf(pool, smtp.url), senderOf(other, smtp.url)];
    await Promise.all(senders.map(({ send }) => send(noon)));
    await Promise.all(senders.map(({ send }) => send(noon + 10 * minute)));
    expect(new Set(namesOf(smtp.mails.map(({ to }) => to))).size).toBe(300);
    expect(smtp.mails).toHaveLength(300);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation sent': 300, 'reminder waiting': 300 });
    const { text, to, headers } = smtp.mails[17]!;
    expect(headers['subject']).toBe('2 frågor från Nordwind, ungefär en minut');
    expect(headers['list-unsubscribe']).toMatch(/^<https:\/\/soundings\.example\/r\/[\w-]{32}\?none>$/);
    const link = text
      .split('\n')
      .find((line) => line.startsWith(publicUrl))!
      .split('/')
      .at(-1)!;
    const page = await openLink(pool, database.keys, { link, visit: null });
    expect(page?.firstName.toLowerCase()).toBe(namesOf(to)[0]);
    expect(page?.questions).toHaveLength(2);
  });

  test('or not at all if a process stops before the mail server has responded, because the status is unknown', async () => {
    const { pool, url, accountId } = await asked({ count: 3, reminderDays: null, reminderHour: null });
    const smtp = await newSilentServer((to) => (to.startsWith('p2') ? 'silent' : 'takes'));
    const stopped = senderOf(pool, smtp.url);
    const run = stopped.send(noon);
    await expect.poll(() => smtp.got.length).toBe(3);
    const next = openPool(url, 2);
    onTestFinished(() => next.end());
    const { send, lines } = senderOf(next, smtp.url);
    await send(noon + 10 * minute);
    await expect
      .poll(() => countsOf(pool, accountId))
      .toEqual({ 'invitation sending': 1, 'invitation sent': 2 });
    await pool`update messages set begun_at = now() - interval '1 hour' where account_id = ${accountId}`;
    await send(noon + 20 * minute);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation sent': 2, 'invitation unknown': 1 });
    expect(lines.map(({ msg }) => msg)).toEqual(['Delivery status unknown: a process stopped while sending']);
    await smtp.close();
    await run;
    await send(noon + 2 * 60 * minute);
    expect(namesOf(smtp.got)).toEqual(['p1', 'p2', 'p3']);
    expect((await duesOf(pool)).size).toBe(0);
  });

  test('if the server accepts it and disconnects, and the others are then sent one at a time', async () => {
    const { pool, accountId } = await asked({ count: 8, reminderDays: null, reminderHour: null });
    let manner: ReturnType<SmtpBehaviour> = 'hangs up';
    const smtp = await newSilentServer(() => manner);
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation unknown': 4, 'invitation waiting': 4 });
    await send(noon + 2 * minute);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation unknown': 5, 'invitation waiting': 3 });
    manner = 'takes';
    await send(noon + 4 * minute);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation unknown': 5, 'invitation sent': 3 });
    expect(new Set(smtp.got).size).toBe(8);
    expect(smtp.got).toHaveLength(8);
  });

  test('if the database fails after the server has accepted it', async () => {
    const { pool, accountId } = await asked({ count: 2, reminderDays: null, reminderHour: null });
    const drop = 'drop trigger if exists lost on messages';
    onTestFinished(async () => void (await pool.unsafe(drop)));
    await pool.unsafe(`create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$;
      create trigger lost before update on messages for each row when (new.state = 'sent') execute function lose()`);
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await expect(send(noon)).rejects.toThrow('lost');
    await pool.unsafe(drop);
    await send(noon + 60 * minute);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation sending': 2 });
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p1', 'p2']);
  });

  test('if a slow process holds it and another has sent it meanwhile', async () => {
    const { pool, url } = await asked({ count: 6, reminderDays: null, reminderHour: null });
    const [bad, good] = [await newSilentServer(() => 'silent'), await newMailServer()];
    const other = openPool(url, 2);
    onTestFinished(() => other.end());
    const slow = senderOf(pool, bad.url).send(noon);
    await expect.poll(() => bad.got.length).toBe(4);
    const { send } = senderOf(other, good.url);
    await send(noon + 6 * minute);
    await bad.close();
    await slow;
    await send(noon + 60 * minute);
    expect(namesOf([...bad.got, ...good.mails.flatMap(({ to }) => to)])).toEqual([
      'p1',
      'p2',
      'p3',
      'p4',
      'p5',
      'p6',
    ]);
  });

  test('if two schedules ask a person at the same time: one email names all questions', async () => {
    const { pool, accountId } = await newAccount();
    const { groupId, questionIds } = await planAsking(pool, accountId, { count: 3 });
    const more = ['workload-rested', ...questionIds.keys()].slice(0, 4).map((key) => questionIds.get(key)!);
    const second = mondays({ groupIds: [groupId], questionIds: [...new Set(more)] });
    await inTransaction(pool, (tx) => createSchedule(tx, accountId, second));
    expect(await openDueRounds(pool, database.keys, noon)).toHaveLength(2);
    const smtp = await newMailServer();
    await senderOf(pool, smtp.url).send(noon);
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p1', 'p2', 'p3']);
    const page = await openLink(pool, database.keys, {
      link: /\/a\/(\w+)/.exec(smtp.mails[0]!.text)![1] as string,
      visit: null,
    });
    expect(page!.questions.length).toBeGreaterThan(2);
    expect(smtp.mails[0]!.headers['subject']).toContain(`${page!.questions.length} questions`);
  });
});

describe('a mail server', () => {
  test('that is down is retried with growing intervals, and gets each message once when it is back', async () => {
    const { pool, accountId } = await asked({ count: 6, reminderDays: null, reminderHour: null });
    const first = await openSmtp();
    await first.close();
    const { send, lines } = senderOf(pool, first.url);
    await send(noon);
    const tried = (await duesOf(pool)).values().reduce((sum, { attempts }) => sum + attempts, 0);
    expect(tried).toBe(4);
    const waits: number[] = [];
    for (let now = noon + 2 * minute; waits.length < 7;) {
      // Of all messages only the first is due, because one is tried first.
      await pool`update messages m set due_at = to_timestamp(${now / 1000 + (24 * 60 * minute) / 1000}::float8) from users u
                 where u.account_id = m.account_id and u.user_id = m.user_id and u.email <> 'p1@example.org'`;
      await send(now);
      const { due } = (await duesOf(pool)).get('p1')!;
      waits.push(Math.round((due - now) / minute));
      now = due;
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60]);
    // They count as late since their first send time, although each is deferred.
    expect((await selectDue(pool, onlyMail, noon + 90 * minute)).mail).toEqual({
      count: 6,
      oldestSeconds: 90 * 60,
    });
    expect(lines.every(({ msg }) => msg.includes('will be retried'))).toBe(true);
    const second = await newMailServer({ port: first.port });
    await send(friday + 20 * minute);
    await send(friday + 80 * minute);
    expect(namesOf(second.mails.map(({ to }) => to))).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation sent': 6 });
    expect((await selectDue(pool, onlyMail, friday + 81 * minute)).mail).toEqual({
      count: 0,
      oldestSeconds: 0,
    });
  });

  test('that rejects one message delays no others; the reason is stored until an invitation is accepted, with other addresses removed', async () => {
    const { pool, accountId, userIds, week, scheduleId } = await asked({ count: 6, ...reminded });
    let refused = 'p2';
    const smtp = await newMailServer({
      refuseRecipient: (to) =>
        to.startsWith(refused) ? `550 5.1.1 <${to}> is now boss@example.org, ask it@example.net` : undefined,
    });
    const { send, lines } = senderOf(pool, smtp.url);
    await send(noon);
    expect(smtp.mails).toHaveLength(5);
    const [refusal, ...others] = await selectRefusals(pool, accountId);
    expect(others).toEqual([]);
    expect(refusal).toMatchObject({ userId: userIds[1], address: 'p2@example.org', reason: /550 5\.1\.1/ });
    expect(refusal!.reason + JSON.stringify(lines)).not.toMatch(/@|boss|\/a\//);
    await send(noon + 10 * minute);
    expect(smtp.mails).toHaveLength(5);
    // Due reminders are not counted: during an outage, only those to people who have not answered are left.
    expect((await selectDue(pool, onlyMail, friday + 60 * minute)).mail).toEqual({
      count: 0,
      oldestSeconds: 0,
    });
    // What happens to a reminder is recorded for no one, because only people who have not answered get one.
    refused = 'p3';
    await send(friday);
    expect(smtp.mails).toHaveLength(10);
    expect(lines.map(({ kind, userId }) => ({ kind, userId }))).toEqual([
      { kind: 'invitation', userId: userIds[1] },
      { kind: 'reminder', userId: undefined },
    ]);
    // The command does not show it either, nor how many there were.
    const show = weekCommands(() => ({ publicUrl, smtpUrl: undefined, sms: undefined }))['week show']!;
    const shown = (await show.run!(pool, { account: String(accountId) }, database.keys, () => '', '')) as {
      weeks: { messages: unknown[] }[];
    };
    expect(JSON.parse(JSON.stringify(shown.weeks[0]?.messages))).toEqual([
      { kind: 'invitation', state: 'refused', count: 1 },
      { kind: 'invitation', state: 'sent', count: 5 },
      { kind: 'reminder', state: 'sent' },
    ]);
    expect(await selectRefusals(pool, accountId)).toEqual([refusal]);
    const key = { accountId, userId: userIds[1]!, week, scheduleId, kind: 'invitation' } as const;
    await recordSent(pool, [{ key, address: refusal!.address }]);
    expect(await selectRefusals(pool, accountId)).toEqual([]);
  });

  test('that defers some emails, as in greylisting, gets all others first and those again later', async () => {
    const { pool } = await asked({ count: 110, reminderDays: null, reminderHour: null });
    let [tries, deferred] = [0, /./]; // at first, every email is deferred
    const smtp = await newMailServer({
      refuseRecipient: (to) => {
        tries++;
        return deferred.test(to) ? '451 4.7.1 later' : undefined;
      },
    });
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    expect(tries).toBe(110);
    deferred = /^p7@/;
    await send(noon + 5 * minute);
    expect(smtp.mails).toHaveLength(109);
    deferred = /^$/;
    await send(noon + 6 * minute);
    expect(smtp.mails).toHaveLength(109);
    await send(noon + 8 * minute);
    expect(smtp.mails).toHaveLength(110);
  });

  test('that is not set: messages wait, and the log says so once per run and what you can do', async () => {
    const { pool, accountId } = await asked({ count: 3 });
    const { send, lines } = senderOf(pool, undefined);
    const before = await duesOf(pool);
    await send(noon);
    await send(noon + minute);
    expect(lines).toHaveLength(2);
    expect(lines[0]!.msg).toMatch(/SMTP_URL is not set.*soundings links export/);
    expect(await duesOf(pool)).toEqual(before);
    const smtp = await newMailServer();
    await senderOf(pool, smtp.url).send(noon + minute);
    expect(smtp.mails).toHaveLength(3);
    await send(noon + 2 * minute);
    expect(lines).toHaveLength(2);
    expect(await countsOf(pool, accountId)).toMatchObject({ 'invitation sent': 3 });
  });
});

describe('a reminder', () => {
  test('goes only to active people who have not answered since they were asked and have not turned off reminders', async () => {
    const { pool, accountId, userIds, links, questionIds } = await asked({ count: 6, ...reminded });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    const answer = { questionId: questionIds.get('workload-amount') as number, value: 3 };
    expect(await saveAnswers(pool, database.keys, { link: links[0] as string, visit: null }, [answer])).toBe(
      'kept',
    );
    await setSurveyEmails(pool, accountId, userIds[1] as number, 'invitations');
    await pool`update users set active = false where account_id = ${accountId} and user_id = ${userIds[2] as number}`;
    await pool`delete from users where account_id = ${accountId} and user_id = ${userIds[3] as number}`;
    smtp.mails.length = 0;
    await send(friday - minute);
    expect(smtp.mails).toEqual([]);
    await send(friday);
    await send(friday + 10 * minute);
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p5', 'p6']);
    expect(smtp.mails[0]!.headers).toMatchObject({
      subject: 'Reminder: 2 questions from Nordwind, about a minute',
      'list-unsubscribe': expect.stringMatching(/^<https:\/\/soundings\.example\/r\/[\w-]+\?none>$/),
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    });
    // Inactive people can come back.
    expect(await countsOf(pool, accountId)).toEqual({
      'invitation sent': 5,
      'reminder sent': 2,
      // Reminders to people who have answered are kept, because a week without any would show that everyone has.
      'reminder unneeded': 1,
      'reminder waiting': 1,
    });
  });

  test('goes to no one who has answered, also if the schedule was removed meanwhile', async () => {
    const { pool, accountId, scheduleId, links, questionIds } = await asked({ count: 2, ...reminded });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    const answer = { questionId: questionIds.get('workload-amount') as number, value: 3 };
    await saveAnswers(pool, database.keys, { link: links[0] as string, visit: null }, [answer]);
    await inTransaction(pool, (tx) => removeSchedule(tx, accountId, scheduleId));
    smtp.mails.length = 0;
    await send(friday);
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p2']);
  });

  test('of two schedules is sent for the one without an answer, and counts the unanswered questions', async () => {
    const monday = Date.parse('2026-11-16T09:00:00Z');
    const { pool, accountId, groupId, questionIds, links } = await asked({ count: 2, now: monday });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(monday);
    const [first, second] = ['workload-amount', 'clarity-tasks'].map((key) => questionIds.get(key) as number);
    await saveAnswers(pool, database.keys, { link: links[0] as string, visit: null }, [
      { questionId: first as number, value: 3 },
    ]);
    const wednesdays = mondays({ groupIds: [groupId], questionIds: [second as number], weekday: 3 });
    await inTransaction(pool, (tx) => createSchedule(tx, accountId, wednesdays));
    const wednesday = monday + 2 * 24 * 60 * minute;
    await openDueRounds(pool, database.keys, wednesday);
    smtp.mails.length = 0;
    await send(wednesday);
    await send(wednesday + 60 * minute);
    // Both people are asked again, and the reminder to the one without answers waits for some hours.
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual(['p1@example.org', 'p2@example.org']);
    expect(smtp.mails.filter(({ headers }) => headers['subject']?.startsWith('Reminder'))).toEqual([]);
    smtp.mails.length = 0;
    await send(wednesday + 180 * minute);
    expect(smtp.mails.map(({ to }) => to[0])).toEqual(['p2@example.org']);
    await send(wednesday + 2 * 24 * 60 * minute);
    expect(smtp.mails.map(({ to }) => to[0])).toEqual(['p2@example.org', 'p1@example.org']);
    expect(smtp.mails[0]?.headers['subject']).toContain('3 questions');
    expect(smtp.mails[1]?.headers['subject']).toContain('2 questions');
  });

  test('an invitation of a second schedule with the same questions goes to everyone, answered or not', async () => {
    const monday = Date.parse('2026-11-16T09:00:00Z');
    const { pool, accountId, groupId, questionIds, links } = await asked({ count: 2, now: monday });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(monday);
    const same = questionIds.get('workload-amount') as number;
    await saveAnswers(pool, database.keys, { link: links[0] as string, visit: null }, [
      { questionId: same, value: 3 },
    ]);
    const wednesdays = mondays({ groupIds: [groupId], questionIds: [same], weekday: 3 });
    await inTransaction(pool, (tx) => createSchedule(tx, accountId, wednesdays));
    const wednesday = monday + 2 * 24 * 60 * minute;
    await openDueRounds(pool, database.keys, wednesday);
    smtp.mails.length = 0;
    await send(wednesday);
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual(['p1@example.org', 'p2@example.org']);
    expect(await countsOf(pool, accountId)).toMatchObject({ 'invitation sent': 4 });
  });

  test('waits for a late invitation, and is not sent to anyone who has answered in another way', async () => {
    const { pool, links, questionIds } = await asked({ count: 2, now: Date.parse('2026-11-16T09:00:00Z') });
    const answer = { questionId: questionIds.get('workload-amount') as number, value: 3 };
    await saveAnswers(pool, database.keys, { link: links[0] as string, visit: null }, [answer]);
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon); // the mail server is available from Wednesday noon on, and the reminder was due at nine
    // Counting invitations reveals nothing about who has answered.
    const invited = smtp.mails.map(({ to }) => to[0]).toSorted();
    expect(invited).toEqual(['p1@example.org', 'p2@example.org']);
    expect(new Set(smtp.mails.map(({ headers }) => headers['subject'])).size).toBe(1);
    await send(noon + 60 * minute);
    expect(smtp.mails).toHaveLength(2);
    await send(noon + 180 * minute);
    const [reminder, ...more] = smtp.mails.slice(2);
    expect(more).toEqual([]);
    expect(reminder?.to).toEqual(['p2@example.org']);
    expect(reminder?.headers['subject']).toContain('Reminder');
  });

  test('is sent once a week, even if two schedules would send one', async () => {
    const { pool, accountId, groupId, questionIds } = await asked({
      count: 2,
      reminderDays: 3,
      reminderHour: 9,
    });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    await inTransaction(pool, async (tx) => {
      const later = mondays({
        groupIds: [groupId],
        questionIds: [[...questionIds.values()][0] as number],
        weekday: 4,
        hour: 8,
        reminderDays: 1,
        reminderHour: 9,
      });
      await createSchedule(tx, accountId, later);
    });
    await send(Date.parse('2026-11-19T09:00:00Z')); // the reminder of the first schedule
    await openDueRounds(pool, database.keys, Date.parse('2026-11-19T10:00:00Z'));
    await send(Date.parse('2026-11-19T10:00:00Z')); // the invitation of the second schedule
    await send(friday + 60 * minute);
    const subjects = smtp.mails
      .filter(({ to }) => to[0] === 'p1@example.org')
      .map(({ headers }) => headers['subject']);
    expect(subjects.filter((subject) => subject?.startsWith('Reminder'))).toHaveLength(1);
    expect(subjects).toHaveLength(3);
  });

  test('is deleted when the week closes, with all messages, links and participants', async () => {
    const { pool, accountId, week } = await asked({ count: 6, ...reminded });
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    await closeWeekNow(pool, database.keys, accountId, week, friday - 1);
    await send(friday);
    expect(smtp.mails).toHaveLength(6);
    const countIn = (table: string) =>
      pool.unsafe(`select count(*)::int as n from ${table} where account_id = $1`, [accountId]);
    const tables = ['messages', 'links', 'participants'];
    const left = (await Promise.all(tables.map(countIn))).map(([row]) => row!['n'] as number);
    expect(left).toEqual([0, 0, 0]);
  });
});

describe('a person who has turned off all survey emails', () => {
  test('gets no invitation, neither of rounds that open later nor of one that is open, and no reminder', async () => {
    const { pool, accountId } = await newAccount();
    const { userIds } = await planAsking(pool, accountId, { count: 4, ...reminded });
    await setSurveyEmails(pool, accountId, userIds[0] as number, 'none');
    await openDueRounds(pool, database.keys, noon);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation waiting': 3, 'reminder waiting': 3 });
    await setSurveyEmails(pool, accountId, userIds[1] as number, 'none');
    const smtp = await newMailServer();
    const { send } = senderOf(pool, smtp.url);
    await send(noon);
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p3', 'p4']);
    await setSurveyEmails(pool, accountId, userIds[2] as number, 'none');
    smtp.mails.length = 0;
    await send(friday);
    expect(namesOf(smtp.mails.map(({ to }) => to))).toEqual(['p4']);
  });

  test('gets no email that was being sent when they turned it off', async () => {
    const { pool, accountId, userIds } = await asked({ count: 1, reminderDays: null, reminderHour: null });
    let isOff = false;
    const smtp = await newMailServer({
      refuseRecipient: () => {
        // The recipient is accepted after the decision to send, and before the end of the email.
        isOff = true;
        return undefined;
      },
    });
    const trigger = `create function off() returns trigger language plpgsql as $$ begin
        insert into reminder_opt_outs (account_id, user_id, all_emails)
        values (new.account_id, new.user_id, true) on conflict do nothing; return new; end $$;
      create trigger off after insert on links for each row execute function off()`;
    await pool.unsafe(trigger);
    onTestFinished(async () => void (await pool.unsafe('drop trigger off on links; drop function off()')));
    await senderOf(pool, smtp.url).send(noon);
    expect([isOff, smtp.mails]).toEqual([true, []]);
    expect(userIds).toHaveLength(1);
    expect(await countsOf(pool, accountId)).toEqual({ 'invitation waiting': 1 });
  });

  test('can be given a link by the employer, unless they were already emailed in that week', async () => {
    const { pool, accountId, userIds } = await asked({ count: 3, reminderDays: null, reminderHour: null });
    await setSurveyEmails(pool, accountId, userIds[0] as number, 'none');
    const smtp = await newMailServer();
    await senderOf(pool, smtp.url).send(noon);
    await setSurveyEmails(pool, accountId, userIds[1] as number, 'none');
    const { links } = await inTransaction(pool, (tx) =>
      exportLinks(tx, accountId, publicUrl, { channels: { mail: true, sms: false }, by: null }),
    );
    expect(links.map(({ userId }) => userId)).toEqual([userIds[0]]);
  });
});

describe('a late message', () => {
  const late = { count: 1, reminderDays: null, reminderHour: null };

  async function inZone(timezone: string) {
    const { pool, accountId } = await asked(late);
    await pool`update users set timezone = ${timezone} where account_id = ${accountId}`;
    const smtp = await newMailServer();
    return { pool, smtp, ...senderOf(pool, smtp.url) };
  }

  test('goes out at once during working hours, up to their last minute', async () => {
    const { smtp, send } = await inZone('Europe/Stockholm');
    await send(Date.parse('2026-11-19T18:58:00Z'));
    expect(smtp.mails).toHaveLength(1);
  });

  test.each([
    [
      'in the morning instead of at night',
      'Europe/Stockholm',
      '2026-11-19T19:01:00Z',
      '2026-11-20T07:00:00Z',
    ],
    ['in the morning of the same day', 'Asia/Kolkata', '2026-11-19T22:00:00Z', '2026-11-20T02:30:00Z'],
    [
      "in the person's time zone, not the account's",
      'America/New_York',
      '2026-11-19T08:00:00Z',
      '2026-11-19T13:00:00Z',
    ],
  ])('goes out %s', async (_, zone, now, then) => {
    const { pool, smtp, send } = await inZone(zone);
    await send(Date.parse(now));
    expect((await duesOf(pool)).get('p1')?.due).toBe(Date.parse(then));
    await send(Date.parse(then) - minute);
    expect(smtp.mails).toEqual([]);
    await send(Date.parse(then));
    expect(smtp.mails).toHaveLength(1);
  });

  test('is not sent if the week has ended by then, and on a weekend only if any hour is allowed', async () => {
    const smtp = await newMailServer();
    const saturday = Date.parse('2026-11-21T23:00:00Z');
    const strict = await asked(late);
    await senderOf(strict.pool, smtp.url).send(saturday);
    expect(smtp.mails).toEqual([]);
    expect(await countsOf(strict.pool, strict.accountId)).toEqual({});
    const free = await asked({ ...late, anyHour: true });
    await senderOf(free.pool, smtp.url).send(saturday);
    expect(smtp.mails).toHaveLength(1);
  });
});

test('a person can be removed while their message is being rejected: neither waits for the other forever', async () => {
  const { pool, accountId, userIds, scheduleId, week } = await asked();
  const [userId] = userIds as [number];
  const key = { accountId, userId, week, scheduleId, kind: 'invitation' as const };
  // The rejection has changed the message, and waits before it is recorded for the person.
  await pool.unsafe(`
    create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7399); return new; end $$;
    create trigger wait before insert on mail_refusals for each row execute function wait();`);
  onTestFinished(async () => void (await pool.unsafe('drop function wait cascade')));
  const release = await keepOpen(pool, (tx) => tx`select pg_advisory_xact_lock(7399)`);
  const refusal = { address: 'p1@example.org', reason: 'No such mailbox', now: noon, hasBegun: false };
  const outcomes = [
    recordRefused(pool, key, refusal, false),
    untilWaiting(pool, 1).then(() => inTransaction(pool, (tx) => deleteUsers(tx, accountId, [userId]))),
  ].map((one) => one.then(() => 'done').catch(({ message }: Error) => message));
  await untilWaiting(pool, 2);
  await release();
  expect(await Promise.all(outcomes)).toEqual(['done', 'done']);
  expect([...(await pool`select from messages where user_id = ${userId}`)]).toEqual([]);
  expect((await selectRefusals(pool, accountId)).map((one) => one.userId)).toEqual([]);
});
