// Links for setting a password, for people who forgot theirs or don't have one yet. A link contains a random secret, is stored
// as a hash and works once. It stops working when it expires, when a password is set, or when the person is deactivated, gets
// another address or becomes an administrator. The secret is in the URL fragment (after #), which browsers never send.
import { emailKey } from '@soundings/contract/formats.ts';
import { randomBytes } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../db/db.ts';
import type { Mailer } from '../mail/mail.ts';
import { Rejected } from '../sending/outcomes.ts';
import { notifyPerson } from '../accounts/account-notices.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import { deleteSessionsOf } from './sessions.sql.ts';
import {
  addForgottenPasswordMails,
  deleteLink,
  insertLink,
  type LinkKind,
  type SignInLink,
  selectAddressee,
  countRequestedLinks,
  selectSignInLink,
} from './sign-in-links.sql.ts';
import { signInMail } from './sign-in-links-mail.ts';
import { digestPasswordOf, keepPassword, ssoRequired } from './sign-in.ts';

/** How many hours a link is valid: `forgotten` was requested by the person, `given` was created by an administrator. */
export const linkHours = { forgotten: 1, given: 72 } as const;

/** How many links a person can request per hour. */
const maxRequestsPerHour = 3;

/** Returns the secret of a new link: 192 random bits. */
export const newLinkSecret = (): string => randomBytes(24).toString('base64url');

/** Creates a link for a person and returns its secret of 192 random bits; only its hash is stored. Earlier links keep working. */
export async function createSignInLink(
  db: Db,
  accountId: AccountId,
  userId: number,
  { hours, kind = 'given' }: { hours: number; kind?: LinkKind },
): Promise<string> {
  const secret = newLinkSecret();
  await insertLink(db, { hash: tokenHash(secret), accountId, userId, kind, hours });
  return secret;
}

/** Returns the address of the page that sets a password. `publicUrl` has no trailing slash. */
export const signInAddress = (secret: string, publicUrl: string): string => `${publicUrl}/password#${secret}`;

/**
 * Returns the link with this secret and the person it is for. Throws a Fault if the link is not valid, or if the account requires single
 * sign-on.
 */
export async function linkOf(db: Db, secret: string): Promise<SignInLink> {
  const found = await selectSignInLink(db, tokenHash(secret));
  if (!found) throw linkNotFound();
  if (!found.isPasswordAllowed) throw ssoRequired();
  return found;
}

/**
 * Sets a password with a link and ends all sessions of the person. The link can't be used again. Throws a Fault if the link is
 * not valid or if the password is too weak; after a weak password the link still works. `canMail`: notify the person.
 */
export async function setPasswordByLink(
  pool: Pool,
  secret: string,
  password: string,
  { address, canMail }: { address: string; canMail: boolean },
): Promise<SignInLink> {
  const hash = await digestPasswordOf(pool, await linkOf(pool, secret), password);
  return inTransaction(pool, async (tx) => {
    const link = await linkOf(tx, secret);
    if (!(await deleteLink(tx, tokenHash(secret)))) throw linkNotFound();
    await keepPassword(tx, link, hash);
    await deleteSessionsOf(tx, link);
    const actor: Actor = { origin: 'console', userId: link.userId, address };
    await audit(tx, link.accountId, actor, 'password changed', {
      subject: link.userId,
      details: { how: 'link' },
    });
    if (canMail) await notifyPerson(tx, link.accountId, link.userId, 'password set');
    return link;
  });
}

/** Returns the Fault for a link that no longer works. `advice`: a sentence that says how to get a new one. */
export const linkNotFound = (advice = 'Request a new one.'): Fault =>
  new Fault(
    'not_found',
    'link not found',
    `This link is invalid, has expired or was already used. ${advice}`,
  );

/** Emails a link to the person with this address. Don't wait for it: the time it takes could reveal whether the address exists. */
export async function requestSignInLink(pool: Pool, email: string): Promise<void> {
  await addForgottenPasswordMails(pool, emailKey(email));
}

/** The payload of the job that emails one link. */
export type MailedLink = { accountId: AccountId; userId: number; kind: LinkKind };

export type LinkMailDependencies = {
  pool: Pool;
  mailer: Mailer | undefined;
  publicUrl: string;
  log: Log;
  /** Shows administrators that an email was rejected. Passed in because it is in a layer above. */
  noteRefusal: (
    pool: Pool,
    person: { accountId: AccountId; userId: number },
    rejected: { address: string; reason: string },
  ) => Promise<void>;
};

/** Creates a link and emails it. Throws if the job should be retried, with a new link; a rejected recipient is only noted. */
export async function mailSignInLink(
  { pool, mailer, publicUrl, log, noteRefusal }: LinkMailDependencies,
  { accountId, userId, kind }: MailedLink,
): Promise<void> {
  if (!mailer) return log.warn({ accountId, userId }, 'A sign-in link was not emailed: SMTP_URL is not set');
  const hours = linkHours[kind];
  // In one transaction, so that a change of the address either comes first or ends the new link.
  const created = await inTransaction(pool, async (tx) => {
    const person = await selectAddressee(tx, accountId, userId);
    if (!person || person.email === null) return undefined;
    if (kind === 'forgotten' && (await countRequestedLinks(tx, accountId, userId)) >= maxRequestsPerHour) {
      log.warn({ accountId, userId }, 'A sign-in link was not emailed: the person requested too many');
      return undefined;
    }
    return {
      ...person,
      to: person.email,
      secret: await createSignInLink(tx, accountId, userId, { hours, kind }),
    };
  });
  if (!created) return;
  const { to, secret, isPrevious } = created;
  try {
    const mail = signInMail({ ...created, kind, hours }, signInAddress(secret, publicUrl));
    await mailer.send({ to, ...(kind !== 'forgotten' && { person: { accountId, userId } }), ...mail });
    if (isPrevious)
      await inTransaction(pool, (tx) => notifyPerson(tx, accountId, userId, 'link to previous address'));
    // A link that an administrator creates is already in the audit log.
    if (kind === 'forgotten') {
      const details = { kind, by: 'mail' };
      await audit(pool, accountId, { origin: 'service' }, 'sign-in link created', {
        subject: userId,
        details,
      });
    }
  } catch (error) {
    await deleteLink(pool, tokenHash(secret)).catch(() => {});
    if (!(error instanceof Rejected)) throw error;
    log.warn(
      { accountId, userId, cause: error.message },
      'The mail server rejected an email with a sign-in link',
    );
    if (kind === 'forgotten') return;
    await noteRefusal(pool, { accountId, userId }, { address: to, reason: error.message });
  }
}
