// The console: questions, KPIs, schedules, and open weeks, for administrators only. The service sends the names and days of weeks
// as text, so that no browser computes them.
import { Type, type Static } from 'typebox';
import { ByDate, type ExpectedByDate } from './by-date.ts';
import { operation } from './operation.ts';
import { maxCommentLength, maxNameLength } from '../limits.ts';
import { type QuestionType, typeNumbers } from '../question-types.ts';

const closed = { additionalProperties: false };
const nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** A week: its Monday and Sunday, YYYY-MM-DD, and its name, such as 2026-W47. */
export type WeekName = { week: string; last: string; name: string };

export type QuestionOption = { id: string; text: string; translations?: Record<string, string> };

/** A question with all its texts. `language`: the language of `text`; the others are in `translations`. */
export type QuestionTexts = {
  id: number;
  key: string;
  type: QuestionType;
  text: string;
  language: string;
  translations: Record<string, string>;
  options: QuestionOption[];
  /** Whether people can answer it with "not applicable", in rounds that open from now on. */
  allowsNotApplicable: boolean;
  isRetired: boolean;
};

export type LibraryQuestion = QuestionTexts & {
  /**
   * `languages`: languages with a complete translation, including the options; `partly`: languages with an incomplete translation.
   */
  languages: string[];
  partly: string[];
  kpiIds: string[];
  /** How many weeks asked the question, and the last of these weeks. */
  weeks: number;
  last: WeekName | null;
};

/** `name`: what the data interface calls it; `translations`: language to name. */
export type KpiName = { id: string; name: string; translations: Record<string, string> };

export type Library = {
  questions: LibraryQuestion[];
  kpis: KpiName[];
  /** The account's language, and all languages in which there is a question. */
  language: string;
  languages: string[];
};

/** A week in which a question was asked, with the groups that were asked and the schedules that asked it. */
export type AskedWeek = WeekName & {
  isOpen: boolean;
  /** The groups that were asked, at most ten. A null name means that the group has since been removed. */
  groups: { id: number; name: string | null }[];
  groupCount: number;
  /** An `id` of null: the question came from a file of past surveys, not from a schedule. */
  schedules: { id: number; name: string | null }[];
};

export type QuestionView = LibraryQuestion & {
  version: string;
  askedIn: AskedWeek[];
  /** The schedules that ask the question every time (`isFixed`), or that can choose it for one of its KPIs. */
  schedules: { id: number; name: string; isFixed: boolean }[];
};

/** The texts of the answering page in a language, including the texts next to the values of scales, by question type. */
export type AnsweringPageTexts = {
  scales: Record<string, { value: number; text: string }[]>;
  addComment: string;
  commentHint: string;
  skip: string;
  notApplicable: string;
};

const text = Type.String({ minLength: 1, maxLength: maxCommentLength });
const translations = Type.Record(Type.String({ maxLength: 20 }), text);
const textFields = {
  text,
  translations,
  options: Type.Array(
    Type.Object(
      {
        id: Type.String({ minLength: 1, maxLength: maxNameLength }),
        text,
        translations: Type.Optional(translations),
      },
      closed,
    ),
    { maxItems: 100 },
  ),
  allowsNotApplicable: Type.Optional(
    Type.Boolean({
      description:
        'Whether people can answer it with “not applicable”. If omitted: as it is, or false for a new question.',
    }),
  ),
};
/** The version that was shown. The change is refused with `changed since` if someone else has made a change in the meantime. */
const version = Type.String({ minLength: 1, maxLength: 100 });
export const QuestionBody = Type.Object({ ...textFields, version }, closed);
export const NewQuestionBody = Type.Object(
  {
    ...textFields,
    key: Type.String({ minLength: 1, maxLength: maxNameLength }),
    type: Type.Integer(typeNumbers),
    language: Type.String({ minLength: 1, maxLength: 20 }),
    /** The KPIs that the question becomes part of. */
    kpiIds: Type.Array(Type.String({ maxLength: maxNameLength }), { maxItems: 100 }),
  },
  closed,
);

export type KpiView = KpiName & {
  version: string;
  imageUrl: string | null;
  /** Whether a value of the KPI was ever published. */
  hasValues: boolean;
  questions: QuestionTexts[];
  /** The schedules that choose questions of the KPI. */
  schedules: { id: number; name: string }[];
};

const kpi = {
  name: Type.String({ minLength: 1, maxLength: maxNameLength }),
  translations: Type.Record(Type.String(), Type.String({ maxLength: maxNameLength })),
  imageUrl: nullable(Type.String({ maxLength: maxCommentLength })),
  questionIds: Type.Array(Type.Integer(), { maxItems: 1000 }),
};
export const KpiBody = Type.Object({ ...kpi, version }, closed);
export const NewKpiBody = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: maxNameLength }), ...kpi },
  closed,
);

