// The console: breakdowns and their segments (docs/administrators/segments.md), for administrators only. They are opened and closed here,
// and their results are read like those of groups, without comments, changes and comparisons.
import { Type } from 'typebox';
import { maxAttributeLength, maxNameLength } from '../../limits.ts';
import type { Named } from '../groups.ts';
import { operation } from '../operation.ts';
import type { HeatMap, QuestionFigures, ResultQuestion, ResultWeek, Trend } from './results.ts';

/** A breakdown: an attribute, in bands of years if it contains dates, or two other breakdowns together. */
export type BreakdownRow = Named & {
  attribute: string | null;
  /** Ascending limits in whole years; null: each value is a segment. */
  bands: number[] | null;
  crossOf: Named[] | null;
  openedAt: string;
  /** Null: open. */
  closedAt: string | null;
  /** How many segments it has had so far. They exist from the first week in which enough people were asked. */
  segments: number;
};

export type Breakdowns = {
  /** In the order in which they were opened. */
  breakdowns: BreakdownRow[];
  /** How many can be open at the same time, and what it takes for a value to become a segment. */
  most: number;
  threshold: number;
  /** Whether results are shown while a week is open. Such weeks have no segments. */
  isLive: boolean;
};

/** The heat map of a breakdown: its rows are segments, all on one level. */
export type SegmentMap = { breakdown: Named; map: HeatMap };

/** The trend of some segments of a breakdown, and all that can be chosen. `people` is 0 because it is not known. */
export type SegmentTrend = { breakdown: Named; segments: Named[]; trend: Trend };

/** The answers to a question in a week, by segment. */
export type SegmentAnswers = {
  breakdown: Named;
  question: ResultQuestion;
  /** The week shown; null: the question has no figures of segments of this breakdown. */
  week: ResultWeek | null;
  /** The weeks with figures, newest first. */
  weeks: ResultWeek[];
  rows: (Named & { figures: QuestionFigures })[];
};

/** What a breakdown would show if it were opened now. Shares are from 0 to 1; null if there is nothing to take a share of. */
export type SegmentSimulation = {
  /** Active people, and those with a value. */
  people: number;
  withValue: number;
  /** Values, and those of enough people to become segments. */
  values: number;
  segments: number;
  /** Segments of at least `largeFrom` people, and the share of their figures that would be shown. */
  large: number;
  largeFrom: number;
  largeShown: number | null;
  /** The share of the answers of people in segments that the shown figures would be based on. */
  answers: number | null;
  /** How many questions with a mean, and how many yes/no and choice questions, recent weeks asked. If both are 0, the result is for means. */
  asked: { withMean: number; distributions: number };
  /** How many answers yes/no and choice questions need. */
  distributionFrom: number;
};

const closed = { additionalProperties: false };
const language = Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' }));
const week = Type.Optional(
  Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A Monday, as YYYY-MM-DD.' }),
);
const id = Type.Integer({ minimum: 1 });

/** Either an attribute, with bands if it contains dates, or two open breakdowns. */
const division = {
  attribute: Type.Union([Type.String({ maxLength: maxAttributeLength }), Type.Null()]),
  bands: Type.Union([Type.Array(Type.Integer(), { maxItems: 100 }), Type.Null()]),
  crossOf: Type.Union([Type.Array(id, { minItems: 2, maxItems: 2 }), Type.Null()]),
};
const newBreakdown = Type.Object({ name: Type.String({ maxLength: maxNameLength }), ...division }, closed);
const mapQuery = Type.Object({ week, language }, closed);
const mapFileQuery = Type.Object(
  {
    week,
    language,
    sort: Type.Optional(
      Type.String({
        pattern: '^-?(tree|name|rate|kpi:\\d{1,3})$',
        description:
          'tree, name, rate, or kpi: followed by its index. A leading minus sorts in descending order.',
      }),
    ),
  },
  closed,
);
const trendQuery = Type.Object(
  {
    segmentIds: Type.Optional(
      Type.String({
        pattern: '^\\d{1,10}(,\\d{1,10}){0,5}$',
        description: 'One to six IDs of segments, separated by commas. Default: the first ones.',
      }),
    ),
    kpiId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'If omitted: the response rate.' }),
    ),
    weeks: Type.Optional(
      Type.Enum(['13', '26', '52', '104', '156'], { description: 'How many weeks: 13, 26, 52, 104 or 156.' }),
    ),
    language,
  },
  closed,
);

export const segmentsOperations = {
  'GET /breakdowns': operation<Breakdowns>()({ minimumRole: 'Administrator' }),
  /** Returns what a breakdown would show. Changes nothing. */
  'POST /breakdowns/simulation': operation<SegmentSimulation>()({
    minimumRole: 'Administrator',
    body: Type.Object(division, closed),
  }),
  /** Opens a breakdown for weeks that open from now on. */
  'POST /breakdowns': operation<{ id: number }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: newBreakdown,
  }),
  /** Closes a breakdown: weeks that open later have no segments of it. Its figures stay. */
  'POST /breakdowns/{breakdownId}/close': operation()({ minimumRole: 'Administrator', proof: true }),
  /** Removes a breakdown with its segments and their figures. */
  'DELETE /breakdowns/{breakdownId}': operation()({ minimumRole: 'Administrator', proof: true }),
  'GET /breakdowns/{breakdownId}/heat-map': operation<SegmentMap>()({
    minimumRole: 'Administrator',
    query: mapQuery,
  }),
  'GET /breakdowns/{breakdownId}/heat-map/csv': operation()({
    minimumRole: 'Administrator',
    query: mapFileQuery,
  }),
  'GET /breakdowns/{breakdownId}/trends': operation<SegmentTrend>()({
    minimumRole: 'Administrator',
    query: trendQuery,
  }),
  'GET /breakdowns/{breakdownId}/trends/csv': operation()({
    minimumRole: 'Administrator',
    query: trendQuery,
  }),
  'GET /breakdowns/{breakdownId}/questions/{questionId}': operation<SegmentAnswers>()({
    minimumRole: 'Administrator',
    query: mapQuery,
  }),
  'GET /breakdowns/{breakdownId}/questions/{questionId}/csv': operation()({
    minimumRole: 'Administrator',
    query: mapQuery,
  }),
};
