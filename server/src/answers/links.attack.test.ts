// Attacks on personal links from outside, by someone who has an email, changes an address or hands out links. Each attack must
// fail. A link lets its holder answer, but neither reveals nor changes any answer that was given elsewhere (rules.md P13, P14).
import type { Problem } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { newLinks } from '../rounds/links.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { askedWeek, mondays, planAsking } from '../testing/asking.ts';
import { answersOfPerson } from '../testing/kept-answers.ts';
import type * as sealed from '../sealing/person-answers.ts';
import { type SendRequest, signInNew } from '../testing/signed-in.ts';
import { openSmtp, type ReceivedMail, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type World } from '../testing/world.ts';

/** The mutant treats every link and every browser as the link and browser that were used to answer the questions. */
const mutant = vi.hoisted(() => ({ isOn: false }));
vi.mock('../sealing/person-answers.ts', async (original) => {
  const real = await original<typeof sealed>();
  const isOwn: typeof real.isOwn = (...args) => mutant.isOn || real.isOwn(...args);
  const changeRefusalOf: typeof real.changeRefusalOf = (...args) =>
    mutant.isOn ? undefined : real.changeRefusalOf(...args);
  return { ...real, isOwn, changeRefusalOf };
});

/** Checks that the attack succeeds without the rule. Otherwise it would prove nothing. */
async function expectSucceedsWithMutant(tried: () => Promise<void>): Promise<void> {
  mutant.isOn = true;
  await expect(tried()).rejects.toThrow('expected');
  mutant.isOn = false;
}

// Times in Stockholm: a few minutes before people are asked, when they are asked, and when they get a reminder.
const [early, asking, reminding] = [
  '2026-11-16T07:30:00Z',
  '2026-11-16T08:00:30Z',
  '2026-11-18T08:00:30Z',
].map(Date.parse) as [number, number, number];
let now = early;

let world: World;
let smtp: TestSmtp;
/** The error with which the mail server refuses a recipient, once for each recipient. */
const refusals = new Map<string, string>();
beforeAll(async () => {
  smtp = await openSmtp({
    refuseRecipient: (address) => {
      const refusal = refusals.get(address);
      refusals.delete(address);
      return refusal;
    },
  });
  world = await openWorld(
    undefined,
    { smtpUrl: smtp.url, mailFrom: 'asking@example.com', publicUrl: 'http://soundings.test' },
    () => now,
  );
});
afterAll(async () => {
  await world?.close();
  await smtp?.close();
});

/** Runs a job that normally runs each minute. */
const run = async (name: string) => void (await world.pool`select graphile_worker.add_job(${name})`);
const linksIn = ({ text }: ReceivedMail) =>
  [...text.matchAll(/http:\/\/soundings\.test(\/a\/[0-9A-Za-z]{27})/g)].map(([, path]) => path as string);
const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to[0] === address);

type Office = {
  accountId: number;
  userIds: number[];
  request: SendRequest;
  /** One schedule asks the first question, another asks the second and sends reminders. */
  first: number;
  second: number;
  /** Returns the address of a person: of p1 for 1, and so on. */
  addressOf: (number: number) => string;
};

/** Creates people that two schedules ask from Monday on. Nothing is open yet. */
async function office(count: number): Promise<Office> {
  now = early;
  const { id: accountId } = await world.account({ timezone: 'Europe/Stockholm' });
  const planned = await planAsking(world.pool, accountId, {
    count,
    keys: ['workload-amount'],
    reminderDays: null,
    reminderHour: null,
  });
  const [first, second] = ['workload-amount', 'workload-rested'].map((key) => planned.questionIds.get(key));
  await inTransaction(world.pool, async (tx) => {
    const wanted = { groupIds: [planned.groupId], questionIds: [second as number], name: 'Second' };
    await createSchedule(tx, accountId, mondays(wanted));
    await tx`
      update users
      set    email = replace(email, '@', ${`-${accountId}@`}), email_key = replace(email_key, '@', ${`-${accountId}@`})
      where  account_id = ${accountId} and role = 'User'`;
  });
  const { request } = await signInNew(world, accountId, 'Administrator');
  const addressOf = (number: number) => `p${number}-${accountId}@example.org`;
  return {
    accountId,
    userIds: planned.userIds,
    request,
    first: first as number,
    second: second as number,
    addressOf,
  };
}

