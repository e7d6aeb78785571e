// Reads what a digest contains for one person, as the console would show it to that person now: the same groups, and figures,
// findings and comments from the same functions as the report of a group.
import type { PrintedReport } from '@soundings/contract/console/reports.ts';
import { dayIn, type Week, weekName } from '@soundings/contract/weeks.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import type { Db, Pool } from '../db/db.ts';
import type { Who } from '../console/core/console.ts';
import { openGroups } from '../console/groups/open-groups.ts';
import type { ReportData } from '../console/reports/report-data.ts';
import { readReports } from '../console/reports/read-reports.ts';
import { handedOutText, reportTextOf } from '../console/reports/report-text.ts';
import { type CountedGroups, readCountedGroups, readWeeks } from '../console/results/reading.ts';
import { type Recipient, selectGroupsWithResults } from './digests.sql.ts';

/** The most groups that are listed after the first. */
const mostOthers = 8;

/** What a digest contains: the report of the first group, and one line for each of some others. */
export type Digest = {
  report: PrintedReport;
  /** What an asterisk means; empty if there is none. */
  handedOut: string;
  /** The lowest thresholds of the weeks that the report is based on; null if they are not known. */
  thresholds: ReportData['thresholds'];
  others: PrintedReport[];
  /** How many more groups with results the person can see. */
  more: number;
};

/** Returns the person as a caller of the console. */
const whoIs = ({ accountId, userId, role, accountTimezone, version }: Recipient): Who => ({
  sessionId: 0,
  accountId,
  userId,
  role,
  timezone: accountTimezone,
  version,
  isProved: false,
  providerId: null,
  address: '',
});

/** Returns which groups are open to a person now, as a text to compare. */
export async function accessOf(db: Db, recipient: Recipient): Promise<string> {
  const open = await openGroups(db, whoIs(recipient));
  return open === undefined ? 'all' : [...open].join();
}

/**
 * Returns the digest of a week for a person. Undefined if the person sees no group with results in that week, so that no
 * one gets an email about nothing. `language`: the language of the texts. Questions and KPIs are in the person's language.
 */
export async function readDigest(
  pool: Pool,
  recipient: Recipient,
  week: Week,
  { language, now }: { language: string; now: number },
): Promise<Digest | undefined> {
  const who = whoIs(recipient);
  if (!hasRole(who, 'Manager')) return undefined;
  const [weeks, counted] = await Promise.all([
    readWeeks(pool, who),
    readCountedGroups(pool, who, recipient.language),
  ]);
  if (!weeks.shown.some((one) => one.week === week && one.state === 'final')) return undefined;
  const ids = counted.rows.map(({ id }) => id);
  const chosen = groupsOf(counted, await selectGroupsWithResults(pool, who.accountId, week, ids));
  if (chosen.ids.length === 0) return undefined;
  const wanted = {
    period: weekName(week),
    compare: undefined,
    language: recipient.language,
    day: dayIn(who.timezone, now),
  };
  const reports: PrintedReport[] = [];
  let handedOut = '';
  let thresholds: ReportData['thresholds'] = null;
  for await (const data of readReports(pool, who, chosen.ids, wanted)) {
    if (reports.length === 0) {
      handedOut = handedOutText(data, language);
      thresholds = data.thresholds;
    }
    reports.push(reportTextOf(data, language));
  }
  const [report, ...others] = reports as [PrintedReport, ...PrintedReport[]];
  return { report, handedOut, thresholds, others, more: chosen.more };
}

/**
 * Chooses the groups of a digest among those with results: the one with which the console starts, and then the other top groups and
 * the direct subgroups of the first, in the order of the tree.
 */
function groupsOf(
  { rows, company }: CountedGroups,
  withResults: ReadonlySet<number>,
): { ids: number[]; more: number } {
  const shown = rows.filter(({ id }) => withResults.has(id));
  const first = shown.find(({ id }) => id === company?.id) ?? shown[0];
  if (!first) return { ids: [], more: 0 };
  const open = new Set(rows.map(({ id }) => id));
  const isTop = (parentId: number | null) => parentId === null || !open.has(parentId);
  const others = shown
    .filter(({ id, parentId }) => id !== first.id && (isTop(parentId) || parentId === first.id))
    .slice(0, mostOthers);
  return { ids: [first.id, ...others.map(({ id }) => id)], more: shown.length - 1 - others.length };
}
