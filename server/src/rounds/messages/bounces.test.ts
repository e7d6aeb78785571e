// Emails that are returned as undeliverable are recorded at their person: once, only for the address that the person still has, never
// for reminders, and never because of what others write to the mailbox.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { imapFolderOf } from '../../base/messages/smtp.ts';
import { formNames, reportOf } from '../../mail/bounces/delivery-reports.fixture.ts';
import { openMailbox } from '../../mail/bounces/dovecot.fixture.ts';
import { openMailer } from '../../mail/mailer.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { askPeople, type AskedAccount, noon } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { needs } from '../../testing/processes/programs.ts';
import { openSmtp, type ReceivedMail } from '../../testing/smtp.ts';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { readBounces, recordBounce } from './bounces.ts';
import { selectRefusals } from './message-counts.sql.ts';
import { openSender } from './messages.ts';
import { openPersonTokens } from './person-tokens.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

let account: AskedAccount;
/** What the mail server has received for p1, p2 and p3: an invitation each, and a reminder each. */
let [invitations, reminders]: ReceivedMail[][] = [];
beforeEach(async () => {
  const { pool, keys } = database;
  await pool`delete from messages`;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Nordwind', timezone: 'UTC' }));
  account = await askPeople(database, id, { count: 3, reminderDays: 4, reminderHour: 9 });
  const smtp = await openSmtp();
  const bounces = {
    address: 'bounces@example.com',
    tokenOf: openPersonTokens('bounces', Promise.resolve(pool)),
  };
  const mailer = openMailer(smtp.url, 'hr@example.com', { bounces });
  onTestFinished(async () => {
    mailer.close();
    await smtp.close();
  });
  const send = openSender({
    pool,
    keys,
    mailer,
    publicUrl: 'https://soundings.example',
    log: openLogLines().log,
  });
  await send(noon);
  const byAddress = (one: ReceivedMail, other: ReceivedMail) => (one.to[0]! < other.to[0]! ? -1 : 1);
  invitations = smtp.mails.splice(0).toSorted(byAddress);
  await send(Date.parse('2026-11-20T09:00:00Z'));
  reminders = smtp.mails.splice(0).toSorted(byAddress);
});

