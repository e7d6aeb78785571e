// Held runs: files that would change more than the account allows. Nothing is applied until somebody approves the very
// changes that were shown.
import type { Change } from '@soundings/contract/organization.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Fault } from '../base/errors.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import type { SentOrganization } from './check.ts';
import { deleteHeldRun, insertHeldRun, lockHeldRun, updateOldHeldRuns } from './held-runs.sql.ts';
import { copyChanges } from './runs.sql.ts';

export { updateOldHeldRuns as endOldHeldRuns };

/** Keeps what was sent, and shows what it would change. */
export async function holdRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  { settings, data, partial }: SentOrganization,
  plan: { changes: Change[]; digest: string },
): Promise<void> {
  const organization = gzipSync(JSON.stringify({ settings, data, partial }));
  await insertHeldRun(tx, accountId, runId, { organization, planDigest: plan.digest });
  await copyChanges(tx, accountId, runId, plan.changes);
}

/** What was kept of a held run. */
export type HeldRun = {
  file: string;
  organization: Pick<SentOrganization, 'settings' | 'data' | 'partial'>;
  planDigest: string;
};

/**
 * Takes a held run out of its waiting, locked until the transaction ends. Throws a Fault: not_found, or conflict when it
 * is not held, or no more.
 */
export async function takeHeldRun(tx: Transaction, accountId: AccountId, runId: string): Promise<HeldRun> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId);
  const run = isId ? await lockHeldRun(tx, accountId, runId) : undefined;
  if (!run) throw new Fault('not_found', 'run not found', `Account ${accountId} has no run ${runId}.`);
  const { outcome, organization, planDigest, file } = run;
  if (outcome !== 'held' || !organization || planDigest === null) {
    throw new Fault(
      'conflict',
      'run not held',
      `The run ${runId} is ${outcome}: only a held run can be approved.`,
    );
  }
  await deleteHeldRun(tx, accountId, runId);
  return {
    file: file ?? '',
    organization: JSON.parse(gunzipSync(organization).toString()) as HeldRun['organization'],
    planDigest,
  };
}
