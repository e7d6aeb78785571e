// The console: results. The figures are read from the same rows as those of the data interface, and nothing is shown that the
// data interface withholds.
import { Type } from 'typebox';
import { type Comparison, comparisons } from '../../comparisons.ts';
import type { QuestionType } from '../../question-types.ts';
import { operation } from '../operation.ts';

/**
 * A week: its Monday, and its ISO year and number. `final`: its figures are published and won't change; `live`: the current figures
 * are shown while the week is open; `open`: the week is open and shows nothing yet; `none`: nothing was asked.
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
/** The name is in the requested language if the KPI has a name in that language. */
export type ResultKpi = { id: string; name: string };

/**
 * `value`: 0 to 1; null: withheld. A week in which the question or KPI was not asked has no figure. `handedOut`: whether the figure
 * is partly based on links or cards that the employer handed out (P14).
 */
export type Figure = { week: string; value: number | null; handedOut: boolean };
/** How many people were asked, and answered or skipped anything. Null: withheld or not stored; `value` is then the API's. */
export type RateFigure = Figure & { asked: number | null; answered: number | null };

/** Whether a change or difference is clear (docs/administrators/statistics.md), and its direction; `unclear`: no clear change. */
export type Verdict = 'up' | 'down' | 'unclear';
/**
 * A change since an earlier week, over the `questions` that have a figure in both. `by`: -1 to 1. `since`: the earlier week; for a KPI,
 * the latest of its questions' earlier weeks. `firstSince`: the earliest of them, if `by` is not the difference from the KPI's value in
 * the week `since`. `handedOut`: whether one of the figures, now or earlier, is partly based on links or cards that were handed out.
 */
export type FigureChange = {
  by: number;
  since: string;
  firstSince?: string;
  questions: number;
  verdict: Verdict;
  handedOut: boolean;
};

/**
 * The difference from the comparison, over the questions with figures in both. `value`: the comparison's own figure. `handedOut`:
 * whether one of the figures, here or in the comparison, is partly based on links or cards that the employer handed out.
 */
export type Difference = { value: number; by: number; verdict: Verdict; handedOut: boolean };

/** A small group's figure, moved towards that of its parent group. `weight`: how much the group's own figure counts, 0 to 1. */
export type BestEstimate = { value: number; margin: number; weight: number };

/**
 * The rolling value of a KPI in a week: the mean of the latest shown figure of each of its questions in the weeks of the window.
 * `questions`: their number; `firstWeek` and `lastWeek`: the weeks of their figures. `margin`: half the width of the 95% interval;
 * null: not known. `change`: the change since the same questions were last asked; null: nothing can be compared.
 */
export type RollingFigure = Figure & {
  questions: number;
  firstWeek: string;
  lastWeek: string;
  margin: number | null;
  change: FigureChange | null;
};

/** The direct subgroups in which a KPI clearly changed too, clearest first. `mostIn`: the one where it changed clearly the most. */
export type KpiPlaces = { clearIn: ResultGroup[]; mostIn: ResultGroup | null };
/** What stands first on an overview: clear changes, and the response. `kpis`: all other KPIs that clearly changed. */
export type Finding =
  | ({ kind: 'kpi'; kpi: ResultKpi; change: FigureChange } & KpiPlaces)
  | { kind: 'kpis'; rose: ResultKpi[]; fell: ResultKpi[]; handedOut: boolean }
  | { kind: 'difference'; kpi: ResultKpi; difference: Difference }
  | { kind: 'question'; question: { id: number; text: string }; week: string; change: FigureChange }
  | { kind: 'response'; week: string; answered: number; asked: number };

/**
 * What the overview, heat map and question pages compare with. `group`: the company or parent; null for other kinds. `available`: the
 * comparisons that the caller may choose here.
 */
export type ChosenComparison = { kind: Comparison; group: ResultGroup | null; available: Comparison[] };

/** A question with the labels of its scale: for all values, or for both ends. Yes is 1 and no is 0. */
export type ResultQuestion = {
  id: number;
  type: QuestionType;
  text: string;
  scale: { value: number; text: string }[];
  options: { id: string; text: string }[];
};

/** The figures of a question in a week. Unless stated otherwise, null means withheld. */
export type QuestionFigures = {
  week: string;
  /** For questions with a scale: the mean, 0 to 1. */
  value: number | null;
  answers: number | null;
  /** How often each value of the scale (or yes and no), or each option, was chosen, in the order of the scale or the options. */
  distribution: { key: string; count: number }[] | null;
  /** How many people chose "not applicable", and of how many who answered; null: withheld, or no one could. */
  notApplicable: { count: number; of: number } | null;
  /** For recommendation questions: the eNPS, -100 to 100. */
  enps: number | null;
  /** Whether the figures are partly based on links or cards that the employer handed out. */
  handedOut: boolean;
  /** Half the width of the 95% interval of `value`; null: not known. */
  margin: number | null;
  /** The change since the group's figure for the question was last shown; null: nothing to compare. */
  change: FigureChange | null;
  /** The difference from the comparison; null: nothing to compare. */
  difference: Difference | null;
  bestEstimate: BestEstimate | null;
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
  /** The group to start with: the top group, or else the first group that the caller can see; null: there is none. */
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
  comparison: ChosenComparison;
  findings: Finding[];
  kpis: (ResultKpi & {
    /** Each week's own value. */
    values: Figure[];
    /** The rolling values, for the weeks of the span that have one. */
    rolling: RollingFigure[];
    /** The difference of the last rolling value from the comparison; null: nothing to compare. */
    difference: Difference | null;
    bestEstimate: BestEstimate | null;
  })[];
  rates: RateFigure[];
  /** The results of the last week that asked this group anything. */
  last: {
    week: ResultWeek;
    questions: (ResultQuestion & QuestionFigures)[];
  } | null;
  /** The newest comments, how many there are in the span, and how many in the week of `last`. */
  comments: { total: number; ofLastWeek: number; newest: ResultComment[] };
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
  /** How many people were asked and answered; missing: not known. */
  asked?: number;
  answered?: number;
  /** One rolling value per KPI of the map. Null: withheld; 'none': not asked in the window. */
  values: (number | null | 'none')[];
  /** For each KPI, the change since its questions were last asked, if it is clear: -1 to 1; null: no change, or not a clear one. */
  changes: (number | null)[];
  /** For each KPI, the difference from the comparison; null: nothing to compare. */
  differences: (number | null)[];
  /** The indices of the KPIs whose difference is clear. */
  clear: number[];
  /** Which figures are partly based on links or cards that the employer handed out: the rate, or KPIs by index. */
  handedOut: ('rate' | number)[];
  /** The KPIs, by index, whose clear change or difference compares two figures of which one is partly based on such links. */
  changesHandedOut: number[];
  differencesHandedOut: number[];
};

