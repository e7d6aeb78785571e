// The read-only data interface (§2.1, §4.1).
import { Type, type Static, type TSchema } from 'typebox';
import { AnswerData } from './answer-data.ts';
import { feedMetrics, FeedRow } from './feed-rows.ts';
import type { Operation } from './operation.ts';
import {
  agreementScale,
  fourStepScale,
  freeText,
  multipleChoice,
  type QuestionType,
  recommendation,
  singleChoice,
  tenStepScale,
  typeNumbers,
  yesNo,
} from './question-types.ts';

export const NoParameters = Type.Object({}, { additionalProperties: false });

/** What figures can be of: a group, or a segment (docs/administrators/segments.md). */
export const kinds = ['group', 'segment'] as const;
export type Kind = (typeof kinds)[number];

/** A parameter that selects groups or segments. */
const kindOf = (description: string) =>
  Type.Optional(Type.Enum([...kinds], { description: `${description} group or segment.` }));

export const Group = Type.Object(
  {
    id: Type.Integer({ description: 'The ID of the group: unique in the whole service and never reused.' }),
    externalId: Type.Optional(
      Type.String({ description: "The customer's own ID of the group. Omitted if the group has none." }),
    ),
    name: Type.String({ description: 'The name of the group.' }),
    description: Type.Optional(Type.String({ description: 'Omitted if there is none.' })),
    subgroups: Type.Array(Type.Integer(), {
      description:
        'The IDs of all subgroups at any depth, in ascending order. These are exactly the groups that ' +
        'includeSubgroups=true adds. Empty if the group has no subgroups.',
    }),
    kind: Type.Optional(
      Type.Literal('segment', {
        description: 'Only segments have this field. Not part of the original interface description.',
      }),
    ),
    breakdown: Type.Optional(
      Type.String({
        description:
          'Only for segments: the name of the breakdown, such as Site. Not part of the original interface description.',
      }),
    ),
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
  description:
    "Returns all active groups of the account, ordered by ID. With kind=segment, returns the account's segments instead: attribute " +
    "values. Read a segment's figures by its ID, like a group's.",
  scope: 'data',
  query: Type.Object({ kind: kindOf('What to list. Default: group.') }, { additionalProperties: false }),
  response: Type.Array(Group),
  errors: {
    400: 'A query parameter is unknown, repeated or invalid.',
    401: 'The token is missing, unknown, expired or revoked.',
    403: 'The token lacks the `data` scope.',
    429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
    503: 'The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds.',
  },
} satisfies Operation;

/** A boolean parameter. Only the texts true and false are accepted (decision E6). */
const flag = (description: string) =>
  Type.Optional(
    Type.Enum(['true', 'false'], { description: `${description} true or false. Default: false.` }),
  );

const day = (description: string) =>
  Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: `${description} Format: YYYY-MM-DD.` }),
  );

const scopeParameters = {
  groupId: Type.String({ minLength: 1, description: 'The ID of a group of the account.' }),
  includeSubgroups: flag('Whether to include all subgroups.'),
};
/** The parameters of operations that return figures, which segments have as well as groups. */
const figureParameters = {
  groupId: Type.String({ minLength: 1, description: 'The ID of a group or segment of the account.' }),
  includeSubgroups: scopeParameters.includeSubgroups,
  kind: kindOf('Whether groupId must be the ID of a group or of a segment. Default: either.'),
};
const rangeParameters = {
  fromDate: day(
    'The first day of the range, used together with toDate. Every week with a day in the range is included.',
  ),
  toDate: day('The last day of the range, used together with fromDate.'),
};
const language = Type.Optional(
  Type.String({
    pattern: '^[A-Za-z]{2}$',
    description:
      'A language code of two letters (ISO 639-1). Questions without a translation are returned in their own language.',
  }),
);
const closed = { additionalProperties: false };

export const Kpi = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    imageURL: Type.Optional(Type.String({ description: 'Omitted if there is none.' })),
  },
  { title: 'Kpi' },
);
export type Kpi = Static<typeof Kpi>;

export const Value = Type.Object(
  {
    groupId: Type.Integer(),
    value: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'Null if it is withheld, for example because there are too few answers.',
    }),
    yearWeek: Type.String({ pattern: '^\\d{6}$', description: 'The ISO week, GGGGWW.' }),
    date: Type.String({ format: 'date', description: 'The Monday of that week.' }),
  },
  {
    title: 'Value',
    description:
      'For a token with quoted numbers, values have the form of the original service: ' +
      '{"groupId": "3939", "value": "0.89", "yearWeek": "201815", "date": "2018-04-09 00:00:00"}; a withheld value is null.',
  },
);
export type Value = Static<typeof Value>;

export const KpiValues = Type.Object({ kpi: Kpi, values: Type.Array(Value) }, { title: 'KpiValues' });
export type KpiValues = Static<typeof KpiValues>;

export const ResponseRateValues = Type.Object({ values: Type.Array(Value) }, { title: 'ResponseRateValues' });
export type ResponseRateValues = Static<typeof ResponseRateValues>;

const typeNames: Record<QuestionType, string> = {
  [agreementScale]: 'scale 1–5',
  [tenStepScale]: 'scale 1–10',
  [recommendation]: 'recommendation 0–10',
  [yesNo]: 'yes/no',
  [singleChoice]: 'single choice',
  [multipleChoice]: 'multiple choice',
  [freeText]: 'free text',
  [fourStepScale]: 'scale 1–4',
};

