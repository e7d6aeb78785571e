// What a results page compares its figures with: the comparisons the caller may choose, and the readings they need.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { ChosenComparison, ResultGroup } from '@soundings/contract/console/results/results.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { Pool } from '../../db/db.ts';
import type { ShownQuestion } from '../../results/data/read-results.ts';
import type { Window } from '../../results/data/window.ts';
import {
  type ComparedWith,
  neededFor,
  noReadings,
  readingsShown,
  type Statistics,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import type { Readings } from '../../results/statistics/readings.ts';
import type { Who } from '../core/console.ts';
import type { OpenGroups } from './reading.ts';

/** Returns the comparisons that the caller may use: administrators may use all, managers those that the account allows. */
export async function allowedComparisons(pool: Pool, who: Who): Promise<ReadonlySet<Comparison>> {
  if (hasRole(who, 'Administrator')) return new Set(['company', 'parent', 'halfYear', 'none']);
  const { managerComparisons } = await accountById(pool, who.accountId);
  return new Set([...managerComparisons, 'none']);
}

/** Returns the requested comparison if it is available, otherwise the first available one. */
export const chosenOf = (available: readonly Comparison[], wanted: Comparison | undefined): Comparison =>
  wanted !== undefined && available.includes(wanted) ? wanted : (available[0] ?? 'none');

/** Everything that the pages about one group need for their comparisons. */
export type Comparing = {
  statistics: Statistics;
  /** The readings of the group itself. */
  readings: Readings;
  comparison: ChosenComparison;
  compared: ComparedWith;
  /** The readings of the parent group, for best estimates; undefined: there is none, or the caller may not compare with it. */
  parent: Readings | undefined;
};

/** Reads what the pages about a group need of the weeks in a window. */
export async function readComparing(
  pool: Pool,
  who: Who,
  {
    groups,
    groupId,
    window,
    questions,
    compare,
  }: {
    groups: OpenGroups;
    groupId: number;
    window: Window;
    questions: Iterable<ShownQuestion>;
    compare: Comparison | undefined;
  },
): Promise<Comparing> {
  const [allowed, statistics] = await Promise.all([
    allowedComparisons(pool, who),
    statisticsShown(pool, who.accountId, window),
  ]);
  const comparison = comparisonOf(groups, groupId, allowed, compare);
  const parent = parentFor(groups, groupId, allowed);
  const ids = [...questions].filter(({ type }) => isScaled(type)).map(({ id }) => id);
  const groupIds = [groupId, comparison.group?.id, parent?.id].filter((id) => id !== undefined);
  const readings = await readingsShown(
    pool,
    who.accountId,
    { groupIds, questionIds: ids },
    neededFor(window),
  );
  const of = (group: ResultGroup | null) => readings.get(group?.id ?? 0) ?? noReadings;
  return {
    statistics,
    readings: readings.get(groupId) ?? noReadings,
    comparison,
    compared: { kind: comparison.kind, whole: of(comparison.group) },
    parent: parent ? of(parent) : undefined,
  };
}

/** Returns what a group is compared with, and what else the caller may choose. */
export function comparisonOf(
  groups: Pick<OpenGroups, 'topOf' | 'parentOf'>,
  groupId: number,
  allowed: ReadonlySet<Comparison>,
  wanted: Comparison | undefined,
): ChosenComparison {
  const [company, parent] = [groups.topOf(groupId), groups.parentOf(groupId)];
  const available: Comparison[] = [];
  if (company && allowed.has('company')) available.push('company');
  // The parent of a group on the second level is the company.
  if (parent && allowed.has('parent') && (parent.id !== company?.id || !allowed.has('company')))
    available.push('parent');
  if (allowed.has('halfYear')) available.push('halfYear');
  available.push('none');
  const kind = chosenOf(available, wanted);
  return { kind, group: kind === 'company' ? company : kind === 'parent' ? parent : null, available };
}

/**
 * Returns the parent group, for best estimates. Its figures can be computed from best estimates, so the caller must be allowed to
 * compare with it.
 */
function parentFor(
  groups: OpenGroups,
  groupId: number,
  allowed: ReadonlySet<Comparison>,
): ResultGroup | null {
  const parent = groups.parentOf(groupId);
  if (!parent) return null;
  const isCompany = parent.id === groups.topOf(groupId)?.id;
  return allowed.has('parent') || (isCompany && allowed.has('company')) || groups.byId.has(parent.id)
    ? parent
    : null;
}
