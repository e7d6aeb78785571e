// Ready-made sets of questions with a rhythm, from which an administrator creates a schedule with one click. All texts were written for
// Soundings. A set shares no question with the library or another set, because a week can't ask the same people a question twice
// (rules.md P17). docs/administrators/templates.md has the research and rules behind them. Pure.
import {
  agreementScale,
  freeText,
  multipleChoice,
  type QuestionType,
  recommendation,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { type TemplateId, templateIds } from '@soundings/contract/template-ids.ts';
import { answeringLanguages, type TextByLanguage } from '../languages/languages.ts';
import { libraryLanguage } from './library-texts.ts';
import { libraryKpis, textsIn } from './library.ts';
import type { NewQuestion } from './questions.sql.ts';

type TemplateQuestion = {
  key: string;
  type: QuestionType;
  text: TextByLanguage;
  options: { id: string; text: TextByLanguage }[];
};

/** Which people a template asks by a date. The administrator says which attribute contains it. */
export type TemplateDates = { side: 'after' | 'before'; fromDays: number; untilDays: number };

/** How often and when a template asks. `weekday`: 1 is Monday. The reminder comes `reminderDays` later, at the same hour. */
type Rhythm = { repeatWeeks: number; weekday: number; hour: number; reminderDays: number };

export type Template = Rhythm & {
  id: TemplateId;
  /** The name of the schedule. */
  name: TextByLanguage;
  /** Its own questions, asked each time. Empty: it asks some questions of KPIs of the library. */
  questions: readonly TemplateQuestion[];
  /** The KPI that its own questions with a scale become part of. Templates can share one. */
  kpi: { id: string; name: TextByLanguage } | undefined;
  /** The KPIs that it chooses from: about `perWeek` questions at a time, each again after `everyWeeks`. */
  kpiIds: readonly string[];
  perWeek: number | null;
  everyWeeks: number | null;
  byDate: TemplateDates | null;
};

type Row = [key: string, type: QuestionType];

const { inAll } = answeringLanguages;

const questionsOf = (...rows: Row[]): TemplateQuestion[] =>
  rows.map(([key, type]) => ({
    key,
    type,
    text: inAll(`questions.${key}`),
    options: (optionsOf[key] ?? []).map((id) => ({ id, text: inAll(`options.${key}.${id}`) })),
  }));

const optionsOf: Record<string, string[]> = {
  'exit-reasons': [
    'offer',
    'pay',
    'tasks',
    'workload',
    'leadership',
    'climate',
    'development',
    'private',
    'ended',
    'other',
  ],
};

const nine = 9;
const fixed = { kpiIds: [], perWeek: null, everyWeeks: null, byDate: null };

/** New employees: asked each Tuesday, as soon as enough of them are that many days after their start. */
const onboarding = {
  kpi: { id: 'onboarding', name: inAll('kpis.onboarding') },
  ...fixed,
  repeatWeeks: 1,
  weekday: 2,
  hour: nine,
  reminderDays: 2,
};
const daysAfter = (fromDays: number, untilDays: number): TemplateDates => ({
  side: 'after',
  fromDays,
  untilDays,
});

const templatesById: Record<TemplateId, Omit<Template, 'id'>> = {
  pulse: {
    name: inAll('templates.pulse'),
    questions: [],
    kpi: undefined,
    kpiIds: libraryKpis.map(({ id }) => id),
    perWeek: 5,
    everyWeeks: 8,
    byDate: null,
    repeatWeeks: 1,
    weekday: 1,
    hour: nine,
    reminderDays: 2,
  },
  enps: {
    name: inAll('templates.enps'),
    questions: questionsOf(['enps-recommend', recommendation], ['enps-reason', freeText]),
    kpi: undefined,
    ...fixed,
    repeatWeeks: 13,
    weekday: 2,
    hour: nine,
    reminderDays: 2,
  },
  'work-environment': {
    name: inAll('templates.work-environment'),
    questions: questionsOf(
      ['osa-resources', agreementScale],
      ['osa-results', agreementScale],
      ['osa-priorities', agreementScale],
      ['osa-support', agreementScale],
      ['osa-signals', agreementScale],
      ['osa-measures', agreementScale],
      ['osa-strain', agreementScale],
      ['osa-rest', agreementScale],
      ['osa-reachable', agreementScale],
      ['osa-respect', agreementScale],
      ['osa-action', agreementScale],
      ['osa-routine', yesNo],
      ['osa-first', freeText],
    ),
    kpi: {
      id: 'work-environment',
      name: inAll('kpis.work-environment'),
    },
    ...fixed,
    repeatWeeks: 26,
    weekday: 3,
    hour: nine,
    reminderDays: 2,
  },
  'onboarding-30': {
    name: inAll('templates.onboarding-30'),
    questions: questionsOf(
      ['new30-welcome', agreementScale],
      ['new30-equipment', agreementScale],
      ['new30-tasks', agreementScale],
      ['new30-expected', agreementScale],
      ['new30-easier', freeText],
    ),
    ...onboarding,
    byDate: daysAfter(30, 59),
  },
  'onboarding-60': {
    name: inAll('templates.onboarding-60'),
    questions: questionsOf(
      ['new60-shown', agreementScale],
      ['new60-feedback', agreementScale],
      ['new60-able', agreementScale],
      ['new60-team', agreementScale],
      ['new60-missing', freeText],
    ),
    ...onboarding,
    byDate: daysAfter(60, 89),
  },
  'onboarding-90': {
    name: inAll('templates.onboarding-90'),
    questions: questionsOf(
      ['new90-confident', agreementScale],
      ['new90-works', agreementScale],
      ['new90-heard', agreementScale],
      ['new90-again', agreementScale],
      ['new90-next', freeText],
    ),
    ...onboarding,
    byDate: daysAfter(90, 179),
  },
  exit: {
    name: inAll('templates.exit'),
    questions: questionsOf(
      ['exit-recommend', recommendation],
      ['exit-reasons', multipleChoice],
      ['exit-fair', agreementScale],
      ['exit-manager', agreementScale],
      ['exit-return', agreementScale],
      ['exit-change', freeText],
    ),
    kpi: undefined,
    ...fixed,
    byDate: { side: 'before', fromDays: 0, untilDays: 60 },
    repeatWeeks: 1,
    weekday: 2,
    hour: nine,
    reminderDays: 2,
  },
};

export const templates: readonly Template[] = templateIds.map((id) => ({ id, ...templatesById[id] }));

/** Returns the name of a template in a language, or in English if the language lacks it. */
export const nameOfTemplate = ({ name }: Template, language: string): string =>
  textsIn(name, libraryLanguage(language)).text;

/** Returns the questions of a template for an account: texts in its language, the others as translations. */
export function templateQuestions({ questions }: Template, language: string): NewQuestion[] {
  const own = libraryLanguage(language);
  return questions.map(({ key, type, text, options }) => ({
    key,
    type,
    language: own,
    ...textsIn(text, own),
    options: options.map((option) => ({ id: option.id, ...textsIn(option.text, own) })),
  }));
}