export const Question = Type.Object(
  {
    id: Type.Integer({ description: 'Never reused.' }),
    question: Type.String({ description: 'The text of the question.' }),
    type: Type.Integer({
      ...typeNumbers,
      description: `${Object.entries(typeNames)
        .map(([type, name]) => `${type}: ${name}`)
        .join('; ')}.`,
    }),
  },
  { title: 'Question' },
);
export type Question = Static<typeof Question>;

const byWeek = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), leaf, { description: 'By ISO week, YYWW.' });
const byGroup = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), byWeek(leaf), { description: 'By group ID.' });
const byQuestion = <T extends TSchema>(leaf: T) =>
  Type.Record(Type.String(), byGroup(leaf), { description: 'By question ID.' });

export const ResultsValues = Type.Object(
  {
    questions: Type.Array(Question),
    values: Type.Array(byQuestion(AnswerData), { description: 'A single map with all questions.' }),
    comments: Type.Optional(
      Type.Array(byQuestion(Type.Array(Type.String())), {
        description: "With includeComments. A group's comments include those of its subgroups.",
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
      description: 'A single map: the IDs of the questions asked of each group in each week.',
    }),
  },
  { title: 'AskedQuestionsValues' },
);
export type AskedQuestionsValues = Static<typeof AskedQuestionsValues>;

const errors = {
  ...getGroups.errors,
  400: 'A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given.',
  404: 'The account has no group with this ID.',
};

export const getKpis = {
  interface: 'data',
  method: 'GET',
  path: '/v1/kpis',
  operationId: 'getKpis',
  summary: 'List the KPIs',
  description: 'Returns the KPIs that have ever had a value in the account.',
  scope: 'data',
  query: NoParameters,
  response: Type.Array(Kpi),
  errors: { ...getGroups.errors, 400: 'An unknown query parameter.' },
} satisfies Operation;

export const getKpiValues = {
  interface: 'data',
  method: 'GET',
  path: '/v1/kpis/{kpiId}/values',
  operationId: 'getKpiValues',
  summary: 'Values of a KPI',
  description:
    'Returns the values of a group, and of its subgroups if requested: all in a date range, or the latest of each ' +
    'group. If a group was asked but its value is withheld, the value is null. A group that was never asked has no value.',
  scope: 'data',
  params: Type.Object({ kpiId: Type.String({ description: 'The ID of a KPI.' }) }),
  query: Type.Object({ ...figureParameters, ...rangeParameters }, closed),
  response: KpiValues,
  errors: { ...errors, 404: 'The account has no KPI or group with this ID.' },
} satisfies Operation;

export const getResponseRates = {
  interface: 'data',
  method: 'GET',
  path: '/v1/responserates/values',
  operationId: 'getResponseRates',
  summary: 'Response rates',
  description:
    'Returns the share of questions that were answered or actively skipped, in rounds that asked everyone in the group: ' +
    'all in a date range, or the latest of each group. The response is an array with one object.',
  scope: 'data',
  query: Type.Object({ ...figureParameters, ...rangeParameters }, closed),
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
    'Returns results by question, group and week: in a date range, or for the current week and the four before it. The ' +
    'response is an array with one object.',
  scope: 'data',
  query: Type.Object(
    {
      ...figureParameters,
      includeComments: flag('Whether to add comments.'),
      granularData: flag(
        'Whether to add individual answers, where the question type and the number of answers allow it.',
      ),
      questionIds: Type.Optional(
        Type.String({
          pattern: '^\\s*\\d+\\s*(,\\s*\\d+\\s*)*$',
          description:
            'Only these questions: IDs separated by commas. Questions that were not asked are ignored.',
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
    'Returns the questions asked by group and week, including open weeks: in a date range, or for the current week and the ' +
    'four before it. A question asked of a group is also asked of its subgroups. The response is an array with one object.',
  scope: 'data',
  query: Type.Object({ ...scopeParameters, ...rangeParameters, language }, closed),
  response: Type.Array(AskedQuestionsValues),
  errors,
} satisfies Operation;

const oneMetric = `(${feedMetrics.join('|')})`;

export const getFeed = {
  interface: 'data',
  method: 'GET',
  path: '/v1/feed',
  operationId: 'getFeed',
  summary: 'A flat feed for BI tools',
  description:
    'Returns one row for each group, week and metric, streamed as CSV or NDJSON. Rows are ordered by metric, then KPI or ' +
    'question, group and week. This operation is not part of the original interface description.',
  scope: 'data',
  query: Type.Object(
    {
      metric: Type.Optional(
        Type.String({
          pattern: `^${oneMetric}(,${oneMetric})*$`,
          description: `Only these metrics, separated by commas: ${feedMetrics.join(', ')}. Default: all.`,
        }),
      ),
      groupId: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'Only this group and its subgroups, or only this segment. Default: all groups.',
        }),
      ),
      kind: kindOf(
        'Whether to return rows for groups or for segments. Rows for segments have one more column. Default: group.',
      ),
      fromDate: day('The first day of the range, used together with toDate. Default: all weeks.'),
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
