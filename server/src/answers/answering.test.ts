// Answers by a personal link while the week is open, while it closes and after; and what a dump of the database tells.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeWeekNow } from '../results/publish.ts';
import { exportLinks } from '../rounds/links.ts';
import { respondentOf } from '../rounds/rounds.ts';
import { askPeople, noon } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createUser } from '../people/people.ts';
import { until } from '../testing/until.ts';
import { giveAnswers, openLink } from './answering.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function newAccount(): Promise<number> {
  return inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, id, {
      firstName: 'Ada',
      lastName: 'Admin',
      email: 'ada@example.org',
      role: 'Administrator',
    });
    return id;
  });
}
const asking = async (wishes: Parameters<typeof askPeople>[2] = {}) =>
  askPeople(database.pool, await newAccount(), wishes);
const give = (link: string, questionId: number, value: unknown, more: object = {}) =>
  giveAnswers(database.pool, link, [{ questionId, value, ...more }]);
const answersOf = async (accountId: number) => {
  const [row] = await database.pool<{ count: number }[]>`
    select count(*)::integer as count from answers where account_id = ${accountId}`;
  return row?.count;
};

test('an answer can be changed, skipped and commented on until the week closes', async () => {
  const { links, questionIds, accountId, week } = await asking();
  const [link, id] = [links[0] as string, questionIds.get('workload-amount') as number];
  const said = async () => (await openLink(database.pool, link))?.answers.get(id);
  expect(await give(link, id, 2, { comment: 'Too much.' })).toBe('kept');
  expect(await said()).toEqual({ value: 2, choices: null, comment: 'Too much.', skipped: false });
  expect(await give(link, id, 5)).toBe('kept');
  expect(await said()).toEqual({ value: 5, choices: null, comment: null, skipped: false });
  expect(await give(link, id, undefined, { skipped: true })).toBe('kept');
  expect(await said()).toEqual({ value: null, choices: null, comment: null, skipped: true });
  await closeWeekNow(database.pool, accountId, week, noon);
  expect(await give(link, id, 4)).toBe('closed');
  expect(await openLink(database.pool, link)).toBeUndefined();
});

