// Pushes an organization in parts in a separate process, with the functions of the service's thread, to count the statements of the commit.
// Argument: the database URL.
import { newId } from '@soundings/server/src/base/ids.ts';
import { forWholeLists, openPool } from '@soundings/server/src/db/db.ts';
import { deleteGroupResults } from '@soundings/server/src/results/published-figures.ts';
import { commitPush } from '@soundings/server/src/sync/parts/commit.ts';
import { beginCommit, deletePush, openPush } from '@soundings/server/src/sync/parts/parts.ts';
import { storePart } from '@soundings/server/src/sync/parts/store-part.ts';
import { countStatements } from '../measuring/statements.ts';
import { serveOrders } from './orders.ts';
import { pushPartsOf, type Size } from '../scale/organization.ts';
import { allowingAll } from '../scale/push-parts.ts';

export type CommitOrder = { accountId: number; size: Size };
export type CommitDone = { statements: number };

const [databaseUrl = ''] = process.argv.slice(2);
const pool = openPool(databaseUrl, 2, forWholeLists);

serveOrders(carryOut);

async function carryOut({ accountId, size }: CommitOrder): Promise<CommitDone> {
  const { id: pushId } = await openPush(pool, accountId, newId());
  let parts = 0;
  for (const bytes of pushPartsOf(size))
    await storePart(pool, accountId, { pushId, part: ++parts }, { bytes, gzip: false });
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const { statements } = await countStatements(async () => {
    const begun = await beginCommit(pool, accountId, {
      id: pushId,
      run,
      body: { parts, settings: allowingAll },
    });
    await commitPush(pool, accountId, { ...begun, run }, deleteGroupResults);
  });
  await deletePush(pool, accountId, pushId);
  return { statements };
}
