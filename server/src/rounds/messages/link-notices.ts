// Replaces personal links after an email address has changed. The old links stop working, and an email notifies each address that
// they were sent to. Each email is a separate job, retried until the mail server accepts it.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Log } from '../../base/log.ts';
import { type AccountId, inTransaction, type Pool } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';
import { Rejected } from '../../sending/outcomes.ts';
import { replacedNotice } from './invitation.ts';
import { addNotices, selectNoticeReader } from './link-notices.sql.ts';
import { deleteLinksElsewhere } from '../links.sql.ts';

/** The payload of a job that sends a notice. */
export type LinkNotice = { accountId: AccountId; userId: number; week: Week; to: string };

/**
 * Deletes people's links of a week that were sent to addresses other than `address`, and queues an email to each of those addresses,
 * in one transaction (P13).
 */
export async function replaceLinks(
  pool: Pool,
  people: { accountId: AccountId; userId: number; week: Week; address: string }[],
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const notices = await deleteLinksElsewhere(tx, people);
    if (notices.length > 0) await addNotices(tx, notices);
  });
}

/** Sends a notice. Throws if the email is to be retried; an email that the server rejects permanently is only logged. */
export async function mailLinkNotice(
  pool: Pool,
  mailer: Mailer | undefined,
  { accountId, userId, week, to }: LinkNotice,
  log: Log,
): Promise<void> {
  // The log doesn't say whose link it is: a reminder may have replaced the link, only people who have not answered get
  // reminders, and logs are kept longer than the week.
  const about = { accountId };
  if (!mailer) return log.warn(about, 'Replaced-link notice not sent: SMTP_URL is not set');
  const reader = await selectNoticeReader(pool, accountId, userId);
  if (!reader) return; // the person has been removed in the meantime
  try {
    await mailer.send({
      id: `link notice ${accountId} ${userId} ${week} ${to}`,
      to,
      ...replacedNotice(reader),
    });
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    log.warn({ ...about, cause: error.message }, 'The mail server rejected a replaced-link notice');
  }
}
