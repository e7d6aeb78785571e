// SQL of what the columns of files are read as, where somebody has said so. Writers: mappings.ts.
import type { MappedColumn, MappedSheet } from '@soundings/contract/console.runs.ts';
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
