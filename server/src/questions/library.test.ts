// The library: complete in three languages, in the form that docs/questions.md promises, and accepted by a real account.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { tablesOf } from '../testing/tables.ts';
import { scaleTexts, type Words } from './library-texts.ts';
import { libraryFor, libraryKpis, libraryQuestions } from './library.ts';
import { defineKpis, defineQuestions, selectKpis, selectQuestions } from './questions.ts';
import { isChoice, isScaled, type QuestionType } from './types.ts';

const languages = ['en', 'sv', 'de'] as const;
const scaled = libraryQuestions.filter(({ type }) => isScaled(type));
const texts: Words[] = [
  ...libraryKpis.map(({ name }) => name),
  ...libraryQuestions.flatMap(({ text, options = [] }) => [text, ...options.map((option) => option.text)]),
];
const repeated = (list: string[]) => list.filter((one, i) => list.indexOf(one) !== i);

describe('keys', () => {
  test('a key, an id of a KPI, and within a question an id of an option, stands for one thing, and is plain', () => {
    const keys = libraryQuestions.map(({ key }) => key);
    const ids = libraryKpis.map(({ id }) => id);
    const options = libraryQuestions.map((question) => (question.options ?? []).map(({ id }) => id));
    for (const list of [keys, ids, ...options]) expect(repeated(list)).toEqual([]);
    for (const one of [...keys, ...ids, ...options.flat()]) expect(one).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  test('a question of a KPI has a key that begins with it', () => {
    expect(scaled.filter(({ key, kpi }) => !key.startsWith(`${kpi}-`))).toEqual([]);
  });
});

describe('what is asked', () => {
  test('eight KPIs of five questions of types 1 to 4 each: eight weeks of five', () => {
    const perKpi = libraryKpis.map(({ id }) => scaled.filter(({ kpi }) => kpi === id).length);
    expect(perKpi).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
    expect(scaled).toHaveLength(40);
  });

  test('one recommendation, two or three of yes and no, most by agreement; and some of types 5 to 7 outside KPIs', () => {
    const count = (type: QuestionType) => libraryQuestions.filter((one) => one.type === type).length;
    expect(count(3)).toBe(1);
    expect([2, 3]).toContain(count(4));
    expect(count(1)).toBeGreaterThan(scaled.length / 2);
    for (const type of [2, 5, 6, 7] as const) expect(count(type)).toBeGreaterThanOrEqual(2);
    const outside = libraryQuestions.filter(({ kpi }) => kpi === undefined);
    expect(outside).toEqual(libraryQuestions.filter(({ type }) => !isScaled(type)));
  });

  test('choices have options, at least three and at most twelve; no other question has', () => {
    const wrong = libraryQuestions.filter(({ type, options = [] }) =>
      isChoice(type) ? options.length < 3 || options.length > 12 : options.length > 0,
    );
    expect(wrong).toEqual([]);
  });
});

describe('words', () => {
  test('everything is there in English, Swedish and German, trimmed, and a question has at most 90 characters', () => {
    const lacking = texts.filter((words) => Object.keys(words).join() !== languages.join());
    expect(lacking).toEqual([]);
    const all = texts.flatMap((words) => Object.values(words));
    expect(all.filter((text) => text === '' || text !== text.trim())).toEqual([]);
    expect(all.filter((text) => text.length > 90)).toEqual([]);
  });

  test('no two questions, and no two options of a question, have the same words', () => {
    for (const language of languages) {
      expect(repeated(libraryQuestions.map(({ text }) => text[language]))).toEqual([]);
      for (const { options = [] } of libraryQuestions) {
        expect(repeated(options.map(({ text }) => text[language]))).toEqual([]);
      }
    }
  });

  test('type 1 is one statement to agree with, any other type one question, in each language', () => {
    for (const { type, text } of libraryQuestions) {
      for (const one of Object.values(text)) expect(one).toMatch(type === 1 ? /^[^.?!]+\.$/ : /^[^.?!]+\?$/);
    }
  });

  test('nothing is negated in questions of types 1 to 4: more agreement is always better, and never doubly denied', () => {
    const negations = {
      en: /\b(no|not|never|nobody|nothing|none|without|hardly)\b|n't\b|n’t\b/i,
      sv: /\b(inte|aldrig|ingen|inget|inga|ingenting|utan|knappt)\b/i,
      de: /\b(nicht|nichts|nie|niemand|niemals|kein\w*|ohne|kaum)\b/i,
    };
    for (const { text } of scaled) {
      for (const language of languages) expect(text[language]).not.toMatch(negations[language]);
    }
  });

  test('German says du', () => {
    for (const { de } of texts) expect(de).not.toMatch(/\S +(Sie|Ihnen|Ihre?[mnrs]?)\b/);
  });
});

describe('scaleWords', () => {
  test('types 1 to 4 have words in each language, for the values that an answer can have; others have none', () => {
    const values = { 1: [1, 2, 3, 4, 5], 2: [1, 10], 3: [0, 10], 4: [1, 0], 5: [], 6: [], 7: [] };
    for (const type of [1, 2, 3, 4, 5, 6, 7] as const) {
      for (const language of languages) {
        const words = scaleTexts(type, language);
        expect(words.map(({ value }) => value)).toEqual(values[type]);
        expect(repeated(words.map(({ text }) => text))).toEqual([]);
      }
    }
    expect(scaleTexts(4, 'de')).toEqual([
      { value: 1, text: 'Ja' },
      { value: 0, text: 'Nein' },
    ]);
  });

  test('the language may be in any letter case, and is English where there is none', () => {
    expect(scaleTexts(1, 'SV')).toEqual(scaleTexts(1, 'sv'));
    for (const language of ['fi', '', '__proto__', 'constructor']) {
      expect(scaleTexts(1, language)).toEqual(scaleTexts(1, 'en'));
    }
  });
});

describe('libraryFor', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const newAccount = (language: string) =>
    inTransaction(database.pool, async (tx) => (await createAccount(tx, { name: 'Acme', language })).id);
  const define = (accountId: number, language: string) =>
    inTransaction(database.pool, async (tx) => {
      const { questions, kpis } = libraryFor(language);
      const changed = await defineQuestions(tx, accountId, questions);
      const idOf = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
      const wanted = kpis.map(({ id, name, questions: keys }) => ({
        id,
        name,
        imageUrl: null,
        questionIds: keys.map((key) => idOf.get(key) as number),
      }));
      return [changed, await defineKpis(tx, accountId, wanted)];
    });

  test('texts are in the language of the account, the two others beside them; an account of another has English', () => {
    const pace = libraryQuestions[0]!.text;
    const time = libraryQuestions.find(({ key }) => key === 'help-most')!.options![0]!.text;
    for (const [asked, own] of [
      ['en', 'en'],
      ['sv', 'sv'],
      ['DE', 'de'],
      ['fi', 'en'],
    ] as const) {
      const { questions, kpis } = libraryFor(asked);
      const { [own]: text, ...translations } = pace;
      expect(questions[0]).toEqual({
        key: 'workload-pace',
        type: 1,
        text,
        language: own,
        translations,
        options: [],
      });
      const { [own]: optionText, ...optionTranslations } = time;
      expect(questions.find(({ key }) => key === 'help-most')?.options[0]).toEqual({
        id: 'time',
        text: optionText,
        translations: optionTranslations,
      });
      expect(kpis.map(({ name }) => name)).toEqual(libraryKpis.map(({ name }) => name.en));
    }
  });

  test.each(languages)(
    'an account of language %s takes all of it, and a second time changes nothing',
    async (language) => {
      const id = await newAccount(language);
      expect(await define(id, language)).toEqual([libraryQuestions.length, libraryKpis.length]);
      const questions = await selectQuestions(database.pool, id);
      expect(questions).toEqual(
        libraryFor(language).questions.map((question) =>
          Object.assign(question, { id: expect.any(Number) as number, retiredAt: null }),
        ),
      );
      const keyOf = new Map(questions.map((question) => [question.id, question.key]));
      const kpis = await selectKpis(database.pool, id);
      expect(
        Object.fromEntries(kpis.map((kpi) => [kpi.id, kpi.questionIds.map((one) => keyOf.get(one))])),
      ).toEqual(Object.fromEntries(libraryFor(language).kpis.map((kpi) => [kpi.id, kpi.questions])));
      const rows = await tablesOf(database.pool);
      expect(await define(id, language)).toEqual([0, 0]);
      expect(await tablesOf(database.pool)).toEqual(rows);
    },
  );
});

describe('docs/questions.md', () => {
  test('has every KPI and every question, by key, type and English words, and no other', () => {
    const text = readFileSync(new URL('../../../docs/questions.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| (\d) +\| (.+?) +\|$/gm)].map(([, ...row]) => row);
    expect(rows).toEqual(libraryQuestions.map(({ key, type, text: { en } }) => [key, String(type), en]));
    const headings = [...text.matchAll(/^### (.+) \(`([a-z]+)`\)$/gm)].map(([, ...row]) => row);
    expect(headings).toEqual(libraryKpis.map(({ id, name }) => [name.en, id]));
  });
});
