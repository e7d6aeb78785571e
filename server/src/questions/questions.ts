// The questions and KPIs of an account: what is asked, in which words, and what is made of it.
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import {
  insertQuestions,
  type KpiRow,
  type NewQuestion,
  type Option,
  type QuestionRow,
  selectKpis,
  selectQuestions,
  updateQuestions,
  updateRetired,
  upsertKpis,
} from './questions.sql.ts';
import { libraryFor } from './library.ts';
import { isScaled } from './types.ts';

export type Question = QuestionRow;
export type Kpi = KpiRow;
export type { NewQuestion, Option };

export { selectKpis as kpisOf, selectQuestions as questionsOf };

/**
 * Makes the questions whose key is new, and gives those that are there the words that are given. Returns how many were
 * made or changed. Throws a Fault when one would change its type or the ids of its options: that would be another
 * question. The caller holds the account's lock.
 */
export async function defineQuestions(
  tx: Transaction,
  accountId: AccountId,
  questions: NewQuestion[],
): Promise<number> {
  const present = new Map((await selectQuestions(tx, accountId)).map((question) => [question.key, question]));
  const changed: (NewQuestion & { id: number })[] = [];
  for (const question of questions) {
    const before = present.get(question.key);
    if (!before || sameWords(before, question)) continue;
    const fault = changeFault(before, question);
    if (fault) throw new Fault('conflict', 'question changed', fault);
    changed.push({ ...question, id: before.id });
  }
  const added = questions.filter(({ key }) => !present.has(key));
  await insertQuestions(tx, accountId, added);
  await updateQuestions(tx, accountId, changed);
  return added.length + changed.length;
}

const idsOf = (options: Option[]) => JSON.stringify(options.map(({ id }) => id));

/** Words that say why a question that is there cannot become another; undefined when it can. */
export function changeFault(before: NewQuestion, after: NewQuestion): string | undefined {
  const isSameType = before.type === after.type;
  if (isSameType && idsOf(before.options) === idsOf(after.options)) return undefined;
  const kind = isSameType ? 'list of options' : `type (${before.type})`;
  return `The question ${quote(before.key)} is there with another ${kind}. Give the new one another key.`;
}

function sameWords(before: NewQuestion, after: NewQuestion): boolean {
  const wordsOf = ({ type, text, language, translations, options }: NewQuestion) =>
    JSON.stringify([
      type,
      text,
      language,
      sorted(translations),
      options.map((option) => [option.id, option.text, sorted(option.translations ?? {})]),
    ]);
  return wordsOf(before) === wordsOf(after);
}

const sorted = (translations: Record<string, string>) =>
  Object.entries(translations).toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Makes or changes KPIs. Values that were published stay. Returns how many were made or changed. Throws a Fault for
 * questions that have no value. The caller holds the account's lock.
 */
export async function defineKpis(tx: Transaction, accountId: AccountId, kpis: Kpi[]): Promise<number> {
  const questions = new Map(
    (await selectQuestions(tx, accountId)).map((question) => [question.id, question]),
  );
  for (const { id, questionIds } of kpis) {
    const wrong = questionIds.find((one) => !isScaled(questions.get(one)?.type ?? 7));
    if (wrong === undefined) continue;
    const name = questions.get(wrong)?.key ?? String(wrong);
    throw new Fault(
      'invalid',
      'invalid value',
      `The KPI "${id}" cannot have the question "${name}": types 1 to 4 only.`,
    );
  }
  const present = new Map((await selectKpis(tx, accountId)).map((kpi) => [kpi.id, JSON.stringify(kpi)]));
  const changed = kpis.filter((kpi) => present.get(kpi.id) !== JSON.stringify(kpi));
  await upsertKpis(tx, accountId, changed);
  return changed.length;
}

/**
 * Gives an account the library of questions and KPIs (docs/questions.md) with which it starts. The caller holds the
 * account's lock.
 */
export async function defineLibrary(tx: Transaction, accountId: AccountId, language: string): Promise<void> {
  const { questions, kpis } = libraryFor(language);
  await defineQuestions(tx, accountId, questions);
  const ids = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
  const withIds = kpis.map(({ id, name, questions: keys }) => ({
    id,
    name,
    imageUrl: null,
    questionIds: keys.map((key) => ids.get(key) as number).toSorted((a, b) => a - b),
  }));
  await defineKpis(tx, accountId, withIds);
}

/**
 * Retires questions, by their keys: no schedule chooses them from then on, and what they were answered stays. Or takes
 * them into use again. Throws a Fault for a key that there is not.
 */
export async function retireQuestions(
  tx: Transaction,
  accountId: AccountId,
  keys: string[],
  isRetired: boolean,
): Promise<void> {
  const ids = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
  const unknown = keys.find((key) => !ids.has(key));
  if (unknown !== undefined) {
    throw new Fault('not_found', 'question not found', `There is no question ${quote(unknown)}.`);
  }
  const wanted = keys.map((key) => ids.get(key) as number);
  await updateRetired(tx, accountId, wanted, isRetired);
}
