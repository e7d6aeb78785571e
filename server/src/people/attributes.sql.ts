// SQL for the attributes of an account and their values. Writers: attributes.changes.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';

export async function selectAttributes(db: Db, accountId: AccountId): Promise<Attribute[]> {
  return db<Attribute[]>`
    select name, allowed_values as "allowedValues" from attributes where account_id = ${accountId} order by name`;
}

/** Defines an attribute, or replaces the allowed values of an existing one. */
export async function upsertAttribute(
  tx: Transaction,
  accountId: AccountId,
  name: string,
  allowedValues: string[] | null,
): Promise<void> {
  await tx`
    insert into attributes (account_id, name, allowed_values)
    values (${accountId}, ${name}, ${allowedValues})
    on conflict (account_id, name) do update set allowed_values = excluded.allowed_values`;
}

/** Makes the next push compare users with this attribute again, because their values may no longer be allowed. */
export async function clearFingerprints(
  tx: Transaction,
  accountId: AccountId,
  attribute: string,
): Promise<void> {
  await tx`
    update users
    set    fingerprint = null
    where  account_id = ${accountId} and fingerprint is not null and attributes ? ${attribute}`;
}

/** Returns each value of an attribute and how many people have it, the most frequent first. */
export async function selectValueCounts(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<{ value: string; people: number }[]> {
  return db<{ value: string; people: number }[]>`
    select attributes ->> ${name} as "value", count(*)::integer as "people"
    from   users
    where  account_id = ${accountId} and attributes ? ${name}
    group  by 1
    order  by 2 desc, 1`;
}

/** Deletes everyone's value of an attribute and returns how many people had one. The next push compares them again. */
export async function eraseValues(tx: Transaction, accountId: AccountId, name: string): Promise<number> {
  const { count } = await tx`
    update users
    set    attributes = attributes - ${name}::text, fingerprint = null
    where  account_id = ${accountId} and attributes ? ${name}`;
  return count;
}

/** Deletes an attribute. Returns whether it existed. */
export async function deleteAttribute(tx: Transaction, accountId: AccountId, name: string): Promise<boolean> {
  const { count } = await tx`delete from attributes where account_id = ${accountId} and name = ${name}`;
  return count > 0;
}

/** Returns the name of a schedule that chooses people by the date in an attribute; undefined if there is none. */
export async function selectScheduleByDate(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<string | undefined> {
  const [row] = await db<{ name: string }[]>`
    select name from schedules
    where  account_id = ${accountId} and date_attribute = ${name}
    order  by schedule_id
    limit  1`;
  return row?.name;
}

/** Returns the name of an open breakdown that divides people by an attribute; undefined if there is none. */
export async function selectOpenBreakdownOf(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<string | undefined> {
  const [row] = await db<{ name: string }[]>`
    select name from breakdowns
    where  account_id = ${accountId} and attribute = ${name} and closed_at is null
    order  by position
    limit  1`;
  return row?.name;
}
