// The command that saves reports: a PDF of one group, or a ZIP archive of all groups.
import { dayIn } from '@soundings/contract/weeks.ts';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { accountById } from '../accounts/accounts.ts';
import { asAdministrator } from '../console/core/administrator.ts';
import { zipOf } from '../console/reports/zip-writer.ts';
import type { Pool } from '../db/db.ts';
import {
  account,
  accountOf,
  type Command,
  languageOption,
  numberOf,
  oneOf,
  required,
  text,
  type OptionValues,
} from './options.ts';

export const reportCommands: Record<string, Command> = {
  report: {
    usage:
      '--account ID [--group ID] [--period 2026-W38 | 2026-Q3] [--compare company|parent|halfYear|none]\n' +
      '    [--language en|sv] --out FILE\n' +
      '    Saves the report of a group as PDF: one A4 page with what changed, KPIs, questions and comments, for a week (default:\n' +
      '    the last one with results) or a quarter. Without --group: a ZIP archive with the reports of all groups.',
    options: { ...account, group: text, period: text, compare: text, language: text, out: text },
    run: saveReport,
    format: ({ file, reports }: { file: string; reports: number }) =>
      reports === 1 ? `Saved the report in ${file}.` : `Saved ${reports} reports in ${file}.`,
  },
};

async function saveReport(pool: Pool, values: OptionValues): Promise<{ file: string; reports: number }> {
  const accountId = accountOf(values);
  const file = required(values, 'out');
  const language = languageOption(values);
  const compare = oneOf(values, 'compare', ['company', 'parent', 'halfYear', 'none'] as const);
  const groupId = values['group'] === undefined ? undefined : numberOf(values, 'group');
  const period = values['period'] === undefined ? undefined : String(values['period']);
  // Imported here, because fonts would slow down every other command.
  const [{ readReports }, { reportFile, reportFiles }] = await Promise.all([
    import('../console/reports/read-reports.ts'),
    import('../console/reports/report-files.ts'),
  ]);
  const { timezone } = await accountById(pool, accountId);
  const wanted = { period, compare, language, day: dayIn(timezone, Date.now()) };
  const who = asAdministrator(accountId, timezone);
  if (groupId !== undefined) {
    for await (const report of readReports(pool, who, [groupId], wanted))
      await writeFile(file, (await reportFile(report, language)).bytes);
    return { file, reports: 1 };
  }
  const files = reportFiles(readReports(pool, who, undefined, wanted), language);
  let next = await files.next(); // The first report is read before the file is created, so that an error leaves no file.
  let reports = 0;
  const counted = async function* () {
    for (; !next.done; next = await files.next()) {
      if (next.value.name.endsWith('.pdf')) reports++;
      yield next.value;
    }
  };
  await pipeline(zipOf(counted()), createWriteStream(file));
  return { file, reports };
}
