// Emails the report of a file: one job for each address, retried until the mail server accepts the email.
import { accountById } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import { selectReport } from './process.sql.ts';
import { mailOf } from './report-texts.ts';

/** The data of one such job. */
export type MailedReport = { accountId: AccountId; fileId: number; to: string };

/** Sends the email. Throws on errors that a retry may solve. An email that the server rejects is logged and not retried. */
export async function mailReport(
  pool: Pool,
  mailer: Mailer | undefined,
  { accountId, fileId, to }: MailedReport,
  log: Log,
): Promise<void> {
  if (!mailer) {
    return log.warn({ accountId, fileId }, 'File report not emailed: SMTP_URL is not set');
  }
  const report = await selectReport(pool, accountId, fileId);
  if (!report) return; // The file has been deleted in the meantime.
  const account = await accountById(pool, accountId).catch((error: unknown) => {
    if (error instanceof Fault && error.kind === 'not_found') return undefined;
    throw error;
  });
  if (account?.kind !== 'company') return;
  // Retries of the same email share one id. A file that waits for approval and is approved later gets a second email.
  const id = `file ${fileId} ${report.outcome} ${to}`;
  const isSent = await sendUnlessRejected(mailer, { id, to, ...mailOf(report, account) }, (cause) =>
    log.warn({ accountId, fileId, cause }, 'The mail server rejected a file report'),
  );
  if (isSent) log.info({ accountId, fileId, runId: report.runId }, 'File report emailed');
}
