// The variance of the answers to a question in a week: one figure for the whole account, computed from published distributions of
// groups that have no people in common (docs/administrators/statistics.md). A group's own variance would reveal more about small groups.
// Pure.
import { type QuestionType, scaleOf } from '@soundings/contract/question-types.ts';
import { individualsOf, type Distribution } from '../../questions/types.ts';

/** The sums from which a variance is computed. Values are from 0 to 1. */
export type VarianceSums = {
  /** The sum of squared deviations from the mean of each cell. */
  squares: number;
  /** The number of answers minus the number of cells. */
  freedom: number;
  answers: number;
  cells: number;
};

/** The minimum number of answers from which a variance is computed. */
export const minimumAnswers = 50;

/** A published distribution of a group. `parentId`: its parent group, if any. */
export type GroupDistribution = { groupId: number; distribution: Distribution };

/**
 * Returns the sums of a question in a week over the finest published cells: groups with a distribution, without their subgroups that
 * have one. Null if there are fewer than two cells, so that the variance of a single group is never used.
 */
export function varianceSumsOf(
  type: QuestionType,
  groups: readonly GroupDistribution[],
  parentOf: (groupId: number) => number | null,
): VarianceSums | null {
  const counts = new Map(
    groups.map(({ groupId, distribution }) => [groupId, new Map(Object.entries(distribution))]),
  );
  const below = new Map<number, number[]>();
  for (const groupId of counts.keys()) {
    let above = parentOf(groupId);
    while (above !== null && !counts.has(above)) above = parentOf(above);
    if (above !== null) below.set(above, [...(below.get(above) ?? []), groupId]);
  }
  const sums: VarianceSums = { squares: 0, freedom: 0, answers: 0, cells: 0 };
  for (const [groupId, own] of counts) {
    const rest = new Map(own);
    for (const child of below.get(groupId) ?? []) {
      for (const [value, count] of counts.get(child) as Map<string, number>)
        rest.set(value, (rest.get(value) ?? 0) - count);
    }
    // People in several groups, or noise, can make a rest negative. Then it isn't a set of answers.
    if ([...rest.values()].some((count) => count < 0)) continue;
    add(sums, type, Object.fromEntries(rest));
  }
  return sums.cells >= 2 ? sums : null;
}

function add(sums: VarianceSums, type: QuestionType, distribution: Distribution): void {
  const { low, high } = scaleOf(type) as { low: number; high: number };
  const values = individualsOf(type, distribution).map((value) => (value - low) / (high - low));
  if (values.length < 2) return;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  sums.squares += values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  sums.freedom += values.length - 1;
  sums.answers += values.length;
  sums.cells++;
}

/**
 * Returns the variance to use for a question in a week, from its sums in all weeks up to this one, oldest first: that of the last week
 * with enough answers, otherwise of all weeks together; null if they have too few answers, or no one ever disagreed.
 */
export function pooledVariance(weeks: readonly VarianceSums[]): number | null {
  const last = weeks.findLast(({ answers }) => answers >= minimumAnswers);
  const all = last ? [last] : weeks;
  const total = (of: (sums: VarianceSums) => number) => all.reduce((sum, one) => sum + of(one), 0);
  if (total(({ answers }) => answers) < minimumAnswers) return null;
  const variance = total(({ squares }) => squares) / total(({ freedom }) => freedom);
  return variance > 0 ? variance : null;
}
