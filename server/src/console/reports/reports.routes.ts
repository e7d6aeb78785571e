// The console: reports of the groups that the caller may see, one report for the page that is printed or as a PDF, and all reports
// as a ZIP file.
import { dayIn } from '@soundings/contract/weeks.ts';
import { audit } from '../../accounts/audit.ts';
import { zipOf } from './zip-writer.ts';
import type { Pool } from '../../db/db.ts';
import { goneWith } from '../../http/concurrency.ts';
import { actorOf, type Console, Download, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { groupNamed, readGroups, readWeeks } from '../results/reading.ts';
import { periodIn, readReports, type ReportsWanted } from './read-reports.ts';
import type { ReportFile } from './report-files.ts';
import { printedReportTexts } from './report-text.ts';
import type { CreateReports } from './report-threads.ts';

type ReportDependencies = { pool: Promise<Pool>; createReports: CreateReports; now: () => number };
type Query = { period?: string; compare?: ReportsWanted['compare']; language?: string };

export function serveReports(console: Console, { pool, createReports, now }: ReportDependencies): void {
  const wantedOf = ({ timezone }: Who, { period, compare, language = 'en' }: Query): ReportsWanted => ({
    period,
    compare,
    language,
    day: dayIn(timezone, now()),
  });
  const note = async (who: Who, period: string | undefined, subject?: string) =>
    audit(await pool, who.accountId, actorOf(who), 'reports exported', {
      ...(subject !== undefined && { subject }),
      details: period === undefined ? {} : { period },
    });

  console.serve('GET /results/groups/{groupId}/report', async (who, { params, query }) => {
    const wanted = wantedOf(who, query);
    // Imported here, because fonts are needed only for reports.
    const { pageOf } = await import('./report-page.ts');
    const { value: data } = await readReports(await pool, who, [idIn(params.groupId)], wanted).next();
    return pageOf(data!, wanted.language).report;
  });

  console.serve('GET /results/groups/{groupId}/report.pdf', async (who, { params, query, reply }) => {
    const wanted = wantedOf(who, query);
    const group = groupNamed(await readGroups(await pool, who, [idIn(params.groupId)]), params.groupId);
    const files = createReports(who.accountId, { who, groupId: group.id, wanted }, goneWith(reply));
    const { name, bytes } = (await firstOf(files)) as ReportFile;
    await files.return(undefined);
    await note(who, wanted.period, params.groupId);
    return new Download(name, 'application/pdf', bytes);
  });

  console.serve('GET /results/reports.zip', async (who, { query, reply }) => {
    const wanted = wantedOf(who, query);
    const { period } = periodIn(await readWeeks(await pool, who), wanted.period);
    const files = createReports(who.accountId, { who, groupId: undefined, wanted }, goneWith(reply));
    // Waits for the first file, so that an error is sent as an error response and not as a broken archive.
    const first = await firstOf(files);
    await note(who, period.name).catch(async (error: unknown) => {
      await files.return(undefined); // otherwise no one would end the thread
      throw error;
    });
    const name = printedReportTexts.in(wanted.language)('filesName', { period: period.name });
    return new Download(`${name}.zip`, 'application/zip', endingWith(files, zipOf(continued(first, files))));
  });
}

const firstOf = async (files: AsyncGenerator<ReportFile>): Promise<ReportFile | undefined> => {
  const { done, value } = await files.next();
  return done ? undefined : value;
};

/** Yields a first file and then the others. */
async function* continued(
  first: ReportFile | undefined,
  files: AsyncGenerator<ReportFile>,
): AsyncGenerator<ReportFile> {
  if (first) yield first;
  yield* files;
}

/**
 * Returns the bytes of an archive. When the archive ends, it also ends the generator of its files. That generator would otherwise
 * stay open if the client has gone before the archive is read.
 */
const endingWith = (
  files: AsyncGenerator<ReportFile>,
  bytes: AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => bytes.next(),
    async return() {
      await files.return(undefined);
      return { done: true, value: undefined };
    },
  }),
});
