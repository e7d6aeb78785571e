// Telling by mail what became of a file: one job for each address, which is tried again until the mail is taken.
import { accountById } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { selectReport } from './process.sql.ts';
import { mailOf } from './words.ts';

/** What a job of it says. */
export type MailedReport = { accountId: AccountId; fileId: number; to: string };

/** Sends it. What is thrown is to be tried again; an address that refuses is not. */
export async function mailReport(
  pool: Pool,
  mailer: Mailer | undefined,
  { accountId, fileId, to }: MailedReport,
  log: Log,
): Promise<void> {
  if (!mailer) {
    return log.warn({ accountId, fileId }, 'A report of a file was not mailed: SMTP_URL is not set');
  }
  const report = await selectReport(pool, accountId, fileId);
  if (!report) return; // forgotten meanwhile
  const account = await accountById(pool, accountId).catch((error: unknown) => {
    if (error instanceof Fault && error.kind === 'not_found') return undefined;
    throw error;
  });
  if (!account) return;
  try {
    // The same mail sent twice has one id; a file that was held and is approved later is told of again.
    const id = `file ${fileId} ${report.outcome} ${to}`;
    await mailer.send({ id, to, ...mailOf(report, account) });
    log.info({ accountId, fileId, runId: report.runId }, 'A report of a file was mailed');
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn(
      { accountId, fileId, cause: error.message },
      'A report of a file was refused by the mail server',
    );
  }
}
