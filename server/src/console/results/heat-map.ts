// The heat map: groups by KPIs, with the rolling values of a week, their clear changes and their differences from a comparison.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { ChosenComparison, HeatMap, HeatRow } from '@soundings/contract/console/results/results.ts';
import { maxWholeTree } from '@soundings/contract/limits.ts';
import type { PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { Db } from '../../db/db.ts';
import { ancestorsOf } from '../../people/tree.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { rateOf } from '../../results/data/read-results.ts';
import { type KpiTexts, selectValuedKpis, selectWeekRates } from '../../results/data/results.sql.ts';
import {
  kpiCell,
  type KpiCell,
  type Statistics,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import { readingsOfWeek } from '../../results/data/week-readings.ts';
import type { Who } from '../core/console.ts';
import { allowedComparisons, chosenOf, withFigures, withoutHalfYear } from './comparing.ts';
import { countedIn, type CountedGroups, headOf, readWeeks, weekIn } from './reading.ts';
import type { Weeks } from './weeks.ts';
import type { Trees } from '../groups/trees.ts';

export type MapWanted = { week: string | undefined; compare: Comparison | undefined; language: string };

/** What the rows of a map need to be read. `week` and `statistics` are undefined if nothing was ever published. */
export type MapFacts = {
  groups: CountedGroups;
  weeks: Weeks;
  week: Week | undefined;
  statistics: Statistics | undefined;
  comparison: ChosenComparison;
};

export async function readMapFacts(
  db: Db,
  who: Who,
  groups: CountedGroups,
  wanted: MapWanted,
): Promise<MapFacts> {
  const weeks = await readWeeks(db, who);
  const week = weekIn(weeks, wanted.week) ?? weeks.shown[0]?.week;
  const [allowed, statistics] = await Promise.all([
    allowedComparisons(db, who),
    week === undefined ? undefined : statisticsShown(db, who.accountId, { first: week, last: week }),
  ]);
  const possible =
    week === undefined || !statistics
      ? withoutHalfYear(allowed)
      : withFigures(
          allowed,
          weeks.shown.map((one) => one.week),
          statistics.windowOf(week),
        );
  return { groups, weeks, week, statistics, comparison: comparisonIn(groups, possible, wanted.compare) };
}

/** How many rows a map that is read in parts begins with: the company and the groups on the highest levels. */
const firstRows = 200;

/** Reads the map of all groups that the caller may see. If there are very many, its rows are only those on the highest levels. */
export async function readHeatMap(db: Db, who: Who, trees: Trees, wanted: MapWanted): Promise<HeatMap> {
  const groups = countedIn(await trees.of(db, who, wanted.language));
  const facts = await readMapFacts(db, who, groups, wanted);
  const isWhole = groups.rows.length <= maxWholeTree;
  const rows = isWhole ? groups.rows : highest(groups, firstRows);
  const about = {
    companyId: groups.company?.id ?? null,
    comparison: facts.comparison,
    isWhole,
    count: groups.rows.length,
    levels: levelsOf(groups.rows),
  };
  const { week, weeks, statistics } = facts;
  if (week === undefined || !statistics) {
    const none = { rows, cells: new Map(), rates: new Map() };
    return { ...about, week: null, firstWeek: null, kpis: [], rows: heatRowsOf(none) };
  }
  const shown = { week, statistics, kind: facts.comparison.kind };
  const valued = await selectValuedKpis(db, who.accountId);
  const [cells, rates] = await Promise.all([
    readCells(db, who, valued, shown, { rows, parents: groups.parents }),
    readWeekRates(db, who, week, rows),
  ]);
  const isAsked = valued.map(({ id }, i) =>
    isWhole ? [...cells.values()].some((own) => own[i]?.value !== 'none') : isKpiAsked(id, shown),
  );
  return {
    ...about,
    week: weeks.named(week),
    firstWeek: weeks.named(statistics.windowOf(week).first),
    kpis: valued
      .filter((_, i) => isAsked[i])
      .map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, wanted.language) })),
    rows: heatRowsOf({
      rows,
      rates,
      cells: new Map([...cells].map(([id, own]) => [id, own.filter((_, i) => isAsked[i])])),
    }),
  };
}

/** Returns the KPIs of a map that is read in parts: those that the account asked in the window. */
export async function kpisInParts(db: Db, { accountId }: Who, shown: ShownWeek): Promise<KpiTexts[]> {
  return (await selectValuedKpis(db, accountId)).filter(({ id }) => isKpiAsked(id, shown));
}

/** Whether the account asked a question of a KPI in the window of a week. */
function isKpiAsked(kpiId: string, { week, statistics }: ShownWeek): boolean {
  const { first, last } = statistics.windowOf(week);
  return statistics
    .questionsOf(kpiId, week)
    .some((id) => statistics.asked.get(id)?.some((one) => one >= first && one <= last));
}

/** Returns the company and the groups on the highest levels, in tree order. */
function highest({ rows, company }: CountedGroups, most: number): PlacedGroup[] {
  const first = new Set<PlacedGroup>();
  for (let [level, before] = [1, -1]; first.size > before && first.size < most; level++) {
    before = first.size;
    for (const row of rows) if (row.level === level && first.size < most) first.add(row);
  }
  if (company) first.add(company);
  return rows.filter((row) => first.has(row));
}

