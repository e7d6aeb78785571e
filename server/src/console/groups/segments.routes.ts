// The console: opening, closing and removing kinds of segments, for administrators.
import type { SegmentKinds } from '@soundings/contract/console/segments.ts';
import { maxSegmentKinds } from '@soundings/contract/limits.ts';
import { accountById } from '../../accounts/accounts.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { closeKind, kindsOf, openKind, removeKind } from '../../rounds/segments/segments.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

export function serveSegments(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /segments', async (who) => kindsFor(await pool, who));
  console.serve('POST /segments', async (who, { body: { crossOf, ...body } }) => {
    const kind = { ...body, crossOf: crossOf && ([crossOf[0], crossOf[1]] as [number, number]) };
    return inTransaction(await pool, async (tx) => ({
      id: await openKind(tx, who.accountId, actorOf(who), kind),
    }));
  });
  console.serve('POST /segments/{kindId}/close', async (who, { params }) => {
    await inTransaction(await pool, (tx) => closeKind(tx, who.accountId, actorOf(who), idIn(params.kindId)));
  });
  console.serve('DELETE /segments/{kindId}', async (who, { params }) => {
    await inTransaction(await pool, (tx) =>
      removeKind(tx, who.accountId, actorOf(who), idIn(params.kindId), deleteGroupResults),
    );
  });
}

async function kindsFor(pool: Pool, { accountId }: Who): Promise<SegmentKinds> {
  const [kinds, account] = await Promise.all([kindsOf(pool, accountId), accountById(pool, accountId)]);
  const names = new Map(kinds.map(({ id, name }) => [id, name]));
  return {
    kinds: kinds.map(({ crossOf, openedAt, closedAt, ...kind }) => ({
      ...kind,
      crossOf: crossOf && crossOf.map((id) => ({ id, name: names.get(id) ?? '' })),
      openedAt: openedAt.toISOString(),
      closedAt: closedAt?.toISOString() ?? null,
    })),
    most: maxSegmentKinds,
    threshold: account.threshold,
    isLive: account.publication === 'live',
  };
}
