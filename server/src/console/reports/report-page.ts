// A report with its texts, and with as many of its comments as its page has room for.
import type { PrintedReport } from '@soundings/contract/console/reports.ts';
import { fontMetrics } from './fonts.ts';
import type { ReportData } from './report-data.ts';
import { layoutReport } from './report-layout.ts';
import type { Page } from './report-sheet.ts';
import { leftOutText, reportTextOf, printedReportTexts } from './report-text.ts';

export function pageOf(data: ReportData, language: string): { report: PrintedReport; page: Page } {
  const whole = reportTextOf(data, language);
  const leftOut = (shown: number) => leftOutText(data.comments.total - shown, language);
  const otherScript = printedReportTexts.in(language)('otherScript');
  const page = layoutReport(whole, fontMetrics, { otherScript, leftOut });
  const items = whole.comments.items.slice(0, page.shown);
  return { report: { ...whole, comments: { ...whole.comments, items, note: leftOut(page.shown) } }, page };
}
