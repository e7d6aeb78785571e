// The console: results of the groups that the caller may see, for managers and administrators.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { Pool } from '../../db/db.ts';
import { audit } from '../../accounts/audit.ts';
import type { Words } from '../../results/data/words-thread.ts';
import { actorOf, type Console, Download } from '../core/console.ts';
import {
  commentTable,
  groupTable,
  heatTable,
  type HeatTableFilters,
  questionTable,
  trendTable,
  tableTexts,
} from './csv.ts';
import { readHeatMap } from './heat-map.ts';
import { readOverview, readStart } from './overview.ts';
import { readCommentExport, readComments, readCommentWords } from './comments.ts';
import { readQuestion, readQuestions } from './questions.ts';
import { readTrend } from './trends.ts';

/** The maximum number of comments in a file, and in one window of the list. */
const [mostInFile, mostInList] = [100_000, 500];

export function serveResults(console: Console, pool: Promise<Pool>, words: Words): void {
  console.serve('GET /results', async (who, { query }) => readStart(await pool, who, languageOf(query)));
  console.serve('GET /results/groups/{groupId}', async (who, { params, query }) =>
    readOverview(await pool, who, { ...params, ...spanOf(query) }),
  );
  console.serve('GET /results/groups/{groupId}/csv', async (who, { params, query }) => {
    const read = await readOverview(await pool, who, { ...params, ...spanOf(query) });
    return csv(read.group.name, groupTable(read, tableTexts.in(languageOf(query))));
  });

  const heatMap = async (who: Parameters<typeof readHeatMap>[1], query: HeatQuery) =>
    readHeatMap(await pool, who, {
      week: query.week,
      compare: query.compare,
      language: languageOf(query),
    });
  console.serve('GET /results/heat-map', (who, { query }) => heatMap(who, query));
  console.serve('GET /results/heat-map/csv', async (who, { query }) =>
    csv('heat-map', heatTable(await heatMap(who, query), filtersOf(query), tableTexts.in(languageOf(query)))),
  );

  console.serve('GET /results/trends', async (who, { query }) => readTrend(await pool, who, trendOf(query)));
  console.serve('GET /results/trends/csv', async (who, { query }) => {
    const read = await readTrend(await pool, who, trendOf(query));
    return csv(read.kpi?.name ?? 'response', trendTable(read, tableTexts.in(languageOf(query))));
  });

  serveQuestions(console, pool);
  serveComments(console, pool, words);
}

function serveQuestions(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /results/groups/{groupId}/questions', async (who, { params, query }) =>
    readQuestions(await pool, who, { ...params, language: languageOf(query) }),
  );
  console.serve('GET /results/groups/{groupId}/questions/{questionId}', async (who, { params, query }) =>
    readQuestion(await pool, who, { ...params, ...spanOf(query), week: query.week }),
  );
  console.serve(
    'GET /results/groups/{groupId}/questions/{questionId}/csv',
    async (who, { params, query }) => {
      const read = await readQuestion(await pool, who, { ...params, ...spanOf(query), week: query.week });
      return csv(`question-${read.question.id}`, questionTable(read, tableTexts.in(languageOf(query))));
    },
  );
}

function serveComments(console: Console, pool: Promise<Pool>, words: Words): void {
  console.serve('GET /results/comments', async (who, { query }) => {
    const { offset = '0', limit = '100', ...filters } = query;
    const page = { offset: Number(offset), limit: Math.min(Number(limit), mostInList) };
    return readComments(await pool, who, { ...filters, language: languageOf(query) }, page);
  });
  console.serve('GET /results/comments/words', async (who, { query }) =>
    readCommentWords(await pool, words, who, { ...query, language: languageOf(query) }),
  );
  console.serve('GET /results/comments/csv', async (who, { query }) => {
    const wanted = { ...query, language: languageOf(query) };
    const read = await readCommentExport(await pool, who, wanted, { offset: 0, limit: mostInFile });
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
