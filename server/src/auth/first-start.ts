// The first start: the service prints a link on the terminal that creates the first account. The link stops working when it has
// been used, when an account exists, or when any process has printed a newer link.
import { randomBytes } from 'node:crypto';
import { tokenHash } from '../base/crypto/secrets.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { deleteFirstStartLink, replaceFirstStartLink, selectFirstStartLink } from './first-start.sql.ts';
import { linkNotFound } from './sign-in-links.ts';

/** Creates the link and returns its address, or undefined if an account exists. `publicUrl` has no trailing slash. */
export async function createFirstStartLink(pool: Pool, publicUrl: string): Promise<string | undefined> {
  const secret = randomBytes(24).toString('base64url');
  const isCreated = await inTransaction(pool, (tx) => replaceFirstStartLink(tx, tokenHash(secret)));
  return isCreated ? `${publicUrl}/setup#${secret}` : undefined;
}

/** Returns the text that the terminal shows. */
export const describeFirstStartLink = (address: string): string =>
  `\nThere is no account yet. To create the first one, open this link (it works once):\n\n  ${address}\n\n`;

/** Throws a Fault if the link is not valid. */
export async function rejectExpiredFirstStartLink(db: Db, secret: string): Promise<void> {
  if (!(await selectFirstStartLink(db, tokenHash(secret)))) throw linkNotValid();
}

/** Uses the link up, in the transaction that creates the account. Throws a Fault if the link is not valid. */
export async function consumeFirstStartLink(tx: Transaction, secret: string): Promise<void> {
  if (!(await deleteFirstStartLink(tx, tokenHash(secret)))) throw linkNotValid();
}

const linkNotValid = () => linkNotFound('Restart the service and open the link that it prints.');
