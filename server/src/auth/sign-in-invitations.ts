// Invitations to sign in, for people who have not set a password yet: one email for each person, or a sheet with a link for each.
// No one gets two emails for one request: not if two administrators click at the same time, and not if a process is killed while it sends.
import { newId } from '../base/ids.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import { type AccountId, type Db, inTransaction, type Transaction } from '../db/db.ts';
import { notifyPerson } from '../accounts/account-notices.ts';
import { Rejected, Unconfirmed } from '../sending/outcomes.ts';
import {
  addInvitationMails,
  deleteInvitation,
  type Invitee,
  selectDueInvitation,
  selectInvitees,
  updateInvitation,
  upsertInvitations,
} from './sign-in-invitations.sql.ts';
import {
  createSignInLink,
  linkHours,
  type LinkMailDependencies,
  newLinkSecret,
  signInAddress,
} from './sign-in-links.ts';
import {
  type Addressee,
  deleteLink,
  deleteLinksOfMany,
  insertGivenLinks,
  selectAddressee,
} from './sign-in-links.sql.ts';
import { signInMail } from './sign-in-links-mail.ts';

/** How many hours after an invitation by email the next one can be sent to many people in one request. */
export const reminderHours = 24;

/** How many seconds after an invitation by email the same person can be invited again on their own. */
const secondsBetween = 60;

export type InvitationWay = 'mail' | 'sheet';

/** The people who would be invited, and why the others would not be. Each person is in one list. */
export type InvitationPlan = {
  inviting: Invitee[];
  withoutEmail: Invitee[];
  /** Invited by email within the last day. */
  recent: Invitee[];
  /** They have a password. */
  signedIn: Invitee[];
  /** They have the User role, and don't need to sign in. */
  users: Invitee[];
  inactive: Invitee[];
  /** Administrators who are not confirmed yet. */
  unconfirmed: Invitee[];
};

/** Returns which of these people would be invited together. `way`: how. */
export async function planInvitations(
  db: Db,
  accountId: AccountId,
  userIds: number[],
  way: InvitationWay,
): Promise<InvitationPlan> {
  const plan: InvitationPlan = {
    inviting: [],
    withoutEmail: [],
    recent: [],
    signedIn: [],
    users: [],
    inactive: [],
    unconfirmed: [],
  };
  for (const one of await selectInvitees(db, accountId, userIds, reminderHours))
    plan[reasonOf(one, way)].push(one);
  return plan;
}

function reasonOf(one: Invitee, way: InvitationWay): keyof InvitationPlan {
  if (!one.active) return 'inactive';
  if (one.isRolePending) return 'unconfirmed';
  if (one.hasPassword) return 'signedIn';
  if (one.role === 'User') return 'users';
  if (one.email === null) return 'withoutEmail';
  return way === 'mail' && one.isRecent ? 'recent' : 'inviting';
}

/**
 * Invites people by email, in the transaction in which an administrator requests it. Someone who was invited less than a minute ago
 * gets no second email. They must be active, confirmed and have an address and no password.
 */
export async function inviteByMail(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  const request = newId();
  const invited = await upsertInvitations(tx, accountId, userIds, {
    state: 'waiting',
    request,
    gap: secondsBetween,
  });
  const order = new Set(invited);
  await addInvitationMails(
    tx,
    accountId,
    userIds.filter((id) => order.has(id)),
    request,
  );
}

/** Creates a link for each of these people, to be handed out, and returns their addresses in order. Their earlier links stop working. */
export async function inviteBySheet(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
  publicUrl: string,
): Promise<string[]> {
  const secrets = userIds.map(() => newLinkSecret());
  await deleteLinksOfMany(tx, accountId, userIds);
  const links = userIds.map((userId, i) => ({ userId, hash: tokenHash(secrets[i] as string) }));
  await insertGivenLinks(tx, accountId, links, linkHours.given);
  await recordHandedOut(tx, accountId, userIds);
  return secrets.map((secret) => signInAddress(secret, publicUrl));
}

/** Stores that links for these people were shown to an administrator. */
export async function recordHandedOut(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<void> {
  await upsertInvitations(tx, accountId, userIds, { state: 'handed out', request: newId(), gap: 0 });
}

/** The payload of the job that emails one invitation. */
export type MailedInvitation = { accountId: AccountId; userId: number; request: string };

/**
 * Emails an invitation. Throws if the job should be retried, because the mail server certainly did not accept the email. If a process
 * was killed while it sent this invitation, the email may have been accepted, and it is not sent again.
 */
export async function mailInvitation(
  dependencies: LinkMailDependencies,
  { accountId, userId, request }: MailedInvitation,
): Promise<void> {
  const { pool, mailer, publicUrl, log, noteRefusal } = dependencies;
  const about = { accountId, userId };
  if (!mailer) return log.warn(about, 'An invitation to sign in was not emailed: SMTP_URL is not set');
  const begun = await inTransaction(pool, (tx) => beginSending(tx, { accountId, userId, request }));
  if (begun === 'unknown') log.warn(about, 'Delivery status unknown for an invitation to sign in');
  if (typeof begun === 'string') return;
  const { to, secret } = begun;
  const kind = begun.isReminder ? 'reminded' : 'given';
  const mail = signInMail({ ...begun, kind, hours: linkHours.given }, signInAddress(secret, publicUrl));
  const record = (state: 'sent' | 'unknown' | 'refused' | 'waiting') =>
    updateInvitation(pool, accountId, userId, { request, state });
  const id = `sign-in invitation ${accountId} ${userId} ${request}`;
  const error = await mailer
    .send({ id, to, person: { accountId, userId }, ...mail })
    .catch((thrown: unknown) => thrown);
  // If anything below throws, the state stays 'sending', and the email is not sent again.
  if (error === undefined) {
    await record('sent');
    if (begun.isPrevious)
      await inTransaction(pool, (tx) => notifyPerson(tx, accountId, userId, 'link to previous address'));
    return;
  }
  const cause = error instanceof Error ? error.message : String(error);
  if (error instanceof Unconfirmed) {
    log.warn({ ...about, cause }, 'Delivery status unknown for an invitation to sign in');
    return record('unknown');
  }
  await deleteLink(pool, tokenHash(secret));
  if (!(error instanceof Rejected)) {
    await record('waiting');
    throw error;
  }
  await record('refused');
  log.warn({ ...about, cause }, 'The mail server rejected an invitation to sign in');
  await noteRefusal(pool, { accountId, userId }, { address: to, reason: cause });
}

type Begun = Addressee & { to: string; secret: string; isReminder: boolean };

/**
 * Creates the link and stores that the invitation is being sent, before it is. Returns 'gone' if it should not be sent any
 * more, and 'unknown' if an earlier attempt was interrupted.
 */
async function beginSending(
  tx: Transaction,
  { accountId, userId, request }: MailedInvitation,
): Promise<Begun | 'gone' | 'unknown'> {
  const person = await selectAddressee(tx, accountId, userId);
  const due = await selectDueInvitation(tx, accountId, userId, request);
  if (!due) return 'gone';
  if (due.state === 'sending') {
    await updateInvitation(tx, accountId, userId, { request, state: 'unknown' });
    return 'unknown';
  }
  if (due.state !== 'waiting') return 'gone';
  if (!person || person.email === null || !due.canBeSent) {
    await deleteInvitation(tx, accountId, userId);
    return 'gone';
  }
  const secret = await createSignInLink(tx, accountId, userId, { hours: linkHours.given });
  await updateInvitation(tx, accountId, userId, { request, state: 'sending' });
  return { ...person, to: person.email, secret, isReminder: due.isReminder };
}
