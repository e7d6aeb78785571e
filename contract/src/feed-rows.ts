// The rows of the feed of the data interface (GET /v1/feed).
import { Type, type Static } from 'typebox';

/** The metrics of the feed, in the order of its rows. */
export const feedMetrics = ['kpi', 'responserate', 'question'] as const;
export type FeedMetric = (typeof feedMetrics)[number];

export const FeedRow = Type.Object(
  {
    metric: Type.Enum([...feedMetrics]),
    metricId: Type.String({ description: 'The ID of the KPI or question. Empty for the response rate.' }),
    metricName: Type.String(),
    groupId: Type.Integer(),
    groupExternalId: Type.Optional(Type.String()),
    groupName: Type.String(),
    week: Type.String({ description: 'The ISO week, such as 2026-W47.' }),
    monday: Type.String({ format: 'date' }),
    value: Type.Union([Type.Number(), Type.Null()]),
    answers: Type.Union([Type.Integer(), Type.Null()], {
      description: 'For questions: the number of answers behind the figure.',
    }),
    status: Type.Enum(['shown', 'withheld', 'open'], {
      description: 'shown; withheld: too few people; open: the week has not closed yet.',
    }),
    handedOut: Type.Boolean({
      description:
        'Whether the figure is based partly on links or cards that the employer handed out, because fewer people than ' +
        'the threshold answered through a link sent to them. For a KPI: whether this is true of one of its questions.',
    }),
    rolling: Type.Union([Type.Number(), Type.Null()], {
      description:
        'For KPIs: the mean of the latest published figures of its questions in a window of weeks. Use it to compare weeks.',
    }),
    standardError: Type.Union([Type.Number(), Type.Null()], {
      description: 'The standard error of `rolling`, or of the value of a question. Null: not known.',
    }),
    change: Type.Union([Type.Number(), Type.Null()], {
      description: 'The change since the same questions were asked before. Null: nothing can be compared.',
    }),
    isClear: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether the change is clear: larger than usual changes in groups where nothing happens. Null: there is no change, ' +
        'or the statistics of the week are not computed yet.',
    }),
    changeHandedOut: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether `handedOut` is true for one of the figures behind the change, in this week or the earlier one. ' +
        'Null: there is no change.',
    }),
    asked: Type.Union([Type.Integer(), Type.Null()], {
      description: 'For response rates: how many people were asked anything. Null: withheld, or not stored.',
    }),
    answered: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'For response rates: how many of these people answered or skipped anything. The console shows `answered` ÷ `asked`; ' +
        '`value` counts the questions.',
    }),
    notApplicable: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'For questions: how many people answered “not applicable”. Their answers are in no other figure of the row. Null: ' +
        'withheld, or people could not choose it.',
    }),
    notApplicableOf: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Of how many people who answered, with or without a value. Null like `notApplicable`. It can differ from `answers` + ' +
        '`notApplicable`, because both leave out answers that would reveal too few people.',
    }),
    breakdown: Type.Optional(
      Type.String({
        description: 'Only with kind=segment: the name of the breakdown, such as Site.',
      }),
    ),
  },
  { title: 'FeedRow' },
);
export type FeedRow = Static<typeof FeedRow>;
