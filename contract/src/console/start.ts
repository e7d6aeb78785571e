// The console: getting started. Templates of schedules, asking immediately, and the steps from an empty account to a first answer, computed
// from the account's data. For administrators only.
import { Type } from 'typebox';
import type { ByDate } from './by-date.ts';
import type { QuestionTexts, WeekName } from './asking.ts';
import { operation } from './operation.ts';
import { maxNameLength } from '../limits.ts';
import type { TemplateId } from '../template-ids.ts';

/** A set of questions with a rhythm. */
export type TemplateView = {
  id: TemplateId;
  /** The name of the schedule that it creates. */
  name: string;
  /** The questions it asks each time. Ids of questions that the account does not have yet are 0. */
  questions: QuestionTexts[];
  /** Where it chooses from KPIs: how many questions at a time, from which KPIs, and how many weeks until each is asked again. */
  perWeek: number | null;
  everyWeeks: number | null;
  kpis: { id: string; name: string; translations: Record<string, string> }[];
  repeatWeeks: number;
  /** 1: Monday. */
  weekday: number;
  hour: number;
  reminderDays: number;
  /** The days around a date on which people are asked, and how many must be waiting; null: everyone is asked. */
  byDate: Omit<ByDate, 'attribute'> | null;
  /** The day on which it would ask first (YYYY-MM-DD). */
  from: string;
};

export type Templates = {
  templates: TemplateView[];
  /** The top groups, which are asked with all their subgroups, and how many active people are in them. */
  groups: string[];
  people: number;
  /** The attributes of the account, and how many active people of the top groups have a date in each. */
  attributes: { name: string; dates: number }[];
  /** The account's language. */
  language: string;
};

/** The people that a schedule would ask immediately, or has asked. */
export type AskNow = {
  scheduleId: number;
  name: string;
  /** Identifies what is shown. Send it back to ask. */
  version: string;
  week: WeekName;
  /** The end of the time in which people can answer (ISO 8601). */
  endsAt: string;
  people: number;
  reachable: number;
  /** How many people must be due, for a schedule that chooses them by a date; null: everyone is asked. */
  minPeople: number | null;
  /** The names of the groups that are asked, and of those that are left out. */
  groups: string[];
  without: string[];
  questions: number;
  /** Whether the schedule has already asked in this week. */
  isAsked: boolean;
  /** Whether emails or text messages can be sent. */
  hasMail: boolean;
  /**
   * Whether messages could only be sent when the week is over, because the schedule sends none at night and on weekends. If
   * everyone would be notified by a message, asking is then refused.
   */
  isTooLate: boolean;
};

export const startSteps = ['company', 'people', 'groups', 'pulse', 'testMail', 'invite', 'ask'] as const;
export type StartStep = (typeof startSteps)[number];

/** How far an account is on its way to the first results. */
export type Start = {
  isDismissed: boolean;
  /** The steps in their order, and whether each is done. */
  steps: { name: StartStep; isDone: boolean }[];
  company: { name: string; language: string; threshold: number };
  /** Active people, and how many of them are in no group. */
  people: number;
  withoutGroup: number;
  groups: number;
  /** The schedule that the following steps are about: the first one. */
  schedule: { id: number; name: string } | null;
  canMail: boolean;
  /** The open week; null: no one is asked. */
  week: WeekName | null;
  /** Active people other than the caller who have a role: never invited, invited, and with a password. */
  uninvited: number;
  invited: number;
  signedIn: number;
};

const administrator = { minimumRole: 'Administrator' } as const;

export const startOperations = {
  'GET /start': operation<Start>()(administrator),
  'PUT /start/dismissed': operation()({
    ...administrator,
    body: Type.Object({ isDismissed: Type.Boolean() }, { additionalProperties: false }),
  }),
  'GET /templates': operation<Templates>()(administrator),
  /** Creates the template's questions that are missing, its KPI and a schedule for all top groups. */
  'POST /templates/{templateId}': operation<{ scheduleId: number }>()({
    ...administrator,
    body: Type.Object(
      {
        attribute: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: maxNameLength,
            description: 'The attribute with the date, for a template that chooses people by one.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
  /** Asks the questions of a schedule immediately, or only returns who would be asked. */
  'POST /schedules/{scheduleId}/ask': operation<AskNow>()({
    ...administrator,
    body: Type.Object(
      {
        isPreview: Type.Boolean(),
        version: Type.Optional(
          Type.String({ maxLength: 100, description: 'The version that the preview returned.' }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
};
