// Questions and KPIs: which answers each type accepts, what is counted, and what can change after a question exists.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { tablesOf } from '../testing/tables.ts';
import { defineKpis, defineQuestions, retireQuestions } from './questions.ts';
import { selectKpis, selectQuestions, type NewQuestion } from './questions.sql.ts';
import { distributionOf, enpsOf, individualsOf, readAnswer, scaledMean } from './types.ts';

describe('readAnswer', () => {
  const options = new Set(['in', 'out']);
  test.each([
    [1, [1, 5], [0, 6, 2.5, '3', null, undefined, true, Number.NaN, [1]], 'a whole number from 1 to 5'],
    [2, [1, 10], [0, 11, 1.5], 'a whole number from 1 to 10'],
    [3, [0, 10], [-1, 11], 'a whole number from 0 to 10'],
  ] as const)('type %i accepts the whole numbers of its scale', (type, right, wrong, expected) => {
    for (const value of right) expect(readAnswer(type, options, value)).toEqual({ value, choices: null });
    for (const value of wrong) expect(readAnswer(type, options, value)).toBe(expected);
  });

  test('type 4 accepts only true and false', () => {
    expect(readAnswer(4, options, true)).toEqual({ value: 1, choices: null });
    expect(readAnswer(4, options, false)).toEqual({ value: 0, choices: null });
    for (const value of [0, 1, 'yes', null, undefined])
      expect(readAnswer(4, options, value)).toBe('true or false');
  });

  test('type 5 accepts one of its options, type 6 any number of different options in any order', () => {
    expect(readAnswer(5, options, 'out')).toEqual({ value: null, choices: ['out'] });
    for (const value of [['out'], 'there', '', 0, undefined])
      expect(readAnswer(5, options, value)).toEqual(expect.any(String));
    for (const value of [[], ['out'], ['out', 'in']])
      expect(readAnswer(6, options, value)).toEqual({ value: null, choices: value });
    for (const value of ['out', ['out', 'out'], ['there'], [null], {}, undefined])
      expect(readAnswer(6, options, value)).toEqual(expect.any(String));
  });

  test('type 7 accepts no value, because its text is sent as the comment', () => {
    expect(readAnswer(7, options, undefined)).toEqual({ value: null, choices: null });
    for (const value of [null, '', 'text', 1])
      expect(readAnswer(7, options, value)).toEqual(expect.any(String));
  });
});

describe('figures', () => {
  const numbers = (...values: number[]) => values.map((value) => ({ value, choices: null }));

  test('a distribution lists every value of the scale, or every option in its order', () => {
    expect(distributionOf(1, [], numbers(5, 1, 5))).toEqual({ 1: 1, 2: 0, 3: 0, 4: 0, 5: 2 });
    expect(Object.keys(distributionOf(2, [], []))).toHaveLength(10);
    expect(Object.keys(distributionOf(3, [], []))).toHaveLength(11);
    expect(distributionOf(4, [], numbers(1, 0, 1))).toEqual({ yes: 2, no: 1 });
    const chosen = [['b'], ['b', '__proto__']].map((choices) => ({ value: null, choices }));
    expect(Object.entries(distributionOf(6, ['b', 'a', '__proto__'], chosen))).toEqual([
      ['b', 2],
      ['a', 0],
      ['__proto__', 1],
    ]);
  });

  test('a mean is scaled to 0…1 by the ends of its scale, and is null without answers or without a scale', () => {
    expect([1, 3, 5].map((value) => scaledMean(1, value, 1))).toEqual([0, 0.5, 1]);
    expect([1, 10].map((value) => scaledMean(2, value, 1))).toEqual([0, 1]);
    expect([0, 5, 10].map((value) => scaledMean(3, value, 1))).toEqual([0, 0.5, 1]);
    expect(scaledMean(4, 3, 4)).toBe(0.75);
    expect(scaledMean(1, 11, 3)).toBe(8 / 12); // not the sum of rounded parts
    expect([scaledMean(1, 0, 0), scaledMean(5, 0, 3), scaledMean(7, 0, 3)]).toEqual([null, null, null]);
  });

  test('promoters are 9 and 10, detractors 0 to 6, as a percentage of all answers', () => {
    const enps = (...values: number[]) => enpsOf(distributionOf(3, [], numbers(...values)));
    expect([enps(9), enps(10), enps(8), enps(7), enps(6), enps(0)]).toEqual([100, 100, 0, 0, -100, -100]);
    expect(enps(9, 10, 8, 0)).toBe(25);
  });

  test('individual answers are the distribution written out in ascending order', () => {
    expect(individualsOf(3, distributionOf(3, [], numbers(10, 2, 10, 0)))).toEqual([0, 2, 10, 10]);
    expect(individualsOf(4, distributionOf(4, [], numbers(1, 0, 1)))).toEqual([0, 1, 1]);
  });
});

