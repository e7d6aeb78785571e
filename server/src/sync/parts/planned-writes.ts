// What a commit will write of the users of its parts: planned once, when a part is checked, and written when all parts are. Compressed, because
// a plan takes much more memory than its part. The ids of new users are reserved when they are written, because a push that is refused again and
// again would use up all that the database has.
import { readJson } from '../../base/json/escaped-keys.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import { type UserWrites, writesOf } from '../apply.ts';
import type { SentOrganization } from '../check.ts';
import type { Plan } from '../plan.ts';
import { takeUserIds } from '../sync.sql.ts';
import type { TargetTree } from '../target-tree.ts';
import { insertPlannedWrites, selectPlannedWrites } from './planned-writes.sql.ts';
import { compressFast, decompressFast } from './zstd.ts';

type Planned = {
  organization: SentOrganization;
  plan: Plan;
  targets: TargetTree['targets'];
  newGroups: ReadonlyMap<string, number>;
};

/** `created`: how many users are new. */
type Changes = Omit<UserWrites, 'newUsers' | 'newMemberships'> & { created: number };

/** New users have these numbers until their ids are known. All have ten digits, and no id can be as large. */
const firstNumber = 4_000_000_000;

/** Stores what will be written of the users of a part, with a number in place of the id of each new user. */
export async function storeWrites(
  tx: Transaction,
  accountId: AccountId,
  part: number,
  { organization, plan, targets, newGroups }: Planned,
): Promise<void> {
  const newUserIds = plan.users.create.map((_, i) => firstNumber + i);
  const ids = { targets, newGroups, newUserIds };
  const { newUsers, newMemberships, ...others } = writesOf(accountId, organization, ids, plan);
  const changes: Changes = { ...others, created: newUserIds.length };
  const compressed = (rows: Iterable<Uint8Array> | undefined) =>
    rows ? compressFast(Buffer.concat([...rows])) : null;
  await insertPlannedWrites(tx, accountId, {
    part,
    changes: await compressFast(Buffer.from(JSON.stringify(changes))),
    newUsers: await compressed(newUsers),
    newMemberships: await compressed(newMemberships),
  });
}

/** Returns what `storeWrites` has stored of a part, and reserves the ids of its new users. */
export async function readWrites(tx: Transaction, accountId: AccountId, part: number): Promise<UserWrites> {
  const stored = await selectPlannedWrites(tx, accountId, part);
  if (!stored) throw new Error(`Part ${part} was checked, but nothing is stored that could be applied.`);
  const { created, ...changes } = readJson((await decompressFast(stored.changes)).toString()) as Changes;
  const ids = await takeUserIds(tx, created);
  const rows = async (compressed: Buffer | null) => {
    if (!compressed) return undefined;
    const lines = await decompressFast(compressed);
    insertIds(lines, `${accountId}\t`.length, ids);
    return chunksOf(lines);
  };
  return {
    ...changes,
    newUsers: await rows(stored.newUsers),
    newMemberships: await rows(stored.newMemberships),
  };
}

const [tab, newline, zero] = [0x09, 0x0a, 0x30];

/**
 * Writes the ids of new users over their numbers, with leading zeros. `lines`: lines of COPY. `at`: where the column with the id begins in each.
 * Values contain no line breaks.
 */
function insertIds(lines: Buffer, at: number, ids: readonly number[]): void {
  for (let line = 0, next = 0; line < lines.length; line = next + 1) {
    next = lines.indexOf(newline, line);
    if (next < 0) throw new Error('The lines of COPY end in the middle of one.');
    const start = line + at;
    let [end, number] = [start, 0];
    for (; lines[end] !== tab; end++) number = number * 10 + (lines[end] as number) - zero;
    if (number < firstNumber) continue; // a user that the database has
    let left = ids[number - firstNumber];
    if (left === undefined) throw new Error(`A new user has the number ${number}, but no id.`);
    for (let i = end - 1; i >= start; i--) {
      lines[i] = zero + (left % 10);
      left = Math.floor(left / 10);
    }
  }
}

const chunkBytes = 256 * 1024;

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
}
