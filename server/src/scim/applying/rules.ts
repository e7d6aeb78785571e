// Chooses the rule for the tree of a directory: shows what it would change, and applies exactly that.
import type { TreePlan, TreeRule } from '@soundings/contract/scim/directory.ts';
import type { Summary } from '@soundings/contract/organization.ts';
import { isDeepStrictEqual } from 'node:util';
import { lockAccount } from '../../accounts/accounts.ts';
import { type Actor, audit } from '../../accounts/audit.ts';
import { changedSince } from '../../base/errors.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import type { DeleteGroupResults } from '../../people/groups.ts';
import { type Findings, newFindings } from '../../sync/findings.ts';
import type { Synchronized } from '../../sync/sync.ts';
import { selectAllUsers, selectGroupsToApply, selectOwnGroups } from './apply.sql.ts';
import { noteApplied, type Noted, requestFor } from './apply.ts';
import { selectDirectory, updateDirectory } from './directories.sql.ts';
import { displayNameOf } from './mapping.ts';
import { runDirectory } from './run-directory.ts';

/** How many changes a plan shows. */
const maxShown = 100;

/** Thrown to undo what was only planned. */
class OnlyPlanned extends Error {
  readonly plan: TreePlan;

  constructor(plan: TreePlan) {
    super('planned');
    this.plan = plan;
  }
}

/** Returns what a rule would change. Nothing is changed. Throws a Fault if the rule can't be applied. */
export async function planRule(
  pool: Pool,
  accountId: AccountId,
  rule: TreeRule,
  deleteGroupResults: DeleteGroupResults,
): Promise<TreePlan> {
  try {
    return await inTransaction(pool, async (tx) => {
      const findings = newFindings();
      const { end, names } = await setRule(tx, accountId, rule, findings, deleteGroupResults);
      const { summary, changes } = end.plan;
      const warnings = findings
        .warnings()
        .map(({ message }) => message)
        .slice(0, maxShown);
      const shown = changes
        .toSorted((a, b) => rank(a.entity) - rank(b.entity))
        .slice(0, maxShown)
        .map((change) => ({ ...change, name: names.get(change.externalId) ?? null }));
      throw new OnlyPlanned({ summary, changes: shown, warnings });
    });
  } catch (error) {
    if (error instanceof OnlyPlanned) return error.plan;
    throw error;
  }
}

/** Groups are what a rule is about, so they come first. */
const rank = (entity: 'user' | 'group') => (entity === 'group' ? 0 : 1);

/** Applies a rule from now on. `summary`: what its plan showed. Throws a Fault (conflict) if it would change something else now. */
export async function applyRule(
  pool: Pool,
  accountId: AccountId,
  { rule, summary, by }: { rule: TreeRule; summary: Summary; by: Actor },
  deleteGroupResults: DeleteGroupResults,
): Promise<void> {
  const noted = await inTransaction(pool, async (tx) => {
    const { end, noted: all } = await setRule(tx, accountId, rule, newFindings(), deleteGroupResults);
    if (!isDeepStrictEqual(end.plan.summary, summary))
      throw changedSince('The directory or the people have changed');
    await audit(tx, accountId, by, 'directory changed', { details: { rule } });
    return all;
  });
  await noteApplied(pool, accountId, noted);
}

type Ended = Synchronized & { outcome: 'applied' | 'validated' };

async function setRule(
  tx: Transaction,
  accountId: AccountId,
  rule: TreeRule,
  findings: Findings,
  deleteGroupResults: DeleteGroupResults,
): Promise<{ end: Ended; names: Map<string, string>; noted: Noted }> {
  await lockAccount(tx, accountId);
  const directory = await selectDirectory(tx, accountId);
  const users = await selectAllUsers(tx, accountId);
  const toApply = await selectGroupsToApply(tx, accountId);
  const { request, data, blocked } = await requestFor(tx, accountId, { rule }, users, findings);
  const { groups = [] } = (data ?? {}) as { groups?: { externalId: string; name: string }[] };
  const kept = new Set(groups.map(({ externalId }) => externalId));
  const removed = (await selectOwnGroups(tx, accountId)).filter((key) => !kept.has(key));
  const sent = {
    ...request,
    data: data ?? { users: [], groups: [] },
    removes: { users: [], groups: removed },
  };
  const wanted = { deleteGroupResults, beyondLimits: 'apply' as const };
  const end = await runDirectory(tx, accountId, { sent, tokenId: null, wanted }, findings);
  if (end.refusal) throw end.refusal;
  await updateDirectory(tx, accountId, { ...directory, rule });
  const noted = {
    users: users.map(({ id, changes }) => ({ id, changes, isBlocked: blocked.has(id) })),
    groups: toApply,
  };
  const names = new Map([
    ...users.map(({ personKey, resource }) => [personKey, displayNameOf(resource)] as const),
    ...groups.map(({ externalId, name }) => [externalId, name] as const),
  ]);
  return { end: end as Ended, names, noted };
}
