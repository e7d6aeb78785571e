// Invitations and reminders by text message, through a real gateway: who gets one, that each gets it once, what happens if the gateway
// fails, and that nothing reveals who has answered.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openLink, saveAnswers } from '../../answers/answering.ts';
import { cardKeyOf } from '../../cards/card-key.ts';
import { weekCommands } from '../../cli/weeks.ts';
import { inTransaction, openPool } from '../../db/db.ts';
import { openMailer } from '../../mail/mailer.ts';
import {
  gatewaySettings,
  type Manner,
  openTestGateway,
  type ReceivedRequest,
} from '../../sms/gateway.fixture.ts';
import { noon } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { openSmtp, type SmtpOptions } from '../../testing/smtp.ts';
import { issueCards, openCard } from '../card-links.ts';
import { exportLinks } from '../links.ts';
import { type LinkNotice, sendLinkNotice } from './link-notices.ts';
import { selectDue, selectMessageCounts, selectRefusals } from './message-counts.sql.ts';
import { openSender } from './messages.ts';
import { insertRefusal } from './messages.sql.ts';
import { recordSent } from './sent-messages.sql.ts';
import { setSurveyEmails } from './opt-outs.sql.ts';
import {
  askByPhone,
  friday,
  minute,
  phoneOf,
  publicUrl,
  reminded,
  smsSenderOf,
  type TextedAccount,
} from './sms.fixture.ts';

const onlySms = { mail: false, sms: true };
const both = { mail: true, sms: true };

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function newGateway(manner: (request: ReceivedRequest | undefined) => Manner = () => 'takes') {
  const gateway = await openTestGateway(manner);
  onTestFinished(() => gateway.close());
  return gateway;
}

async function newMailer(options: SmtpOptions = {}) {
  const smtp = await openSmtp(options);
  const mailer = openMailer(smtp.url, 'hr@example.com', { connect: 2000, response: 2000 });
  onTestFinished(() => mailer.close());
  onTestFinished(() => smtp.close());
  return { smtp, mailer };
}

const mailOf = (at: number) => `p${at + 1}@example.org`;
const phonesIn = (got: readonly ReceivedRequest[]) => got.map(({ json }) => json.phone).toSorted();
const linkIn = (text: string) => /\/a\/([0-9A-Za-z]{27})/.exec(text)?.[1] as string;
const countsOf = async (accountId: number, now = 0) =>
  Object.fromEntries(
    (await selectMessageCounts(database.pool, accountId, now)).map(({ kind, state, count }) => [
      `${kind} ${state}`,
      count,
    ]),
  );
const opens = async (link: string) =>
  (await openLink(database.pool, database.keys, { link, visit: null })) !== undefined;

const noticesOf = async (accountId: number) =>
  (
    await database.pool<{ payload: LinkNotice }[]>`
      select payload
      from   graphile_worker._private_jobs j
      join   graphile_worker._private_tasks t on t.id = j.task_id
      where  t.identifier = 'mail link notice' and (payload->>'accountId')::integer = ${accountId}`
  ).map(({ payload }) => payload);

/** Answers as the nth person, counted from 0, with the link of a text message. */
async function answer({ questionIds }: TextedAccount, link: string) {
  const given = [{ questionId: questionIds.get('workload-amount') as number, value: 3 }];
  expect(await saveAnswers(database.pool, database.keys, { link, visit: null }, given)).toBe('kept');
}

const changePerson = (accountId: number, userId: number, values: Record<string, string | null>) =>
  database.pool`update users set ${database.pool(values)} where account_id = ${accountId} and user_id = ${userId}`;

