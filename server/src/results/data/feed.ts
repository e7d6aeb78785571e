// A flat feed for BI tools, in addition to the endpoints of the description: one row per group, week and metric. It contains the
// same published figures, and nothing else.
import { type FeedMetric, feedMetrics } from '@soundings/contract/data.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import type { StreamedResponse } from '../../http/responses.ts';
import { kpiNameIn, selectKpis, selectQuestions } from '../../questions/questions.ts';
import { byteOrderMark, textCell } from '../../base/csv.ts';
import {
  type FeedRow,
  selectGroupWords,
  selectKpiFeed,
  selectQuestionFeed,
  selectRateFeed,
} from './feed.sql.ts';
import { type Asked, findScope, streamedResponse, type Pools, type Reader } from './results.ts';
import { worded } from './shape.ts';

export type FeedWanted = {
  metrics: readonly FeedMetric[];
  format: 'csv' | 'ndjson';
  language: string | undefined;
};

const selects = { kpi: selectKpiFeed, responserate: selectRateFeed, question: selectQuestionFeed };

const header =
  'metric,metricId,metricName,groupId,groupExternalId,groupName,week,monday,value,answers,status,handedOut\r\n';

/** All possible weeks. */
const always = { first: '0001-01-01', last: '9999-12-27' };

/** Returns the feed of a group and its descendants, or of all groups if none is given. Throws a Fault for an unknown group. */
export async function feedResponse(
  { pool, reads }: Pools,
  reader: Reader,
  asked: Omit<Asked, 'groupId' | 'withSubgroups'> & { groupId: string | undefined },
  { metrics, format, language }: FeedWanted,
): Promise<StreamedResponse> {
  const { accountId } = reader;
  const scope = await findScope(pool, accountId, { ...asked, withSubgroups: true });
  const [groups, kpis, questions] = await Promise.all([
    selectGroupWords(pool, accountId, scope),
    selectKpis(pool, accountId),
    selectQuestions(pool, accountId),
  ]);
  const groupById = new Map(groups.map((group) => [group.id, group]));
  const metricNames = {
    kpi: new Map(kpis.map((kpi) => [kpi.id, kpiNameIn(kpi, language)])),
    responserate: new Map([['', 'Response rate']]),
    question: new Map(questions.map((one) => [String(one.id), worded(one, language).text])),
  };
  const lineOf = format === 'csv' ? csvLine : ndjsonLine;
  async function* lines() {
    if (format === 'csv') yield byteOrderMark + header;
    for (const metric of feedMetrics.filter((one) => metrics.includes(one))) {
      // oxlint-disable-next-line no-await-in-loop -- the metrics come one after another
      for await (const rows of selects[metric](reads, accountId, scope, asked.window ?? always)) {
        let text = '';
        for (const row of rows) {
          const group = groupById.get(row.groupId);
          if (!group) continue; // created since this response began
          const metricName = metricNames[metric].get(row.metricId) ?? '';
          text += lineOf({ ...row, metric, metricName, group, weekName: weekName(row.week) });
        }
        yield text;
      }
    }
  }
  return streamedResponse(reader, { window: asked.window ?? always, now: asked.now }, lines);
}

type Line = FeedRow & {
  metric: FeedMetric;
  metricName: string;
  group: { id: number; externalId: string | null; name: string };
  weekName: string;
};

/** Returns the status of a figure. Figures without an answer count, such as KPI values, are shown if they have a value. */
const statusOf = ({ isOpen, value, answers }: Line) =>
  isOpen ? 'open' : value === null && answers === null ? 'withheld' : 'shown';

function csvLine(line: Line): string {
  const { metric, metricId, metricName, group, week, value, answers, handedOut } = line;
  const id = metric === 'question' ? metricId : textCell(metricId); // question ids are numbers and need no quoting
  const about = `${metric},${id},${textCell(metricName)}`;
  const where = `${group.id},${textCell(group.externalId ?? '')},${textCell(group.name)}`;
  return `${about},${where},${line.weekName},${week},${value ?? ''},${answers ?? ''},${statusOf(line)},${handedOut}\r\n`;
}

function ndjsonLine(line: Line): string {
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
  };
  return `${JSON.stringify(row)}\n`;
}
