// Held runs: files that would change more than the account allows. Nothing is applied until somebody approves the very
// changes that were shown.
import { gunzipSync, gzipSync } from 'node:zlib';
import { audit } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { SentOrganization } from './check.ts';
import { deleteHeldRun, insertHeldRun, lockHeldRun, updateOldHeldRuns } from './held-runs.sql.ts';
import type { Plan } from './plan.ts';
import { copyChanges, updateRejected } from './runs.sql.ts';

/** Ends, in every account, what has been held for so many days: nobody has approved it in time. */
export async function endOldHeldRuns(pool: Pool, days: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    for (const { accountId, runId, file } of await updateOldHeldRuns(tx, days)) {
      const told = { subject: runId, details: { file } };
      // oxlint-disable-next-line no-await-in-loop -- seldom any
      await audit(tx, accountId, { origin: 'service' }, 'run refused', told);
    }
  });
}

/** Keeps what was sent, and shows what it would change. */
export async function holdRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  { settings, data, partial }: SentOrganization,
  { plan, digest, groupNames }: { plan: Plan; digest: string; groupNames: ReadonlyMap<string, string> },
): Promise<void> {
  const organization = gzipSync(JSON.stringify({ settings, data, partial }));
  // Whom it would create is nobody yet: their names are kept as long as the rest of what was sent.
  const names = Object.fromEntries(
    plan.users.create.map(({ externalId, firstName, lastName }) => [externalId, `${firstName} ${lastName}`]),
  );
  await insertHeldRun(tx, accountId, runId, { organization, planDigest: digest, names });
  await copyChanges(tx, accountId, runId, plan.changes, groupNames);
}

/** What was kept of a held run. */
export type HeldRun = {
  file: string;
  organization: Pick<SentOrganization, 'settings' | 'data' | 'partial'>;
  planDigest: string;
  /** How many people and groups it was shown to remove. */
  removed: { people: number; groups: number };
};

/** Of a run that nobody can decide on. */
export const runNotHeld = (runId: string, outcome: string): Fault =>
  new Fault(
    'conflict',
    'run not held',
    `The run ${runId} is ${outcome}: only a held run can be approved or rejected.`,
  );

/**
 * Takes a held run out of its waiting, locked until the transaction ends. Throws a Fault: not_found, or conflict when it
 * is not held, or no more.
 */
export async function takeHeldRun(tx: Transaction, accountId: AccountId, runId: string): Promise<HeldRun> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId);
  const run = isId ? await lockHeldRun(tx, accountId, runId) : undefined;
  if (!run) throw new Fault('not_found', 'run not found', `Account ${accountId} has no run ${runId}.`);
  const { outcome, organization, planDigest, file, summary } = run;
  if (outcome !== 'held' || !organization || planDigest === null) {
    throw runNotHeld(runId, outcome);
  }
  await deleteHeldRun(tx, accountId, runId);
  return {
    file: file ?? '',
    removed: { people: summary?.users.deleted ?? 0, groups: summary?.groups.deleted ?? 0 },
    organization: JSON.parse(gunzipSync(organization).toString()) as HeldRun['organization'],
    planDigest,
  };
}

/** Ends a held run without applying it; `message` says why. Throws as takeHeldRun does. */
export async function rejectHeldRun(
  tx: Transaction,
  accountId: AccountId,
  runId: string,
  { userId, message }: { userId: number | null; message: string },
): Promise<void> {
  await takeHeldRun(tx, accountId, runId);
  await updateRejected(tx, accountId, runId, userId, message);
}
