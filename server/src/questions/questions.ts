// The questions and KPIs of an account: what is asked, in which words, and what is made of it.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { isDeepStrictEqual } from 'node:util';
import { raiseVersion } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import {
  insertQuestions,
  type KpiRow,
  type NewQuestion,
  type Option,
  type QuestionRow,
  selectAskedNow,
  selectKpis,
  selectQuestions,
  updateQuestions,
  updateRetired,
  upsertKpis,
} from './questions.sql.ts';
import { libraryFor } from './library.ts';
import { isWordedAlike } from './same-words.ts';
import { isScaled } from './types.ts';
import { kpiFaults, questionFaults } from './wording.ts';

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
  await refuseWhileAsked(
    tx,
    accountId,
    changed.map((after) => ({ before: present.get(after.key) as Question, after })),
  );
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

/** As a text in which nothing but the KPI itself makes a difference. */
const kpiDigest = (kpi: Kpi | undefined) =>
  kpi && JSON.stringify([kpi.name, sorted(kpi.translations), kpi.imageUrl, kpi.questionIds]);

/** A KPI as a file defines it; without translations those that are there stay. */
export type DefinedKpi = Omit<Kpi, 'translations'> & { translations?: Record<string, string> };

/** What a KPI is called in a language; where it has no name in that, what the data interface calls it. */
export const kpiNameIn = (
  { name, translations }: Pick<Kpi, 'name' | 'translations'>,
  language: string | undefined,
): string => (language === undefined ? undefined : translations[language]) ?? name;

/**
 * Makes or changes KPIs. Values that were published stay. Returns how many were made or changed. Throws a Fault for
 * questions that have no value. The caller holds the account's lock.
 */
