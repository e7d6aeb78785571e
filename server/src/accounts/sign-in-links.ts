// Links by which people set a password: who has forgotten theirs, or has none yet. Random, kept as a digest, used once, and dead
// when they expire, a password is set, or their person is no longer active, gets another address or becomes an
// administrator. They stand in the address
// behind #, which browsers send to nobody.
import { emailKey } from '@soundings/contract/formats.ts';
import { randomBytes } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { tokenHash } from '../base/secrets.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../db/db.ts';
import { type Mailer, MailRefused } from '../mail/mail.ts';
import { notifyPerson } from './account-notices.ts';
import { type Actor, audit } from './audit.ts';
import { endSessions } from './sessions.ts';
import {
  addForgottenMails,
  addGivenMail,
  deleteLink,
  insertLink,
  type LinkKind,
  type LinkRow,
  selectAddressee,
  selectAskedFor,
  selectLink,
} from './sign-in-links.sql.ts';
import { signInLetter } from './sign-in-links-letter.ts';
import { digestPasswordOf, keepPassword } from './signin.ts';

export { addGivenMail as giveLinkByMail };

/** For how many hours a link is good: one that somebody asked for, and one that an administrator made. */
export const linkHours = { forgotten: 1, given: 72 } as const;

/** So many mails an hour go to a person who asks for them. */
const mostAskedFor = 3;

/** Makes a link for a person and returns its secret, which is kept nowhere: 192 random bits. Earlier ones go on working. */
export async function makeSignInLink(
  db: Db,
  accountId: AccountId,
  userId: number,
  { hours, kind = 'given' }: { hours: number; kind?: LinkKind },
): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  await insertLink(db, { hash: tokenHash(secret), accountId, userId, kind, hours });
  return secret;
}

/** Where a password is set by a link. `publicUrl` has no slash at its end. */
export const signInAddress = (secret: string, publicUrl: string): string => `${publicUrl}/password#${secret}`;

/** Whom a link is for. Throws a Fault when it is not good. */
export async function linkOf(db: Db, secret: string): Promise<LinkRow> {
  const found = await selectLink(db, tokenHash(secret));
  if (!found) throw linkNotFound();
  return found;
}

/**
 * Sets a password by a link, which is then used up; all sessions of its person end. Throws a Fault when the link is not
 * good, and one for a weak password, after which the link still is. `canMail`: the person is notified.
 */
export async function setPasswordByLink(
  pool: Pool,
  secret: string,
  password: string,
  { address, canMail }: { address: string; canMail: boolean },
): Promise<LinkRow> {
  const hash = await digestPasswordOf(pool, await linkOf(pool, secret), password);
  return inTransaction(pool, async (tx) => {
    const link = await linkOf(tx, secret);
    if (!(await deleteLink(tx, tokenHash(secret)))) throw linkNotFound();
    await keepPassword(tx, link, hash);
    await endSessions(tx, link);
    const actor: Actor = { origin: 'console', userId: link.userId, address };
    await audit(tx, link.accountId, actor, 'password changed', {
      subject: link.userId,
      details: { how: 'link' },
    });
    if (canMail) await notifyPerson(tx, link.accountId, link.userId, 'password set');
    return link;
  });
}

const linkNotFound = () =>
  new Fault(
    'not_found',
    'link not found',
    'This link was used, has expired, or never was. Ask for a new one.',
  );

/** Mails a link to whoever has an address. Nothing tells whether anybody does: do not wait for it. */
export async function askForLink(pool: Pool, email: string): Promise<void> {
  await addForgottenMails(pool, emailKey(email));
}

/** What a job of it says. */
export type MailedLink = { accountId: AccountId; userId: number; kind: LinkKind };

type Means = {
  pool: Pool;
  mailer: Mailer | undefined;
  publicUrl: string;
  log: Log;
  /** Notes for the administrators that a mail was refused: it is on a floor above. */
  noteRefusal: (
    pool: Pool,
    person: { accountId: AccountId; userId: number },
    refused: { address: string; reason: string },
  ) => Promise<void>;
};

/** Makes the link and sends it. What is thrown is to be tried again, with a new link; an address that refuses is not. */
export async function mailSignInLink(
  { pool, mailer, publicUrl, log, noteRefusal }: Means,
  { accountId, userId, kind }: MailedLink,
): Promise<void> {
  if (!mailer) return log.warn({ accountId, userId }, 'A sign-in link was not mailed: SMTP_URL is not set');
  const hours = linkHours[kind];
  // In one transaction: the link is of the person as the address was found, or ends with what is changed after.
  const made = await inTransaction(pool, async (tx) => {
    const person = await selectAddressee(tx, accountId, userId);
    if (!person || person.email === null) return undefined;
    if (kind === 'forgotten' && (await selectAskedFor(tx, accountId, userId)) >= mostAskedFor) {
      log.warn({ accountId, userId }, 'A sign-in link was not mailed: too many were asked for');
      return undefined;
    }
    return {
      ...person,
      to: person.email,
      secret: await makeSignInLink(tx, accountId, userId, { hours, kind }),
    };
  });
  if (!made) return;
  const { to, secret, isPrevious } = made;
  try {
    const letter = signInLetter({ ...made, kind, hours }, signInAddress(secret, publicUrl));
    await mailer.send({ to, ...letter });
    if (isPrevious)
      await inTransaction(pool, (tx) => notifyPerson(tx, accountId, userId, 'link to previous address'));
    // One that an administrator makes was noted when it was asked for.
    if (kind === 'forgotten') {
      const details = { kind, by: 'mail' };
      await audit(pool, accountId, { origin: 'service' }, 'sign-in link made', { subject: userId, details });
    }
  } catch (error) {
    await deleteLink(pool, tokenHash(secret)).catch(() => {});
    if (!(error instanceof MailRefused)) throw error;
    log.warn({ accountId, userId, cause: error.message }, 'A sign-in link was refused by the mail server');
    if (kind === 'forgotten') return;
    await noteRefusal(pool, { accountId, userId }, { address: to, reason: error.message });
  }
}
