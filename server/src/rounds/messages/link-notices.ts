// Notifies an email address or phone number that the links sent there were replaced, because the person's address has changed. Each message
// is a separate job, retried until it is accepted.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Log } from '../../base/log.ts';
import type { AccountId, Pool } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';
import { Rejected, Unconfirmed } from '../../sending/outcomes.ts';
import type { Gateway, Sms } from '../../sms/sms.ts';
import { replacedNotice } from './invitation.ts';
import { replacedSms } from './invitation-sms.ts';
import { selectNoticeReader } from './link-notices.sql.ts';

/** The payload of a job that sends a notice. */
export type LinkNotice = { accountId: AccountId; userId: number; week: Week; to: string };

export type NoticeSenders = { mailer: Mailer | undefined; gateway?: Gateway | undefined };

/**
 * Sends a notice. Throws if the message is to be retried; one that is rejected permanently is only logged. A text message that may have
 * been accepted is not sent again.
 */
export async function sendLinkNotice(
  pool: Pool,
  { mailer, gateway }: NoticeSenders,
  notice: LinkNotice,
  log: Log,
): Promise<void> {
  const { accountId, to } = notice;
  // The log doesn't say whose link it is: a reminder may have replaced the link, only people who have not answered get
  // reminders, and logs are kept longer than the week.
  const about = { accountId };
  const isMail = to.includes('@');
  if (isMail ? !mailer : !gateway) {
    const setting = isMail ? 'SMTP_URL' : 'SMS_PROVIDER';
    return log.warn(about, `Replaced-link notice not sent: ${setting} is not set`);
  }
  const reader = await selectNoticeReader(pool, notice);
  if (!reader) return; // the person has been removed in the meantime, or the week has closed
  try {
    if (isMail) await mailer?.send({ id: idOf(notice), to, ...replacedNotice(reader) });
    else await gateway?.send(noticeSms(notice, reader));
  } catch (error) {
    const isUnknown = error instanceof Unconfirmed && !isMail;
    if (!(error instanceof Rejected) && !isUnknown) throw error;
    const receiver = isMail ? 'mail server' : 'gateway for text messages';
    const outcome = isUnknown ? 'did not confirm' : 'rejected';
    log.warn({ ...about, cause: error.message }, `The ${receiver} ${outcome} a replaced-link notice`);
  }
}

const idOf = ({ accountId, userId, week, to }: LinkNotice) =>
  `link notice ${accountId} ${userId} ${week} ${to}`;

/** Returns the notice as a text message. It doesn't name the person to a gateway, because it goes to a number that may not be theirs. */
const noticeSms = (notice: LinkNotice, reader: { company: string; language: string }): Sms => ({
  to: notice.to,
  text: replacedSms(reader),
  id: idOf(notice),
  kind: 'notice',
  language: reader.language,
  externalId: null,
  email: null,
});
