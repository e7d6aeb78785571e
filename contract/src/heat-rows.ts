// Which rows of a heat map are shown, and in what order: on the screen and in its file alike. Pure.
import type { HeatMap, HeatRow } from './console.results.ts';

export type HeatFilters = {
  /** 1 at the top of the map; left out: all. */
  level?: number | undefined;
  /** A group: it and all beneath it; left out: all. */
  beneath?: number | undefined;
  /** As `sortedRows` takes it; left out: as the tree. */
  sort?: string | undefined;
};

/** The rows that the filters leave, in their order. The company's, with which they are compared, only where it is asked for. */
export function shownRows(
  { rows, companyId }: Pick<HeatMap, 'rows' | 'companyId'>,
  { level, beneath, sort = 'tree' }: HeatFilters,
  compare: (a: string, b: string) => number,
): HeatRow[] {
  const inside = beneath === undefined ? rows : rowsBeneath(rows, beneath);
  const shown = inside.filter(
    (row) => (level === undefined || row.level === level) && (row.id !== companyId || beneath !== undefined),
  );
  return sortedRows(shown, sort, compare);
}

/** A group and all beneath it, in rows in the order of the tree. */
function rowsBeneath(rows: readonly HeatRow[], groupId: number): HeatRow[] {
  const inside = new Set([groupId]);
  for (const { id, parentId } of rows) if (parentId !== null && inside.has(parentId)) inside.add(id);
  return rows.filter(({ id }) => inside.has(id));
}

/** Orders rows by name, people, response or a KPI (`kpi:` and its index), downwards with a minus; what is not shown comes last. */
function sortedRows(rows: readonly HeatRow[], sort: string, compare: (a: string, b: string) => number) {
  const isDown = sort.startsWith('-');
  const key = isDown ? sort.slice(1) : sort;
  if (key === 'tree') return [...rows];
  const sign = isDown ? -1 : 1;
  if (key === 'name') return rows.toSorted((a, b) => sign * compare(a.name, b.name));
  const valueOf = (row: HeatRow) => {
    if (key === 'people') return row.people;
    const value = key === 'rate' ? row.rate : row.values[Number(key.slice(4))];
    return typeof value === 'number' ? value : undefined;
  };
  return rows.toSorted((a, b) => {
    const [own, other] = [valueOf(a), valueOf(b)];
    if (own === undefined || other === undefined)
      return Number(own === undefined) - Number(other === undefined);
    return sign * (own - other);
  });
}
