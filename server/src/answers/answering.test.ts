// Answering with a personal link before, while and after the week closes, and what a dump of the database reveals.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeWeekNow } from '../results/close-week.ts';
import { exportLinks, newLinks } from '../rounds/links.ts';
import { respondentOf } from '../rounds/rounds.ts';
import { askPeople, noon } from '../testing/asking.ts';
import { encodeAnswers } from '../sealing/person-answers.ts';
import { answersOfPerson } from '../testing/kept-answers.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createUser } from '../people/users.ts';
import { until } from '../testing/until.ts';
import { saveAnswers, openLink } from './answering.ts';

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
const asking = async (options: Parameters<typeof askPeople>[2] = {}) =>
  askPeople(database, await newAccount(), options);
/** The browser that everyone answers in, unless a test names another. */
const visit = 'the usual browser';
const give = (link: string, questionId: number, value: unknown, more: object = {}, by = visit) =>
  saveAnswers(database.pool, database.keys, { link, visit: by }, [{ questionId, value, ...more }]);
const open = (link: string, by: string | null = visit) =>
  openLink(database.pool, database.keys, { link, visit: by });
const handOut = async (accountId: number, isReplacing = false) => {
  const options = { isReplacing, channels: { mail: false, sms: false }, by: null };
  const { links } = await inTransaction(database.pool, (tx) => exportLinks(tx, accountId, '', options));
  return links.map(({ link }) => link.slice(3));
};
/** Returns how many people have stored answers. */
const answersOf = async (accountId: number) => {
  const [row] = await database.pool<{ count: number }[]>`
    select count(*)::integer as count from answers where account_id = ${accountId}`;
  return row?.count;
};

test('an answer can be changed, skipped and commented on until the week closes', async () => {
  const { links, questionIds, accountId, week } = await asking();
  const [link, id] = [links[0] as string, questionIds.get('workload-amount') as number];
  const storedAnswer = async () => (await open(link))?.answers.get(id);
  expect(await give(link, id, 2, { comment: 'Too much.' })).toBe('kept');
  expect(await storedAnswer()).toEqual({ value: 2, choices: null, comment: 'Too much.', skipped: false });
  expect(await give(link, id, 5)).toBe('kept');
  expect(await storedAnswer()).toEqual({ value: 5, choices: null, comment: null, skipped: false });
  expect(await give(link, id, undefined, { skipped: true })).toBe('kept');
  expect(await storedAnswer()).toEqual({ value: null, choices: null, comment: null, skipped: true });
  await closeWeekNow(database.pool, database.keys, accountId, week, noon);
  expect(await give(link, id, 4)).toBe('closed');
  expect(await open(link)).toBeUndefined();
});

