// The console: results by segment, for administrators.
import type { Reads } from '../../db/replica/reads.ts';
import { type Console, Download } from '../core/console.ts';
import { segmentAnswersTable, segmentHeatTable, tableTexts, trendTable } from './csv.ts';
import { readSegmentAnswers, readSegmentMap, readSegmentTrend } from './segments.ts';

const languageOf = ({ language = 'en' }: { language?: string }) => language;

const csv = (name: string, text: string) => new Download(`${name}.csv`, 'text/csv; charset=utf-8', text);

export function serveSegmentResults(console: Console, reads: Promise<Reads>): void {
  const mapOf = (params: { breakdownId: string }, query: { week?: string; language?: string }) => ({
    ...params,
    week: query.week,
    language: languageOf(query),
  });
  console.serve('GET /breakdowns/{breakdownId}/heat-map', async (who, { params, query }) =>
    (await reads).of(who).once((db) => readSegmentMap(db, who, mapOf(params, query))),
  );
  console.serve('GET /breakdowns/{breakdownId}/heat-map/csv', async (who, { params, query }) => {
    const read = await (await reads).of(who).once((db) => readSegmentMap(db, who, mapOf(params, query)));
    const { compare } = new Intl.Collator(query.language, { numeric: true });
    const { sort } = query;
    return csv(
      read.breakdown.name,
      segmentHeatTable(read, { sort, compare }, tableTexts.in(languageOf(query))),
    );
  });

  const trendOf = (
    params: { breakdownId: string },
    query: { kpiId?: string; segmentIds?: string; weeks?: string; language?: string },
  ) => ({
    ...params,
    kpiId: query.kpiId,
    segmentIds: query.segmentIds,
    weeks: Number(query.weeks ?? 26),
    language: languageOf(query),
  });
  console.serve('GET /breakdowns/{breakdownId}/trends', async (who, { params, query }) =>
    (await reads).of(who).once((db) => readSegmentTrend(db, who, trendOf(params, query))),
  );
  console.serve('GET /breakdowns/{breakdownId}/trends/csv', async (who, { params, query }) => {
    const { breakdown, trend } = await (
      await reads
    )
      .of(who)
      .once((db) => readSegmentTrend(db, who, trendOf(params, query)));
    const name = `${breakdown.name}-${trend.kpi?.name ?? 'response'}`;
    return csv(name, trendTable(trend, tableTexts.in(languageOf(query))));
  });

  console.serve('GET /breakdowns/{breakdownId}/questions/{questionId}', async (who, { params, query }) =>
    (await reads).of(who).once((db) => readSegmentAnswers(db, who, { ...params, ...mapOf(params, query) })),
  );
  console.serve(
    'GET /breakdowns/{breakdownId}/questions/{questionId}/csv',
    async (who, { params, query }) => {
      const read = await (
        await reads
      )
        .of(who)
        .once((db) => readSegmentAnswers(db, who, { ...params, ...mapOf(params, query) }));
      const name = `${read.breakdown.name}-question-${read.question.id}`;
      return csv(name, segmentAnswersTable(read, tableTexts.in(languageOf(query))));
    },
  );
}
