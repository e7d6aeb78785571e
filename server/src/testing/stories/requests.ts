// Random requests of the data interface for an account.
import { later } from '../surveys.ts';
import type { Random } from '../../simulation/random.ts';
import type { AccountState, DataRequest } from '../oracle/account-state.ts';
import { int } from './story.ts';

const endpoints = [
  'groups',
  'kpis',
  'kpi',
  'rates',
  'results',
  'results',
  'results',
  'asked',
  'asked',
  'feed',
] as const;

export function anyRequest(random: Random, { groups, kpis, questions }: AccountState): DataRequest {
  const start = int(random, -20, 110);
  const day = (daysAgo: number) => new Date(later - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const short = { from: day(start + random.oneOf([0, 6, 30, 60, 200])), to: day(start) };
  const questionIds = random.shuffled(questions.map(({ id }) => id)).slice(0, 3);
  return {
    endpoint: random.oneOf(endpoints),
    groupId: random.oneOf(groups).id,
    kpiId: random.oneOf(kpis).id,
    withSubgroups: random.chance(0.6),
    comments: random.chance(0.4),
    granular: random.chance(0.3),
    questionIds: random.chance(0.25) ? questionIds : undefined,
    range: random.oneOf([undefined, short, short, { from: '2020-01-01', to: '2027-12-31' }]),
    language: random.oneOf(['sv', undefined]),
    format: random.oneOf(['csv', 'ndjson']),
  };
}

/** Returns the path and the query of a request (§4.1). */
export function addressOf(request: DataRequest): string {
  const { endpoint, groupId, kpiId, withSubgroups, range, language, format } = request;
  const own = { fromDate: range?.from, toDate: range?.to };
  const group = { groupId, includeSubgroups: withSubgroups, ...own };
  const results = { includeComments: request.comments, granularData: request.granular };
  const questionIds = request.questionIds?.join();
  const [path, query]: [string, Record<string, unknown>] = {
    groups: ['groups', {}] as const,
    kpis: ['kpis', {}] as const,
    kpi: [`kpis/${kpiId}/values`, group] as const,
    rates: ['responserates/values', group] as const,
    results: ['results', { ...group, ...results, questionIds, language }] as const,
    asked: ['askedquestions', { ...group, language }] as const,
    feed: ['feed', { ...own, language, format, groupId: withSubgroups ? groupId : undefined }] as const,
  }[endpoint] as [string, Record<string, unknown>];
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return `/v1/${path}?${given.map(([name, value]) => `${name}=${value}`).join('&')}`;
}
