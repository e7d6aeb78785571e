// Lists of the survey pages have one order, whatever plan PostgreSQL chooses.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction, openPool, type Pool } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createSchedule } from '../../rounds/schedules.ts';
import { defineLibrary } from '../../questions/questions.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { askedWeek, mondays } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { selectClosedWeeks } from './asking.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const newAccount = () =>
  inTransaction(
    database.pool,
    async (tx) => (await createAccount(tx, { name: 'Nordwind', timezone: 'UTC' })).id,
  );

/** Opens connections whose plans avoid what is off. */
function planning(...off: ('sort' | 'hashagg')[]): Pool {
  const settings = Object.fromEntries(off.map((name) => [`enable_${name}`, 'off']));
  const pool = openPool(database.url, 1, { settings });
  onTestFinished(() => pool.end({ timeout: 5 }));
  return pool;
}

test('the schedules of closed weeks are listed by name', async () => {
  const accountId = await newAccount();
  const names = ['Weekly pulse', 'Onboarding', 'Leaving', 'Team check', 'Annual survey', 'Break'];
  await inTransaction(database.pool, async (tx) => {
    const groupIds = [await createGroup(tx, accountId, { name: 'All' })];
    await defineLibrary(tx, accountId, 'en');
    const [question] = await selectQuestions(tx, accountId);
    await tx`
      insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold, closed_at)
      values (${accountId}, ${askedWeek}, 5, 10, 10, now())`;
    for (const name of names) {
      const scheduleId = await createSchedule(
        tx,
        accountId,
        mondays({ name, groupIds, questionIds: [question!.id] }),
      );
      await tx`
        insert into rounds (account_id, week, group_id, question_ids, above_ids, schedule_id)
        values (${accountId}, ${askedWeek}, ${groupIds[0] as number}, '{}', '{}', ${scheduleId})`;
    }
  });
  for (const pool of [planning('hashagg'), planning('sort')]) {
    const [week] = await selectClosedWeeks(pool, accountId, 1);
    expect(week?.schedules).toEqual(names.toSorted());
  }
});