export async function defineKpis(tx: Transaction, accountId: AccountId, kpis: DefinedKpi[]): Promise<number> {
  const questions = new Map(
    (await selectQuestions(tx, accountId)).map((question) => [question.id, question]),
  );
  for (const { id, questionIds } of kpis) {
    const wrong = questionIds.find((one) => !isScaled(questions.get(one)?.type ?? 7));
    if (wrong === undefined) continue;
    const name = questions.get(wrong)?.key ?? String(wrong);
    throw new Fault(
      'invalid',
      'question without value',
      `The KPI "${id}" cannot have the question "${name}": types 1 to 4 only.`,
    );
  }
  const present = new Map((await selectKpis(tx, accountId)).map((kpi) => [kpi.id, kpi]));
  const wanted = kpis.map(({ translations, ...kpi }): Kpi => {
    const before = present.get(kpi.id);
    return { ...kpi, translations: translations ?? before?.translations ?? {} };
  });
  const changed = wanted.filter((kpi) => kpiDigest(kpi) !== kpiDigest(present.get(kpi.id)));
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
  const withIds = kpis.map(({ id, name, translations, questions: keys }) => ({
    id,
    name,
    translations,
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

/** Throws a Fault that lists what is wrong, if anything is. */
function refuse(details: Detail[]): void {
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as DetailType, first.message, { details });
}

/** A question of the account. Throws a Fault when there is none. */
async function questionById(tx: Transaction, accountId: AccountId, questionId: number): Promise<Question> {
  const question = (await selectQuestions(tx, accountId)).find(({ id }) => id === questionId);
  if (!question) throw new Fault('not_found', 'question not found', 'There is no such question.');
  return question;
}

/**
 * Makes a question that somebody has written, as a part of KPIs, and returns its id. Throws a Fault that names every field
 * that is wrong. The caller holds the account's lock.
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
    ...(keys.has(question.key) ? [taken('/key', 'Another question has this key.')] : []),
    ...(unknown === undefined
      ? []
      : [wrong('/kpiIds', 'kpi not found', `There is no KPI ${quote(unknown)}.`)]),
    ...(kpiIds.length === 0 || isScaled(question.type)
      ? []
      : [wrong('/kpiIds', 'question without value', 'KPIs are made of questions of types 1 to 4 only.')]),
  ]);
  const [id] = (await insertQuestions(tx, accountId, [question])) as [number];
  const parts = kpiIds.map((kpiId) => kpis.get(kpiId) as Kpi);
  await upsertKpis(
    tx,
    accountId,
    parts.map((kpi) => ({ ...kpi, questionIds: [...kpi.questionIds, id] })),
  );
  await raiseVersion(tx, accountId);
  return id;
}

/**
 * Gives a question other words, and returns whether they are others. Throws a Fault that names every field that is wrong, or when the ids of its options would
 * change: that would be another question. The caller holds the account's lock.
 */
export async function changeQuestion(
  tx: Transaction,
  accountId: AccountId,
  questionId: number,
  words: Pick<NewQuestion, 'text' | 'translations' | 'options'>,
): Promise<boolean> {
  const before = await questionById(tx, accountId, questionId);
  const after = { ...before, ...words };
  refuse(questionFaults(after));
  const fault = changeFault(before, after);
  if (fault) {
    throw new Fault('conflict', 'question changed', fault, {
      details: [{ type: 'question changed', message: fault, path: '/options' }],
    });
  }
  if (sameWords(before, after)) return false;
  await refuseWhileAsked(tx, accountId, [{ before, after }]);
  await updateQuestions(tx, accountId, [after]);
  await raiseVersion(tx, accountId);
  return true;
}

/**
 * Throws a Fault when a question that is asked in an open week would get other words: which questions have the same words is
 * compared when a week opens and when it closes, and must be the same all the while (privacy.md P17).
 */
async function refuseWhileAsked(
  tx: Transaction,
  accountId: AccountId,
  changes: { before: Question; after: NewQuestion }[],
): Promise<void> {
  const reworded = changes.filter(({ before, after }) => !isWordedAlike(before, after));
  if (reworded.length === 0) return;
  const asked = await selectAskedNow(
    tx,
    accountId,
    reworded.map(({ before }) => before.id),
  );
  const first = reworded.find(({ before }) => asked.has(before.id));
  if (!first) return;
  const fault = `The question ${quote(first.before.key)} is asked in a week that is open: until it closes, only upper and lower case, accents and punctuation can be changed. Change the words after that, or create another question.`;
  throw new Fault('conflict', 'question changed', fault, {
    details: [{ type: 'question changed', message: fault, path: '/text' }],
  });
}

/** Retires a question, or takes it into use again. Returns whether that is new. Throws a Fault when there is none. */
export async function retireQuestion(
  tx: Transaction,
  accountId: AccountId,
  questionId: number,
  isRetired: boolean,
): Promise<boolean> {
  const { id, retiredAt } = await questionById(tx, accountId, questionId);
  if ((retiredAt !== null) === isRetired) return false;
  await updateRetired(tx, accountId, [id], isRetired);
  return true;
}

/**
 * Makes a KPI (`isNew`), or changes one that is there; returns whether anything is other. Values that were published stay as they are. Throws a Fault that
 * names every field that is wrong, or that there is no such KPI. The caller holds the account's lock.
 */
export async function keepKpi(
  tx: Transaction,
  accountId: AccountId,
  kpi: Kpi,
  isNew: boolean,
): Promise<boolean> {
  const before = (await selectKpis(tx, accountId)).find(({ id }) => id === kpi.id);
  const isThere = before !== undefined;
  if (!isNew && !isThere) throw new Fault('not_found', 'kpi not found', 'There is no such KPI.');
  const questions = new Map((await selectQuestions(tx, accountId)).map((one) => [one.id, one]));
  const odd = kpi.questionIds.find((id) => !isScaled(questions.get(id)?.type ?? 7));
  const name = odd === undefined ? '' : (questions.get(odd)?.key ?? String(odd));
  refuse([
    ...kpiFaults(kpi),
    ...(isNew && isThere ? [taken('/id', 'Another KPI has this id.')] : []),
    ...(odd === undefined
      ? []
      : [
          wrong(
            '/questionIds',
            'question without value',
            `KPIs are made of questions of types 1 to 4 only, not of ${quote(name)}.`,
          ),
        ]),
  ]);
  const questionIds = [...new Set(kpi.questionIds)].toSorted((a, b) => a - b);
  const after = { ...kpi, questionIds };
  if (before && isDeepStrictEqual(before, after)) return false;
  await upsertKpis(tx, accountId, [after]);
  await raiseVersion(tx, accountId);
  return true;
}

const wrong = (path: string, type: DetailType, message: string): Detail => ({ type, message, path });
const taken = (path: string, message: string): Detail => ({ type: 'key taken', message, path });
