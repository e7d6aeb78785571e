// Mails to people about what an administrator has done to their way of signing in: one who takes over another's account can't do so
// unnoticed. One job for each, in the transaction of what was done.
import type { Log } from '../base/log.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { addAccountNotice, type NoticedChange } from './account-notices.sql.ts';
import { accountNoticeLetter } from './account-notices-letter.ts';
import { selectAddressee } from './sign-in-links.sql.ts';

export { addAccountNotice, type NoticedChange };

/** What a job of it says. `to`: the address that the person had before. */
export type AccountNotice = { accountId: AccountId; userId: number; change: NoticedChange; to: string };

/** Sends it. What is thrown is to be tried again; an address that refuses is not. */
export async function mailAccountNotice(
  pool: Pool,
  mailer: Mailer | undefined,
  { accountId, userId, change, to }: AccountNotice,
  log: Log,
): Promise<void> {
  const about = { accountId, userId, change };
  if (!mailer)
    return log.warn(about, 'A person was not notified of a change of the account: SMTP_URL is not set');
  const person = await selectAddressee(pool, accountId, userId);
  if (!person) return; // removed meanwhile
  try {
    await mailer.send({ to, ...accountNoticeLetter(person, change) });
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn(
      { ...about, cause: error.message },
      'The notice of a change of an account was refused by the mail server',
    );
  }
}
