// SQL for the mappings of columns and values in files. Written by mappings.ts.
import type {
  MappedColumn,
  MappedSheet,
  MappedValue,
  ValueMapping,
} from '@soundings/contract/console/runs.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Stores what the columns under certain headers mean, replacing an earlier mapping. */
export async function upsertMapping(
  tx: Transaction,
  accountId: AccountId,
  mapping: { digest: Buffer; kind: MappedSheet['kind']; columns: MappedColumn[]; userId: number },
): Promise<void> {
  const { digest, kind, columns, userId } = mapping;
  await tx`
    insert into column_mappings (account_id, headers_digest, kind, columns, user_id, confirmed_at)
    values (${accountId}, ${digest}, ${kind}, ${tx.json(columns)}, ${userId}, now())
    on conflict (account_id, headers_digest) do update
    set    kind = excluded.kind, columns = excluded.columns, user_id = excluded.user_id, confirmed_at = excluded.confirmed_at`;
}

export async function selectMappings(db: Db, accountId: AccountId): Promise<MappedSheet[]> {
  return db<MappedSheet[]>`
    select kind as "kind", columns as "columns" from column_mappings where account_id = ${accountId}`;
}

/** Returns how many mappings the account would have with these new ones, some of which may exist already. */
export async function countMappingsWith(
  db: Db,
  accountId: AccountId,
  digests: readonly Buffer[],
): Promise<number> {
  const rows = await db<{ digest: Buffer }[]>`
    select headers_digest as "digest" from column_mappings where account_id = ${accountId}`;
  return new Set([...rows.map(({ digest }) => digest), ...digests].map((one) => one.toString('hex'))).size;
}

/** Returns whether the mapping existed. */
export async function deleteMapping(
  tx: Transaction,
  accountId: AccountId,
  mappingId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from column_mappings where account_id = ${accountId} and mapping_id = ${mappingId} returning 1`;
  return rows.length > 0;
}

/** Stores what values mean, replacing earlier mappings. */
export async function upsertValues(
  tx: Transaction,
  accountId: AccountId,
  values: readonly (MappedValue & { key: string })[],
  userId: number | null,
): Promise<void> {
  const rows = values.map(({ field, key, value, meaning }) => ({ field, key, value, meaning }));
  await tx`
    insert into value_mappings (account_id, field, value_key, value, meaning, user_id, confirmed_at)
    select ${accountId}, field, key, value, meaning, ${userId}::integer, now()
    from   json_to_recordset(${tx.json(rows)}::json) as v(field text, key text, value text, meaning text)
    on conflict (account_id, field, value_key) do update
    set    meaning = excluded.meaning, user_id = excluded.user_id, confirmed_at = excluded.confirmed_at
    where  value_mappings.meaning <> excluded.meaning`;
}

/** Returns the mapped values of an account, sorted by field and value. */
export async function selectValueMappings(db: Db, accountId: AccountId): Promise<ValueMapping[]> {
  return db<ValueMapping[]>`
    select m.mapping_id                                         as "mappingId",
           m.field                                              as "field",
           m.value                                              as "value",
           m.meaning                                            as "meaning",
           nullif(trim(u.first_name || ' ' || u.last_name), '') as "confirmedBy",
           m.confirmed_at                                       as "confirmedAt"
    from   value_mappings m
    left   join users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId}
    order  by m.field, m.value_key`;
}

/** Returns whether the mapping existed. */
export async function deleteValue(
  tx: Transaction,
  accountId: AccountId,
  mappingId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from value_mappings where account_id = ${accountId} and mapping_id = ${mappingId} returning 1`;
  return rows.length > 0;
}

/** Returns the ids of the people and groups that the HR system manages. */
export async function selectManagedIds(
  db: Db,
  accountId: AccountId,
): Promise<{ kind: 'users' | 'groups'; id: string }[]> {
  return db<{ kind: 'users' | 'groups'; id: string }[]>`
    select 'users' as "kind", external_id as "id"
    from   users
    where  account_id = ${accountId} and external_id is not null and managed
    union  all
    select 'groups', external_id
    from   groups
    where  account_id = ${accountId} and external_id is not null and managed`;
}
