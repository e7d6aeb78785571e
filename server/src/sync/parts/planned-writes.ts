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

/** Stores what will be written of the users of a part. In place of an id, each new user has a number: -1, -2 and so on. */
export async function storeWrites(
  tx: Transaction,
  accountId: AccountId,
  part: number,
  { organization, plan, targets, newGroups }: Planned,
): Promise<void> {
  const newUserIds = plan.users.create.map((_, i) => -1 - i);
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
  const rows = async (compressed: Buffer | null) =>
    compressed ? withIds(await decompressFast(compressed), ids) : undefined;
  return {
    ...changes,
    newUsers: await rows(stored.newUsers),
    newMemberships: await rows(stored.newMemberships),
  };
}

const chunkBytes = 256 * 1024;

/** Yields lines of COPY, whose second column is the id of a user, with the ids of new users instead of their numbers. */
function* withIds(lines: Buffer, ids: readonly number[]): Generator<Buffer> {
  for (let from = 0; from < lines.length;) {
    const end = lines.indexOf('\n', Math.min(from + chunkBytes, lines.length - 1)) + 1;
    // In Latin-1 every byte is one character, and values contain no line breaks.
    const text = lines.toString('latin1', from, end);
    yield Buffer.from(
      text.replace(
        /^(\d+\t)-(\d+)/gm,
        (_, account: string, number: string) => account + ids[Number(number) - 1],
      ),
      'latin1',
    );
    from = end;
  }
}
