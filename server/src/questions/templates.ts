// Ready-made sets of questions with a rhythm, from which an administrator creates a schedule with one click. All texts were written for
// Soundings. A set shares no question with the library or another set, because a week can't ask the same people a question twice
// (rules.md P17). docs/administrators/templates.md has the research and rules behind them. Pure.
import {
  agreementScale,
  freeText,
  type QuestionType,
  recommendation,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { type TemplateId, templateIds } from '@soundings/contract/template-ids.ts';
import { answeringLanguages, type TextByLanguage } from '../languages/languages.ts';
import { libraryLanguage } from './library-texts.ts';
import { libraryKpis, textsIn } from './library.ts';
import type { NewQuestion } from './questions.sql.ts';

type TemplateQuestion = { key: string; type: QuestionType; text: TextByLanguage };

/** How often and when a template asks. `weekday`: 1 is Monday. The reminder comes `reminderDays` later, at the same hour. */
type Rhythm = { repeatWeeks: number; weekday: number; hour: number; reminderDays: number };

export type Template = Rhythm & {
  id: TemplateId;
  /** The name of the schedule. */
  name: TextByLanguage;
  /** Its own questions, asked each time. Empty: it asks some questions of KPIs of the library. */
  questions: readonly TemplateQuestion[];
  /** The KPI that its own questions with a scale become part of. */
  kpi: { id: string; name: TextByLanguage } | undefined;
  /** The KPIs that it chooses from: about `perWeek` questions at a time, each again after `everyWeeks`. */
  kpiIds: readonly string[];
  perWeek: number | null;
  everyWeeks: number | null;
};

type Row = [key: string, type: QuestionType];

const { inAll } = answeringLanguages;

const questionsOf = (...rows: Row[]): TemplateQuestion[] =>
  rows.map(([key, type]) => ({ key, type, text: inAll(`questions.${key}`) }));

const nine = 9;
const fixed = { kpiIds: [], perWeek: null, everyWeeks: null };

const templatesById: Record<TemplateId, Omit<Template, 'id'>> = {
  pulse: {
    name: inAll('templates.pulse'),
    questions: [],
    kpi: undefined,
    kpiIds: libraryKpis.map(({ id }) => id),
    perWeek: 5,
    everyWeeks: 8,
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
};

export const templates: readonly Template[] = templateIds.map((id) => ({ id, ...templatesById[id] }));

/** Returns the name of a template in a language, or in English if the language lacks it. */
export const nameOfTemplate = ({ name }: Template, language: string): string =>
  textsIn(name, libraryLanguage(language)).text;

/** Returns the questions of a template for an account: texts in its language, the others as translations. */
export function templateQuestions({ questions }: Template, language: string): NewQuestion[] {
  const own = libraryLanguage(language);
  return questions.map(({ key, type, text }) => ({
    key,
    type,
    language: own,
    ...textsIn(text, own),
    options: [],
  }));
}
