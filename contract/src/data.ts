// Interface A, the read-only data interface (§2.1, §4.1).
import { Type, type Static, type TSchema } from 'typebox';
import type { Operation } from './operation.ts';

export const NoParameters = Type.Object({}, { additionalProperties: false });

export const Group = Type.Object(
  {
    id: Type.Integer({ description: 'The id of the group, unique in the whole service and never reused.' }),
    externalId: Type.Optional(
      Type.String({ description: "The customer's own id of the group; left out where there is none." }),
    ),
    name: Type.String({ description: 'The name of the group.' }),
    description: Type.Optional(Type.String({ description: 'Left out where there is none.' })),
    subgroups: Type.Array(Type.Integer(), {
      description:
        'The ids of all groups beneath this one, at any depth, ascending: exactly those that ' +
        'includeSubgroups=true adds. Empty for a group with none beneath it.',
    }),
  },
  { title: 'Group' },
);
export type Group = Static<typeof Group>;

export const getGroups = {
  interface: 'data',
  method: 'GET',
  path: '/v1/groups',
  operationId: 'getGroups',
  summary: 'List the groups',
  description: 'All currently active groups of the account, ordered by id.',
  scope: 'data',
  query: NoParameters,
  response: Type.Array(Group),
  errors: {
    400: 'A query parameter that this operation does not have.',
    401: 'The token is missing, unknown, expired or revoked.',
    403: 'The token lacks the scope `data`.',
    429: 'Too many requests of this token: try again after `Retry-After` seconds.',
    503: 'Starting, stopping, or without a database: try again after `Retry-After` seconds.',
  },
} satisfies Operation;

/** Written as true or false, and nothing else (decision 6). */
const flag = (description: string) =>
  Type.Optional(
    Type.Enum(['true', 'false'], { description: `${description} Either true or false; default false.` }),
  );

const day = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: `${description} A day, as YYYY-MM-DD.` }),
  );

const scopeParameters = {
  groupId: Type.String({ minLength: 1, description: 'The id of a group of the account.' }),
  includeSubgroups: flag('Whether all groups beneath the group are covered too.'),
};
const rangeParameters = {
  fromDate: day(
    'The first day of the range; goes with toDate. Every week that has a day in the range is covered.',
  ),
  toDate: day('The last day of the range; goes with fromDate.'),
};
const language = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z]{2}$',
    description:
      'Two letters (ISO 639-1). Questions that are defined in that language are returned in it, others in their own.',
  }),
);
const closed = { additionalProperties: false };

export const Kpi = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    imageURL: Type.Optional(Type.String({ description: 'Left out where there is none.' })),
  },
  { title: 'Kpi' },
);
export type Kpi = Static<typeof Kpi>;

export const Value = Type.Object(
  {
    groupId: Type.Integer(),
    value: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'Null where it is withheld, for example with too few answers.',
    }),
    yearWeek: Type.String({ pattern: '^\\d{6}$', description: 'The ISO week, GGGGWW.' }),
    date: Type.String({ format: 'date', description: 'The Monday of that week.' }),
  },
  {
    title: 'Value',
    description:
      'For a token with quoted numbers in the form of the original service: ' +
      '{"groupId": "3939", "value": "0.89", "yearWeek": "201815", "date": "2018-04-09 00:00:00"}; a withheld value is null.',
  },
);
export type Value = Static<typeof Value>;

export const KpiValues = Type.Object({ kpi: Kpi, values: Type.Array(Value) }, { title: 'KpiValues' });
export type KpiValues = Static<typeof KpiValues>;

export const ResponseRateValues = Type.Object({ values: Type.Array(Value) }, { title: 'ResponseRateValues' });
export type ResponseRateValues = Static<typeof ResponseRateValues>;

export const Question = Type.Object(
  {
    id: Type.Integer({ description: 'Given once and never reused.' }),
    question: Type.String({ description: 'Its text.' }),
    type: Type.Integer({
      minimum: 1,
      maximum: 7,
      description:
        '1: scale 1–5; 2: scale 1–10; 3: recommendation 0–10; 4: yes/no; 5: single choice; 6: multiple choice; ' +
        '7: free text.',
    }),
  },
  { title: 'Question' },
);
export type Question = Static<typeof Question>;

