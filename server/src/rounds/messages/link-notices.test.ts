// Links that are replaced when an address changes: when they stop working, and that each earlier address is notified.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { openLink } from '../../answers/answering.ts';
import { jobsToCopy } from '../../backup/left-out.ts';
import { openLog } from '../../base/log.ts';
import { copyTable, selectTables } from '../../db/catalogue.ts';
import { inTransaction } from '../../db/db.ts';
import { openSilentSmtp } from '../../mail/silent-smtp.fixture.ts';
import { Deferred } from '../../sending/outcomes.ts';
import { openMailer } from '../../mail/mailer.ts';
import { deleteUsers } from '../../people/users.sql.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { askPeople, noon } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { openSmtp, type SmtpOptions, type TestSmtp } from '../../testing/smtp.ts';
import { type LinkNotice, sendLinkNotice } from './link-notices.ts';
import { openSender } from './messages.ts';

const publicUrl = 'https://soundings.example';
/** Friday at 9, when people who have not answered get a reminder. Everyone was asked on Wednesday at noon. */
const friday = Date.parse('2026-11-20T09:00:00Z');
const log = openLog('silent');

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function newMailServer(options: SmtpOptions = {}): Promise<TestSmtp> {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  return smtp;
}

function mailerTo(smtpUrl: string) {
  const mailer = openMailer(smtpUrl, 'hr@example.com', { connect: 2000, response: 2000 });
  onTestFinished(() => mailer.close());
  return mailer;
}

const send = (smtpUrl: string, now: number) =>
  openSender({ pool: database.pool, keys: database.keys, mailer: mailerTo(smtpUrl), publicUrl, log })(now);

/** A person whose address changed after the link was sent, and that link. */
async function moved() {
  const { pool } = database;
  await pool`delete from messages`;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Nordwind', timezone: 'UTC' }));
  const asked = await askPeople(database, id, { count: 1, reminderDays: 4, reminderHour: 9 });
  const smtp = await newMailServer();
  await send(smtp.url, noon);
  const link = /\/a\/([0-9A-Za-z]{27})/.exec(smtp.mails[0]?.text ?? '')?.[1] as string;
  await pool`
    update users set email = 'new@example.org', email_key = 'new@example.org', language = 'de'
    where  account_id = ${id} and user_id = ${asked.userIds[0] as number}`;
  return { ...asked, userId: asked.userIds[0] as number, link };
}

const noticesOf = async (accountId: number) =>
  (
    await database.pool<{ payload: LinkNotice }[]>`
      select payload
      from   graphile_worker._private_jobs j
      join   graphile_worker._private_tasks t on t.id = j.task_id
      where  t.identifier = 'mail link notice' and (payload->>'accountId')::integer = ${accountId}`
  ).map(({ payload }) => payload);
const opens = async (link: string) =>
  (await openLink(database.pool, database.keys, { link, visit: null })) !== undefined;

describe('a link sent to an earlier address', () => {
  test('stops working once the email to the new address is sent or its status is unknown, and the earlier address is to be notified', async () => {
    for (const outcome of ['taken', 'unknown']) {
      const { accountId, userId, week, link } = await moved();
      expect(await opens(link)).toBe(true);
      const smtp = outcome === 'taken' ? await newMailServer() : await openSilentSmtp(() => 'hangs up');
      if (outcome === 'unknown') onTestFinished(() => smtp.close());
      await send(smtp.url, friday);
      const [row] = await database.pool`
        select state from messages where account_id = ${accountId} and kind = 'reminder'`;
      expect(row?.['state']).toBe(outcome === 'taken' ? 'sent' : 'unknown');
      expect(await opens(link)).toBe(false);
      expect(await noticesOf(accountId)).toEqual([{ accountId, userId, week, to: 'p1@example.org' }]);
    }
  });

  test('works as long as the email to the new address is refused or deferred, so that the person can answer at all', async () => {
    for (const response of ['550 no such user', '451 later']) {
      const { accountId, link } = await moved();
      await send((await newMailServer({ refuseRecipient: () => response })).url, friday);
      expect(await opens(link)).toBe(true);
      expect(await noticesOf(accountId)).toEqual([]);
    }
  });
});

