// A flat feed for BI tools, in addition to the endpoints of the description: one row per group, week and metric. It contains the
// same published figures, and nothing else.
import type { Kind } from '@soundings/contract/data.ts';
import { type FeedMetric, feedMetrics } from '@soundings/contract/feed-rows.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Reading } from '../../db/replica/reads.ts';
import type { StreamedResponse } from '../../http/responses/responses.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import { byteOrderMark, textCell } from '../../base/csv.ts';
import {
  type NamedGroup,
  selectKpiFeed,
  selectNames,
  selectQuestionFeed,
  selectRateFeed,
  type StoredFeedRow,
} from './feed.sql.ts';
import { findScope, type Reader, type ResultsQuery, streamedResponse } from '../responses/response-parts.ts';
import { noReadings, readingsShown, type Statistics, statisticsShown } from './statistics-shown.ts';
import type { GroupScope } from './results.sql.ts';
import type { Window } from './window.ts';
import { neededForWeek } from './week-readings.ts';
import { type FeedMeasures, kpiFeedMeasures, noMeasures, questionFeedMeasures } from './feed-measures.ts';
import { translatedQuestion } from './shape.ts';

export type FeedWanted = {
  metrics: readonly FeedMetric[];
  format: 'csv' | 'ndjson';
  language: string | undefined;
};

const selects = { kpi: selectKpiFeed, responserate: selectRateFeed, question: selectQuestionFeed };

const header =
  'metric,metricId,metricName,groupId,groupExternalId,groupName,week,monday,value,answers,status,handedOut,rolling,standardError,change,isClear,changeHandedOut,asked,answered,notApplicable,notApplicableOf';

/** All possible weeks. */
const always = { first: '0001-01-01', last: '9999-12-27' };

/**
 * Returns the feed of a group and its descendants, or of a segment; of all groups, or of all segments, if none is given. Throws a Fault
 * for an unknown group.
 */
export function feedResponse(
  reading: Reading,
  reader: Reader,
  query: Omit<ResultsQuery, 'groupId' | 'withSubgroups'> & { groupId: string | undefined },
  { metrics, format, language }: FeedWanted,
): StreamedResponse {
  const { accountId } = reader;
  const window = query.window ?? always;
  const lineOf = format === 'csv' ? csvLine : ndjsonLine;
  const isOfSegments = query.kind === 'segment';
  // A slow client reads for minutes, in which weeks are published: everything is read in one transaction, the names and statistics first.
  async function* lines(db: Db) {
    const scope = await findScope(db, accountId, { ...query, withSubgroups: true });
    const { statistics, groups, kpis, questions } = await readAbout(db, accountId, scope, window);
    const groupById = new Map(groups.map((group) => [group.id, group]));
    const metricNames = {
      kpi: new Map(kpis.map((kpi) => [kpi.id, kpiNameIn(kpi, language)])),
      responserate: new Map([['', 'Response rate']]),
      question: new Map(questions.map((one) => [String(one.id), translatedQuestion(one, language).text])),
    };
    const kind = groups.some(({ breakdown }) => breakdown !== null) ? 'segment' : 'group';
    if (format === 'csv') yield `${byteOrderMark}${header}${isOfSegments ? ',breakdown' : ''}\r\n`;
    for (const metric of feedMetrics.filter((one) => metrics.includes(one))) {
      for await (const rows of selects[metric](db, accountId, scope, window)) {
        let text = '';
        const measuresOf = await readMeasures(db, accountId, { metric, rows, statistics, kind });
        for (const row of rows) {
          const line = {
            ...row,
            metric,
            metricName: metricNames[metric].get(row.metricId) ?? '',
            group: groupById.get(row.groupId) as NamedGroup,
            weekName: weekName(row.week),
            ...measuresOf(row),
          };
          text += lineOf(line, isOfSegments);
        }
        yield text;
      }
    }
  }
  return streamedResponse(reader, { window, now: query.now }, () => reading.stream(lines));
}

/** Returns what all lines need. */
async function readAbout(db: Db, accountId: AccountId, scope: GroupScope, window: Window) {
  const [statistics, groups, kpis, questions] = await Promise.all([
    statisticsShown(db, accountId, window),
    selectNames(db, accountId, scope),
    selectKpis(db, accountId),
    selectQuestions(db, accountId),
  ]);
  return { statistics, groups, kpis, questions };
}