const count = (maximum: number) => Type.Integer({ minimum: 0, maximum });
/** Which questions are sent to which groups, how often and when. Days: YYYY-MM-DD; hours: in each person's own time zone. */
export const ScheduleBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: maxNameLength }),
    questionIds: Type.Array(Type.Integer(), { maxItems: 1000 }),
    kpiIds: Type.Array(Type.String({ maxLength: maxNameLength }), { maxItems: 1000 }),
    perWeek: nullable(count(1000)),
    everyWeeks: nullable(count(1000)),
    groupIds: Type.Array(Type.Integer(), { maxItems: 5000 }),
    withoutGroupIds: Type.Array(Type.Integer(), { maxItems: 5000 }),
    repeat: Type.Enum(['once', 'weeks', 'monthly']),
    repeatWeeks: count(1000),
    weekday: count(7),
    hour: count(24),
    anyHour: Type.Boolean(),
    reminderDays: nullable(count(100)),
    reminderHour: nullable(count(24)),
    fromDay: Type.String({ minLength: 1, maxLength: 20 }),
    untilDay: nullable(Type.String({ maxLength: 20 })),
    /** Null: everyone in the groups. */
    byDate: Type.Union([ByDate, Type.Null()]),
  },
  closed,
);
export type ScheduleBody = Static<typeof ScheduleBody>;
export const ScheduleChange = Type.Object({ ...ScheduleBody.properties, version }, closed);

/**
 * How many active people a schedule would ask today, and how many of them get messages by email or text message. If it chooses people by a date, these are
 * the people who are waiting, even if they are too few to be asked.
 */
export type Audience = { people: number; reachable: number };

/**
 * That a schedule which chooses people by a date asks no one yet. `people`: how many are due and wait. `minimum`: how many of a group that
 * is asked have to be due.
 */
export type WaitingByDate = { people: number; minimum: number };

/** Why a week was missed. `other`: it was missed in an earlier version that stored the reason as a text. */
export type MissedReason =
  | 'late'
  | 'noQuestion'
  | 'noGroup'
  | 'noPeople'
  | 'closed'
  | 'imported'
  | 'lost'
  | 'sameText'
  | 'nearlySame'
  | 'tooFewDue'
  | 'other';

/** One week of a schedule, past or upcoming. */
export type CalendarCell = {
  week: string;
  state: 'opened' | 'missed' | 'due';
  /** The day on which the questions are sent. */
  day: string | null;
  /** How many people were asked, for past weeks. */
  people: number | null;
  /** Why it was missed. */
  reason: MissedReason | null;
  /** For an upcoming week of a schedule that chooses from KPIs: the questions as of now. */
  questionIds: number[];
};

export type ScheduleView = ScheduleBody & {
  id: number;
  version: string;
  isPaused: boolean;
  audience: Audience;
  /** When the schedule asks next; null: it never asks again, or it is paused. `name`: the name of the week. */
  next: { name: string; day: string } | null;
  /**
   * Whether the schedule's day in this week has passed without sending. It then sends at the next allowed hour, or misses the week.
   */
  isLate: boolean;
  /** The schedule's last week and its outcome, and the reason if the week was missed. */
  last: { name: string; outcome: 'opened' | 'missed'; reason: MissedReason | null; people: number } | null;
  /** Set if too few people would be due on its next day, by the dates that people have now. */
  waits: WaitingByDate | null;
  cells: CalendarCell[];
};

export type Schedules = {
  schedules: ScheduleView[];
  /** Twelve past weeks, the current one, and twelve upcoming ones. */
  weeks: (WeekName & { isNow: boolean })[];
  today: string;
  questions: QuestionTexts[];
  kpis: KpiName[];
  /** The groups that schedules name. A group that a schedule names and that is missing here has been removed. */
  groups: { id: number; name: string }[];
  /** Whether emails can be sent. */
  hasMail: boolean;
};

/** What a schedule draft would do, and its faults by field (JSON pointers). */
export type ScheduleCheck = {
  faults: { path: string; type: string; message: string }[];
  audience: Audience;
  coming: { week: WeekName; day: string; questionIds: number[] }[];
  /** Null: the schedule doesn't choose people by a date, or has faults. */
  expected: ExpectedByDate | null;
  /** Whether the schedule sends at the next allowed hour once it is saved, because its day in this week has already come. */
  isAtOnce: boolean;
};

export type SchedulePreview = {
  id: number;
  name: string;
  company: string;
  /** When the questions shown will be asked; null: there are no more dates. */
  next: { name: string; day: string } | null;
  /** Whether that day has passed, and the questions go out as soon as possible. */
  isLate: boolean;
  questions: QuestionTexts[];
  /** The account's language. `texts`: the texts of the answering page, by language. */
  language: string;
  texts: Record<
    string,
    AnsweringPageTexts & {
      greeting: string;
      asks: string;
      privacyHeading: string;
      privacy: string;
      send: string;
    }
  >;
};

export type MessageCounts = { waiting: number; sent: number; refused: number; unknown: number };