/** The report with which a mail server returns an email. */
const returned = (mail: ReceivedMail, form: (typeof formNames)[number] = 'Postfix', status?: string) =>
  reportOf(form, mail.to[0]!, mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n')).split('\r\n'), status);

const refusals = async ({ accountId } = account) =>
  (await selectRefusals(database.pool, accountId)).map(({ userId, address, reason }) => ({
    person: account.userIds.indexOf(userId) + 1,
    address,
    reason,
  }));

test.each(formNames)('a returned invitation is shown at its person (%s)', async (form) => {
  expect(invitations!.every(({ from }) => from === 'bounces@example.com')).toBe(true);
  expect(await recordBounce(database.pool, returned(invitations![1]!, form))).toBe(true);
  expect(await recordBounce(database.pool, returned(invitations![1]!, form))).toBe(true);
  expect(await refusals()).toMatchObject(
    [{ person: 2, address: 'p2@example.org', reason: /5\.1\.1/ }].map((one) => ({
      ...one,
      reason: expect.stringMatching(one.reason) as string,
    })),
  );
});

test('a returned reminder is not: only people who have not answered get one', async () => {
  for (const form of formNames)
    expect(await recordBounce(database.pool, returned(reminders![0]!, form))).toBe(false);
  expect(await refusals()).toEqual([]);
});

test('an email that is late is not, nor one to an address that the person no longer has', async () => {
  const { pool } = database;
  expect(await recordBounce(pool, returned(invitations![0]!, 'Postfix', '4.4.1'))).toBe(false);
  await pool`update users set email = 'new@example.org' where account_id = ${account.accountId} and email = 'p1@example.org'`;
  expect(await recordBounce(pool, returned(invitations![0]!))).toBe(true);
  expect(await refusals()).toEqual([]);
});

describe('what others write to the mailbox', () => {
  test('records nothing: a token that is changed, of another person, of another purpose, or without an account', async () => {
    const { pool } = database;
    const text = returned(invitations![0]!).toString();
    const [, token] = /Message-ID:\s*<\w+\.([\w-]{32})@/i.exec(text) as unknown as [string, string];
    const optOut = /\/r\/([\w-]{32})/.exec(invitations![0]!.headers['list-unsubscribe']!)![1]!;
    const swapped = Buffer.from(token, 'base64url');
    swapped.writeInt32BE(account.userIds[1]!, 4);
    for (const wrong of [
      `B${token.slice(1)}`,
      `${token.slice(0, -1)}-`,
      swapped.toString('base64url'),
      optOut,
    ]) {
      expect(wrong).not.toBe(token);
      expect([wrong, await recordBounce(pool, Buffer.from(text.replaceAll(token, wrong)))]).toEqual([
        wrong,
        false,
      ]);
    }
    expect(await refusals()).toEqual([]);
  });

  test('by a person who has an invitation concerns only their own address', async () => {
    const text = returned(invitations![0]!).toString().replaceAll('p1@example.org', 'p2@example.org');
    expect(await recordBounce(database.pool, Buffer.from(text))).toBe(true);
    expect(await refusals()).toEqual([]);
  });
});

describe('the mailbox', () => {
  test('is read once, in any order: our reports are deleted, all other emails stay and are marked as read', async (context) => {
    needs(context, 'dovecot', 'dovecot-imapd');
    const { pool } = database;
    const mailbox = await openMailbox();
    onTestFinished(() => mailbox.close());
    const other = Buffer.from('From: anna@example.org\r\nSubject: Question\r\n\r\nWho reads this?\r\n');
    await mailbox.deliver([
      returned(invitations![0]!, 'Exchange'),
      other,
      returned(reminders![1]!),
      returned(invitations![2]!, 'Gmail'),
    ]);
    const { log, lines } = openLogLines();
    await readBounces(pool, imapFolderOf(mailbox.url)!, log);
    expect(lines).toEqual([]);
    expect((await refusals()).map(({ person }) => person)).toEqual([1, 3]);
    expect(await mailbox.counts()).toEqual({ all: 2, unread: 0 });

    // What could not be recorded stays unread, and is read the next time.
    await pool`delete from mail_refusals`;
    await mailbox.deliver([returned(invitations![1]!)]);
    await pool`alter table mail_refusals rename to away`;
    await readBounces(pool, imapFolderOf(mailbox.url)!, log).finally(
      () => pool`alter table away rename to mail_refusals`,
    );
    expect(lines.splice(0)).toHaveLength(1);
    expect(await mailbox.counts()).toEqual({ all: 3, unread: 1 });
    await readBounces(pool, imapFolderOf(mailbox.url)!, log);
    expect((await refusals()).map(({ person }) => person)).toEqual([2]);
    expect(await mailbox.counts()).toEqual({ all: 2, unread: 0 });
  });

  test('that cannot be opened is logged without the password, and nothing fails', async (context) => {
    needs(context, 'dovecot', 'dovecot-imapd');
    const mailbox = await openMailbox();
    const { log, lines } = openLogLines();
    await readBounces(database.pool, imapFolderOf(mailbox.url.replace('sec%2Fret', 'hunter2'))!, log);
    await readBounces(database.pool, imapFolderOf(`${mailbox.url}/Missing`)!, log);
    await mailbox.close();
    await readBounces(database.pool, imapFolderOf(mailbox.url)!, log);
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line.msg).toMatch(/could not be read/);
      expect(line.cause).toMatch(/\w{4}/);
      expect(JSON.stringify(line)).not.toMatch(/hunter2|sec.ret/);
    }
  });
});
