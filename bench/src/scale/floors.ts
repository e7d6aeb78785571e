// The floors of large organizations: COPY of the rows that something has written, and reading all rows once. Nothing is kept in memory.
import { copyBytes, copyOut, inBatches, inTransaction, type Pool } from '@soundings/server/src/db/db.ts';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { timed } from '../measuring/measure.ts';
import type { Service } from '../measuring/service.ts';

/**
 * Returns how many milliseconds it takes to write the rows of an account in these tables once more, for another account, with COPY alone.
 * `needed`: tables whose rows must be there first, which are not measured.
 */
export async function copyingOf(
  { pool, dataDir }: Service,
  { from, to }: { from: number; to: number },
  tables: readonly string[],
  needed: readonly string[] = [],
): Promise<number> {
  const copied: { table: string; columns: string; path: string; isMeasured: boolean }[] = [];
  for (const table of [...needed, ...tables]) {
    const columns = await columnsOf(pool, table);
    const path = join(dataDir, `floor-${table}.copy`);
    const statement = pool.unsafe(
      `copy (select ${to} as account_id, ${columns} from ${table} where account_id = ${from}) to stdout`,
    );
    await pipeline(copyOut(statement as never), createWriteStream(path));
    copied.push({ table, columns, path, isMeasured: tables.includes(table) });
  }
  let ms = 0;
  await inTransaction(pool, async (tx) => {
    for (const { table, columns, path, isMeasured } of copied) {
      const [taken] = await timed(() =>
        copyBytes(
          tx.unsafe(`copy ${table} (account_id, ${columns}) from stdin`) as never,
          createReadStream(path, { highWaterMark: 256 * 1024 }),
        ),
      );
      if (isMeasured) ms += taken;
    }
    const [committing] = await timed(() => tx`select 1`);
    ms += committing;
  });
  for (const { path } of copied) rmSync(path);
  return ms;
}

async function columnsOf(pool: Pool, table: string): Promise<string> {
  const names = await pool<{ name: string }[]>`
    select attname as name
    from   pg_attribute
    where  attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and  attname not in ('account_id', 'token_id')
    order  by attnum`;
  return names.map(({ name }) => name).join(', ');
}

/** Returns how many milliseconds it takes to parse these bodies and to read the rows of the account that they are compared with. */
export async function comparingOf(pool: Pool, accountId: number, parts: Iterable<Buffer>): Promise<number> {
  let ms = 0;
  for (const part of parts) {
    const [parsing] = await timed(() => JSON.parse(part.toString()) as unknown);
    ms += parsing;
  }
  const [reading] = await timed(() =>
    inTransaction(pool, async (tx) => {
      const statements = [
        tx`select group_id, external_id, managed, name, description, parent_id from groups where account_id = ${accountId}`,
        tx`select user_id, external_id, managed, first_name, last_name, email, phone, active, timezone, language, role, attributes
           from users where account_id = ${accountId}`,
        tx`select user_id, kind, group_id from memberships where account_id = ${accountId}`,
      ];
      for (const statement of statements) for await (const _ of inBatches(statement, 10_000));
    }),
  );
  return ms + reading;
}
