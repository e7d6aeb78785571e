// Reads the mailbox to which undeliverable emails are returned, and records at each person that their address doesn't work. Only emails
// with a token are attributed (mail/bounces). Reminders have none, because only people who have not answered get one.
import type { Log } from '../../base/log.ts';
import type { ImapFolder } from '../../base/messages/smtp.ts';
import type { Pool } from '../../db/db.ts';
import { bounceIn } from '../../mail/bounces/delivery-status.ts';
import { readMailbox } from '../../mail/bounces/mailbox.ts';
import { insertRefusal } from './messages.sql.ts';
import { selectOptOutKeys } from './opt-outs.sql.ts';
import { readPersonToken } from './person-tokens.ts';

/** Reads the mailbox once. If it can't be read, that is logged, and the next call tries again. */
export async function readBounces(pool: Pool, folder: ImapFolder, log: Log): Promise<void> {
  try {
    await readMailbox(folder, (report) => recordBounce(pool, report));
  } catch (error) {
    const { message, responseText, code } = error as Error & { responseText?: string; code?: string };
    const cause = responseText ?? message;
    log.warn(
      { cause, code },
      'The mailbox for undeliverable emails (IMAP_URL) could not be read. It will be tried again',
    );
  }
}

/** Records a returned email. Returns false, and records nothing, if a text is not a report of one, or its token is not signed by us. */
export async function recordBounce(pool: Pool, report: Uint8Array): Promise<boolean> {
  const bounce = await bounceIn(report);
  if (!bounce) return false;
  const { accountId, userId, isSignedBy } = readPersonToken('bounces', bounce.token);
  if (!isSignedBy(await selectOptOutKeys(pool))) return false;
  await insertRefusal(
    pool,
    { accountId, userId },
    { address: bounce.to, reason: bounce.reason, isReturned: true },
  );
  return true;
}
