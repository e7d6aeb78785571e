// An account from before a language was added gets the texts of the library in it, except where it has its own.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { askPeople } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { tablesOf } from '../testing/tables.ts';
import { answeringLanguages } from '../languages/languages.ts';
import { libraryFor } from './library.ts';
import { selectKpis, selectQuestions } from './questions.sql.ts';
import { defineLibrary } from './questions.ts';
import { classesOf } from './similar-wording.ts';
import { translateLibraries } from './translate-library.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const newAccount = (language: string) =>
  inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme', language });
    await defineLibrary(tx, id, language);
    return id;
  });

/** Takes back the languages that were added after English, Swedish and German. */
async function age(accountId: number): Promise<void> {
  await database.pool`
    update questions set
      translations = (select jsonb_object_agg(key, value) from jsonb_each(translations) where key in ('en', 'sv', 'de')),
      options = (select coalesce(json_agg(json_build_object('id', o ->> 'id', 'text', o ->> 'text', 'translations',
                          (select json_object_agg(key, value) from json_each(o -> 'translations') where key in ('en', 'sv', 'de')))), '[]')
                 from json_array_elements(options) o)
    where account_id = ${accountId}`;
  await database.pool`
    update kpis set translations = translations - array['nb', 'da', 'fi', 'pl', 'fr', 'es', 'nl', 'ar'] where account_id = ${accountId}`;
  await database.pool`
    update accounts set library_languages = '{de,en,sv}' where account_id = ${accountId}`;
}
const questionsOf = async (accountId: number) =>
  new Map((await selectQuestions(database.pool, accountId)).map((question) => [question.key, question]));
const languagesOf = (texts: { translations?: Record<string, string> } | undefined) =>
  Object.keys(texts?.translations ?? {}).toSorted();

test.each(['en', 'sv'])(
  'an account in %s gets every text that it has not changed, once',
  async (language) => {
    const id = await newAccount(language);
    const complete = {
      questions: await selectQuestions(database.pool, id),
      kpis: await selectKpis(database.pool, id),
    };
    await age(id);
    await translateLibraries(database.pool);
    expect(await selectQuestions(database.pool, id)).toEqual(complete.questions);
    expect(await selectKpis(database.pool, id)).toEqual(complete.kpis);
    const [account] =
      await database.pool`select library_languages as known from accounts where account_id = ${id}`;
    expect(account?.['known']).toEqual(answeringLanguages.codes);
    const rows = await tablesOf(database.pool);
    await translateLibraries(database.pool);
    expect(await tablesOf(database.pool)).toEqual(rows);
  },
);

test('questions, options and KPIs that a company has worded itself are left as they are, and so is what it removes', async () => {
  const id = await newAccount('en');
  await age(id);
  await database.pool`
    update questions set text = 'I can keep up the pace.' where account_id = ${id} and key = 'workload-pace'`;
  await database.pool`
    update questions set translations = translations || '{"sv": "Egen text."}' where account_id = ${id} and key = 'workload-amount'`;
  await database.pool`
    update questions set options = replace(options::text, '"Noise"', '"Loud noise"')::json where account_id = ${id} and key = 'obstacles'`;
  await database.pool`update kpis set name = 'Workload' where account_id = ${id} and kpi_id = 'workload'`;
  await translateLibraries(database.pool);
  const questions = await questionsOf(id);
  for (const key of ['workload-pace', 'obstacles']) {
    expect(languagesOf(questions.get(key))).toEqual(['de', 'sv']);
    for (const option of questions.get(key)?.options ?? []) expect(languagesOf(option)).toEqual(['de', 'sv']);
  }
  expect(questions.get('workload-amount')?.translations).toMatchObject({
    sv: 'Egen text.',
    fi: expect.any(String),
  });
  const kpis = await selectKpis(database.pool, id);
  expect(kpis.map((kpi) => languagesOf(kpi).length)).toEqual(
    kpis.map(({ id: kpi }) => (kpi === 'workload' ? 2 : answeringLanguages.codes.length - 1)),
  );

  await database.pool`
    update questions set translations = translations - 'fi' where account_id = ${id} and key = 'workload-amount'`;
  await translateLibraries(database.pool);
  expect(languagesOf((await questionsOf(id)).get('workload-amount'))).not.toContain('fi');
});

test('a question that is asked in an open week follows when the week has closed', async () => {
  const id = await newAccount('en');
  const { week } = await askPeople(database, id, { keys: ['workload-pace'] });
  await age(id);
  await translateLibraries(database.pool);
  expect(languagesOf((await questionsOf(id)).get('workload-pace'))).toEqual(['de', 'sv']);
  expect(languagesOf((await questionsOf(id)).get('workload-amount'))).toContain('fi');
  await database.pool`update weeks set closed_at = now() where account_id = ${id} and week = ${week}`;
  await translateLibraries(database.pool);
  expect(languagesOf((await questionsOf(id)).get('workload-pace'))).toContain('fi');
});

test('no two questions of the library have the same text in any two languages, so they stay different questions', () => {
  const questions = libraryFor('en').questions.map((question, i) => ({ ...question, id: i + 1 }));
  expect([...classesOf(questions)].filter(([id, first]) => id !== first)).toEqual([]);
});
