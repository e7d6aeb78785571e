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
import { libraryLanguage, type TextByLanguage } from './library-texts.ts';
import { libraryKpis } from './library.ts';
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

type Row = [key: string, type: QuestionType, en: string, sv: string, de: string];

const questionsOf = (...rows: Row[]): TemplateQuestion[] =>
  rows.map(([key, type, en, sv, de]) => ({ key, type, text: { en, sv, de } }));

const nine = 9;
const fixed = { kpiIds: [], perWeek: null, everyWeeks: null };

const templatesById: Record<TemplateId, Omit<Template, 'id'>> = {
  pulse: {
    name: { en: 'Weekly pulse', sv: 'Veckopuls', de: 'Wöchentliche Umfrage' },
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
    name: { en: 'eNPS each quarter', sv: 'eNPS varje kvartal', de: 'eNPS im Quartal' },
    questions: questionsOf(
      [
        'enps-recommend',
        recommendation,
        'Would you recommend working here to people you know?',
        'Skulle du rekommendera människor du känner att arbeta här?',
        'Würdest du Menschen, die du kennst, empfehlen, hier zu arbeiten?',
      ],
      [
        'enps-reason',
        freeText,
        'What is the most important reason for your answer?',
        'Vilket är det viktigaste skälet till ditt svar?',
        'Was ist der wichtigste Grund für deine Antwort?',
      ],
    ),
    kpi: undefined,
    ...fixed,
    repeatWeeks: 13,
    weekday: 2,
    hour: nine,
    reminderDays: 2,
  },
  'work-environment': {
    name: {
      en: 'Work environment (OSA)',
      sv: 'Organisatorisk och social arbetsmiljö (OSA)',
      de: 'Arbeitsumgebung (OSA)',
    },
    questions: questionsOf(
      [
        'osa-resources',
        agreementScale,
        'I have the resources that my work requires.',
        'Jag har de resurser som mitt arbete kräver.',
        'Ich habe die Mittel, die meine Arbeit verlangt.',
      ],
      [
        'osa-results',
        agreementScale,
        'I know which results are expected of me.',
        'Jag vet vilka resultat som förväntas av mig.',
        'Ich weiß, welche Ergebnisse von mir erwartet werden.',
      ],
      [
        'osa-priorities',
        agreementScale,
        'When there is not enough time, I get help to set priorities.',
        'När tiden inte räcker till får jag hjälp att prioritera.',
        'Wenn die Zeit nicht reicht, bekomme ich Hilfe beim Setzen von Prioritäten.',
      ],
      [
        'osa-support',
        agreementScale,
        'I know who can help and support me in my work.',
        'Jag vet vem jag kan vända mig till för att få hjälp och stöd i arbetet.',
        'Ich weiß, wer mir bei der Arbeit hilft und mich unterstützt.',
      ],
      [
        'osa-signals',
        agreementScale,
        'I can tell my manager when my workload is too high.',
        'Jag kan säga till min närmaste chef när arbetsbelastningen är för hög.',
        'Ich kann meiner Führungskraft sagen, wenn meine Arbeitsbelastung zu hoch ist.',
      ],
      [
        'osa-measures',
        agreementScale,
        'When the workload is too high, something is done about it.',
        'När arbetsbelastningen är för hög görs något åt det.',
        'Wenn die Arbeitsbelastung zu hoch ist, wird etwas dagegen getan.',
      ],
      [
        'osa-strain',
        agreementScale,
        'I get support when work is mentally demanding.',
        'Jag får stöd när arbetet är psykiskt påfrestande.',
        'Ich bekomme Unterstützung, wenn die Arbeit psychisch belastend ist.',
      ],
      [
        'osa-rest',
        agreementScale,
        'My working hours leave me enough time to rest.',
        'Mina arbetstider ger mig tillräckligt med tid för vila.',
        'Meine Arbeitszeiten lassen mir genug Zeit, mich zu erholen.',
      ],
      [
        'osa-reachable',
        agreementScale,
        'Outside my working hours I can be free from work.',
        'Utanför min arbetstid kan jag vara ledig från jobbet.',
        'Außerhalb meiner Arbeitszeit kann ich wirklich frei haben.',
      ],
      [
        'osa-respect',
        agreementScale,
        'At my workplace we treat each other with respect.',
        'På min arbetsplats behandlar vi varandra med respekt.',
        'An meinem Arbeitsplatz behandeln wir einander mit Respekt.',
      ],
      [
        'osa-action',
        agreementScale,
        'If someone is bullied here, it is dealt with.',
        'Om någon utsätts för kränkande särbehandling här tas det om hand.',
        'Wenn hier jemand gemobbt wird, wird etwas dagegen getan.',
      ],
      [
        'osa-routine',
        yesNo,
        'Do you know what to do if you are bullied or harassed at work?',
        'Vet du vad du ska göra om du utsätts för kränkande särbehandling eller trakasserier på jobbet?',
        'Weißt du, was du tun kannst, wenn du bei der Arbeit gemobbt oder belästigt wirst?',
      ],
      [
        'osa-first',
        freeText,
        'What should be improved first in our work environment?',
        'Vad bör vi förbättra först i vår arbetsmiljö?',
        'Was sollte in unserer Arbeitsumgebung zuerst besser werden?',
      ],
    ),
    kpi: {
      id: 'work-environment',
      name: { en: 'Work environment', sv: 'Arbetsmiljö', de: 'Arbeitsumgebung' },
    },
    ...fixed,
    repeatWeeks: 26,
    weekday: 3,
    hour: nine,
    reminderDays: 2,
  },
};

export const templates: readonly Template[] = templateIds.map((id) => ({ id, ...templatesById[id] }));

/** Returns the questions of a template for an account: texts in its language, the others as translations. */
export function templateQuestions({ questions }: Template, language: string): NewQuestion[] {
  const own = libraryLanguage(language);
  return questions.map(({ key, type, text: { [own]: text, ...translations } }) => ({
    key,
    type,
    language: own,
    text,
    translations,
    options: [],
  }));
}
