// Links that a new address has replaced: they open nothing any more, and the address that they were sent to is told by mail. One job
// for each address, which is tried again until the mail is taken.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Log } from '../base/log.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { replacedNotice } from './invitation.ts';
import { addNotices, selectNoticeReader } from './link-notices.sql.ts';
import { deleteLinksElsewhere } from './links.sql.ts';

/** What a job of it says. */
export type LinkNotice = { accountId: AccountId; userId: number; week: Week; to: string };

/**
 * Ends the links of a person in a week that were sent to other addresses than this one (P13), and asks for a mail to each of
 * those, in one transaction.
 */
export async function replaceLinks(
  pool: Pool,
  key: { accountId: AccountId; userId: number; week: Week },
  address: string,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const before = await deleteLinksElsewhere(tx, key, address);
    if (before.length > 0) await addNotices(tx, key, before);
  });
}

/** Sends it. What is thrown is to be tried again; an address that refuses is not. */
export async function mailLinkNotice(
  pool: Pool,
  mailer: Mailer | undefined,
  { accountId, userId, week, to }: LinkNotice,
  log: Log,
): Promise<void> {
  // Not whose: a link may have been replaced by a reminder, and the log stays when the week has closed.
  const about = { accountId };
  if (!mailer) return log.warn(about, 'The notice of a replaced link was not mailed: SMTP_URL is not set');
  const reader = await selectNoticeReader(pool, accountId, userId);
  if (!reader) return; // removed meanwhile
  try {
    await mailer.send({
      id: `link notice ${accountId} ${userId} ${week} ${to}`,
      to,
      ...replacedNotice(reader),
    });
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn(
      { ...about, cause: error.message },
      'The notice of a replaced link was refused by the mail server',
    );
  }
}
