// SQL of the key of cards. Writer: card-key.ts.
import type { Db, Transaction } from '../db/db.ts';

/** Returns the sealed key; undefined before the first card. */
export async function selectCardKey(db: Db): Promise<Buffer | undefined> {
  const [row] = await db<{ secret: Buffer }[]>`select secret as "secret" from card_keys`;
  return row?.secret;
}

/** Stores the key unless another process has already stored one. */
export async function insertCardKey(db: Db, secret: Buffer): Promise<void> {
  await db`insert into card_keys (secret) values (${secret}) on conflict do nothing`;
}

export async function updateCardKey(tx: Transaction, secret: Buffer): Promise<void> {
  await tx`update card_keys set secret = ${secret}`;
}

/** Deletes the key and all cards of all accounts, which don't work without it. */
export async function deleteCardKey(tx: Transaction): Promise<void> {
  await tx`delete from card_keys`;
  await tx`delete from cards where account_id is not null`;
}