test('many people who answer at the same time each get the outcome of their own answer', async () => {
  const [one, other] = [await asking({ count: 40 }), await asking({ count: 40 })];
  const asked = (of: typeof one) => of.questionIds.get('workload-amount') as number;
  await database.pool`
    update users set active = false where account_id = ${other.accountId} and user_id = ${other.userIds[3]!}`;
  // From now on the form of both questions is known. Whether they are asked is checked when the answers are stored.
  for (const each of [one, other]) {
    expect(await give(each.links[1] as string, asked(each), 3)).toBe('kept');
  }
  const outcomes = await Promise.all([
    ...one.links.map((link, i) => give(link, asked(one), 1 + (i % 5))),
    ...other.links.map((link, i) => give(link, asked(i % 2 === 0 ? one : other), 1 + (i % 5)).catch(String)),
    // The same person answers twice more, in the same browser and in another one.
    give(one.links[0] as string, asked(one), 5),
    give(one.links[0] as string, asked(one), 4, {}, 'another browser').catch(String),
  ]);
  const [ofOne, ofOther, again] = [outcomes.slice(0, 40), outcomes.slice(40, 80), outcomes.slice(80)];
  expect(ofOne).toEqual(ofOne.map(() => 'kept'));
  const refusal = (i: number) => (i % 2 === 0 ? 'Fault: This person was not asked this question.' : 'kept');
  expect(ofOther).toEqual(ofOther.map((_, i) => (i === 3 ? 'closed' : refusal(i))));
  expect(again).toEqual(['kept', expect.stringMatching(/answered with another link/)]);
  expect([await answersOf(one.accountId), await answersOf(other.accountId)]).toEqual([40, 19]);
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
  ])('for %s, nor for a valid answer sent with it', async (_, value, more) => {
    const { links, questionIds, accountId } = await asking();
    const [wrong, right] = ['workload-amount', 'workload-rested'].map(
      (key) => questionIds.get(key) as number,
    );
    const given = saveAnswers(database.pool, database.keys, { link: links[0] as string, visit }, [
      { questionId: right as number, value: 3 },
      { questionId: wrong as number, value, ...more },
    ]);
    await expect(given).rejects.toMatchObject({ kind: 'invalid', details: [{ path: `q${wrong}` }] });
    expect(await answersOf(accountId)).toBe(0);
  });

  test('for a question that is not asked, even if another account asks it', async () => {
    const { links, questionIds, accountId } = await asking();
    const other = await asking();
    for (const id of [
      questionIds.get('clarity-tasks'),
      other.questionIds.get('workload-amount'),
      0,
      2 ** 31,
    ]) {
      await expect(give(links[0] as string, id as number, 3)).rejects.toMatchObject({ kind: 'invalid' });
    }
    expect(await answersOf(accountId)).toBe(0);
  });

  test('by a replaced link, or for an inactive person', async () => {
    const { links, questionIds, accountId, userIds } = await asking();
    const id = questionIds.get('workload-amount') as number;
    await database.pool`update users set active = false where account_id = ${accountId} and user_id = ${userIds[1]!}`;
    expect(await give(links[1] as string, id, 3)).toBe('closed');
    const [replaced] = await handOut(accountId);
    expect(await give(replaced as string, id, 3)).toBe('kept');
    const [fresh] = await handOut(accountId, true);
    expect(await give(replaced as string, id, 4)).toBe('closed');
    // Links that were mailed keep working. Only handed-out links are replaced when new ones are handed out.
    await expect(give(links[0] as string, id, 4)).rejects.toMatchObject({ code: 'already answered' });
    expect(await open(fresh as string)).toMatchObject({ isExported: true });
  });
});

