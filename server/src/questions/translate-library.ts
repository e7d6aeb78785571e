// Gives the questions and KPIs that an account has from the library their texts in languages that were added to the product later.
import {
  raiseVersion,
  selectLackingLanguages,
  selectLibraryLanguages,
  updateLibraryLanguages,
} from '../accounts/accounts.sql.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { answeringLanguages, type TextByLanguage } from '../languages/languages.ts';
import { libraryKpis, libraryQuestions, type StandardQuestion } from './library.ts';
import {
  type AnswerOption,
  type Kpi,
  type Question,
  selectKpis,
  selectQuestions,
  selectQuestionsAskedNow,
  updateQuestions,
  upsertKpis,
} from './questions.sql.ts';
import { templates } from './templates.ts';

/** Translates the library in all accounts that lack languages. */
export async function translateLibraries(pool: Pool, languages = answeringLanguages.codes): Promise<void> {
  for (const accountId of await selectLackingLanguages(pool, languages)) {
    await inTransaction(pool, (tx) => translateLibrary(tx, accountId, languages));
  }
}

/**
 * Adds the texts in new languages where the account has a text of the library as the library words it. Questions that are asked in
 * an open week follow when it has closed, because their texts must not change before (rules.md P17).
 */
async function translateLibrary(
  tx: Transaction,
  accountId: AccountId,
  languages: readonly string[],
): Promise<void> {
  await lockAccount(tx, accountId);
  const known = await selectLibraryLanguages(tx, accountId);
  const added = languages.filter((one) => !known.includes(one));
  const present = await selectQuestions(tx, accountId);
  const changed = present.flatMap((question) => translatedQuestion(question, added) ?? []);
  const asked = await selectQuestionsAskedNow(
    tx,
    accountId,
    changed.map(({ id }) => id),
  );
  await updateQuestions(
    tx,
    accountId,
    changed.filter(({ id }) => !asked.has(id)),
  );
  const kpis = (await selectKpis(tx, accountId)).flatMap((kpi) => translatedKpi(kpi, added) ?? []);
  await upsertKpis(tx, accountId, kpis);
  if (changed.length > 0 || kpis.length > 0) await raiseVersion(tx, accountId);
  if (asked.size === 0) await updateLibraryLanguages(tx, accountId, languages);
}

type Texts = { text: string; translations?: Record<string, string> };

/** Returns a text with those of the added languages that it lacks. Undefined if the company has worded it in another way. */
function translated<Own extends Texts>(own: Own, language: string, all: TextByLanguage, added: string[]) {
  if (own.text !== all[language]) return undefined;
  const more = Object.entries(all).filter(([one]) => one !== language && added.includes(one));
  return { ...own, translations: { ...Object.fromEntries(more), ...own.translations } };
}

const standardByKey = new Map<string, Pick<StandardQuestion, 'text' | 'options'>>(
  [...libraryQuestions, ...templates.flatMap(({ questions }) => questions)].map((one) => [one.key, one]),
);

/** Returns a question with its texts in the added languages. Undefined if nothing is added, or a text is the company's own. */
function translatedQuestion(question: Question, added: string[]): Question | undefined {
  const standard = standardByKey.get(question.key);
  const after = standard && translated(question, question.language, standard.text, added);
  if (!after) return undefined;
  const options: AnswerOption[] = question.options.flatMap((option) => {
    const all = standard.options?.find(({ id }) => id === option.id)?.text;
    return (all && translated(option, question.language, all, added)) ?? [];
  });
  if (options.length < question.options.length) return undefined;
  const isSame = countOf(after.translations) === countOf(question.translations);
  return isSame ? undefined : { ...after, options };
}

const standardKpis = [...libraryKpis, ...templates.flatMap(({ kpi }) => kpi ?? [])];

function translatedKpi(kpi: Kpi, added: string[]): Kpi | undefined {
  const name = standardKpis.find(({ id }) => id === kpi.id)?.name;
  const after = name && translated({ ...kpi, text: kpi.name }, 'en', name, added);
  if (!after || countOf(after.translations) === countOf(kpi.translations)) return undefined;
  return { ...kpi, translations: after.translations };
}

const countOf = (translations: Record<string, string>) => Object.keys(translations).length;
