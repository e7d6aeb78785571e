// The heat map: groups by KPIs. Each KPI uses the same week for all groups, so that its figures are comparable.
import type { HeatMap, HeatRow } from '@soundings/contract/console/results.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import type { Pool } from '../../db/db.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import {
  selectKpiLastWeeks,
  selectValuedKpis,
  type KpiWeekRow,
  selectKpiWeeks,
  selectWeekRates,
} from '../../results/data/results-shown.ts';
import type { Who } from '../core/console.ts';
import { type CountedGroups, readCountedGroups, readWeeks, weekIn } from './reading.ts';

/** How many weeks back to look for a KPI that the week itself did not ask. */
const weeksBack = 12;

/** `latest`: whether to include KPIs that the week did not ask, with the values of the last week that did. */
type Wanted = { week: string | undefined; latest: boolean; language: string };

const everyGroup = { groupId: undefined, withSubgroups: true };

export async function readHeatMap(pool: Pool, who: Who, wanted: Wanted): Promise<HeatMap> {
  const weeks = await readWeeks(pool, who);
  const week = weekIn(weeks, wanted.week) ?? weeks.shown[0]?.week;
  const [groups, rates] = await Promise.all([
    readCountedGroups(pool, who, wanted.language),
    week === undefined ? [] : selectWeekRates(pool, who.accountId, week),
  ]);
  const about = { companyId: groups.company?.id ?? null };
  if (week === undefined) return { ...about, week: null, kpis: [], rows: rowsOf(groups, [], []) };
  const asked = await askedKpis(pool, who, {
    week,
    groups,
    latest: wanted.latest,
    language: wanted.language,
  });
  const values = await selectKpiWeeks(pool, who.accountId, everyGroup, asked);
  return {
    ...about,
    week: weeks.named(week),
    kpis: asked.map(({ kpiId, name, week: own }) => ({ id: kpiId, name, week: weeks.named(own) })),
    rows: rowsOf(groups, values, rates),
  };
}

type Asked = { kpiId: string; name: string; week: Week };

/**
 * Returns the KPIs of the map, each with the last week in which the company, or the first open group, was asked. If there is none,
 * it is the last week in which any open group was asked.
 */
async function askedKpis(
  pool: Pool,
  { accountId }: Who,
  {
    week,
    groups,
    latest,
    language,
  }: { week: Week; groups: CountedGroups; latest: boolean; language: string },
): Promise<Asked[]> {
  const head = groups.company ?? groups.rows[0];
  if (!head) return [];
  const window = { first: latest ? addWeeks(week, -weeksBack) : week, last: week };
  const [kpis, ofHead] = await Promise.all([
    selectValuedKpis(pool, accountId),
    selectKpiLastWeeks(pool, accountId, [head.id], window),
  ]);
  const isEachAsked = kpis.every(({ id }) => ofHead.has(id));
  const all = groups.rows.map(({ id }) => id);
  const ofAny = isEachAsked ? ofHead : await selectKpiLastWeeks(pool, accountId, all, window);
  return kpis.flatMap((kpi) => {
    const own = ofHead.get(kpi.id) ?? ofAny.get(kpi.id);
    return own === undefined ? [] : [{ kpiId: kpi.id, name: kpiNameIn(kpi, language), week: own }];
  });
}

function rowsOf(
  { rows }: CountedGroups,
  values: readonly KpiWeekRow[],
  rates: readonly { groupId: number; value: number | null; handedOut: boolean }[],
): HeatRow[] {
  const levels = new Map<number, number>();
  const valuesOf = new Map(values.map((row) => [row.groupId, row]));
  const rateOf = new Map(rates.map((row) => [row.groupId, row]));
  return rows.map(({ id, name, parentId, people }) => {
    const level = parentId === null ? 1 : (levels.get(parentId) ?? 0) + 1;
    levels.set(id, level);
    const rate = rateOf.get(id);
    const own = valuesOf.get(id);
    return {
      id,
      name,
      parentId,
      level,
      people,
      ...(rate && { rate: rate.value }),
      values: JSON.parse(own?.values ?? '[]') as HeatRow['values'],
      handedOut: [
        ...(rate?.handedOut ? (['rate'] as const) : []),
        ...(JSON.parse(own?.handedOut ?? '[]') as number[]),
      ],
    };
  });
}
