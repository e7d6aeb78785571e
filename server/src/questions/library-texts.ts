// The languages of the texts that respondents see, and the labels of the answer scales. Pure.
import type { QuestionType } from './types.ts';

/** A text in each language of the library. */
export type TextByLanguage = { en: string; sv: string; de: string };

/** Returns `language` (ISO 639-1, any case) if there are texts in it, otherwise English. */
export function libraryLanguage(language: string): keyof TextByLanguage {
  const wanted = language.toLowerCase();
  return wanted === 'sv' || wanted === 'de' ? wanted : 'en';
}

/**
 * Returns the labels of a scale in display order: all five values of type 1, both ends of types 2 and 3, and 1 (yes) and 0 (no)
 * of type 4. Empty for types 5 to 7, whose labels are part of the question.
 */
export function scaleTexts(type: QuestionType, language: string): { value: number; text: string }[] {
  const own = libraryLanguage(language);
  return (scales[type] ?? []).map(([value, texts]) => ({ value, text: texts[own] }));
}

const scales: Partial<Record<QuestionType, [value: number, texts: TextByLanguage][]>> = {
  1: [
    [1, { en: 'Strongly disagree', sv: 'Håller inte alls med', de: 'Stimme gar nicht zu' }],
    [2, { en: 'Disagree', sv: 'Håller inte med', de: 'Stimme nicht zu' }],
    [3, { en: 'Neither agree nor disagree', sv: 'Varken eller', de: 'Weder noch' }],
    [4, { en: 'Agree', sv: 'Håller med', de: 'Stimme zu' }],
    [5, { en: 'Strongly agree', sv: 'Håller helt med', de: 'Stimme voll zu' }],
  ],
  2: [
    [1, { en: 'Not at all', sv: 'Inte alls', de: 'Gar nicht' }],
    [10, { en: 'Very much', sv: 'I mycket hög grad', de: 'Sehr' }],
  ],
  3: [
    [0, { en: 'Definitely not', sv: 'Absolut inte', de: 'Auf keinen Fall' }],
    [10, { en: 'Definitely', sv: 'Absolut', de: 'Auf jeden Fall' }],
  ],
  4: [
    [1, { en: 'Yes', sv: 'Ja', de: 'Ja' }],
    [0, { en: 'No', sv: 'Nej', de: 'Nein' }],
  ],
};
