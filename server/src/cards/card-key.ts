// The key of cards, from which the digests of their codes and their links are derived. It is sealed with the secrets key, which is
// outside the database. So someone who has only the database or a backup can neither try codes nor compute links.
import { randomBytes } from 'node:crypto';
import { keyedHash } from '../base/crypto/keyed.ts';
import { inBase62 } from '../base/crypto/secrets.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { Fault } from '../base/errors.ts';
import type { Db, Transaction } from '../db/db.ts';
import { insertCardKey, selectCardKey, updateCardKey } from './card-key.sql.ts';

const context = 'card codes';

/** The key, with what is derived from it. */
export class CardKey {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** Returns the form in which a code is stored and found. */
  digestOf(code: string): Buffer {
    return keyedHash(this.#secret, 'code', code);
  }

  /**
   * Returns the secret of a card's link in a week. It is the same each time the card is used in that week, and another one after the
   * card is replaced. `digest`: of its code.
   */
  linkOf(digest: Buffer, week: string): string {
    return inBase62(keyedHash(this.#secret, 'link', digest.toString('hex'), week), 27);
  }
}

/**
 * Returns the key of cards, which is created when it is first needed. Throws a Fault if it can't be opened on this server. It is not
 * replaced then, because all printed cards would stop working; `soundings keys reset --secrets` does that.
 */
export async function cardKeyOf(db: Db, secrets: Sealer): Promise<CardKey> {
  if (!(await selectCardKey(db))) await insertCardKey(db, await secrets.seal(context, randomBytes(32)));
  // Tries twice, because the key may have been sealed again since it was read.
  for (let i = 0; i < 2; i++) {
    const sealed = await selectCardKey(db);
    const opened = sealed && (await secrets.open(context, sealed));
    if (opened) return new CardKey(opened);
  }
  throw new Fault('unavailable', 'unavailable', 'The key of the cards can’t be opened. Try again later.');
}

/** Seals the key with another key of secrets. See resealTwoFactorSecrets. */
export async function resealCardKey(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  const before = await selectCardKey(tx);
  const sealed = before && reseal(context, { sealed: before });
  if (sealed) await updateCardKey(tx, sealed);
}
