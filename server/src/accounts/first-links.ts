// The first start: a link, printed on the terminal of whoever starts the service, makes the first account. It is dead when it was
// used, when there is an account, and when a newer one was printed, by whatever process.
import { randomBytes } from 'node:crypto';
import { Fault } from '../base/errors.ts';
import { tokenHash } from '../base/secrets.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { deleteFirstLink, replaceFirstLink, selectFirstLink } from './first-links.sql.ts';

/** Makes the link and returns its address; undefined when there is an account. `publicUrl` has no slash at its end. */
export async function makeFirstLink(pool: Pool, publicUrl: string): Promise<string | undefined> {
  const secret = randomBytes(24).toString('base64url');
  const isMade = await inTransaction(pool, (tx) => replaceFirstLink(tx, tokenHash(secret)));
  return isMade ? `${publicUrl}/welcome#${secret}` : undefined;
}

/** What is printed of it. */
export const describeFirstLink = (address: string): string =>
  `\nThere is no account yet. Open this link to make the first; it works once:\n\n  ${address}\n\n`;

/** Throws a Fault unless the link counts. */
export async function refuseDeadFirstLink(db: Db, secret: string): Promise<void> {
  if (!(await selectFirstLink(db, tokenHash(secret)))) throw dead();
}

/** Uses the link up, in the transaction that makes the account. Throws a Fault unless it counts. */
export async function spendFirstLink(tx: Transaction, secret: string): Promise<void> {
  if (!(await deleteFirstLink(tx, tokenHash(secret)))) throw dead();
}

const dead = () =>
  new Fault(
    'not_found',
    'link not found',
    'This link was used, or a newer one was printed when the service was started again.',
  );