describe('a text message', () => {
  test('goes to people with a phone number and no email address, once, in their language; others get an email', async () => {
    const account = await askByPhone(database, {
      count: 3,
      language: 'sv',
      reminderDays: null,
      reminderHour: null,
    });
    const [, , third] = account.userIds as [number, number, number];
    await changePerson(account.accountId, third, { email: 'p3@example.org', email_key: 'p3@example.org' });
    const [{ smtp, mailer }, gateway, other] = [
      await newMailer(),
      await newGateway(),
      openPool(database.url, 3),
    ];
    onTestFinished(() => other.end());
    const senders = [database, { ...database, pool: other }].map((data) =>
      smsSenderOf(data, gateway.url, { mailer }),
    );
    await Promise.all(senders.map(({ send }) => send(noon)));
    await Promise.all(senders.map(({ send }) => send(noon + 10 * minute)));
    expect(phonesIn(gateway.got)).toEqual([phoneOf(1), phoneOf(2)]);
    expect(smtp.mails.map(({ to }) => to)).toEqual([['p3@example.org']]);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation sent': 3 });
    const [one] = gateway.got;
    expect(one!.json).toMatchObject({
      kind: 'invitation',
      language: 'sv',
      externalId: expect.stringMatching(/^p\d$/),
      email: null,
    });
    expect(one!.json.text).toMatch(
      /^Nordwind har frågor till dig, ca 1 min\. Länken är personlig: https:\/\/soundings\.example\/a\/[0-9A-Za-z]{27}$/,
    );
    const page = await openLink(database.pool, database.keys, { link: linkIn(one!.json.text), visit: null });
    expect(page).toMatchObject({ firstName: `P${one!.json.phone.at(-1)}`, isExported: false });
  });

  test('is sent to no one if the account has not turned text messages on, and is deleted if it turns them off', async () => {
    const off = await askByPhone(database, { sms: false, count: 2 });
    expect(await countsOf(off.accountId)).toEqual({});
    const on = await askByPhone(database, { count: 2, ...reminded });
    await database.pool`update accounts set sms = false where account_id = ${on.accountId}`;
    const gateway = await newGateway();
    await smsSenderOf(database, gateway.url).send(noon);
    expect(gateway.got).toEqual([]);
    expect(await countsOf(on.accountId)).toEqual({ 'reminder waiting': 2 });
  });

  test('goes to people with an email address, too, if there is no mail server', async () => {
    const account = await askByPhone(database, { count: 2 });
    await changePerson(account.accountId, account.userIds[0] as number, {
      email: 'p1@example.org',
      email_key: 'p1@example.org',
    });
    const gateway = await newGateway();
    await smsSenderOf(database, gateway.url).send(noon);
    expect(phonesIn(gateway.got)).toEqual([phoneOf(1), phoneOf(2)]);
  });

  test.each([
    [
      'the recipient',
      { refuseRecipient: (to: string) => (to === mailOf(0) ? '550 5.1.1 no such user' : undefined) },
    ],
    [
      'the whole email',
      { refuseMail: (raw: string) => (raw.includes(mailOf(0)) ? '554 5.7.1 no' : undefined) },
    ],
  ])(
    'replaces an invitation of which the mail server rejects %s, in the same round, once',
    async (_, options) => {
      const account = await askByPhone(database, { count: 3, ...reminded });
      const { accountId, userIds, week } = account;
      for (const [i, userId] of userIds.entries())
        await changePerson(accountId, userId, { email: mailOf(i), email_key: mailOf(i) });
      const { smtp, mailer } = await newMailer(options);
      const gateway = await newGateway();
      const { send, lines } = smsSenderOf(database, gateway.url, { mailer });
      for (const minutes of [0, 1, 2, 30]) await send(noon + minutes * minute);
      expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual([mailOf(1), mailOf(2)]);
      expect(gateway.got.map(({ json }) => [json.phone, json.kind])).toEqual([[phoneOf(1), 'invitation']]);
      expect(await countsOf(accountId)).toMatchObject({ 'invitation sent': 3 });
      expect(await opens(linkIn(gateway.got[0]!.json.text))).toBe(true);
      expect(lines).toMatchObject([
        { msg: expect.stringMatching(/rejected a message. It will be sent as a text/) },
      ]);
      // The address is still shown as not working. It gets no notice that its link was replaced, because it never got one.
      expect(await selectRefusals(database.pool, accountId)).toMatchObject([
        { userId: userIds[0], address: mailOf(0) },
      ]);
      const links = await database.pool`
      select sent_to as "sentTo" from links where account_id = ${accountId} and user_id = ${userIds[0]!} and week = ${week}`;
      expect(links).toMatchObject([{ sentTo: phoneOf(1) }]);
      expect(await noticesOf(accountId)).toEqual([]);
      await send(friday);
      expect(gateway.got.slice(1).map(({ json }) => [json.phone, json.kind])).toEqual([
        [phoneOf(1), 'reminder'],
      ]);
    },
  );

  test('is not sent for a rejected email without a gateway, a phone or the permission of the account, or if the number is rejected', async () => {
    const refuseRecipient = () => '550 5.1.1 no such user';
    for (const missing of ['gateway', 'phone', 'permission', 'number'] as const) {
      const { accountId, userIds } = await askByPhone(database, {
        count: 1,
        reminderDays: null,
        reminderHour: null,
      });
      await changePerson(accountId, userIds[0]!, {
        email: mailOf(0),
        email_key: mailOf(0),
        ...(missing === 'phone' && { phone: null }),
      });
      if (missing === 'permission')
        await database.pool`update accounts set sms = false where account_id = ${accountId}`;
      const { mailer } = await newMailer({ refuseRecipient });
      const gateway = await newGateway(() => ({ status: 400 }));
      const send =
        missing === 'gateway'
          ? openSender({ ...database, mailer, publicUrl, log: openLogLines().log })
          : smsSenderOf(database, gateway.url, { mailer }).send;
      for (const minutes of [0, 1, 2, 90]) await send(noon + minutes * minute);
      expect([missing, await countsOf(accountId)]).toEqual([missing, { 'invitation refused': 1 }]);
      expect([missing, gateway.got.length]).toEqual([missing, missing === 'number' ? 1 : 0]);
    }
  });

  test('replaces emails to an address that returned or rejected one: the reminder and later rounds, never an invitation twice', async () => {
    const account = await askByPhone(database, { count: 3, ...reminded });
    const { accountId, userIds, week } = account;
    const { pool } = database;
    for (const [i, userId] of userIds.entries())
      await changePerson(accountId, userId, { email: mailOf(i), email_key: mailOf(i) });
    const { smtp, mailer } = await newMailer();
    const gateway = await newGateway();
    const { send } = smsSenderOf(database, gateway.url, { mailer });
    await send(noon);
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual([0, 1, 2].map(mailOf));
    // The first email is returned, and the second to an address that the person no longer has.
    const returned = { reason: '550 no such mailbox', isReturned: true };
    await insertRefusal(pool, { accountId, userId: userIds[0]! }, { address: mailOf(0), ...returned });
    await insertRefusal(
      pool,
      { accountId, userId: userIds[1]! },
      { address: 'old@example.org', ...returned },
    );
    await send(noon + 10 * minute);
    expect(gateway.got).toEqual([]);
    smtp.mails.length = 0;
    await send(friday);
    expect(gateway.got.map(({ json }) => [json.phone, json.kind])).toEqual([[phoneOf(1), 'reminder']]);
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual([mailOf(1), mailOf(2)]);
    // The old link no longer works, as with any new address.
    const links = await pool`
      select sent_to as "sentTo" from links where account_id = ${accountId} and user_id = ${userIds[0]!} and week = ${week}`;
    expect(links).toMatchObject([{ sentTo: phoneOf(1) }]);
    // An accepted text message says nothing about the email address.
    const key = {
      accountId,
      userId: userIds[0]!,
      week,
      scheduleId: account.scheduleId,
      kind: 'invitation',
    } as const;
    const channel = () => selectDue(pool, both, noon);
    await pool`update messages set state = 'waiting' where account_id = ${accountId} and kind = 'invitation'`;
    expect(await channel()).toMatchObject({ mail: { count: 2 }, sms: { count: 1 } });
    await recordSent(pool, [{ key, address: phoneOf(1) }]);
    expect(await selectRefusals(pool, accountId)).toHaveLength(1);
    await pool`update messages set state = 'waiting' where account_id = ${accountId} and kind = 'invitation'`;
    // Email is tried again after a while, or at once with another address, or without text messages.
    await pool`update mail_refusals set at = now() - interval '91 days' where account_id = ${accountId}`;
    expect(await channel()).toMatchObject({ mail: { count: 3 }, sms: { count: 0 } });
    await pool`update mail_refusals set at = now() where account_id = ${accountId}`;
    await changePerson(accountId, userIds[0]!, { email: 'new@example.org' });
    expect(await channel()).toMatchObject({ mail: { count: 3 }, sms: { count: 0 } });
    await changePerson(accountId, userIds[0]!, { email: mailOf(0) });
    expect(await selectDue(pool, { mail: true, sms: false }, noon)).toMatchObject({ mail: { count: 3 } });
    await pool`update accounts set sms = false where account_id = ${accountId}`;
    expect(await channel()).toMatchObject({ mail: { count: 3 }, sms: { count: 0 } });
  });

  test('is not sent to anyone who has turned off survey messages, nor a reminder to anyone who has turned off reminders', async () => {
    const account = await askByPhone(database, { count: 3, ...reminded });
    const [first, second] = account.userIds as [number, number];
    await setSurveyEmails(database.pool, account.accountId, first, 'none');
    await setSurveyEmails(database.pool, account.accountId, second, 'invitations');
    const gateway = await newGateway();
    const { send } = smsSenderOf(database, gateway.url);
    await send(noon);
    await send(friday);
    expect(gateway.got.map(({ json }) => `${json.kind} ${json.phone}`).toSorted()).toEqual([
      `invitation ${phoneOf(2)}`,
      `invitation ${phoneOf(3)}`,
      `reminder ${phoneOf(3)}`,
    ]);
  });

  test('waits if there is no gateway, and the log says so; emails do not wait for it', async () => {
    const account = await askByPhone(database, { count: 2 });
    await changePerson(account.accountId, account.userIds[1] as number, {
      email: 'p2@example.org',
      email_key: 'p2@example.org',
    });
    const { smtp, mailer } = await newMailer();
    const { log, lines } = openLogLines();
    await openSender({ ...database, mailer, publicUrl, log })(noon);
    expect(smtp.mails).toHaveLength(1);
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('SMS_PROVIDER is not set')]);
    expect(await selectDue(database.pool, { mail: true, sms: false }, noon + minute)).toMatchObject({
      mail: { count: 0 },
      sms: { count: 1, oldestSeconds: 60 },
    });
  });
});

