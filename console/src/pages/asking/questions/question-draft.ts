// A question draft: every text is stored under the service's JSON pointer for it, so that errors appear at their own field.
import type { LibraryQuestion } from '@soundings/contract/console/asking.ts';
import { freeText, type QuestionType } from '@soundings/contract/question-types.ts';
import type { Previewed } from './QuestionPreview.tsx';
import { questionKeyOf } from './question-key.ts';

/**
 * Fields: `text`, `translations/sv`, `options/0/id`, `options/0/text`, `options/0/translations/sv`, `allowsNotApplicable` (yes, or
 * empty), and more for new questions.
 */
export type Draft = Record<string, string>;

const yes = 'yes';

/** Whether people can answer the question with "not applicable". Free text never allows it. */
export const allowsNotApplicable = (draft: Draft, type: QuestionType): boolean =>
  type !== freeText && draft['allowsNotApplicable'] === yes;

/** Returns the draft's value of a check mark. */
export const tickOf = (isOn: boolean): string => (isOn ? yes : '');

/** `language`: the language of the text itself. */
export type DraftShape = { base: string; languages: string[]; options: number };

const at = (place: string, language: string, base: string) =>
  language === base ? `${place}text` : `${place}translations/${language}`;

/** Returns the field name of a text of the question or of an option. */
export const fieldOf = (option: number | undefined, language: string, base: string): string =>
  at(option === undefined ? '' : `options/${option}/`, language, base);

export function questionDraftOf(question: LibraryQuestion): Draft {
  const { text, translations, options } = question;
  const texts = (place: string, one: { text: string; translations?: Record<string, string> }) => [
    [`${place}text`, one.text],
    ...Object.entries(one.translations ?? {}).map(([code, translation]) => [
      `${place}translations/${code}`,
      translation,
    ]),
  ];
  return Object.fromEntries([
    ['allowsNotApplicable', tickOf(question.allowsNotApplicable)],
    ...texts('', { text, translations }),
    ...options.flatMap((option, i) => [[`options/${i}/id`, option.id], ...texts(`options/${i}/`, option)]),
  ]) as Draft;
}

/** Returns the type that is chosen for a new question. */
export const typeOf = (draft: Draft): QuestionType => Number(draft['type']) as QuestionType;

/** Returns the id of an option whose id field is empty, from its text. */
export const suggestedId = (draft: Draft, option: number): string =>
  questionKeyOf(draft[`options/${option}/text`] ?? '');

/** Returns the request body, without empty translations. */
export function questionBodyOf(draft: Draft, { base, languages, options }: DraftShape, type: QuestionType) {
  const textsAt = (place: string) => ({
    text: draft[`${place}text`] ?? '',
    translations: Object.fromEntries(
      languages
        .filter((code) => code !== base)
        .map((code) => [code, draft[`${place}translations/${code}`] ?? ''] as const)
        .filter(([, translation]) => translation.trim() !== ''),
    ),
  });
  return {
    ...textsAt(''),
    allowsNotApplicable: allowsNotApplicable(draft, type),
    options: Array.from({ length: options }, (_, i) => {
      const { text, translations } = textsAt(`options/${i}/`);
      const id = draft[`options/${i}/id`] || suggestedId(draft, i);
      return Object.keys(translations).length > 0 ? { id, text, translations } : { id, text };
    }),
  };
}

/** Returns the question as the answering page shows it in a language, with untranslated texts in the question's own language. */
export function previewOf(
  draft: Draft,
  { base, options }: DraftShape,
  type: QuestionType,
  language: string,
): Previewed {
  const textOf = (option?: number) =>
    draft[fieldOf(option, language, base)] || (draft[fieldOf(option, base, base)] ?? '');
  return {
    type,
    text: textOf(),
    allowsNotApplicable: allowsNotApplicable(draft, type),
    options: Array.from({ length: options }, (_, i) => ({ id: String(i), text: textOf(i) })),
  };
}

/** Returns the draft with another base language. All texts keep their own language. */
export function withBase(draft: Draft, { base, options }: DraftShape, next: string): Draft {
  const places = ['', ...Array.from({ length: options }, (_, i) => `options/${i}/`)];
  const texts = places.flatMap((place) => [
    [`${place}translations/${base}`, draft[`${place}text`] ?? ''],
    [`${place}text`, draft[`${place}translations/${next}`] ?? ''],
    [`${place}translations/${next}`, ''],
  ]);
  return next === base ? draft : { ...draft, ...(Object.fromEntries(texts) as Draft) };
}

/** Returns the draft without one of its options. Later options move up. */
export function withoutOption(draft: Draft, gone: number): Draft {
  return Object.fromEntries(
    Object.entries(draft).flatMap(([name, value]) => {
      const [, number, rest] = /^options\/(\d+)\/(.*)$/.exec(name) ?? [];
      if (number === undefined) return [[name, value]];
      const place = Number(number);
      if (place === gone) return [];
      return [[`options/${place > gone ? place - 1 : place}/${rest}`, value]];
    }),
  );
}