const countsOf = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description });

export const AnswerData = Type.Object(
  {
    value: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description:
        'Types 1–4: the mean of the answers, scaled to 0…1. Null for other types, and where it is withheld.',
    }),
    answers: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: 'How many answers it rests on. Null where it is withheld.',
    }),
    distribution: Type.Optional(
      countsOf(
        'How often each answer was given: by scale value, yes and no, or option id. Left out where it is withheld. It ' +
          'can rest on fewer answers than the value: those are left out that would tell of too few people.',
      ),
    ),
    enps: Type.Optional(
      Type.Number({
        minimum: -100,
        maximum: 100,
        description: 'Type 3: promoters (9, 10) minus detractors (0–6), in percent of the answers.',
      }),
    ),
    options: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Types 5 and 6: option id to text.' }),
    ),
    individual: Type.Optional(
      Type.Array(Type.Integer(), {
        description:
          'With granularData, types 1–4: the single answers on their own scale (yes 1, no 0), ascending.',
      }),
    ),
  },
  { title: 'AnswerData' },
);
export type AnswerData = Static<typeof AnswerData>;

const byWeek = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), leaf, { description: 'By ISO week, YYWW.' });
const byGroup = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), byWeek(leaf), { description: 'By group id.' });
const byQuestion = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), byGroup(leaf), { description: 'By question id.' });

export const ResultsValues = Type.Object(
  {
    questions: Type.Array(Question),
    values: Type.Array(byQuestion(AnswerData), { description: 'One map with all questions.' }),
    comments: Type.Optional(
      Type.Array(byQuestion(Type.Array(Type.String())), {
        description: "With includeComments. A group's comments include those of the groups beneath it.",
      }),
    ),
  },
  { title: 'ResultsValues' },
);
export type ResultsValues = Static<typeof ResultsValues>;

export const AskedQuestionsValues = Type.Object(
  {
    questions: Type.Array(Question),
    askedquestions: Type.Array(byGroup(Type.Array(Type.Integer())), {
      description: 'One map: the ids of the questions asked of a group in a week.',
    }),
  },
  { title: 'AskedQuestionsValues' },
);
export type AskedQuestionsValues = Static<typeof AskedQuestionsValues>;

const errors = {
  ...getGroups.errors,
  400: 'A query parameter that is missing, unknown, repeated or not as it should be, or half a range.',
  404: 'No such group in the account.',
};

export const getKpis = {
  interface: 'data',
  method: 'GET',
  path: '/v1/kpis',
  operationId: 'getKpis',
  summary: 'List the KPIs',
  description: 'KPIs for which a value was ever created in the account.',
  scope: 'data',
  query: NoParameters,
  response: Type.Array(Kpi),
  errors: getGroups.errors,
} satisfies Operation;

export const getKpiValues = {
  interface: 'data',
  method: 'GET',
  path: '/v1/kpis/{kpiId}/values',
  operationId: 'getKpiValues',
  summary: 'Values of a KPI',
  description:
    'Of the group, or of it and all beneath it: the values of a range, or the latest of each group. A group that was ' +
    'asked and whose value is withheld has the value null; one that was never asked has none.',
  scope: 'data',
  params: Type.Object({ kpiId: Type.String({ description: 'The id of a KPI.' }) }),
  query: Type.Object({ ...scopeParameters, ...rangeParameters }, closed),
  response: KpiValues,
  errors: { ...errors, 404: 'No such KPI or group in the account.' },
} satisfies Operation;

export const getResponseRates = {
  interface: 'data',
  method: 'GET',
  path: '/v1/responserates/values',
  operationId: 'getResponseRates',
  summary: 'Response rates',
  description:
    'Answers given or actively skipped, by questions asked, in the rounds that asked everyone in the group: of a range, ' +
    'or the latest of each group. An array of one object.',
  scope: 'data',
  query: Type.Object({ ...scopeParameters, ...rangeParameters }, closed),
  response: Type.Array(ResponseRateValues),
  errors,
} satisfies Operation;

