// A clock that jumps weeks ahead and back, across opening, sending and closing: nothing happens twice, and no answer is lost.
import { addWeeks } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { saveAnswers } from '../answers/answering.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { openMailer } from '../mail/mailer.ts';
import { createUser } from '../people/users.ts';
import { closeEndedWeeks } from '../results/close-week.ts';
import { askedWeek, noon, planAsking } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { openSender } from './messages/messages.ts';
import { openDueRounds } from './opening.ts';
import { selectScheduleWeeks } from './schedules.sql.ts';

const weekMs = 7 * 24 * 3_600_000;
const publicUrl = 'https://soundings.example';

let database: TestDatabase;
let smtp: TestSmtp;
beforeAll(async () => {
  [database, smtp] = [await openTestDatabase(), await openSmtp()];
});
afterAll(async () => {
  await database.close();
  await smtp.close();
});

test('three weeks ahead and back: each week opens and closes once, each person gets one message, no answer is lost', async () => {
  const { pool, keys } = database;
  const accountId = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test', timezone: 'UTC' });
    await createUser(tx, id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return id;
  });
  const planned = { count: 6, reminderDays: null, reminderHour: null };
  const { scheduleId, questionIds } = await planAsking(pool, accountId, planned);
  await pool`update schedules set created_at = '2026-11-01'`;
  const mailer = openMailer(smtp.url, 'hr@example.com');
  const sendDue = openSender({ pool, keys, mailer, publicUrl, log: openLog('silent') });
  /** Runs everything that jobs do by the clock. */
  const at = async (now: number) => {
    await openDueRounds(pool, keys, now);
    await sendDue(now);
    await closeEndedWeeks(pool, keys, now);
  };
  const weeks = async () =>
    Object.fromEntries(
      (await selectScheduleWeeks(pool, accountId, scheduleId)).map(({ week, outcome }) => [week, outcome]),
    );
  const closings = async () =>
    (await pool<{ at: Date }[]>`select closed_at as at from weeks where week = ${askedWeek}`)[0]?.at;
  const mailed = () => smtp.mails.length;
  const [second, third, fourth] = [1, 2, 3].map((count) => addWeeks(askedWeek, count)) as [
    string,
    string,
    string,
  ];

  await at(noon);
  expect(mailed()).toBe(6);
  const question = questionIds.get('workload-amount') as number;
  for (const { text } of smtp.mails.slice(0, 5)) {
    const link = /\/a\/([0-9A-Za-z]{27})/.exec(text)?.[1] as string;
    await saveAnswers(pool, keys, { link, visit: null }, [{ questionId: question, value: 3 }]);
  }

  await at(noon + 3 * weekMs);
  const closedAt = await closings();
  expect(closedAt).toBeInstanceOf(Date);
  expect(await weeks()).toEqual({ [askedWeek]: 'opened', [third]: 'missed', [fourth]: 'opened' });
  expect(mailed()).toBe(12);

  for (const days of [-7, 0, 1]) await at(noon + (days * weekMs) / 7);
  expect(await closings()).toEqual(closedAt);
  expect(mailed()).toBe(12);

  // Each skipped week opens when its time comes. The week that was asked early is not asked again.
  for (const count of [1, 2, 3]) await at(noon + count * weekMs);
  expect(new Set(Object.values(await weeks()))).toEqual(new Set(['opened']));
  expect(Object.keys(await weeks()).toSorted()).toEqual([askedWeek, second, third, fourth]);
  expect(mailed()).toBe(24);
  expect(await closings()).toEqual(closedAt);
  const rates = await pool<{ value: number }[]>`select value from response_rates where week = ${askedWeek}`;
  expect(rates.map(({ value }) => Math.round(value * 60))).toContain(25); // of six people, five answered one question of two
  mailer.close();
});
