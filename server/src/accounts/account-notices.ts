// Emails people when their sign-in changes, whether they or someone else made the change, so that no one can take over an account
// unnoticed. Each email is one job, added in the transaction of the change. docs/operators/operations.md lists the emails, and a
// test compares the list with this code.
import type { Log } from '../base/log.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { selectHasJobs } from '../events/events.sql.ts';
import { type Mailer, sendUnlessRejected } from '../mail/mail.ts';
import {
  addAdministratorMails,
  addNoticesTo,
  selectAdministratorsToNotify,
  selectMovedNow,
} from './account-notices.sql.ts';
import { accountNoticeMail } from './account-notices-mail.ts';
import { type AccountNotice, type Notice, type NoticedChange, noticedChanges } from './noticed-changes.ts';

/** Notifies a person. Call it after changing their address but before removing them, and only if mail is configured. */
export async function notifyPerson(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  change: NoticedChange,
): Promise<void> {
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, [userId], { change });
}

/** Notifies all administrators except `but`, the person that the notice is about. */
export async function notifyAdministrators(
  tx: Transaction,
  accountId: AccountId,
  notice: Notice,
  but?: number,
): Promise<void> {
  const userIds = await selectAdministratorsToNotify(tx, accountId, { but: but ?? null });
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, userIds, notice);
}

/** The payload of a job that sends an email to one administrator, without what each job gets by itself. */
export type MailPayload<Mail> = Omit<Mail, 'accountId' | 'to'>;

/** Adds a job for each active administrator, with the payload, the account and the address (`to`). Adds none if the service has never run. */
export async function queueAdministratorMails(
  tx: Transaction,
  accountId: AccountId,
  task: string,
  payload: Record<string, string | number>,
): Promise<void> {
  if (await selectHasJobs(tx)) await addAdministratorMails(tx, accountId, task, payload);
}

/** Notifies each of the given people whose address was changed in this transaction. */
export async function notifyMoved(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  const moved = await selectMovedNow(tx, accountId, userIds);
  if (await selectHasJobs(tx)) await addNoticesTo(tx, accountId, moved, { change: 'address changed' });
}

/** Sends a notice. Throws if the job should be retried; logs a warning if the mail server rejects the recipient. */
export async function mailAccountNotice(
  mailer: Mailer | undefined,
  notice: AccountNotice,
  log: Log,
): Promise<void> {
  const { accountId, userId, change, to } = notice;
  const about = { accountId, userId, change };
  if (!mailer)
    return log.warn(about, 'A person was not notified of a change to their sign-in: SMTP_URL is not set');
  const mail = { to, ...accountNoticeMail(notice, noticedChanges[change]) };
  await sendUnlessRejected(mailer, mail, (cause) =>
    log.warn({ ...about, cause }, 'The mail server rejected a notice about a change to a person’s sign-in'),
  );
}