export type HeatMap = {
  /** The week shown; null: nothing was ever published. */
  week: ResultWeek | null;
  /** The first week of the window of the rolling values. */
  firstWeek: ResultWeek | null;
  kpis: ResultKpi[];
  /** The rows, if `isWhole`. If there are more than `maxWholeTree`, only those on the highest levels. */
  rows: HeatRow[];
  isWhole: boolean;
  /** How many groups the map has. */
  count: number;
  /** The names of the first groups on each level, from the top. */
  levels: string[][];
  comparison: ChosenComparison;
  /** The top group, if the caller can see it. */
  companyId: number | null;
};

export type Trend = {
  /** Null: the response rate. */
  kpi: ResultKpi | null;
  weeks: ResultWeek[];
  /** `values`: each week's own value (response rate: with numbers of people). `rolling`: empty for the response rate. */
  series: TrendSeries[];
};
type TrendValue = Figure & Partial<RateFigure>;
type TrendSeries = {
  group: ResultGroup & { people: number };
  values: TrendValue[];
  rolling: RollingFigure[];
};

export type QuestionResults = {
  question: ResultQuestion;
  group: ResultGroup & { people: number };
  company: ResultGroup | null;
  /** Every week of the span, oldest first. */
  weeks: ResultWeek[];
  /** The week whose distribution is shown: the requested one, or else the last that asked the question; null: never asked here. */
  chosen: ResultWeek | null;
  /** One entry for each week in which the question was asked. */
  figures: QuestionFigures[];
  comparison: ChosenComparison;
  /** Comments of the chosen week, at most 100. */
  comments: ResultComment[];
};

const weekText = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A Monday, as YYYY-MM-DD.' });
const weeksSpan = Type.Optional(
  Type.Enum(['13', '26', '52', '104', '156'], { description: 'How many weeks: 13, 26, 52, 104 or 156.' }),
);
const language = Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' }));
const closed = { additionalProperties: false };

const compare = Type.Optional(
  Type.Enum([...comparisons], {
    description:
      'What to compare with: company, parent, halfYear or none. If omitted, or if the caller may not use it: the first of these that is available.',
  }),
);
const groupQuery = Type.Object({ weeks: weeksSpan, compare, language }, closed);
const heatQuery = Type.Object({ week: Type.Optional(weekText), compare, language }, closed);
/** The query of the CSV file, which contains the rows that the page's filters select, in the page's order. */
const heatFileQuery = Type.Object(
  {
    ...heatQuery.properties,
    level: Type.Optional(Type.String({ pattern: '^[1-9]\\d?$', description: 'A level, 1 at the top.' })),
    subtreeOf: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,9}$', description: 'The ID of a group.' })),
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
/** The rows of a window. */
const heatRowsQuery = Type.Object(
  {
    ...heatFileQuery.properties,
    offset: Type.String({ pattern: '^\\d{1,7}$', description: 'How many rows to skip.' }),
    limit: Type.String({ pattern: '^\\d{1,3}$', description: 'How many rows; at most 200.' }),
  },
  closed,
);
const trendQuery = Type.Object(
  {
    groupIds: Type.String({
      pattern: '^\\d{1,10}(,\\d{1,10}){0,5}$',
      description: 'One to six IDs of groups, separated by commas.',
    }),
    kpiId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'If omitted: the response rate.' }),
    ),
    weeks: weeksSpan,
    language,
  },
  closed,
);
const questionQuery = Type.Object(
  { week: Type.Optional(weekText), weeks: weeksSpan, compare, language },
  closed,
);

export const resultsOperations = {
  'GET /results': operation<ResultsStart>()({
    minimumRole: 'Manager',
    query: Type.Object({ language }, closed),
  }),
  'GET /results/groups/{groupId}': operation<GroupResults>()({ minimumRole: 'Manager', query: groupQuery }),
  /** Returns the KPIs and the response rate of a group by week, as CSV. */
  'GET /results/groups/{groupId}/csv': operation()({ minimumRole: 'Manager', query: groupQuery }),
  'GET /results/heat-map': operation<HeatMap>()({ minimumRole: 'Manager', query: heatQuery }),
  /** Returns a window of the rows that the page's filters select, in the page's order. */
  'GET /results/heat-map/rows': operation<{ total: number; rows: HeatRow[] }>()({
    minimumRole: 'Manager',
    query: heatRowsQuery,
  }),
  'GET /results/heat-map/csv': operation()({ minimumRole: 'Manager', query: heatFileQuery }),
  /** Returns a KPI, or the response rate, of several groups by week. */
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
};
