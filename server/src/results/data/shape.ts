// Builds the JSON responses of the data interface as streams of text chunks (§2.1, decisions A4 to A10). Pure. Keeps only the
// current batch of rows in memory.
import type { Numbers } from '@soundings/contract/operation.ts';
import { isChoice, isScaled, type QuestionType, recommendation } from '@soundings/contract/question-types.ts';
import { sixDigits, type Week } from '@soundings/contract/weeks.ts';
import type { AnswerOption } from '../../questions/questions.sql.ts';
import { type Distribution, enpsOf, individualsOf } from '../../questions/types.ts';

/** A question with its texts in the requested language, or in its own language if there is no translation. */
export type TranslatedQuestion = {
  id: number;
  type: QuestionType;
  text: string;
  options: Record<string, string>;
};

/** Returns a question with its texts in a language. The language code can be in any case. */
export function translatedQuestion(
  question: {
    id: number;
    type: QuestionType;
    text: string;
    translations: Record<string, string>;
    options: AnswerOption[];
  },
  language: string | undefined,
): TranslatedQuestion {
  const wanted = language?.toLowerCase() ?? '';
  const translated = (text: string, translations: Record<string, string> = {}) =>
    Object.hasOwn(translations, wanted) ? (translations[wanted] as string) : text;
  return {
    id: question.id,
    type: question.type,
    text: translated(question.text, question.translations),
    options: Object.fromEntries(
      question.options.map((option) => [option.id, translated(option.text, option.translations)]),
    ),
  };
}

/** Yields the values of a KPI or response rates as the inside of a JSON array. */
export async function* valueList(
  batches: AsyncIterable<{ groupId: number; week: Week; value: number | null }[]>,
  numbers: Numbers,
): AsyncGenerator<string> {
  let comma = '';
  for await (const rows of batches) {
    let text = '';
    for (const row of rows) {
      text += comma + valueText(row, numbers);
      comma = ',';
    }
    yield text;
  }
}

/** Returns the JSON of a KPI value or response rate. `quoted` numbers: the format of decision F2. */
export function valueText(
  { groupId, week, value }: { groupId: number; week: Week; value: number | null },
  numbers: Numbers,
): string {
  const mark = numbers === 'quoted' ? '"' : '';
  const time = numbers === 'quoted' ? ' 00:00:00' : '';
  const shown = value === null ? value : `${mark}${value}${mark}`;
  return `{"groupId":${mark}${groupId}${mark},"value":${shown},"yearWeek":"${sixDigits(week)}","date":"${week}${time}"}`;
}

/** Joins texts into larger ones of about 16 KB, because every chunk that is sent has a fixed cost. Bytes come in large chunks already. */
export async function* grouped(
  chunks: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  let text = '';
  for await (const chunk of chunks) {
    const isText = typeof chunk === 'string';
    if (isText) text += chunk;
    if (isText && text.length < 16_384) continue;
    if (text !== '') yield text;
    text = '';
    if (!isText) yield chunk;
  }
  if (text !== '') yield text;
}

/** A value at the end of a path of keys, such as question, group, week. */
export type Leaf = { keys: readonly string[]; text: string };

/** Yields leaves, which must be ordered by their keys, as chunks of one nested JSON object. */
export async function* nested(batches: AsyncIterable<Leaf[]>): AsyncGenerator<string> {
  let open: readonly string[] = [];
  let text = '{';
  for await (const leaves of batches) {
    for (const { keys, text: value } of leaves) {
      let same = 0;
      while (same < keys.length - 1 && open.length > 0 && open[same] === keys[same]) same++;
      if (open.length > 0) text += `${'}'.repeat(open.length - 1 - same)},`;
      for (let i = same; i < keys.length - 1; i++) text += `${JSON.stringify(keys[i])}:{`;
      text += `${JSON.stringify(keys.at(-1))}:${value}`;
      open = keys;
    }
    yield text;
    text = '';
  }
  yield `${text}${'}'.repeat(Math.max(open.length - 1, 0))}}`;
}

/** `notApplicable`, `notApplicableOf`: how many people chose it, and how many chose it or answered; null if it is withheld, or no one could. */
export type ResultFields = {
  value: number | null;
  answers: number | null;
  distribution: string | null;
  notApplicable: number | null;
  notApplicableOf: number | null;
};

/** Returns the JSON of one result. */
export function answerData(
  { type, options }: TranslatedQuestion,
  fields: ResultFields,
  granular: boolean,
): string {
  const { before, after } = answerParts(type, fields, granular);
  return before + (hasOptions(type, fields) ? optionTexts(options) : '') + after;
}

/** Returns the JSON of one result, before and after the texts of the options. */
export function answerParts(
  type: QuestionType,
  { value, answers, distribution, notApplicable, notApplicableOf }: ResultFields,
  granular: boolean,
): { before: string; after: string } {
  let before = `{"value":${value},"answers":${answers}`;
  if (distribution !== null) {
    before += `,"distribution":${distribution}`;
    if (type === recommendation || granular) {
      const counts = JSON.parse(distribution) as Distribution;
      if (type === recommendation) before += `,"enps":${enpsOf(counts)}`;
      if (granular && isScaled(type)) before += `,"individual":[${individualsOf(type, counts).join()}]`;
    }
  }
  const after =
    notApplicable === null ? '}' : `,"notApplicable":${notApplicable},"notApplicableOf":${notApplicableOf}}`;
  return { before, after };
}

/** Whether the JSON of a result contains the texts of the options. */
export const hasOptions = (type: QuestionType, { distribution }: ResultFields): boolean =>
  distribution !== null && isChoice(type);

export const optionTexts = (options: TranslatedQuestion['options']): string =>
  `,"options":${JSON.stringify(options)}`;

/** Returns the JSON of questions in the format of §2.1. */
export const questionList = (questions: Iterable<TranslatedQuestion>): string =>
  JSON.stringify([...questions].map(({ id, text, type }) => ({ id, question: text, type })));
