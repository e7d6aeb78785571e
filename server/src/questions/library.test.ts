// The question library is complete in all languages of people who answer, has the form that docs/administrators/questions.md promises, and is accepted by a real
// account.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  isChoice,
  isScaled,
  questionTypes,
  type QuestionType,
  type Scale,
  scaledTypes,
  scaleOf,
} from '@soundings/contract/question-types.ts';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { answeringLanguages, type TextByLanguage } from '../languages/languages.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { tablesOf } from '../testing/tables.ts';
import { scaleTexts } from './library-texts.ts';
import { libraryFor, libraryKpis, libraryQuestions } from './library.ts';
import { selectKpis, selectQuestions } from './questions.sql.ts';
import { defineKpis, defineQuestions } from './questions.ts';

const languages = answeringLanguages.codes;
const scaled = libraryQuestions.filter(({ type }) => isScaled(type));
const texts: TextByLanguage[] = [
  ...libraryKpis.map(({ name }) => name),
  ...libraryQuestions.flatMap(({ text, options = [] }) => [text, ...options.map((option) => option.text)]),
];
const duplicatesIn = (list: string[]) => list.filter((one, i) => list.indexOf(one) !== i);

describe('keys', () => {
  test('KPI and question keys are unique, option IDs are unique within a question, and all consist of lowercase words', () => {
    const keys = libraryQuestions.map(({ key }) => key);
    const ids = libraryKpis.map(({ id }) => id);
    const options = libraryQuestions.map((question) => (question.options ?? []).map(({ id }) => id));
    for (const list of [keys, ids, ...options]) expect(duplicatesIn(list)).toEqual([]);
    for (const one of [...keys, ...ids, ...options.flat()]) expect(one).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  test("the key of a KPI question starts with the KPI's ID", () => {
    expect(scaled.filter(({ key, kpi }) => !key.startsWith(`${kpi}-`))).toEqual([]);
  });
});

describe('content', () => {
  test('there are eight KPIs, each with five questions of types 1 to 4: enough for eight weeks of five questions', () => {
    const perKpi = libraryKpis.map(({ id }) => scaled.filter(({ kpi }) => kpi === id).length);
    expect(perKpi).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
    expect(scaled).toHaveLength(40);
  });

  test('there is one eNPS question, two or three yes/no questions, mostly agreement questions, and some of types 5 to 7 outside KPIs', () => {
    const count = (type: QuestionType) => libraryQuestions.filter((one) => one.type === type).length;
    expect(count(3)).toBe(1);
    expect([2, 3]).toContain(count(4));
    expect(count(1)).toBeGreaterThan(scaled.length / 2);
    for (const type of [2, 5, 6, 7] as const) expect(count(type)).toBeGreaterThanOrEqual(2);
    const outside = libraryQuestions.filter(({ kpi }) => kpi === undefined);
    expect(outside).toEqual(libraryQuestions.filter(({ type }) => !isScaled(type)));
  });

  test('choice questions have 3 to 12 options, and other questions have none', () => {
    const wrong = libraryQuestions.filter(({ type, options = [] }) =>
      isChoice(type) ? options.length < 3 || options.length > 12 : options.length > 0,
    );
    expect(wrong).toEqual([]);
  });
});

describe('texts', () => {
  test('every text exists in every language, is trimmed, and has at most 100 characters', () => {
    expect(languages).toEqual(expect.arrayContaining(['en', 'sv', 'de', 'nb', 'pl', 'ar']));
    const incomplete = texts.filter((text) => Object.keys(text).join() !== languages.join());
    expect(incomplete).toEqual([]);
    const all = texts.flatMap((text) => Object.values(text));
    expect(all.filter((text) => text === '' || text !== text.trim())).toEqual([]);
    expect(all.filter((text) => text.length > 100)).toEqual([]);
  });

  test('no two questions have the same text, and no two options of a question do', () => {
    for (const language of languages) {
      expect(duplicatesIn(libraryQuestions.map(({ text }) => text[language] ?? ''))).toEqual([]);
      for (const { options = [] } of libraryQuestions) {
        expect(duplicatesIn(options.map(({ text }) => text[language] ?? ''))).toEqual([]);
      }
    }
  });

  test('in each language, type 1 is a single statement, and every other type is a single question', () => {
    for (const { type, text } of libraryQuestions) {
      for (const one of Object.values(text))
        expect(one).toMatch(type === 1 ? /^[^.?!؟]+\.$/ : /^[^.?!؟]+[?؟]$/);
    }
  });

  test('questions of types 1 to 4 contain no negation, so agreeing more is always better', () => {
    const negations = {
      en: /\b(no|not|never|nobody|nothing|none|without|hardly)\b|n't\b|n’t\b/i,
      sv: /\b(inte|aldrig|ingen|inget|inga|ingenting|utan|knappt)\b/i,
      de: /\b(nicht|nichts|nie|niemand|niemals|kein\w*|ohne|kaum)\b/i,
      nb: /\b(ikke|aldri|ingen|ingenting|uten|knapt)\b/i,
      da: /\b(ikke|aldrig|ingen|intet|uden|næppe)\b/i,
      fi: /(^| )(en|ei|eivät|emme|koskaan|kukaan|mikään|ilman|tuskin)[ ,.?]/i,
      pl: /(^| )(nie|nigdy|nikt|nic|bez|żaden)[ ,.?]/i,
      fr: /\b(ne|pas|jamais|rien|aucun|sans|guère)\b|\bn’/i,
      es: /\b(no|nunca|nadie|nada|ningún|sin|apenas)\b/i,
      nl: /\b(niet|niets|nooit|niemand|geen|zonder|nauwelijks)\b/i,
      ar: /(^| )(لا|لم|لن|ليس|ليست|بدون|دون|بلا)( |$)/,
    };
    for (const { text } of scaled) {
      for (const [language, negation] of Object.entries(negations)) {
        expect(text[language]).not.toMatch(negation);
      }
    }
  });

  test('German addresses the reader as du', () => {
    for (const { de } of texts) expect(de).not.toMatch(/\S +(Sie|Ihnen|Ihre?[mnrs]?)\b/);
  });
});

describe('scaleTexts', () => {
  test('scales have a text in each language for the values they can have, other types have none', () => {
    const values = {
      1: [1, 2, 3, 4, 5],
      2: [1, 10],
      3: [0, 10],
      4: [1, 0],
      5: [],
      6: [],
      7: [],
      8: [1, 2, 3, 4],
    };
    for (const type of questionTypes) {
      for (const language of languages) {
        const labels = scaleTexts(type, language);
        expect(labels.map(({ value }) => value)).toEqual(values[type]);
        expect(duplicatesIn(labels.map(({ text }) => text))).toEqual([]);
      }
    }
    for (const type of scaledTypes) {
      const { low, high, labels } = scaleOf(type) as Scale;
      const all = scaleTexts(type, 'en').map(({ value }) => value);
      expect([Math.min(...all), Math.max(...all)]).toEqual([low, high]);
      expect(all).toHaveLength(labels === 'all' ? high - low + 1 : 2);
    }
    expect(scaleTexts(4, 'de')).toEqual([
      { value: 1, text: 'Ja' },
      { value: 0, text: 'Nein' },
    ]);
  });

  test('the language code is case-insensitive, and an unknown language gets English', () => {
    expect(scaleTexts(1, 'SV')).toEqual(scaleTexts(1, 'sv'));
    expect(scaleTexts(1, 'no')).toEqual(scaleTexts(1, 'nb'));
    for (const language of ['is', '', '__proto__', 'constructor']) {
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

  test("texts are in the account's language with the others as translations, and other languages get English", () => {
    const pace = libraryQuestions[0]!.text;
    const time = libraryQuestions.find(({ key }) => key === 'help-most')!.options![0]!.text;
    for (const [asked, own] of [
      ['en', 'en'],
      ['sv', 'sv'],
      ['DE', 'de'],
      ['fi', 'fi'],
      ['nn', 'nb'],
      ['is', 'en'],
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

  test.each(['en', 'sv', 'ar'])(
    'an account in %s accepts the whole library, and importing it again changes nothing',
    async (language) => {
      const id = await newAccount(language);
      expect(await define(id, language)).toEqual([libraryQuestions.length, libraryKpis.length]);
      const questions = await selectQuestions(database.pool, id);
      expect(questions).toEqual(
        libraryFor(language).questions.map((question) =>
          Object.assign(question, {
            id: expect.any(Number) as number,
            allowsNotApplicable: false,
            retiredAt: null,
          }),
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

describe('docs/administrators/questions.md', () => {
  test('lists exactly the KPIs and questions of the library, with key, type and English text', () => {
    const text = readFileSync(new URL('../../../docs/administrators/questions.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| (\d) +\| (.+?) +\|$/gm)].map(([, ...row]) => row);
    expect(rows).toEqual(libraryQuestions.map(({ key, type, text: { en } }) => [key, String(type), en]));
    const headings = [...text.matchAll(/^### (.+) \(`([a-z]+)`\)$/gm)].map(([, ...row]) => row);
    expect(headings).toEqual(libraryKpis.map(({ id, name }) => [name.en, id]));
  });
});
