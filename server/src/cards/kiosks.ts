// Kiosks: shared devices on which people answer with their cards. The address of a kiosk contains a secret of its own, of which only a
// hash is stored. The address alone opens nothing: a card is needed as well.
import { randomText, tokenHash } from '../base/crypto/secrets.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { insertKiosk, type Kiosk, selectKiosk } from './kiosks.sql.ts';

/** 27 base-62 characters: 160 bits. */
const length = 27;
const form = /^[0-9A-Za-z]{27}$/;

/** Creates a kiosk and returns its address, the only time that it is known; undefined if the account has no such group. */
export async function createKiosk(
  tx: Transaction,
  accountId: AccountId,
  { name, groupId, by }: { name: string; groupId: number | null; by: number | null },
  publicUrl: string,
): Promise<{ id: number; address: string } | undefined> {
  const secret = randomText(length);
  const id = await insertKiosk(tx, accountId, { name, groupId, hash: tokenHash(secret), by });
  return id === undefined ? undefined : { id, address: `${publicUrl}/k/${secret}` };
}

/** Returns the kiosk with this secret; undefined if there is none or it was turned off. */
export async function kioskOf(db: Db, secret: string): Promise<Kiosk | undefined> {
  const kiosk = await selectKiosk(db, tokenHash(secret));
  return form.test(secret) ? kiosk : undefined;
}
