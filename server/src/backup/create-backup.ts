// Creates a backup while the service runs: all tables as they were at one moment, without what left-out.ts names. Memory stays small,
// because the database is read only as fast as the file is written.
import { createHash, type Hash } from 'node:crypto';
import { version } from '../base/version.ts';
import {
  beginSnapshot,
  copyTable,
  countRows,
  selectSandboxAccounts,
  selectSequences,
  selectTables,
  type Table,
} from '../db/catalogue.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { schemaVersion } from '../db/migrate.ts';
import { nameOfKey, readKeyNames } from '../sealing/key-names.ts';
import { type BlockWriter, blockSize, openBlocks } from './blocks.ts';
import { type Contents, contentsOf, type End, type Head, type TableEnd, tableName } from './contents.ts';
import { failedBackup } from './faults.ts';
import { firstSchema, jobsToCopy, leftOutOf } from './left-out.ts';

/** Called now and then. `share`: how much is done, from 0 to 1. `table`: the present one. */
export type OnProgress = (share: number, table: string) => void;

/**
 * Writes a backup with `write`, which resolves when it can take more, and returns what the backup contains. `secretsKey`: the
 * exported secrets key, to include it.
 */
export async function createBackup(
  pool: Pool,
  write: (bytes: Buffer) => Promise<void>,
  { secretsKey, onProgress = () => {} }: { secretsKey?: string | undefined; onProgress?: OnProgress } = {},
): Promise<Contents> {
  if (!(await schemaVersion(pool)))
    throw failedBackup('The database is empty, so there is nothing to back up.');
  const blocks = openBlocks(write);
  return inTransaction(pool, async (tx) => {
    await beginSnapshot(tx);
    const tables = await selectTables(tx);
    const without = await selectSandboxAccounts(tx, tables);
    const head = await headOf(tx, tables);
    if (secretsKey !== undefined && nameOfKey(secretsKey)?.toString('hex') !== head.keys.secrets)
      throw failedBackup('The secrets key was replaced in the meantime. Create the backup again.');
    await addJson(blocks, 'head', head);
    const ends: Contents['tables'] = [];
    const whole = tables.reduce((sum, { size }) => sum + size, 1);
    let done = 0;
    for (const table of tables) {
      onProgress(done / whole, tableName(table));
      // One connection has one snapshot, so tables are read one after another.
      const onBlock = () => onProgress(done / whole, tableName(table));
      const end = await addTable(tx, blocks, table, { without, onBlock });
      await addJson(blocks, 'table', end);
      ends.push({ name: tableName(table), ...end });
      done += table.size;
    }
    if (secretsKey !== undefined) await blocks.add('key', Buffer.from(secretsKey));
    await addJson(blocks, 'end', { sequences: await selectSequences(tx) } satisfies End);
    return contentsOf(head, ends, secretsKey !== undefined, await blocks.end());
  });
}

async function headOf(tx: Transaction, tables: Table[]): Promise<Head> {
  const schema = await schemaVersion(tx);
  if (!schema || schema.version < firstSchema) {
    throw failedBackup(
      'The database has the schema of an early version, whose answers are not encrypted. Update it with "npx soundings migrate" first.',
    );
  }
  const { answers, secrets } = await readKeyNames(tx);
  return {
    program: version,
    schema,
    createdAt: new Date().toISOString(),
    keys: {
      answers: answers && { chain: answers.chain.toString('hex'), epoch: answers.epoch },
      secrets: secrets && secrets.toString('hex'),
    },
    openWeeks: (await countRows(tx, 'soundings', 'week_keys')) ?? 0,
    tables: tables.map(({ of, name, columns }) => ({ of, name, columns })),
  };
}

const addJson = (blocks: BlockWriter, kind: 'head' | 'table' | 'end', value: object) =>
  blocks.add(kind, Buffer.from(JSON.stringify(value)));

/**
 * Adds the rows of a table in blocks, and returns their number and checksum. `without`: the accounts whose rows are left out. `onBlock` is
 * called after each block.
 */
async function addTable(
  tx: Transaction,
  blocks: BlockWriter,
  table: Table,
  { without, onBlock }: { without: readonly AccountId[]; onBlock: () => void },
): Promise<TableEnd> {
  const counted = { rows: 0, bytes: 0, hash: createHash('sha256') };
  let [buffer, length] = [Buffer.allocUnsafeSlow(blockSize), 0];
  const leftOut = table.of === 'soundings' ? { ...leftOutOf(table.name), without } : jobsToCopy(table.name);
  const rows = copyTable(tx, table, leftOut);
  for await (const chunk of rows) {
    for (let start = 0; start < chunk.length;) {
      const copied = chunk.copy(buffer, length, start);
      start += copied;
      length += copied;
      if (length < blockSize) continue;
      count(buffer, counted);
      await blocks.add('data', buffer);
      [buffer, length] = [Buffer.allocUnsafeSlow(blockSize), 0];
      onBlock();
    }
  }
  if (length > 0) {
    count(buffer.subarray(0, length), counted);
    await blocks.add('data', buffer.subarray(0, length));
  }
  const { hash, ...numbers } = counted;
  return { ...numbers, sha256: hash.digest('hex') };
}

/** Adds rows in the format of COPY to their number, length and checksum. A row ends with a line feed, and contains none. */
export function count(bytes: Buffer, counted: { rows: number; bytes: number; hash: Hash }): void {
  counted.hash.update(bytes);
  counted.bytes += bytes.length;
  let rows = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) rows++;
  counted.rows += rows;
}
