// The console: opening, closing and removing kinds of segments, for administrators.
import { selectKinds } from '../../rounds/segments/segments.sql.ts';
import type { SegmentKinds } from '@soundings/contract/console/segments.ts';
import { maxSegmentKinds } from '@soundings/contract/limits.ts';
import { randomUUID } from 'node:crypto';
import { accountById } from '../../accounts/accounts.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { largeSegment } from '../../results/segments/simulate.ts';
import { simulateOpening } from '../../results/segments/simulated-account.ts';
import type { SimulateKind } from '../../results/segments/simulation-thread.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { closeKind, type NewKind, openKind, removeKind } from '../../rounds/segments/segments.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

/** `simulate` computes on a thread. `now`: the clock, in milliseconds since 1970. */
export function serveSegments(
  console: Console,
  pool: Promise<Pool>,
  simulate: SimulateKind,
  now: () => number,
): void {
  console.serve('GET /segments', async (who) => kindsFor(await pool, who));
  console.serve('POST /segments/simulation', async (who, { body }) => {
    // The name doesn't affect the result, so a simulation uses a name that can't already be taken.
    const kind = kindOf({ ...body, name: randomUUID() });
    const found = await simulateOpening(await pool, who.accountId, kind, now(), simulate);
    const { people, withValue, values, segments, large, largeShown, answers } = found;
    return { people, withValue, values, segments, large, largeFrom: largeSegment, largeShown, answers };
  });
  console.serve('POST /segments', async (who, { body }) =>
    inTransaction(await pool, async (tx) => ({
      id: await openKind(tx, who.accountId, actorOf(who), kindOf(body)),
    })),
  );
  console.serve('POST /segments/{kindId}/close', async (who, { params }) => {
    await inTransaction(await pool, (tx) => closeKind(tx, who.accountId, actorOf(who), idIn(params.kindId)));
  });
  console.serve('DELETE /segments/{kindId}', async (who, { params }) => {
    await inTransaction(await pool, (tx) =>
      removeKind(tx, who.accountId, actorOf(who), idIn(params.kindId), deleteGroupResults),
    );
  });
}

/** Returns the kind in a request body. */
const kindOf = ({ crossOf, ...kind }: Omit<NewKind, 'crossOf'> & { crossOf: number[] | null }): NewKind => ({
  ...kind,
  crossOf: crossOf && [crossOf[0] as number, crossOf[1] as number],
});

async function kindsFor(pool: Pool, { accountId }: Who): Promise<SegmentKinds> {
  const [kinds, account] = await Promise.all([selectKinds(pool, accountId), accountById(pool, accountId)]);
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
