// What a commit will write of the users of its parts: planned once, when a part is checked, and written when all parts are. Compressed, because
// a plan takes much more memory than its part.
import { promisify } from 'node:util';
import {
  constants,
  zstdCompress as zstdCompressWithCallback,
  zstdDecompress as zstdDecompressWithCallback,
} from 'node:zlib';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { UserWrites } from '../apply.ts';
import { insertPlannedWrites, selectPlannedWrites } from './planned-writes.sql.ts';

const zstdCompress = promisify(zstdCompressWithCallback);
const decompress = promisify(zstdDecompressWithCallback);

/** It is read once, a moment later, so speed matters more than size. */
const compress = (data: Buffer): Promise<Buffer> =>
  zstdCompress(data, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });

/** Stores what will be written of the users of a part. */
export async function storeWrites(
  tx: Transaction,
  accountId: AccountId,
  part: number,
  { newUsers, newMemberships, ...changes }: UserWrites,
): Promise<void> {
  const compressed = (rows: Iterable<Uint8Array> | undefined) =>
    rows ? compress(Buffer.concat([...rows])) : null;
  await insertPlannedWrites(tx, accountId, {
    part,
    changes: await compress(Buffer.from(JSON.stringify(changes))),
    newUsers: await compressed(newUsers),
    newMemberships: await compressed(newMemberships),
  });
}

/** Returns what `storeWrites` has stored of a part. */
export async function readWrites(tx: Transaction, accountId: AccountId, part: number): Promise<UserWrites> {
  const stored = await selectPlannedWrites(tx, accountId, part);
  const rows = async (compressed: Buffer | null) => (compressed ? [await decompress(compressed)] : undefined);
  const changes = JSON.parse((await decompress(stored.changes)).toString()) as Omit<
    UserWrites,
    'newUsers' | 'newMemberships'
  >;
  return {
    ...changes,
    newUsers: await rows(stored.newUsers),
    newMemberships: await rows(stored.newMemberships),
  };
}
