// The options with which a schedule chooses people by a date, and how the command shows that it waits.
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { defineLibrary } from '../questions/questions.ts';
import { json, newAccount, pool, refused, soundings, useDatabase } from './cli.fixture.ts';

useDatabase();

/** An account with a group, the library and an attribute, and the first words of the command that creates a schedule. */
async function company() {
  const id = await newAccount();
  const accountId = Number(id);
  const groupId = await inTransaction(pool, async (tx) => {
    await defineLibrary(tx, accountId, 'en');
    await defineAttribute(tx, accountId, { name: 'start date', allowedValues: null });
    return createGroup(tx, accountId, { name: 'Everyone' });
  });
  const create = [
    'schedule',
    'create',
    '--account',
    id,
    '--name',
    'New',
    '--group',
    String(groupId),
    '--question',
    'workload-amount',
  ];
  return { id, accountId, groupId, create };
}

describe('schedule create', () => {
  test('chooses people after or before a date, with the usual minimum or another', async () => {
    const { id, create } = await company();
    await json([...create, '--date', 'start date', '--days', '30-59']);
    await json([...create, '--date', 'start date', '--days', 'before:0-13', '--min-people', '9']);
    await json([...create]);
    const list = await json<{ byDate: object | null }[]>(['schedule', 'list', '--account', id]);
    expect(list.map(({ byDate }) => byDate)).toEqual([
      { attribute: 'start date', side: 'after', fromDays: 30, untilDays: 59, minPeople: 8 },
      { attribute: 'start date', side: 'before', fromDays: 0, untilDays: 13, minPeople: 9 },
      null,
    ]);
    const { out } = await soundings(['schedule', 'list', '--account', id]);
    expect(out).toContain('30-59 days after start date, at least 8 people');
    expect(out).toContain('0-13 days before start date, at least 9 people');
  });

  test('says what is wrong with the options', async () => {
    const { create } = await company();
    const byDate = ['--date', 'start date'];
    // 2: the options themselves are wrong; 1: the account doesn't allow it.
    for (const [status, more, message] of [
      [2, ['--days', '30-59'], /--days requires --date/],
      [2, ['--min-people', '9'], /--min-people requires --date/],
      [2, byDate, /--days/],
      [2, [...byDate, '--days', '30'], /Invalid value "30" for --days\. Use FROM-UNTIL or before:FROM-UNTIL/],
      [1, [...byDate, '--days', '59-30'], /must not be lower/],
      [1, [...byDate, '--days', '30-31'], /people would be left out/],
      [1, [...byDate, '--days', '0-400'], /at most 365 days long/],
      [1, [...byDate, '--days', '30-59', '--min-people', '4'], /must be from 5 to 1000/],
      [1, ['--date', 'hired', '--days', '30-59'], /The attribute "hired" does not exist/],
    ] as const)
      expect(await refused([...create, ...more], status)).toMatch(message);
  });
});

test('schedule calendar counts those who wait, and schedule history says that a week waited', async () => {
  const { id, accountId, groupId, create } = await company();
  const { id: scheduleId } = await json<{ id: number }>([
    ...create,
    '--date',
    'start date',
    '--days',
    '0-364',
  ]);
  await inTransaction(pool, (tx) =>
    createUser(tx, accountId, {
      firstName: 'Lea',
      lastName: 'Berg',
      attributes: { 'start date': new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10) },
      memberships: { memberOf: [groupId] },
    }),
  );
  const one = ['--account', id, '--id', String(scheduleId)];
  const { out } = await soundings(['schedule', 'calendar', ...one, '--weeks', '2']);
  expect(out).toContain('none (1 waiting)');
  expect(out).not.toMatch(/Lea|Berg/);
  await pool`
    insert into schedule_weeks (account_id, schedule_id, week, outcome, reason, question_ids, people)
    values (${accountId}, ${scheduleId}, '2026-11-16', 'missed', 'tooFewDue', '{}', 0)`;
  expect(await json(['schedule', 'history', ...one])).toMatchObject([{ outcome: 'waited', people: 0 }]);
});
