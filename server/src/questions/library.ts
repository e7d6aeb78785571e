// The built-in KPIs and questions that every account starts with. Keys, types and ids of options never change: a change of
// meaning is a new question with a new key. The texts are in the files of the languages (languages/text), and were all written for
// Soundings. docs/administrators/questions.md explains the rules and the research behind the KPIs. Pure.
import {
  agreementScale,
  freeText,
  multipleChoice,
  type QuestionType,
  recommendation,
  singleChoice,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { answeringLanguages, type TextByLanguage } from '../languages/languages.ts';
import { libraryLanguage } from './library-texts.ts';
import type { NewQuestion } from './questions.sql.ts';

export type LibraryKpi = { id: string; name: TextByLanguage };

export type StandardQuestion = {
  key: string;
  type: QuestionType;
  /** The KPI it belongs to. Choice questions and free text have none. */
  kpi: string | undefined;
  text: TextByLanguage;
  /** For choice questions, in display order. */
  options?: { id: string; text: TextByLanguage }[];
};

/**
 * Returns the library for an account: texts in its language, or English if the library lacks it, and the other languages as
 * translations. In the data interface, KPIs have their English names. `questions`: keys, in the order of the library.
 */
export function libraryFor(language: string): {
  questions: NewQuestion[];
  kpis: { id: string; name: string; translations: Record<string, string>; questions: string[] }[];
} {
  const own = libraryLanguage(language);
  return {
    questions: libraryQuestions.map(({ key, type, text, options = [] }) => ({
      key,
      type,
      language: own,
      ...textsIn(text, own),
      options: options.map((option) => ({ id: option.id, ...textsIn(option.text, own) })),
    })),
    kpis: libraryKpis.map(({ id, name: { en, ...translations } }) => ({
      id,
      name: en,
      translations,
      questions: libraryQuestions.filter(({ kpi }) => kpi === id).map(({ key }) => key),
    })),
  };
}

/** Returns a text in a language, or in English if the language lacks it, and in all other languages. */
export function textsIn(
  texts: TextByLanguage,
  own: string,
): { text: string; translations: Record<string, string> } {
  const { [own]: text = texts.en, ...translations } = texts;
  return { text, translations };
}

const { inAll } = answeringLanguages;

export const libraryKpis: readonly LibraryKpi[] = [
  'workload',
  'clarity',
  'autonomy',
  'leadership',
  'development',
  'community',
  'fairness',
  'engagement',
].map((id) => ({ id, name: inAll(`kpis.${id}`) }));

type Row = [key: string, type: QuestionType];

const rowsOfKpis: Record<string, Row[]> = {
  workload: [
    ['workload-pace', agreementScale],
    ['workload-amount', agreementScale],
    ['workload-breaks', agreementScale],
    ['workload-off', agreementScale],
    ['workload-rested', tenStepScale],
  ],
  clarity: [
    ['clarity-tasks', agreementScale],
    ['clarity-priorities', agreementScale],
    ['clarity-quality', agreementScale],
    ['clarity-purpose', agreementScale],
    ['clarity-contact', yesNo],
  ],
  autonomy: [
    ['autonomy-freedom', agreementScale],
    ['autonomy-order', agreementScale],
    ['autonomy-hours', agreementScale],
    ['autonomy-decisions', agreementScale],
    ['autonomy-change', agreementScale],
  ],
  leadership: [
    ['leadership-help', agreementScale],
    ['leadership-feedback', agreementScale],
    ['leadership-appreciation', agreementScale],
    ['leadership-trust', tenStepScale],
    ['leadership-talk', yesNo],
  ],
  development: [
    ['development-growth', agreementScale],
    ['development-strengths', agreementScale],
    ['development-training', agreementScale],
    ['development-difficulty', agreementScale],
    ['development-future', agreementScale],
  ],
  community: [
    ['community-help', agreementScale],
    ['community-cooperation', agreementScale],
    ['community-kindness', agreementScale],
    ['community-mistakes', agreementScale],
    ['community-belonging', tenStepScale],
  ],
  fairness: [
    ['fairness-rules', agreementScale],
    ['fairness-reasons', agreementScale],
    ['fairness-opinion', agreementScale],
    ['fairness-suggestions', agreementScale],
    ['fairness-contact', yesNo],
  ],
  engagement: [
    ['engagement-useful', agreementScale],
    ['engagement-energy', agreementScale],
    ['engagement-tasks', agreementScale],
    ['engagement-forward', tenStepScale],
    ['engagement-recommend', recommendation],
  ],
};

const optionsOf: Record<string, string[]> = {
  'help-most': [
    'time',
    'people',
    'goals',
    'tools',
    'training',
    'manager',
    'influence',
    'cooperation',
    'other',
    'nothing',
  ],
  'work-compared': ['better', 'same', 'worse', 'unsure'],
  'energy-givers': [
    'tasks',
    'colleagues',
    'recipients',
    'result',
    'learning',
    'thanks',
    'deciding',
    'time',
    'other',
    'nothing',
  ],
  obstacles: [
    'interruptions',
    'waiting',
    'unclear',
    'information',
    'tools',
    'people',
    'rules',
    'noise',
    'conflict',
    'other',
    'nothing',
  ],
};

/** The questions that belong to no KPI. */
const outside: Row[] = [
  ['help-most', singleChoice],
  ['work-compared', singleChoice],
  ['energy-givers', multipleChoice],
  ['obstacles', multipleChoice],
  ['works-well', freeText],
  ['change-one-thing', freeText],
  ['anything-else', freeText],
];

/** First the questions of KPIs, five each, then the questions that belong to no KPI. */
export const libraryQuestions: readonly StandardQuestion[] = [
  ...Object.entries(rowsOfKpis).flatMap(([kpi, rows]) => rows.map((row) => questionOf(row, kpi))),
  ...outside.map((row) => questionOf(row, undefined)),
];

function questionOf([key, type]: Row, kpi: string | undefined): StandardQuestion {
  const options = optionsOf[key]?.map((id) => ({ id, text: inAll(`options.${key}.${id}`) }));
  return { key, type, kpi, text: inAll(`questions.${key}`), ...(options && { options }) };
}
