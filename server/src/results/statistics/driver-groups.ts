// Which groups and KPIs key drivers are computed from, and their readings: one number per group and KPI, from published figures.
// docs/administrators/drivers.md explains each rule. Pure.
import { minimumDriverGroups } from '@soundings/contract/limits.ts';

/**
 * The latest shown figures of a group: for each question that has one in the weeks of the window, `[question, value, answers]`.
 * `answers` is positive.
 */
export type GroupFigures = { groupId: number; figures: readonly (readonly [number, number, number])[] };

/** What the drivers of an outcome are computed from. */
export type DriverInput = {
  /** All groups that may be used, with their ancestors. A group without figures only connects others. */
  parents: readonly (readonly [groupId: number, parentId: number | null])[];
  figures: readonly GroupFigures[];
  /** The KPIs that may go along with the outcome, without the outcome itself. */
  kpis: readonly { id: string; questionIds: readonly number[] }[];
  /** The questions of the outcome. */
  outcome: readonly number[];
};

/**
 * Why a KPI is left out: it has no question that the outcome does not have; too few groups have figures of it; there would be too
 * few groups for all KPIs; or all groups have the same value.
 */
export type LeftOutReason = 'sameQuestions' | 'fewFigures' | 'fewGroups' | 'constant';
export type LeftOut = { kpiId: string; reason: LeftOutReason };

/** The groups and KPIs that can be used. `values`: row by row for each group, the KPIs in order, and then the outcome. */
export type DriverReadings = {
  groupIds: number[];
  kpiIds: string[];
  values: Float64Array;
  /** How much each group counts, 0 to 1. */
  weights: Float64Array;
  leftOut: LeftOut[];
  /** The top group, if only the groups of its tree are used. */
  treeId: number | null;
};

/** The minimum number of groups for each KPI. */
const groupsForEachKpi = 3;
/** A KPI needs figures in this share of the groups in which the outcome is shown. */
const minimumShare = 0.8;
/** With this many answers, a group counts half as much as a very large one. */
const halfWeight = 10;

/** `answers`: the mean number of answers behind the figures. */
type Reading = { value: number; answers: number };

/** Returns the mean of the figures of some questions; undefined if none has one. */
function readingOf(figures: ReadonlyMap<number, readonly [number, number, number]>, ids: readonly number[]) {
  let [sum, answers, count] = [0, 0, 0];
  for (const id of ids) {
    const figure = figures.get(id);
    if (!figure) continue;
    sum += figure[1];
    answers += figure[2];
    count++;
  }
  return count === 0 ? undefined : { value: sum / count, answers: answers / count };
}

/** A group in which the outcome is shown. `kpis`: the readings of the KPIs; undefined: no figure is shown. */
type Row = { groupId: number; outcome: Reading; kpis: (Reading | undefined)[] };

/**
 * Returns the readings of disjoint groups: those in which the outcome and all chosen KPIs are shown, and no group below them is such
 * a group. `groupIds` has fewer than `minimumDriverGroups` groups if there are too few even without any KPI; then `kpiIds` is empty.
 */
export function readingsOf({ parents, figures, kpis, outcome }: DriverInput): DriverReadings {
  const parentOf = new Map(parents);
  const leftOut: LeftOut[] = [];
  const other = kpis
    .map(({ id, questionIds }) => ({ id, ids: questionIds.filter((one) => !outcome.includes(one)) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const rows = figures
    .flatMap((group): Row[] => {
      const byQuestion = new Map(group.figures.map((figure) => [figure[0], figure]));
      const own = readingOf(byQuestion, outcome);
      const read = () => other.map(({ ids }) => readingOf(byQuestion, ids));
      return own ? [{ groupId: group.groupId, outcome: own, kpis: read() }] : [];
    })
    .toSorted((a, b) => a.groupId - b.groupId);

  const ranked = other
    .map(({ id, ids }, index) => ({
      id,
      ids,
      index,
      groups: rows.reduce((count, row) => count + (row.kpis[index] ? 1 : 0), 0),
    }))
    .toSorted((a, b) => b.groups - a.groups || a.index - b.index);
  const usable = ranked.filter(({ id, ids, groups }) => {
    const reason =
      ids.length === 0 ? 'sameQuestions' : groups < minimumShare * rows.length ? 'fewFigures' : null;
    if (reason) leftOut.push({ kpiId: id, reason });
    return reason === null;
  });
  for (;;) {
    const chosen = usable.map(({ index }) => index).toSorted((a, b) => a - b);
    const complete = rows.filter(({ kpis: own }) => chosen.every((index) => own[index]));
    const { finest, treeId } = disjoint(complete, parentOf);
    const isEnough = finest.length >= Math.max(minimumDriverGroups, groupsForEachKpi * chosen.length);
    if (!isEnough && usable.length > 0) {
      leftOut.push({ kpiId: usable.pop()!.id, reason: 'fewGroups' });
      continue;
    }
    const varied = isEnough ? chosen.filter((index) => varies(finest, index)) : chosen;
    const constant = chosen.filter((index) => !varied.includes(index));
    leftOut.push(...constant.map((index) => ({ kpiId: other[index]!.id, reason: 'constant' as const })));
    return {
      groupIds: finest.map(({ groupId }) => groupId),
      kpiIds: varied.map((index) => other[index]!.id),
      values: Float64Array.from(
        finest.flatMap((row) => [...varied.map((index) => row.kpis[index]!.value), row.outcome.value]),
      ),
      weights: Float64Array.from(finest, ({ outcome: { answers } }) => answers / (answers + halfWeight)),
      leftOut: leftOut.toSorted((a, b) => (a.kpiId < b.kpiId ? -1 : 1)),
      treeId,
    };
  }
}

const varies = (rows: readonly Row[], index: number) =>
  rows.some(({ kpis }) => Math.abs(kpis[index]!.value - rows[0]!.kpis[index]!.value) > 1e-9);

/**
 * Returns the rows whose group has no other row below it. If one tree alone has enough of them, only those of the tree with the most
 * are returned, because people can be in several trees.
 */
function disjoint(rows: readonly Row[], parentOf: ReadonlyMap<number, number | null>) {
  const above = new Set<number>();
  const tops = new Map<number, number>();
  for (const { groupId } of rows) {
    let top = groupId;
    for (let at = parentOf.get(groupId) ?? null; at !== null; at = parentOf.get(at) ?? null) {
      above.add(at);
      top = at;
    }
    tops.set(groupId, top);
  }
  const finest = rows.filter(({ groupId }) => !above.has(groupId));
  const trees = Map.groupBy(finest, ({ groupId }) => tops.get(groupId)!);
  const [largest] = [...trees].toSorted(([a, x], [b, y]) => y.length - x.length || a - b);
  return largest && largest[1].length >= minimumDriverGroups
    ? { finest: largest[1], treeId: largest[0] }
    : { finest, treeId: null };
}
