// What a results page compares its figures with: the comparisons the caller may choose, and the readings they need.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { ChosenComparison, ResultGroup } from '@soundings/contract/console/results/results.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { Db } from '../../db/db.ts';
import type { ShownQuestion } from '../../results/data/read-results.ts';
import type { Window } from '../../results/data/window.ts';
import {
  type ComparedWith,
  halfYearBefore,
  neededFor,
  noReadings,
  readingsShown,
  type Statistics,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import { isShown, type Readings } from '../../results/statistics/readings.ts';
import type { Who } from '../core/console.ts';
import type { OpenGroups } from './reading.ts';

/** Returns the comparisons that the caller may use: administrators may use all, managers those that the account allows. */
export async function allowedComparisons(db: Db, who: Who): Promise<ReadonlySet<Comparison>> {
  if (hasRole(who, 'Administrator')) return new Set(['company', 'parent', 'halfYear', 'none']);
  const { managerComparisons } = await accountById(db, who.accountId);
  return new Set([...managerComparisons, 'none']);
}

/**
 * Returns what can be compared with. Half a year ago is left out unless one of the weeks that the figures of a window would be compared with
 * is in `weeks`.
 */
export function withFigures(
  allowed: ReadonlySet<Comparison>,
  weeks: readonly Week[],
  window: Window,
): ReadonlySet<Comparison> {
  const { first, last } = halfYearBefore(window);
  return weeks.some((week) => week >= first && week <= last) ? allowed : withoutHalfYear(allowed);
}

/** Returns what can be compared with if there are no figures of half a year ago. */
export const withoutHalfYear = (allowed: ReadonlySet<Comparison>): ReadonlySet<Comparison> =>
  new Set([...allowed].filter((kind) => kind !== 'halfYear'));

/** Returns the weeks in which a group has a figure that is shown. */
export const weeksShownIn = (readings: Readings): Week[] => [
  ...new Set([...readings.values()].flatMap((own) => own.filter(isShown).map(({ week }) => week))),
];

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
  db: Db,
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
    allowedComparisons(db, who),
    statisticsShown(db, who.accountId, window),
  ]);
  const parent = parentFor(groups, groupId, allowed);
  const ids = [...questions].filter(({ type }) => isScaled(type)).map(({ id }) => id);
  const groupIds = [groupId, groups.topOf(groupId)?.id, groups.parentOf(groupId)?.id].filter(
    (id) => id !== undefined,
  );
  const readings = await readingsShown(db, who.accountId, { groupIds, questionIds: ids }, neededFor(window));
  const of = (group: { id: number } | null) => readings.get(group?.id ?? 0) ?? noReadings;
  const own = of({ id: groupId });
  const compared = { first: statistics.windowOf(window.first).first, last: window.last };
  const comparison = comparisonOf(
    groups,
    groupId,
    withFigures(allowed, weeksShownIn(own), compared),
    compare,
  );
  return {
    statistics,
    readings: own,
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
