// SQL of what the columns and values of files are read as, where somebody has said so. Writers: mappings.ts.
import type {
  MappedColumn,
  MappedSheet,
  MappedValue,
  ValueMapping,
} from '@soundings/contract/console.runs.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Keeps what the columns under certain headers mean, in place of what was kept of them before. */
export async function upsertMapping(
  tx: Transaction,
  accountId: AccountId,
  mapping: { digest: Buffer; kind: MappedSheet['kind']; columns: MappedColumn[]; userId: number },
): Promise<void> {
  const { digest, kind, columns, userId } = mapping;
  await tx`
    insert into column_mappings (account_id, headers_digest, kind, columns, user_id)
    values (${accountId}, ${digest}, ${kind}, ${tx.json(columns)}, ${userId})
    on conflict (account_id, headers_digest) do update
    set    kind = excluded.kind, columns = excluded.columns, user_id = excluded.user_id, confirmed_at = now()`;
}

export async function selectMappings(db: Db, accountId: AccountId): Promise<MappedSheet[]> {
  return db<MappedSheet[]>`
    select kind as "kind", columns as "columns" from column_mappings where account_id = ${accountId}`;
}

/** How many there are once some are kept, too, of which some may be there already. */
export async function countMappingsWith(
  db: Db,
  accountId: AccountId,
  digests: readonly Buffer[],
): Promise<number> {
  const rows = await db<{ digest: Buffer }[]>`
    select headers_digest as "digest" from column_mappings where account_id = ${accountId}`;
  return new Set([...rows.map(({ digest }) => digest), ...digests].map((one) => one.toString('hex'))).size;
}

/** Says whether there was one. */
export async function deleteMapping(
  tx: Transaction,
  accountId: AccountId,
  mappingId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from column_mappings where account_id = ${accountId} and mapping_id = ${mappingId} returning 1`;
  return rows.length > 0;
}

/** Keeps what values mean, in place of what was kept of them before. */
export async function upsertValues(
  tx: Transaction,
  accountId: AccountId,
  values: readonly (MappedValue & { word: string })[],
  userId: number | null,
): Promise<void> {
  const rows = values.map(({ field, word, value, means }) => ({ field, word, value, means }));
  await tx`
    insert into value_mappings (account_id, field, word, value, means, user_id)
    select ${accountId}, field, word, value, means, ${userId}::integer
    from   json_to_recordset(${tx.json(rows)}::json) as v(field text, word text, value text, means text)
    on conflict (account_id, field, word) do update
    set    means = excluded.means, user_id = excluded.user_id, confirmed_at = now()
    where  value_mappings.means <> excluded.means`;
}

/** What an account has said of values, in the order of their words. */
export async function selectValues(db: Db, accountId: AccountId): Promise<ValueMapping[]> {
  return db<ValueMapping[]>`
    select m.mapping_id                                         as "mappingId",
           m.field                                              as "field",
           m.value                                              as "value",
           m.means                                              as "means",
           nullif(trim(u.first_name || ' ' || u.last_name), '') as "confirmedBy",
           m.confirmed_at                                       as "confirmedAt"
    from   value_mappings m
    left   join users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId}
    order  by m.field, m.word`;
}

/** Says whether there was one. */
export async function deleteValue(
  tx: Transaction,
  accountId: AccountId,
  mappingId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from value_mappings where account_id = ${accountId} and mapping_id = ${mappingId} returning 1`;
  return rows.length > 0;
}

/** The ids of the people and groups that files and pushes deliver. */
export async function selectDeliveredIds(
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