export type OpenWeek = WeekName & {
  /** When it ends and closes automatically (ISO 8601), and whether that time has passed. */
  endsAt: string;
  hasEnded: boolean;
  /** Whether its figures are shown while it is open. */
  isLive: boolean;
  /** How many active people are asked. */
  asked: number;
  answered: Participation;
  threshold: number;
  rounds: {
    scheduleId: number | null;
    name: string | null;
    /** Null: the round came from a file. */
    people: number | null;
    questions: QuestionTexts[];
    groups: { id: number; name: string | null }[];
    groupCount: number;
  }[];
  invitations: MessageCounts;
  /**
   * Only whether and when reminders are sent is shown. Their number is withheld, because they go to people who haven't answered.
   */
  reminders: { state: 'none' | 'waiting' | 'sent'; from: string | null; until: string | null };
  unreachable: number;
  /** How many people can be handed a link: only those the service can't email. */
  linkable: number;
  /** Set while the week is being closed. `isFailing`: an attempt to close it has failed and is being retried. */
  closing: { isFailing: boolean } | null;
  /** Schedules that still have to send this week. They miss the week if it is closed before they send. */
  stillDue: { id: number; name: string; day: string }[];
};

/**
 * How many people have answered (P18). 'atLeast': counted once a day (`on`) among people who have been active for a week, in steps
 * of `step`. 'exact': the exact number, where answers are not anonymous. 'tooFew': fewer than `step` such people are asked.
 */
export type Participation =
  | { state: 'exact'; count: number }
  | { state: 'atLeast'; count: number; on: string; step: number }
  | { state: 'tooFew'; step: number }
  | { state: 'notYet' };

export type Rounds = {
  open: OpenWeek[];
  /** The last closed weeks, newest first. `isLost`: the week has no results, because its key was lost. */
  closed: (WeekName & { closedAt: string; isLost: boolean; schedules: string[] })[];
  /** The next schedule that isn't late; null: nothing in this week or the next. */
  next: { schedule: string; day: string } | null;
  /** What is due in this week and the next, except for open weeks. */
  coming: (WeekName & {
    day: string;
    /** Whether the schedule's day has passed without sending. */
    isLate: boolean;
    id: number;
    schedule: string;
    questions: number;
    /** How many people it asks, by the dates that people have now if it chooses them by a date. */
    people: number;
    waits: WaitingByDate | null;
  })[];
  /** Addresses the mail server last rejected, and why. This reveals nothing about who has answered. */
  refusals: { userId: number; name: string; address: string; reason: string }[];
  hasMail: boolean;
};

const administrator = { minimumRole: 'Administrator' } as const;

export const askingOperations = {
  'GET /library': operation<Library>()(administrator),
  'GET /library/texts': operation<Record<string, AnsweringPageTexts>>()(administrator),
  'GET /library/questions/{questionId}': operation<QuestionView>()(administrator),
  'POST /library/questions': operation<{ id: number }>()({ ...administrator, body: NewQuestionBody }),
  /** Changes the texts of a question. Its key, its type and the ids of its options can't be changed. */
  'PUT /library/questions/{questionId}': operation<{ version: string }>()({
    ...administrator,
    body: QuestionBody,
  }),
  'PUT /library/questions/{questionId}/retired': operation()({
    ...administrator,
    body: Type.Object({ isRetired: Type.Boolean() }, closed),
  }),
  'GET /library/kpis': operation<{ kpis: KpiView[] }>()(administrator),
  'POST /library/kpis': operation()({ ...administrator, body: NewKpiBody }),
  'PUT /library/kpis/{kpiId}': operation()({ ...administrator, body: KpiBody }),

  'GET /schedules': operation<Schedules>()(administrator),
  'POST /schedules': operation<{ id: number }>()({ ...administrator, body: ScheduleBody }),
  'PUT /schedules/{scheduleId}': operation<{ version: string }>()({ ...administrator, body: ScheduleChange }),
  'DELETE /schedules/{scheduleId}': operation()(administrator),
  'PUT /schedules/{scheduleId}/paused': operation()({
    ...administrator,
    body: Type.Object({ isPaused: Type.Boolean() }, closed),
  }),
  /** Returns what a schedule would do. Stores nothing. */
  'POST /schedules-check': operation<ScheduleCheck>()({
    ...administrator,
    /** The schedule that the draft would replace. */
    query: Type.Object(
      { scheduleId: Type.Optional(Type.String({ pattern: '^\\d{1,9}$', description: 'Digits.' })) },
      closed,
    ),
    body: ScheduleBody,
  }),
  /** Sends the caller a test email, the same one that people receive. */
  'POST /schedules/{scheduleId}/test': operation<{ address: string }>()({
    ...administrator,
    body: Type.Object({ kind: Type.Enum(['invitation', 'reminder']) }, closed),
  }),
  'GET /schedules/{scheduleId}/preview': operation<SchedulePreview>()(administrator),

  'GET /rounds': operation<Rounds>()(administrator),
  /** Starts closing a week. The response does not wait until it is closed. */
  'POST /rounds/{week}/close': operation()(administrator),
  /** Returns, as CSV, a new personal link for each person asked who can't get email from the service. */
  'POST /rounds/{week}/links': operation<{ name: string; csv: string; people: number }>()({
    ...administrator,
    proof: true,
    body: Type.Object({ isReplacing: Type.Boolean() }, closed),
  }),
};