test('while a week closes, an answer is either counted or refused', async () => {
  const { links, questionIds, accountId, week, groupId } = await asking({ count: 60 });
  const id = questionIds.get('workload-amount') as number;
  const giveAll = (from: number, to: number) =>
    Promise.all(links.slice(from, to).map((link, i) => give(link, id, 1 + (i % 5))));
  const before = await giveAll(0, 20);
  // Another transaction has the week locked. Answers wait for it, then the closing does, then more answers.
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = inTransaction(database.pool, async (tx) => {
    await tx`select 1 from weeks where account_id = ${accountId} and week = ${week} for update`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const [others, later] = [openPool(database.url, 5), openPool(database.url, 5)];
  const waiting = async (count: number) =>
    until(async () => {
      const [row] = await database.pool<{ count: number }[]>`
        select count(*)::integer as count from pg_stat_activity
        where  datname = current_database() and wait_event_type = 'Lock'`;
      return row!.count >= count;
    });
  const giveOn = (pool: Pool, from: number, to: number) =>
    links
      .slice(from, to)
      .map((link, i) =>
        saveAnswers(pool, database.keys, { link, visit }, [{ questionId: id, value: 1 + (i % 5) }]),
      );
  // One statement waits, and the other answers wait for that one.
  const during = giveOn(others, 20, 30);
  await waiting(1);
  const closing = closeWeekNow(others, database.keys, accountId, week, noon);
  await waiting(2);
  during.push(...giveOn(later, 30, 40));
  await waiting(3);
  release.resolve();
  await holding;
  const outcomes = [...before, ...(await Promise.all(during))];
  await closing;
  outcomes.push(...(await giveAll(40, 60)));
  await Promise.all([others.end(), later.end()]);
  const kept = outcomes.filter((one) => one === 'kept').length;
  expect([kept >= 21, outcomes.filter((one) => one === 'closed').length >= 20]).toEqual([true, true]);
  expect(outcomes.filter((one) => one !== 'kept' && one !== 'closed')).toEqual([]);
  const [result] = await database.pool<{ answers: number }[]>`
    select answers from results where account_id = ${accountId} and group_id = ${groupId} and question_id = ${id}`;
  expect(result?.answers).toBe(kept);
});

describe('an answer that was given', () => {
  async function answered() {
    const { links, questionIds, accountId, week, userIds } = await asking();
    const [id, other] = ['workload-amount', 'workload-rested'].map((key) => questionIds.get(key) as number);
    const link = links[0] as string;
    await give(link, id as number, 2, { comment: 'Only for the figures.' });
    const stored = () => answersOfPerson(database, accountId, week, userIds[0] as number);
    return {
      id: id as number,
      other: other as number,
      link,
      accountId,
      stored,
      person: { accountId, week, userId: userIds[0]! },
    };
  }
  const elsewhere = { kind: 'invalid', code: 'already answered', details: [{ type: 'already answered' }] };

  test('is shown only in its browser session, and elsewhere only that there is one', async () => {
    const { id, link } = await answered();
    expect(await open(link)).toMatchObject({
      answers: new Map([[id, expect.objectContaining({ value: 2 })]]),
      fixed: new Map(),
    });
    for (const by of ['another browser', null]) {
      expect(await open(link, by)).toMatchObject({ answers: new Map(), fixed: new Map([[id, 'elsewhere']]) });
    }
  });

  test("can't be changed from another browser, without a browser session, or with another link of the same person", async () => {
    const { id, other, link, stored, person } = await answered();
    const before = await stored();
    const [second] = await newLinks(database.pool, [person]);
    await expect(give(link, id, 5, {}, 'another browser')).rejects.toMatchObject(elsewhere);
    await expect(give(second as string, id, 5)).rejects.toMatchObject(elsewhere);
    const by = { link, visit: null };
    const none = saveAnswers(database.pool, database.keys, by, [{ questionId: id, value: 5 }]);
    await expect(none).rejects.toMatchObject(elsewhere);
    // All or nothing: a valid answer sent with it is not stored either.
    const both = [id, other].map((questionId) => ({ questionId, value: 5 }));
    const mixed = saveAnswers(database.pool, database.keys, { link, visit: 'another browser' }, both);
    await expect(mixed).rejects.toMatchObject(elsewhere);
    expect(await stored()).toEqual(before);
    expect(await give(second as string, other, 5)).toBe('kept');
    expect((await open(second as string))?.fixed).toEqual(new Map([[id, 'elsewhere']]));
    expect(await give(link, id, 5)).toBe('kept');
    expect((await stored()).get(id)).toMatchObject({ value: 5, giving: before.get(id)?.giving });
  });

  test("without a browser session is never shown and can't be changed", async () => {
    const { other, link } = await answered();
    const by = { link, visit: null };
    const again = () => saveAnswers(database.pool, database.keys, by, [{ questionId: other, value: 5 }]);
    expect(await again()).toBe('kept');
    expect((await open(link, null))?.answers).toEqual(new Map());
    await expect(again()).rejects.toMatchObject(elsewhere);
  });

  test("can't be read, changed or detected with a handed-out link", async () => {
    const { id, other, link, accountId, stored } = await answered();
    const [handed] = await handOut(accountId);
    for (const by of [visit, 'another browser', null]) {
      expect(await open(handed as string, by)).toMatchObject({
        isExported: true,
        answers: new Map(),
        fixed: new Map(),
      });
    }
    // Twice: the first time, and with the earlier answer known. All responses are the same, whether anything is stored or not.
    for (const by of [visit, 'another browser']) {
      expect(await give(handed as string, id, 5, {}, by)).toBe('kept');
      expect(await give(handed as string, id, undefined, { skipped: true }, by)).toBe('kept');
    }
    const both = [id, other].map((questionId) => ({ questionId, value: 4 }));
    expect(await saveAnswers(database.pool, database.keys, { link: handed as string, visit }, both)).toBe(
      'kept',
    );
    expect(await give(handed as string, other, 1, {}, 'another browser')).toBe('kept');
    for (const by of [visit, 'another browser', null]) {
      expect(await open(handed as string, by)).toMatchObject({ answers: new Map(), fixed: new Map() });
    }
    const unasked = give(handed as string, 2 ** 30, 4);
    await expect(unasked).rejects.toMatchObject({ details: [{ type: 'invalid value' }] });
    expect([...(await stored())].map(([one, { value, giving }]) => [one, value, giving.handedOut])).toEqual(
      [
        [id, 2, false],
        [other, 4, true],
      ].toSorted(([a], [b]) => Number(a) - Number(b)),
    );
    expect((await open(link))?.answers.get(id)?.value).toBe(2);
    expect(await give(handed as string, other, 5)).toBe('kept');
    expect((await stored()).get(other)).toMatchObject({ value: 5, giving: { handedOut: true } });
  });

  test('costs the same statements with a handed-out link, whether the question was answered before or not', async () => {
    const { id, other, accountId } = await answered();
    const [first, second] = await handOut(accountId);
    const statements = async (link: string | undefined, questionId: number) => {
      let count = 0;
      const counting = new Proxy(database.pool, {
        apply: (pool, _, args: Parameters<Pool>) => (count++, pool(...args)),
      });
      const by = { link: link as string, visit };
      await saveAnswers(counting, database.keys, by, [{ questionId, value: 3 }]);
      return count;
    };
    // The first person has answered it before, the second has answered nothing.
    for (const questionId of [id, id, other, id]) {
      const [before, none] = [await statements(first, questionId), await statements(second, questionId)];
      expect(before).toBe(none);
      expect(before).toBeGreaterThan(0);
    }
  });

  test("can't be changed once it is counted, not even where it was given", async () => {
    const { id, link, accountId, stored, person } = await answered();
    const key = (await database.keys.of(database.pool, accountId, person.week))!;
    const respondent = key.respondentOf(person.userId);
    const counted = new Map(
      [...(await stored())].map(([one, answer]) => [one, { ...answer, counted: true }]),
    );
    await database.pool`
      update answers set sealed = ${key.seal(respondent, encodeAnswers(counted))}
      where  account_id = ${accountId} and respondent = ${respondent}`;
    await expect(give(link, id, 5)).rejects.toMatchObject(elsewhere);
    expect(await open(link)).toMatchObject({ fixed: new Map([[id, 'counted']]) });
    expect((await open(link))?.answers.get(id)?.value).toBe(2);
  });

  test('stays with its person whatever happens to externalIds, so the next owner of one sees none of it', async () => {
    const { id, link, accountId, stored, person } = await answered();
    const before = await stored();
    const { pool } = database;
    await pool`update users set external_id = 'left' where account_id = ${accountId} and user_id = ${person.userId}`;
    await pool`update users set external_id = 'p1' where account_id = ${accountId} and external_id = 'p2'`;
    const [taker] = await pool<{ userId: number }[]>`
      select user_id as "userId" from users where account_id = ${accountId} and external_id = 'p1'`;
    const [theirs] = await newLinks(pool, [{ ...person, userId: taker!.userId }]);
    expect(await open(theirs as string)).toMatchObject({ answers: new Map(), fixed: new Map() });
    expect(await give(theirs as string, id, 5)).toBe('kept');
    expect((await open(link))?.answers.get(id)?.value).toBe(2);
    expect(await stored()).toEqual(before);
  });
});

describe('a dump of the whole database', () => {
  /** Returns every row of every table. */
  async function dump(): Promise<{ table: string; row: Record<string, unknown> }[]> {
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
    return rows.flat();
  }

  test('reveals no answer before closing, and only the groups of a respondent number', async () => {
    const { links, questionIds, accountId, week, userIds } = await asking({ count: 12 });
    const id = questionIds.get('workload-amount') as number;
    await give(links[3] as string, id, 4, { comment: 'A comment of p4.' });
    const rows = (await dump()).filter(({ row }) => row['account_id'] === accountId);
    const [answer] = rows.filter(({ table }) => table === 'answers').map(({ row }) => row);
    expect(Object.keys(answer!).toSorted()).toEqual([
      'account_id',
      'import_batch',
      'respondent',
      'sealed',
      'week',
    ]);
    expect(JSON.stringify(rows)).not.toContain('A comment of p4.');
    expect(Buffer.from(String(answer!['sealed']).slice(2), 'hex').includes('A comment')).toBe(false);
    // The number appears only among the people asked, and there only with its groups.
    const places = rows.filter(({ row }) => JSON.stringify(row).includes(String(answer!['respondent'])));
    expect(places.map(({ table }) => table).toSorted()).toEqual(['answers', 'assignments']);
    const people = rows.filter(({ table }) => table === 'assignments').map(({ row }) => row);
    expect(new Set(people.map((row) => JSON.stringify(row['group_ids']))).size).toBe(1);
    expect(Object.keys(people[0]!).toSorted()).toEqual(
      ['account_id', 'group_ids', 'respondent', 'round_id', 'sealed_segments', 'week'].toSorted(),
    );
    // The account has no segments. Where there are some, they are sealed (rounds/segments/frozen-segments.ts).
    expect(new Set(people.map((row) => row['sealed_segments']))).toEqual(new Set([null]));
    // The order of the rows reveals nothing either: it is that of the numbers.
    const order = people.map((row) => row['respondent'] as string);
    expect(order).toEqual(order.toSorted());
    expect(Object.keys(rows.find(({ table }) => table === 'participants')!.row).toSorted()).toEqual(
      ['account_id', 'user_id', 'week'].toSorted(),
    );
    // With the week's key it could be found, as docs/privacy/privacy.md says. The database has the key only in wrapped form.
    const key = (await database.keys.of(database.pool, accountId, week))!;
    expect(respondentOf(key, { userId: userIds[3]! })).toBe(answer!['respondent']);
    const secret = Buffer.from(key.secret);
    const tables = await dump();
    expect(JSON.stringify(tables)).not.toContain(secret.toString('hex'));
    expect(tables.filter(({ table }) => table === 'answer_keys')).toMatchObject([{ row: { secret: null } }]);
  });

  test('contains after closing no answer, number or link, and not who was asked or has answered', async () => {
    const { links, questionIds, accountId, week } = await asking({ count: 12 });
    const id = questionIds.get('workload-amount') as number;
    for (const [i, link] of links.slice(0, 11).entries()) {
      await give(link, id, 1 + (i % 5), i === 3 ? { comment: 'Said by one.' } : {});
    }
    const before = (await dump()).filter(({ row }) => row['account_id'] === accountId);
    const numbers = before
      .filter(({ table }) => table === 'assignments')
      .map(({ row }) => String(row['respondent']));
    expect(numbers).toHaveLength(12);
    await closeWeekNow(database.pool, database.keys, accountId, week, noon);
    const after = (await dump()).filter(({ row }) => row['account_id'] === accountId);
    const gone = ['answers', 'assignments', 'participants', 'links', 'messages', 'week_keys'];
    expect(after.filter(({ table }) => gone.includes(table))).toEqual([]);
    const text = JSON.stringify(after);
    expect(numbers.filter((number) => text.includes(number))).toEqual([]);
    expect(after.filter(({ table }) => table === 'week_keys')).toEqual([]);
    // Of the comment, only its text is left.
    const [comment] = after.filter(({ table }) => table === 'comments').map(({ row }) => row);
    expect(Object.keys(comment!).toSorted()).toEqual([
      'account_id',
      'position',
      'question_id',
      'text',
      'week',
    ]);
    // Of the people, only what existed before they were asked is left.
    const people = after.filter(({ row }) => (row['user_id'] ?? undefined) !== undefined);
    expect([...new Set(people.map(({ table }) => table))].toSorted()).toEqual(['memberships', 'users']);
  });
});
