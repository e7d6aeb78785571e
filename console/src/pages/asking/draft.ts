// A question while it is written: every text under the JSON pointer by which the service names it, so that what is wrong
// stands beside its own field.
import type { LibraryQuestion } from '@soundings/contract/console.asking.ts';
import type { Previewed } from './QuestionPreview.tsx';
import { keyOf } from './words.ts';

/** `text`, `translations/sv`, `options/0/id`, `options/0/text`, `options/0/translations/sv`; and what a new one has besides. */
export type Draft = Record<string, string>;

/** `language`: of the text itself. */
export type Shape = { base: string; languages: string[]; options: number };

const at = (place: string, language: string, base: string) =>
  language === base ? `${place}text` : `${place}translations/${language}`;

/** The name of the field of a text: of the question, or of an option. */
export const fieldOf = (option: number | undefined, language: string, base: string): string =>
  at(option === undefined ? '' : `options/${option}/`, language, base);

export function draftOf({ text, translations, options }: LibraryQuestion): Draft {
  const texts = (place: string, one: { text: string; translations?: Record<string, string> }) => [
    [`${place}text`, one.text],
    ...Object.entries(one.translations ?? {}).map(([code, words]) => [`${place}translations/${code}`, words]),
  ];
  return Object.fromEntries([
    ...texts('', { text, translations }),
    ...options.flatMap((option, i) => [[`options/${i}/id`, option.id], ...texts(`options/${i}/`, option)]),
  ]) as Draft;
}

/** The id that an option gets where none is written: out of its text. */
export const suggestedId = (draft: Draft, option: number): string =>
  keyOf(draft[`options/${option}/text`] ?? '');

/** What is sent: translations that are empty are none. */
export function bodyOf(draft: Draft, { base, languages, options }: Shape) {
  const textsAt = (place: string) => ({
    text: draft[`${place}text`] ?? '',
    translations: Object.fromEntries(
      languages
        .filter((code) => code !== base)
        .map((code) => [code, draft[`${place}translations/${code}`] ?? ''] as const)
        .filter(([, words]) => words.trim() !== ''),
    ),
  });
  return {
    ...textsAt(''),
    options: Array.from({ length: options }, (_, i) => {
      const { text, translations } = textsAt(`options/${i}/`);
      const id = draft[`options/${i}/id`] || suggestedId(draft, i);
      return Object.keys(translations).length > 0 ? { id, text, translations } : { id, text };
    }),
  };
}

/** As the answering page would show it in a language: what is not written there is shown in the question's own. */
export function previewOf(draft: Draft, { base, options }: Shape, type: number, language: string): Previewed {
  const words = (option?: number) =>
    draft[fieldOf(option, language, base)] || (draft[fieldOf(option, base, base)] ?? '');
  return {
    type,
    text: words(),
    options: Array.from({ length: options }, (_, i) => ({ id: String(i), text: words(i) })),
  };
}

/** The draft when another language becomes that of its text: all words stay those of their own language. */
export function withBase(draft: Draft, { base, options }: Shape, next: string): Draft {
  const places = ['', ...Array.from({ length: options }, (_, i) => `options/${i}/`)];
  const texts = places.flatMap((place) => [
    [`${place}translations/${base}`, draft[`${place}text`] ?? ''],
    [`${place}text`, draft[`${place}translations/${next}`] ?? ''],
    [`${place}translations/${next}`, ''],
  ]);
  return next === base ? draft : { ...draft, ...(Object.fromEntries(texts) as Draft) };
}

/** The draft without one of its options: those after it move up. */
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