describe('definitions', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const newAccount = () =>
    inTransaction(database.pool, async (tx) => (await createAccount(tx, { name: 'Acme' })).id);
  const scale: NewQuestion = {
    key: 'scale',
    type: 1,
    text: 'How?',
    language: 'en',
    translations: { sv: 'Hur?', de: 'Wie?' },
    options: [],
  };
  const lunch: NewQuestion = {
    ...scale,
    key: 'lunch',
    type: 5,
    options: [
      { id: '2', text: 'Two', translations: { sv: 'Två', de: 'Zwei' } },
      { id: '1', text: 'One' },
    ],
  };
  const define = (accountId: number, ...questions: NewQuestion[]) =>
    inTransaction(database.pool, (tx) => defineQuestions(tx, accountId, questions));

  test('a question keeps its ID when its text changes, and the order of its options when they are sent in another order', async () => {
    const id = await newAccount();
    expect(await define(id, scale, lunch)).toBe(2);
    const before = await selectQuestions(database.pool, id);
    expect(before).toEqual(
      [scale, lunch].map((one) => ({
        ...one,
        id: expect.any(Number) as number,
        allowsNotApplicable: false,
        retiredAt: null,
      })),
    );
    const rows = await tablesOf(database.pool);
    const reordered = { ...scale, translations: { de: 'Wie?', sv: 'Hur?' } };
    const options = [{ ...lunch.options[0]!, translations: { de: 'Zwei', sv: 'Två' } }, lunch.options[1]!];
    expect(await define(id, reordered, { ...lunch, options })).toBe(0);
    expect(await tablesOf(database.pool)).toEqual(rows);
    expect(await define(id, { ...scale, text: 'Well?' }, lunch)).toBe(1);
    expect(await selectQuestions(database.pool, id)).toEqual([{ ...before[0], text: 'Well?' }, before[1]]);
  });

  test('that says nothing of “not applicable” keeps what the question allows, and a change of it alone is a change', async () => {
    const id = await newAccount();
    await define(id, { ...scale, allowsNotApplicable: true });
    const allowed = async () =>
      (await selectQuestions(database.pool, id)).map((one) => one.allowsNotApplicable);
    expect([await define(id, scale), await allowed()]).toEqual([0, [true]]);
    expect(await define(id, { ...scale, text: 'Well?' })).toBe(1);
    expect(await allowed()).toEqual([true]);
    expect(await define(id, { ...scale, text: 'Well?', allowsNotApplicable: false })).toBe(1);
    expect(await allowed()).toEqual([false]);
  });

  test('changing the type or the option IDs of a question is an error, and nothing is stored', async () => {
    const id = await newAccount();
    await define(id, scale, lunch);
    const rows = await tablesOf(database.pool);
    const others: NewQuestion[] = [
      { ...scale, type: 2 },
      { ...lunch, type: 6 },
      { ...lunch, options: lunch.options.toReversed() },
      { ...lunch, options: lunch.options.slice(1) },
    ];
    for (const other of others) {
      await expect(define(id, { ...scale, key: 'new' }, other)).rejects.toMatchObject({
        kind: 'conflict',
        code: 'question changed',
      });
    }
    expect(await tablesOf(database.pool)).toEqual(rows);
  });

  test('the same key in another account is another question', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    await define(one, scale);
    expect(await define(other, { ...scale, type: 2 })).toBe(1);
    expect((await selectQuestions(database.pool, one)).map(({ type }) => type)).toEqual([1]);
  });

  test('a KPI consists of questions of types 1 to 4 of its own account', async () => {
    const [id, other] = [await newAccount(), await newAccount()];
    await define(id, scale, lunch);
    await define(other, scale);
    const [ours, choice] = (await selectQuestions(database.pool, id)).map((one) => one.id);
    const [theirs] = (await selectQuestions(database.pool, other)).map((one) => one.id);
    const kpi = (questionIds: number[]) => ({ id: 'mood', name: 'Mood', imageUrl: null, questionIds });
    const set = (questionIds: number[]) =>
      inTransaction(database.pool, (tx) => defineKpis(tx, id, [kpi(questionIds)]));
    for (const wrong of [choice, theirs, 0]) {
      await expect(set([ours as number, wrong as number])).rejects.toMatchObject({ kind: 'invalid' });
    }
    expect(await selectKpis(database.pool, id)).toEqual([]);
    expect(await set([ours as number])).toBe(1);
    const rows = await tablesOf(database.pool);
    expect(await set([ours as number])).toBe(0);
    expect(await tablesOf(database.pool)).toEqual(rows);
    expect(await selectKpis(database.pool, id)).toEqual([{ ...kpi([ours as number]), translations: {} }]);
  });

  test('questions are retired and reactivated by key, and an unknown key changes nothing', async () => {
    const id = await newAccount();
    await define(id, scale, lunch);
    const retire = (keys: string[], isRetired: boolean) =>
      inTransaction(database.pool, (tx) => retireQuestions(tx, id, keys, isRetired));
    const retired = async () =>
      (await selectQuestions(database.pool, id))
        .filter(({ retiredAt }) => retiredAt !== null)
        .map(({ key }) => key);
    await retire([scale.key], true);
    expect(await retired()).toEqual([scale.key]);
    await expect(retire([lunch.key, 'nothing'], true)).rejects.toMatchObject({ code: 'question not found' });
    expect(await retired()).toEqual([scale.key]);
    await retire([scale.key], false);
    expect(await retired()).toEqual([]);
  });
});