describe('a gateway', () => {
  test('that hangs up after a message gets it only once, and its status is unknown; the others are sent when it works again', async () => {
    const account = await askByPhone(database, { count: 6, reminderDays: null, reminderHour: null });
    let manner: Manner = 'hangs up';
    const gateway = await newGateway(() => manner);
    const { send, lines } = smsSenderOf(database, gateway.url);
    await send(noon);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation unknown': 4, 'invitation waiting': 2 });
    manner = 'takes';
    await send(noon + 2 * minute);
    await send(noon + 60 * minute);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation unknown': 4, 'invitation sent': 2 });
    expect(new Set(phonesIn(gateway.got)).size).toBe(6);
    expect(gateway.got).toHaveLength(6);
    expect(lines[0]).toMatchObject({
      msg: 'Delivery status unknown for a message',
      cause: expect.stringContaining('ECONNRESET'),
    });
  });

  test('that ignores repeated keys gets the message again, with the same key', async () => {
    const account = await askByPhone(database, { count: 1, reminderDays: null, reminderHour: null });
    let manner: Manner = 'hangs up';
    const gateway = await newGateway(() => manner);
    const { send } = smsSenderOf(database, gateway.url, { changes: { SMS_IDEMPOTENT: '1' } });
    await send(noon);
    manner = 'takes';
    await send(noon + 10 * minute);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation sent': 1 });
    expect(gateway.got).toHaveLength(2);
    expect(gateway.got[0]!.json.id).toBe(gateway.got[1]!.json.id);
    for (const { json } of gateway.got) expect(await opens(linkIn(json.text))).toBe(true);
  });

  test('that is down is retried with growing intervals, and gets each message once when it is back', async () => {
    const account = await askByPhone(database, { count: 1, reminderDays: null, reminderHour: null });
    let manner: Manner = { status: 500 };
    const gateway = await newGateway(() => manner);
    const { send, lines } = smsSenderOf(database, gateway.url);
    const waits: number[] = [];
    for (let now = noon; waits.length < 4;) {
      await send(now);
      const [row] = await database.pool<{ due: number }[]>`
        select (extract(epoch from due_at) * 1000)::float8 as due from messages where account_id = ${account.accountId}`;
      waits.push(Math.round((row!.due - now) / minute));
      now = row!.due;
    }
    expect(waits).toEqual([1, 2, 4, 8]);
    manner = 'takes';
    await send(noon + 60 * minute);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation sent': 1 });
    expect(gateway.got).toHaveLength(5);
    expect(lines.every(({ msg }) => msg.includes('will be retried'))).toBe(true);
  });

  test('that asks to wait gets nothing until then', async () => {
    const account = await askByPhone(database, { count: 8, reminderDays: null, reminderHour: null });
    let manner: Manner = { status: 429, headers: { 'retry-after': '1200' } };
    const gateway = await newGateway(() => manner);
    const { send } = smsSenderOf(database, gateway.url);
    await send(noon);
    expect(gateway.got.length).toBeLessThanOrEqual(4); // one for each connection
    const tried = gateway.got.length;
    manner = 'takes';
    await send(noon + 19 * minute);
    expect(gateway.got).toHaveLength(tried);
    await send(noon + 21 * minute);
    expect(await countsOf(account.accountId)).toEqual({ 'invitation sent': 8 });
    expect(gateway.got).toHaveLength(tried + 8);
  });

  test('that rejects a number delays no others; the reason is shown at the person, without the number, until a message is accepted', async () => {
    const account = await askByPhone(database, { count: 3, ...reminded });
    let rejected = phoneOf(2);
    const gateway = await newGateway((request) =>
      request?.json.phone === rejected
        ? { status: 400, body: JSON.stringify({ message: `${rejected} is no mobile`, ...request.json }) }
        : 'takes',
    );
    const { send, lines } = smsSenderOf(database, gateway.url);
    await send(noon);
    await send(noon + 10 * minute);
    expect(gateway.got).toHaveLength(3);
    const [refusal, ...others] = await selectRefusals(database.pool, account.accountId);
    expect(others).toEqual([]);
    expect(refusal).toMatchObject({
      userId: account.userIds[1],
      address: phoneOf(2),
      reason: expect.stringMatching(/^HTTP 400/),
    });
    expect(refusal!.reason + JSON.stringify(lines)).not.toMatch(/\+?4670|\/a\/|17406/);
    expect(lines).toMatchObject([
      { msg: 'The gateway for text messages rejected a message', userId: account.userIds[1] },
    ]);
    // What happens to a reminder is recorded for no one, because only people who have not answered get one.
    rejected = phoneOf(3);
    await send(friday);
    expect(lines[1]).toMatchObject({ kind: 'reminder' });
    expect(lines[1]).not.toHaveProperty('userId');
    expect(await selectRefusals(database.pool, account.accountId)).toEqual([refusal]);
  });
});

