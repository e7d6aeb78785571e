// The console: opening, closing and removing breakdowns, for administrators.
import { selectBreakdowns } from '../../rounds/segments/breakdowns.sql.ts';
import type { Breakdowns } from '@soundings/contract/console/results/segments.ts';
import { maxBreakdowns } from '@soundings/contract/limits.ts';
import { randomUUID } from 'node:crypto';
import { accountById } from '../../accounts/accounts.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { largeSegment } from '../../results/segments/simulate.ts';
import { simulateOpening } from '../../results/segments/simulated-account.ts';
import type { SimulateBreakdown } from '../../results/segments/simulation-thread.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import {
  closeBreakdown,
  type NewBreakdown,
  openBreakdown,
  removeBreakdown,
} from '../../rounds/segments/breakdowns.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

/** `simulate` computes on a thread. `now`: the clock, in milliseconds since 1970. */
export function serveBreakdowns(
  console: Console,
  pool: Promise<Pool>,
  simulate: SimulateBreakdown,
  now: () => number,
): void {
  console.serve('GET /breakdowns', async (who) => breakdownsFor(await pool, who));
  console.serve('POST /breakdowns/simulation', async (who, { body }) => {
    // The name doesn't affect the result, so a simulation uses a name that can't already be taken.
    const breakdown = breakdownOf({ ...body, name: randomUUID() });
    const found = await simulateOpening(await pool, who.accountId, breakdown, now(), simulate);
    const { shown: _, draws: __, ...shares } = found;
    return { ...shares, largeFrom: largeSegment };
  });
  console.serve('POST /breakdowns', async (who, { body }) =>
    inTransaction(await pool, async (tx) => ({
      id: await openBreakdown(tx, who.accountId, actorOf(who), breakdownOf(body)),
    })),
  );
  console.serve('POST /breakdowns/{breakdownId}/close', async (who, { params }) => {
    await inTransaction(await pool, (tx) =>
      closeBreakdown(tx, who.accountId, actorOf(who), idIn(params.breakdownId)),
    );
  });
  console.serve('DELETE /breakdowns/{breakdownId}', async (who, { params }) => {
    await inTransaction(await pool, (tx) =>
      removeBreakdown(tx, who.accountId, actorOf(who), idIn(params.breakdownId), deleteGroupResults),
    );
  });
}

/** Returns the breakdown in a request body. */
const breakdownOf = ({
  crossOf,
  ...breakdown
}: Omit<NewBreakdown, 'crossOf'> & { crossOf: number[] | null }): NewBreakdown => ({
  ...breakdown,
  crossOf: crossOf && [crossOf[0] as number, crossOf[1] as number],
});

async function breakdownsFor(pool: Pool, { accountId }: Who): Promise<Breakdowns> {
  const [breakdowns, account] = await Promise.all([
    selectBreakdowns(pool, accountId),
    accountById(pool, accountId),
  ]);
  const names = new Map(breakdowns.map(({ id, name }) => [id, name]));
  return {
    breakdowns: breakdowns.map(({ crossOf, openedAt, closedAt, ...breakdown }) => ({
      ...breakdown,
      crossOf: crossOf && crossOf.map((id) => ({ id, name: names.get(id) ?? '' })),
      openedAt: openedAt.toISOString(),
      closedAt: closedAt?.toISOString() ?? null,
    })),
    most: maxBreakdowns,
    threshold: account.threshold,
    isLive: account.publication === 'live',
  };
}
