// Which answers of an open week are stored, and for which people, read with the week's key. results/close-week.test.ts tests
// closing.
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { keptAnswers } from '../testing/kept-answers.ts';
import { importLines, linkOf, question, round } from '../testing/surveys.ts';
import { type SubmittedAnswer, saveAnswers } from './answering.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const week = weekNamed('2024-W47') as Week;
const meanwhile = Date.parse('2024-11-20T12:00:00Z');
const options = { options: ['in', 'out'].map((id) => ({ id, text: id })) };
const notAsked = 'This person was not asked this question.';
const nothing = { value: null, choices: null, comment: null, skipped: false };

const names = ['e1', 'e2', 'e3'];

/** Creates an account whose week asks e1 `scale` and `lunch`, e2 `scale`, and e3 nothing. */
async function asking() {
  const { id, userIds } = await inTransaction(database.pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme' });
    const top = await createGroup(tx, account.id, { name: 'top', externalId: 'top' });
    await createGroup(tx, account.id, { name: 'north', externalId: 'north', parentId: top });
    const createdIds: number[] = [];
    for (const externalId of names) {
      createdIds.push(await createUser(tx, account.id, { firstName: externalId, externalId }));
    }
    return { id: account.id, userIds: createdIds };
  });
  const lines = [
    question('scale', 1),
    question('lunch', 6, options),
    question('unasked', 1),
    round('2024-W47', 'top', ['scale'], { e1: ['north'], e2: ['top'] }),
    round('2024-W47', 'north', ['lunch'], { e1: ['north'] }),
  ];
  await importLines(database, id, lines, meanwhile);
  const rows = await database.pool<{ key: string; questionId: number }[]>`
    select key, question_id as "questionId" from questions where account_id = ${id}`;
  const ids = new Map(rows.map((row) => [row.key, row.questionId]));
  const links = await Promise.all(
    userIds.map((userId) => linkOf(database.pool, { accountId: id, userId, week })),
  );
  const by = (person: string) => links[names.indexOf(person)]!;
  return {
    id,
    idOf: (key: string) => ids.get(key)!,
    by,
    give: (person: string, of: string, value: Omit<SubmittedAnswer, 'questionId'>) =>
      saveAnswers(database.pool, database.keys, { link: by(person), visit: 'a browser' }, [
        { questionId: ids.get(of)!, ...value },
      ]),
    kept: () => keptAnswers(database, id, week),
  };
}

describe('giveAnswers', () => {
  test('stores an answer unchanged, and replaces it when the person answers again', async () => {
    const { give, idOf, kept } = await asking();
    const questionId = idOf('lunch');
    const comment = '  "å\t\\N"\n👩‍🚀 ';
    await give('e1', 'lunch', { value: ['out', 'in'], comment });
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: ['out', 'in'], comment }]);
    await give('e1', 'lunch', { value: [] });
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: [] }]);
    await give('e1', 'lunch', { skipped: true });
    expect(await kept()).toEqual([{ ...nothing, questionId, skipped: true }]);
    await give('e1', 'lunch', { value: ['in'] });
    expect(await kept()).toEqual([{ ...nothing, questionId, choices: ['in'] }]);
  });

  test('stores one answer if a person sends many at the same time', async () => {
    const { give, kept } = await asking();
    await Promise.all([1, 2, 3, 4, 5].map((value) => give('e1', 'scale', { value })));
    expect(await kept()).toHaveLength(1);
  });

  test.each([
    ['from someone who is not asked', 'e3', 'scale'],
    ['from someone who gets other questions from another round', 'e2', 'lunch'],
    ['to a question that is not asked', 'e1', 'unasked'],
  ])('%s is refused, and nothing is stored', async (_, person, of) => {
    const { give, idOf, kept } = await asking();
    const value = of === 'lunch' ? ['in'] : 3;
    const refused = { kind: 'invalid', details: [{ path: `q${idOf(of)}`, message: notAsked }] };
    await expect(give(person, of, { value })).rejects.toMatchObject(refused);
    expect(await kept()).toEqual([]);
    await give('e1', of, { skipped: true }).catch(() => {}); // by a person who is asked, so that the form is known from then on
    const before = await kept();
    await expect(give(person, of, { value })).rejects.toMatchObject(refused);
    expect(await kept()).toEqual(before);
  });

  test('refuses a link of another account with the same message, and no link works after closing', async () => {
    const [one, other] = [await asking(), await asking()];
    const questionId = one.idOf('scale');
    const refused = saveAnswers(database.pool, database.keys, { link: other.by('e1'), visit: null }, [
      { questionId, value: 3 },
    ]);
    await expect(refused).rejects.toMatchObject({ details: [{ path: `q${questionId}`, message: notAsked }] });
    await closeWeekNow(database.pool, database.keys, one.id, week, meanwhile);
    expect(await one.give('e1', 'scale', { value: 3 })).toBe('closed');
    expect([await one.kept(), await other.kept()]).toEqual([[], []]);
  });
});
