// The questions and KPIs of an account: creates, changes and retires them.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { freeText, isScaled, scaledTypes, typesText } from '@soundings/contract/question-types.ts';
import { isDeepStrictEqual } from 'node:util';
import { raiseVersion, updateLibraryLanguages } from '../accounts/accounts.sql.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { answeringLanguages } from '../languages/languages.ts';
import {
  insertQuestions,
  type Kpi,
  type NewQuestion,
  type AnswerOption,
  type Question,
  selectQuestionsAskedNow,
  selectKpis,
  selectQuestions,
  updateQuestions,
  updateRetired,
  upsertKpis,
} from './questions.sql.ts';
import { libraryFor } from './library.ts';
import { hasSameWording } from './similar-wording.ts';
import { kpiFaults, questionFaults, detailAt } from './question-faults.ts';

/**
 * Creates the questions whose key is new and updates the texts of those that exist. Returns how many were created or changed.
 * Throws a Fault if a question would change its type or the ids of its options, which would make it a different question. The
 * caller holds the account's lock.
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
    if (!before || isUnchanged(before, question)) continue;
    const fault = changeFault(before, question);
    if (fault) throw questionChanged(fault);
    changed.push({ ...question, id: before.id });
  }
  const added = questions.filter(({ key }) => !present.has(key));
  await refuseWhileAsked(
    tx,
    accountId,
    changed.map((after) => ({ before: present.get(after.key) as Question, after })),
  );
  await insertQuestions(tx, accountId, added);
  await updateQuestions(tx, accountId, changed);
  const count = added.length + changed.length;
  if (count > 0) await raiseVersion(tx, accountId);
  return count;
}

const idsOf = (options: AnswerOption[]) => JSON.stringify(options.map(({ id }) => id));

/** Returns a message if the change would make it a different question, which is not allowed; otherwise undefined. */
export function changeFault(before: NewQuestion, after: NewQuestion): string | undefined {
  const isSameType = before.type === after.type;
  if (isSameType && idsOf(before.options) === idsOf(after.options)) return undefined;
  const kind = isSameType ? 'different options' : `a different type (${before.type})`;
  return `Question ${quote(before.key)} already exists with ${kind}. Use another key for the new question.`;
}

function isUnchanged(before: Question, after: NewQuestion): boolean {
  const { allowsNotApplicable = before.allowsNotApplicable } = after;
  if (allowsNotApplicable !== before.allowsNotApplicable) return false;
  const textsOf = ({ type, text, language, translations, options }: NewQuestion) =>
    JSON.stringify([
      type,
      text,
      language,
      sorted(translations),
      options.map((option) => [option.id, option.text, sorted(option.translations ?? {})]),
    ]);
  return textsOf(before) === textsOf(after);
}

const sorted = (translations: Record<string, string>) =>
  Object.entries(translations).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Returns a text that is equal for equal KPIs. */
const kpiDigest = (kpi: Kpi | undefined) =>
  kpi && JSON.stringify([kpi.name, sorted(kpi.translations), kpi.imageUrl, kpi.questionIds]);

/** A KPI as a file defines it. Without `translations`, existing translations are kept. */
export type DefinedKpi = Omit<Kpi, 'translations'> & { translations?: Record<string, string> };

/** Returns the KPI's name in a language, or its name in the data interface if it has no translation. */
export const kpiNameIn = (
  { name, translations }: Pick<Kpi, 'name' | 'translations'>,
  language: string | undefined,
): string => (language === undefined ? undefined : translations[language.toLowerCase()]) ?? name;

/**
 * Creates or changes KPIs. Published values stay unchanged. Returns how many were created or changed. Throws a Fault for
 * questions without a numeric scale. The caller holds the account's lock.
 */
export async function defineKpis(tx: Transaction, accountId: AccountId, kpis: DefinedKpi[]): Promise<number> {
  const questions = new Map(
    (await selectQuestions(tx, accountId)).map((question) => [question.id, question]),
  );
  for (const { id, questionIds } of kpis) {
    const wrong = questionIds.find((one) => !isScaled(questions.get(one)?.type ?? freeText));
    if (wrong === undefined) continue;
    const name = questions.get(wrong)?.key ?? String(wrong);
    throw new Fault(
      'invalid',
      'question without value',
      `The KPI "${id}" cannot use the question "${name}". ${scaledOnly}`,
    );
  }
  const present = new Map((await selectKpis(tx, accountId)).map((kpi) => [kpi.id, kpi]));
  const wanted = kpis.map(({ translations, ...kpi }): Kpi => {
    const before = present.get(kpi.id);
    return { ...kpi, translations: translations ?? before?.translations ?? {} };
  });
  const changed = wanted.filter((kpi) => kpiDigest(kpi) !== kpiDigest(present.get(kpi.id)));
  await upsertKpis(tx, accountId, changed);
  if (changed.length > 0) await raiseVersion(tx, accountId);
  return changed.length;
}

