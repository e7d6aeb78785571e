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
import { type AnsweringKey, answeringLanguages } from '../languages/languages.ts';

/** Returns the language of the library's texts for readers of `language` (ISO 639-1, any case): English if there are none. */
export const libraryLanguage = (language: string): string => answeringLanguages.texts.languageFor(language);

/**
 * Returns the labels of a scale in display order: those of all values, or of both ends; 1 is yes and 0 is no. Empty for other types:
 * the labels of options are part of the question.
 */
export function scaleTexts(type: QuestionType, language: string): { value: number; text: string }[] {
  const t = answeringLanguages.texts.in(language);
  const labels: readonly ScaleKey[] = isScaled(type) ? scales[type] : [];
  return labels.map((key) => ({ value: Number(key.slice(key.lastIndexOf('.') + 1)), text: t(key) }));
}

/** The text of a value, whose name ends with the value. */
type ScaleKey = Extract<AnsweringKey, `scales.${string}`>;

const scales: Record<ScaledType, readonly ScaleKey[]> = {
  [agreementScale]: [
    'scales.agreement.1',
    'scales.agreement.2',
    'scales.agreement.3',
    'scales.agreement.4',
    'scales.agreement.5',
  ],
  [fourStepScale]: ['scales.fourStep.1', 'scales.fourStep.2', 'scales.fourStep.3', 'scales.fourStep.4'],
  [tenStepScale]: ['scales.tenStep.1', 'scales.tenStep.10'],
  [recommendation]: ['scales.recommendation.0', 'scales.recommendation.10'],
  [yesNo]: ['scales.yesNo.1', 'scales.yesNo.0'],
};
