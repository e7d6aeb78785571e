// Mails to people about what was done to their way of signing in, by others or in their own session: no one takes over an account
// unnoticed. One job for each mail, in the transaction of what was done. docs/operations.md lists them (a test compares).
import type { Log } from '../base/log.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { addNoticesTo, selectAdministrators, selectHasJobs, selectMovedNow } from './account-notices.sql.ts';
import { accountNoticeLetter } from './account-notices-letter.ts';

/** What people are notified of, and who: the person whom it concerns, or every administrator. */
export const noticedChanges = {
  'password set': 'person',
  'link shown': 'person',
  'link to previous address': 'person',
  'second step turned on': 'person',
  'second step turned off': 'person',
  'recovery codes made': 'person',
  'address changed': 'person',
  'role changed': 'person',
  'shut out': 'person',
  'administrator added': 'administrators',
  'token created': 'administrators',
} as const;
export type NoticedChange = keyof typeof noticedChanges;

/** `about`: whom or what it concerns, where that isn't the reader. */
export type Notice = { change: NoticedChange; about?: string | null };

/** What a job of it says. */
export type AccountNotice = {
  accountId: AccountId;
  userId: number;
  change: NoticedChange;
  about: string | null;
  to: string;
  firstName: string;
  company: string;
  language: string;
};

/** Notifies a person. Call it after a change of the address but before a removal, and only where mail can be sent. */
export async function notifyPerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  change: NoticedChange,
): Promise<void> {
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, [userId], { change });
}

/** Notifies all administrators but `but`, whom it is about. */
export async function notifyAdministrators(
  tx: Transaction,
  accountId: AccountId,
  notice: Notice,
  but?: number,
): Promise<void> {
  const userIds = await selectAdministrators(tx, accountId, { but: but ?? null });
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, userIds, notice);
}

/** Notifies those of some people whose address was changed in this transaction. */
export async function notifyMoved(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  const moved = await selectMovedNow(tx, accountId, userIds);
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, moved, { change: 'address changed' });
}

/** Sends it. What is thrown is to be tried again; an address that refuses is not. */
export async function mailAccountNotice(
  mailer: Mailer | undefined,
  notice: AccountNotice,
  log: Log,
): Promise<void> {
  const { accountId, userId, change, to } = notice;
  const about = { accountId, userId, change };
  if (!mailer)
    return log.warn(about, 'A person was not notified of a change of the account: SMTP_URL is not set');
  try {
    await mailer.send({ to, ...accountNoticeLetter(notice, noticedChanges[change]) });
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    log.warn(
      { ...about, cause: error.message },
      'The notice of a change of an account was refused by the mail server',
    );
  }
}
