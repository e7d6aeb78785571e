// Converts answers to the fields of the page's form, and the form's fields to answers. Pure.
import {
  answerKindOf,
  freeText,
  multipleChoice,
  type QuestionType,
  yesNo,
} from '@soundings/contract/question-types.ts';
import type { Question } from '../questions/questions.sql.ts';
import type { Asking, SubmittedAnswer } from './answering.ts';

/**
 * The fields of one question. `values`: numbers, yes or no, option ids, or notApplicableIn, as texts. `wasKept`: the page was rendered with an answer
 * here, so an empty field means that the person has cleared it.
 */
export type SubmittedValue = { values: string[]; comment: string; skipped: boolean; wasKept: boolean };

/** Returns the value that the form has for "not applicable". It isn't the id of an option. */
export function notApplicableIn({ options }: Pick<Question, 'options'>): string {
  let value = 'not-applicable';
  while (options.some(({ id }) => id === value)) value += '-';
  return value;
}

/** Returns the fields for the saved answers, by question. */
export function storedValuesIn({ questions, answers }: Asking): Map<number, SubmittedValue> {
  return new Map(
    questions.flatMap((question) => {
      const { id, type } = question;
      const kept = answers.get(id);
      if (!kept) return [];
      const { value, choices, comment, skipped, notApplicable } = kept;
      const number = type === yesNo ? ['no', 'yes'][value ?? 0] : value;
      const given = choices ?? (value === null ? [] : [String(number)]);
      const values = notApplicable ? [notApplicableIn(question)] : given;
      return [[id, { values, comment: comment ?? '', skipped, wasKept: !skipped }] as const];
    }),
  );
}

/** Reads the fields of a submitted form, by question: q12 are values (an empty one marks a saved answer), c12 is a comment, s12 skips. */
export function submittedIn(form: URLSearchParams): Map<number, SubmittedValue> {
  const fields = new Map<number, SubmittedValue>();
  for (const [name, text] of form) {
    const [, field, id] = /^([qcs])(\d{1,9})$/.exec(name) ?? [];
    if (field === undefined) continue;
    const one = fields.get(Number(id)) ?? { values: [], comment: '', skipped: false, wasKept: false };
    fields.set(Number(id), one);
    if (field === 's') one.skipped = true;
    else if (field === 'c') one.comment = text.replaceAll('\r\n', '\n').replaceAll('\0', '');
    else if (text === '') one.wasKept = true;
    else one.values.push(text);
  }
  return fields;
}

/**
 * Returns the answers in a form, without questions whose fields are empty. Without JavaScript, a person can both skip and answer a
 * question. The skip then counts, unless it was already saved before. The same applies to "not applicable" next to check boxes.
 */
export function answersIn(fields: Map<number, SubmittedValue>, asking: Asking): SubmittedAnswer[] {
  return [...fields].flatMap(([questionId, one]): SubmittedAnswer[] => {
    const question = asking.questions.find(({ id }) => id === questionId);
    const kept = asking.answers.get(questionId);
    const isEmpty = one.values.length === 0 && one.comment.trim() === '';
    if (one.skipped && (isEmpty || !kept?.skipped)) return [{ questionId, skipped: true }];
    if (isEmpty && !(one.wasKept && question && isEmptiable(question.type))) return [];
    if (!question) return [{ questionId, value: one.values }];
    const comment = one.comment.trim() === '' ? null : one.comment;
    const none = question.allowsNotApplicable ? notApplicableIn(question) : undefined;
    const others = one.values.filter((value) => value !== none);
    if (others.length < one.values.length && (others.length === 0 || !kept?.notApplicable))
      return [{ questionId, notApplicable: true, comment }];
    // Clearing a free-text answer counts as skipping.
    if (question.type === freeText && comment === null) return [{ questionId, skipped: true }];
    const value = valueOf(question.type, others);
    return [{ questionId, comment, ...(value !== undefined && { value }) }];
  });
}

/** Returns whether an answer can be cleared. Radio buttons can't. */
export const isEmptiable = (type: QuestionType): boolean => type === multipleChoice || type === freeText;

/** Returns the value in the form that readAnswer expects; undefined if there is none. Passes invalid values on unchanged. */
function valueOf(type: QuestionType, values: string[]): unknown {
  const [first] = values;
  const kind = answerKindOf(type);
  if (kind === 'options') return values;
  if (first === undefined) return undefined;
  if (values.length > 1) return values;
  switch (kind) {
    case 'number':
      return /^(\d{1,2}|[1-9]\d{2})$/.test(first) ? Number(first) : first;
    case 'yesNo':
      return first === 'yes' || first === 'no' ? first === 'yes' : first;
    case 'option':
    case 'comment':
      return first;
    default:
      return kind satisfies never;
  }
}
