// The console: pulls. Administrators enter where a list is, have it fetched, and see its outcome.
import { accountById } from '../../accounts/accounts.ts';
import type { Sealer } from '../../base/crypto/sealer.ts';
import { openThrottle, tooEarly } from '../../base/throttle.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { changePull, createPull, pullById, pullsOf, removePull, requestFetch } from '../../pulls/pulls.ts';
import { actorOf, type Console, requireProof, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

/** How many lists an account can request, and how many accounts are remembered. */
const fetchLimit = { free: 10, windowMs: 60_000 };
const maxRemembered = 1_000;

export type PullsOptions = {
  pool: Promise<Pool>;
  secrets: Promise<Sealer>;
  networks: readonly string[];
  now: () => number;
};

export function servePulls(console: Console, { pool, secrets, networks, now }: PullsOptions): void {
  const requested = openThrottle(fetchLimit, maxRemembered, now);
  const changing = async (who: Who) => ({
    actor: actorOf(who),
    secrets: await secrets,
    networks,
    now: now(),
  });
  /** Refuses too many requests to other systems. Each new pull is one too. */
  const refuseMany = ({ accountId }: Who): void => {
    const wait = requested.attempt(String(accountId));
    if (wait > 0) throw tooEarly('too many fetches', 'Lists were requested too often.', wait);
  };

  console.serve('GET /pulls', async ({ accountId }) => ({ pulls: await pullsOf(await pool, accountId) }));

  console.serve('POST /pulls', async (who, { body }) => {
    refuseMany(who);
    const by = await changing(who);
    return { id: await inTransaction(await pool, (tx) => createPull(tx, who.accountId, body, by)) };
  });

  console.serve('GET /pulls/{pullId}', async ({ accountId }, { params }) =>
    pullById(await pool, accountId, idIn(params.pullId)),
  );

  console.serve('PATCH /pulls/{pullId}', async (who, { params, body }) => {
    const by = await changing(who);
    return inTransaction(await pool, async (tx) => {
      await changePull(tx, who.accountId, idIn(params.pullId), body, by);
      return pullById(tx, who.accountId, idIn(params.pullId));
    });
  });

  console.serve('DELETE /pulls/{pullId}', async (who, { params }) =>
    inTransaction(await pool, (tx) => removePull(tx, who.accountId, idIn(params.pullId), actorOf(who))),
  );

  console.serve('POST /pulls/{pullId}/fetch', async (who, { params, body }) => {
    const { accountId } = who;
    const { applyFiles } = await accountById(await pool, accountId);
    if (applyFiles && !body.isDryRun) requireProof(who);
    refuseMany(who);
    return inTransaction(await pool, async (tx) => {
      await requestFetch(tx, accountId, idIn(params.pullId), body, { actor: actorOf(who), now: now() });
      return pullById(tx, accountId, idIn(params.pullId));
    });
  });
}
