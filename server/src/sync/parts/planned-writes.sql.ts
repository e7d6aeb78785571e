// SQL for what a commit will write once it has checked all parts. It is in a temporary table, so that a list of a million needs no more memory than
// one part.
import type { AccountId, Transaction } from '../../db/db.ts';

/** What is written of the users of a part, compressed. Null: no new users, or no new memberships. */
export type StoredWrites = {
  part: number;
  changes: Buffer;
  newUsers: Buffer | null;
  newMemberships: Buffer | null;
};

export async function createPlannedWrites(tx: Transaction): Promise<void> {
  await tx`
    create temporary table planned_writes (
      account_id       integer not null,
      part             integer not null,
      changes          bytea   not null,
      new_users        bytea,
      new_memberships  bytea,
      primary key (account_id, part)
    ) on commit drop`;
}

export async function insertPlannedWrites(
  tx: Transaction,
  accountId: AccountId,
  { part, changes, newUsers, newMemberships }: StoredWrites,
): Promise<void> {
  await tx`
    insert into planned_writes (account_id, part, changes, new_users, new_memberships)
    values (${accountId}, ${part}, ${changes}, ${newUsers}, ${newMemberships})`;
}

export async function selectPlannedWrites(
  tx: Transaction,
  accountId: AccountId,
  part: number,
): Promise<StoredWrites | undefined> {
  const [row] = await tx<StoredWrites[]>`
    select part            as "part",
           changes         as "changes",
           new_users       as "newUsers",
           new_memberships as "newMemberships"
    from   planned_writes
    where  account_id = ${accountId} and part = ${part}`;
  return row;
}