describe('nothing is stored', () => {
  test.each([
    ['a value beyond the scale', 6, {}],
    ['a value between two', 2.5, {}],
    ['a text', '3', {}],
    ['no value', undefined, {}],
    ['a skip with a value', 3, { skipped: true }],
    ['a skip with a comment', undefined, { skipped: true, comment: 'no' }],
    ['a comment that is too long', 3, { comment: 'x'.repeat(10_001) }],
    ['a comment with U+0000', 3, { comment: 'a\0b' }],
    ['half a surrogate pair', 3, { comment: '\ud800' }],
  ])('of %s, nor of what was right beside it', async (_, value, more) => {
    const { links, questionIds, accountId } = await asking();
    const [wrong, right] = ['workload-amount', 'workload-rested'].map(
      (key) => questionIds.get(key) as number,
    );
    const given = giveAnswers(database.pool, links[0] as string, [
      { questionId: right as number, value: 3 },
      { questionId: wrong as number, value, ...more },
    ]);
    await expect(given).rejects.toMatchObject({ kind: 'invalid', details: [{ path: `q${wrong}` }] });
    expect(await answersOf(accountId)).toBe(0);
  });

  test("of an answer to a question that is not asked, be it another account's", async () => {
    const { links, questionIds, accountId } = await asking();
    const other = await asking();
    for (const id of [
      questionIds.get('clarity-tasks'),
      other.questionIds.get('workload-amount'),
      0,
      2 ** 31,
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- few
      await expect(give(links[0] as string, id as number, 3)).rejects.toMatchObject({ kind: 'invalid' });
    }
    expect(await answersOf(accountId)).toBe(0);
  });

  test('by a link that is replaced, or of someone who is inactive', async () => {
    const { links, questionIds, accountId, userIds } = await asking();
    const id = questionIds.get('workload-amount') as number;
    await database.pool`update users set active = false where account_id = ${accountId} and user_id = ${userIds[1]!}`;
    expect(await give(links[1] as string, id, 3)).toBe('closed');
    await inTransaction(database.pool, (tx) => exportLinks(tx, accountId, ''));
    expect(await give(links[0] as string, id, 3)).toBe('kept');
    const { links: fresh } = await inTransaction(database.pool, (tx) =>
      exportLinks(tx, accountId, '', { isReplacing: true }),
    );
    expect(await give(links[0] as string, id, 4)).toBe('closed');
    expect(await give(fresh[0]!.link.slice(3), id, 4)).toBe('kept');
  });
});

test('while a week closes, an answer is either counted or refused', async () => {
  const { links, questionIds, accountId, week, groupId } = await asking({ count: 60 });
  const id = questionIds.get('workload-amount') as number;
  const giveAll = (from: number, to: number) =>
    Promise.all(links.slice(from, to).map((link, i) => give(link, id, 1 + (i % 5))));
  const before = await giveAll(0, 20);
  // Somebody has the week locked: answers wait for it, then the closing does, then more answers.
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = inTransaction(database.pool, async (tx) => {
    await tx`select 1 from weeks where account_id = ${accountId} and week = ${week} for update`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const others = openPool(database.url, 25);
  const waiting = async (count: number) =>
    until(async () => {
      const [row] = await database.pool<{ count: number }[]>`
        select count(*)::integer as count from pg_stat_activity
        where  datname = current_database() and wait_event_type = 'Lock'`;
      return row!.count >= count;
    });
  const giveOn = (from: number, to: number) =>
    links
      .slice(from, to)
      .map((link, i) => giveAnswers(others, link, [{ questionId: id, value: 1 + (i % 5) }]));
  const during = giveOn(20, 30);
  await waiting(10);
  const closing = closeWeekNow(others, accountId, week, noon);
  await waiting(11);
  during.push(...giveOn(30, 40));
  await waiting(21);
  release.resolve();
  await holding;
  const outcomes = [...before, ...(await Promise.all(during))];
  await closing;
  outcomes.push(...(await giveAll(40, 60)));
  await others.end();
  const kept = outcomes.filter((one) => one === 'kept').length;
  expect([kept >= 30, outcomes.filter((one) => one === 'closed').length >= 20]).toEqual([true, true]);
  const [result] = await database.pool<{ answers: number }[]>`
    select answers from results where account_id = ${accountId} and group_id = ${groupId} and question_id = ${id}`;
  expect(result?.answers).toBe(kept);
});

test('a link that an administrator has handed out shows nothing of what was answered', async () => {
  const { links, questionIds, accountId } = await asking();
  const id = questionIds.get('workload-amount') as number;
  await give(links[0] as string, id, 2, { comment: 'Only for the figures.' });
  const { links: handed } = await inTransaction(database.pool, (tx) => exportLinks(tx, accountId, ''));
  const link = handed[0]!.link.slice(3);
  expect(await openLink(database.pool, link)).toMatchObject({
    isExported: true,
    hasAnswered: true,
    answers: new Map(),
  });
  expect(await give(link, id, 5)).toBe('kept');
  expect((await openLink(database.pool, links[0] as string))?.answers.get(id)?.value).toBe(5);
});

describe('a dump of the whole database', () => {
  /** Every row of every table as text, but for the key of the week. */
  async function dump(withKey: boolean): Promise<{ table: string; row: Record<string, unknown> }[]> {
    const tables = await database.pool<{ name: string }[]>`
      select c.relname as name from pg_class c
      where  c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`;
    const rows = await Promise.all(
      tables.map(async ({ name }) =>
        (
          await database.pool.unsafe<{ row: Record<string, unknown> }[]>(
            `select to_jsonb(t) as row from ${name} t`,
          )
        ).map(({ row }) => ({ table: name, row })),
      ),
    );
    return rows
      .flat()
      .map(({ table, row }) =>
        table === 'weeks' && !withKey ? { table, row: { ...row, respondent_key: null } } : { table, row },
      );
  }

  test('before closing tells without the key whose an answer is no better than by the groups of the person', async () => {
    const { links, questionIds, accountId, week } = await asking({ count: 12 });
    const id = questionIds.get('workload-amount') as number;
    await give(links[3] as string, id, 4, { comment: 'A comment of p4.' });
    const rows = (await dump(false)).filter(({ row }) => row['account_id'] === accountId);
    const [answer] = rows.filter(({ table }) => table === 'answers').map(({ row }) => row);
    expect(Object.keys(answer!).toSorted()).toEqual(
      [
        'account_id',
        'choices',
        'comment',
        'counted',
        'question_id',
        'respondent',
        'skipped',
        'value',
        'week',
      ].toSorted(),
    );
    // Its number stands nowhere else than in who is asked, where it stands beside groups alone.
    const places = rows.filter(({ row }) => JSON.stringify(row).includes(String(answer!['respondent'])));
    expect(places.map(({ table }) => table).toSorted()).toEqual(['answers', 'assignments']);
    const people = rows.filter(({ table }) => table === 'assignments').map(({ row }) => row);
    expect(new Set(people.map((row) => JSON.stringify(row['group_ids']))).size).toBe(1);
    expect(Object.keys(people[0]!).toSorted()).toEqual(
      ['account_id', 'group_ids', 'respondent', 'round_id', 'week'].toSorted(),
    );
    // The order of the rows tells nothing either: it is that of the numbers.
    const order = people.map((row) => row['respondent'] as number);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(Object.keys(rows.find(({ table }) => table === 'participants')!.row).toSorted()).toEqual(
      ['account_id', 'user_id', 'week'].toSorted(),
    );
    // With the key it can be told, and docs/privacy.md says so.
    const [row] = await database.pool<{ key: Buffer }[]>`
      select respondent_key as key from weeks where account_id = ${accountId} and week = ${week}`;
    expect(respondentOf(row!.key, 'p4')).toBe(answer!['respondent']);
  });

  test('after closing holds no answer, no number, no link, and not who was asked or has answered', async () => {
    const { links, questionIds, accountId, week } = await asking({ count: 12 });
    const id = questionIds.get('workload-amount') as number;
    for (const [i, link] of links.slice(0, 11).entries()) {
      // oxlint-disable-next-line no-await-in-loop -- few
      await give(link, id, 1 + (i % 5), i === 3 ? { comment: 'Said by one.' } : {});
    }
    const before = (await dump(true)).filter(({ row }) => row['account_id'] === accountId);
    const numbers = before
      .filter(({ table }) => table === 'assignments')
      .map(({ row }) => String(row['respondent']));
    expect(numbers).toHaveLength(12);
    await closeWeekNow(database.pool, accountId, week, noon);
    const after = (await dump(true)).filter(({ row }) => row['account_id'] === accountId);
    const gone = ['answers', 'assignments', 'participants', 'links', 'messages'];
    expect(after.filter(({ table }) => gone.includes(table))).toEqual([]);
    const text = JSON.stringify(after);
    expect(numbers.filter((number) => text.includes(number))).toEqual([]);
    expect(after.filter(({ table }) => table === 'weeks')).toMatchObject([{ row: { respondent_key: null } }]);
    // What is left of the comment is the comment.
    const [comment] = after.filter(({ table }) => table === 'comments').map(({ row }) => row);
    expect(Object.keys(comment!).toSorted()).toEqual([
      'account_id',
      'position',
      'question_id',
      'text',
      'week',
    ]);
    // What is left of the people is what there was before they were asked.
    const people = after.filter(({ row }) => (row['user_id'] ?? undefined) !== undefined);
    expect([...new Set(people.map(({ table }) => table))].toSorted()).toEqual(['memberships', 'users']);
  });
});
