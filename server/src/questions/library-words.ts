// The languages that Soundings has words of its own in for the people it asks, and the words on the scales they answer
// on. Pure.
import type { QuestionType } from './types.ts';

/** A text in each language of the library. */
export type Words = { en: string; sv: string; de: string };

/** The library's language for a person or account of this one (ISO 639-1, in any letter case): English where it has none. */
export function libraryLanguage(language: string): keyof Words {
  const wanted = language.toLowerCase();
  return wanted === 'sv' || wanted === 'de' ? wanted : 'en';
}

/**
 * What stands beside the values of a scale, in the order in which they are shown: all five of type 1, the ends of types
 * 2 and 3 (each number between them stands for itself), and 1 and 0 of type 4, which are yes and no. Nothing for types
 * 5 to 7: their words are the question's own.
 */
export function scaleWords(type: QuestionType, language: string): { value: number; text: string }[] {
  const own = libraryLanguage(language);
  return (scales[type] ?? []).map(([value, words]) => ({ value, text: words[own] }));
}

const scales: Partial<Record<QuestionType, [value: number, words: Words][]>> = {
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
