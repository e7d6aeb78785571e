// HR systems often send the same list again, for example every hour. A request with the same bytes as an earlier one that was applied or
// changed nothing, while everything that it would be compared with is as that one left it, changes nothing: it is neither parsed nor planned.
// At most a day later, the next one is processed as a whole again.
import type { Counts, Report, Settings, Summary, Warning } from '@soundings/contract/organization.ts';
import { createHash } from 'node:crypto';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import type { SentBody } from '../texts/parse.ts';
import { selectRepeated, selectState, upsertRepeated } from './repeated.sql.ts';
import { insertSameRun, type RunStart } from '../runs.sql.ts';
import { auditRun } from '../runs.ts';
import { selectAdministrators } from '../sync.sql.ts';

/** Change it with any rule for what a request changes, or warns of. What older programs stored then counts no longer. */
export const rules = 2;

/** Returns a digest of a body as it was sent. */
export const bodyDigest = ({ bytes, gzip }: SentBody): Buffer =>
  createHash('sha256').update(`${rules} ${gzip} `).update(bytes).digest();

/**
 * Records the run of a request that is the same as an earlier one and has the same result, which is that nothing changes. Returns its
 * report; undefined if the request has to be processed.
 */
export async function reportOfRepeated(
  pool: Pool,
  accountId: AccountId,
  run: RunStart,
  body: Buffer,
): Promise<Report | undefined> {
  if (!(await selectRepeated(pool, accountId, body))) return undefined;
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, accountId);
    const earlier = await repeatedIn(tx, accountId, body);
    if (!earlier) return undefined;
    const { runId, validateOnly, plan, summary } = earlier;
    await insertSameRun(tx, accountId, run, { runId, summary });
    await auditRun(tx, accountId, run.id);
    return { id: run.id, validateOnly, applied: !validateOnly, plan, summary, changes: [], warnings: [] };
  });
}

/** Returns what is known of a request with this digest, if it would still change nothing. The caller has locked the account. */
export async function repeatedIn(
  tx: Transaction,
  accountId: AccountId,
  body: Buffer,
): Promise<Awaited<ReturnType<typeof selectRepeated>>> {
  const earlier = await selectRepeated(tx, accountId, body);
  return earlier?.state.equals(await stateDigest(tx, accountId)) ? earlier : undefined;
}

/** Stores that a request with this digest changes nothing if it is sent again. Call it in the transaction that ends its run. */
export async function rememberRepeated(
  tx: Transaction,
  accountId: AccountId,
  { id: runId, validateOnly, plan, summary }: Pick<Report, 'id' | 'validateOnly' | 'plan' | 'summary'>,
  body: Buffer,
): Promise<void> {
  const state = await stateDigest(tx, accountId);
  await upsertRepeated(tx, accountId, { runId, validateOnly, plan, body, state, summary });
}

/**
 * Returns whether a request can be remembered. Its settings must be valid for the same request once more, and warnings quote values of people,
 * which must not be stored apart from them. A dry run, which leaves its changes to be made, must have none.
 */
export const canBeRemembered = (
  { expectedPlan }: Settings,
  {
    hasChanges,
    isApplied,
    warnings,
  }: { hasChanges: boolean; isApplied: boolean; warnings: readonly Warning[] },
): boolean => warnings.length === 0 && (!hasChanges || (isApplied && expectedPlan === undefined));

/** Returns the summary of a request that was applied, if it is sent again: everything is as it was sent. */
export const summaryOfRepeated = ({ users, groups }: Summary): Summary => ({
  users: unchangedOnly(users),
  groups: unchangedOnly(groups),
});

const unchangedOnly = ({ created, updated, unchanged }: Counts): Counts => ({
  created: 0,
  updated: 0,
  deleted: 0,
  unchanged: created + updated + unchanged,
});

/**
 * Returns a digest of everything that decides what a request changes if no person in it differs from what was last sent: the groups, the
 * fingerprint of each person, the administrators, the attributes, and whether requests may set roles.
 */
async function stateDigest(tx: Transaction, accountId: AccountId): Promise<Buffer> {
  const [state, administrators, attributes, { rolesBySync }] = await Promise.all([
    selectState(tx, accountId),
    selectAdministrators(tx, accountId, false),
    attributesOf(tx, accountId),
    accountById(tx, accountId),
  ]);
  const others = [administrators.toSorted((a, b) => a.id - b.id), [...attributes.values()], rolesBySync];
  return createHash('sha256')
    .update(JSON.stringify([state, ...others]))
    .digest();
}
