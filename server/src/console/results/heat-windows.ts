// Windows of the rows of a heat map with very many groups: the server filters and sorts the rows, and reads only those of a window. An
// order is kept as long as the tree of groups is, because sorting by a KPI needs its figures of all groups.
import type { HeatMap, HeatRow } from '@soundings/contract/console/results/results.ts';
import { maxWholeTree } from '@soundings/contract/limits.ts';
import { type HeatFilters, isHeatRowShown, sortKeyOf } from '@soundings/contract/heat-rows.ts';
import type { PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../db/db.ts';
import { limitConcurrency } from '../../http/concurrency.ts';
import { rollingValues } from '../../results/data/latest-figures.ts';
import type { Statistics } from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import { sortedInSlices } from '../groups/sorting.ts';
import type { SeenTree, Trees } from '../groups/trees.ts';
import {
  kpisInParts,
  type MapFacts,
  type MapWanted,
  readCells,
  readMapFacts,
  readWeekRates,
  heatRowsOf,
  type ShownWeek,
} from './heat-map.ts';
import { type HeatRowWithPath, pathIn } from './csv.ts';
import { countedIn } from './reading.ts';

/** The maximum number of rows of a window, and the number of groups whose figures are read together for sorting. */
const [mostInWindow, groupsTogether] = [200, 1_000];
/** How many orders of a tree are kept. */
const ordersKept = 8;

type Order = Promise<readonly PlacedGroup[]>;
const orders = new WeakMap<SeenTree, Map<string, Order>>();
/** Sorting a large map by figures takes seconds of the database, so only a few are sorted together, and one in each account. */
const turns = limitConcurrency(3, 1);

/** Returns a window of the rows that match, and how many match. Without a week nothing was published, and the rows have no figures. */
export async function readHeatRows(
  db: Db,
  who: Who,
  trees: Trees,
  wanted: MapWanted & HeatFilters,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ total: number; rows: HeatRow[] }> {
  const tree = await trees.of(db, who, wanted.language);
  const facts = await readMapFacts(db, who, countedIn(tree), wanted);
  const shown = shownIn(await orderOf(db, who, tree, facts, wanted), tree, wanted);
  const some = shown.slice(offset, offset + Math.min(limit, mostInWindow));
  return { total: shown.length, rows: await readRows(db, who, facts, some) };
}

/** Yields the rows that match, with the company first, one window after another. */
export async function* heatRowsInSlices(
  db: Db,
  who: Who,
  trees: Trees,
  wanted: MapWanted & HeatFilters,
): AsyncGenerator<HeatRowWithPath[]> {
  const tree = await trees.of(db, who, wanted.language);
  const facts = await readMapFacts(db, who, countedIn(tree), wanted);
  const { company } = tree;
  const others = shownIn(await orderOf(db, who, tree, facts, wanted), tree, wanted);
  const all = [...(company ? [company] : []), ...others.filter((row) => row !== company)];
  for (let from = 0; from < all.length; from += groupsTogether) {
    const rows = await readRows(db, who, facts, all.slice(from, from + groupsTogether));
    yield rows.map((row) => ({ ...row, path: pathIn(tree, row.parentId) }));
    await nextTurn();
  }
}

/** Returns the groups that match, in order. */
function shownIn(
  order: readonly PlacedGroup[],
  { company, get, placeOf }: SeenTree,
  { level, subtreeOf }: HeatFilters,
): readonly PlacedGroup[] {
  const top = subtreeOf === undefined ? undefined : get(subtreeOf);
  const first = top ? placeOf(top.id) : 0;
  const last = top ? first + top.descendants : Infinity;
  const isInside = ({ id }: PlacedGroup) => {
    if (subtreeOf === undefined) return true;
    const place = placeOf(id);
    return top !== undefined && place >= first && place <= last;
  };
  const companyId = company?.id ?? null;
  return order.filter((row) => isHeatRowShown(row, { level, subtreeOf, companyId }) && isInside(row));
}

/** Returns all groups in the wanted order. */
function orderOf(
  db: Db,
  who: Who,
  tree: SeenTree,
  facts: MapFacts,
  { sort = 'tree', isDifference = false, language }: MapWanted & HeatFilters,
): Order {
  const by = sortKeyOf(sort).key;
  if (by === 'tree') return Promise.resolve(tree.groups);
  // The numbers of people can change while the tree stays the same.
  if (by === 'people') return sorted(db, who, tree, facts, { sort, isDifference, language });
  const key = JSON.stringify([facts.week, facts.comparison.kind, sort, isDifference]);
  const kept = orders.get(tree) ?? new Map<string, Order>();
  orders.set(tree, kept);
  const found = kept.get(key);
  // The request that began it may have lost its connection, or taken too long.
  if (found) return found.catch(() => sorted(db, who, tree, facts, { sort, isDifference, language }));
  const order = sorted(db, who, tree, facts, { sort, isDifference, language });
  kept.set(key, order);
  order.catch(() => kept.delete(key));
  for (const oldest of kept.keys()) {
    if (kept.size <= ordersKept) break;
    kept.delete(oldest);
  }
  return order;
}

async function sorted(
  db: Db,
  who: Who,
  tree: SeenTree,
  facts: MapFacts,
  { sort, isDifference, language }: { sort: string; isDifference: boolean; language: string },
): Order {
  const { key, sign } = sortKeyOf(sort);
  const groups = [...tree.groups];
  if (key === 'name') {
    const { compare } = new Intl.Collator(language, { numeric: true });
    return sortedInSlices(groups, (a, b) => sign * compare(a.name, b.name));
  }
  const read = () => valuesBy(db, who, tree, facts, { key, isDifference });
  const values = key !== 'people' && isLarge(tree) ? await inTurn(who, read) : await read();
  // Withheld values come last.
  const order = (a: PlacedGroup, b: PlacedGroup) => {
    const [own, other] = [values.get(a.id), values.get(b.id)];
    if (own === undefined || other === undefined)
      return Number(own === undefined) - Number(other === undefined);
    return sign * (own - other);
  };
  return sortedInSlices(groups, order);
}

const isLarge = ({ groups }: SeenTree) => groups.length > maxWholeTree;

async function inTurn<T>({ accountId }: Who, read: () => Promise<T>): Promise<T> {
  const end = await turns.take(accountId);
  return read().finally(end);
}

/** Returns the figure of each group to sort by. Groups without one are missing. */
async function valuesBy(
  db: Db,
  who: Who,
  tree: SeenTree,
  { week, statistics, comparison }: MapFacts,
  { key, isDifference }: { key: string; isDifference: boolean },
): Promise<ReadonlyMap<number, number>> {
  const { groups, parents } = tree;
  if (key === 'people') return new Map(groups.map(({ id, people }) => [id, people]));
  const values = new Map<number, number>();
  if (week === undefined || !statistics) return values;
  if (key === 'rate') {
    for (const [id, { value }] of await readWeekRates(db, who, week, isLarge(tree) ? undefined : groups))
      if (value !== null) values.set(id, value);
    return values;
  }
  const shown: ShownWeek = { week, statistics, kind: comparison.kind };
  const kpi = (await kpisInParts(db, who, shown))[Number(key.slice('kpi:'.length))];
  if (!kpi) return values;
  if (!isDifference && isLarge(tree)) {
    const ids = groups.map(({ id }) => id);
    return rollingValues(db, who.accountId, ids, askedWeeksOf(kpi.id, week, statistics));
  }
  for (let from = 0; from < groups.length; from += groupsTogether) {
    const rows = groups.slice(from, from + groupsTogether);
    for (const [id, [cell]] of await readCells(db, who, [kpi], shown, { rows, parents })) {
      const value = isDifference ? cell?.difference?.by : cell?.value;
      if (typeof value === 'number') values.set(id, value);
    }
    await nextTurn();
  }
  return values;
}

/** Returns the weeks in which the questions of a KPI were asked in the window that ends with a week. Questions that were not are missing. */
function askedWeeksOf(
  kpiId: string,
  week: Week,
  { asked, questionsOf, windowOf }: Statistics,
): Map<number, Week[]> {
  const { first, last } = windowOf(week);
  const weeksOf = (id: number) => asked.get(id)?.filter((one) => one >= first && one <= last) ?? [];
  return new Map(
    questionsOf(kpiId, week)
      .map((id): [number, Week[]] => [id, weeksOf(id)])
      .filter(([, weeks]) => weeks.length > 0),
  );
}

async function readRows(
  db: Db,
  who: Who,
  { week, statistics, comparison, groups }: MapFacts,
  rows: readonly PlacedGroup[],
): Promise<HeatMap['rows']> {
  if (week === undefined || !statistics) return heatRowsOf({ rows, cells: new Map(), rates: new Map() });
  const shown: ShownWeek = { week, statistics, kind: comparison.kind };
  const kpis = await kpisInParts(db, who, shown);
  const [cells, rates] = await Promise.all([
    readCells(db, who, kpis, shown, { rows, parents: groups.parents }),
    readWeekRates(db, who, week, rows),
  ]);
  return heatRowsOf({ rows, cells, rates });
}