/**
 * Returns a function that returns what the feed adds to a row: rolling values, standard errors and changes. Segments have no changes:
 * cutoffs are known for groups only.
 */
async function readMeasures(
  db: Db,
  accountId: AccountId,
  {
    metric,
    rows,
    statistics,
    kind,
  }: { metric: FeedMetric; rows: readonly StoredFeedRow[]; statistics: Statistics; kind: Kind },
): Promise<(row: StoredFeedRow) => FeedMeasures> {
  const metricIds = [...new Set(rows.map(({ metricId }) => metricId))];
  const ids =
    metric === 'question'
      ? metricIds.map(Number)
      : [...new Set(metricIds.flatMap((id) => statistics.questionsOf(id)))];
  const weeks = [...new Set(rows.map(({ week }) => week))].toSorted();
  const last = weeks.at(-1);
  if (metric === 'responserate' || last === undefined) return () => noMeasures;
  // A later week can need earlier figures than the first one does: its window can be longer, and its questions can have been asked long before.
  const starts = weeks.map((week) => neededForWeek(week, statistics, 'none', ids).first);
  const window = { first: starts.reduce((a, b) => (a < b ? a : b)), last };
  const groupIds = [...new Set(rows.map(({ groupId }) => groupId))];
  const readings = await readingsShown(db, accountId, { groupIds, questionIds: ids, kind }, window);
  const shownOf = (measures: FeedMeasures) =>
    kind === 'segment' ? { ...measures, change: null, isClear: null, changeHandedOut: null } : measures;
  return ({ metricId, groupId, week, isOpen }) => {
    const own = readings.get(groupId) ?? noReadings;
    if (isOpen) return noMeasures;
    if (metric === 'question') return shownOf(questionFeedMeasures(Number(metricId), week, own, statistics));
    return shownOf(kpiFeedMeasures(metricId, week, own, statistics));
  };
}

type Line = StoredFeedRow &
  FeedMeasures & {
    metric: FeedMetric;
    metricName: string;
    group: NamedGroup;
    weekName: string;
  };

/** Returns the status of a figure. Figures without an answer count, such as KPI values, are shown if they have a value. */
const statusOf = ({ isOpen, value, answers }: Line) =>
  isOpen ? 'open' : value === null && answers === null ? 'withheld' : 'shown';

function csvLine(line: Line, isOfSegments: boolean): string {
  const { metric, metricId, metricName, group, week, value, answers, handedOut } = line;
  const id = metric === 'question' ? metricId : textCell(metricId); // question ids are numbers and need no quoting
  const about = `${metric},${id},${textCell(metricName)}`;
  const where = `${group.id},${textCell(group.externalId ?? '')},${textCell(group.name)}`;
  const last = isOfSegments ? `,${textCell(group.breakdown ?? '')}` : '';
  return `${about},${where},${line.weekName},${week},${value ?? ''},${answers ?? ''},${statusOf(line)},${handedOut},${addedTo(line)},${countsIn(line)}${last}\r\n`;
}

const countsIn = ({ asked, answered, notApplicable, notApplicableOf }: Line) =>
  `${asked ?? ''},${answered ?? ''},${notApplicable ?? ''},${notApplicableOf ?? ''}`;

const addedTo = ({ rolling, standardError, change, isClear, changeHandedOut }: FeedMeasures) =>
  `${rolling ?? ''},${standardError ?? ''},${change ?? ''},${isClear ?? ''},${changeHandedOut ?? ''}`;

function ndjsonLine(line: Line, isOfSegments: boolean): string {
  const { metric, metricId, metricName, group, week, value, answers } = line;
  const row = {
    metric,
    metricId,
    metricName,
    groupId: group.id,
    ...(group.externalId !== null && { groupExternalId: group.externalId }),
    groupName: group.name,
    week: line.weekName,
    monday: week,
    value,
    answers,
    status: statusOf(line),
    handedOut: line.handedOut,
    rolling: line.rolling,
    standardError: line.standardError,
    change: line.change,
    isClear: line.isClear,
    changeHandedOut: line.changeHandedOut,
    asked: line.asked,
    answered: line.answered,
    notApplicable: line.notApplicable,
    notApplicableOf: line.notApplicableOf,
    ...(isOfSegments && { breakdown: group.breakdown }),
  };
  return `${JSON.stringify(row)}\n`;
}
