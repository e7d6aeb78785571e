// What stays of removals that are refused. As few people as possible: all others lose their access, as the directory wants.
import type { Fault } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import type { Findings } from '../../sync/findings.ts';
import { storeWarnings } from '../../sync/runs.ts';
import type { Removal } from './apply.sql.ts';
import { selectAdministratorsAmong, updateKeptById } from './keep-refused.sql.ts';

/** Returns whether a run was refused because no administrator, or no break-glass administrator, would be left. */
export const isAboutAdministrators = (refusal: Fault): boolean =>
  [refusal.code, ...refusal.details.map(({ type }) => type)].some(
    (type) => type === 'no administrator' || type === 'last break-glass',
  );

/** A refused run of removals. */
export type RefusedRemovals = {
  runId: string;
  findings: Findings;
  refusal: Fault;
  /** Whether this was tried again without the first administrator who was kept. */
  isRepeated: boolean;
  /** The ids of those that were refused alone. Undefined: this was tried again without them. */
  alone: ReadonlySet<string> | undefined;
};

/**
 * Keeps one administrator of a run that was refused because none would be left, so that the others can be removed: the one that was removed
 * last, as if the removals had arrived one by one, and a break-glass administrator if there is one. If that is refused too, keeps all administrators.
 * Of a run that was refused for another reason, keeps those that were refused alone. If none was, keeps everyone. The run names in its warnings
 * who is kept.
 */
export async function keepRefused(
  tx: Transaction,
  accountId: AccountId,
  removals: readonly Removal[],
  { runId, findings, refusal, ...how }: RefusedRemovals,
): Promise<void> {
  const kept = await toKeep(tx, accountId, removals, { refusal, ...how });
  await updateKeptById(
    tx,
    accountId,
    kept.map(({ id }) => id),
  );
  for (const { entity, key } of kept) {
    const message = `The ${entity} with the externalId ${quote(key)} stays, although the directory removes it, because the run was refused.`;
    findings.warn({ type: refusal.code, message, externalId: key });
  }
  await storeWarnings(tx, accountId, runId, findings);
}

async function toKeep(
  tx: Transaction,
  accountId: AccountId,
  removals: readonly Removal[],
  { refusal, isRepeated, alone }: Pick<RefusedRemovals, 'refusal' | 'isRepeated' | 'alone'>,
): Promise<readonly Removal[]> {
  if (!isAboutAdministrators(refusal)) {
    const bad = removals.filter(({ id }) => alone?.has(id));
    return bad.length > 0 ? bad : removals;
  }
  const ids = removals.map(({ id }) => id);
  const administrators = await selectAdministratorsAmong(tx, accountId, ids);
  if (administrators.length === 0) return removals;
  const kept = new Set(isRepeated ? administrators : administrators.slice(0, 1));
  return removals.filter(({ id }) => kept.has(id));
}
