// The console: questions, KPIs, schedules, and the weeks that are open. Weeks come with their names and their days as texts:
// no browser computes one. For administrators alone.
import { Type, type Static } from 'typebox';
import { operation } from './console.operation.ts';
import { maxCommentLength, maxNameLength } from './limits.ts';

const closed = { additionalProperties: false };
const nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** A week: its Monday and Sunday, YYYY-MM-DD, and its name, such as 2026-W47. */
export type WeekName = { week: string; last: string; name: string };

export type QuestionOption = { id: string; text: string; translations?: Record<string, string> };

/** A question in all its words. `language`: of `text`; the others are translations. */
export type QuestionWords = {
  id: number;
  key: string;
  type: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  text: string;
  language: string;
  translations: Record<string, string>;
  options: QuestionOption[];
  isRetired: boolean;
};

export type LibraryQuestion = QuestionWords & {
  /** In which all of it can be read, its options too; and in which a part of it. */
  languages: string[];
  partly: string[];
  kpiIds: string[];
  /** In how many weeks it was asked, and the last of them. */
  weeks: number;
  last: WeekName | null;
};

/** `name`: what the data interface calls it; `translations`: language to name. */
export type KpiName = { id: string; name: string; translations: Record<string, string> };

export type Library = {
  questions: LibraryQuestion[];
  kpis: KpiName[];
  /** The account's language, and all in which some question is. */
  language: string;
  languages: string[];
};

/** Once in a week in which a question was asked: of which groups, and by which schedules. */
export type AskedWeek = WeekName & {
  isOpen: boolean;
  /** The asked groups, at most ten; without a name: removed since. */
  groups: { id: number; name: string | null }[];
  groupCount: number;
  /** Null: it came from a file of past surveys. */
  schedules: { id: number; name: string | null }[];
};

export type QuestionPage = LibraryQuestion & {
  version: string;
  askedIn: AskedWeek[];
  /** The schedules that ask it each time, or may choose it for one of its KPIs. */
  schedules: { id: number; name: string; isFixed: boolean }[];
};

/** What the answering page says in a language, and the words beside the values of scales, by type. */
export type PageWords = {
  scales: Record<string, { value: number; text: string }[]>;
  addComment: string;
  commentHint: string;
  skip: string;
};

const text = Type.String({ minLength: 1, maxLength: maxCommentLength });
const translations = Type.Record(Type.String({ maxLength: 20 }), text);
const words = {
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
};
/** What was seen of a thing that is changed as a whole: refused with `changed since` when somebody has changed it meanwhile. */
const version = Type.String({ minLength: 1, maxLength: 100 });
export const QuestionBody = Type.Object({ ...words, version }, closed);
export const NewQuestionBody = Type.Object(
  {
    ...words,
    key: Type.String({ minLength: 1, maxLength: maxNameLength }),
    type: Type.Integer({ minimum: 1, maximum: 7 }),
    language: Type.String({ minLength: 1, maxLength: 20 }),
    /** Of which it becomes a part. */
    kpiIds: Type.Array(Type.String({ maxLength: maxNameLength }), { maxItems: 100 }),
  },
  closed,
);

export type KpiPage = KpiName & {
  version: string;
  imageUrl: string | null;
  /** Whether a value of it was ever published. */
  hasValues: boolean;
  questions: QuestionWords[];
  /** The schedules that choose from it. */
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
/** What is asked of whom, how often and when. Days: YYYY-MM-DD; hours: those of each person's own time zone. */
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
  },
  closed,
);
export type ScheduleBody = Static<typeof ScheduleBody>;
export const ScheduleChange = Type.Object({ ...ScheduleBody.properties, version }, closed);

/** How many active people a schedule would ask today, and how many of them have an e-mail address. */
export type Audience = { people: number; withEmail: number };

/** Why a week was missed; `other`: in words that are no longer known. */
export type MissedReason =
  | 'late'
  | 'noQuestion'
  | 'noGroup'
  | 'nobody'
  | 'closed'
  | 'imported'
  | 'lost'
  | 'lookAlike'
  | 'nearlySame'
  | 'other';

/** One week of a schedule, past or to come. */
export type CalendarCell = {
  week: string;
  state: 'opened' | 'missed' | 'due';
  /** The day on which it asks. */
  day: string | null;
  /** Past: how many it asked. */
  people: number | null;
  /** Why it was missed. */
  reason: MissedReason | null;
  /** Of a week to come of a schedule that chooses from KPIs: as things are now. */
  questionIds: number[];
};

export type Schedule = ScheduleBody & {
  id: number;
  version: string;
  isPaused: boolean;
  audience: Audience;
  /** When it asks next; null: never, or not as long as it is paused. `name`: of the week. */
  next: { name: string; day: string } | null;
  /** Its day in this week has passed, and it has not asked: it does as soon as people may be written to, or misses the week. */
  isLate: boolean;
  /** Its last week, what came of it, and why when it was missed. */
  last: { name: string; outcome: 'opened' | 'missed'; reason: MissedReason | null; people: number } | null;
  cells: CalendarCell[];
};

export type Schedules = {
  schedules: Schedule[];
  /** Twelve that have passed, the current one, and twelve to come. */
  weeks: (WeekName & { isNow: boolean })[];
  today: string;
  questions: QuestionWords[];
  kpis: KpiName[];
  /** Of all groups that a schedule names: those that are missing were removed. */
  groups: { id: number; name: string }[];
  /** Whether mails can be sent. */
  hasMail: boolean;
};

