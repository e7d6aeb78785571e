// What the data interface responds differently since an upgrade, on purpose. CHANGELOG.md has each of these changes as well.
import type { FeedRow } from '@soundings/contract/feed-rows.ts';

export type IntendedChange = {
  /** A migration of the version that brought the change. It applies to the responses of versions from before that migration. */
  since: string;
  /** The paths of the requests. */
  path: RegExp;
  /** What has changed, and where CHANGELOG.md says so. */
  reason: string;
  /** Returns the body that the earlier version sent, from the present one. */
  earlier?(body: string): string;
  /** Returns what is left of the earlier body, for values that are no longer sent. */
  left?(body: string): string;
};

/** The last fields of each row of the feed. */
const addedFields = ['asked', 'answered', 'notApplicable', 'notApplicableOf'];

/**
 * Returns rows of the feed in the order of their metrics, then of their KPIs or questions. `keyOf`: the metric and its ID. Rows with the same
 * metric and ID are in the same order as before.
 */
function byMetricId(
  rows: readonly string[],
  keyOf: (row: string) => readonly [metric: string, id: string],
): string[] {
  const sortKeyOf = (row: string) => {
    const [metric, id] = keyOf(row);
    const place = ['kpi', 'responserate', 'question'].indexOf(metric);
    return `${place} ${metric === 'question' ? id.padStart(9, '0') : id}`;
  };
  return rows
    .map((row) => ({ row, key: sortKeyOf(row) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ row }) => row);
}

export const intendedChanges: readonly IntendedChange[] = [
  {
    since: '0038_meanings.sql',
    path: /./,
    reason: '“Messages are rewritten” (Upgrading): errors say what to do.',
    earlier: (body) =>
      body
        .replaceAll('This group does not exist. It may have been removed.', 'This group does not exist.')
        .replaceAll('This KPI does not exist. Check its ID.', 'This KPI does not exist.'),
  },
  {
    since: '0039_breakdowns.sql',
    path: /kind=segment/,
    reason: '“An attribute that divides people into segments is now called a breakdown” (Upgrading).',
    earlier: (body) => body.replaceAll('"breakdown":', '"segmentKind":'),
  },
  {
    since: '0050_not_applicable.sql',
    path: /^\/v1\/feed.*format=ndjson/,
    reason:
      'The feed has four more fields, for “not applicable” (Asking and answering) and for how many were asked (Results).',
    earlier: (body) => {
      const fields = addedFields.map((field) => `,"${field}":(?:null|\\d+)`);
      return body.replaceAll(new RegExp(fields.join(''), 'g'), '');
    },
  },
  {
    since: '0050_not_applicable.sql',
    path: /^\/v1\/feed(?!.*format=ndjson)/,
    reason: 'The same as columns of CSV.',
    earlier: (body) => {
      const [head = '', ...rows] = body.split('\r\n');
      const shorter = head.replace(addedFields.map((column) => `,${column}`).join(''), '');
      return [shorter, ...rows.map((row) => row.replace(/(?:,\d*){4}$/, ''))].join('\r\n');
    },
  },
  {
    since: '0074_comments.sql',
    path: /^\/v1\/feed/,
    reason: 'The rows of the feed are ordered by metric, group, KPI or question, and week (Interfaces).',
    earlier: (body) => {
      const [head = '', ...rows] = body.split(/(?<=\n)/);
      if (!head.startsWith('{'))
        return head + byMetricId(rows, (row) => row.split(',') as [string, string]).join('');
      return byMetricId([head, ...rows], (row) => {
        const { metric, metricId } = JSON.parse(row) as FeedRow;
        return [metric, metricId];
      }).join('');
    },
  },
  {
    since: '0075_figures_by_week.sql',
    path: /^\/v1\/feed.*kind=segment.*format=ndjson/,
    reason: '“`changeHandedOut` is empty for segments” (Interfaces): they have no `change`.',
    left: (body) => body.replaceAll(/"changeHandedOut":(?:true|false)/g, '"changeHandedOut":null'),
  },
];
