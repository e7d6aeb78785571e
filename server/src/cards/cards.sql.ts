// SQL of cards. Writer: cards.ts. Nothing is stored when a card is used.
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Stores cards. A person who has a card gets the new one instead. */
export async function upsertCards(
  tx: Transaction,
  accountId: AccountId,
  cards: { userId: number; digest: Buffer }[],
  by: number | null,
): Promise<void> {
  const rows = cards.map(({ userId, digest }) => ({ userId, digest: digest.toString('hex') }));
  await tx`
    insert into cards (account_id, user_id, digest, created_by, created_at)
    select ${accountId}, n."userId", decode(n.digest, 'hex'), ${by}::integer, now()
    from   jsonb_to_recordset(${tx.json(rows)}) as n("userId" integer, digest text)
    on conflict (account_id, user_id) do update
    set    digest = excluded.digest, created_at = excluded.created_at, created_by = excluded.created_by`;
}

/** Deletes the cards of these people. Returns how many there were. */
export async function deleteCards(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<number> {
  const rows = await tx`
    delete from cards where account_id = ${accountId} and user_id = any(${userIds}) returning 1`;
  return rows.length;
}

export type CardOwner = {
  accountId: AccountId;
  userId: number;
  digest: Buffer;
  /** ISO 639-1. */
  language: string;
};

/** Returns the active person whose card has a code; undefined if there is none. */
export async function selectCardOwner(db: Db, digest: Buffer): Promise<CardOwner | undefined> {
  const [row] = await db<CardOwner[]>`
    select c.account_id as "accountId", c.user_id as "userId", c.digest as "digest",
           coalesce(u.language, a.language) as "language"
    from   cards c
    join   users u on u.account_id = c.account_id and u.user_id = c.user_id
    join   accounts a on a.account_id = c.account_id
    where  c.digest = ${digest} and u.active`;
  return row;
}
