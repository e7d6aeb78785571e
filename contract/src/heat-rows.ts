// Filters and sorts the rows of a heat map, for the page and for its CSV file. Pure.
import type { HeatMap, HeatRow } from './console/results/results.ts';

export type HeatFilters = {
  /** 1 is the top level. Omitted: all levels. */
  level?: number | undefined;
  /** A group and its subgroups. Omitted: all groups. */
  subtreeOf?: number | undefined;
  /** A sort order of `sortedRows`. Omitted: the order of the tree. */
  sort?: string | undefined;
  /** Whether KPIs are sorted by their difference from the comparison. */
  isDifference?: boolean | undefined;
};

/** Returns the filtered rows in order. The company's own row is included only if its subtree is selected. */
export function shownRows(
  { rows, companyId }: Pick<HeatMap, 'rows' | 'companyId'>,
  { level, subtreeOf, sort = 'tree', isDifference = false }: HeatFilters,
  compare: (a: string, b: string) => number,
): HeatRow[] {
  const inside = subtreeOf === undefined ? rows : rowsInSubtree(rows, subtreeOf);
  const shown = inside.filter((row) => isHeatRowShown(row, { level, subtreeOf, companyId }));
  return sortedRows(shown, { sort, isDifference }, compare);
}

/** Whether a row of the wanted subtree is on the wanted level. The company has its own row above all others. */
export const isHeatRowShown = (
  row: Pick<HeatRow, 'id' | 'level'>,
  { level, subtreeOf, companyId }: Pick<HeatFilters, 'level' | 'subtreeOf'> & Pick<HeatMap, 'companyId'>,
): boolean =>
  (level === undefined || row.level === level) && (row.id !== companyId || subtreeOf !== undefined);

/** Returns what a sort order sorts by: `tree`, `name`, `people`, `rate`, or `kpi:` and an index; and 1, or -1 for descending. */
export const sortKeyOf = (sort: string): { key: string; sign: 1 | -1 } =>
  sort.startsWith('-') ? { key: sort.slice(1), sign: -1 } : { key: sort, sign: 1 };

/** Returns the rows of a group and its subgroups. `rows` must be in tree order. */
function rowsInSubtree(rows: readonly HeatRow[], groupId: number): HeatRow[] {
  const inside = new Set([groupId]);
  for (const { id, parentId } of rows) if (parentId !== null && inside.has(parentId)) inside.add(id);
  return rows.filter(({ id }) => inside.has(id));
}

/** Sorts rows by name, people, rate or a KPI (`kpi:` and its index); a leading minus sorts in descending order. Withheld values come last. */
function sortedRows(
  rows: readonly HeatRow[],
  { sort, isDifference }: { sort: string; isDifference: boolean },
  compare: (a: string, b: string) => number,
) {
  const { key, sign } = sortKeyOf(sort);
  if (key === 'tree') return [...rows];
  if (key === 'name') return rows.toSorted((a, b) => sign * compare(a.name, b.name));
  const valueOf = (row: HeatRow) => {
    if (key === 'people') return row.people;
    const value =
      key === 'rate' ? row.rate : (isDifference ? row.differences : row.values)[Number(key.slice(4))];
    return typeof value === 'number' ? value : undefined;
  };
  return rows.toSorted((a, b) => {
    const [own, other] = [valueOf(a), valueOf(b)];
    if (own === undefined || other === undefined)
      return Number(own === undefined) - Number(other === undefined);
    return sign * (own - other);
  });
}
