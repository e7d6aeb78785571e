// Pending runs: files that would change more than the account allows. Nothing is applied until an administrator approves
// exactly the changes that were shown.
import type { Summary } from '@soundings/contract/organization.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { lockAccount } from '../accounts/accounts.ts';
import { runOneByOne } from '../jobs/accounts-in-turn.ts';
import { readJson } from '../base/json/escaped-keys.ts';
import { audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { SentOrganization } from './check.ts';
import {
  deletePendingRun,
  insertPendingRun,
  lockPendingRun,
  selectOldPendingRuns,
  updateExpired,
} from './pending-runs.sql.ts';
import type { Plan } from './plan.ts';
import { recordRun } from './runs.ts';
import { copyChanges, deleteChanges, type RunStart, updateRejected } from './runs.sql.ts';

/** Refuses, in every account, the runs that were not approved within `days`. */
export async function expirePendingRuns(pool: Pool, days: number): Promise<void> {
  await runOneByOne(await selectOldPendingRuns(pool, days), ({ accountId, runId }) =>
    inTransaction(pool, (tx) => expireRun(tx, accountId, runId)),
  );
}

/** Refuses a run, unless it has been decided meanwhile. Locks the account first, as everything that decides a run does. */
async function expireRun(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await lockAccount(tx, accountId);
  const run = await lockPendingRun(tx, accountId, runId);
  if (run?.outcome !== 'pending') return;
  const { source, file, summary } = run;
  await deletePendingRun(tx, accountId, runId);
  await updateExpired(tx, accountId, runId, 'The changes were not approved in time. Nothing was applied.');
  await audit(tx, accountId, { origin: 'service' }, 'run refused', { subject: runId, details: { file } });
  await recordRun(tx, accountId, 'refused', { runId, source, summary });
}

/** Stores a run until it is decided: what was sent, and what it would change. */
export async function storePendingRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  { settings, data, partial, isDirectory, removes }: SentOrganization,
  { plan, digest, groupNames }: { plan: Plan; digest: string; groupNames: ReadonlyMap<string, string> },
): Promise<void> {
  const organization = gzipSync(JSON.stringify({ settings, data, partial, isDirectory, removes }));
  // The people it would create don't exist yet, so their names are stored here, and deleted with the rest of the request.
  const names = Object.fromEntries(
    plan.users.create.map(({ externalId, firstName, lastName }) => [externalId, `${firstName} ${lastName}`]),
  );
  await insertPendingRun(tx, accountId, runId, { organization, planDigest: digest, names });
  await copyChanges(tx, accountId, runId, plan.changes, { groupNames });
}

/** The stored data of a pending run. */
export type PendingRun = {
  file: string;
  source: RunStart['source'];
  organization: Pick<SentOrganization, 'settings' | 'data' | 'partial' | 'isDirectory' | 'removes'>;
  planDigest: string;
  /** How many people and groups the approved changes remove. */
  removed: { people: number; groups: number };
  summary: Summary | null;
};

/** Returns the Fault for a run that does not exist. */
export const runNotFound = (accountId: AccountId, runId: string): Fault =>
  new Fault(
    'not_found',
    'run not found',
    `Run ${runId} does not exist in account ${accountId}. Check its ID.`,
  );

/** Returns the fault for a run that can't be approved or rejected because it is not pending. */
export const runNotPending = (runId: string, outcome: string): Fault =>
  new Fault(
    'conflict',
    'run not pending',
    `Run ${runId} is ${outcome}. Only runs that are awaiting approval can be approved or rejected.`,
  );

/**
 * Removes a pending run from storage and returns it; the run is locked until the transaction ends. Throws a Fault: not_found,
 * or conflict if the run is not pending.
 */
export async function takePendingRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
): Promise<PendingRun> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId);
  const run = isId ? await lockPendingRun(tx, accountId, runId) : undefined;
  if (!run) throw runNotFound(accountId, runId);
  const { outcome, organization, planDigest, source, file, summary } = run;
  if (outcome !== 'pending' || !organization || planDigest === null) {
    throw runNotPending(runId, outcome);
  }
  await deletePendingRun(tx, accountId, runId);
  return {
    file: file ?? '',
    source,
    summary,
    removed: { people: summary?.users.deleted ?? 0, groups: summary?.groups.deleted ?? 0 },
    organization: readJson(gunzipSync(organization).toString()) as PendingRun['organization'],
    planDigest,
  };
}

/** Removes what a pending run would do, before it is stored again. The run itself stays. */
export async function clearPendingRun(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await deletePendingRun(tx, accountId, runId);
  await deleteChanges(tx, accountId, runId);
}

/** Ends a pending run without applying it; `message` says why. Throws the same faults as takePendingRun. */
export async function rejectPendingRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  { userId, message }: { userId: number | null; message: string },
): Promise<void> {
  const { source, summary } = await takePendingRun(tx, accountId, runId);
  await updateRejected(tx, accountId, runId, userId, message);
  await recordRun(tx, accountId, 'rejected', { runId, source, summary });
}
