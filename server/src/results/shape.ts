// The texts of the data interface's answers, piece by piece (§2.1, decisions A4 to A10). Pure: it takes rows as they come
// and holds no more of them than it is given at once.
import type { Numbers } from '@soundings/contract/operation.ts';
import { fourDigits, sixDigits, type Week } from '@soundings/contract/weeks.ts';
import type { Option } from '../questions/questions.ts';
import {
  type Distribution,
  enpsOf,
  individualsOf,
  isChoice,
  isScaled,
  type QuestionType,
} from '../questions/types.ts';

/** A question with its words in the language that was asked for, or else in its own. */
export type WordedQuestion = {
  id: number;
  type: QuestionType;
  text: string;
  options: Record<string, string>;
};

/** Words in a language, given in any letter case. */
export function worded(
  question: {
    id: number;
    type: QuestionType;
    text: string;
    translations: Record<string, string>;
    options: Option[];
  },
  language: string | undefined,
): WordedQuestion {
  const wanted = language?.toLowerCase() ?? '';
  const inWords = (text: string, translations: Record<string, string> = {}) =>
    Object.hasOwn(translations, wanted) ? (translations[wanted] as string) : text;
  return {
    id: question.id,
    type: question.type,
    text: inWords(question.text, question.translations),
    options: Object.fromEntries(
      question.options.map((option) => [option.id, inWords(option.text, option.translations)]),
    ),
  };
}

/** A list of values of a KPI or of response rates, as the pieces of an array's inside; quoted: in the form of decision F2. */
export async function* valueList(
  batches: AsyncIterable<{ groupId: number; week: Week; value: number | null }[]>,
  numbers: Numbers,
): AsyncGenerator<string> {
  const mark = numbers === 'quoted' ? '"' : '';
  const time = numbers === 'quoted' ? ' 00:00:00' : '';
  let comma = '';
  for await (const rows of batches) {
    let text = '';
    for (const { groupId, week, value } of rows) {
      const shown = value === null ? value : `${mark}${value}${mark}`;
      text += `${comma}{"groupId":${mark}${groupId}${mark},"value":${shown},"yearWeek":"${sixDigits(week)}","date":"${week}${time}"}`;
      comma = ',';
    }
    yield text;
  }
}

/** Pieces put together to some KB each: every one that is sent costs a turn. */
export async function* gathered(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < 16_384) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** What stands at the end of a way of keys, such as question, group, week. */
export type Leaf = { keys: readonly string[]; text: string };

/** Leaves that come in the order of their keys, as the pieces of one object nested by them, its braces included. */
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

/** The answer data of one result. */
export function answerData(
  { type, options }: WordedQuestion,
  { value, answers, spread }: { value: number | null; answers: number | null; spread: string | null },
  granular: boolean,
): string {
  let text = `{"value":${value},"answers":${answers}`;
  if (spread !== null) {
    text += `,"distribution":${spread}`;
    if (type === 3 || granular) {
      const distribution = JSON.parse(spread) as Distribution;
      if (type === 3) text += `,"enps":${enpsOf(distribution)}`;
      if (granular && isScaled(type)) text += `,"individual":[${individualsOf(type, distribution).join()}]`;
    }
    if (isChoice(type)) text += `,"options":${JSON.stringify(options)}`;
  }
  return `${text}}`;
}

/** The key of a week in results and asked questions. */
export const weekKey: (week: Week) => string = fourDigits;

/** Questions as §2.1 has them. */
export const questionList = (questions: Iterable<WordedQuestion>): string =>
  JSON.stringify([...questions].map(({ id, text, type }) => ({ id, question: text, type })));
