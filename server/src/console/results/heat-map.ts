// The heat map: groups by KPIs, with the rolling values of a week, their clear changes and their differences from a comparison.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { ChosenComparison, HeatMap, HeatRow } from '@soundings/contract/console/results/results.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { Db } from '../../db/db.ts';
import { ancestorsOf } from '../../people/tree.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { rateOf } from '../../results/data/read-results.ts';
import { selectValuedKpis, selectWeekRates, type KpiTexts } from '../../results/data/results.sql.ts';
import {
  kpiCell,
  type KpiCell,
  type Statistics,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import { readingsOfWeek } from '../../results/data/week-readings.ts';
import type { Who } from '../core/console.ts';
import { allowedComparisons, chosenOf, withFigures, withoutHalfYear } from './comparing.ts';
import { type CountedGroups, headOf, readCountedGroups, readWeeks, weekIn } from './reading.ts';

type Wanted = { week: string | undefined; compare: Comparison | undefined; language: string };

export async function readHeatMap(db: Db, who: Who, wanted: Wanted): Promise<HeatMap> {
  const weeks = await readWeeks(db, who);
  const week = weekIn(weeks, wanted.week) ?? weeks.shown[0]?.week;
  const [groups, rates, allowed, statistics] = await Promise.all([
    readCountedGroups(db, who, wanted.language),
    week === undefined ? [] : selectWeekRates(db, who.accountId, week),
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
  const comparison = comparisonIn(groups, possible, wanted.compare);
  const about = { companyId: groups.company?.id ?? null, comparison };
  const rateIn = new Map(rates.map((rate) => [rate.groupId, rateOf(rate)]));
  if (week === undefined || !statistics)
    return { ...about, week: null, firstWeek: null, kpis: [], rows: rowsOf(groups, new Map(), rateIn) };
  const { kpis, cells, firstWeek } = await readCells(
    db,
    who,
    { week, statistics, kind: comparison.kind },
    groups,
  );
  return {
    ...about,
    week: weeks.named(week),
    firstWeek: weeks.named(firstWeek),
    kpis: kpis.map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, wanted.language) })),
    rows: rowsOf(groups, cells, rateIn),
  };
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
  const topIds = new Set(rows.map(({ id }) => ancestorsOf(id, parents).at(-1)));
  const shared = topIds.size === 1 ? tops.find(({ id }) => topIds.has(id)) : undefined;
  return { kind, group: kind === 'company' && shared ? headOf(shared) : null, available };
}

/** Returns the KPIs that were asked in the window of a week, and their cells by group. */
async function readCells(
  db: Db,
  { accountId }: Who,
  { week, statistics, kind }: { week: Week; statistics: Statistics; kind: Comparison },
  { rows, parents }: CountedGroups,
): Promise<{ kpis: KpiTexts[]; cells: ReadonlyMap<number, KpiCell[]>; firstWeek: Week }> {
  const valued = await selectValuedKpis(db, accountId);
  const ids = [...new Set(valued.flatMap(({ id }) => statistics.questionsOf(id, week)))];
  const otherOf = (groupId: number) => {
    if (kind === 'none' || kind === 'halfYear') return undefined;
    const other = kind === 'company' ? ancestorsOf(groupId, parents).at(-1) : parents.get(groupId);
    return other === groupId ? undefined : (other ?? undefined);
  };
  const others = new Map(rows.map(({ id }) => [id, otherOf(id)]));
  const wanted = { compared: others, questionIds: ids };
  const readings = await readingsOfWeek(db, accountId, wanted, { week, statistics, kind });
  const all = rows.map(({ id: groupId }): [number, KpiCell[]] => {
    const other = others.get(groupId);
    const isSame = kind !== 'halfYear' && other === undefined;
    const compared = { kind: isSame ? ('none' as const) : kind, whole: readings(other) };
    const own = readings(groupId);
    const cells = valued.map(({ id }) => kpiCell(id, week, own, compared, statistics));
    return [groupId, cells];
  });
  const isAsked = valued.map((_, i) => all.some(([, cells]) => cells[i]?.value !== 'none'));
  return {
    kpis: valued.filter((_, i) => isAsked[i]),
    cells: new Map(all.map(([groupId, cells]) => [groupId, cells.filter((_, i) => isAsked[i])])),
    firstWeek: statistics.windowOf(week).first,
  };
}

type WeekRate = ReturnType<typeof rateOf> & { groupId: number };

const countsOf = ({ asked, answered }: WeekRate) =>
  asked === null || answered === null ? {} : { asked, answered };

function rowsOf(
  { rows }: CountedGroups,
  cellsOf: ReadonlyMap<number, KpiCell[]>,
  rateIn: ReadonlyMap<number, WeekRate>,
): HeatRow[] {
  const levels = new Map<number, number>();
  return rows.map(({ id, name, parentId, people }) => {
    const level = parentId === null ? 1 : (levels.get(parentId) ?? 0) + 1;
    levels.set(id, level);
    const rate = rateIn.get(id);
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
