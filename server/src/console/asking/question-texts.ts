// What the console's survey pages share: names of weeks, questions with all their texts, and texts of the answering page. Pure.
import type {
  LibraryQuestion,
  AnsweringPageTexts,
  QuestionTexts,
  WeekName,
} from '@soundings/contract/console/asking.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { scaledTypes } from '@soundings/contract/question-types.ts';
import { lastDay, type Week, weekName } from '@soundings/contract/weeks.ts';
import { pageTexts } from '../../answers/page-texts.ts';
import { Fault } from '../../base/errors.ts';
import { scaleTexts } from '../../questions/library-texts.ts';
import type { Question } from '../../questions/questions.sql.ts';

export const named = (week: Week): WeekName => ({ week, last: lastDay(week), name: weekName(week) });

export const questionTextsOf = ({
  id,
  key,
  type,
  text,
  language,
  translations,
  options,
  allowsNotApplicable,
  retiredAt,
}: Question): QuestionTexts => ({
  id,
  key,
  type,
  text,
  language,
  translations,
  options,
  allowsNotApplicable,
  isRetired: retiredAt !== null,
});

/**
 * Returns the languages with a complete translation of a question, including its options, and the languages with a partial
 * translation.
 */
export function languagesIn({
  language,
  translations,
  options,
}: Pick<Question, 'language' | 'translations' | 'options'>): Pick<LibraryQuestion, 'languages' | 'partly'> {
  const texts = [{ translations }, ...options];
  const countOf = (one: string) =>
    one === language ? texts.length : texts.filter((text) => text.translations?.[one] !== undefined).length;
  const all = [
    ...new Set([language, ...texts.flatMap((text) => Object.keys(text.translations ?? {})).toSorted()]),
  ];
  return {
    languages: all.filter((one) => countOf(one) === texts.length),
    partly: all.filter((one) => countOf(one) < texts.length),
  };
}

/** Returns the texts of the answering page in a language. */
export function spokenIn(language: string): AnsweringPageTexts {
  const t = pageTexts.in(language);
  return {
    scales: Object.fromEntries(scaledTypes.map((type) => [String(type), scaleTexts(type, language)])),
    addComment: t('addComment'),
    commentHint: t('commentHint'),
    skip: t('skip'),
    notApplicable: t('notApplicable'),
  };
}

/** Maps the paths that schedules.ts reports to the fields of the console's form. */
const fields: Record<string, string> = {
  name: '/name',
  questions: '/questionIds',
  kpis: '/kpiIds',
  perWeek: '/perWeek',
  everyWeeks: '/everyWeeks',
  groups: '/groupIds',
  without: '/withoutGroupIds',
  repeat: '/repeatWeeks',
  weekday: '/weekday',
  hour: '/hour',
  from: '/fromDay',
  until: '/untilDay',
  reminder: '/reminderDays',
  dateAttribute: '/byDate/attribute',
  dateRange: '/byDate/untilDays',
  minPeople: '/byDate/minPeople',
};

export const withQuestionPaths = (details: Detail[]): (Detail & { path: string })[] =>
  details.map((detail) => ({ ...detail, path: fields[detail.path ?? ''] ?? detail.path ?? '' }));

/** Runs a function of schedules.ts, and maps the paths of its faults to the fields of the console's form. */
export async function withPointers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    throw new Fault(error.kind, error.code, error.message, { details: withQuestionPaths(error.details) });
  }
}
