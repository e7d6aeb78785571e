// The data interface: groups, KPIs, response rates, results, comments, asked questions and the feed.
import type { components } from './api-types.ts';
import { type CallOptions, type Connection, parsed, reading } from './connection.ts';
import { repeatedLines } from './streams.ts';
import {
  type GroupFilter,
  type Nested,
  parametersOf,
  type Period,
  periodParameters,
  rowsOfNested,
  weekOfDigits,
} from './values.ts';

type Schemas = components['schemas'];
export type Group = Schemas['Group'];
export type Kpi = Schemas['Kpi'];
export type Question = Schemas['Question'];
export type Figures = Schemas['AnswerData'];
export type FeedRow = Schemas['FeedRow'];

/** A figure of a group in a week. `value`: 0 to 1, or null if it is withheld. `week`: such as 2026-W47. `monday`: YYYY-MM-DD. */
export type WeekValue = { groupId: number; week: string; monday: string; value: number | null };

/** The figures of a question in a group and week. */
export type Result = Figures & { questionId: number; groupId: number; week: string };
/** The comments on a question in a group, including those of its subgroups, and week. */
export type Comments = { questionId: number; groupId: number; week: string; comments: string[] };
/** The questions that a group was asked in a week. */
export type Asked = { groupId: number; week: string; questionIds: number[] };

export type QuestionFilter = GroupFilter & {
  /** The language of the questions, two letters, if they are translated. */
  language?: string;
};
export type ResultFilter = QuestionFilter & {
  /** Only these questions, by ID. */
  questions?: number[];
  /** Whether to add individual answers, where the question type and the number of answers allow it. */
  individual?: boolean;
};
export type FeedFilter = {
  /** Only these metrics. Default: all. */
  metrics?: FeedRow['metric'][];
  /** Only this group and its subgroups, or only this segment. */
  group?: number;
  /** `segment`: segments instead of groups. */
  kind?: 'group' | 'segment';
  /** Default: all weeks. */
  period?: Period;
  language?: string;
};

export const fetchGroups = (
  connection: Connection,
  kind: 'group' | 'segment',
  options: CallOptions,
): Promise<Group[]> =>
  connection.read('/v1/groups', options, { kind: kind === 'segment' ? kind : undefined });

export const fetchKpis = (connection: Connection, options: CallOptions): Promise<Kpi[]> =>
  connection.read('/v1/kpis', options);

export async function fetchKpiValues(
  connection: Connection,
  kpiId: string,
  filter: GroupFilter,
  options: CallOptions,
): Promise<WeekValue[]> {
  const path = `/v1/kpis/${encodeURIComponent(kpiId)}/values`;
  const { values } = await connection.read<Schemas['KpiValues']>(path, options, parametersOf(filter));
  return values.map(weekValueOf);
}

export async function fetchResponseRates(
  connection: Connection,
  filter: GroupFilter,
  options: CallOptions,
): Promise<WeekValue[]> {
  const path = '/v1/responserates/values';
  const [found] = await connection.read<Schemas['ResponseRateValues'][]>(path, options, parametersOf(filter));
  return (found?.values ?? []).map(weekValueOf);
}

/** Tokens for clients of the original service get numbers as texts, and dates with a time. */
const weekValueOf = ({ groupId, value, yearWeek, date }: Schemas['Value']): WeekValue => ({
  groupId: Number(groupId),
  week: weekOfDigits(yearWeek),
  monday: date.slice(0, 10),
  value: value === null ? null : Number(value),
});

async function readResultsValues(
  connection: Connection,
  { language, questions, individual = false, ...filter }: ResultFilter,
  includeComments: boolean,
  options: CallOptions,
): Promise<Schemas['ResultsValues'] | undefined> {
  const query = {
    ...parametersOf(filter),
    language,
    questionIds: questions?.join(','),
    granularData: individual ? 'true' : undefined,
    includeComments: includeComments ? 'true' : undefined,
  };
  // An empty list would mean all questions.
  if (questions?.length === 0) return undefined;
  const [found] = await connection.read<Schemas['ResultsValues'][]>('/v1/results', options, query);
  return found;
}

export async function fetchResults(
  connection: Connection,
  filter: ResultFilter,
  options: CallOptions,
): Promise<{ questions: Question[]; results: Result[] }> {
  const found = await readResultsValues(connection, filter, false, options);
  const rows = rowsOfNested((found?.values[0] ?? {}) as Nested<Figures>);
  return {
    questions: found?.questions ?? [],
    results: rows.map(({ value, ...where }) => ({ ...where, ...value })),
  };
}

export async function fetchComments(
  connection: Connection,
  filter: Omit<ResultFilter, 'individual'>,
  options: CallOptions,
): Promise<{ questions: Question[]; comments: Comments[] }> {
  const found = await readResultsValues(connection, filter, true, options);
  const rows = rowsOfNested((found?.comments?.[0] ?? {}) as Nested<string[]>);
  return {
    questions: found?.questions ?? [],
    comments: rows.map(({ value, ...where }) => ({ ...where, comments: value })),
  };
}

export async function fetchAskedQuestions(
  connection: Connection,
  { language, ...filter }: QuestionFilter,
  options: CallOptions,
): Promise<{ questions: Question[]; asked: Asked[] }> {
  const query = { ...parametersOf(filter), language };
  const [found] = await connection.read<Schemas['AskedQuestionsValues'][]>(
    '/v1/askedquestions',
    options,
    query,
  );
  const groups = (found?.askedquestions[0] ?? {}) as Record<string, Record<string, number[]>>;
  const asked = Object.entries(groups).flatMap(([group, weeks]) =>
    Object.entries(weeks).map(([week, questionIds]) => ({
      groupId: Number(group),
      week: weekOfDigits(week),
      questionIds,
    })),
  );
  return { questions: found?.questions ?? [], asked };
}

/** Yields the rows of the feed as they arrive, each once and in order, also if connections are lost on the way. */
export async function* streamFeed(
  connection: Connection,
  { metrics, group, kind, period, language }: FeedFilter,
  { signal }: CallOptions,
): AsyncGenerator<FeedRow> {
  if (metrics?.length === 0) return;
  const query = {
    format: 'ndjson',
    metric: metrics?.join(','),
    groupId: group === undefined ? undefined : String(group),
    kind,
    language,
    ...periodParameters(period),
  };
  for await (const line of repeatedLines(connection, reading('/v1/feed', query, signal)))
    yield parsed<FeedRow>(line);
}
