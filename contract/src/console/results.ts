// The console: results. The figures are read from the same rows as those of the data interface, and nothing is shown that the
// data interface withholds.
import { Type } from 'typebox';
import { operation } from './operation.ts';

/**
 * A week: its Monday, and its ISO year and number. `final`: its figures are published and won't change; `live`: the current
 * figures are shown while it is open; `open`: it is open and shows nothing yet; `none`: nothing was asked.
 */
export type ResultWeek = {
  week: string;
  year: number;
  number: number;
  state: 'final' | 'live' | 'open' | 'none';
  /** The minimum number of answers for means, distributions and comments; null where nothing was asked. */
  thresholds: { figures: number; distribution: number; comments: number } | null;
};

export type ResultGroup = { id: number; name: string };
/** The name is in the requested language if the KPI has one in it. */
export type ResultKpi = { id: string; name: string };

/**
 * `value`: 0 to 1; null: withheld. A week in which it was not asked has no figure. `handedOut`: whether it is partly based on
 * links or cards that the employer handed out (P14).
 */
export type Figure = { week: string; value: number | null; handedOut: boolean };
/** `people`: how many people were asked; null: the rate is withheld, or the week closed before this was stored. */
export type RateFigure = Figure & { people: number | null };

/** A question with the texts of its scale: all five for type 1, the ends for types 2 and 3, yes and no (1 and 0) for type 4. */
export type ResultQuestion = {
  id: number;
  type: number;
  text: string;
  scale: { value: number; text: string }[];
  options: { id: string; text: string }[];
};

/** The figures of a question in a week. Nulls: withheld. */
export type QuestionFigures = {
  week: string;
  /** Types 1 to 4: the mean, 0 to 1. */
  value: number | null;
  answers: number | null;
  /** How often each value of the scale (yes and no for type 4), or each option, was given, in their order. */
  distribution: { key: string; count: number }[] | null;
  /** Type 3: -100 to 100. */
  enps: number | null;
  /** Whether the figures are partly based on links or cards that the employer handed out. */
  handedOut: boolean;
};

export type ResultComment = {
  week: string;
  number: number;
  year: number;
  questionId: number;
  question: string;
  text: string;
  /** Whether the group's comments on the question partly come from links or cards that the employer handed out. */
  handedOut: boolean;
};

/** What every results page needs first. */
export type ResultsStart = {
  /** Weeks with anything to show, newest first. */
  weeks: ResultWeek[];
  /** The open week, if it shows nothing yet. */
  running: ResultWeek | null;
  /** KPIs that have ever had a value. */
  kpis: ResultKpi[];
  /** The group to start with: the top one, or the first that the caller can see; null: there is none. */
  group: ResultGroup | null;
  /** How many groups the caller can see. */
  groups: number;
};

export type GroupResults = {
  group: ResultGroup & { people: number };
  /** The groups above it that the caller can see, from the top. */
  path: ResultGroup[];
  /** The top group of its tree, if that is a different group and the caller can see it. */
  company: ResultGroup | null;
  /** Every week of the span, oldest first; empty: nothing was ever published. */
  weeks: ResultWeek[];
  running: ResultWeek | null;
  kpis: (ResultKpi & {
    values: Figure[];
    /** The company's figure in the week of the last value shown; null: there is none. */
    company: Figure | null;
  })[];
  rates: RateFigure[];
  /** The results of the last week that asked this group anything. */
  last: {
    week: ResultWeek;
    questions: (ResultQuestion & QuestionFigures)[];
  } | null;
  /** The newest comments, and how many there are in the span. */
  comments: { total: number; newest: ResultComment[] };
};

/** A row of the heat map, in the order of the tree. */
export type HeatRow = ResultGroup & {
  /** The nearest group above it that is also in the map. */
  parentId: number | null;
  /** 1 at the top of the map. */
  level: number;
  people: number;
  /** Null: withheld; missing: not asked. */
  rate?: number | null;
  /** One per KPI of the map. Null: withheld; 'none': not asked. */
  values: (number | null | 'none')[];
  /** Which figures are partly based on links or cards that the employer handed out: the rate, or KPIs by index. */
  handedOut: ('rate' | number)[];
};

export type HeatMap = {
  /** The week shown; null: nothing was ever published. */
  week: ResultWeek | null;
  /** Each with the week whose values its column shows: the last one that asked it. */
  kpis: (ResultKpi & { week: ResultWeek })[];
  rows: HeatRow[];
  /** The row to compare with: the top group, if the caller can see it. */
  companyId: number | null;
};

export type Trend = {
  /** Null: the response rate. */
  kpi: ResultKpi | null;
  weeks: ResultWeek[];
  series: { group: ResultGroup & { people: number }; values: Figure[] }[];
};