/**
 * Adds the built-in library of questions and KPIs to a new account (docs/administrators/questions.md). The caller holds the account's lock.
 */
export async function defineLibrary(tx: Transaction, accountId: AccountId, language: string): Promise<void> {
  const { questions, kpis } = libraryFor(language);
  await defineQuestions(tx, accountId, questions);
  const ids = new Map((await selectQuestions(tx, accountId)).map(({ key, id }) => [key, id]));
  const withIds = kpis.map(({ id, name, translations, questions: keys }) => ({
    id,
    name,
    translations,
    imageUrl: null,
    questionIds: keys.map((key) => ids.get(key) as number).toSorted((a, b) => a - b),
  }));
  await defineKpis(tx, accountId, withIds);
  await updateLibraryLanguages(tx, accountId, answeringLanguages.codes);
}

/**
 * Retires questions by their keys, or brings them back. Schedules no longer ask a retired question; its results stay. Throws a
 * Fault for an unknown key.
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
    throw questionNotFound(unknown);
  }
  const wanted = keys.map((key) => ids.get(key) as number);
  await updateRetired(tx, accountId, wanted, isRetired);
  await raiseVersion(tx, accountId); // how many weeks a rolling value covers depends on the questions in rotation
}

/**
 * Sets whether people can answer questions with "not applicable", in rounds that open from now on. Throws a Fault for an unknown key or
 * a question for free text. The caller holds the account's lock.
 */
export async function allowNotApplicable(
  tx: Transaction,
  accountId: AccountId,
  keys: string[],
  allowsNotApplicable: boolean,
): Promise<void> {
  const present = new Map((await selectQuestions(tx, accountId)).map((question) => [question.key, question]));
  for (const key of keys) {
    const before = present.get(key);
    if (!before) throw questionNotFound(key);
    await changeQuestion(tx, accountId, before.id, { ...textsOf(before), allowsNotApplicable });
  }
}

const textsOf = ({ text, translations, options }: Question) => ({ text, translations, options });

/** Throws a Fault with these details, if there are any. */
function refuse(details: Detail[]): void {
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as DetailType, first.message, { details });
}

/** Returns a question of the account. Throws a Fault if it does not exist. */
async function questionById(tx: Transaction, accountId: AccountId, questionId: number): Promise<Question> {
  const question = (await selectQuestions(tx, accountId)).find(({ id }) => id === questionId);
  if (!question) throw questionNotFound();
  return question;
}

/**
 * Creates a question, adds it to KPIs and returns its id. Throws a Fault that lists every invalid field. The caller holds the
 * account's lock.
 */
export async function addQuestion(
  tx: Transaction,
  accountId: AccountId,
  question: NewQuestion,
  kpiIds: string[] = [],
): Promise<number> {
  const keys = new Set((await selectQuestions(tx, accountId)).map(({ key }) => key));
  const kpis = new Map((await selectKpis(tx, accountId)).map((kpi) => [kpi.id, kpi]));
  const unknown = kpiIds.find((id) => !kpis.has(id));
  refuse([
    ...questionFaults(question),
    ...(keys.has(question.key) ? [taken('/key', 'Another question already has this key.')] : []),
    ...(unknown === undefined
      ? []
      : [detailAt('/kpiIds', 'kpi not found', `KPI ${quote(unknown)} does not exist.`)]),
    ...(kpiIds.length === 0 || isScaled(question.type)
      ? []
      : [detailAt('/kpiIds', 'question without value', scaledOnly)]),
  ]);
  const [id] = (await insertQuestions(tx, accountId, [question])) as [number];
  const changed = kpiIds.map((kpiId) => kpis.get(kpiId) as Kpi);
  await upsertKpis(
    tx,
    accountId,
    changed.map((kpi) => ({ ...kpi, questionIds: [...kpi.questionIds, id] })),
  );
  await raiseVersion(tx, accountId);
  return id;
}

/**
 * Changes the texts of a question, or whether it allows "not applicable", and returns whether anything changed. Throws a Fault that lists every invalid field, or if
 * the ids of its options would change, which would make it a different question. The caller holds the account's lock.
 */
