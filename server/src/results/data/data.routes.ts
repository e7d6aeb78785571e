// HTTP routes of the data interface, except for GET /v1/groups. results.ts builds the responses.
import {
  type Kind,
  getAskedQuestions,
  getFeed,
  getKpis,
  getKpiValues,
  getResponseRates,
  getResults,
} from '@soundings/contract/data.ts';
import { type FeedMetric, feedMetrics } from '@soundings/contract/feed-rows.ts';
import type { Reads } from '../../db/replica/reads.ts';
import type { RequestContext } from '../../http/operations.ts';
import type { Server } from '../../http/server.ts';
import type { OnDamage } from '../fragments/read-fragments.ts';
import { openKnownNames } from '../responses/known-names.ts';
import type { Reader, ResultsQuery } from '../responses/response-parts.ts';
import {
  kpiOf,
  askedQuestionsResponse,
  kpiValuesResponse,
  ratesResponse,
  resultsResponse,
} from './results.ts';
import { selectValuedKpis } from './results.sql.ts';
import { feedResponse } from './feed.ts';
import { windowOf } from './window.ts';

/** `now`: the clock, in milliseconds since 1970. */
export function serveData(
  server: Server,
  reads: Promise<Reads>,
  { now, onDamage }: { now: () => number; onDamage: OnDamage },
): void {
  const names = openKnownNames();
  const readerOf = (caller: Omit<Reader, 'onDamage' | 'names'>): Reader => ({ ...caller, onDamage, names });

  server.serve(getKpis, async ({ caller }) => {
    const kpis = await (await reads).of(caller).once((db) => selectValuedKpis(db, caller.accountId));
    return kpis.map(kpiOf);
  });

  server.serve(getKpiValues, async ({ caller, params, query }) => {
    const kpiId = params['kpiId'] as string;
    return kpiValuesResponse((await reads).of(caller), readerOf(caller), kpiId, queryOf(query, now()));
  });

  server.serve(getResponseRates, async ({ caller, query }) => {
    return ratesResponse((await reads).of(caller), readerOf(caller), queryOf(query, now()));
  });

  server.serve(getResults, async ({ caller, query }) => {
    return resultsResponse((await reads).of(caller), readerOf(caller), queryOf(query, now()), {
      questionIds: query['questionIds'] === undefined ? undefined : idsIn(query['questionIds']),
      comments: query['includeComments'] === 'true',
      granular: query['granularData'] === 'true',
      language: query['language'],
    });
  });

  server.serve(getAskedQuestions, async ({ caller, query }) => {
    // No questions are asked of segments.
    const ofGroups = { ...queryOf(query, now()), kind: 'group' as const };
    return askedQuestionsResponse((await reads).of(caller), readerOf(caller), ofGroups, query['language']);
  });

  server.serve(getFeed, async ({ caller, query, reply }) => {
    const format = query['format'] === 'ndjson' ? 'ndjson' : 'csv';
    const kind = query['kind'] as Kind | undefined;
    const feedQuery = { groupId: query['groupId'], kind, window: windowOf(query), now: now() };
    const metrics = (query['metric']?.split(',') as FeedMetric[] | undefined) ?? feedMetrics;
    const response = feedResponse((await reads).of(caller), readerOf(caller), feedQuery, {
      metrics,
      format,
      language: query['language'],
    });
    reply.header('content-type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson');
    if (format === 'csv') reply.header('content-disposition', 'attachment; filename="soundings.csv"');
    return response;
  });
}

function queryOf(query: RequestContext['query'], now: number): ResultsQuery {
  return {
    groupId: query['groupId'] as string,
    withSubgroups: query['includeSubgroups'] === 'true',
    kind: query['kind'] as Kind | undefined,
    window: windowOf(query),
    now,
  };
}

/** Returns the ids in a list. Leaves out ids that are too large for the database, because no question has them. */
const idsIn = (text: string) =>
  text
    .split(',')
    .map(Number)
    .filter((id) => id < 2 ** 31);
