// The console: results of the groups that the caller may see, for managers and administrators.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { Pool } from '../../db/db.ts';
import type { Reads } from '../../db/replica/reads.ts';
import { audit } from '../../accounts/audit.ts';
import type { Words } from '../../results/data/words-thread.ts';
import { actorOf, type Console, Download } from '../core/console.ts';
import {
  commentTable,
  groupTable,
  heatTable,
  heatTableInSlices,
  type HeatTableFilters,
  questionTable,
  trendTable,
  tableTexts,
} from './csv.ts';
import { readHeatMap } from './heat-map.ts';
import { heatRowsInSlices, readHeatRows } from './heat-windows.ts';
import { readOverview, readStart } from './overview.ts';
import { mostInFile, readCommentExport, readComments, readCommentWords } from './comments.ts';
import { readQuestion, readQuestions } from './questions.ts';
import type { Trees } from '../groups/trees.ts';
import { readTrend } from './trends.ts';

/** The maximum number of comments in one window of the list. */
const mostInList = 500;

/** `reads`: where results are read. `pool`: where it is recorded that comments were exported. */
export function serveResults(
  console: Console,
  { pool, reads, trees }: { pool: Promise<Pool>; reads: Promise<Reads>; trees: Trees },
  words: Words,
): void {
  console.serve('GET /results', async (who, { query }) =>
    (await reads).of(who).once((db) => readStart(db, who, trees, languageOf(query))),
  );
  console.serve('GET /results/groups/{groupId}', async (who, { params, query }) =>
    (await reads).of(who).once((db) => readOverview(db, who, trees, { ...params, ...spanOf(query) })),
  );
  console.serve('GET /results/groups/{groupId}/csv', async (who, { params, query }) => {
    const read = await (
      await reads
    )
      .of(who)
      .once((db) => readOverview(db, who, trees, { ...params, ...spanOf(query) }));
    return csv(read.group.name, groupTable(read, tableTexts.in(languageOf(query))));
  });

  serveHeatMap(console, reads, trees);

  console.serve('GET /results/trends', async (who, { query }) =>
    (await reads).of(who).once((db) => readTrend(db, who, trees, trendOf(query))),
  );
  console.serve('GET /results/trends/csv', async (who, { query }) => {
    const read = await (await reads).of(who).once((db) => readTrend(db, who, trees, trendOf(query)));
    return csv(read.kpi?.name ?? 'response', trendTable(read, tableTexts.in(languageOf(query))));
  });

  serveQuestions(console, reads, trees);
  serveComments(console, { pool, reads }, words);
}

function serveHeatMap(console: Console, reads: Promise<Reads>, trees: Trees): void {
  console.serve('GET /results/heat-map', async (who, { query }) =>
    (await reads).of(who).once((db) => readHeatMap(db, who, trees, mapOf(query))),
  );
  console.serve('GET /results/heat-map/rows', async (who, { query }) => {
    const { offset, limit } = { offset: Number(query.offset), limit: Number(query.limit) };
    const wanted = { ...filtersOf(query), ...mapOf(query) };
    return (await reads).of(who).once((db) => readHeatRows(db, who, trees, wanted, { offset, limit }));
  });
  console.serve('GET /results/heat-map/csv', async (who, { query }) => {
    const reading = (await reads).of(who);
    const map = await reading.once((db) => readHeatMap(db, who, trees, mapOf(query)));
    const filters = filtersOf(query);
    const texts = tableTexts.in(languageOf(query));
    // The same week as in the heading, even if another one has been published meanwhile.
    const shown = { ...mapOf(query), week: map.week?.week, compare: map.comparison.kind };
    if (map.isWhole) return csv('heat-map', heatTable(map, filters, texts));
    const table = () =>
      reading.stream((rows) =>
        heatTableInSlices(map, filters, texts, heatRowsInSlices(rows, who, trees, { ...filters, ...shown })),
      );
    return new Download('heat-map.csv', 'text/csv; charset=utf-8', table);
  });
}

const mapOf = (query: HeatQuery) => ({
  week: query.week,
  compare: query.compare,
  language: languageOf(query),
});

function serveQuestions(console: Console, reads: Promise<Reads>, trees: Trees): void {
  console.serve('GET /results/groups/{groupId}/questions', async (who, { params, query }) =>
    (await reads).of(who).once((db) => readQuestions(db, who, { ...params, language: languageOf(query) })),
  );
  console.serve('GET /results/groups/{groupId}/questions/{questionId}', async (who, { params, query }) =>
    (await reads)
      .of(who)
      .once((db) => readQuestion(db, who, trees, { ...params, ...spanOf(query), week: query.week })),
  );
  console.serve(
    'GET /results/groups/{groupId}/questions/{questionId}/csv',
    async (who, { params, query }) => {
      const read = await (
        await reads
      )
        .of(who)
        .once((db) => readQuestion(db, who, trees, { ...params, ...spanOf(query), week: query.week }));
      return csv(`question-${read.question.id}`, questionTable(read, tableTexts.in(languageOf(query))));
    },
  );
}

function serveComments(
  console: Console,
  { pool, reads }: { pool: Promise<Pool>; reads: Promise<Reads> },
  words: Words,
): void {
  console.serve('GET /results/comments', async (who, { query }) => {
    const { offset = '0', limit = '100', ...filters } = query;
    const page = { offset: Number(offset), limit: Math.min(Number(limit), mostInList) };
    return (await reads)
      .of(who)
      .once((db) => readComments(db, who, { ...filters, language: languageOf(query) }, page));
  });
  console.serve('GET /results/comments/words', async (who, { query }) =>
    (await reads)
      .of(who)
      .once((db) => readCommentWords(db, words, who, { ...query, language: languageOf(query) })),
  );
  console.serve('GET /results/comments/csv', async (who, { query }) => {
    const wanted = { ...query, language: languageOf(query) };
    const read = await (
      await reads
    )
      .of(who)
      .once((db) => readCommentExport(db, who, wanted, { offset: 0, limit: mostInFile }));
    const details = { count: read.rows.length };
    await audit(await pool, who.accountId, actorOf(who), 'comments exported', {
      subject: query.groupId,
      details,
    });
    return csv('comments', commentTable(read, tableTexts.in(languageOf(query))));
  });
}

type HeatQuery = { week?: string; compare?: Comparison; language?: 'en' | 'sv' };

/** Returns the filters of the heat map page, which apply to its file too. */
const filtersOf = ({
  level,
  subtreeOf,
  by,
  sort,
  language,
}: HeatQuery & HeatFileQuery): HeatTableFilters => ({
  level: level === undefined ? undefined : Number(level),
  subtreeOf: subtreeOf === undefined ? undefined : Number(subtreeOf),
  isDifference: by === 'difference',
  sort,
  compare: new Intl.Collator(language, { numeric: true }).compare,
});
type HeatFileQuery = { level?: string; subtreeOf?: string; by?: 'score' | 'difference'; sort?: string };

const languageOf = ({ language = 'en' }: { language?: string }) => language;

/** Returns the number of weeks (26 by default), the language, and the comparison. */
const spanOf = (query: { weeks?: string; language?: string; compare?: Comparison }) => ({
  weeks: Number(query.weeks ?? 26),
  language: languageOf(query),
  compare: query.compare,
});

const trendOf = ({
  kpiId,
  groupIds,
  ...query
}: {
  kpiId?: string;
  groupIds: string;
  weeks?: string;
  language?: string;
}) => ({
  kpiId,
  groupIds,
  ...spanOf(query),
});

const csv = (name: string, text: string) => new Download(`${name}.csv`, 'text/csv; charset=utf-8', text);
