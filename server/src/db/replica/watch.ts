// Watches a replica: whether it can be used, and how far it is behind. A replica that is down doesn't slow down requests.
import type { Log } from '../../base/log.ts';
import { openPool, type Pool } from '../db.ts';
import { inTime, late } from './snapshots.ts';
import { type ReplicaFacts, replicaRemedies, type ReplicaState } from './states.ts';

export type Watch = {
  facts(): ReplicaFacts;
  /** Checks the replica immediately, because reading from it has failed. */
  checkNow(): void;
  close(): Promise<void>;
};

/** How often the replica is checked, and how long it may take, in ms. */
const [interval, limit] = [2_000, 2_000];

/** Until the first check, the replica is not used. */
export function watchReplica(url: string, primary: Pool, log: Log): Watch {
  const pool = openPool(url, 1);
  let facts: ReplicaFacts = { state: 'unreachable', behind: undefined };
  let known: ReplicaState | undefined;
  let running: Promise<void> | undefined;

  async function check(): Promise<void> {
    facts = await examined(pool, primary);
    if (facts.state === known) return;
    if (facts.state !== 'ok') log.warn(replicaRemedies[facts.state]);
    else if (known !== undefined) log.info('The replica at DATABASE_URL_READ is used again');
    known = facts.state;
  }

  const checkNow = () => void (running ??= check().finally(() => (running = undefined)));
  const timer = setInterval(checkNow, interval).unref();
  checkNow();
  return {
    facts: () => facts,
    checkNow,
    async close() {
      clearInterval(timer);
      await pool.end({ timeout: 1 });
    },
  };
}

/** Checks a replica once. */
export async function examineReplica(url: string, primary: Pool): Promise<ReplicaFacts> {
  const pool = openPool(url, 1);
  try {
    return await examined(pool, primary);
  } finally {
    await pool.end({ timeout: 0 });
  }
}

async function examined(replica: Pool, primary: Pool): Promise<ReplicaFacts> {
  const found = await inTime(replicaFacts(replica, primary), limit).catch(() => late);
  return typeof found === 'symbol' ? { state: 'unreachable', behind: undefined } : found;
}

/** Reads both servers. Throws if one of them can't be read. */
async function replicaFacts(replica: Pool, primary: Pool): Promise<ReplicaFacts> {
  // The replica first. Otherwise it could be ahead.
  const [there] = await replica<{ name: string; isReplica: boolean; at: string | null }[]>`
    select system_identifier || ' ' || current_database() as "name", pg_is_in_recovery() as "isReplica",
           pg_last_wal_replay_lsn()::text as "at"
    from   pg_control_system()`;
  const [here] = await primary<{ name: string; behind: number | null }[]>`
    select system_identifier || ' ' || current_database() as "name",
           pg_wal_lsn_diff(pg_current_wal_lsn(), ${there?.at ?? null}::text::pg_lsn)::float8 as "behind"
    from   pg_control_system()`;
  const state = there?.name !== here?.name ? 'foreign' : there?.isReplica ? 'ok' : 'primary';
  return { state, behind: state === 'ok' ? Math.max(0, here?.behind ?? 0) : undefined };
}