export async function changeQuestion(
  tx: Transaction,
  accountId: AccountId,
  questionId: number,
  changes: Pick<NewQuestion, 'text' | 'translations' | 'options' | 'allowsNotApplicable'>,
): Promise<boolean> {
  const before = await questionById(tx, accountId, questionId);
  const after = { ...before, ...changes };
  refuse(questionFaults(after));
  const fault = changeFault(before, after);
  if (fault) {
    throw questionChanged(fault, '/options');
  }
  if (isUnchanged(before, after)) return false;
  await refuseWhileAsked(tx, accountId, [{ before, after }]);
  await updateQuestions(tx, accountId, [after]);
  await raiseVersion(tx, accountId);
  return true;
}

/**
 * Throws a Fault if the change would reword a question that is asked in an open week. Which questions have the same text is
 * determined when a week opens and again when it closes, and the outcome must not change in between (rules.md P17).
 */
async function refuseWhileAsked(
  tx: Transaction,
  accountId: AccountId,
  changes: { before: Question; after: NewQuestion }[],
): Promise<void> {
  const reworded = changes.filter(({ before, after }) => !hasSameWording(before, after));
  if (reworded.length === 0) return;
  const asked = await selectQuestionsAskedNow(
    tx,
    accountId,
    reworded.map(({ before }) => before.id),
  );
  const first = reworded.find(({ before }) => asked.has(before.id));
  if (!first) return;
  const fault = `The question ${quote(first.before.key)} is asked in a week that is still open. Until the week closes, you can change only capitalization, accents and punctuation. Reword it after that, or create another question.`;
  throw questionChanged(fault, '/text');
}

/** Retires a question, or brings it back. Returns whether anything changed. Throws a Fault if it does not exist. */
export async function retireQuestion(
  tx: Transaction,
  accountId: AccountId,
  questionId: number,
  isRetired: boolean,
): Promise<boolean> {
  const { id, retiredAt } = await questionById(tx, accountId, questionId);
  if ((retiredAt !== null) === isRetired) return false;
  await updateRetired(tx, accountId, [id], isRetired);
  await raiseVersion(tx, accountId);
  return true;
}

/**
 * Creates a KPI (`isNew`) or changes an existing one, and returns whether anything changed. Published values stay unchanged.
 * Throws a Fault that lists every invalid field, or if the KPI does not exist. The caller holds the account's lock.
 */
export async function saveKpi(
  tx: Transaction,
  accountId: AccountId,
  kpi: Kpi,
  isNew: boolean,
): Promise<boolean> {
  const before = (await selectKpis(tx, accountId)).find(({ id }) => id === kpi.id);
  const exists = before !== undefined;
  if (!isNew && !exists) throw kpiNotFound();
  const questions = new Map((await selectQuestions(tx, accountId)).map((one) => [one.id, one]));
  const unscaled = kpi.questionIds.find((id) => !isScaled(questions.get(id)?.type ?? freeText));
  const name = unscaled === undefined ? '' : (questions.get(unscaled)?.key ?? String(unscaled));
  refuse([
    ...kpiFaults(kpi),
    ...(isNew && exists ? [taken('/id', 'Another KPI already has this ID.')] : []),
    ...(unscaled === undefined
      ? []
      : [detailAt('/questionIds', 'question without value', `${scaledOnly} Remove ${quote(name)}.`)]),
  ]);
  const questionIds = [...new Set(kpi.questionIds)].toSorted((a, b) => a - b);
  const after = { ...kpi, questionIds };
  if (before && isDeepStrictEqual(before, after)) return false;
  await upsertKpis(tx, accountId, [after]);
  await raiseVersion(tx, accountId);
  return true;
}

const scaledOnly = `KPIs use questions of types ${typesText(scaledTypes)} only.`;
const taken = (path: string, message: string): Detail => ({ type: 'key taken', message, path });
const questionChanged = (message: string, path?: string): Fault =>
  faultAtField('conflict', 'question changed', path, message);

/** Returns the Fault for a question that does not exist. `key`: its key, if it was named by key and not by ID. */
export const questionNotFound = (key?: string): Fault => {
  const message =
    key === undefined
      ? 'This question does not exist. Check its ID.'
      : `Question ${quote(key)} does not exist. Check its key.`;
  return new Fault('not_found', 'question not found', message);
};

/** Returns the Fault for a KPI that does not exist. */
export const kpiNotFound = (): Fault =>
  new Fault('not_found', 'kpi not found', 'This KPI does not exist. Check its ID.');
