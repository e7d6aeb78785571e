// Reads a backup from its first to its last byte, checks everything, and passes its rows on.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { type Block, type BlockKind, Damage, readBlocks } from './blocks.ts';
import {
  type Contents,
  contentsOf,
  type End,
  endIn,
  type Head,
  headIn,
  type TableEnd,
  tableEndIn,
  tableName,
} from './contents.ts';
import { count, type OnProgress } from './create-backup.ts';
import { asFileFault, damagedBackup, failedBackup } from './faults.ts';

export type Receiver = {
  /** Gets the rows of each table in the format of COPY, block by block, and must read all. */
  table?: (table: Head['tables'][number], rows: AsyncIterable<Buffer>) => Promise<void>;
  /** Gets the secrets key, if the backup contains it, and the last block. */
  end?: (end: End, secretsKey: string | undefined) => Promise<void>;
  onProgress?: OnProgress;
};

/** Reads a backup and returns its contents. Throws a Fault that says where the file is damaged. What was passed on before is right. */
export async function readBackup(path: string, receive: Receiver = {}): Promise<Contents> {
  const file = await openBackup(path);
  const place = { is: 'beginning' };
  try {
    return await readFrom(file, receive, place);
  } catch (error) {
    if (error instanceof Damage) throw damagedBackup(path, place.is, error.message, error.at);
    throw asFileFault(error, path);
  } finally {
    await file.close();
  }
}

async function openBackup(path: string): Promise<fs.FileHandle> {
  try {
    const file = await fs.open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw failedBackup(`${path} is not a regular file. Give the name of a backup.`);
  } catch (error) {
    throw asFileFault(error, path);
  }
}

async function readFrom(file: fs.FileHandle, receive: Receiver, place: { is: string }): Promise<Contents> {
  const { size } = await file.stat();
  const reader = readBlocks(file);
  const next = async (): Promise<Block | undefined> => (await reader.blocks.next()).value ?? undefined;
  const { position } = reader;
  const head = parsed(await next(), 'head', headIn, position);
  const ends: Contents['tables'] = [];
  for (const table of head.tables) {
    const name = tableName(table);
    place.is = `table ${name}`;
    const onBlock = () => receive.onProgress?.(position() / size, name);
    const rows = rowsOf(next, position, onBlock, (end) => ends.push({ name, ...end }));
    if (receive.table) await receive.table(table, rows);
    else for await (const _ of rows);
    if (ends.at(-1)?.name !== name) throw new Error(`The rows of ${name} were not read to their end.`);
  }
  place.is = 'end';
  let block = await next();
  const secretsKey = block?.kind === 'key' ? block.bytes.toString('utf8') : undefined;
  if (secretsKey !== undefined) block = await next();
  const end = parsed(block, 'end', endIn, position);
  if (await next()) throw new Damage('Something follows the end of the backup', position());
  if (receive.end) await receive.end(end, secretsKey);
  return contentsOf(head, ends, secretsKey !== undefined, { checksum: reader.checksum(), bytes: position() });
}

/** Yields the rows of a table. At its end, compares them with the checksum of the table, and passes that on. */
async function* rowsOf(
  next: () => Promise<Block | undefined>,
  position: () => number,
  onBlock: () => void,
  onEnd: (end: TableEnd) => void,
): AsyncGenerator<Buffer, void> {
  const counted = { rows: 0, bytes: 0, hash: createHash('sha256') };
  let block = await next();
  for (; block?.kind === 'data'; block = await next()) {
    count(block.bytes, counted);
    onBlock();
    yield block.bytes;
  }
  const end = parsed(block, 'table', tableEndIn, position);
  const { hash, rows, bytes } = counted;
  if (end.rows !== rows || end.bytes !== bytes || end.sha256 !== hash.digest('hex'))
    throw new Damage('The checksum of the table is wrong', position());
  onEnd(end);
}

/** Returns the contents of a block of JSON. Throws Damage if it is another block or has another form. */
function parsed<T>(
  block: Block | undefined,
  kind: BlockKind,
  read: (bytes: Buffer) => T | undefined,
  position: () => number,
): T {
  if (!block) throw new Damage('The file ends too early', position());
  const value = block.kind === kind ? read(block.bytes) : undefined;
  if (value === undefined) throw new Damage('A block is not what belongs here', position());
  return value;
}
