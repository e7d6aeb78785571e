// The languages of the texts that respondents see, and the labels of the answer scales. Pure.
import {
  agreementScale,
  fourStepScale,
  isScaled,
  type QuestionType,
  recommendation,
  type ScaledType,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';

/** A text in each language of the library. */
export type TextByLanguage = { en: string; sv: string; de: string };

/** Returns `language` (ISO 639-1, any case) if there are texts in it, otherwise English. */
export function libraryLanguage(language: string): keyof TextByLanguage {
  const wanted = language.toLowerCase();
  return wanted === 'sv' || wanted === 'de' ? wanted : 'en';
}

/**
 * Returns the labels of a scale in display order: those of all values, or of both ends; 1 is yes and 0 is no. Empty for other types:
 * the labels of options are part of the question.
 */
export function scaleTexts(type: QuestionType, language: string): { value: number; text: string }[] {
  const own = libraryLanguage(language);
  const labels = isScaled(type) ? scales[type] : [];
  return labels.map(([value, texts]) => ({ value, text: texts[own] }));
}

const scales: Record<ScaledType, [value: number, texts: TextByLanguage][]> = {
  [agreementScale]: [
    [1, { en: 'Strongly disagree', sv: 'Håller inte alls med', de: 'Stimme gar nicht zu' }],
    [2, { en: 'Disagree', sv: 'Håller inte med', de: 'Stimme nicht zu' }],
    [3, { en: 'Neither agree nor disagree', sv: 'Varken eller', de: 'Weder noch' }],
    [4, { en: 'Agree', sv: 'Håller med', de: 'Stimme zu' }],
    [5, { en: 'Strongly agree', sv: 'Håller helt med', de: 'Stimme voll zu' }],
  ],
  [fourStepScale]: [
    [1, { en: 'Strongly disagree', sv: 'Håller inte alls med', de: 'Stimme gar nicht zu' }],
    [2, { en: 'Disagree', sv: 'Håller inte med', de: 'Stimme nicht zu' }],
    [3, { en: 'Agree', sv: 'Håller med', de: 'Stimme zu' }],
    [4, { en: 'Strongly agree', sv: 'Håller helt med', de: 'Stimme voll zu' }],
  ],
  [tenStepScale]: [
    [1, { en: 'Not at all', sv: 'Inte alls', de: 'Gar nicht' }],
    [10, { en: 'Very much', sv: 'I mycket hög grad', de: 'Sehr' }],
  ],
  [recommendation]: [
    [0, { en: 'Definitely not', sv: 'Absolut inte', de: 'Auf keinen Fall' }],
    [10, { en: 'Definitely', sv: 'Absolut', de: 'Auf jeden Fall' }],
  ],
  [yesNo]: [
    [1, { en: 'Yes', sv: 'Ja', de: 'Ja' }],
    [0, { en: 'No', sv: 'Nej', de: 'Nein' }],
  ],
};
