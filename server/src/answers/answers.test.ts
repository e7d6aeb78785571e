// Giving answers in an open week: who may, what is kept, and what of it is whose. Closing is in results/publish.test.ts.
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { closeWeekNow } from '../results/publish.ts';
import { respondentOf } from '../rounds/rounds.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { importLines, question, round } from '../testing/surveys.ts';
import { type Answer, giveAnswer } from './answers.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const week = weekNamed('2024-W47') as Week;
const meanwhile = Date.parse('2024-11-20T12:00:00Z');
const options = { options: ['in', 'out'].map((id) => ({ id, text: id })) };
const nothing = { value: null, choices: null, comment: null, skipped: false };

/** An account whose week asks `scale` and `lunch` of e1, and `scale` of e2. */
async function asking() {
  const id = await inTransaction(database.pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme' });
    const top = await createGroup(tx, account.id, { name: 'top', externalId: 'top' });
    await createGroup(tx, account.id, { name: 'north', externalId: 'north', parentId: top });
    return account.id;
  });
  const lines = [
    question('scale', 1),
    question('lunch', 6, options),
    question('unasked', 1),
    round('2024-W47', 'top', ['scale'], { e1: ['north'], e2: ['top'] }),
    round('2024-W47', 'north', ['lunch'], { e1: ['north'] }),
  ];
  await importLines(database.pool, id, lines, meanwhile);
  const [{ key } = { key: Buffer.alloc(0) }] = await database.pool<{ key: Buffer }[]>`
    select respondent_key as key from weeks where account_id = ${id}`;
  const rows = await database.pool<{ key: string; questionId: number }[]>`
    select key, question_id as "questionId" from questions where account_id = ${id}`;
  const ids = new Map(rows.map((row) => [row.key, row.questionId]));
  const answer = (person: string, of: string, more: Partial<Answer>): Answer => ({
    ...nothing,
    week,
    questionId: ids.get(of) as number,
    respondent: respondentOf(key, person),
    ...more,
  });
  return {
    id,
    answer,
    give: (one: Answer) => inTransaction(database.pool, (tx) => giveAnswer(tx, id, one)),
    kept: async () => [
      ...(await database.pool`
        select question_id as "questionId", value, choices, comment, skipped from answers
        where  account_id = ${id} order by question_id, respondent`),
    ],
  };
}

describe('giveAnswer', () => {
  test('keeps an answer to the letter, and in its place the one that is given next', async () => {
    const { give, answer, kept } = await asking();
    const comment = '  "å\t\\N"\n👩‍🚀 ';
    const first = answer('e1', 'lunch', { choices: ['out', 'in'], comment });
    const { questionId } = first;
    await give(first);
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: ['out', 'in'], comment }]);
    await give({ ...first, choices: [], comment: null });
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: [] }]);
    await give({ ...first, choices: null, comment: null, skipped: true });
    expect(await kept()).toEqual([{ ...nothing, questionId, skipped: true }]);
    await give({ ...first, choices: ['in'], comment: null });
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: ['in'] }]);
  });

  test('of one person many at the same moment leave one', async () => {
    const { give, answer, kept } = await asking();
    await Promise.all([1, 2, 3, 4, 5].map((value) => give(answer('e1', 'scale', { value }))));
    expect(await kept()).toHaveLength(1);
  });

  test.each([
    ['by someone who is not asked', 'e3', 'scale'],
    ['by someone whom another round asks other questions', 'e2', 'lunch'],
    ['to a question that is not asked', 'e1', 'unasked'],
  ])('%s is refused, and nothing is kept', async (_, person, of) => {
    const { give, answer, kept } = await asking();
    const refused = { kind: 'conflict', code: 'not asked' };
    await expect(give(answer(person, of, { value: 3, choices: null }))).rejects.toMatchObject(refused);
    expect(await kept()).toEqual([]);
  });

  test('in a week without rounds, in another account, or after closing: refused in the same words', async () => {
    const [one, other] = [await asking(), await asking()];
    const given = one.answer('e1', 'scale', { value: 3 });
    const wordsOf = (promise: Promise<void>) => promise.catch((error: Error) => error.message);
    const words = 'The question is not asked, or the week 2024-W47 has closed.';
    expect(await wordsOf(other.give(given))).toBe(words);
    expect(await wordsOf(one.give({ ...given, week: '2024-11-25' }))).toBe(words.replace('47', '48'));
    await closeWeekNow(database.pool, one.id, week, meanwhile);
    expect(await wordsOf(one.give(given))).toBe(words);
    expect([await one.kept(), await other.kept()]).toEqual([[], []]);
  });
});