describe('who has answered', () => {
  test('is not revealed by the states of text messages, whatever the gateway does with reminders', async () => {
    for (const manner of ['takes', 'hangs up', { status: 500 }, { status: 400 }] as const) {
      const shown = [];
      for (const answered of [[], [0], [0, 1, 2]]) {
        const account = await askByPhone(database, { count: 3, ...reminded });
        let now: Manner = 'takes';
        const gateway = await newGateway(() => now);
        const { send } = smsSenderOf(database, gateway.url);
        await send(noon);
        const links = new Map(gateway.got.map(({ json }) => [json.phone, linkIn(json.text)]));
        for (const i of answered) await answer(account, links.get(phoneOf(i + 1)) as string);
        now = manner;
        await send(friday);
        const show = weekCommands(() => ({
          publicUrl,
          smtpUrl: undefined,
          sms: gatewaySettings('http://127.0.0.1:9/'),
        }))['week show']!;
        const { pool, keys } = database;
        const week = (await show.run!(pool, { account: String(account.accountId) }, keys, () => '', '')) as {
          weeks: { messages: unknown }[];
          refusals: unknown[];
        };
        shown.push(JSON.stringify([week.weeks[0]?.messages, week.refusals]));
        expect(await selectDue(pool, onlySms, friday + 60 * minute)).toMatchObject({ sms: { count: 0 } });
        const { links: handedOut } = await inTransaction(pool, (tx) =>
          exportLinks(tx, account.accountId, publicUrl, { channels: { mail: false, sms: false }, by: null }),
        ).catch(() => ({ links: [] }));
        expect(handedOut).toEqual([]);
      }
      expect([manner, new Set(shown).size]).toEqual([manner, 1]);
    }
  });

  test('is not revealed by links: none is in the log, the audit log or any table', async () => {
    const account = await askByPhone(database, { count: 2, ...reminded });
    const gateway = await newGateway((request) =>
      request?.json.phone === phoneOf(2) ? { status: 422, body: request.body } : 'takes',
    );
    const { send, lines } = smsSenderOf(database, gateway.url);
    await send(noon);
    await send(friday);
    const links = gateway.got.map(({ json }) => linkIn(json.text));
    expect(links.length).toBeGreaterThan(2);
    const tables = await database.pool<{ name: string }[]>`
      select schemaname || '.' || tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
    const rows = await Promise.all(
      tables.map(({ name }) => database.pool.unsafe(`select t::text from ${name} t`)),
    );
    const stored = JSON.stringify([rows, lines]);
    for (const link of links) expect(stored).not.toContain(link);
    for (const line of lines) expect(JSON.stringify(line)).not.toContain('4670');
    expect(account.userIds).toHaveLength(2);
  });
});

describe('one channel for each person', () => {
  test('no link is handed out to people who get a text message, and their cards rest', async () => {
    const { pool, keys } = database;
    const account = await askByPhone(database, { count: 2, reminderDays: null, reminderHour: null });
    const { accountId, userIds } = account;
    await changePerson(accountId, userIds[1] as number, { phone: null });
    const key = await cardKeyOf(pool, keys.secrets);
    const codes = await inTransaction(pool, (tx) =>
      issueCards(tx, key, { accountId, by: userIds[0] as number }, userIds),
    );
    const openedBy = (code: string, channels: typeof both) =>
      openCard(pool, keys.secrets, code, { channels });
    const exported = async (channels: typeof both) =>
      (
        await inTransaction(pool, (tx) => exportLinks(tx, accountId, publicUrl, { channels, by: null }))
      ).links.map(({ userId }) => userId);
    expect(await openedBy(codes[0] as string, both)).toBeUndefined();
    expect((await openedBy(codes[1] as string, both))?.link).toEqual(expect.any(String));
    expect(await exported(both)).toEqual([userIds[1]]);
    // Without a gateway nothing is sent, so both need a link.
    expect(await exported({ mail: true, sms: false })).toEqual(userIds);
    expect((await openedBy(codes[0] as string, { mail: true, sms: false }))?.link).toEqual(
      expect.any(String),
    );
    const gateway = await newGateway();
    await smsSenderOf(database, gateway.url).send(noon);
    // The message was sent, whatever is configured afterwards.
    expect(await exported({ mail: false, sms: false })).toEqual([userIds[1]]);
  });

  test('a card keeps working in a week for which no text message was planned, although they are on now', async () => {
    const { pool, keys } = database;
    const { accountId, userIds } = await askByPhone(database, { sms: false, count: 1 });
    const key = await cardKeyOf(pool, keys.secrets);
    const [code] = await inTransaction(pool, (tx) =>
      issueCards(tx, key, { accountId, by: userIds[0] as number }, userIds),
    );
    await pool`update accounts set sms = true where account_id = ${accountId}`;
    expect((await openCard(pool, keys.secrets, code as string, { channels: both }))?.link).toEqual(
      expect.any(String),
    );
  });
});

describe('a number that changes between the invitation and the reminder', () => {
  test.each([
    ['to another number', { phone: '+46701740699' }, phoneOf(1)],
    ['to an email address', { email: 'new@example.org', email_key: 'new@example.org' }, phoneOf(1)],
  ])('%s: the earlier link stops working, and the earlier number is notified once', async (_, change, to) => {
    const account = await askByPhone(database, { count: 1, ...reminded, language: 'de' });
    const [{ smtp, mailer }, gateway] = [await newMailer(), await newGateway()];
    const { send } = smsSenderOf(database, gateway.url, { mailer });
    await send(noon);
    const link = linkIn(gateway.got[0]!.json.text);
    await changePerson(account.accountId, account.userIds[0] as number, change);
    expect(await opens(link)).toBe(true);
    await send(friday);
    expect(await opens(link)).toBe(false);
    expect(gateway.got.length + smtp.mails.length).toBe(2);
    const notices = await noticesOf(account.accountId);
    expect(notices).toEqual([
      { accountId: account.accountId, userId: account.userIds[0], week: account.week, to },
    ]);
    gateway.got.length = 0;
    const { log, lines } = openLogLines();
    const channels = smsSenderOf(database, gateway.url);
    await sendLinkNotice(database.pool, { mailer, gateway: channels.gateway }, notices[0] as LinkNotice, log);
    expect(gateway.got.map(({ json }) => json)).toEqual([
      expect.objectContaining({
        kind: 'notice',
        phone: to,
        externalId: null,
        email: null,
        text: expect.stringMatching(/^Nordwind: Dein Umfragelink wurde ersetzt/),
      }),
    ]);
    expect(gateway.got[0]!.json.text).not.toMatch(/http|new@|0699/);
    expect(lines).toEqual([]);
  });

  test('the notice is retried if the gateway is down, and not if it rejects it or may have accepted it', async () => {
    const { accountId, userIds, week } = await askByPhone(database, { count: 1 });
    const notice = { accountId, userId: userIds[0] as number, week, to: phoneOf(1) };
    let manner: Manner = { status: 503 };
    const { gateway } = smsSenderOf(database, (await newGateway(() => manner)).url);
    const { log, lines } = openLogLines();
    const sending = () => sendLinkNotice(database.pool, { mailer: undefined, gateway }, notice, log);
    await expect(sending()).rejects.toThrow('HTTP 503');
    for (manner of ['hangs up', { status: 400 }] as const) await sending();
    await sendLinkNotice(database.pool, { mailer: undefined }, notice, log);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'The gateway for text messages did not confirm a replaced-link notice',
      'The gateway for text messages rejected a replaced-link notice',
      'Replaced-link notice not sent: SMS_PROVIDER is not set',
    ]);
  });
});
