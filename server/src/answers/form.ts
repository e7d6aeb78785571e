// What a person has said, as the page's form has it: made from what is kept, and read from what is sent. Pure.
import { freeText, type QuestionType } from '../questions/types.ts';
import type { Asking, GivenAnswer } from './answering.ts';

/**
 * What stands at a question. `values`: numbers, yes or no, ids of options, as texts. `wasKept`: the page was made with an
 * answer here, so that an empty field means that it was emptied.
 */
export type Said = { values: string[]; comment: string; skipped: boolean; wasKept: boolean };

/** What the person has said so far, by question. */
export function keptIn({ questions, answers }: Asking): Map<number, Said> {
  return new Map(
    questions.flatMap(({ id, type }) => {
      const kept = answers.get(id);
      if (!kept) return [];
      const { value, choices, comment, skipped } = kept;
      const number = type === 4 ? ['no', 'yes'][value ?? 0] : value;
      const values = choices ?? (value === null ? [] : [String(number)]);
      return [[id, { values, comment: comment ?? '', skipped, wasKept: !skipped }] as const];
    }),
  );
}

/** What the form says, by question: q12 are values, the empty one says that there was an answer, c12 is a comment, s12 skips. */
export function saidIn(form: URLSearchParams): Map<number, Said> {
  const said = new Map<number, Said>();
  for (const [name, text] of form) {
    const [, field, id] = /^([qcs])(\d{1,9})$/.exec(name) ?? [];
    if (field === undefined) continue;
    const one = said.get(Number(id)) ?? { values: [], comment: '', skipped: false, wasKept: false };
    said.set(Number(id), one);
    if (field === 's') one.skipped = true;
    else if (field === 'c') one.comment = text.replaceAll('\r\n', '\n').replaceAll('\0', '');
    else if (text === '') one.wasKept = true;
    else one.values.push(text);
  }
  return said;
}

/**
 * The answers in what the form says. A question at which nothing stands is left out. Where somebody both skips and
 * answers, which without JavaScript nothing prevents, the skip counts, unless it is of an earlier time.
 */
export function answersIn(said: Map<number, Said>, asking: Asking): GivenAnswer[] {
  return [...said].flatMap(([questionId, one]): GivenAnswer[] => {
    const question = asking.questions.find(({ id }) => id === questionId);
    const kept = asking.answers.get(questionId);
    const isEmpty = one.values.length === 0 && one.comment.trim() === '';
    if (one.skipped && (isEmpty || !kept?.skipped)) return [{ questionId, skipped: true }];
    if (isEmpty && !(one.wasKept && question && isEmptiable(question.type))) return [];
    if (!question) return [{ questionId, value: one.values }];
    const comment = one.comment.trim() === '' ? null : one.comment;
    // Whoever takes back what they wrote says nothing any more.
    if (question.type === freeText && comment === null) return [{ questionId, skipped: true }];
    const value = valueOf(question.type, one.values);
    return [{ questionId, comment, ...(value !== undefined && { value }) }];
  });
}

/** Whether an answer can be taken back to nothing: a radio button cannot. */
export const isEmptiable = (type: QuestionType): boolean => type === 6 || type === freeText;

/** The value as readAnswer has it. Undefined where there is none; one that cannot be is passed on as it is. */
function valueOf(type: number, values: string[]): unknown {
  const [first] = values;
  if (type === 6) return values;
  if (first === undefined) return undefined;
  if (values.length > 1) return values;
  if (type <= 3) return /^\d{1,2}$/.test(first) ? Number(first) : first;
  if (type === 4) return first === 'yes' || first === 'no' ? first === 'yes' : first;
  return first;
}