/** What a schedule that is being written would do, and what is wrong with it by field (JSON pointers). */
export type ScheduleCheck = {
  faults: { path: string; type: string; message: string }[];
  audience: Audience;
  coming: { week: WeekName; day: string; questionIds: number[] }[];
  /** Saved now, it asks as soon as people may be written to: its day in this week has come already. */
  isAtOnce: boolean;
};

export type SchedulePreview = {
  id: number;
  name: string;
  company: string;
  /** When what is shown will be asked; null: it is asked no more. */
  next: { name: string; day: string } | null;
  /** Whether that day has passed, and it is asked as soon as it may be. */
  isLate: boolean;
  questions: QuestionWords[];
  /** The account's language; and what the page says, by language. */
  language: string;
  words: Record<
    string,
    PageWords & { greeting: string; asks: string; privacyHeading: string; privacy: string; send: string }
  >;
};

export type MessageCounts = { waiting: number; sent: number; refused: number; unknown: number };

export type OpenWeek = WeekName & {
  /** When it ends and closes by itself (ISO 8601), and whether that has passed. */
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
    /** Null: it came from a file. */
    people: number | null;
    questions: QuestionWords[];
    groups: { id: number; name: string | null }[];
    groupCount: number;
  }[];
  invitations: MessageCounts;
  /** Reminders go to those who have not answered, so they are not counted: only whether and when they go out is shown. */
  reminders: { state: 'none' | 'waiting' | 'sent'; from: string | null; until: string | null };
  withoutEmail: number;
  /** To how many links can be handed out: only to those to whom the service cannot write. */
  linkable: number;
  /** That it is being closed; `isFailing`: it did not work, and is tried again. */
  closing: { isFailing: boolean } | null;
  /** Schedules that would still ask in it: if it is closed before, they miss it. */
  stillDue: { id: number; name: string; day: string }[];
};

/**
 * How many have answered (P18). 'atLeast': counted once a day, over people who have been active for a week, in steps of `step`;
 * `on`: the day. 'exact': as it is, where answers are not anonymous. 'tooFew': fewer than `step` such people are asked.
 */
export type Participation =
  | { state: 'exact'; count: number }
  | { state: 'atLeast'; count: number; on: string; step: number }
  | { state: 'tooFew'; step: number }
  | { state: 'notYet' };

export type Rounds = {
  open: OpenWeek[];
  /** The last weeks that have closed, newest first. `isLost`: without results, because their key was lost. */
  closed: (WeekName & { closedAt: string; isLost: boolean; schedules: string[] })[];
  /** What comes first of all that is not late; null: nothing in this week or the next. */
  next: { schedule: string; day: string } | null;
  /** What is due in this week and in the next, without the weeks that are open. */
  coming: (WeekName & {
    day: string;
    /** Its day has passed, and it has not asked. */
    isLate: boolean;
    id: number;
    schedule: string;
    questions: number;
    people: number;
  })[];
  /** Whose mail the mail server refused last, and why. It is about mail: nothing of it tells who has answered. */
  refusals: { userId: number; name: string; address: string; reason: string }[];
  hasMail: boolean;
};

const administrator = { least: 'Administrator' } as const;

export const askingOperations = {
  'GET /library': operation<Library>()(administrator),
  'GET /library/words': operation<Record<string, PageWords>>()(administrator),
  'GET /library/questions/{questionId}': operation<QuestionPage>()(administrator),
  'POST /library/questions': operation<{ id: number }>()({ ...administrator, body: NewQuestionBody }),
  /** The words of a question. Its key, type and the ids of its options are for ever. */
  'PUT /library/questions/{questionId}': operation<{ version: string }>()({
    ...administrator,
    body: QuestionBody,
  }),
  'PUT /library/questions/{questionId}/retired': operation()({
    ...administrator,
    body: Type.Object({ isRetired: Type.Boolean() }, closed),
  }),
  'GET /library/kpis': operation<{ kpis: KpiPage[] }>()(administrator),
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
  /** What it would do; keeps nothing. */
  'POST /schedules-check': operation<ScheduleCheck>()({
    ...administrator,
    /** The schedule whose place it would take. */
    query: Type.Object(
      { scheduleId: Type.Optional(Type.String({ pattern: '^\\d{1,9}$', description: 'Digits.' })) },
      closed,
    ),
    body: ScheduleBody,
  }),
  /** The mail as people get it, to whoever asks. */
  'POST /schedules/{scheduleId}/test': operation<{ address: string }>()({
    ...administrator,
    body: Type.Object({ kind: Type.Enum(['invitation', 'reminder']) }, closed),
  }),
  'GET /schedules/{scheduleId}/preview': operation<SchedulePreview>()(administrator),

  'GET /rounds': operation<Rounds>()(administrator),
  /** Asks for a week to be closed: it is under way when this is answered. */
  'POST /rounds/{week}/close': operation()(administrator),
  /** A new personal link, as CSV, for each person asked to whom the service cannot write. */
  'POST /rounds/{week}/links': operation<{ name: string; csv: string; people: number }>()({
    ...administrator,
    proof: true,
    body: Type.Object({ isReplacing: Type.Boolean() }, closed),
  }),
};
