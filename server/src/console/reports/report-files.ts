// Creates the files of reports: a PDF for each group with results, and a list of the groups without results.
import { periodNamed } from '@soundings/contract/periods.ts';
import { hasResults, type ReportData } from './report-data.ts';
import { pageOf } from './report-page.ts';
import { pdfOf } from './report-pdf.ts';
import { periodTitle, printedReportTexts } from './report-text.ts';

export type ReportFile = { name: string; bytes: Uint8Array };

/** Returns the report of a group as PDF. */
export async function reportFile(data: ReportData, language: string): Promise<ReportFile> {
  const t = printedReportTexts.in(language);
  const { page, report } = pageOf(data, language);
  const title = t('page', { group: data.group.name, period: report.period.title });
  const bytes = await pdfOf(page, { title, language, author: data.company, day: data.day });
  return { name: `${fileName(data, language)}.pdf`, bytes };
}

/**
 * Yields a PDF for each group with results. The last file lists the groups without results, if there are any. File names are
 * unique.
 */
export async function* reportFiles(
  reports: AsyncIterable<ReportData>,
  language: string,
): AsyncGenerator<ReportFile> {
  const t = printedReportTexts.in(language);
  const names = new Set<string>();
  const without: string[] = [];
  let period = '';
  for await (const data of reports) {
    period = data.period.name;
    if (!hasResults(data)) {
      without.push([...data.path, data.group].map(({ name }) => name).join(' › '));
      continue;
    }
    const { name, bytes } = await reportFile(data, language);
    // Windows and macOS ignore the letter case of file names.
    const isTaken = names.has(name.toLowerCase());
    names.add(name.toLowerCase());
    yield { name: isTaken ? name.replace(/\.pdf$/, ` (${data.group.id}).pdf`) : name, bytes };
  }
  if (without.length === 0) return;
  const known = periodNamed(period);
  const head = t('withoutResultsText', { period: known ? periodTitle(known, t) : period });
  const bytes = Buffer.from(`\uFEFF${[head, '', ...without].join('\r\n')}\r\n`);
  yield { name: `${t('withoutResults')}.txt`, bytes };
}

/** Returns the file name of a report without the extension and without characters that file systems don't allow. */
const fileName = ({ group, period }: ReportData, language: string): string =>
  printedReportTexts
    .in(language)('fileName', {
      group: [...group.name.normalize('NFC')].slice(0, 80).join(''),
      period: period.name,
    })
    .replace(/[\\/:*?"<>|\p{C}]+/gu, '_')
    .trim();