export type QuestionResults = {
  question: ResultQuestion;
  group: ResultGroup & { people: number };
  company: ResultGroup | null;
  /** Every week of the span, oldest first. */
  weeks: ResultWeek[];
  /** The week whose distribution is shown: the requested one, or the last that asked it; null: it was never asked here. */
  chosen: ResultWeek | null;
  /** One entry per week in which it was asked. */
  figures: QuestionFigures[];
  /** The company's mean in the chosen week; null: it was not asked then. */
  companyFigure: Figure | null;
  /** Comments of the chosen week, at most 100. */
  comments: ResultComment[];
};

const weekText = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A Monday, as YYYY-MM-DD.' });
const weeksSpan = Type.Optional(
  Type.Enum(['13', '26', '52', '104', '156'], { description: 'How many weeks: 13, 26, 52, 104 or 156.' }),
);
const id = Type.String({ pattern: '^\\d{1,10}$', description: 'An id: digits.' });
const language = Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' }));
const closed = { additionalProperties: false };

const groupQuery = Type.Object({ weeks: weeksSpan, language }, closed);
const heatQuery = Type.Object(
  {
    week: Type.Optional(weekText),
    /** Whether to include KPIs that were not asked in this week, with their last values. */
    latest: Type.Optional(Type.Enum(['true', 'false'], { description: 'true or false.' })),
    language,
  },
  closed,
);
/** The file contains the rows that the page's filters select, in the page's order. */
const heatFileQuery = Type.Object(
  {
    ...heatQuery.properties,
    level: Type.Optional(Type.String({ pattern: '^[1-9]\\d?$', description: 'A level, 1 at the top.' })),
    subtreeOf: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,9}$', description: 'The id of a group.' })),
    by: Type.Optional(Type.Enum(['score', 'difference'], { description: 'score or difference.' })),
    sort: Type.Optional(
      Type.String({
        pattern: '^-?(tree|name|people|rate|kpi:\\d{1,3})$',
        description:
          'tree, name, people, rate, or kpi: followed by its index. A leading minus sorts in descending order.',
      }),
    ),
  },
  closed,
);
const trendQuery = Type.Object(
  {
    groupIds: Type.String({
      pattern: '^\\d{1,10}(,\\d{1,10}){0,5}$',
      description: 'One to six ids of groups, separated by commas.',
    }),
    kpiId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'If omitted: the response rate.' }),
    ),
    weeks: weeksSpan,
    language,
  },
  closed,
);
const questionQuery = Type.Object({ week: Type.Optional(weekText), weeks: weeksSpan, language }, closed);
const commentFilters = {
  groupId: id,
  questionId: Type.Optional(id),
  week: Type.Optional(weekText),
  search: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the text, ignoring case.' })),
  language,
};

export const resultsOperations = {
  'GET /results': operation<ResultsStart>()({
    minimumRole: 'Manager',
    query: Type.Object({ language }, closed),
  }),
  'GET /results/groups/{groupId}': operation<GroupResults>()({ minimumRole: 'Manager', query: groupQuery }),
  /** KPIs and response rate of a group by week, as CSV. */
  'GET /results/groups/{groupId}/csv': operation()({ minimumRole: 'Manager', query: groupQuery }),
  'GET /results/heat-map': operation<HeatMap>()({ minimumRole: 'Manager', query: heatQuery }),
  'GET /results/heat-map/csv': operation()({ minimumRole: 'Manager', query: heatFileQuery }),
  /** A KPI, or the response rate, of several groups by week. */
  'GET /results/trends': operation<Trend>()({ minimumRole: 'Manager', query: trendQuery }),
  'GET /results/trends/csv': operation()({ minimumRole: 'Manager', query: trendQuery }),
  /** Returns the questions that have results in a group, sorted by text. */
  'GET /results/groups/{groupId}/questions': operation<ResultQuestion[]>()({
    minimumRole: 'Manager',
    query: Type.Object({ language }, closed),
  }),
  'GET /results/groups/{groupId}/questions/{questionId}': operation<QuestionResults>()({
    minimumRole: 'Manager',
    query: questionQuery,
  }),
  'GET /results/groups/{groupId}/questions/{questionId}/csv': operation()({
    minimumRole: 'Manager',
    query: questionQuery,
  }),
  /** Returns the comments shown for a group, newest week first, in random order within a week. */
  'GET /results/comments': operation<{ total: number; rows: ResultComment[] }>()({
    minimumRole: 'Manager',
    query: Type.Object(
      {
        ...commentFilters,
        offset: Type.Optional(Type.String({ pattern: '^\\d{1,7}$', description: 'How many to skip.' })),
        limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$', description: 'How many; at most 500.' })),
      },
      closed,
    ),
  }),
  'GET /results/comments/csv': operation()({
    minimumRole: 'Manager',
    query: Type.Object(commentFilters, closed),
  }),
};