export const getResults = {
  interface: 'data',
  method: 'GET',
  path: '/v1/results',
  operationId: 'getResults',
  summary: 'Results of questions',
  description:
    'By question, group and week: of a range, or of the current week and the four before it. An array of one object.',
  scope: 'data',
  query: Type.Object(
    {
      ...scopeParameters,
      includeComments: flag('Whether comments are added.'),
      granularData: flag(
        'Whether the single answers are added, where the type and the number of answers allow.',
      ),
      questionIds: Type.Optional(
        Type.String({
          pattern: '^\\s*\\d+\\s*(,\\s*\\d+\\s*)*$',
          description:
            'Of these questions only: ids separated by commas. One that was not asked adds nothing.',
        }),
      ),
      ...rangeParameters,
      language,
    },
    closed,
  ),
  response: Type.Array(ResultsValues),
  errors,
} satisfies Operation;

export const getAskedQuestions = {
  interface: 'data',
  method: 'GET',
  path: '/v1/askedquestions',
  operationId: 'getAskedQuestions',
  summary: 'Which questions were asked',
  description:
    'By group and week, open weeks included: of a range, or of the current week and the four before it. A question is ' +
    'asked of a group when it is asked of it or of a group above it. An array of one object.',
  scope: 'data',
  query: Type.Object({ ...scopeParameters, ...rangeParameters, language }, closed),
  response: Type.Array(AskedQuestionsValues),
  errors,
} satisfies Operation;

/** What the feed has rows of, in the order in which they come. */
export const feedMetrics = ['kpi', 'responserate', 'question'] as const;
export type FeedMetric = (typeof feedMetrics)[number];

export const FeedRow = Type.Object(
  {
    metric: Type.Enum([...feedMetrics]),
    metricId: Type.String({ description: 'The id of the KPI or question; empty for the response rate.' }),
    metricName: Type.String(),
    groupId: Type.Integer(),
    groupExternalId: Type.Optional(Type.String()),
    groupName: Type.String(),
    week: Type.String({ description: 'The ISO week, such as 2026-W47.' }),
    monday: Type.String({ format: 'date' }),
    value: Type.Union([Type.Number(), Type.Null()]),
    answers: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Of questions: how many the figure rests on.',
    }),
    status: Type.Enum(['shown', 'withheld', 'open'], {
      description: 'withheld: too few people; open: the week has not closed yet.',
    }),
    handedOut: Type.Boolean({
      description:
        'Whether a figure is shown that rests partly on links or cards handed out by the employer: fewer people than ' +
        'the threshold answered through a link that was sent to them. Of a KPI: whether one of its questions does.',
    }),
  },
  { title: 'FeedRow' },
);
export type FeedRow = Static<typeof FeedRow>;

const oneMetric = `(${feedMetrics.join('|')})`;

export const getFeed = {
  interface: 'data',
  method: 'GET',
  path: '/v1/feed',
  operationId: 'getFeed',
  summary: 'A flat feed for BI tools',
  description:
    'Beside the description: one row for each group, week and metric, as CSV or NDJSON, made while it is read. By ' +
    'metric, then KPI or question, group and week.',
  scope: 'data',
  query: Type.Object(
    {
      metric: Type.Optional(
        Type.String({
          pattern: `^${oneMetric}(,${oneMetric})*$`,
          description: `Of these metrics only: ${feedMetrics.join(', ')}, separated by commas. Default: all.`,
        }),
      ),
      groupId: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'Of this group and all beneath it. Default: all groups.',
        }),
      ),
      fromDate: day('The first day of the range; goes with toDate. Default: all weeks.'),
      toDate: rangeParameters.toDate,
      format: Type.Optional(Type.Enum(['csv', 'ndjson'], { description: 'csv or ndjson. Default: csv.' })),
      language,
    },
    closed,
  ),
  response: FeedRow,
  contentTypes: ['text/csv', 'application/x-ndjson'],
  errors,
} satisfies Operation;

export const dataOperations: Operation[] = [
  getGroups,
  getKpis,
  getKpiValues,
  getResponseRates,
  getResults,
  getAskedQuestions,
  getFeed,
];