/** Opens the rounds that are due and sends their emails. */
async function askAll({ accountId, userIds, addressOf }: Office, mails: number): Promise<void> {
  now = asking;
  await run('open rounds');
  await until(
    async () =>
      (await world.pool`select 1 from participants where account_id = ${accountId}`).length >= userIds.length,
  );
  await run('send messages');
  await until(async () => userIds.flatMap((_, i) => mailsTo(addressOf(i + 1))).length >= mails);
}

type Seen = { status: number; text: string };
/** Returns a function that sends requests in a new browser session. */
function browser(): (method: string, path: string, body?: object | string) => Promise<Seen> {
  const visit = Math.random().toString(36).slice(2).padEnd(27, '0').slice(0, 27);
  return async (method, path, body) => {
    const isForm = typeof body === 'string';
    const reply = await fetch(world.address + path, {
      method,
      redirect: 'manual',
      headers: {
        cookie: `soundings_visit=${visit}`,
        ...(body !== undefined && {
          'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    return { status: reply.status, text: await reply.text() };
  };
}

const secret = 'Known to no one else';
/** Answers as a person with their own link and browser, and checks that they see the answer there. */
async function answer(
  link: string,
  question: number,
  value: number,
  { isHandedOut = false } = {},
): Promise<void> {
  const own = browser();
  const given = await own('POST', `${link}/answers`, { question, value, comment: secret });
  expect(given.status).toBe(204);
  // With a handed-out link, seeing the answer would show the administrator whether it was stored, which depends on whether there
  // was an earlier answer.
  expect((await own('GET', link)).text.includes(secret)).toBe(!isHandedOut);
}

const storedOf = async ({ accountId, userIds }: Office, number: number) =>
  answersOfPerson(world, accountId, askedWeek, userIds[number - 1] as number);

/**
 * Tries everything that a link allows to read or change an answer, and checks that nothing works. With a handed-out link, nothing
 * may show whether there is an answer either.
 */
async function attack(
  one: Office,
  number: number,
  link: string,
  { isHandedOut = false } = {},
): Promise<void> {
  const before = await storedOf(one, number);
  for (const query of ['', '?saved', '?empty', '?language=sv', '?language=de&saved']) {
    const { status, text } = await browser()('GET', `${link}${query}`);
    expect(status).toBe(200);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(' checked');
    expect(text.includes('data-fixed')).toBe(!isHandedOut && !query.includes('saved'));
  }
  for (const body of [
    { question: one.first, value: 1 },
    { question: one.first, skipped: true },
    { question: one.first, value: 1, comment: 'Mine' },
  ]) {
    const own = browser();
    const { status, text } = await own('POST', `${link}/answers`, body);
    expect([status, text.includes(secret)]).toEqual([isHandedOut ? 204 : 409, false]);
    expect((await own('GET', link)).text.includes('data-fixed')).toBe(!isHandedOut);
  }
  const forms = [`q${one.first}=1`, `s${one.first}=1`];
  for (const form of isHandedOut ? forms : [...forms, `q${one.first}=1&q${one.second}=1`]) {
    const { status, text } = await browser()('POST', link, form);
    expect([status, text.includes(secret)]).toEqual([isHandedOut ? 303 : 400, false]);
  }
  expect(await storedOf(one, number)).toEqual(before);
  expect(before.get(one.first)?.comment).toBe(secret);
}

describe('an email that others can read', () => {
  test('gives a mail server, shared mailbox or recipient of a forwarded mail no access to answers, to read or to change', async () => {
    const one = await office(2);
    await askAll(one, 2);
    const links = mailsTo(one.addressOf(1)).flatMap(linksIn);
    await answer(links[0] as string, one.first, 4);
    for (const link of links) await attack(one, 1, link);
    expect((await storedOf(one, 1)).get(one.first)).toMatchObject({ value: 4, comment: secret });
    await expectSucceedsWithMutant(() => attack(one, 1, links[0] as string));
  });

  test('a reminder to a changed address reveals and changes nothing, disables the old links and notifies the old address', async () => {
    const one = await office(2);
    await world.pool`update users set language = 'sv' where account_id = ${one.accountId} and role = 'User'`;
    const userId = one.userIds[0] as number;
    expect((await one.request(`POST /users/${userId}/adopt`, { externalId: 'p1' })).status).toBe(200);
    await askAll(one, 2);
    const before = [...new Set(mailsTo(one.addressOf(1)).flatMap(linksIn))];
    expect(before).toHaveLength(1);
    await answer(before[0] as string, one.first, 4);

    const spy = `spy-${one.accountId}@example.org`;
    expect((await one.request(`POST /users/${userId}/release`)).status).toBe(200);
    expect((await one.request(`PATCH /users/${userId}`, { email: spy })).status).toBe(200);
    refusals.set(one.addressOf(1), '451 later');
    now = reminding;
    await run('send messages');
    await until(async () => mailsTo(spy).length > 0);
    const [link] = linksIn(mailsTo(spy)[0] as ReceivedMail);
    await attack(one, 1, link as string);

    // The old links don't work, not even in the browser that answered.
    await until(async () => (await browser()('GET', before[0] as string)).status === 404);
    for (const old of before) {
      expect((await browser()('GET', old)).status).toBe(404);
      const given = await browser()('POST', `${old}/answers`, { question: one.second, value: 1 });
      expect(given.status).toBe(404);
    }
    // The old address is notified in the person's language, although the mail server rejected the email at first.
    await until(async () => mailsTo(one.addressOf(1)).length > 1);
    const notice = mailsTo(one.addressOf(1)).at(-1) as ReceivedMail;
    expect(notice.headers['subject']).toBe('Din enkätlänk har bytts ut');
    for (const part of [notice.text, notice.html, notice.raw]) {
      expect(part).not.toMatch(/https?:\/\//);
      expect(part).not.toContain('spy');
    }
    expect(refusals.size).toBe(0);
    expect(mailsTo(spy)).toHaveLength(1);
    // No link is replaced for the colleague whose address did not change.
    const [own] = mailsTo(one.addressOf(2)).flatMap(linksIn);
    expect((await browser()('GET', own as string)).status).toBe(200);
    expect(mailsTo(one.addressOf(2)).map(({ headers }) => headers['subject'])).not.toContain(
      'Din enkätlänk har bytts ut',
    );
  });

  test('if the status of the email to the new address is unknown, the old links are disabled as well', async () => {
    const one = await office(2);
    await askAll(one, 2);
    const [before] = mailsTo(one.addressOf(1)).flatMap(linksIn);
    const userId = one.userIds[0] as number;
    const changed = `new-${one.accountId}@example.org`;
    expect((await one.request(`PATCH /users/${userId}`, { email: changed })).status).toBe(200);
    // The state after a process is killed while it sends the email.
    await newLinks(world.pool, [{ accountId: one.accountId, userId, week: askedWeek, sentTo: changed }]);
    await world.pool`
      update messages set state = 'sending', begun_at = now() - interval '20 minutes'
      where  account_id = ${one.accountId} and user_id = ${userId} and kind = 'reminder'`;
    await run('send messages');
    await until(async () => (await browser()('GET', before as string)).status === 404);
    await until(async () => mailsTo(one.addressOf(1)).length > 1);
    expect(mailsTo(one.addressOf(1)).at(-1)?.headers['subject']).toBe('Your survey link has been replaced');
    expect(mailsTo(changed)).toEqual([]);
  });
});

type Exported = { csv: string; people: number };
const handOut = ({ request }: Office, isReplacing = false) =>
  request<Exported & Problem>(`POST /rounds/${askedWeek}/links`, { isReplacing });
const linksOf = (csv: string) =>
  csv
    .split('\r\n')
    .map((line) => /soundings\.test(\/a\/[0-9A-Za-z]{27})/.exec(line)?.[1])
    .filter((link) => link !== undefined);

describe('links that an administrator hands out', () => {
  test('overwrite nothing, so answering as five of six people does not reveal the answer of the sixth', async () => {
    const one = await office(6);
    for (const userId of one.userIds)
      expect((await one.request(`PATCH /users/${userId}`, { email: null })).status).toBe(200);
    await askAll(one, 0);
    const { status, body } = await handOut(one);
    expect([status, body.people]).toEqual([200, 6]);
    const own = linksOf(body.csv);
    for (const [i, link] of own.entries()) await answer(link, one.first, (i % 5) + 1, { isHandedOut: true });
    const stored = await storedOf(one, 1);
    expect(stored.get(one.first)?.giving.handedOut).toBe(true);
    for (const isReplacing of [false, true]) {
      const again = linksOf((await handOut(one, isReplacing)).body.csv);
      expect(again).toHaveLength(6);
      for (const [i, link] of again.entries()) await attack(one, i + 1, link, { isHandedOut: true });
    }
    // The audit log shows others that the links were handed out.
    const entries = await world.pool<{ details: object }[]>`
      select details from audit_entries
      where  account_id = ${one.accountId} and action = 'links exported' order by entry_id`;
    expect(entries.map(({ details }) => details)).toEqual([
      { people: 6, isReplacing: false },
      { people: 6, isReplacing: false },
      { people: 6, isReplacing: true },
    ]);
    const [last = ''] = linksOf((await handOut(one)).body.csv);
    await expectSucceedsWithMutant(() => attack(one, 1, last, { isHandedOut: true }));
  });

  test('do not exist for people who get emails, not even after the email is sent and the address is removed', async () => {
    const one = await office(3);
    const without = one.userIds[2] as number;
    await askAll(one, 3);
    const refused = async () => {
      const { status, body } = await handOut(one);
      return [status, body.details[0]?.type];
    };
    expect(await refused()).toEqual([409, 'no links to hand out']);
    expect((await one.request(`PATCH /users/${without}`, { email: null })).status).toBe(200);
    expect(await refused()).toEqual([409, 'no links to hand out']);
    const { body } = await one.request<{ open: { unreachable: number; linkable: number }[] }>('GET /rounds');
    expect(body.open).toMatchObject([{ unreachable: 1, linkable: 0 }]);
  });

  test('exist whether or not the person had answered when a reminder was due', async () => {
    const one = await office(3);
    for (const userId of one.userIds) await one.request(`PATCH /users/${userId}`, { email: null });
    await askAll(one, 0);
    const linkable = async () =>
      (await one.request<{ open: { linkable: number }[] }>('GET /rounds')).body.open[0]?.linkable;
    await world.pool`delete from messages where account_id = ${one.accountId}`;
    expect(await linkable()).toBe(3);
    await world.pool`
      insert into messages (account_id, user_id, week, schedule_id, kind, due_at, any_hour)
      select p.account_id, p.user_id, p.week, 1, 'reminder', now() + interval '1 day', true
      from   participants p where p.account_id = ${one.accountId} and p.user_id = ${one.userIds[0] as number}`;
    expect(await linkable()).toBe(3);
    for (const state of ['sent', 'unneeded', 'refused', 'unknown', 'waiting']) {
      await world.pool`
        update messages set state = ${state}, due_at = now() - interval '1 minute'
        where  account_id = ${one.accountId}`;
      expect([state, await linkable()]).toEqual([state, 2]);
    }
  });
});