describe('a notice that waits to be sent', () => {
  async function waiting() {
    const one = await moved();
    await send((await newMailServer()).url, friday);
    expect(await noticesOf(one.accountId)).toHaveLength(1);
    return one;
  }

  test('is deleted when the week closes, and one that is tried later is not sent', async () => {
    const [one, other] = [await waiting(), await waiting()];
    const { accountId, userId, week } = one;
    await closeWeekNow(database.pool, database.keys, accountId, week, Date.parse('2026-11-24T12:00:00Z'));
    expect([await noticesOf(accountId), await noticesOf(other.accountId)]).toMatchObject([[], [{}]]);
    const smtp = await newMailServer();
    const notice = { accountId, userId, week, to: 'p1@example.org' };
    await sendLinkNotice(database.pool, { mailer: mailerTo(smtp.url) }, notice, log);
    expect(smtp.mails).toHaveLength(0);
  });

  test('is deleted with the person', async () => {
    const { accountId, userId } = await waiting();
    await inTransaction(database.pool, (tx) => deleteUsers(tx, accountId, [userId + 1_000_000]));
    expect(await noticesOf(accountId)).toHaveLength(1);
    await inTransaction(database.pool, (tx) => deleteUsers(tx, accountId, [userId]));
    expect(await noticesOf(accountId)).toEqual([]);
  });

  test('is not in a backup, and other jobs are', async () => {
    await waiting();
    const { pool } = database;
    await pool`select graphile_worker.add_job('mail file report', '{"accountId": 1}')`;
    const copied = await inTransaction(pool, async (tx) => {
      const jobs = (await selectTables(tx)).find(
        ({ of, name }) => of === 'jobs' && name === '_private_jobs',
      )!;
      let text = '';
      for await (const rows of copyTable(tx, jobs, jobsToCopy(jobs.name))) text += rows.toString();
      return text;
    });
    expect(copied).toContain('{"accountId": 1}');
    expect(copied).not.toContain('p1@example.org');
  });
});

describe('the notice', () => {
  const noticeOf = ({ accountId, userId, week }: Awaited<ReturnType<typeof moved>>): LinkNotice => ({
    accountId,
    userId,
    week,
    to: 'p1@example.org',
  });

  test("goes to the earlier address in the person's language, and not to someone who was removed", async () => {
    const one = await moved();
    const smtp = await newMailServer();
    await sendLinkNotice(database.pool, { mailer: mailerTo(smtp.url) }, noticeOf(one), log);
    expect(smtp.mails.map(({ to, headers }) => [to[0], headers['subject']])).toEqual([
      ['p1@example.org', 'Dein Umfragelink wurde ersetzt'],
    ]);
    expect(smtp.mails[0]?.raw).not.toMatch(/https?:|new@example/);
    await sendLinkNotice(database.pool, { mailer: mailerTo(smtp.url) }, { ...noticeOf(one), userId: 0 }, log);
    expect(smtp.mails).toHaveLength(1);
  });

  test('is retried if the mail server defers it, and not if it refuses the address', async () => {
    const one = await moved();
    const later = mailerTo((await newMailServer({ refuseRecipient: () => '451 later' })).url);
    await expect(sendLinkNotice(database.pool, { mailer: later }, noticeOf(one), log)).rejects.toBeInstanceOf(
      Deferred,
    );
    const never = mailerTo((await newMailServer({ refuseRecipient: () => '550 no such user' })).url);
    await sendLinkNotice(database.pool, { mailer: never }, noticeOf(one), log);
    await sendLinkNotice(database.pool, { mailer: undefined }, noticeOf(one), log);
  });
});