/** Returns the levels of a tree, each with the names of its first groups. */
function levelsOf(rows: readonly PlacedGroup[]): HeatMap['levels'] {
  const levels: string[][] = [];
  for (const { level, name } of rows) {
    const names = (levels[level - 1] ??= []);
    if (names.length < 3) names.push(name);
  }
  return levels;
}

/** Returns the response rates of a week by group; `groups`: only of these. */
export async function readWeekRates(
  db: Db,
  { accountId }: Who,
  week: Week,
  groups: readonly { id: number }[] | undefined,
): Promise<ReadonlyMap<number, WeekRate>> {
  const rates = await selectWeekRates(db, accountId, week, { groupIds: groups?.map(({ id }) => id) });
  return new Map(rates.map((rate) => [rate.groupId, rateOf(rate)]));
}

/** Returns what the rows are compared with, each with its own company or parent. It has a name only if all rows share it. */
function comparisonIn(
  { rows, parents, tops }: CountedGroups,
  allowed: ReadonlySet<Comparison>,
  wanted: Comparison | undefined,
): ChosenComparison {
  const isBelow = rows.some(({ id }) => parents.get(id) !== null);
  const available: Comparison[] = [
    ...(['company', 'parent'] as const).filter((kind) => isBelow && allowed.has(kind)),
    ...(allowed.has('halfYear') ? (['halfYear'] as const) : []),
    'none',
  ];
  const kind = chosenOf(available, wanted);
  // All groups below a row of the first level are in the same tree as that row.
  const highestRows = rows.filter(({ level }) => level === 1);
  const topIds = new Set(highestRows.map(({ id }) => ancestorsOf(id, parents).at(-1)));
  const shared = topIds.size === 1 ? tops.find(({ id }) => topIds.has(id)) : undefined;
  return { kind, group: kind === 'company' && shared ? headOf(shared) : null, available };
}

export type ShownWeek = { week: Week; statistics: Statistics; kind: Comparison };

/** Returns the cells of KPIs by group. */
export async function readCells(
  db: Db,
  { accountId }: Who,
  kpis: readonly { id: string }[],
  { week, statistics, kind }: ShownWeek,
  { rows, parents }: Pick<CountedGroups, 'parents'> & { rows: readonly { id: number }[] },
): Promise<ReadonlyMap<number, KpiCell[]>> {
  const ids = [...new Set(kpis.flatMap(({ id }) => statistics.questionsOf(id, week)))];
  const otherOf = (groupId: number) => {
    if (kind === 'none' || kind === 'halfYear') return undefined;
    const other = kind === 'company' ? ancestorsOf(groupId, parents).at(-1) : parents.get(groupId);
    return other === groupId ? undefined : (other ?? undefined);
  };
  const others = new Map(rows.map(({ id }) => [id, otherOf(id)]));
  const wanted = { compared: others, questionIds: ids };
  const readings = await readingsOfWeek(db, accountId, wanted, { week, statistics, kind });
  return new Map(
    rows.map(({ id: groupId }): [number, KpiCell[]] => {
      const other = others.get(groupId);
      const isSame = kind !== 'halfYear' && other === undefined;
      const compared = { kind: isSame ? ('none' as const) : kind, whole: readings(other) };
      const own = readings(groupId);
      return [groupId, kpis.map(({ id }) => kpiCell(id, week, own, compared, statistics))];
    }),
  );
}

export type WeekRate = ReturnType<typeof rateOf> & { groupId: number };

const countsOf = ({ asked, answered }: WeekRate) =>
  asked === null || answered === null ? {} : { asked, answered };

/** Returns the rows of a map. */
export function heatRowsOf({
  rows,
  cells: cellsOf,
  rates,
}: {
  rows: readonly PlacedGroup[];
  cells: ReadonlyMap<number, KpiCell[]>;
  rates: ReadonlyMap<number, WeekRate>;
}): HeatRow[] {
  return rows.map(({ id, name, parentId, people, level }) => {
    const rate = rates.get(id);
    const cells = cellsOf.get(id) ?? [];
    const places = (matches: (cell: KpiCell) => boolean) =>
      cells.flatMap((cell, i) => (matches(cell) ? [i] : []));
    return {
      id,
      name,
      parentId,
      level,
      people,
      ...(rate && { rate: rate.value }),
      ...(rate && countsOf(rate)),
      values: cells.map(({ value }) => value),
      changes: cells.map(({ clearChange }) => clearChange),
      differences: cells.map(({ difference }) => difference?.by ?? null),
      clear: places(({ difference }) => (difference?.verdict ?? 'unclear') !== 'unclear'),
      handedOut: [...(rate?.handedOut ? (['rate'] as const) : []), ...places(({ handedOut }) => handedOut)],
      changesHandedOut: places(({ changeHandedOut }) => changeHandedOut),
      differencesHandedOut: places(({ difference }) => difference?.handedOut ?? false),
    };
  });
}
