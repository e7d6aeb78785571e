// SQL of kiosks. Writer: kiosks.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Stores a kiosk. Returns its id; undefined if the account has no such group. */
export async function insertKiosk(
  tx: Transaction,
  accountId: AccountId,
  { name, groupId, hash, by }: { name: string; groupId: number | null; hash: Buffer; by: number | null },
): Promise<number | undefined> {
  const [row] = await tx<{ id: number }[]>`
    insert into kiosks (account_id, name, group_id, hash, created_by)
    select ${accountId}, ${name}, ${groupId}::integer, ${hash}, ${by}::integer
    where  ${groupId}::integer is null
       or  exists (select 1 from groups where account_id = ${accountId} and group_id = ${groupId}::integer)
    returning kiosk_id as "id"`;
  return row?.id;
}

/** Deletes a kiosk. Returns its name; undefined if there is none. */
export async function deleteKiosk(
  tx: Transaction,
  accountId: AccountId,
  kioskId: number,
): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    delete from kiosks where account_id = ${accountId} and kiosk_id = ${kioskId} returning name as "name"`;
  return row?.name;
}

export type Kiosk = {
  accountId: AccountId;
  id: number;
  name: string;
  /** Null: for everyone of the account. */
  groupId: number | null;
  company: string;
  /** The account's language. */
  language: string;
};

/** Returns the kiosk with an address; undefined if there is none or it was turned off. */
export async function selectKiosk(db: Db, hash: Buffer): Promise<Kiosk | undefined> {
  const [row] = await db<Kiosk[]>`
    select k.account_id as "accountId", k.kiosk_id as "id", k.name as "name", k.group_id as "groupId",
           a.name as "company", a.language as "language"
    from   kiosks k
    join   accounts a on a.account_id = k.account_id
    where  k.hash = ${hash}`;
  return row;
}
